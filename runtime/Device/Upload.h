//===- Upload.h - Weights on their way to the device ------------*- C++ -*-===//
//
// Weights are read from the program or its side file a piece at a time, so that
// the host never holds a second copy of them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_UPLOAD_H
#define HEDDLE_RUNTIME_DEVICE_UPLOAD_H

#include "runtime/Core/Card.h"
#include "runtime/Device/Gpu.h"

namespace heddle::rt {

/// Copies `bytes` bytes at `from` to the device, with the words of `regroups` in
/// their new order, and waits for the last of them. Errors: H0601, H0807.
Status upload(Gpu &gpu, const void *from, uint64_t bytes, const std::vector<Regroup> &regroups, CuAddress to);

/// What the device has at [at, at + bytes) of weights that are at `from`, both
/// multiples of 16 where something is regrouped.
void arrange(const std::vector<Regroup> &regroups, const char *from, uint64_t at, uint64_t bytes, char *to);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_UPLOAD_H
