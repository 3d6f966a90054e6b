//===- Form.h - Size forms --------------------------------------*- C++ -*-===//
//
// A size form is an integer expression over the dims of an entry: + - * // %,
// max, min, parentheses. It is parsed once into postfix code; evaluation is
// exact in 64 bits or fails.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_FORM_H
#define HEDDLE_RUNTIME_CORE_FORM_H

#include "runtime/Core/Status.h"

#include <optional>

namespace heddle::rt {

class Form {
public:
  /// Parses `text` into `form`. Names must be among `dims`; their indices
  /// become the operands. An error names the place in the text.
  static Status parse(std::string_view text, const std::vector<std::string> &dims, Form &form);

  /// The value under `dims`, in the order given to `parse`; none on overflow or
  /// division by zero.
  std::optional<int64_t> evaluate(const int64_t *dims) const;

  /// Indices of the dims that occur, each once, ascending.
  const std::vector<int> &uses() const { return used; }
  /// The index of the dim if the form is one dim alone, else -1.
  int asDim() const { return code.size() == 1 && code[0].op == Op::Dim ? int(code[0].value) : -1; }
  /// The form as it was written.
  const std::string &text() const { return source; }

private:
  enum class Op : uint8_t { Constant, Dim, Add, Sub, Mul, Div, Mod, Max, Min, Neg };
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

#endif // HEDDLE_RUNTIME_CORE_FORM_H
