//===- Tokenizers.h - What a program reads and writes with ------*- C++ -*-===//
//
// One tokenizer reads and writes the texts of most models. An encoder-decoder
// may have two vocabularies: its prompt is of the source's, what it makes is of
// the target's.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZERS_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZERS_H

#include "runtime/Core/Parts.h"
#include "runtime/Tokenizer/Tokenizer.h"

namespace heddle::rt {

/// Opens the tokenizer inside the image; an error with a way out if there is
/// none.
Status openTokenizer(const Model &model, Tokenizer &tokenizer);

class Tokenizers {
public:
  /// Opens what the program has; an error with a way out if it has none.
  Status open(const Model &model);

  /// Of prompts: texts to ids.
  const Tokenizer &source() const { return first; }
  /// Of what is made: ids to texts, stop texts, the first words of an answer.
  const Tokenizer &target() const { return second ? *second : first; }

private:
  Tokenizer first;
  std::optional<Tokenizer> second;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZERS_H
