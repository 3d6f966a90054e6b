//===- TokenizerTexts.h - tokenizer.* as the files of a folder --*- C++ -*-===//
//
// The metadata of a GGUF file about texts, as the files that a Hugging Face directory would have: tokenizer.json and
// tokenizer_config.json, generation_config.json, chat templates.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_TOKENIZERTEXTS_H
#define HEDDLE_COMPILER_GGUF_TOKENIZERTEXTS_H

#include "compiler/Folder/ModelFolder.h"
#include "compiler/Weights/Gguf/GgufFile.h"

namespace heddle {

/// What config.json takes of the tokenizer.
struct GgufTokenIds {
  std::vector<int64_t> eos; ///< ascending
  std::optional<int64_t> bos, pad;
};

/// Adds the texts to `texts`; none of a tokenizer where the file has none. Fails for what is damaged or not read, and
/// names the key and, in a list, the entry. `warnings`: whole sentences.
absl::Status makeTokenizerTexts(const GgufFile &file, std::map<std::string, MadeText> &texts, GgufTokenIds &ids,
                                std::vector<std::string> &warnings);

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_TOKENIZERTEXTS_H
