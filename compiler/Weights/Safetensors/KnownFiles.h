// Files that are often given instead of safetensors, recognised by their first
// bytes, so that the message can name the step that helps instead of the first
// broken rule.
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_KNOWNFILES_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_KNOWNFILES_H

#include "compiler/Weights/Files/Problem.h"

namespace heddle {

/// The kind of a binary file, and the step that helps.
struct KnownFile {
  Error code;
  std::string what; ///< "a gzip file"
  std::string help;
};

/// `firstBytes`: the beginning of the file, 1 KiB is enough. None for
/// safetensors, for text and for what is not recognised.
std::optional<KnownFile> recognise(llvm::StringRef firstBytes);

/// The same as the error of a reader that expects safetensors; also for JSON.
/// None if the bytes may be safetensors or are not recognised.
std::optional<WeightProblem> recogniseWrongFile(llvm::StringRef firstBytes, llvm::StringRef file);

/// Whether a file begins as safetensors do.
bool beginsAsSafetensors(llvm::StringRef firstBytes);

/// The error of a directory without model.safetensors: which files in it look
/// like weights, and what to do about it.
WeightProblem noWeightsIn(llvm::StringRef directory);

/// The error of a directory without a description: the same.
WeightProblem noModelIn(llvm::StringRef directory);
/// Refuses an adapter (PEFT's adapter_config.json) next to a model; nothing where there is none.
std::optional<WeightProblem> adapterIn(llvm::StringRef directory);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_KNOWNFILES_H
