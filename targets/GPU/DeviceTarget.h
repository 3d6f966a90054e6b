//===- DeviceTarget.h - NVIDIA's devices as a target ------------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_GPU_DEVICETARGET_H
#define HEDDLE_TARGETS_GPU_DEVICETARGET_H

#include "targets/Target.h"

namespace heddle {

inline constexpr llvm::StringLiteral kDevice = "cuda";

/// Adds what plans ask of a device.
void registerDeviceTiles(mlir::DialectRegistry &registry);

/// The target kDevice; `machine` is chips joined by '+', or "native". Null with `why`.
std::unique_ptr<Target> makeDeviceTarget(llvm::StringRef machine, const TargetOptions &options, Refusal &why);

} // namespace heddle

#endif
