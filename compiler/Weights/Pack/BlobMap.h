// The plan of the packed weights: an ordered list of requests, each with its
// offset in the blob. A request names a tensor, its shape and the layout that
// the kernel reads. A plan needs no file: the compiler makes it from shapes,
// and the bytes are written at the very end.
#ifndef HEDDLE_COMPILER_WEIGHTS_PACK_BLOBMAP_H
#define HEDDLE_COMPILER_WEIGHTS_PACK_BLOBMAP_H

#include "absl/status/status.h"
#include "dialects/Model/IR/WeightLayout.h"
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

class WeightStore;

struct PackRequest {
  std::string tensor;
  /// As the program reads it; the file may give the same elements another
  /// shape.
  std::vector<int64_t> shape;
  WeightLayout layout;

  uint64_t bytes() const { return layout.bytes(shape); }
  /// Checks everything that needs no file, including overflow.
  absl::Status check() const;
  /// Also checks that the tensor is there, has as many elements as are asked
  /// for, and can be converted to the layout's type.
  absl::Status check(const WeightStore &store) const;
};

struct PackEntry {
  PackRequest request;
  uint64_t offset = 0;
};

struct BlobMap {
  static constexpr uint64_t alignment = 64;

  std::vector<PackEntry> entries;
  /// Size of the blob; a multiple of the alignment.
  uint64_t bytes = 0;

  /// Checks every request, and that entries follow one another without overlap.
  absl::Status check(const WeightStore &store) const;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACK_BLOBMAP_H
