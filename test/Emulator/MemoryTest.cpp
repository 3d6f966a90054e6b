//===- MemoryTest.cpp - Memory of the emulated device ---------------------===//
//
// Fresh memory is NaN, nobody touches it at the wrong time, and what runs over
// its end ends the program with a message.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Memory.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace heddle::emulator;

namespace {

TEST(Memory, FreshMemoryIsNaN) {
  Memory memory(1 << 20);
  char *address = memory.allocate(1000);
  ASSERT_NE(address, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 256, 0u);
  memory.open();
  for (int i = 0; i < 250; ++i)
    EXPECT_TRUE(std::isnan(reinterpret_cast<float *>(address)[i]));
  address[0] = 0;
  memory.close();
  ASSERT_TRUE(memory.release(address));
  EXPECT_FALSE(memory.release(address));
  // The same place is fresh again.
  char *again = memory.allocate(1000);
  EXPECT_EQ(again, address);
  memory.open();
  EXPECT_TRUE(std::isnan(*reinterpret_cast<float *>(again)));
  memory.close();
}

TEST(Memory, CountsWhatIsTaken) {
  Memory memory(1 << 20);
  EXPECT_EQ(memory.allocate((1 << 20) + 1), nullptr);
  EXPECT_EQ(memory.allocate(UINT64_MAX), nullptr);
  char *first = memory.allocate(1 << 19), *second = memory.allocate(1 << 19);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(memory.free(), 0u);
  EXPECT_EQ(memory.allocate(1), nullptr);
  EXPECT_TRUE(memory.release(first));
  EXPECT_EQ(memory.free(), uint64_t(1) << 19);
  EXPECT_NE(memory.allocate(100), nullptr);
}

TEST(Memory, KnowsWhatLiesInside) {
  Memory memory(1 << 20);
  char *address = memory.allocate(1000);
  EXPECT_TRUE(memory.holds(address, 1000));
  EXPECT_TRUE(memory.holds(address + 999, 1));
  EXPECT_FALSE(memory.holds(address, 1001));
  EXPECT_FALSE(memory.holds(address + 1000, 1));
  EXPECT_FALSE(memory.holds(address - 1, 2));
  auto *host = static_cast<char *>(memory.allocateHost(10));
  EXPECT_TRUE(memory.holdsHost(host, 10));
  EXPECT_FALSE(memory.holdsHost(host + 1, 10));
  EXPECT_FALSE(memory.holdsHost(address, 1));
  EXPECT_TRUE(memory.releaseHost(host));
  EXPECT_FALSE(memory.releaseHost(host));
}

using MemoryDeathTest = testing::Test;

TEST(MemoryDeathTest, TheHostTouchesIt) {
  Memory memory(1 << 20);
  volatile char *address = memory.allocate(1000);
  EXPECT_EXIT(address[17] = 1, testing::ExitedWithCode(70),
              "emulator: the host touched memory of the device, byte 17 of an "
              "allocation of 1000");
  memory.open();
  address[17] = 1;
  memory.close();
  EXPECT_EXIT((void)address[17], testing::ExitedWithCode(70), "the host touched");
}

TEST(MemoryDeathTest, StoresToTheWeights) {
  Memory memory(1 << 20);
  char *weights = memory.allocate(1000), *other = memory.allocate(1000);
  memory.setUser("kernel k");
  memory.open(weights);
  volatile char *at = weights;
  other[0] = at[0];
  EXPECT_EXIT(at[3] = 1, testing::ExitedWithCode(70), "kernel k stored to the weights, byte 3");
  memory.close();
}

TEST(MemoryDeathTest, RunsOverItsEnd) {
  Memory memory(1 << 20);
  volatile char *address = memory.allocate(1024);
  memory.allocate(1024);
  memory.setUser("kernel k");
  memory.open();
  EXPECT_EXIT((void)address[1024], testing::ExitedWithCode(70),
              "kernel k touched no memory of its own, byte 1024 of an "
              "allocation of 1024");
  memory.close();
}

} // namespace
