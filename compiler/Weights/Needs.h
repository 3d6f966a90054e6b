// Rule S26: what a model needs against what the files hold. Everything that is
// missing, left over or of another shape is reported in one go.
#ifndef HEDDLE_COMPILER_WEIGHTS_NEEDS_H
#define HEDDLE_COMPILER_WEIGHTS_NEEDS_H

#include "compiler/Weights/Problem.h"
#include "compiler/Weights/WeightStore.h"

namespace heddle {

struct WeightNeed {
  std::string name;
  std::vector<int64_t> shape;
  /// Real numbers (any of F64 F32 F16 BF16), or integers and bool.
  bool real = true;
  /// Where the need comes from ("model.json:12:7"), printed; may be empty.
  std::string origin;
};

struct NeedReport {
  /// At most 20; `total` counts all of them.
  std::vector<WeightProblem> problems;
  size_t total = 0;
};

/// `ignored(name)` true: a tensor nobody needs that may stay unread. A null
/// function ignores nothing.
NeedReport compareWithNeeds(const WeightStore &store,
                            llvm::ArrayRef<WeightNeed> needs,
                            bool (*ignored)(llvm::StringRef name) = nullptr);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_NEEDS_H
