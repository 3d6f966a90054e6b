//===- TokenizerBlob.h - tokenizer.json to the runtime's blob ---*- C++ -*-===//
//
// Compiles tokenizer.json to the blob that the runtime reads in place
// (heddle/tokenizer_format.h): components become stages, regular expressions
// become programs, vocabulary and merges become hash tables. A component
// without a stage is an error that names it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H
#define HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H

#include "compiler/Folder/ModelFolder.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Reads the tokenizer.json at `path`, or the tokenizer of a directory. `blob`
/// becomes the contents of the symbol heddle_tokenizer, which must be aligned
/// to 4 bytes. False with `error`, one line.
bool writeTokenizerBlob(const std::string &path, std::string &blob, std::string &error);
/// The same in a folder whose texts may be made.
bool writeTokenizerBlob(const ModelFolder &folder, std::string &blob, std::string &error);

/// How a tokenizer.json is read for a model.
struct TokenizerUse {
  std::optional<ModelFolder> folder; ///< whose other files count (FolderSettings.h); none: the file alone
  bool keepsTruncation = true;       ///< false: texts are never cut as the file says
  /// The ids to which texts are cut instead, from their beginning where `cutsLeft`.
  std::optional<int64_t> most;
  bool cutsLeft = false;
  bool lowers = false; ///< texts become lower case before the file's own normalizer
};

/// What is known of a tokenizer after its blob.
struct TokenizerFacts {
  uint32_t vocabulary = 0; ///< 1 + the largest id of the model, without added tokens
  /// Added tokens by id.
  std::vector<std::pair<uint32_t, std::string>> added;
};

/// The same from a text; `name` is the file's name in messages. `facts` may be null.
bool tokenizerBlobFromText(const std::string &text, const std::string &name, std::string &blob, std::string &error,
                           const TokenizerUse &use = {}, TokenizerFacts *facts = nullptr);

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_TOKENIZERBLOB_H
