//===- Lexer.h - A template's text becomes tokens ---------------*- C++ -*-===//
//
// Cuts a template into text and the tokens of its tags, with the rules of white
// space of published templates: trim_blocks and lstrip_blocks are on, `-` and
// `+` inside a tag's ends switch them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TEMPLATE_LEXER_H
#define HEDDLE_COMPILER_TEMPLATE_LEXER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::tpl {

/// A place in the template, from 1; columns are bytes.
struct Place {
  uint32_t line = 0, column = 0;
};

/// What is wrong with a template.
struct Mistake {
  Place place;
  std::string message;
};

struct Token {
  enum Kind : uint8_t { Data, PrintBegin, PrintEnd, TagBegin, TagEnd, Name, String, Integer, Float, Operator, End };
  Kind kind = End;
  Place place;
  size_t begin = 0, end = 0; ///< in the source
  std::string text;          ///< of data, names, operators; a string's value
  int64_t integer = 0;
  double real = 0;

  bool is(const char *op) const { return kind == Operator && text == op; }
  bool isName(const char *name) const { return kind == Name && text == name; }
};

/// `source` as its tags see it: one kind of line feed, and none at the very end.
std::string normalized(const std::string &source);

/// The tokens of a normalized source, the last an End; false with `mistake`.
bool lex(const std::string &source, std::vector<Token> &tokens, Mistake &mistake);

} // namespace heddle::tpl

#endif // HEDDLE_COMPILER_TEMPLATE_LEXER_H
