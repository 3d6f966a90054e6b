//===- PatternParser.cpp - Regular expressions as trees -------------------===//
//
// A recursive descent parser with a depth limit. Where engines differ it
// follows Oniguruma: `X{m,n}+` repeats the counted group (it is not
// possessive), classes nest, `^` and `$` match at line breaks.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/PatternParser.h"

#include "compiler/Tokenizer/Unicode.h"
#include "heddle/tokenizer_format.h"
#include "heddle/utf8.h"

#include <algorithm>

namespace heddle::tok {

static constexpr unsigned kMaxGroups = 32;
static constexpr uint32_t kLastCharacter = 0x10ffff;

bool Node::nullable() const {
  switch (kind) {
  case One: return false;
  case Chain:
  case Atomic:
    return std::all_of(children.begin(), children.end(), [](const auto &child) { return child->nullable(); });
  case Choice:
    return std::any_of(children.begin(), children.end(), [](const auto &child) { return child->nullable(); });
  case Loop: return least == 0 || children[0]->nullable();
  default: return true;
  }
}

void Node::length(uint64_t &fewest, uint64_t &most) const {
  fewest = most = kind == One;
  if (kind == Ahead || kind == Behind)
    return;
  for (size_t i = 0; i < children.size(); ++i) {
    uint64_t few, many;
    children[i]->length(few, many);
    if (kind == Choice && i > 0) {
      fewest = std::min(fewest, few);
      most = std::max(most, many);
    } else {
      fewest += few;
      most += many;
    }
  }
  if (kind == Loop) {
    fewest *= least;
    most *= this->most;
  }
  fewest = std::min<uint64_t>(fewest, kNoLimit);
  most = std::min<uint64_t>(most, kNoLimit);
}

namespace {

using NodePtr = std::unique_ptr<Node>;

/// The flags that `(?im:...)` switches on.
struct Flags {
  bool ignoreCase = false, dotAll = false;
};

/// Recursive descent over the code points of a pattern. The first error is kept; every function then returns null.
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
    NodePtr node = choice(0, Flags());
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

  NodePtr choice(unsigned depth, Flags flags) {
    if (depth > kMaxGroups)
      return fail("nested too deep");
    NodePtr first = chain(depth, flags);
    if (!first || !peek('|'))
      return first;
    NodePtr node = make(Node::Choice);
    node->children.push_back(std::move(first));
    while (take("|")) {
      NodePtr next = chain(depth, flags);
      if (!next)
        return nullptr;
      node->children.push_back(std::move(next));
    }
    return node;
  }

  NodePtr chain(unsigned depth, Flags flags) {
    NodePtr node = make(Node::Chain);
    while (more() && !peek('|') && !peek(')')) {
      if (take("(?#")) {
        while (more() && !peek(')'))
          ++at;
        if (!take(")"))
          return fail("expected `)`");
        continue;
      }
      bool opens = false;
      size_t before = at;
      Flags now = flags;
      if (switches(now, opens) && !opens) {
        // `(?i)` holds up to the end of the group, in later alternatives, too.
        NodePtr rest = choice(depth + 1, now);
        if (!rest)
          return nullptr;
        node->children.push_back(std::move(rest));
        break;
      }
      at = before;
      NodePtr part = atom(depth, flags);
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
      for (value = 0; more() && text[at] >= '0' && text[at] <= '9' && value < 100000; ++at)
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
      if (node->kind >= Node::LineStart || node->kind == Node::Ahead || node->kind == Node::Behind)
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

  /// Reads `(?im-x:` or `(?i)`; `opens`: a group begins, as in the first.
  bool switches(Flags &flags, bool &opens) {
    if (!take("(?"))
      return false;
    Flags now = flags;
    bool on = true;
    for (; more(); ++at) {
      if (peek('-'))
        on = false;
      else if (peek('i'))
        now.ignoreCase = on;
      else if (peek('m'))
        now.dotAll = on;
      else
        break;
    }
    opens = peek(':');
    if (!take(":") && !take(")"))
      return false;
    flags = now;
    return true;
  }

  /// Skips the name of a group, `<year>`; names are never referred to.
  bool named() {
    if (!take("?<"))
      return false;
    size_t start = at;
    while (more() && !peek('>') && !peek(')'))
      ++at;
    return at > start && take(">");
  }

  NodePtr group(unsigned depth, Flags flags) {
    Node::Kind kind = Node::Chain;
    bool negated = false, opens = false;
    size_t start = --at;
    if (switches(flags, opens) && opens)
      return rest(depth, flags, kind, negated);
    at = start + 1;
    if (take("?="))
      kind = Node::Ahead;
    else if (take("?!")) {
      kind = Node::Ahead;
      negated = true;
    } else if (take("?<="))
      kind = Node::Behind;
    else if (take("?<!")) {
      kind = Node::Behind;
      negated = true;
    } else if (take("?>"))
      kind = Node::Atomic;
    else if (peek('?') && !named())
      return fail("this kind of group is not supported,");
    return rest(depth, flags, kind, negated);
  }

  /// Parses the inside of a group and its `)`.
  NodePtr rest(unsigned depth, Flags flags, Node::Kind kind, bool negated) {
    NodePtr inner = choice(depth + 1, flags);
    if (!inner)
      return nullptr;
    if (!take(")"))
      return fail("expected `)`");
    if (kind == Node::Behind) {
      uint64_t fewest, most;
      inner->length(fewest, most);
      if (most > 255)
        return fail("a look-behind of more than 255 characters is not "
                    "supported,");
    }
    NodePtr node = make(kind);
    node->negated = negated;
    node->children.push_back(std::move(inner));
    return node;
  }

  /// One element without its repetition: a group, a position, a set or a
  /// character.
  NodePtr atom(unsigned depth, Flags flags) {
    if (take("("))
      return group(depth, flags);
    if (take("^"))
      return make(Node::LineStart);
    if (take("$"))
      return make(Node::LineEnd);
    for (auto [name, kind] : {std::pair("\\A", Node::TextStart),
                              {"\\z", Node::TextEnd},
                              {"\\Z", Node::LastLineEnd},
                              {"\\b", Node::WordEdge},
                              {"\\B", Node::WordEdge}})
      if (take(name)) {
        NodePtr position = make(kind);
        position->negated = name[1] == 'B';
        return position;
      }
    NodePtr node = make(Node::One);
    Set &set = node->set;
    if (take("[")) {
      if (!bracket(set, depth))
        return nullptr;
    } else if (take(".")) {
      set.negated = true;
      if (!flags.dotAll)
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
    if (flags.ignoreCase)
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

  /// Reads `{Name}` after `\p`.
  bool property(Set &set, bool negated) {
    std::string name;
    if (take("{")) {
      if (take("^"))
        negated = !negated;
      while (more() && !peek('}'))
        appendUtf8(name, text[at++]);
      if (!take("}"))
        return fail("expected `}`"), false;
    } else if (more()) {
      appendUtf8(name, text[at++]);
    }
    Set named;
    if (!namedSet(name, named))
      return fail("\\p{" + name + "} is not supported,"), false;
    named.negated = negated;
    add(set, named);
    return true;
  }

  /// Adds the characters of `other` to `set`.
  static void add(Set &set, const Set &other) {
    if (other.negated && other.ranges.empty() && other.classes.size() == 1) {
      set.classes.push_back(other.classes[0]);
      set.classes.back().negated = !other.classes[0].negated;
      return;
    }
    auto ranges = other.negated ? rangesOf(other) : other.ranges;
    set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
    if (!other.negated)
      set.classes.insert(set.classes.end(), other.classes.begin(), other.classes.end());
  }

  /// Reads `:name:]` after a `[`.
  bool posix(Set &set) {
    std::string name;
    ++at;
    bool negated = take("^");
    while (more() && text[at] >= 'a' && text[at] <= 'z')
      appendUtf8(name, text[at++]);
    Set named;
    if (!take(":]") || !posixSet(name, named))
      return fail("[:" + name + ":] is not supported,"), false;
    named.negated = negated;
    add(set, named);
    return true;
  }

  /// Reads what follows a backslash: adds a class to `set`, or returns a
  /// character.
  bool escape(Set &set, uint32_t &c, bool &isClass) {
    isClass = false;
    if (!more())
      return fail("a pattern that ends in a backslash"), false;
    c = text[at++];
    switch (c) {
    case 'n': c = '\n'; return true;
    case 'r': c = '\r'; return true;
    case 't': c = '\t'; return true;
    case 'f': c = '\f'; return true;
    case 'v': c = '\v'; return true;
    case 'x':
      if (take("{")) {
        if (!hex(1, 6, c) || !take("}"))
          return fail("bad \\x{}"), false;
        return true;
      }
      return hex(1, 2, c) || (fail("bad \\x"), false);
    case 'u': return hex(4, 4, c) || (fail("bad \\u"), false);
    case 'a': c = 7; return true;
    case 'e': c = 27; return true;
    case 'b': // backspace in a set; elsewhere it is a position
      c = 8;
      return true;
    case '0': c = 0; return true;
    case 'h':
    case 'H': {
      isClass = true;
      Set digits;
      digits.ranges = {{'0', '9'}, {'a', 'f'}, {'A', 'F'}};
      digits.negated = c == 'H';
      add(set, digits);
      return true;
    }
    case 'p':
    case 'P': isClass = true; return property(set, c == 'P');
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
    case 'W': {
      isClass = true;
      // Oniguruma counts the superscripts and fractions of Latin-1, too.
      Set word;
      word.classes.push_back({0, kWord, false});
      word.ranges = {{0xb2, 0xb3}, {0xb9, 0xb9}, {0xbc, 0xbe}};
      word.negated = c == 'W';
      add(set, word);
      return true;
    }
    default:
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        return fail("this escape is not supported,"), false;
      return true;
    }
  }

  /// Reads a set after its `[`.
  bool bracket(Set &set, unsigned depth) {
    if (depth > kMaxGroups)
      return fail("nested too deep"), false;
    // `^` negates the whole set, intersections included.
    bool negated = take("^");
    if (!bracketItems(set, depth, /*first=*/true))
      return false;
    set.negated = negated;
    return true;
  }

  /// Reads the items of a set up to its `]`; as the first item `]` is a
  /// character.
  bool bracketItems(Set &set, unsigned depth, bool first) {
    for (;; first = false) {
      if (!more())
        return fail("expected `]`"), false;
      if (!first && take("]"))
        return true;
      if (peek('[')) {
        ++at;
        if (peek(':')) {
          if (!posix(set))
            return false;
          continue;
        }
        Set inner;
        if (!bracket(inner, depth + 1))
          return false;
        add(set, inner);
        continue;
      }
      if (take("&&")) {
        Set other;
        if (!bracketItems(other, depth, /*first=*/false))
          return false;
        set.ranges = common(set, other);
        set.classes.clear();
        return true;
      }
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

std::unique_ptr<Node> parsePattern(const std::string &pattern, std::string &error) {
  error.clear();
  return Parser(error).parse(pattern);
}

} // namespace heddle::tok
