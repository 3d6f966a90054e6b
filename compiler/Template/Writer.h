//===- Writer.h - Statements become the machine's code ----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_TEMPLATE_WRITER_H
#define HEDDLE_COMPILER_TEMPLATE_WRITER_H

#include "compiler/Template/Parser.h"

namespace heddle::tpl {

struct Instruction {
  Op op;
  uint32_t line, a, b, c;
};

struct Function {
  std::vector<Instruction> code; ///< jumps count from its begin
  uint32_t slots = 0, flags = 0, name = 0;
  std::vector<uint32_t> parameters; ///< names
};

/// The functions of a template, its own body first. What cannot be compiled is added to the mistakes.
std::vector<Function> writeCode(Parsed &parsed);

} // namespace heddle::tpl

#endif // HEDDLE_COMPILER_TEMPLATE_WRITER_H
