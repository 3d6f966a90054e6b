//===- HostTest.cpp - Memory of entries on this processor -----------------===//
//
// States begin as zeros, are cleared and permuted by rows, and are given back.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Host.h"

#include <gtest/gtest.h>

using namespace heddle::rt;

namespace {

TEST(Host, PermutesEveryGroupByRows) {
  Pool pool;
  ASSERT_TRUE(pool.start(1).ok());
  Host host(pool, nullptr);
  Memory state;
  ASSERT_TRUE(host.allocate(Backend::Use::State, 13 * 4, "a state", state).ok());
  ASSERT_EQ(state.size(), 13u * 4);
  auto *values = static_cast<int32_t *>(state.data());
  for (int i = 0; i < 13; ++i) {
    EXPECT_EQ(values[i], 0);
    values[i] = i;
  }
  // Two groups of three rows of two values; the last value belongs to none.
  ASSERT_TRUE(host.permute(state, 2, 6 * 4, {1, 1, 0}).ok());
  const int32_t moved[] = {2, 3, 2, 3, 0, 1, 8, 9, 8, 9, 6, 7, 12};
  for (int i = 0; i < 13; ++i)
    EXPECT_EQ(values[i], moved[i]) << i;
  ASSERT_TRUE(host.clear(state).ok());
  for (int i = 0; i < 13; ++i)
    EXPECT_EQ(values[i], 0) << i;
}

TEST(Host, RefusesWhatTheMachineLacks) {
  Pool pool;
  ASSERT_TRUE(pool.start(1).ok());
  Host host(pool, nullptr);
  Memory arena;
  Status status = host.allocate(Backend::Use::Arena, uint64_t(1) << 60, "the arena", arena);
  EXPECT_STREQ(status.code(), "H0601");
  EXPECT_NE(status.message().find("the arena"), std::string::npos);
  EXPECT_EQ(arena.data(), nullptr);
}

} // namespace
