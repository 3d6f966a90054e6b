//===- PoolTest.cpp - The team of threads ---------------------------------===//
//
// Barriers, repeated calls, sleeping and waking, failures.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Pool.h"

#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

using namespace heddle::rt;

namespace {

constexpr int64_t kRounds = 200, kPhases = 20;

/// Every thread adds what its neighbour wrote in the round before.
void ring(heddle_ctx *ctx, int64_t tid, int64_t nth, const int64_t *dims, void *const *tensors, char *, const char *) {
  auto *cells = static_cast<int64_t *>(tensors[0]); // two banks
  if (tid == 0)
    *static_cast<int64_t *>(tensors[1]) = nth;
  for (int64_t round = 0; round < dims[0]; ++round) {
    int64_t *from = cells + (round % 2) * nth, *to = cells + (1 - round % 2) * nth;
    to[tid] = from[(tid + 1) % nth] + 1;
    heddle_barrier(ctx, 0);
  }
}

TEST(Pool, BarrierOrdersNeighbours) {
  for (unsigned threads : {1, 2, 3, 5, 16}) {
    Pool pool;
    ASSERT_TRUE(pool.start(threads).ok());
    for (int call = 0; call < 5; ++call) {
      std::vector<int64_t> cells(2 * threads);
      std::iota(cells.begin(), cells.begin() + threads, 0);
      int64_t team = 0;
      void *tensors[] = {cells.data(), &team};
      int64_t dims[] = {kRounds};
      ASSERT_TRUE(pool.call(ring, dims, tensors, nullptr, nullptr).ok());
      EXPECT_TRUE(call > 0 || team == threads);
      for (int64_t i = 0; i < team; ++i)
        EXPECT_EQ(cells[i], (i + kRounds) % team + kRounds);
    }
  }
}

/// Every phase has dims[0] parts; its taker counts it. Thread 0 is held up in its first part.
void dealt(heddle_ctx *ctx, int64_t tid, int64_t, const int64_t *dims, void *const *tensors, char *, const char *) {
  auto *counts = static_cast<std::atomic<int> *>(tensors[0]);
  bool held = tid == 0;
  for (int64_t phase = 0; phase < kPhases; ++phase) {
    for (int64_t part; (part = heddle_take(ctx, tid, dims[0])) >= 0;) {
      if (held)
        usleep(2000);
      held = false;
      ++counts[phase * dims[0] + part];
    }
    EXPECT_EQ(heddle_take(ctx, tid, dims[0]), -1);
    heddle_barrier(ctx, phase);
  }
}

TEST(Pool, EveryPartIsTakenOnce) {
  for (unsigned threads : {1, 2, 3, 7})
    for (int64_t parts : {0, 1, 2, 5, 64, 1000}) {
      Pool pool;
      ASSERT_TRUE(pool.start(threads).ok());
      for (int call = 0; call < 3; ++call) {
        std::vector<std::atomic<int>> counts(kPhases * parts);
        void *tensors[] = {counts.data()};
        int64_t dims[] = {parts};
        ASSERT_TRUE(pool.call(dealt, dims, tensors, nullptr, nullptr).ok());
        for (const std::atomic<int> &count : counts)
          EXPECT_EQ(count, 1);
      }
    }
}

TEST(Pool, WakesAfterSleep) {
  Pool pool;
  ASSERT_TRUE(pool.start(4).ok());
  for (int i = 0; i < 5; ++i) {
    std::vector<int64_t> cells(8);
    int64_t team = 0;
    void *tensors[] = {cells.data(), &team};
    int64_t dims[] = {2};
    ASSERT_TRUE(pool.call(ring, dims, tensors, nullptr, nullptr).ok());
    usleep(5000);
  }
}

TEST(TeamSize, ShrinksWhileTheMachineIsBusy) {
  TeamSize size;
  size.reset(2);
  EXPECT_EQ(size.next(), 2u);
  size.learn(2, 1000, 0); // nobody slept
  EXPECT_EQ(size.next(), 2u);
  size.learn(2, 1000, 1000); // one slept all the time
  for (int round = 8; round <= 16; round *= 2) {
    for (int i = 0; i < round; ++i) {
      EXPECT_EQ(size.next(), 1u);
      size.learn(1, 500, 0);
    }
    EXPECT_EQ(size.next(), 2u); // looks again
    size.learn(2, 1000, 1900);
  }
  size.reset(8);
  EXPECT_EQ(size.next(), 8u);
  size.learn(8, 100, 500);
  EXPECT_EQ(size.next(), 3u);
}

/// Sums over the members; one of them keeps the others waiting.
void uneven(heddle_ctx *ctx, int64_t tid, int64_t nth, const int64_t *, void *const *tensors, char *, const char *) {
  auto *sums = static_cast<std::atomic<int64_t> *>(tensors[0]);
  for (int i = 0; i < 3; ++i) {
    if (tid == nth - 1 && nth > 1)
      usleep(500);
    sums[0] += 12 / nth;
    heddle_barrier(ctx, 0);
  }
  if (tid == 0)
    ++sums[1 + nth];
}

TEST(Pool, TeamsOfAnySizeFollowEachOther) {
  Pool pool;
  ASSERT_TRUE(pool.start(4).ok());
  std::atomic<int64_t> sums[8] = {};
  void *tensors[] = {sums};
  for (int i = 0; i < 300; ++i) {
    sums[0] = 0;
    ASSERT_TRUE(pool.call(uneven, nullptr, tensors, nullptr, nullptr).ok());
    EXPECT_EQ(sums[0], 36);
  }
  EXPECT_GT(sums[1 + 4], 0);
  EXPECT_GT(sums[1 + 1] + sums[1 + 2] + sums[1 + 3], 0);
}

void failing(heddle_ctx *ctx, int64_t tid, int64_t, const int64_t *dims, void *const *, char *, const char *) {
  if (tid == dims[0])
    heddle_fail(ctx, 1, 77, 50);
  heddle_barrier(ctx, 0);
  heddle_fail(ctx, 2, 1, 2);
}

TEST(Pool, FirstFailureStands) {
  Pool pool;
  ASSERT_TRUE(pool.start(3).ok());
  int64_t dims[] = {2};
  Status status = pool.call(failing, dims, nullptr, nullptr, nullptr);
  EXPECT_EQ(status.message(), "id 77 is outside a table of 50 rows");
  EXPECT_EQ(status.exit(), heddle::Exit::Input);
}

TEST(Pool, StartsAndStopsAtOnce) {
  for (int i = 0; i < 50; ++i) {
    Pool pool;
    ASSERT_TRUE(pool.start(4).ok());
  }
  EXPECT_GE(availableCores(), 1u);
}

} // namespace
