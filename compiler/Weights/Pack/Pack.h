// Packing: reads tensors and writes them in the order in which a kernel reads
// them, one strip at a time. Memory in use is one strip (at most `stripBytes`,
// or one panel if a panel is larger), whatever the size of the tensor. The
// bytes depend on the plan and the tensors alone.
#ifndef HEDDLE_COMPILER_WEIGHTS_PACK_PACK_H
#define HEDDLE_COMPILER_WEIGHTS_PACK_PACK_H

#include "compiler/Weights/Pack/BlobMap.h"
#include "compiler/Weights/Pack/Quantise.h"
#include "compiler/Weights/WeightStore.h"
#include <functional>

namespace heddle {

/// Takes bytes in order. Implemented by the writers (OutputFile.h) and by
/// tests.
class ByteSink {
public:
  virtual ~ByteSink() = default;
  virtual absl::Status append(llvm::ArrayRef<uint8_t> bytes) = 0;
};

struct PackOptions {
  uint64_t stripBytes = 16 << 20;
  /// Is told what rounding to codes changed of a tensor that the file has in full.
  std::function<void(const PackRequest &request, const CodingError &error)> rounded;
  /// Is told what rounding to 16 bits changed of a tensor that an adapter was merged into.
  std::function<void(const PackRequest &request, const CodingError &error)> narrowed = nullptr;
  /// Is told after each tensor how many bytes are packed.
  std::function<void(uint64_t bytes)> packed = nullptr;
};

/// Writes the bytes of one request, without padding after them. The errors are
/// those of the store, and a number beyond f16.
absl::Status packRequest(const WeightStore &store, const PackRequest &request, ByteSink &sink,
                         const PackOptions &options = {});

/// Writes the whole blob with zeros in the gaps; checks the plan first, and at
/// the end that the files have not changed.
absl::Status packAll(const WeightStore &store, const BlobMap &plan, ByteSink &sink, const PackOptions &options = {});

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACK_PACK_H
