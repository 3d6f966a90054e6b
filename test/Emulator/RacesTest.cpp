//===- RacesTest.cpp - Bytes of a word, together and apart ----------------===//
//
// The bytes of a word share a shadow until they are touched apart. Whatever is
// touched, what is said must be what is said where each byte has a word of its
// own, which never shares.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Races.h"

#include <gtest/gtest.h>
#include <random>

using namespace heddle::emulator;

namespace {

constexpr uint32_t kThreads = 64, kBlocks = 2; // of a block; blocks

/// One access to `apart`, byte by byte, each as a word.
bool byBytes(Races &apart, bool stores, uint64_t offset, uint64_t size, Moment now, uint32_t &other) {
  for (uint64_t i = offset; i < offset + size; ++i)
    if (!(stores ? apart.store(4 * i, 4, now, other) : apart.load(4 * i, 4, now, other)))
      return false;
  return true;
}

TEST(Races, WordsAreTheirBytes) {
  constexpr uint64_t kBytes = 62;
  Races words, apart;
  ASSERT_TRUE(words.watch(kBytes));
  ASSERT_TRUE(apart.watch(4 * kBytes));
  std::mt19937 random(7);
  auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  int races = 0, clean = 0;
  for (int launch = 0; launch < 2000; ++launch) {
    words.begin(kThreads);
    apart.begin(kThreads);
    uint16_t warps[kBlocks * kThreads / 32] = {}, blocks[kBlocks] = {};
    bool good = true;
    for (uint32_t step = below(30); step > 0 && good; --step) {
      uint32_t thread = below(kBlocks * kThreads), block = thread / kThreads;
      if (below(4) == 0) { // a barrier of a block, which is one of each of its warps
        ++blocks[block];
        for (uint32_t w = 0; w < kThreads / 32; ++w)
          ++warps[block * (kThreads / 32) + w];
      } else if (below(4) == 0) {
        ++warps[thread / 32];
      }
      uint64_t size = 1u << below(5), offset = below(uint32_t(kBytes - size + 1));
      offset -= below(2) ? offset % size : 0;
      if (below(20) == 0) {
        words.forget(offset, size);
        apart.forget(4 * offset, 4 * size);
      }
      Moment now{thread, block * kThreads, warps[thread / 32], blocks[block]};
      uint32_t other = 0, expected = 0;
      bool stores = below(6) == 0;
      good = byBytes(apart, stores, offset, size, now, expected);
      EXPECT_EQ(stores ? words.store(offset, size, now, other) : words.load(offset, size, now, other), good);
      if (!good)
        EXPECT_EQ(other, expected);
    }
    ++(good ? clean : races);
  }
  EXPECT_GT(races, 100);
  EXPECT_GT(clean, 100);
}

/// A lane's half of a word is not its neighbour's.
TEST(Races, HalvesOfAWordAreApart) {
  Races races;
  ASSERT_TRUE(races.watch(64));
  races.begin(kThreads);
  uint32_t other = 0;
  EXPECT_TRUE(races.store(8, 2, {0, 0, 0, 0}, other));
  EXPECT_TRUE(races.store(10, 2, {32, 0, 0, 0}, other)); // of another warp
  EXPECT_TRUE(races.load(8, 2, {0, 0, 0, 0}, other));
  EXPECT_FALSE(races.load(8, 4, {0, 0, 0, 0}, other));
  EXPECT_EQ(other, 32u);
  // A word that was whole before it is parted keeps its writer in every part.
  EXPECT_TRUE(races.store(20, 4, {5, 0, 0, 0}, other));
  EXPECT_TRUE(races.load(21, 1, {5, 0, 0, 0}, other));
  EXPECT_FALSE(races.load(23, 1, {40, 0, 0, 0}, other));
  EXPECT_EQ(other, 5u);
}

} // namespace
