//===- Launches.h - The kernels of an entry ---------------------*- C++ -*-===//
//
// Kernels: the image of a program that fits a device, loaded, with every kernel
// that the card names. Their lines become launches here: repeats are run
// through, sizes of grids computed from dims.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_LAUNCHES_H
#define HEDDLE_RUNTIME_DEVICE_LAUNCHES_H

#include "heddle/image.h"
#include "runtime/Core/Card.h"
#include "runtime/Device/Watch.h"

#include <map>

namespace heddle::rt {

/// The image for a device of `capability` (90: sm_90): its own (sm_90a), else the
/// highest that is not above it; a cubin before text. Null if none fits.
const heddle_device_image *pickImage(const heddle_device_image *images, int capability);

/// Bytes of shared memory that a launch gives a kernel for `chip`.
int64_t sharedOn(const LaunchLine &line, std::string_view chip);

/// Where the arguments of a kernel are, on the device.
struct KernelArguments {
  CuAddress fail = 0, dims = 0, tensors = 0, arena = 0, weights = 0;
};

class Kernels {
public:
  Kernels(Gpu &gpu, Watch &watch) : gpu(gpu), watch(watch) {}
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;
  ~Kernels();

  /// Finds the image that fits the device. Error: H0803, none does.
  Status choose(const heddle_device_image *images, const Card &card);
  /// Loads it and finds the kernels of all entries. Error: H0806, the driver
  /// refuses it.
  Status load(const Card &card);
  /// Puts the launches of `entry` into the stream; `dims` are what sizes of
  /// grids and repeats are computed from. Errors: H0807.
  Status enqueue(const Entry &entry, const std::vector<int64_t> &dims, const KernelArguments &arguments);
  const char *chip() const { return image->chip; }

private:
  struct Kernel {
    CuFunction function = nullptr;
    int64_t most = 1;   ///< blocks that fill the device
    int64_t shared = 0; ///< bytes of shared memory that a launch gives it
  };
  Status find(const LaunchLine &line);
  Status launch(const LaunchLine &line, const std::vector<int64_t> &dims, const KernelArguments &arguments,
                const int64_t (&index)[2]);

  Gpu &gpu;
  Watch &watch;
  const heddle_device_image *image = nullptr;
  CuModule module = nullptr;
  std::map<std::string, Kernel, std::less<>> kernels;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_LAUNCHES_H
