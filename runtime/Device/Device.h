//===- Device.h - Entries on a GPU ------------------------------*- C++ -*-===//
//
// The backend whose entries are lists of kernels. Weights are copied to the
// device when it is started, states and arena are there; a call copies its
// inputs in and its outputs out and waits once. What decides (the next token,
// refills, pieces, beams) stays on the host, between calls.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_DEVICE_H
#define HEDDLE_RUNTIME_DEVICE_DEVICE_H

#include "runtime/Core/Backend.h"
#include "runtime/Device/Graphs.h"
#include "runtime/Device/Launches.h"
#include "runtime/Device/Staging.h"

#include <memory>

namespace heddle::rt {

class Device final : public Backend {
public:
  /// `card` and `image` must outlive this. `ordinal`: which device. `watching`: what is said of launches; where they
  /// are looked at one by one there are no graphs.
  Device(const Card &card, const Image &image, int ordinal, Watching watching);
  ~Device() override;

  /// Takes libcuda.so.1 for the driver and opens the device.
  Status openDriver();
  /// Takes the emulator, likewise; `options` as test/Emulator/Options.h lists them.
  Status openEmulator(const std::string &options);

  Status start(const void *weights) override;
  Status allocate(Use use, uint64_t bytes, std::string_view what, Memory &memory) override;
  Status clear(Memory &memory) override;
  Status permute(Memory &memory, uint64_t groups, uint64_t part, const std::vector<int64_t> &from) override;
  Status copy(Memory &memory, uint64_t to, uint64_t from, uint64_t bytes) override;
  Status call(const Entry &entry, const std::vector<int64_t> &dims, const std::vector<void *> &tensors,
              const Memory &arena) override;
  int64_t threads() const override { return 0; }
  std::string describe() const override;

private:
  void release(void *base) override;
  /// Opens the device and finds the image for it.
  Status open();
  /// Device memory, or H0805 with what is needed and what is there.
  Status take(uint64_t bytes, std::string_view what, CuAddress &address);

  const Card &card;
  const Image &image;
  int ordinal;
  Gpu gpu; ///< outlives what follows
  Watch watch;
  Kernels kernels{gpu, watch};
  Staging staging{gpu};
  Graphs graphs{gpu};
  CuAddress weights = 0, moved = 0; ///< `moved`: rows on their way
  uint64_t movedBytes = 0;
  /// What states and arenas take, by address.
  std::map<CuAddress, std::pair<Use, uint64_t>> taken;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_DEVICE_H
