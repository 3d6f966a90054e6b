//===- Driver.cpp - libcuda as the emulator gives it ----------------------===//
//
// The functions of runtime/Device/driver.def on the emulated device. They are
// strict where a driver may be lenient: copies stay inside of one allocation and
// use page-locked memory and do not overlap, launches are one-dimensional, what
// is wrong is CUDA_ERROR_INVALID_VALUE. What real drivers refuse is in
// Rules.h. After a launch failed everything fails, as on a device.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Driver.h"
#include "heddle/image.h"

#include "test/Emulator/Machine.h"
#include "test/Emulator/Rules.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace heddle::rt;

namespace heddle::emulator {

/// libcuda has one state a process, and its functions no argument for it.
static std::unique_ptr<Machine> theMachine;

Machine *machine() { return theMachine.get(); }

namespace {
Machine &self() { return *theMachine; }
template <typename T> char *bytesOf(T address) { return reinterpret_cast<char *>(address); }
Stream &streamOf(CuStream stream) { return *reinterpret_cast<Stream *>(stream); }
const heddle_emulated_kernel &kernelOf(CuFunction function) {
  return *reinterpret_cast<const heddle_emulated_kernel *>(function);
}
/// A context that is no pointer: a later machine may be where an earlier one did.
CuContext contextOf(const Machine &machine) { return reinterpret_cast<CuContext>(uintptr_t(machine.number)); }
thread_local CuContext theContext = nullptr; ///< the current one
} // namespace

//===----------------------------------------------------------------------===//
// The device.

static int cuInit(unsigned) { return self().options.devices ? kCuSuccess : kCuNoDevice; }

static int cuDriverGetVersion(int *version) {
  *version = int(self().options.version);
  return kCuSuccess;
}

static const struct {
  int error;
  const char *name, *text;
} kErrors[] = {
    {kCuSuccess, "CUDA_SUCCESS", "no error"},
    {kCuInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kCuOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kCuNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device"},
    {kCuInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "no such device"},
    {kCuInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "invalid image"},
    {kCuInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "no context is current"},
    {kCuNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no code for this GPU"},
    {kCuInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {kCuNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kCuIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal address"},
    {kCuLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "launch failure"},
    {kCuCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not while a stream is captured"},
    {kCuCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "something forbidden was called in the capture"},
};

static int cuGetErrorName(int error, const char **text) {
  for (const auto &row : kErrors)
    if (row.error == error)
      return *text = row.name, kCuSuccess;
  return kCuInvalidValue;
}

static int cuGetErrorString(int error, const char **text) {
  for (const auto &row : kErrors)
    if (row.error == error)
      return *text = row.text, kCuSuccess;
  return kCuInvalidValue;
}

static int cuDeviceGetCount(int *count) {
  *count = int(self().options.devices);
  return kCuSuccess;
}

static int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && ordinal < self().options.devices ? kCuSuccess : kCuInvalidDevice;
}

static int cuDeviceGetName(char *name, int size, int) {
  snprintf(name, size_t(size), "emulator");
  return kCuSuccess;
}

static int cuDeviceGetAttribute(int *value, int attribute, int) {
  const Options &options = self().options;
  *value = attribute == kCuMultiprocessors   ? int(options.multiprocessors)
           : attribute == kCuCapabilityMajor ? int(options.capability / 10)
           : attribute == kCuCapabilityMinor ? int(options.capability % 10)
                                             : 0;
  return kCuSuccess;
}

static int cuDevicePrimaryCtxRetain(CuContext *context, int) {
  ++self().retained;
  *context = contextOf(self());
  return kCuSuccess;
}

static int cuDevicePrimaryCtxRelease_v2(int) {
  if (self().retained == 0)
    return kCuInvalidContext;
  --self().retained;
  if (self().options.count)
    self().printCounts();
  return kCuSuccess;
}

static int cuCtxSetCurrent(CuContext context) {
  if (context && (context != contextOf(self()) || self().retained == 0))
    return kCuInvalidContext;
  theContext = context;
  return kCuSuccess;
}

//===----------------------------------------------------------------------===//
// Memory.

static int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = self().memory.free();
  *total = self().memory.total();
  return kCuSuccess;
}

static int cuMemAlloc_v2(CuAddress *address, size_t bytes) {
  char *piece = bytes ? self().memory.allocate(bytes) : nullptr;
  *address = CuAddress(reinterpret_cast<uintptr_t>(piece));
  return piece ? kCuSuccess : bytes ? kCuOutOfMemory : kCuInvalidValue;
}

static int cuMemFree_v2(CuAddress address) {
  int result = self().finishAll(); // as the driver does
  return self().memory.release(bytesOf(address)) ? result : kCuInvalidValue;
}

static int cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  *address = self().memory.allocateHost(bytes);
  return *address ? kCuSuccess : kCuOutOfMemory;
}

static int cuMemFreeHost(void *address) {
  int result = self().finishAll();
  return self().memory.releaseHost(address) ? result : kCuInvalidValue;
}

static int copy(char *to, const char *from, size_t bytes, CuStream stream, bool good) {
  Operation operation{Operation::Kind::Copy, to, from, bytes};
  return good ? self().submit(streamOf(stream), operation) : kCuInvalidValue;
}

static int cuMemcpyHtoDAsync_v2(CuAddress to, const void *from, size_t bytes, CuStream stream) {
  const Memory &memory = self().memory;
  return copy(bytesOf(to), static_cast<const char *>(from), bytes, stream,
              memory.holds(bytesOf(to), bytes) && memory.holdsHost(from, bytes));
}

static int cuMemcpyDtoHAsync_v2(void *to, CuAddress from, size_t bytes, CuStream stream) {
  const Memory &memory = self().memory;
  return copy(static_cast<char *>(to), bytesOf(from), bytes, stream,
              memory.holds(bytesOf(from), bytes) && memory.holdsHost(to, bytes));
}

static int cuMemcpyDtoDAsync_v2(CuAddress to, CuAddress from, size_t bytes, CuStream stream) {
  const Memory &memory = self().memory;
  bool apart = bytes == 0 || to + bytes <= from || from + bytes <= to;
  return copy(bytesOf(to), bytesOf(from), bytes, stream,
              apart && memory.holds(bytesOf(to), bytes) && memory.holds(bytesOf(from), bytes));
}

static int cuMemsetD8Async(CuAddress to, unsigned char value, size_t bytes, CuStream stream) {
  Operation operation{Operation::Kind::Fill, bytesOf(to), nullptr, bytes, value};
  return self().memory.holds(bytesOf(to), bytes) ? self().submit(streamOf(stream), operation) : kCuInvalidValue;
}

//===----------------------------------------------------------------------===//
// Streams and graphs.

static int cuStreamCreate(CuStream *stream, unsigned) {
  self().streams.push_back(std::make_unique<Stream>());
  *stream = reinterpret_cast<CuStream>(self().streams.back().get());
  return kCuSuccess;
}

static int cuStreamDestroy_v2(CuStream stream) {
  auto &all = self().streams;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const std::unique_ptr<Stream> &one) { return one.get() == &streamOf(stream); }),
            all.end());
  return kCuSuccess;
}

static int cuStreamSynchronize(CuStream stream) {
  Stream &one = streamOf(stream);
  one.invalid |= one.capturing; // by whichever thread
  return one.capturing ? kCuCaptureUnsupported : self().finish(one);
}

/// Events hold the host's clock: the emulated device runs what is submitted at once, or when it is waited for.
static int cuEventCreate(CuEvent *event, unsigned) {
  *event = reinterpret_cast<CuEvent>(new std::chrono::steady_clock::time_point());
  return kCuSuccess;
}

static int cuEventRecord(CuEvent event, CuStream stream) {
  if (streamOf(stream).capturing)
    return kCuInvalidValue;
  int result = self().finish(streamOf(stream));
  *reinterpret_cast<std::chrono::steady_clock::time_point *>(event) = std::chrono::steady_clock::now();
  return result;
}

static int cuEventElapsedTime(float *milliseconds, CuEvent begin, CuEvent end) {
  auto at = [](CuEvent event) { return *reinterpret_cast<std::chrono::steady_clock::time_point *>(event); };
  *milliseconds = std::chrono::duration<float, std::milli>(at(end) - at(begin)).count();
  return kCuSuccess;
}

static int cuEventDestroy_v2(CuEvent event) {
  delete reinterpret_cast<std::chrono::steady_clock::time_point *>(event);
  return kCuSuccess;
}

static int cuStreamBeginCapture_v2(CuStream stream, int mode) {
  Stream &one = streamOf(stream);
  if (one.capturing)
    return kCuInvalidValue;
  one.capturing = true;
  one.invalid = false;
  one.mode = mode;
  one.capturer = std::this_thread::get_id();
  one.captured.clear();
  return kCuSuccess;
}

static int cuStreamEndCapture(CuStream stream, CuGraph *graph) {
  Stream &one = streamOf(stream);
  if (!one.capturing)
    return kCuInvalidValue;
  one.capturing = false;
  if (one.invalid) {
    *graph = nullptr;
    return kCuCaptureInvalidated;
  }
  *graph = reinterpret_cast<CuGraph>(new Graph{std::move(one.captured)});
  return kCuSuccess;
}

static int cuGraphInstantiateWithFlags(CuGraphExec *exec, CuGraph graph, unsigned long long) {
  *exec = reinterpret_cast<CuGraphExec>(new Graph(*reinterpret_cast<Graph *>(graph)));
  return kCuSuccess;
}

static int cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  for (const Operation &operation : reinterpret_cast<Graph *>(exec)->operations)
    if (int result = self().submit(streamOf(stream), operation))
      return result;
  return kCuSuccess;
}

static int cuGraphDestroy(CuGraph graph) {
  delete reinterpret_cast<Graph *>(graph);
  return kCuSuccess;
}

static int cuGraphExecDestroy(CuGraphExec exec) {
  delete reinterpret_cast<Graph *>(exec);
  return kCuSuccess;
}

//===----------------------------------------------------------------------===//
// Kernels.

static int cuModuleLoadDataEx(CuModule *module, const void *image, unsigned count, int *options, void **values) {
  int result = self().injected("cuModuleLoadDataEx");
  for (unsigned i = 0; result && i < count; ++i)
    if (options[i] == kCuJitErrorLog)
      strcpy(static_cast<char *>(values[i]), "ptxas application ptx input, line 7; error : refused\n");
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == kCuJitInfoLog)
      strcpy(static_cast<char *>(values[i]), "emulator: nothing was assembled\n");
  *module = reinterpret_cast<CuModule>(theMachine.get());
  return result ? result : image ? kCuSuccess : kCuInvalidImage;
}

static int cuModuleUnload(CuModule) { return kCuSuccess; }

static int cuModuleGetFunction(CuFunction *function, CuModule, const char *name) {
  const heddle_emulated_kernel *kernel = self().kernel(name);
  *function = reinterpret_cast<CuFunction>(const_cast<heddle_emulated_kernel *>(kernel));
  return kernel ? kCuSuccess : kCuNotFound;
}

static int cuFuncSetAttribute(CuFunction function, int attribute, int value) {
  const heddle_emulated_kernel &kernel = kernelOf(function);
  if (attribute != kCuMostDynamicShared || value < 0 ||
      value + int64_t(kernel.shared) > mostShared(self().options.capability))
    return kCuInvalidValue;
  self().asked[&kernel] = value;
  return kCuSuccess;
}

static int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CuFunction function, int threads, size_t shared) {
  *blocks = self().fits(kernelOf(function), threads, int64_t(shared));
  return kCuSuccess;
}

static int cuLaunchKernel(CuFunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                          unsigned blockY, unsigned blockZ, unsigned shared, CuStream stream, void **arguments,
                          void **extra) {
  const heddle_emulated_kernel *kernel = &kernelOf(function);
  if (gridY != 1 || gridZ != 1 || blockY != 1 || blockZ != 1 || gridX == 0 || !self().fits(*kernel, blockX, shared) ||
      !arguments || extra)
    return kCuInvalidValue;
  auto pointer = [&](int i) { return *static_cast<char **>(arguments[i]); };
  Operation operation{Operation::Kind::Launch};
  operation.launch = {kernel->name,
                      kernel->function,
                      gridX,
                      blockX,
                      shared + kernel->shared,
                      reinterpret_cast<heddle_failure *>(pointer(0)),
                      reinterpret_cast<const int64_t *>(pointer(1)),
                      reinterpret_cast<void *const *>(pointer(2)),
                      pointer(3),
                      pointer(4),
                      *static_cast<int64_t *>(arguments[5]),
                      *static_cast<int64_t *>(arguments[6]),
                      {}};
  auto *numbers = static_cast<const int64_t *>(arguments[7]);
  operation.launch.numbers.assign(numbers, numbers + kernel->numbers);
  return self().submit(streamOf(stream), operation);
}

//===----------------------------------------------------------------------===//

/// `function` in front of which calls of `symbol` are counted and failures are
/// injected, and which a thread without a context or a capture may not call;
/// after a launch failed, only what frees or explains works.
template <typename Tag, auto function> struct Watched;
template <typename Tag, typename... A, int (*function)(A...)> struct Watched<Tag, function> {
  static int call(A... arguments) {
    std::string_view symbol = Tag::symbol;
    bool logs = symbol == "cuModuleLoadDataEx";
    if (int result = logs ? 0 : self().injected(Tag::symbol))
      return result;
    if (needsContext(symbol) && (theContext != contextOf(self()) || self().retained == 0))
      return kCuInvalidContext;
    if (Stream *captured = isForbiddenInCapture(symbol) ? self().restricting() : nullptr) {
      captured->invalid = true;
      return kCuCaptureUnsupported;
    }
    bool works = symbol.find("Error") != symbol.npos || symbol.find("Free") != symbol.npos ||
                 symbol.find("Destroy") != symbol.npos || symbol.find("Release") != symbol.npos;
    return self().broken && !works ? self().broken : function(arguments...);
  }
};

#define HEDDLE_CUDA(member, name, parameters)                                                                          \
  struct Tag_##name {                                                                                                  \
    static constexpr const char *symbol = #name;                                                                       \
  };
#include "runtime/Device/driver.def"
#undef HEDDLE_CUDA

static std::string theComplaint;

} // namespace heddle::emulator

using namespace heddle::emulator;

extern "C" const char *heddle_emulator(const char *options, const heddle_emulated_kernel *kernels, Driver *driver) {
  Options parsed;
  theComplaint = Options::parse(options, parsed);
  if (!theComplaint.empty())
    return theComplaint.c_str();
  theMachine.reset(); // its memory first
  theMachine = std::make_unique<Machine>(parsed, kernels);
#define HEDDLE_CUDA(member, name, parameters) driver->member = Watched<Tag_##name, name>::call;
#include "runtime/Device/driver.def"
#undef HEDDLE_CUDA
  return nullptr;
}
