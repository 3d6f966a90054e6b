// The leaves of masks in the language, such as window(..) and keys(..): one row each with its name, what it means, and
// how its op is made from the arguments.
#ifndef HEDDLE_COMPILER_IMPORT_OPS_MASKLEAVES_H
#define HEDDLE_COMPILER_IMPORT_OPS_MASKLEAVES_H

#include "compiler/Import/Description/OpTable.h"
#include "compiler/Import/Evaluate/Arithmetic.h"

namespace heddle {

/// A row of the table: how the language and its page know the leaf, and the function that makes the op.
class MaskCall;
struct MaskLeaf {
  FunctionInfo info;
  Value (*make)(MaskCall &call); ///< the mask, or poison after an error
};
llvm::ArrayRef<MaskLeaf> maskLeaves();

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_OPS_MASKLEAVES_H
