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
Status helpCommand(Model &model, const std::string &program);

/// The model's own, or why there is none.
Status openTokenizer(const Model &model, Tokenizer &tokenizer);

constexpr int64_t kMaxThreads = 4096;

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMMANDS_H
