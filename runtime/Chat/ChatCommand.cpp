//===- ChatCommand.cpp - `chat` -------------------------------------------===//
//
// The flags of `chat`, and the order in which a talk begins: signals are held
// back before the first thread of the model is there, so that all have it so.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/ChatLoop.h"
#include "runtime/Core/Args.h"
#include "runtime/Generate/GenerateFlags.h"
#include "runtime/Tokenizer/Tokenizers.h"

#include <algorithm>
#include <unistd.h>

namespace heddle::rt {

/// The exit status after Ctrl-C, as shells count it.
static constexpr int kInterrupted = 130;

static Status chatCommand(Model &model, const Arguments &words) {
  Args args;
  HEDDLE_TRY(
      Args::parse(words,
                  {"--system", "--var*", "--messages", "--context", "-n", "--threads", "--device", "--temp", "--top-k",
                   "--top-p", "--min-p", "--seed", "--repetition-penalty", "--no-repeat-ngram-size", "--stop*"},
                  {"--greedy", "--ignore-eos", "--stats"}, 0, args));
  const Card &card = model.card();
  if (!card.roles.source.empty())
    return unsupported("this model answers each text by itself and keeps no conversation")
        .withHelp("what works: " + model.name + " \"QUESTION\"");
  int64_t context = std::min(model.context().value_or(kConversation), kConversation);
  HEDDLE_TRY(readContext(args, model));
  if (args.has("--context"))
    context = *model.context();
  Tokenizer tokenizer;
  HEDDLE_TRY(openTokenizer(model, tokenizer));
  StartOptions start;
  HEDDLE_TRY(readStart(args, start));
  chat::Terminal terminal;
  HEDDLE_TRY(terminal.hold());
  chat::ChatLoop loop(model, tokenizer, terminal, context);
  HEDDLE_TRY(loop.readFlags(args));
  HEDDLE_TRY(model.start(start));
  terminal.open();
  bool interrupted = false;
  HEDDLE_TRY(loop.run(interrupted));
  HEDDLE_TRY(flushOutput());
  if (interrupted)
    _exit(kInterrupted);
  return {};
}

} // namespace heddle::rt

const heddle::rt::Command heddle_chat_command = heddle::rt::chatCommand;
