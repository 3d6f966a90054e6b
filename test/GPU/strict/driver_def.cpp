//===- driver_def.cpp - driver.def against cuda.h -------------------------===//
//
// Compiled where CUDA's header is installed: every function of runtime/Device/driver.def has the type that cuda.h gives
// it, with the runtime's names for handles, and every number of Driver.h is the one there. It is not run.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Driver.h"
#include "test/Emulator/Rules.h"
#include <cuda.h>
#include <type_traits>

namespace {
using namespace heddle::rt;

/// What the runtime writes for a type of cuda.h: handles are pointers of its own, enumerations are int.
template <typename T> struct Ours {
  using type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <typename T> using OursOf = typename Ours<T>::type;
template <> struct Ours<CUcontext> {
  using type = CuContext;
};
template <> struct Ours<CUstream> {
  using type = CuStream;
};
template <> struct Ours<CUevent> {
  using type = CuEvent;
};
template <> struct Ours<CUmodule> {
  using type = CuModule;
};
template <> struct Ours<CUfunction> {
  using type = CuFunction;
};
template <> struct Ours<CUgraph> {
  using type = CuGraph;
};
template <> struct Ours<CUgraphExec> {
  using type = CuGraphExec;
};
static_assert(std::is_same_v<CUdeviceptr, CuAddress>);
// A pointer to a handle or to an enumeration is one to ours.
template <typename T> struct Ours<T *> {
  using type = std::conditional_t<std::is_void_v<T> || std::is_function_v<T>, T *, OursOf<T> *>;
};
template <> struct Ours<const void *> {
  using type = const void *;
};

template <typename Function> struct Signature;
template <typename Result, typename... Arguments> struct Signature<Result(Arguments...)> {
  using type = OursOf<Result>(OursOf<Arguments>...);
};

template <typename Theirs, typename Mine> constexpr bool agree() {
  return std::is_same_v<typename Signature<Theirs>::type, Mine>;
}

// cuda.h renames some functions by macros: cuMemAlloc is cuMemAlloc_v2. Both spellings end at the exported one.
#define HEDDLE_CUDA(member, symbol, parameters)                                                                        \
  static_assert(agree<decltype(symbol), int parameters>(), #symbol " has other parameters in cuda.h");
#include "runtime/Device/driver.def"
#undef HEDDLE_CUDA

static_assert(kCuSuccess == CUDA_SUCCESS && kCuInvalidValue == CUDA_ERROR_INVALID_VALUE &&
              kCuOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY && kCuNoDevice == CUDA_ERROR_NO_DEVICE &&
              kCuInvalidImage == CUDA_ERROR_INVALID_IMAGE && kCuNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU &&
              kCuInvalidPtx == CUDA_ERROR_INVALID_PTX && kCuNotFound == CUDA_ERROR_NOT_FOUND &&
              kCuIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS && kCuLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(heddle::emulator::kCuInvalidDevice == CUDA_ERROR_INVALID_DEVICE &&
              heddle::emulator::kCuInvalidContext == CUDA_ERROR_INVALID_CONTEXT &&
              heddle::emulator::kCuCaptureUnsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
              heddle::emulator::kCuCaptureInvalidated == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED &&
              heddle::emulator::kCuCaptureGlobal == CU_STREAM_CAPTURE_MODE_GLOBAL &&
              heddle::emulator::kCuCaptureRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(kCuMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
              kCuCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              kCuCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
              kCuMostDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
              kCuStreamNonBlocking == CU_STREAM_NON_BLOCKING &&
              kCuCaptureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
              kCuJitErrorLog == CU_JIT_ERROR_LOG_BUFFER && kCuJitInfoLog == CU_JIT_INFO_LOG_BUFFER &&
              kCuJitInfoLogBytes == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES && kCuJitLogVerbose == CU_JIT_LOG_VERBOSE &&
              kCuJitErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
} // namespace
