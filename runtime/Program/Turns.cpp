//===- Turns.cpp - Whether a text is a turn of a conversation -------------===//
//
// The flags of a turn, and why a program may not take them.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Asking.h"
#include "runtime/Program/Commands.h"

namespace heddle::rt {

bool asksInTurns(const Card &card) { return &heddle_chat_turn && !takesMedia(card); }

Status checkTurnFlags(const Card &card, const std::vector<std::string> &words) {
  for (const std::string &word : words) {
    if (word == "--")
      return {};
    std::string flag = word.substr(0, word.find('='));
    if (flag == "--template")
      return badUsage("--template is a flag of heddle compile: a program has its template inside")
          .withHelp("heddle compile MODEL --template FILE -o PROGRAM");
    bool ours = flag == "--raw" || flag == "--system" || flag == "--var" || flag == "--messages";
    if (!ours || asksInTurns(card))
      continue;
    if (takesMedia(card))
      return badUsage("option " + flag + " belongs to conversations, and this model is asked about a file");
    if (!card.chat.empty())
      return badUsage("option " + flag + " needs the part of a program that --without=chat left out");
    return badUsage("option " + flag + " needs a chat template, and this model has none")
        .withHelp("heddle compile MODEL --template FILE gives it one");
  }
  return {};
}

} // namespace heddle::rt
