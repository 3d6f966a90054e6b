//===- DriverTest.cpp - libcuda as the emulator gives it ------------------===//
//
// The table by itself: work is done when it is waited for, graphs replay what
// was captured, wrong arguments and injected failures are results, and what real
// drivers refuse is refused.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Driver.h"
#include "heddle/image.h"
#include "test/Emulator/Kernel.h"
#include "test/Emulator/Machine.h"
#include "test/Emulator/Rules.h"

#include <gtest/gtest.h>
#include <thread>

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

const heddle_emulated_kernel kKernels[] = {{"add", add, 0, 0},
                                           {"leaves", leaves, 0, 0},
                                           {"overwrites", overwrites, 0, 0},
                                           {"addNumber", addNumber, 0, 2},
                                           {"owns", add, 40 << 10, 0},
                                           {}};

/// A driver whose context this thread has.
int use(Driver &driver) {
  CuContext context = nullptr;
  int result = driver.contextRetain(&context, 0);
  return result ? result : driver.contextUse(context);
}

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
    EXPECT_EQ(use(driver), 0);
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
  CuFunction function(const char *name) {
    CuFunction function = nullptr;
    EXPECT_EQ(driver.moduleFunction(&function, module, name), 0);
    return function;
  }
  int blocks(const char *name, int threads, size_t shared) {
    int blocks = -1;
    EXPECT_EQ(driver.occupancy(&blocks, function(name), threads, shared), 0);
    return blocks;
  }
  int launch(const char *name, int64_t i = 0, unsigned shared = 0, unsigned threads = 32) {
    CuFunction function = nullptr;
    if (int result = driver.moduleFunction(&function, module, name))
      return result;
    CuAddress none = 0;
    int64_t j = 0, numbers[2] = {1000, 100 * i};
    void *arguments[] = {&none, &dims, &none, &arena, &dims, &i, &j, numbers};
    int launched = driver.launch(function, 2, 1, 1, threads, 1, 1, shared, stream, arguments, nullptr);
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

TEST(EmulatedDriver, SharedMemoryIsAskedFor) {
  constexpr unsigned kAll = 48 << 10;
  Bench bench;
  EXPECT_EQ(bench.launch("add", 0, kAll), 0);
  EXPECT_EQ(bench.launch("add", 0, kAll + 1), kCuInvalidValue);
  EXPECT_EQ(bench.blocks("add", 32, kAll), 1);
  EXPECT_EQ(bench.blocks("add", 32, kAll + 1), 0);
  // What a kernel names itself counts.
  EXPECT_EQ(bench.blocks("owns", 32, 8 << 10), 1);
  EXPECT_EQ(bench.blocks("owns", 32, (8 << 10) + 1), 0);
  EXPECT_EQ(bench.launch("owns", 0, (8 << 10) + 1), kCuInvalidValue);
  ASSERT_EQ(bench.driver.functionSet(bench.function("add"), kCuMostDynamicShared, 60000), 0);
  EXPECT_EQ(bench.launch("add", 0, 60000), 0);
  EXPECT_EQ(bench.launch("add", 0, 60001), kCuInvalidValue);
  EXPECT_EQ(bench.launch("owns", 0, 60000), kCuInvalidValue);
  EXPECT_EQ(bench.blocks("add", 1024, 60000), 1);
  EXPECT_EQ(bench.blocks("add", 1056, 0), 0);
  EXPECT_EQ(bench.launch("add", 0, 0, 1056), kCuInvalidValue);
}

TEST(EmulatedDriver, ChipsHaveSoMuchSharedMemory) {
  for (auto [chip, kibibytes] : {std::pair(80, 163), {86, 99}, {87, 163}, {89, 99}, {90, 227}, {100, 227}, {120, 99}}) {
    Bench bench(("capability=" + std::to_string(chip)).c_str());
    CuFunction add = bench.function("add"), owns = bench.function("owns");
    EXPECT_EQ(bench.driver.functionSet(add, kCuMostDynamicShared, kibibytes << 10), 0) << chip;
    EXPECT_EQ(bench.driver.functionSet(add, kCuMostDynamicShared, (kibibytes << 10) + 1), kCuInvalidValue) << chip;
    EXPECT_EQ(bench.driver.functionSet(owns, kCuMostDynamicShared, (kibibytes - 40) << 10), 0) << chip;
    EXPECT_EQ(bench.driver.functionSet(owns, kCuMostDynamicShared, (kibibytes - 39) << 10), kCuInvalidValue) << chip;
    EXPECT_EQ(bench.driver.functionSet(add, kCuMostDynamicShared, -1), kCuInvalidValue);
    EXPECT_EQ(bench.launch("add", 0, unsigned(kibibytes) << 10), 0) << chip;
  }
}

/// What `call` gives inside of a capture of `mode`, and what the capture gives then.
std::pair<int, int> captured(Bench &bench, int mode, const std::function<int()> &call) {
  EXPECT_EQ(bench.driver.captureBegin(bench.stream, mode), 0);
  int result = call();
  CuGraph graph = nullptr;
  int ended = bench.driver.captureEnd(bench.stream, &graph);
  EXPECT_EQ(graph == nullptr, ended != 0);
  if (graph)
    EXPECT_EQ(bench.driver.graphDestroy(graph), 0);
  return {result, ended};
}

TEST(EmulatedDriver, CapturesForbidCalls) {
  Bench bench;
  Driver &driver = bench.driver;
  CuAddress address = 0;
  void *host = nullptr;
  CuModule module = nullptr;
  CuEvent events[2] = {};
  float time = 0;
  for (CuEvent &event : events) {
    ASSERT_EQ(driver.eventCreate(&event, 0), 0);
    ASSERT_EQ(driver.eventRecord(event, bench.stream), 0);
  }
  const std::pair<int, int> refused(emulator::kCuCaptureUnsupported, emulator::kCuCaptureInvalidated), good(0, 0);
  const std::function<int()> calls[] = {
      [&] { return driver.allocate(&address, 8); },
      [&] { return driver.release(bench.arena); },
      [&] { return driver.allocateHost(&host, 8, 0); },
      [&] { return driver.releaseHost(bench.host); },
      [&] { return driver.streamWait(bench.stream); },
      [&] { return driver.eventElapsed(&time, events[0], events[1]); },
      [&] { return driver.moduleLoad(&module, "", 0, nullptr, nullptr); },
  };
  for (const auto &call : calls) {
    EXPECT_EQ(captured(bench, kCuCaptureThreadLocal, call), refused) << &call - calls;
    EXPECT_EQ(captured(bench, 0, call), refused) << &call - calls;
  }
  // What came behind the call is not captured either.
  auto goesOn = [&] { return driver.streamWait(bench.stream), bench.launch("add"); };
  EXPECT_EQ(captured(bench, kCuCaptureThreadLocal, goesOn).first, emulator::kCuCaptureInvalidated);
  EXPECT_EQ(captured(bench, kCuCaptureThreadLocal, [&] { return bench.launch("add"); }), good);
  // Another thread may allocate, unless the capture is everybody's.
  auto elsewhere = [&] {
    int result = -1;
    std::thread([&] { result = use(driver) ? -1 : driver.allocate(&address, 8); }).join();
    return result;
  };
  EXPECT_EQ(captured(bench, kCuCaptureThreadLocal, elsewhere), good);
  EXPECT_EQ(captured(bench, 0, elsewhere), refused);
  EXPECT_EQ(captured(bench, emulator::kCuCaptureRelaxed, calls[0]), good);
  EXPECT_EQ(bench.result(), 0); // and the context is whole
}

TEST(EmulatedDriver, CopiesDoNotOverlap) {
  Bench bench;
  auto copy = [&](uint64_t to, uint64_t from, size_t bytes) {
    return bench.driver.copyWithin(bench.arena + to, bench.arena + from, bytes, bench.stream);
  };
  EXPECT_EQ(copy(64, 0, 64), 0);
  EXPECT_EQ(copy(0, 64, 64), 0);
  EXPECT_EQ(copy(0, 0, 0), 0);
  for (uint64_t from : {8, 63})
    for (auto [to, source] : {std::pair(from, uint64_t(0)), {uint64_t(0), from}})
      EXPECT_EQ(copy(to, source, 64), kCuInvalidValue) << to << " " << source;
  EXPECT_EQ(copy(8, 8, 64), kCuInvalidValue);
}

TEST(EmulatedDriver, ThreadsNeedAContext) {
  Driver driver;
  ASSERT_EQ(heddle_emulator("", kKernels, &driver), nullptr);
  CuAddress address = 0;
  CuStream stream = nullptr;
  int count = 0;
  EXPECT_EQ(driver.deviceCount(&count), 0);
  EXPECT_EQ(driver.allocate(&address, 8), emulator::kCuInvalidContext);
  EXPECT_EQ(driver.streamCreate(&stream, 0), emulator::kCuInvalidContext);
  CuContext context = nullptr;
  ASSERT_EQ(driver.contextRetain(&context, 0), 0);
  EXPECT_EQ(driver.allocate(&address, 8), emulator::kCuInvalidContext);
  ASSERT_EQ(driver.contextUse(context), 0);
  EXPECT_EQ(driver.allocate(&address, 8), 0);
  int there = 0, then = -1;
  std::thread([&] {
    there = driver.release(address);
    driver.contextUse(context);
    then = driver.release(address);
  }).join();
  EXPECT_EQ(there, emulator::kCuInvalidContext);
  EXPECT_EQ(then, 0);
  // Nobody has a context that nobody holds, or that was another machine's.
  ASSERT_EQ(driver.contextRelease(0), 0);
  EXPECT_EQ(driver.allocate(&address, 8), emulator::kCuInvalidContext);
  EXPECT_EQ(driver.contextUse(context), emulator::kCuInvalidContext);
  ASSERT_EQ(heddle_emulator("", kKernels, &driver), nullptr);
  CuContext other = nullptr;
  ASSERT_EQ(driver.contextRetain(&other, 0), 0);
  EXPECT_EQ(driver.allocate(&address, 8), emulator::kCuInvalidContext);
  EXPECT_EQ(driver.nameOf(emulator::kCuInvalidContext), "CUDA_ERROR_INVALID_CONTEXT (201)");
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
  ASSERT_EQ(use(driver), 0);
  CuAddress address = 0;
  EXPECT_EQ(driver.allocate(&address, 8), 0);
  EXPECT_EQ(driver.allocate(&address, 8), kCuOutOfMemory);
  EXPECT_EQ(driver.allocate(&address, 8), kCuOutOfMemory);
  ASSERT_EQ(heddle_emulator("devices=0", kKernels, &driver), nullptr);
  EXPECT_EQ(driver.init(0), kCuNoDevice);
  ASSERT_EQ(heddle_emulator("fail=cuModuleLoadDataEx:218", kKernels, &driver), nullptr);
  ASSERT_EQ(use(driver), 0);
  char log[256] = "";
  int option = kCuJitErrorLog;
  void *value = log;
  CuModule module = nullptr;
  EXPECT_EQ(driver.moduleLoad(&module, "", 1, &option, &value), kCuInvalidPtx);
  EXPECT_NE(std::string(log).find("refused"), std::string::npos);
  EXPECT_NE(std::string(heddle_emulator("fail=cuFoo:1", kKernels, &driver)), "");
}

} // namespace
