//===- Gpu.h - An opened device ---------------------------------*- C++ -*-===//
//
// Gpu: the driver's functions, one device's context and the stream that all work
// of it goes through, in order. What can go wrong with them is said here, once.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_GPU_H
#define HEDDLE_RUNTIME_DEVICE_GPU_H

#include "runtime/Device/Driver.h"

namespace heddle::rt {

class Gpu {
public:
  Gpu() = default;
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;
  ~Gpu();

  /// Takes device `ordinal` of a filled `driver`. Errors: H0802, H0803, H0804.
  Status open(int ordinal);

  /// What `result` of a driver's function is when `doing` something: fine, or
  /// H0807.
  Status check(int result, const char *doing) const;
  /// Waits for all work. Errors: H0807, a launch failed.
  Status wait();

  Driver driver = {};
  CuStream stream = nullptr;
  int capability = 0; ///< 90: sm_90
  int multiprocessors = 0;
  int version = 0; ///< of CUDA that the driver has, and with it the assembler of PTX: 13000 is 13.0
  std::string name;

private:
  int device = -1; ///< whose context is held
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_GPU_H
