//===- CommandLine.h - what a command line says -----------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_TOOLS_HEDDLE_COMMANDLINE_H
#define HEDDLE_COMPILER_TOOLS_HEDDLE_COMMANDLINE_H

#include "compiler/Diff/Diff.h"
#include "compiler/Driver/Inspect.h"
#include "compiler/Reduce/ReduceCommand.h"
#include "compiler/Report/ReportCommand.h"

/// A command and its options, read and checked for form; nothing has been opened.
struct CommandLine {
  std::string command; ///< "compile", "check", ...
  heddle::CompileOptions compile;
  heddle::InspectOptions look;
  heddle::ReduceOptions reduce;
  heddle::ReportRequest report;
  std::string families;     ///< a folder of family files; empty: none
  std::string tokenizer;    ///< of `tokenize`: a file or a folder
  std::string chatTemplate; ///< of `template`: the same
  bool info = false;        ///< of `template`; of `info`: --tensors
  std::string explained;    ///< of `explain`: a name; empty: a list of all
  heddle::DiffRequest diff;
  std::string part; ///< of `reference`: "blocks"; empty: the page
  std::string
      described; ///< of `schema`: a description, or "report"; empty: any description; of `reference family`: its name
};

/// Nothing where the command line is at its end already, with help that was asked for or a mistake that has been
/// said; `code` is then the exit code.
std::optional<CommandLine> readCommandLine(const heddle::Console &console, int argc, char **argv, int &code);

#endif
