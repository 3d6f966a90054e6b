// Files that people often give instead of safetensors, recognised by their
// first bytes so that the message can name the step that helps rather than the
// rule that broke first.
#ifndef HEDDLE_COMPILER_WEIGHTS_KNOWNFILES_H
#define HEDDLE_COMPILER_WEIGHTS_KNOWNFILES_H

#include "compiler/Weights/Problem.h"

namespace heddle {

/// `firstBytes`: as much of the beginning as there is, 1 KiB is enough. Nothing
/// when the bytes may be safetensors or are not recognised.
std::optional<WeightProblem> recogniseWrongFile(llvm::StringRef firstBytes,
                                                llvm::StringRef file);

/// For a directory without model.safetensors: what else is in it that looks
/// like weights, and what to do about it.
WeightProblem noWeightsIn(llvm::StringRef directory);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_KNOWNFILES_H
