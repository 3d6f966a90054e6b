//===- Parser.h - Tokens become statements ----------------------*- C++ -*-===//
//
// The grammar of Jinja as chat templates use it. Statements are a tree, as deep as tags
// nest; an expression is a list of steps in post-order, in which chains of
// operators, filters and attributes of any length need no depth. What Heddle
// refuses by name is parsed on, so that one run says all of it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TEMPLATE_PARSER_H
#define HEDDLE_COMPILER_TEMPLATE_PARSER_H

#include "compiler/Template/Lexer.h"
#include "heddle/template_format.h"

#include <unordered_map>

namespace heddle::tpl {

/// Texts by number, each once; 0 is the empty one.
class TextPool {
public:
  TextPool() { intern(""); }
  uint32_t intern(const std::string &text);
  const std::string &operator[](uint32_t number) const { return all[number]; }
  const std::vector<std::string> &list() const { return all; }

private:
  std::vector<std::string> all;
  std::unordered_map<std::string, uint32_t> numbers;
};

/// One instruction before names have slots: targets of jumps are relative to it, and kLoad has only its name. `soft`:
/// inside of an inline `if`, where an unknown name fails when it is reached.
struct Step {
  Op op;
  uint32_t a = 0, b = 0, c = 0;
  Place place;
  bool soft = false;
};
using Expression = std::vector<Step>;

/// What is assigned to: a name, an attribute of a namespace, or several of them.
struct Target {
  uint32_t name = 0, attribute = 0; ///< texts
  bool isAttribute = false, isTuple = false;
  std::vector<Target> items;
  Place place;
};

struct Statement {
  enum Kind : uint8_t { Text, Print, If, For, Set, SetBlock, With, Macro, Call, Filter, Break, Continue };
  Kind kind = Text;
  Place place;
  uint32_t text = 0;     ///< Text, and the name of a Macro
  Expression expression; ///< what is printed, tested, iterated, assigned or called; the filters of a block
  Expression condition;  ///< of For
  bool hasCondition = false, calls = true; ///< `generation` is a Call that calls nothing
  Target target;                           ///< For, Set, SetBlock
  std::vector<Target> names;               ///< With; parameters of Macro and Call
  std::vector<Expression> values;          ///< With; defaults of the last parameters
  std::vector<Statement> body, otherwise;
  std::vector<Statement> elifs; ///< each an If
};

struct Parsed {
  std::vector<Statement> body;
  TextPool texts;
  std::vector<uint64_t> numbers;
  std::vector<std::vector<uint32_t>> names; ///< lists of keywords; 0 is empty
  std::vector<Mistake> mistakes;            ///< empty: it can be compiled
};

/// Parses a normalized source.
void parse(const std::string &source, Parsed &out);

/// Why a filter, test or method (`kind`) of this name cannot be had; "" if it can.
std::string whyRefused(const std::string &kind, const std::string &name);
/// Whether there is such a filter or test, and its number.
bool findFilter(const std::string &name, uint32_t &id);
bool findTest(const std::string &name, uint32_t &id);

} // namespace heddle::tpl

#endif // HEDDLE_COMPILER_TEMPLATE_PARSER_H
