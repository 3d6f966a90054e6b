//===- DriverTest.cpp - libcuda as the emulator gives it ------------------===//
//
// The table by itself: work is done when it is waited for, graphs replay what
// was captured, wrong arguments and injected failures are results.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Driver.h"
#include "heddle/image.h"
#include "test/Emulator/Kernel.h"
#include "test/Emulator/Machine.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::rt;

namespace {

/// arena[t] += dims[0] + i, for every thread t of the grid.
void add(heddle_failure *, const int64_t *dims, void *const *, char *arena, const char *, int64_t i, int64_t,
         const int64_t *) {
  int t = hdemu_read_ptx_sreg_ctaid_x() * hdemu_read_ptx_sreg_ntid_x() + hdemu_read_ptx_sreg_tid_x();
  reinterpret_cast<int64_t *>(arena)[t] += dims[0] + i;
}

void leaves(heddle_failure *, const int64_t *, void *const *, char *, const char *, int64_t, int64_t, const int64_t *) {
  if (hdemu_read_ptx_sreg_laneid())
    hdemu_bar_warp_sync(-1);
}

void overwrites(heddle_failure *, const int64_t *, void *const *, char *, const char *weights, int64_t, int64_t,
                const int64_t *) {
  const_cast<char *>(weights)[3] = 1;
}

/// arena[t] += the second number.
void addNumber(heddle_failure *, const int64_t *, void *const *, char *arena, const char *, int64_t, int64_t,
               const int64_t *numbers) {
  int t = hdemu_read_ptx_sreg_ctaid_x() * hdemu_read_ptx_sreg_ntid_x() + hdemu_read_ptx_sreg_tid_x();
  reinterpret_cast<int64_t *>(arena)[t] += numbers[1];
}

const heddle_emulated_kernel kKernels[] = {
    {"add", add, 0, 0}, {"leaves", leaves, 0, 0}, {"overwrites", overwrites, 0, 0}, {"addNumber", addNumber, 0, 2}, {}};

/// A stream, 64 numbers there and here, and a number in `dims`.
struct Bench {
  Driver driver;
  CuStream stream = nullptr;
  CuModule module = nullptr;
  CuAddress dims = 0, arena = 0;
  int64_t *host = nullptr; ///< 64 numbers, then the one for dims

  explicit Bench(const char *options = "") {
    EXPECT_EQ(heddle_emulator(options, kKernels, &driver), nullptr);
    EXPECT_EQ(driver.init(0), 0);
    EXPECT_EQ(driver.streamCreate(&stream, kCuStreamNonBlocking), 0);
    EXPECT_EQ(driver.moduleLoad(&module, "", 0, nullptr, nullptr), 0);
    EXPECT_EQ(driver.allocate(&dims, 8), 0);
    EXPECT_EQ(driver.allocate(&arena, 64 * 8), 0);
    void *pinned = nullptr;
    EXPECT_EQ(driver.allocateHost(&pinned, 65 * 8, 0), 0);
    host = static_cast<int64_t *>(pinned);
    EXPECT_EQ(driver.fill(arena, 0, 64 * 8, stream), 0);
    host[64] = 5;
    EXPECT_EQ(driver.copyIn(dims, host + 64, 8, stream), 0);
  }
  int launch(const char *name, int64_t i = 0) {
    CuFunction function = nullptr;
    if (int result = driver.moduleFunction(&function, module, name))
      return result;
    CuAddress none = 0;
    int64_t j = 0, numbers[2] = {1000, 100 * i};
    void *arguments[] = {&none, &dims, &none, &arena, &dims, &i, &j, numbers};
    int launched = driver.launch(function, 2, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
    numbers[1] = -1; // arguments are taken when a launch is asked for
    return launched;
  }
  int64_t result() {
    EXPECT_EQ(driver.copyOut(host, arena, 64 * 8, stream), 0);
    EXPECT_EQ(driver.streamWait(stream), 0);
    for (int t = 1; t < 64; ++t)
      EXPECT_EQ(host[t], host[0]);
    return host[0];
  }
};

TEST(EmulatedDriver, CopiesAndLaunchesInTheirOrder) {
  Bench bench;
  EXPECT_EQ(bench.launch("add", 1), 0);
  EXPECT_EQ(bench.launch("add", 2), 0);
  EXPECT_EQ(bench.result(), 5 + 1 + 5 + 2);
}

TEST(EmulatedDriver, NumbersComeByValue) {
  Bench bench;
  EXPECT_EQ(bench.launch("addNumber", 1), 0);
  EXPECT_EQ(bench.launch("addNumber", 2), 0);
  EXPECT_EQ(bench.result(), 300);
}

TEST(EmulatedDriver, WorkIsDoneLateOrEarly) {
  // Late: the number that is copied is the one there when it is waited for.
  Bench late;
  late.host[64] = 7;
  EXPECT_EQ(late.launch("add"), 0);
  EXPECT_EQ(late.result(), 7);
  Bench early("early");
  early.host[64] = 7;
  EXPECT_EQ(early.launch("add"), 0);
  EXPECT_EQ(early.result(), 5);
}

TEST(EmulatedDriver, GraphsReplay) {
  Bench bench;
  EXPECT_EQ(bench.result(), 0);
  ASSERT_EQ(bench.driver.captureBegin(bench.stream, kCuCaptureThreadLocal), 0);
  EXPECT_NE(bench.driver.streamWait(bench.stream), 0);
  EXPECT_EQ(bench.driver.copyIn(bench.dims, bench.host + 64, 8, bench.stream), 0);
  EXPECT_EQ(bench.launch("add"), 0);
  CuGraph graph = nullptr;
  CuGraphExec exec = nullptr;
  ASSERT_EQ(bench.driver.captureEnd(bench.stream, &graph), 0);
  ASSERT_EQ(bench.driver.graphInstantiate(&exec, graph, 0), 0);
  EXPECT_EQ(bench.driver.graphDestroy(graph), 0);
  EXPECT_EQ(bench.result(), 0); // nothing was done while it was captured
  for (int k = 1; k <= 3; ++k) {
    bench.host[64] = 100;
    EXPECT_EQ(bench.driver.graphLaunch(exec, bench.stream), 0);
    EXPECT_EQ(bench.result(), 100 * k);
  }
  EXPECT_EQ(bench.driver.graphExecDestroy(exec), 0);
  EXPECT_EQ(emulator::machine()->calls["cuStreamEndCapture"], 1);
  EXPECT_EQ(emulator::machine()->calls["cuGraphLaunch"], 3);
  EXPECT_EQ(emulator::machine()->launches, 3);
}

TEST(EmulatedDriver, WrongArguments) {
  Bench bench;
  int64_t here[8] = {};
  EXPECT_EQ(bench.launch("nothing"), kCuNotFound);
  // Not page-locked; past an end; nowhere.
  EXPECT_EQ(bench.driver.copyIn(bench.arena, here, 64, bench.stream), kCuInvalidValue);
  EXPECT_EQ(bench.driver.copyOut(bench.host, bench.arena + 8, 64 * 8, bench.stream), kCuInvalidValue);
  EXPECT_EQ(bench.driver.copyWithin(bench.arena, 4096, 8, bench.stream), kCuInvalidValue);
  EXPECT_EQ(bench.driver.fill(bench.dims, 0, 9, bench.stream), kCuInvalidValue);
  EXPECT_EQ(bench.driver.release(bench.arena + 8), kCuInvalidValue);
}

TEST(EmulatedDriver, AFailedLaunchBreaksTheContext) {
  Bench bench;
  EXPECT_EQ(bench.launch("leaves"), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(bench.driver.streamWait(bench.stream), kCuLaunchFailed);
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("emulator: kernel leaves: thread"), std::string::npos);
  EXPECT_EQ(bench.launch("add"), kCuLaunchFailed);
  EXPECT_EQ(bench.driver.streamWait(bench.stream), kCuLaunchFailed);
  EXPECT_EQ(bench.driver.nameOf(kCuLaunchFailed), "CUDA_ERROR_LAUNCH_FAILED (719)");
}

using EmulatedDriverDeathTest = testing::Test;

TEST(EmulatedDriverDeathTest, AKernelStoresToTheWeights) {
  Bench bench;
  EXPECT_EQ(bench.launch("overwrites"), 0);
  EXPECT_EXIT(bench.driver.streamWait(bench.stream), testing::ExitedWithCode(70),
              "kernel overwrites stored to the "
              "weights, byte 3");
}

TEST(EmulatedDriverDeathTest, TheHostTouchesWhatKernelsMade) {
  Bench bench;
  EXPECT_EQ(bench.launch("add"), 0);
  EXPECT_EQ(bench.result(), 5);
  volatile auto *there = reinterpret_cast<int64_t *>(bench.arena);
  EXPECT_EXIT((void)there[2], testing::ExitedWithCode(70),
              "the host touched memory of the device, byte 16 of an allocation "
              "of 512");
}

TEST(EmulatedDriver, InjectedFailures) {
  Driver driver;
  ASSERT_EQ(heddle_emulator("fail=cuMemAlloc_v2:2:1", kKernels, &driver), nullptr);
  CuAddress address = 0;
  EXPECT_EQ(driver.allocate(&address, 8), 0);
  EXPECT_EQ(driver.allocate(&address, 8), kCuOutOfMemory);
  EXPECT_EQ(driver.allocate(&address, 8), kCuOutOfMemory);
  ASSERT_EQ(heddle_emulator("devices=0", kKernels, &driver), nullptr);
  EXPECT_EQ(driver.init(0), kCuNoDevice);
  ASSERT_EQ(heddle_emulator("fail=cuModuleLoadDataEx:218", kKernels, &driver), nullptr);
  char log[256] = "";
  int option = kCuJitErrorLog;
  void *value = log;
  CuModule module = nullptr;
  EXPECT_EQ(driver.moduleLoad(&module, "", 1, &option, &value), kCuInvalidPtx);
  EXPECT_NE(std::string(log).find("refused"), std::string::npos);
  EXPECT_NE(std::string(heddle_emulator("fail=cuFoo:1", kKernels, &driver)), "");
}

} // namespace
