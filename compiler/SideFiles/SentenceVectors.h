//===- SentenceVectors.h - directories of sentence-transformers -*- C++ -*-===//
//
// How a directory of sentence-transformers makes a vector of a text: modules.json and the folders that it names, and
// the settings of texts next to it. The pooling runs in the program (runtime/Encode/Vectors.h); the modules after it
// become the entry `head`.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_SIDEFILES_SENTENCEVECTORS_H
#define HEDDLE_COMPILER_SIDEFILES_SENTENCEVECTORS_H

#include "compiler/Import/Import.h"
#include "mlir/IR/Builders.h"

namespace heddle {

/// A module after the pooling.
struct VectorModule {
  enum class Kind { Dense, LayerNorm, Normalize };
  Kind kind = Kind::Normalize;
  std::string folder;     ///< of its weights, absolute or as the command line names it
  std::string name;       ///< before the names of its tensors: "2_Dense"
  std::string activation; ///< of Dense, a function of descriptions; "" is the identity
  Loc loc;                ///< its path in modules.json
};

struct SentenceVectors {
  std::vector<std::string> pooling; ///< kinds, their results next to each other; none: no vectors
  std::vector<VectorModule> head;   ///< up to the last one that is no Normalize
  bool normalize = false;           ///< Normalize ends the modules
  bool includePrompt = true;        ///< tokens of a prompt count in the pooling
  bool lower = false;               ///< texts become lower case
  std::vector<std::pair<std::string, std::string>> prompts;
  std::string defaultPrompt; ///< its name, or ""
  std::string similarity = "cosine";
  std::optional<int64_t> length; ///< tokens to which a text is cut
};

/// The kinds of pooling that `text` joins by `+` ("cls+mean"; `last` is `lasttoken`); none if one is unknown.
std::vector<std::string> poolingKinds(llvm::StringRef text);

/// Reads them from `files`. `pool` is the value of --pool: kinds of pooling instead of modules.json, `none`, or "".
SentenceVectors readSentenceVectors(const ModelFolder &files, llvm::StringRef pool, DiagnosticSink &sink);

/// Whether they would make vectors: the model then is the class without a head. Says nothing.
bool makesSentenceVectors(const ModelFolder &files, llvm::StringRef pool);

/// The tokens to which sentence-transformers cuts a text, of the Transformer's folder.
std::optional<int64_t> maxSequenceLength(const ModelFolder &folder, DiagnosticSink &sink);

/// Writes `model.vectors`, and the entry `head` with its weights (`model.module_weights`). An error if @run has no
/// `last_hidden_state` [B, T, width], or the modules do not fit its width.
void addSentenceVectors(const SentenceVectors &vectors, mlir::ModuleOp module, const ImportOptions &options,
                        DiagnosticSink &sink);

/// The folder of the model in a directory of sentence-transformers' old layout, whose first module (0_Transformer) has
/// config.json and weights; "" where the directory has a config.json itself, or no such module.
std::string transformerFolder(llvm::StringRef directory);

} // namespace heddle

#endif // HEDDLE_COMPILER_SIDEFILES_SENTENCEVECTORS_H
