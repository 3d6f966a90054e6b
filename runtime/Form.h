//===- Form.h - Size forms ---------------------------------------*- C++
//-*-===//
//
// A size form is an integer expression over the dims of an entry: + - * // %,
// max, min, parentheses. It is parsed once into postfix code; evaluation is
// exact in 64 bits or fails.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_FORM_H
#define HEDDLE_RUNTIME_FORM_H

#include "runtime/Status.h"

#include <optional>

namespace heddle::rt {

class Form {
public:
  /// Parses `text`; names must be among `dims`, whose indices become operands.
  static Status parse(std::string_view text,
                      const std::vector<std::string> &dims, Form &form);

  /// No value: overflow or division by zero.
  std::optional<int64_t> evaluate(const int64_t *dims) const;

  /// The dims that occur, each once, in ascending order.
  const std::vector<int> &uses() const { return used; }
  /// The dim this form is, if it is a dim alone; else -1.
  int asDim() const {
    return code.size() == 1 && code[0].op == Op::Dim ? int(code[0].value) : -1;
  }
  const std::string &text() const { return source; }

private:
  enum class Op : uint8_t {
    Constant,
    Dim,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Max,
    Min,
    Neg
  };
  struct Step {
    Op op;
    int64_t value;
  };
  friend class FormParser;

  std::vector<Step> code;
  std::vector<int> used;
  std::string source;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_FORM_H
