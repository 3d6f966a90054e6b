//===- Pattern.cpp - Regular expressions to matcher programs --------------===//
//
// From trees to code words (runtime/include/heddle/tokenizer_format.h). A loop
// over one set is a single word; other loops become forks and jumps.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/Pattern.h"

#include "compiler/Tokenizer/PatternParser.h"
#include "compiler/Tokenizer/Unicode.h"
#include "heddle/tokenizer_format.h"

namespace heddle::tok {

namespace {

constexpr size_t kMaxCode = 1 << 16;

/// Emits code in one pass; jumps and sets are patched when their place is
/// known.
class Emitter {
public:
  /// Emits a node and all below it; false if the program gets too long.
  bool emit(const Node &node) {
    if (code.size() > kMaxCode)
      return false;
    switch (node.kind) {
    case Node::Empty: return true;
    case Node::One: single(node.set); return true;
    case Node::Chain:
      for (const auto &child : node.children)
        if (!emit(*child))
          return false;
      return true;
    case Node::Choice: return choice(node);
    case Node::Loop: return loop(node);
    case Node::Ahead:
    case Node::Atomic: return inner(node, node.kind == Node::Ahead);
    case Node::LineStart: code.push_back(kLineStart); return true;
    case Node::LineEnd: code.push_back(kLineEnd); return true;
    case Node::Behind: return behind(node);
    case Node::TextStart: code.push_back(kTextStart); return true;
    case Node::TextEnd:
    case Node::LastLineEnd: code.insert(code.end(), {kTextEnd, node.kind == Node::LastLineEnd}); return true;
    case Node::WordEdge: code.insert(code.end(), {kWordEdge, node.negated}); return true;
    }
    return false;
  }

  Words finish() {
    code.push_back(kMatch);
    for (auto [place, index] : setPlaces) {
      const Set &set = sets[index];
      code[place] = uint32_t(code.size());
      Ranges ranges = sorted(set.ranges);
      code.push_back(set.negated);
      code.push_back(uint32_t(ranges.size()));
      for (auto [low, high] : ranges) {
        code.push_back(low);
        code.push_back(high);
      }
      code.push_back(uint32_t(set.classes.size()));
      for (const Set::Class &one : set.classes) {
        code.push_back(one.categories);
        code.push_back(one.properties);
        code.push_back(one.negated);
      }
    }
    return std::move(code);
  }

private:
  /// Emits a reference to a set; `finish` writes the sets after the code.
  void setOperand(const Set &set) {
    setPlaces.push_back({code.size(), sets.size()});
    sets.push_back(set);
    code.push_back(0);
  }

  void single(const Set &set) {
    if (!set.negated && set.classes.empty() && set.ranges.size() == 1 && set.ranges[0].first == set.ranges[0].second) {
      code.push_back(kChar);
      code.push_back(set.ranges[0].first);
      return;
    }
    code.push_back(kSet);
    setOperand(set);
  }

  /// a|b|c: a fork before every branch but the last, a jump to the end after
  /// it.
  bool choice(const Node &node) {
    std::vector<size_t> ends;
    for (size_t i = 0; i < node.children.size(); ++i) {
      bool last = i + 1 == node.children.size();
      size_t fork = code.size();
      if (!last)
        code.insert(code.end(), {kFork, uint32_t(fork + 3), 0});
      if (!emit(*node.children[i]))
        return false;
      if (last)
        break;
      ends.push_back(code.size() + 1);
      code.insert(code.end(), {kJump, 0});
      code[fork + 2] = uint32_t(code.size());
    }
    for (size_t end : ends)
      code[end] = uint32_t(code.size());
    return true;
  }

  /// Look-ahead and atomic groups: an inner program that ends in kMatch.
  bool inner(const Node &node, bool ahead) {
    code.push_back(ahead ? kAhead : kAtomic);
    if (ahead)
      code.push_back(node.negated);
    size_t end = code.size();
    code.push_back(0);
    if (!emit(*node.children[0]))
      return false;
    code.push_back(kMatch);
    code[end] = uint32_t(code.size());
    return true;
  }

  bool behind(const Node &node) {
    uint64_t fewest, most;
    node.children[0]->length(fewest, most);
    code.insert(code.end(), {kBehind, node.negated, 0, uint32_t(fewest), uint32_t(most)});
    size_t end = code.size() - 3;
    if (!emit(*node.children[0]))
      return false;
    code.push_back(kMatch);
    code[end] = uint32_t(code.size());
    return true;
  }

  /// Emits a fork that tries the body first, or with `lazy` the code past it.
  /// Returns the index of the operand that `past` still has to be written to.
  size_t fork(bool lazy) {
    size_t at = code.size();
    code.insert(code.end(), {kFork, 0, 0});
    code[at + (lazy ? 2 : 1)] = uint32_t(at + 3);
    return at + (lazy ? 1 : 2);
  }

  /// X{least,most}: the body `least` times, then a loop or up to most - least
  /// forks.
  bool loop(const Node &node) {
    const Node *body = node.children[0].get();
    while (body->kind == Node::Chain && body->children.size() == 1)
      body = body->children[0].get();
    if (body->kind == Node::One && !node.lazy) {
      code.push_back(kRepeat);
      setOperand(body->set);
      code.insert(code.end(), {node.least, node.most, node.possessive});
      return true;
    }
    size_t atomic = 0;
    if (node.possessive) {
      code.insert(code.end(), {kAtomic, 0});
      atomic = code.size() - 1;
    }
    for (uint32_t i = 0; i < node.least; ++i)
      if (!emit(*body))
        return false;
    if (node.most == kNoLimit) {
      size_t start = code.size(), past = fork(node.lazy);
      if (!emit(*body))
        return false;
      code.insert(code.end(), {kJump, uint32_t(start)});
      code[past] = uint32_t(code.size());
    } else {
      std::vector<size_t> places;
      for (uint32_t i = node.least; i < node.most; ++i) {
        places.push_back(fork(node.lazy));
        if (!emit(*body))
          return false;
      }
      for (size_t place : places)
        code[place] = uint32_t(code.size());
    }
    if (node.possessive) {
      code.push_back(kMatch);
      code[atomic] = uint32_t(code.size());
    }
    return true;
  }

  Words code;
  std::vector<Set> sets;
  std::vector<std::pair<size_t, size_t>> setPlaces;
};

} // namespace

bool compilePattern(const std::string &pattern, Words &words, std::string &error) {
  std::string why;
  std::unique_ptr<Node> tree = parsePattern(pattern, why);
  Emitter emitter;
  if (!tree || !emitter.emit(*tree)) {
    error = "pattern `" + pattern + "`: " + (tree ? "too large" : why);
    return false;
  }
  Words program = emitter.finish();
  words.insert(words.end(), program.begin(), program.end());
  return true;
}

std::string escapePattern(const std::string &text) {
  std::string out;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 static_cast<unsigned char>(c) >= 0x80;
    if (!plain && static_cast<unsigned char>(c) > 0x20)
      out += '\\';
    out += c;
  }
  return out;
}

} // namespace heddle::tok
