// A node of the tree maps a set of positions to the set of positions where matches that begin there can end, so no
// expression takes exponential time, and which alternative comes first does not matter. A budget bounds the rest.
#include "compiler/Weights/Adapter/ModulePattern.h"
#include "heddle/utf8.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace heddle {

using tok::Node;
static constexpr size_t longestName = 1024, longestExpression = 8192;

/// One name and one expression.
class ModulePattern::Matcher {
public:
  using Bits = llvm::BitVector;

  Matcher(const ModulePattern &pattern, llvm::StringRef module) : pattern(pattern), steps(*pattern.steps) {
    uint32_t code = 0;
    for (size_t n = 0; !module.empty(); module = module.drop_front(n)) {
      n = decodeUtf8(module, code);
      text.push_back(n ? code : 0xfffd);
      n = std::max<size_t>(n, 1);
    }
    if (text.size() > longestName) {
      steps = 0;
      text.clear();
    }
  }

  size_t size() const { return text.size(); }
  bool isDot(size_t at) const { return at < text.size() && text[at] == '.'; }
  Bits single(size_t at) const {
    Bits bits(text.size() + 1);
    bits.set(at);
    return bits;
  }
  /// The beginnings of all segments.
  Bits segments() const {
    Bits bits = single(0);
    for (size_t at = 0; at < text.size(); ++at)
      if (isDot(at))
        bits.set(at + 1);
    return bits;
  }
  /// Where matches that begin at one of `starts` can end.
  Bits ends(const Bits &starts) {
    Bits found = after(*pattern.tree, starts);
    return steps > 0 ? found : Bits(text.size() + 1);
  }

private:
  Bits after(const Node &node, const Bits &starts);
  Bits loop(const Node &node, Bits now);
  bool holds(const Node &node, size_t at);
  bool isWord(size_t at) const {
    return at < text.size() && (text[at] >= 0x80 || text[at] == '_' || llvm::isAlnum(char(text[at])));
  }

  const ModulePattern &pattern;
  llvm::SmallVector<uint32_t, 128> text;
  int64_t &steps;
};

/// Whether a position without width holds.
bool ModulePattern::Matcher::holds(const Node &node, size_t at) {
  switch (node.kind) {
  case Node::LineStart:
  case Node::TextStart: return at == 0;
  case Node::LineEnd:
  case Node::TextEnd:
  case Node::LastLineEnd: return at == text.size();
  case Node::WordEdge: return ((at > 0 && isWord(at - 1)) != isWord(at)) != node.negated;
  case Node::Ahead: return after(*node.children[0], single(at)).any() != node.negated;
  case Node::Behind:
    for (size_t from = 0; from <= at; ++from)
      if (after(*node.children[0], single(from)).test(at))
        return !node.negated;
    return node.negated;
  default: return false;
  }
}

/// The least count one by one, then whatever further repeats reach.
ModulePattern::Matcher::Bits ModulePattern::Matcher::loop(const Node &node, Bits now) {
  const Node &child = *node.children[0];
  uint32_t done = 0;
  for (; done < node.least && now.any() && steps > 0; ++done) {
    Bits next = after(child, now);
    if (next == now) // empty matches, as many as are needed
      break;
    now = std::move(next);
  }
  Bits all = now;
  for (; done < node.most && now.any() && steps > 0; ++done) {
    now = after(child, now);
    now.reset(all);
    all |= now;
  }
  return all;
}

ModulePattern::Matcher::Bits ModulePattern::Matcher::after(const Node &node, const Bits &starts) {
  Bits found(text.size() + 1);
  steps -= 8 + starts.count();
  if (steps <= 0)
    return found;
  switch (node.kind) {
  case Node::Empty: return starts;
  case Node::Loop: return loop(node, starts);
  case Node::Choice:
    for (const auto &child : node.children)
      found |= after(*child, starts);
    return found;
  case Node::Chain:
    found = starts;
    for (const auto &child : node.children)
      if (found.any())
        found = after(*child, found);
    return found;
  case Node::One:
    for (unsigned at : starts.set_bits())
      if (at < text.size() && tok::contains(node.set, text[at]))
        found.set(at + 1);
    return found;
  default:
    for (unsigned at : starts.set_bits())
      if (holds(node, at))
        found.set(at);
    return found;
  }
}

/// Whether what a node matches depends on the order in which alternatives are tried.
static bool isOrdered(const Node &node) {
  return node.kind == Node::Atomic || node.possessive ||
         llvm::any_of(node.children, [](const auto &child) { return isOrdered(*child); });
}

std::optional<ModulePattern> ModulePattern::compile(llvm::StringRef text, std::string &error, int64_t budget) {
  error = text.size() > longestExpression ? "it is longer than " + std::to_string(longestExpression) + " bytes" : "";
  ModulePattern pattern;
  pattern.steps = std::make_unique<int64_t>(budget);
  if (error.empty())
    pattern.tree = tok::parsePattern(text.str(), error);
  if (pattern.tree && isOrdered(*pattern.tree))
    error = "atomic groups and possessive repeats are not read";
  if (!pattern.tree || !error.empty())
    return std::nullopt;
  return pattern;
}

bool ModulePattern::matches(llvm::StringRef module) const {
  Matcher matcher(*this, module);
  return matcher.ends(matcher.single(0)).test(matcher.size());
}

bool ModulePattern::matchesEnd(llvm::StringRef module) const {
  Matcher matcher(*this, module);
  return matcher.ends(matcher.segments()).test(matcher.size());
}

bool ModulePattern::matchesPart(llvm::StringRef module) const {
  Matcher matcher(*this, module);
  for (unsigned end : matcher.ends(matcher.segments()).set_bits())
    if (end == matcher.size() || matcher.isDot(end))
      return true;
  return false;
}

std::optional<int64_t> ModulePattern::layerOf(llvm::StringRef module) const {
  Matcher matcher(*this, module);
  if (matcher.size() != module.size()) // positions below are bytes
    return std::nullopt;
  for (size_t dot = 0; dot < matcher.size(); ++dot) {
    if (!matcher.isDot(dot))
      continue;
    llvm::BitVector ends = matcher.ends(matcher.single(dot + 1));
    for (int end = ends.find_last(); end >= 0; end = ends.find_prev(end)) {
      llvm::StringRef rest = module.substr(end);
      int64_t number = 0;
      llvm::StringRef digits = rest.consume_front(".") ? rest.take_while(llvm::isDigit) : llvm::StringRef();
      if (rest.drop_front(digits.size()).starts_with(".") && !digits.getAsInteger(10, number))
        return number;
    }
  }
  return std::nullopt;
}

} // namespace heddle
