// Files that people often give instead of safetensors, recognised by their
// first bytes so that the message can name the step that helps rather than the
// rule that broke first.
#ifndef HEDDLE_COMPILER_WEIGHTS_KNOWNFILES_H
#define HEDDLE_COMPILER_WEIGHTS_KNOWNFILES_H

#include "compiler/Weights/Problem.h"

namespace heddle {

/// What a file is that is no text, and the step that leads on from it.
struct KnownFile {
  const char *code; ///< H0231...
  std::string what; ///< "a gzip file"
  std::string help;
};

/// `firstBytes`: as much of the beginning as there is, 1 KiB is enough. Nothing
/// for safetensors, text, and what is not recognised.
std::optional<KnownFile> recognise(llvm::StringRef firstBytes);

/// The same as a complaint of who expects safetensors; JSON is refused too.
/// Nothing when the bytes may be safetensors or are not recognised.
std::optional<WeightProblem> recogniseWrongFile(llvm::StringRef firstBytes,
                                                llvm::StringRef file);

/// Whether a file begins as safetensors do.
bool beginsAsSafetensors(llvm::StringRef firstBytes);

/// For a directory without model.safetensors: what else is in it that looks
/// like weights, and what to do about it.
WeightProblem noWeightsIn(llvm::StringRef directory);

/// For a directory with weights at most and no description: the same.
WeightProblem noModelIn(llvm::StringRef directory);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_KNOWNFILES_H
