//===- ChatTurn.cpp - A question as a turn of a conversation --------------===//
#include "runtime/Generate/ChatTurn.h"

namespace heddle::rt {

std::optional<int64_t> turnEnd(const Card &card, const Tokenizer &tokenizer) {
  Encoded encoded;
  std::string last = card.chatTrait("turn_end");
  if (last.empty() || !tokenizer.encode(last, nullptr, false, encoded).ok() || encoded.tokens.size() != 1)
    return std::nullopt;
  return encoded.tokens[0].id;
}

} // namespace heddle::rt
