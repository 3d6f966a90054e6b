//===- Commands.h - What a compiled model can be asked to do ----*- C++ -*-===//
//
// The commands that every program has, one function each: `words` are the words
// after the command's name, the result is what the program ends with. Others are
// registered (Core/Parts.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_PROGRAM_COMMANDS_H
#define HEDDLE_RUNTIME_PROGRAM_COMMANDS_H

#include "runtime/Core/Parts.h"

namespace heddle::rt {

/// `BINARY run`: tensors from files into files, by one call of `run`; printed where no file is named.
Status runCommand(Model &model, const Arguments &words);
/// `BINARY info`: the card for people or as JSON; reads no weights.
Status infoCommand(Model &model, const Arguments &words);
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

/// Refuses --template, which belongs to the compiler; and --raw, --system, --var and --messages where questions are not
/// put into a template.
Status checkTurnFlags(const Card &card, const std::vector<std::string> &words);

/// Whether a text is a question unless --raw says otherwise: there is a template, and the model takes no files.
bool asksInTurns(const Card &card);

/// An error if `output` cannot be meant: it is an input, the program itself or
/// its weights, has the ending of a format that is not written, or is `-` while
/// standard output is a terminal. An existing file is replaced.
Status checkOutput(const Model &model, const std::string &output, const std::vector<std::string> &inputs);

/// --threads and --device, which every command has that calls entries.
Status readStart(const Args &args, StartOptions &options);

constexpr int64_t kMaxThreads = 4096;

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_PROGRAM_COMMANDS_H
