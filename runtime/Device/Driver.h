//===- Driver.h - The functions of an NVIDIA driver -------------*- C++ -*-===//
//
// Driver: the functions of driver.def as a table. libcuda.so.1 fills it, found
// when the program runs; so does libheddle_emulator.a (test/Emulator), so that
// everything above this table runs without a device. Prototypes are written
// here by hand: no header of CUDA is needed to build.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_DRIVER_H
#define HEDDLE_RUNTIME_DEVICE_DRIVER_H

#include "runtime/Core/Status.h"

#include <cstddef>

namespace heddle::rt {

using CuAddress = unsigned long long; ///< of device memory
using CuContext = struct CuContextObject *;
using CuStream = struct CuStreamObject *;
using CuEvent = struct CuEventObject *;
using CuModule = struct CuModuleObject *;
using CuFunction = struct CuFunctionObject *;
using CuGraph = struct CuGraphObject *;
using CuGraphExec = struct CuGraphExecObject *;

/// Results that the runtime tells apart; others are named by the driver.
enum : int {
  kCuSuccess = 0,
  kCuInvalidValue = 1,
  kCuOutOfMemory = 2,
  kCuNoDevice = 100,
  kCuInvalidImage = 200,
  kCuNoBinaryForGpu = 209,
  kCuInvalidPtx = 218,
  kCuNotFound = 500,
  kCuIllegalAddress = 700,
  kCuLaunchFailed = 719,
};

/// The driver's numbers of attributes and options.
enum : int {
  kCuMultiprocessors = 16,
  kCuCapabilityMajor = 75,
  kCuCapabilityMinor = 76,
  kCuMostDynamicShared = 8, ///< of a function
  kCuStreamNonBlocking = 1,
  kCuCaptureThreadLocal = 1,
  kCuJitInfoLog = 3,
  kCuJitInfoLogBytes = 4,
  kCuJitErrorLog = 5,
  kCuJitErrorLogBytes = 6,
  kCuJitLogVerbose = 12,
};

struct Driver {
#define HEDDLE_CUDA(member, symbol, parameters) int(*member) parameters;
#include "runtime/Device/driver.def"
#undef HEDDLE_CUDA

  /// "CUDA_ERROR_INVALID_PTX (218)".
  std::string nameOf(int error) const;
};

/// Finds libcuda.so.1. Errors: H0801, it is not there, with what else can be
/// done where the program `runsOnHost` too; H0802, it is too old and lacks a
/// function.
Status loadDriver(Driver &driver, bool runsOnHost);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_DRIVER_H
