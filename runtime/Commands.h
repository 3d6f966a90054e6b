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

using Words = std::vector<std::string>;

Status runCommand(Model &model, const Words &words);
Status generateCommand(Model &model, const Words &words);
/// `BINARY "prompt" ...`
Status textCommand(Model &model, const Words &words);
Status infoCommand(Model &model, const Words &words);
Status benchCommand(Model &model, const Words &words);
Status helpCommand(Model &model, const std::string &program);

constexpr int64_t kMaxThreads = 4096;

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMMANDS_H
