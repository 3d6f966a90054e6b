//===- Lexer.cpp - A template's text becomes tokens -----------------------===//

#include "compiler/Template/Lexer.h"

#include "compiler/Tokenizer/Unicode.h"
#include "heddle/tokenizer_format.h"
#include "heddle/utf8.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace heddle::tpl {

namespace {

bool isSpace(uint32_t c) { return (tok::characterClass(c) & tok::kSpace) || (c >= 0x1c && c <= 0x1f); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
public:
  Lexer(const std::string &source, std::vector<Token> &tokens, Mistake &mistake)
      : source(source), tokens(tokens), mistake(mistake) {}

  bool run();

private:
  bool fail(size_t at, std::string message) {
    mistake = {placeOf(at), std::move(message)};
    return false;
  }
  Place placeOf(size_t at);
  Token &add(Token::Kind kind, size_t begin, size_t end);

  bool starts(size_t at, const char *text) const { return source.compare(at, strlen(text), text) == 0; }
  size_t pastSpace(size_t at) const;
  size_t beforeSpace(size_t begin, size_t end) const;
  void addText(size_t begin, size_t end, char sign, bool print);
  bool rawTag(size_t at, const char *name, char &sign, size_t &end) const;
  bool comment();
  bool raw(size_t begin);
  bool inside(bool print);
  bool endOfTag(bool print);
  bool token();
  bool number();
  bool string();
  bool unescape(size_t begin, size_t end, std::string &out);
  bool bracket(char c);

  const std::string &source;
  std::vector<Token> &tokens;
  Mistake &mistake;
  size_t at = 0;
  bool lineStarts = true; ///< the last thing read ended in a line feed
  std::string open;       ///< the closing brackets that are expected
  size_t lineBegin = 0, placed = 0;
  uint32_t line = 1;
};

/// Places are asked for in ascending order, but for mistakes.
Place Lexer::placeOf(size_t where) {
  if (where < placed) {
    lineBegin = placed = 0;
    line = 1;
  }
  for (; placed < where; ++placed)
    if (source[placed] == '\n') {
      ++line;
      lineBegin = placed + 1;
    }
  return {line, uint32_t(where - lineBegin + 1)};
}

Token &Lexer::add(Token::Kind kind, size_t begin, size_t end) {
  Token token;
  token.kind = kind;
  token.place = placeOf(begin);
  token.begin = begin;
  token.end = end;
  tokens.push_back(std::move(token));
  return tokens.back();
}

size_t Lexer::pastSpace(size_t from) const {
  for (;;) {
    size_t next = from;
    uint32_t c;
    if (!tok::nextCharacter(source, next, c) || !isSpace(c))
      return from;
    from = next;
  }
}

size_t Lexer::beforeSpace(size_t begin, size_t end) const {
  while (end > begin) {
    size_t last = end - 1;
    while (last > begin && (source[last] & 0xc0) == 0x80)
      --last;
    size_t next = last;
    uint32_t c;
    if (!tok::nextCharacter(source, next, c) || !isSpace(c))
      break;
    end = last;
  }
  return end;
}

/// The text in front of a tag, with what its sign and lstrip_blocks leave of it.
void Lexer::addText(size_t begin, size_t end, char sign, bool print) {
  if (sign == '-') {
    end = beforeSpace(begin, end);
  } else if (sign != '+' && !print) {
    size_t feed = end;
    while (feed > begin && source[feed - 1] != '\n')
      --feed;
    if ((feed > begin || lineStarts) && feed < end && beforeSpace(feed, end) == feed)
      end = feed;
  }
  if (begin < end)
    add(Token::Data, begin, end).text = source.substr(begin, end - begin);
}

/// Whether `{% NAME` and the end of the tag are at `from`; `end` is then after the end's braces.
bool Lexer::rawTag(size_t from, const char *name, char &sign, size_t &end) const {
  if (!starts(from, "{%"))
    return false;
  from += 2;
  sign = from < source.size() && (source[from] == '-' || source[from] == '+') ? source[from++] : 0;
  from = pastSpace(from);
  if (!starts(from, name))
    return false;
  end = pastSpace(from + strlen(name));
  return true;
}

bool Lexer::comment() {
  size_t close = source.find("#}", at);
  if (close == std::string::npos)
    return fail(at - 2, "a comment without its end `#}`");
  char before = close > at ? source[close - 1] : 0;
  at = close + 2;
  if (before == '-')
    at = pastSpace(at);
  else if (before != '+' && at < source.size() && source[at] == '\n')
    ++at;
  lineStarts = source[at - 1] == '\n';
  return true;
}

/// Behind `{% raw %}`: everything up to `{% endraw %}` is text.
bool Lexer::raw(size_t begin) {
  for (size_t from = at; (from = source.find("{%", from)) != std::string::npos; ++from) {
    char sign;
    size_t end;
    if (!rawTag(from, "endraw", sign, end))
      continue;
    bool plus = starts(end, "+%}"), minus = starts(end, "-%}");
    if (!plus && !minus && !starts(end, "%}"))
      continue;
    // The sign belongs to the text that `raw` keeps.
    addText(at, from, sign, false);
    at = end + (plus || minus ? 3 : 2);
    if (minus)
      at = pastSpace(at);
    else if (!plus && at < source.size() && source[at] == '\n')
      ++at;
    lineStarts = source[at - 1] == '\n';
    return true;
  }
  return fail(begin, "`{% raw %}` without its end `{% endraw %}`");
}

/// Reads the end of a tag if it is here.
bool Lexer::endOfTag(bool print) {
  const char *close = print ? "}}" : "%}";
  size_t begin = at;
  bool minus = source[at] == '-' && starts(at + 1, close), plus = !print && source[at] == '+' && starts(at + 1, close);
  if (!minus && !plus && !starts(at, close))
    return false;
  at += minus || plus ? 3 : 2;
  size_t end = at;
  if (minus)
    at = pastSpace(at);
  else if (!print && !plus && at < source.size() && source[at] == '\n')
    ++at;
  add(print ? Token::PrintEnd : Token::TagEnd, begin, end);
  lineStarts = source[at - 1] == '\n';
  return true;
}

/// Python's number literals.
bool Lexer::number() {
  size_t begin = at, end = at;
  auto digits = [&](size_t from, auto &&good) { // with single `_` between them
    size_t first = from;
    auto isGood = [&](size_t i) { return i < source.size() && good(source[i]); };
    while (isGood(from) || (from > first && from < source.size() && source[from] == '_' && isGood(from + 1)))
      ++from;
    return from;
  };
  auto value = [&](size_t to) {
    std::string text = source.substr(begin, to - begin);
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    return text;
  };
  char kind = source[at] == '0' && at + 1 < source.size() ? char(source[at + 1] | 0x20) : 0;
  int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
  if (base != 10) {
    auto good = [&](char c) {
      int digit = isDigit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 99;
      return digit < base;
    };
    size_t from = at + 2;
    if (from < source.size() && source[from] == '_')
      ++from;
    end = from < source.size() && good(source[from]) ? digits(from, good) : at;
    if (end == at)
      base = 10;
  }
  bool real = false;
  if (base == 10) {
    end = digits(at, isDigit);
    bool afterDot = begin > 0 && source[begin - 1] == '.';
    size_t more = end;
    if (!afterDot && more + 1 < source.size() && source[more] == '.' && isDigit(source[more + 1])) {
      more = digits(more + 1, isDigit);
      real = true;
    }
    size_t power = more;
    if (!afterDot && power < source.size() && (source[power] | 0x20) == 'e') {
      ++power;
      if (power < source.size() && (source[power] == '+' || source[power] == '-'))
        ++power;
      if (power < source.size() && isDigit(source[power])) {
        more = digits(power, isDigit);
        real = true;
      }
    }
    if (real)
      end = more;
    else if (source[begin] == '0')
      end = digits(begin, [](char c) { return c == '0'; });
  }
  std::string text = value(end);
  Token &token = add(real ? Token::Float : Token::Integer, begin, end);
  token.text = text;
  at = end;
  if (real) {
    std::from_chars(text.data(), text.data() + text.size(), token.real);
    return true;
  }
  const char *from = text.data() + (base == 10 ? 0 : 2);
  auto [stop, error] = std::from_chars(from, text.data() + text.size(), token.integer, base);
  if (error != std::errc())
    return fail(begin, "the integer does not fit 64 bits");
  return true;
}

/// The value of what is between the quotes, with Python's escapes.
bool Lexer::unescape(size_t begin, size_t end, std::string &out) {
  auto hex = [&](size_t from, size_t count, uint32_t &c) {
    c = 0;
    if (from + count > end)
      return false;
    auto [stop, error] = std::from_chars(source.data() + from, source.data() + from + count, c, 16);
    return error == std::errc() && stop == source.data() + from + count;
  };
  for (size_t i = begin; i < end; ++i) {
    if (source[i] != '\\' || i + 1 >= end) {
      out += source[i];
      continue;
    }
    char c = source[++i];
    static const char letters[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    const char *known = nullptr;
    for (const char *l = letters; *l && !known; l += 2)
      if (*l == c)
        known = l;
    if (known) {
      out += known[1];
    } else if (c == '\n') {
      continue;
    } else if (c >= '0' && c <= '7') {
      uint32_t value = 0;
      size_t n = 0;
      for (; n < 3 && i + n < end && source[i + n] >= '0' && source[i + n] <= '7'; ++n)
        value = value * 8 + uint32_t(source[i + n] - '0');
      i += n - 1;
      appendUtf8(out, value);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      uint32_t value;
      if (!hex(i + 1, count, value) || value > 0x10ffff)
        return fail(i - 1, "an escape that is cut off, or no character");
      if (value >= 0xd800 && value < 0xe000)
        return fail(i - 1, "half of a character (a surrogate)");
      appendUtf8(out, value);
      i += count;
    } else if (c == 'N') {
      return fail(i - 1, "characters by name are not supported; write \\u and its number");
    } else if (c & 0x80) { // Python sees the escape of that letter after a backslash
      size_t next = i;
      uint32_t value;
      if (!tok::nextCharacter(source, next, value))
        return fail(i, "no UTF-8");
      char text[16];
      snprintf(text, sizeof text, value < 0x100 ? "\\x%02x" : value < 0x10000 ? "\\u%04x" : "\\U%08x", value);
      out += text;
      i = next - 1;
    } else {
      out += '\\';
      out += c;
    }
  }
  return true;
}

bool Lexer::string() {
  char quote = source[at];
  size_t end = at + 1;
  while (end < source.size() && source[end] != quote)
    end += source[end] == '\\' ? 2 : 1;
  if (end >= source.size())
    return fail(at, "a string without its end");
  std::string value;
  if (!unescape(at + 1, end, value))
    return false;
  add(Token::String, at, end + 1).text = value;
  at = end + 1;
  return true;
}

bool Lexer::bracket(char c) {
  switch (c) {
  case '(': open += ')'; return true;
  case '[': open += ']'; return true;
  case '{': open += '}'; return true;
  case ')':
  case ']':
  case '}': break;
  default: return true;
  }
  if (open.empty())
    return fail(at, std::string("unexpected `") + c + "`");
  if (open.back() != c)
    return fail(at, std::string("unexpected `") + c + "`, expected `" + open.back() + "`");
  open.pop_back();
  return true;
}

/// One token of a tag.
bool Lexer::token() {
  char c = source[at];
  if (isDigit(c))
    return number();
  if (c == '\'' || c == '"')
    return string();
  size_t end = at;
  for (size_t next = at; next < source.size(); end = next) {
    uint32_t letter;
    if (!tok::nextCharacter(source, next, letter) || !(tok::characterClass(letter) & tok::kWord))
      break;
  }
  if (end > at) {
    size_t begin = at;
    add(Token::Name, begin, end).text = source.substr(begin, end - begin);
    at = end;
    return true;
  }
  static const char *const operators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                          "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
  for (const char *op : operators)
    if (starts(at, op)) {
      if (!bracket(*op))
        return false;
      size_t begin = at;
      at += strlen(op);
      add(Token::Operator, begin, at).text = op;
      return true;
    }
  size_t next = at;
  uint32_t letter;
  if (!tok::nextCharacter(source, next, letter))
    next = at + 1;
  return fail(at, "unexpected character `" + source.substr(at, next - at) + "`");
}

bool Lexer::inside(bool print) {
  open.clear();
  while (at < source.size()) {
    if (open.empty() && endOfTag(print))
      return true;
    size_t past = pastSpace(at);
    if (past > at) {
      at = past;
      continue;
    }
    if (!token())
      return false;
  }
  return true; // the parser says what is missing
}

bool Lexer::run() {
  while (at < source.size()) {
    size_t begin = at, tag = at;
    for (;; ++tag) {
      tag = source.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source.size())
        break;
      if (char next = source[tag + 1]; next == '{' || next == '%' || next == '#')
        break;
    }
    if (tag == std::string::npos || tag + 1 >= source.size()) {
      add(Token::Data, begin, source.size()).text = source.substr(begin);
      at = source.size();
      break;
    }
    char kind = source[tag + 1], sign = 0;
    size_t end;
    if (rawTag(tag, "raw", sign, end) && (starts(end, "-%}") || starts(end, "%}"))) {
      addText(begin, tag, sign, false);
      bool minus = starts(end, "-%}");
      at = minus ? pastSpace(end + 3) : end + 2;
      lineStarts = source[at - 1] == '\n';
      if (!raw(tag))
        return false;
      continue;
    }
    at = tag + 2;
    sign = at < source.size() && (source[at] == '-' || source[at] == '+') ? source[at] : 0;
    addText(begin, tag, sign, kind == '{');
    at += sign != 0;
    lineStarts = false;
    if (kind == '#') {
      if (!comment())
        return false;
      continue;
    }
    add(kind == '{' ? Token::PrintBegin : Token::TagBegin, tag, at);
    if (!inside(kind == '{'))
      return false;
  }
  add(Token::End, source.size(), source.size());
  return true;
}

} // namespace

std::string normalized(const std::string &source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      i += i + 1 < source.size() && source[i + 1] == '\n';
    } else {
      out += source[i];
    }
  }
  if (!out.empty() && out.back() == '\n')
    out.pop_back();
  return out;
}

bool lex(const std::string &source, std::vector<Token> &tokens, Mistake &mistake) {
  return Lexer(source, tokens, mistake).run();
}

} // namespace heddle::tpl
