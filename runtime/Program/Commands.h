//===- Commands.h - What a compiled model can be asked to do ----*- C++ -*-===//
//
// The commands of a compiled model, one function each. `words` are the words
// after the command's name; the result is what the program ends with.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_PROGRAM_COMMANDS_H
#define HEDDLE_RUNTIME_PROGRAM_COMMANDS_H

#include "runtime/Core/Model.h"

namespace heddle::rt {

class Args;
class Tokenizer;

using Arguments = std::vector<std::string>;

/// `BINARY run`: tensors from a file into a file, by one call of `run`.
Status runCommand(Model &model, const Arguments &words);
/// `BINARY generate`: ids, text or a batch in a file, continued token by token.
Status generateCommand(Model &model, const Arguments &words);
/// `BINARY "prompt" ...`, `BINARY FILE ...`: what a model is asked without a
/// command; classifyCommand's where the model does not generate.
Status textCommand(Model &model, const Arguments &words);
/// The same where the answer is not a growing text: labels, words, stretches.
Status classifyCommand(Model &model, const Arguments &words);
/// `BINARY info`: the card for people or as JSON; reads no weights.
Status infoCommand(Model &model, const Arguments &words);
/// `BINARY bench`: times prefill and steps beside the limits of the machine.
Status benchCommand(Model &model, const Arguments &words);
/// `BINARY chat`: a conversation, line by line. Linked where there is a chat template (libheddle_chat.a); else null.
Status chatCommand(Model &model, const Arguments &words);
/// `BINARY serve`: the model behind OpenAI's API. Linked where there is a tokenizer (libheddle_serve.a); else null.
Status serveCommand(Model &model, const Arguments &words);
/// `BINARY licences`: the notices of what is linked in.
Status licencesCommand(Model &model, const Arguments &words);
/// `BINARY --verify`: whether card, index, tokenizer and weights are what was
/// compiled.
Status verifyCommand(Model &model, const Arguments &words);
/// `BINARY help`: all commands, or the options of the command `topic`.
/// `program` is the name under which examples call it.
Status helpCommand(Model &model, const std::string &program, const std::string &topic);
/// The names of all commands except `help`.
std::vector<std::string> commandNames();
/// An error if the first positional word is one edit from a command, or the
/// name of a command that similar programs have: it names the command that may
/// have been meant, and how to give the word as a text (after `--`).
Status askAboutCommand(const Model &model, const Args &args);

/// Opens the tokenizer inside the image; an error with a way out if there is
/// none.
Status openTokenizer(const Model &model, Tokenizer &tokenizer);

/// An error if `output` cannot be meant: it is the input, the program itself or
/// its weights, or `-` while standard output is a terminal. An existing file is
/// replaced.
Status checkOutput(const Model &model, const std::string &output, const std::string &input);

/// --threads and --device, which every command has that calls entries.
Status readStart(const Args &args, StartOptions &options);

constexpr int64_t kMaxThreads = 4096;

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_PROGRAM_COMMANDS_H
