//===- Form.cpp - Size forms ----------------------------------------------===//
//
// The parser is a recursive descent with a depth limit; it emits postfix code,
// which `evaluate` runs on a stack of fixed height. The grammar is that of
// dialects/Model/IR/SizeParser.h; both are tested against the table
// test/support/size_forms.def.
//===----------------------------------------------------------------------===//
#include "runtime/Core/Form.h"

#include <algorithm>
#include <cctype>

namespace heddle::rt {

static constexpr unsigned kMaxDepth = 64;

/// The parser. `sum` and the functions below it emit code for what they have read.
class FormParser {
public:
  FormParser(std::string_view text, const std::vector<std::string> &dims, Form &form)
      : text(text), dims(dims), form(form) {}

  Status parse() {
    HEDDLE_TRY(sum(0));
    skip();
    if (at != text.size())
      return error("unexpected text");
    std::sort(form.used.begin(), form.used.end());
    form.used.erase(std::unique(form.used.begin(), form.used.end()), form.used.end());
    return {};
  }

private:
  Status error(const char *what) {
    return internalError(format("size form %s: %s at column %zu", quote(text).c_str(), what, at + 1));
  }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
      ++at;
  }
  bool take(std::string_view word) {
    skip();
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }
  Status emit(Form::Op op, int64_t value = 0) {
    bool operand = op == Form::Op::Constant || op == Form::Op::Dim;
    if (operand && ++height > kMaxDepth)
      return error("too deep");
    if (!operand && op != Form::Op::Neg)
      --height;
    form.code.push_back({op, value});
    return {};
  }

  Status sum(unsigned nesting) {
    HEDDLE_TRY(product(nesting));
    for (;;) {
      if (take("+")) {
        HEDDLE_TRY(product(nesting));
        HEDDLE_TRY(emit(Form::Op::Add));
      } else if (take("-")) {
        HEDDLE_TRY(product(nesting));
        HEDDLE_TRY(emit(Form::Op::Sub));
      } else {
        return {};
      }
    }
  }

  Status product(unsigned nesting) {
    HEDDLE_TRY(atom(nesting));
    for (;;) {
      if (take("//")) {
        HEDDLE_TRY(atom(nesting));
        HEDDLE_TRY(emit(Form::Op::Div));
      } else if (take("*")) {
        HEDDLE_TRY(atom(nesting));
        HEDDLE_TRY(emit(Form::Op::Mul));
      } else if (take("%")) {
        HEDDLE_TRY(atom(nesting));
        HEDDLE_TRY(emit(Form::Op::Mod));
      } else {
        return {};
      }
    }
  }

  Status atom(unsigned nesting) {
    if (nesting > kMaxDepth)
      return error("too deep");
    if (take("-")) {
      HEDDLE_TRY(atom(nesting + 1));
      return emit(Form::Op::Neg);
    }
    if (take("(")) {
      HEDDLE_TRY(sum(nesting + 1));
      return take(")") ? Status() : error("expected `)`");
    }
    if (at == text.size())
      return error("expected a number or a dim");
    unsigned char c = text[at];
    if (isdigit(c))
      return number();
    if (isalpha(c) || c == '_')
      return name(nesting);
    return error("expected a number or a dim");
  }

  Status number() {
    int64_t value = 0;
    while (at < text.size() && isdigit(static_cast<unsigned char>(text[at])))
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[at++] - '0', &value))
        return error("number too large");
    return emit(Form::Op::Constant, value);
  }

  Status name(unsigned nesting) {
    size_t start = at;
    while (at < text.size() && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    std::string_view word = text.substr(start, at - start);
    if ((word == "max" || word == "min") && take("(")) {
      HEDDLE_TRY(sum(nesting + 1));
      Form::Op op = word == "max" ? Form::Op::Max : Form::Op::Min;
      if (!take(","))
        return error("expected `,`");
      HEDDLE_TRY(sum(nesting + 1));
      HEDDLE_TRY(emit(op));
      return take(")") ? Status() : error("expected `)`");
    }
    auto found = std::find(dims.begin(), dims.end(), word);
    if (found == dims.end()) {
      at = start;
      return error("unknown dim");
    }
    form.used.push_back(int(found - dims.begin()));
    return emit(Form::Op::Dim, found - dims.begin());
  }

  std::string_view text;
  const std::vector<std::string> &dims;
  Form &form;
  size_t at = 0;
  unsigned height = 0;
};

Status Form::parse(std::string_view text, const std::vector<std::string> &dims, Form &form) {
  form = Form();
  form.source = std::string(text);
  return FormParser(text, dims, form).parse();
}

// Postfix code on a stack of fixed height, which `parse` guarantees to suffice.
std::optional<int64_t> Form::evaluate(const int64_t *dims) const {
  int64_t stack[kMaxDepth + 1];
  unsigned top = 0;
  for (const Step &step : code) {
    if (step.op == Op::Constant || step.op == Op::Dim) {
      stack[top++] = step.op == Op::Dim ? dims[step.value] : step.value;
      continue;
    }
    if (step.op == Op::Neg) {
      if (__builtin_sub_overflow(int64_t(0), stack[top - 1], &stack[top - 1]))
        return std::nullopt;
      continue;
    }
    int64_t b = stack[--top], &a = stack[top - 1];
    bool bad = false;
    switch (step.op) {
    case Op::Add: bad = __builtin_add_overflow(a, b, &a); break;
    case Op::Sub: bad = __builtin_sub_overflow(a, b, &a); break;
    case Op::Mul: bad = __builtin_mul_overflow(a, b, &a); break;
    case Op::Div:
    case Op::Mod: {
      bad = b == 0 || (a == INT64_MIN && b == -1);
      if (bad)
        break;
      int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
      a = step.op == Op::Div ? quotient : a - quotient * b;
      break;
    }
    case Op::Max: a = std::max(a, b); break;
    default: a = std::min(a, b); break;
    }
    if (bad)
      return std::nullopt;
  }
  if (top != 1)
    return std::nullopt;
  return stack[0];
}

} // namespace heddle::rt
