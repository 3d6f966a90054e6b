//===- Upload.h - Weights on their way to the device ------------*- C++ -*-===//
//
// Weights are read from the program or its side file a piece at a time, so that
// the host never holds a second copy of them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_UPLOAD_H
#define HEDDLE_RUNTIME_DEVICE_UPLOAD_H

#include "runtime/Device/Gpu.h"

namespace heddle::rt {

/// Copies `bytes` bytes at `from` to the device and waits for the last of them.
/// Errors: H0601, H0807.
Status upload(Gpu &gpu, const void *from, uint64_t bytes, CuAddress to);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_UPLOAD_H
