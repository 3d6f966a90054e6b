//===- ChatTurn.h - A question as a turn of a conversation ------*- C++ -*-===//
//
// What a program without a command does where it has a chat template: the text
// is one question, and the answer alone is printed. The template is
// libheddle_chat.a's (runtime/Chat); here is what the core asks of it, and what
// it says where there is none.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_CHATTURN_H
#define HEDDLE_RUNTIME_GENERATE_CHATTURN_H

#include "runtime/Core/Args.h"
#include "runtime/Tokenizer/Tokenizers.h"

namespace heddle::rt {

/// A conversation as the model reads it, and the token that ends the answer beside those that end a text.
struct ChatTurn {
  std::vector<int64_t> ids;
  std::optional<int64_t> end;
};

/// The token that ends an answer in a conversation, if the template has one. `tokenizer`: of what is made.
std::optional<int64_t> turnEnd(const Card &card, const Tokenizer &tokenizer);

/// Refuses --template, which belongs to the compiler; and --raw, --system, --var and --messages where questions are not
/// put into a template.
Status checkTurnFlags(const Card &card, const std::vector<std::string> &words);

/// Whether a text is a question unless --raw says otherwise: there is a template, and the model takes no files.
bool asksInTurns(const Card &card);

} // namespace heddle::rt

// Puts `question` (null: --messages has all) into the template, with what the flags say. Null in programs without one.
extern "C" heddle::rt::Status (*const heddle_chat_turn)(const heddle::rt::Model &, const heddle::rt::Tokenizers &,
                                                        const heddle::rt::Args &, const std::string *question,
                                                        heddle::rt::ChatTurn &) __attribute__((weak));

#endif // HEDDLE_RUNTIME_GENERATE_CHATTURN_H
