//===- SizeParser.h - the grammar of size forms -----------------*- C++ -*-===//
//
// Parses a size form and calls a SizeVisitor for each operation; types, evaluation and code
// generation are visitors. The runtime has a parser of its own (runtime/Core/Form.cpp), without
// LLVM; both are tested against the table test/support/size_forms.def.
//
//   sum := product {("+"|"-") product}    product := unary {("*"|"//"|"%") unary}
//   unary := "-" unary | integer | name | "max(" sum "," sum ")" | "min(...)" | "(" sum ")"
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_SIZEPARSER_H
#define HEDDLE_DIALECTS_MODEL_IR_SIZEPARSER_H

#include "llvm/ADT/StringExtras.h"

namespace heddle::model {
namespace detail {
template <typename T> class SizeParser {
public:
  SizeParser(llvm::StringRef text, SizeVisitor<T> &v) : rest(text), v(v) {}
  std::optional<T> run() {
    std::optional<T> r = sum();
    return r && rest.ltrim().empty() ? r : std::nullopt;
  }

private:
  llvm::StringRef rest;
  SizeVisitor<T> &v;
  int depth = 0;

  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  std::optional<T> sum() {
    std::optional<T> a = product();
    while (a) {
      char op = take("+") ? '+' : take("-") ? '-' : 0;
      if (!op)
        return a;
      std::optional<T> b = product();
      if (!b)
        return std::nullopt;
      a = v.binary(op, *a, *b);
    }
    return a;
  }
  std::optional<T> product() {
    std::optional<T> a = unary();
    while (a) {
      char op = take("//") ? '/' : take("*") ? '*' : take("%") ? '%' : 0;
      if (!op)
        return a;
      std::optional<T> b = unary();
      if (!b)
        return std::nullopt;
      if (op == '%') // x - n * (x // n)
        a = v.binary('-', *a, v.binary('*', *b, v.binary('/', *a, *b)));
      else
        a = v.binary(op, *a, *b);
    }
    return a;
  }
  std::optional<T> unary() {
    if (++depth > 200)
      return std::nullopt;
    std::optional<T> r = unaryInner();
    --depth;
    return r;
  }
  std::optional<T> unaryInner() {
    rest = rest.ltrim();
    if (take("-")) {
      std::optional<T> a = unary();
      return a ? std::optional<T>(v.binary('-', v.constant(0), *a)) : std::nullopt;
    }
    if (take("(")) {
      std::optional<T> a = sum();
      return a && take(")") ? a : std::nullopt;
    }
    if (!rest.empty() && llvm::isDigit(rest[0])) {
      int64_t n;
      if (rest.consumeInteger(10, n))
        return std::nullopt;
      return v.constant(n);
    }
    size_t n = 0;
    while (n < rest.size() && (llvm::isAlnum(rest[n]) || rest[n] == '_'))
      ++n;
    if (!n)
      return std::nullopt;
    llvm::StringRef name = rest.take_front(n);
    rest = rest.drop_front(n);
    if ((name == "max" || name == "min") && take("(")) {
      std::optional<T> a = sum();
      if (!a || !take(","))
        return std::nullopt;
      std::optional<T> b = sum();
      if (!b || !take(")"))
        return std::nullopt;
      return v.binary(name == "max" ? 'M' : 'm', *a, *b);
    }
    return v.dim(name);
  }
};
} // namespace detail

template <typename T> std::optional<T> visitSize(llvm::StringRef text, SizeVisitor<T> visitor) {
  return detail::SizeParser<T>(text, visitor).run();
}
} // namespace heddle::model

#endif
