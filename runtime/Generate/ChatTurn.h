//===- ChatTurn.h - A question as a turn of a conversation ------*- C++ -*-===//
//
// What a program without a command does where it has a chat template: the text
// is one question, and the answer alone is printed. The template is in Chat,
// which `heddle_chat_turn` asks.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_CHATTURN_H
#define HEDDLE_RUNTIME_GENERATE_CHATTURN_H

#include "runtime/Tokenizer/Tokenizers.h"

namespace heddle::rt {

/// A conversation as the model reads it, and the token that ends the answer next to those that end a text.
struct ChatTurn {
  std::vector<int64_t> ids;
  std::optional<int64_t> end;
};

/// The token that ends an answer in a conversation, if the template has one. `tokenizer`: of what is made.
std::optional<int64_t> turnEnd(const Card &card, const Tokenizer &tokenizer);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_CHATTURN_H
