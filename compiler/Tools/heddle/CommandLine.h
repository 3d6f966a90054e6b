//===- CommandLine.h - what a command line says -----------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_TOOLS_HEDDLE_COMMANDLINE_H
#define HEDDLE_COMPILER_TOOLS_HEDDLE_COMMANDLINE_H

#include "compiler/Driver/Inspect.h"

/// A command and its options, read and checked for form; nothing has been opened.
struct CommandLine {
  std::string command; ///< "compile", "check", ...
  heddle::CompileOptions compile;
  heddle::InspectOptions look;
  std::string families;     ///< a folder of family files; empty: none
  std::string tokenizer;    ///< of `tokenize`: a file or a folder
  std::string chatTemplate; ///< of `template`: the same
  bool info = false;        ///< of `template`; of `info`: --tensors
  std::string part;         ///< of `reference`: "blocks"; empty: the page
  std::string described;    ///< of `schema`: a description; empty: any
};

/// Nothing where the command line is at its end already, with help that was asked for or a mistake that has been
/// said; `code` is then the exit code.
std::optional<CommandLine> readCommandLine(const heddle::Console &console, int argc, char **argv, int &code);

#endif
