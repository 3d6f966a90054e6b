//===- PatternParser.cpp - Regular expressions as trees -------------------===//
//
// Recursive descent over the characters, with a depth limit. Oniguruma's
// reading where engines differ: `X{m,n}+` repeats the counted group (it is not
// possessive), classes nest, `^` and `$` work at line breaks.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/PatternParser.h"

#include "compiler/Tokenizer/Unicode.h"
#include "heddle/tokenizer_format.h"

#include <algorithm>

namespace heddle::tok {

static constexpr unsigned kMaxDepth = 32;
static constexpr uint32_t kNoLimit = 0xffffffff, kLastCharacter = 0x10ffff;

bool Node::nullable() const {
  switch (kind) {
  case One:
    return false;
  case Chain:
  case Atomic:
    return std::all_of(children.begin(), children.end(),
                       [](const auto &child) { return child->nullable(); });
  case Choice:
    return std::any_of(children.begin(), children.end(),
                       [](const auto &child) { return child->nullable(); });
  case Loop:
    return least == 0 || children[0]->nullable();
  default:
    return true;
  }
}

namespace {

using NodePtr = std::unique_ptr<Node>;

class Parser {
public:
  Parser(std::string &error) : error(error) {}

  NodePtr parse(const std::string &pattern) {
    size_t at = 0;
    uint32_t c;
    while (nextCharacter(pattern, at, c))
      text.push_back(c);
    if (at != pattern.size())
      return fail("is no UTF-8");
    NodePtr node = choice(0, false);
    if (node && this->at != text.size())
      return fail("unexpected `)`");
    return node;
  }

private:
  NodePtr fail(const std::string &what) {
    if (error.empty())
      error = what + " at character " + std::to_string(at + 1);
    return nullptr;
  }
  bool more() const { return at < text.size(); }
  bool take(const char *word) {
    size_t n = 0;
    for (; word[n]; ++n)
      if (at + n >= text.size() || text[at + n] != uint32_t(word[n]))
        return false;
    at += n;
    return true;
  }
  bool peek(char c) const { return more() && text[at] == uint32_t(c); }

  static NodePtr make(Node::Kind kind) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    return node;
  }

  NodePtr choice(unsigned depth, bool ignoreCase) {
    if (depth > kMaxDepth)
      return fail("nested too deep");
    NodePtr first = chain(depth, ignoreCase);
    if (!first || !peek('|'))
      return first;
    NodePtr node = make(Node::Choice);
    node->children.push_back(std::move(first));
    while (take("|")) {
      NodePtr next = chain(depth, ignoreCase);
      if (!next)
        return nullptr;
      node->children.push_back(std::move(next));
    }
    return node;
  }

  NodePtr chain(unsigned depth, bool ignoreCase) {
    NodePtr node = make(Node::Chain);
    while (more() && !peek('|') && !peek(')')) {
      NodePtr part = atom(depth, ignoreCase);
      if (part)
        part = quantified(std::move(part));
      if (!part)
        return nullptr;
      node->children.push_back(std::move(part));
    }
    return node;
  }

  bool counts(uint32_t &least, uint32_t &most) {
    size_t start = at;
    auto number = [&](uint32_t &value) {
      size_t first = at;
      for (value = 0;
           more() && text[at] >= '0' && text[at] <= '9' && value < 100000; ++at)
        value = value * 10 + (text[at] - '0');
      return at > first;
    };
    ++at;
    bool low = number(least), high = true;
    if (!low)
      least = 0;
    most = least;
    if (take(",")) {
      high = number(most);
      if (!high)
        most = kNoLimit;
    } else {
      high = low;
    }
    if ((low || high) && take("}") && most >= least)
      return true;
    at = start;
    return false;
  }

  NodePtr quantified(NodePtr node) {
    while (more()) {
      uint32_t least = 0, most = kNoLimit;
      bool counted = false;
      if (take("+"))
        least = 1;
      else if (take("?"))
        most = 1;
      else if (peek('{') && counts(least, most))
        counted = true;
      else if (!take("*"))
        return node;
      if (node->kind == Node::Ahead || node->kind == Node::LineStart ||
          node->kind == Node::LineEnd)
        return fail("a repeated position");
      NodePtr loop = make(Node::Loop);
      loop->least = least;
      loop->most = most;
      loop->children.push_back(std::move(node));
      if (!counted && take("+"))
        loop->possessive = true;
      else if (take("?"))
        loop->lazy = true;
      if (loop->children[0]->nullable() && most > 1)
        return fail("a repeated part that can be empty is not supported,");
      node = std::move(loop);
    }
    return node;
  }

  NodePtr group(unsigned depth, bool ignoreCase) {
    Node::Kind kind = Node::Chain;
    bool negated = false;
    if (take("?:"))
      ;
    else if (take("?i:"))
      ignoreCase = true;
    else if (take("?="))
      kind = Node::Ahead;
    else if (take("?!")) {
      kind = Node::Ahead;
      negated = true;
    } else if (take("?>"))
      kind = Node::Atomic;
    else if (peek('?'))
      return fail("this kind of group is not supported,");
    NodePtr inner = choice(depth + 1, ignoreCase);
    if (!inner)
      return nullptr;
    if (!take(")"))
      return fail("expected `)`");
    NodePtr node = make(kind);
    node->negated = negated;
    node->children.push_back(std::move(inner));
    return node;
  }

  NodePtr atom(unsigned depth, bool ignoreCase) {
    if (take("("))
      return group(depth, ignoreCase);
    if (take("^"))
      return make(Node::LineStart);
    if (take("$"))
      return make(Node::LineEnd);
    NodePtr node = make(Node::One);
    Set &set = node->set;
    if (take("[")) {
      if (!bracket(set, depth))
        return nullptr;
    } else if (take(".")) {
      set.negated = true;
      set.ranges.push_back({'\n', '\n'});
    } else if (take("\\")) {
      uint32_t c;
      bool isClass;
      if (!escape(set, c, isClass))
        return nullptr;
      if (!isClass)
        set.ranges.push_back({c, c});
    } else if (peek('*') || peek('+') || peek('?')) {
      return fail("nothing to repeat");
    } else {
      set.ranges.push_back({text[at], text[at]});
      ++at;
    }
    if (ignoreCase)
      fold(set);
    return node;
  }

  static void fold(Set &set) {
    auto ranges = set.ranges;
    for (auto [first, last] : ranges)
      for (uint32_t c = first; c <= last && c < first + 1024; ++c)
        for (uint32_t variant : caseVariants(c))
          if (variant < first || variant > last)
            set.ranges.push_back({variant, variant});
  }

  bool hex(size_t least, size_t most, uint32_t &value) {
    size_t digits = 0;
    for (value = 0; more() && digits < most; ++digits, ++at) {
      uint32_t c = text[at];
      uint32_t digit = c >= '0' && c <= '9'   ? c - '0'
                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : 16;
      if (digit == 16)
        break;
      value = value * 16 + digit;
    }
    return digits >= least && value <= kLastCharacter;
  }

  /// \p{Name}, after the `p`.
  bool property(Set &set, bool negated) {
    std::string name;
    if (take("{")) {
      if (take("^"))
        negated = !negated;
      while (more() && !peek('}'))
        appendCharacter(name, text[at++]);
      if (!take("}"))
        return fail("expected `}`"), false;
    } else if (more()) {
      appendCharacter(name, text[at++]);
    }
    uint32_t mask = categoryMask(name);
    if (!mask)
      return fail("\\p{" + name + "} is not supported,"), false;
    set.classes.push_back({mask, 0, negated});
    return true;
  }

  /// After the backslash: a class added to `set`, or a character.
  bool escape(Set &set, uint32_t &c, bool &isClass) {
    isClass = false;
    if (!more())
      return fail("a pattern that ends in a backslash"), false;
    c = text[at++];
    switch (c) {
    case 'n':
      c = '\n';
      return true;
    case 'r':
      c = '\r';
      return true;
    case 't':
      c = '\t';
      return true;
    case 'f':
      c = '\f';
      return true;
    case 'v':
      c = '\v';
      return true;
    case 'x':
      if (take("{")) {
        if (!hex(1, 6, c) || !take("}"))
          return fail("bad \\x{}"), false;
        return true;
      }
      return hex(1, 2, c) || (fail("bad \\x"), false);
    case 'u':
      return hex(4, 4, c) || (fail("bad \\u"), false);
    case 'p':
    case 'P':
      isClass = true;
      return property(set, c == 'P');
    case 's':
    case 'S':
      isClass = true;
      set.classes.push_back({0, kSpace, c == 'S'});
      return true;
    case 'd':
    case 'D':
      isClass = true;
      set.classes.push_back({categoryMask("Nd"), 0, c == 'D'});
      return true;
    case 'w':
    case 'W':
      isClass = true;
      set.classes.push_back({0, kWord, c == 'W'});
      return true;
    default:
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
          (c >= '0' && c <= '9'))
        return fail("this escape is not supported,"), false;
      return true;
    }
  }

  /// After the `[`.
  bool bracket(Set &set, unsigned depth) {
    if (depth > kMaxDepth)
      return fail("nested too deep"), false;
    set.negated = take("^");
    bool first = true;
    for (;; first = false) {
      if (!more())
        return fail("expected `]`"), false;
      if (!first && take("]"))
        return true;
      if (peek('[')) {
        ++at;
        if (peek(':'))
          return fail("POSIX brackets are not supported,"), false;
        Set inner;
        if (!bracket(inner, depth + 1))
          return false;
        if (inner.negated)
          return fail("a negated class inside a class is not supported,"),
                 false;
        set.ranges.insert(set.ranges.end(), inner.ranges.begin(),
                          inner.ranges.end());
        set.classes.insert(set.classes.end(), inner.classes.begin(),
                           inner.classes.end());
        continue;
      }
      if (take("&&"))
        return fail("intersections of classes are not supported,"), false;
      uint32_t low, high;
      bool isClass = false;
      if (take("\\")) {
        if (!escape(set, low, isClass))
          return false;
      } else {
        low = text[at++];
      }
      if (isClass)
        continue;
      high = low;
      if (peek('-') && at + 1 < text.size() && text[at + 1] != ']') {
        ++at;
        if (take("\\")) {
          if (!escape(set, high, isClass))
            return false;
          if (isClass)
            return fail("a range that ends in a class"), false;
        } else {
          high = text[at++];
        }
        if (high < low)
          return fail("a range that runs backwards"), false;
      }
      set.ranges.push_back({low, high});
    }
  }

  std::vector<uint32_t> text;
  size_t at = 0;
  std::string &error;
};

} // namespace

std::unique_ptr<Node> parsePattern(const std::string &pattern,
                                   std::string &error) {
  error.clear();
  return Parser(error).parse(pattern);
}

} // namespace heddle::tok
