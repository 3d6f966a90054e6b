// The table of architectures (architectures.json): which family of models each is, what its keys are in config.json,
// what its tensors are called in the Hugging Face checkpoint, and what llama.cpp's converter did to them. A row is all
// that a new architecture needs; compiler/Gguf/README.md says what stands in one.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFARCHITECTURES_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFARCHITECTURES_H

#include "compiler/Weights/Gguf/GgufFile.h"

namespace heddle {

/// A tensor, or the tensors of all layers (`#`), without `.weight` and `.bias`.
struct GgufName {
  std::string from; ///< in the file; one that ends in a dot stands for every tensor that begins so
  std::string to;   ///< in the checkpoint, `@` is an expert; empty: known and not needed
  /// What was done to it, a word with its arguments: "join", "ffn_up_exps".
  std::vector<std::string> changes;
};

struct GgufArchitecture {
  std::string name;
  std::vector<GgufName> names;
  /// Keys that mean something else than the members of config.json that they are held against.
  std::vector<std::string> unlike;

  struct Match {
    const GgufName *row;
    std::string layer; ///< the digits that `#` stands for; empty: none
  };
  /// The row of a tensor; none: the architecture has no such tensor.
  std::optional<Match> find(llvm::StringRef stem) const;
  /// What a tensor of the checkpoint is called in the file, for messages: "output_norm.weight" for "model.norm.weight",
  /// or "norm.weight" where families leave a prefix out; "" where no row makes it.
  std::string nameInFile(llvm::StringRef name) const;
};

/// The architecture of a file. Refused by name: architectures without a family here, and files that hold no language
/// model (a projector, an adapter, statistics).
absl::StatusOr<GgufArchitecture> architectureOf(const GgufFile &file);

/// architectures.json.
llvm::StringRef architectureTable();

/// A whole number of the architecture: `key` is without its name. A list of one number a layer counts where all are
/// equal. None where it is absent or something else.
std::optional<int64_t> ggufInteger(const GgufFile &file, llvm::StringRef architecture, llvm::StringRef key);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFARCHITECTURES_H
