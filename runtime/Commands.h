//===- Commands.h - What a compiled model can be asked to do ------*- C++
//-*-===//
//
// One function a command; each gets the words after its name.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMMANDS_H
#define HEDDLE_RUNTIME_COMMANDS_H

#include "runtime/Model.h"

namespace heddle::rt {

class Args;
class Tokenizer;

using Words = std::vector<std::string>;

Status runCommand(Model &model, const Words &words);
Status generateCommand(Model &model, const Words &words);
/// `BINARY "prompt" ...`, `BINARY FILE ...`
Status textCommand(Model &model, const Words &words);
/// The same where the answer is a class: labels with their probabilities.
Status classifyCommand(Model &model, const Words &words);
Status infoCommand(Model &model, const Words &words);
Status benchCommand(Model &model, const Words &words);
/// The notices of what is linked in.
Status licencesCommand(Model &model, const Words &words);
/// `BINARY --verify`: whether all of it is what was compiled.
Status verifyCommand(Model &model, const Words &words);
/// All of it, or what belongs to one command.
Status helpCommand(Model &model, const std::string &program,
                   const std::string &topic);
/// The names of the commands, but for `help`.
std::vector<std::string> commandNames();
/// A first word that looks like a command and is none is no text either: an
/// error that says what it may have been meant to be, and how to say the text.
Status askAboutCommand(const Model &model, const Args &args);

/// The model's own, or why there is none.
Status openTokenizer(const Model &model, Tokenizer &tokenizer);

constexpr int64_t kMaxThreads = 4096;

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMMANDS_H
