//===- TokenizerJson.h - A vocabulary as tokenizer.json ---------*- C++ -*-===//
//
// The tokenizer.json and tokenizer_config.json that say what the keys of a GGUF file say.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_TOKENIZERJSON_H
#define HEDDLE_COMPILER_GGUF_TOKENIZERJSON_H

#include "compiler/Gguf/GgufVocabulary.h"
#include "compiler/Tokenizer/WordTables.h"

namespace heddle {

struct TokenizerFiles {
  std::string tokenizer; ///< tokenizer.json without vocabulary and merges
  std::string config;    ///< tokenizer_config.json
  WordTables words;
};

/// None after an error, which `keys` has. `name`: the model's; phi-3's eat spaces after special tokens.
std::optional<TokenizerFiles> writeTokenizer(const GgufVocabulary &vocabulary, llvm::StringRef name,
                                             TokenizerKeys &keys, std::vector<std::string> &warnings);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_TOKENIZERJSON_H
