// Reads tensors and writes them in the order a kernel wants them, one strip at
// a time: the memory in use is one strip (at most `stripBytes`, or one panel
// where a panel is larger), whatever the size of the tensor. The bytes depend
// on the plan and the tensors alone.
#ifndef HEDDLE_COMPILER_WEIGHTS_PACK_H
#define HEDDLE_COMPILER_WEIGHTS_PACK_H

#include "compiler/Weights/PackPlan.h"
#include "compiler/Weights/WeightStore.h"

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
};

/// The bytes of one request, without padding behind it.
absl::Status packRequest(const WeightStore &store, const PackRequest &request,
                         ByteSink &sink, const PackOptions &options = {});

/// The whole blob, gaps as zeros; checks the plan first and the files again at
/// the end.
absl::Status packAll(const WeightStore &store, const PackPlan &plan,
                     ByteSink &sink, const PackOptions &options = {});

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACK_H
