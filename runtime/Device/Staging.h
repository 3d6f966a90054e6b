//===- Staging.h - What goes to the device and back -------------*- C++ -*-===//
//
// A call needs dims, addresses of tensors and inputs there, and outputs and the
// record of a failure here. All of it has a place in one block, once in
// page-locked memory and once on the device:
//
//   dims, lengths | addresses | inputs | failure | outputs
//   -------------- copied in --------------------
//                                        --- copied out ---
//
// Lengths are forms over the dims that kernels need computed.
// Layout: the places for one set of dims. Staging: the two blocks, which grow
// to the largest layout and are reused.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_STAGING_H
#define HEDDLE_RUNTIME_DEVICE_STAGING_H

#include "heddle/abi.h"
#include "runtime/Core/Card.h"
#include "runtime/Device/Gpu.h"

namespace heddle::rt {

/// Offsets in bytes, each a multiple of 256.
struct Layout {
  uint64_t addresses = 0; ///< dims are at 0
  std::vector<uint64_t> inputs, outputs;
  uint64_t failure = 0, copiedIn = 0, end = 0;

  /// Room for the tensors of `entry` at `dims`.
  static Status make(const Entry &entry, const std::vector<int64_t> &dims, Layout &layout);
};

class Staging {
public:
  explicit Staging(Gpu &gpu) : gpu(gpu) {}
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;
  ~Staging() { drop(); }

  /// Whether the blocks have room already.
  bool holds(uint64_t bytes) const { return bytes <= room; }
  /// Makes room; the blocks may move, and what waits for them must be done.
  /// Errors: H0601, H0805.
  Status reserve(uint64_t bytes);

  CuAddress there() const { return device; }
  /// Puts dims, addresses and inputs into the block here. `tensors` as in
  /// Backend::call.
  Status fill(const Layout &layout, const Entry &entry, const std::vector<int64_t> &dims,
              const std::vector<void *> &tensors);
  Status copyIn(const Layout &layout);
  Status copyOut(const Layout &layout);
  /// What the kernels recorded, once it is here (`lookups`: those lines of the
  /// card); then outputs go to `tensors`.
  Status finish(const Layout &layout, const Entry &entry, const std::vector<int64_t> &dims,
                const std::vector<void *> &tensors, const std::vector<std::string> &lookups) const;

private:
  void drop();

  Gpu &gpu;
  char *host = nullptr;
  CuAddress device = 0;
  uint64_t room = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_STAGING_H
