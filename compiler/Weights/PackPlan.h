// What the packed weights of a program are: an ordered list of requests, each
// with its place in the blob. A request names a tensor, its shape and the
// layout in which the kernel wants it. Plans need no file: passes build them
// from shapes alone, and the bytes follow at the very end.
#ifndef HEDDLE_COMPILER_WEIGHTS_PACKPLAN_H
#define HEDDLE_COMPILER_WEIGHTS_PACKPLAN_H

#include "dialects/Model/IR/WeightLayout.h"
#include "absl/status/status.h"
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

class WeightStore;

struct PackRequest {
  std::string tensor;
  /// As the program reads it; the file may spell the same elements otherwise.
  std::vector<int64_t> shape;
  WeightLayout layout;

  uint64_t bytes() const { return layout.bytes(shape); }
  /// Everything that can be wrong without looking at a file, overflow included.
  absl::Status check() const;
  /// And the tensor is there, holds as much as is asked, and can be widened so.
  absl::Status check(const WeightStore &store) const;
};

struct PackEntry {
  PackRequest request;
  uint64_t offset = 0;
};

struct PackPlan {
  static constexpr uint64_t alignment = 64;

  std::vector<PackEntry> entries;
  /// Size of the blob; a multiple of the alignment.
  uint64_t bytes = 0;

  /// Every request, and that the entries follow one another.
  absl::Status check(const WeightStore &store) const;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACKPLAN_H
