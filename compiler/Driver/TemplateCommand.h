//===- TemplateCommand.h - `heddle template` --------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_TEMPLATECOMMAND_H
#define HEDDLE_COMPILER_DRIVER_TEMPLATECOMMAND_H

#include "compiler/Driver/Console.h"
#include <string>

namespace heddle {

/// `heddle template`: lines of stdin are conversations; `--info` says what the probe found. `chosen`: the name of one
/// of several templates; "": the default one.
int runTemplate(const Console &console, const std::string &path, const std::string &chosen, bool json, bool info);

} // namespace heddle

#endif // HEDDLE_COMPILER_DRIVER_TEMPLATECOMMAND_H
