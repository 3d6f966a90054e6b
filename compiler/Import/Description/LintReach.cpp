// Finds which calls a body can reach, through blocks too, and on which names its outputs depend. Names are taken as
// written, whatever the constants are: both branches of an `if` count.
#include "compiler/Import/Description/Lint.h"
#include "compiler/Import/Json/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

/// The block that `experts` expands, if it is named by a plain string.
static StringRef expertBlock(const CallSpec &call) {
  const AttrSpec *block = call.op && call.name == "experts" ? call.attribute("block") : nullptr;
  return block && block->value->isString() ? StringRef(block->value->string) : StringRef();
}

/// Reports blocks that call themselves, directly or not; false if there are any.
bool Lint::checkRecursion() {
  // Depth first over blocks; a block that is being expanded is grey.
  std::map<StringRef, int> colour;
  bool good = true;
  std::function<void(const BlockSpec &)> visit = [&](const BlockSpec &b) {
    colour[b.name] = 1;
    forEachStatement(b.body, [&](const Statement &s) {
      if (!s.call)
        return;
      for (const BlockSpec *next : {s.call->block, doc.block(expertBlock(*s.call))}) {
        if (!next)
          continue;
        if (colour[next->name] == 1) {
          sink.error(Error::Circle, s.call->loc, s.call->json->path(),
                     "the block " + quote(next->name) + " ends up calling itself");
          good = false;
        } else if (colour[next->name] == 0) {
          visit(*next);
        }
      }
    });
    colour[b.name] = 2;
  };
  for (auto &[name, block] : doc.blocks)
    if (colour[block.name] == 0)
      visit(block);
  return good;
}

/// Adds a call and those of the block that it calls. `expanded` are the blocks whose calls are in `out` already.
void Lint::reachCall(const CallSpec &call, Names &expanded, std::vector<Reached> &out) {
  out.push_back({call.name, &call});
  StringRef expert = expertBlock(call);
  if (doc.block(expert))
    out.push_back({expert, nullptr});
  for (const BlockSpec *b : {call.block, doc.block(expert)})
    if (b)
      if (expanded.insert(b->name).second)
        reach(b->body, expanded, out);
}

void Lint::reach(const std::vector<Statement> &body, Names &expanded, std::vector<Reached> &out) {
  forEachStatement(body, [&](const Statement &s) {
    if (s.call)
      reachCall(*s.call, expanded, out);
  });
}

/// Whether a block reads weights; remembered for each.
bool Lint::readsWeights(const BlockSpec *b) {
  if (!b)
    return false;
  auto [it, isNew] = weightReaders.try_emplace(b->name, false);
  if (isNew)
    weightReaders[b->name] = readsWeights(b->body);
  return weightReaders[b->name];
}

bool Lint::readsWeights(const std::vector<Statement> &body) {
  bool reads = false;
  forEachStatement(body, [&](const Statement &s) {
    if (s.call && !reads)
      reads = (s.call->op && s.call->op->readsWeights()) || readsWeights(s.call->block) ||
              readsWeights(doc.block(expertBlock(*s.call)));
  });
  return reads;
}

//===--- names ----------------------------------------------------------------===//

/// The names in the {expressions} of a text.
void Lint::refersIn(const std::string &text, Loc loc, Names &out) {
  for (auto [begin, end] : bracesIn(text))
    namesIn(expressions.ofPart(text, loc, begin, end), [&](StringRef n, Loc) { out.insert(n.split('.').first.str()); });
}

/// True for an expression that lacks its `=`: a plain string that is more than a name.
static bool lacksItsSign(StringRef text) { return text.find_first_of("()+-*/<>?:[] ") != StringRef::npos; }

/// The names that a value depends on; where an operand is expected a plain string is a name.
void Lint::refers(const JsonValue *v, Names &out, bool operand) {
  if (!v)
    return;
  if (v->isExpression()) {
    namesIn(expressions.ofValue(*v), [&](StringRef n, Loc) { out.insert(n.split('.').first.str()); });
  } else if (v->isString()) {
    refersIn(v->string, v->loc, out);
    if (operand)
      out.insert(starred(v->string));
    if (operand && lacksItsSign(v->string))
      wordsIn(v->string, [&](StringRef word) { out.insert(word.str()); });
  }
  for (const JsonMember &m : v->members)
    refers(&m.value, out);
  for (const JsonValue &x : v->items)
    refers(&x, out, operand);
}

/// The names that a call depends on, by its operands and attributes.
void Lint::refersOf(const CallSpec &call, Names &out) {
  for (const JsonValue *v : call.operands)
    refers(v, out, /*operand=*/true);
  for (const AttrSpec &a : call.attributes) {
    refers(a.value, out);
    // What lacks its `=` is refused where the attribute is read; the value that was meant is not unread as well.
    bool isName = a.name == "weights" || a.name == "weight" || (a.name == "bias" && call.op && call.op->readsWeights());
    if (!isName && a.value->isString() && !a.value->isExpression())
      wordsIn(a.value->string, [&](StringRef word) { out.insert(word.str()); });
  }
}

/// Follows dependencies backwards from `roots` (outputs, or a block's results; conditions and counts count too) and
/// reports every bound value that is not reached. Returns all names that were. Linear in the names, except for
/// patterns.
Lint::Names Lint::unread(const std::vector<Statement> &body, Names roots) {
  struct Bound {
    Names needs;
    Loc loc;
    std::string path;
    std::string spelled;
  };
  std::map<std::string, Bound> bound;
  forEachStatement(body, [&](const Statement &s) {
    for (const JsonValue *v : {s.condition, s.count, s.weights, s.defaults})
      refers(v, roots);
    if (s.kind != Statement::Kind::Bind)
      return;
    Names used;
    if (s.call)
      refersOf(*s.call, used);
    else
      refers(s.expression, used);
    if (!s.names.empty())
      refersIn(*s.names[0].whole, s.names[0].wholeLoc, roots);
    for (const NameSpec &n : s.names) {
      if (n.text == "_")
        continue;
      auto [it, isNew] = bound.try_emplace(starred(n.text));
      if (isNew) {
        it->second.loc = n.loc;
        it->second.path = s.json->path();
        it->second.spelled = n.text;
      }
      it->second.needs.insert(used.begin(), used.end());
    }
  });

  roots.insert(torn.begin(), torn.end());
  Names seen = roots;
  std::vector<std::string> todo(roots.begin(), roots.end());
  auto follow = [&](const std::string &key, const Bound &b) {
    for (const std::string &n : b.needs)
      if (seen.insert(n).second)
        todo.push_back(n);
    seen.insert(key);
  };
  std::set<std::string> followed;
  while (!todo.empty()) {
    std::string name = std::move(todo.back());
    todo.pop_back();
    // Only patterns have to look at every name.
    if (StringRef(name).contains('*')) {
      for (auto &[key, b] : bound)
        if (matches(key, name) && followed.insert(key).second)
          follow(key, b);
      continue;
    }
    if (auto it = bound.find(name); it != bound.end() && followed.insert(name).second)
      follow(it->first, it->second);
    for (auto &[key, b] : bound)
      if (StringRef(key).contains('*') && matches(key, name) && followed.insert(key).second)
        follow(key, b);
  }
  for (auto &[key, b] : bound)
    if (!followed.count(key))
      sink.error(Error::NoEffect, b.loc, b.path, "the value " + quote(b.spelled) + " reaches no output");
  return seen;
}
