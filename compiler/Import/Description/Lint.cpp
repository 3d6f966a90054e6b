// Checks calls against what blocks accept, and finds what has no effect: defaults that no call takes, blocks that
// nothing calls, inputs and constants that nothing reads, outputs and roles that name nothing.
#include "compiler/Import/Description/Lint.h"

#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

/// Runs the checks in an order in which each knows what those before it need. First come the words that are in
/// refused parts of the file (`torn`) and the names those may have meant: nothing is said of them.
bool Lint::run() {
  if (!checkRecursion())
    return false;
  torn = doc.torn;
  for (const std::string &text : expressions.broken())
    wordsIn(text, [&](StringRef w) { torn.insert(w.str()); });
  // What was misspelt may have been to be an op or a block.
  std::vector<std::string> callable = doc.callable();
  std::vector<StringRef> known(callable.begin(), callable.end());
  for (const std::string &word : Names(torn))
    if (word.size() > 2 && torn.size() < 1000)
      if (std::string meant = nearestOf(word, known); !meant.empty())
        torn.insert(std::move(meant));
  // The library's own blocks are ours to get right; a test does.
  for (auto &[name, b] : doc.blocks) {
    if (b.isLibrary)
      continue;
    checkBody(b.body);
    unread(b.body, Names(b.results.begin(), b.results.end()));
  }
  checkBody(doc.body);

  // What the body calls, and what defaults of inputs call next to it.
  std::vector<Reached> inBody, everywhere;
  Names expanded;
  reach(doc.body, expanded, inBody);
  everywhere = inBody;
  for (const InputSpec &in : doc.inputs)
    if (in.fallbackCall) {
      checkCall(*in.fallbackCall);
      reachCall(*in.fallbackCall, expanded, everywhere);
    }
  checkDefaults(doc.defaults, inBody);
  for (auto &[name, b] : doc.blocks)
    if (!b.isLibrary && !torn.count(b.name) &&
        llvm::none_of(everywhere, [&b = b](const Reached &r) { return r.name == b.name && !(r.call && r.call->op); }))
      sink.error(Error::NoEffect, b.loc, "$.blocks." + b.name, quote(b.name) + ": nothing calls this block");

  checkOutputsAndInputs(everywhere);
  checkRoles();
  checkWeights(everywhere);
  checkConstants();
  checkShadows();
  return true;
}

bool Lint::isTorn(const std::vector<Statement> &body) {
  bool any = false;
  forEachStatement(body,
                   [&](const Statement &s) { any |= s.kind == Statement::Kind::Bind && !s.call && !s.expression; });
  return any;
}

/// Calls, and the `weights` and `defaults` of groups and repeats.
void Lint::checkBody(const std::vector<Statement> &body) {
  forEachStatement(body, [&](const Statement &s) {
    if (s.call)
      checkCall(*s.call);
    if (s.kind == Statement::Kind::Bind)
      return;
    if (s.weights && !isTorn(s.body) && !isTorn(s.otherwise) && !readsWeights(s.body) && !readsWeights(s.otherwise))
      sink.error(Error::NoEffect, s.weights->loc, s.weights->path(), "nothing inside reads weights");
    if (s.defaults) {
      std::vector<Reached> calls;
      Names expanded;
      reach(s.body, expanded, calls);
      reach(s.otherwise, expanded, calls);
      checkDefaults(s.defaults, calls);
    }
  });
}

/// A call of a block: `weights` only where it reads some, and every required attribute.
void Lint::checkCall(const CallSpec &call) {
  if (!call.block)
    return;
  if (const AttrSpec *w = call.attribute("weights");
      w && !call.block->parameter("weights") && !readsWeights(call.block))
    sink.error(Error::UnknownAttribute, w->loc, call.json->path(), Twine(call.name) + " reads no weights");
  // A required attribute that neither the call nor any defaults could give.
  for (const BlockParameter &p : call.block->parameters) {
    const AttrSpec *given = call.attribute(p.name);
    bool inDefaults = false;
    auto look = [&](const JsonValue *defaults) {
      const JsonValue *d = defaults ? defaults->find(call.name) : nullptr;
      inDefaults |= d && d->find(p.name);
    };
    look(doc.defaults);
    forEachStatement(doc.body, [&](const Statement &s) { look(s.defaults); });
    if (p.required && (!given || given->value->isNull()) && !inDefaults)
      sink.error(Error::MissingAttribute, call.loc, call.json->path(),
                 Twine(call.name) + " needs the attribute " + quote(p.name));
  }
}

/// Reports each default that every call in reach overrides, or that no call could take.
void Lint::checkDefaults(const JsonValue *defaults, const std::vector<Reached> &calls) {
  if (!defaults)
    return;
  for (const JsonMember &op : defaults->members)
    for (const JsonMember &a : op.value.members) {
      bool taken = llvm::any_of(calls, [&](const Reached &r) {
        if (r.name != op.key || (r.call && r.call->op && doc.block(op.key)))
          return false;
        const AttrSpec *given = r.call ? r.call->attribute(a.key) : nullptr;
        return !given || given->value->isExpression() || given->value->isNull();
      });
      if (!taken && !torn.count(op.key) && (findOp(op.key) || doc.block(op.key)))
        sink.error(Error::NoEffect, a.keyLoc, op.value.path() + "." + a.key, "no call in reach takes this default");
    }
}

/// A name that is asked for and nowhere bound is an error where it is evaluated; what it is nearest to is then no
/// second one for being unread.
void Lint::suspectMisspelt(const std::vector<std::string> &bound) {
  std::vector<StringRef> known(bound.begin(), bound.end());
  if (doc.config)
    for (const JsonMember &m : doc.config->members)
      known.push_back(m.key);
  Names asked, there(known.begin(), known.end());
  forEachStatement(doc.body, [&](const Statement &s) {
    for (const JsonValue *v : {s.condition, s.count, s.weights, s.expression})
      refers(v, asked);
    if (s.call)
      refersOf(*s.call, asked);
    there.insert(s.index);
  });
  for (const InputSpec &in : doc.inputs) {
    refers(in.fallbackCall ? nullptr : in.fallback, asked);
    if (in.fallbackCall)
      refersOf(*in.fallbackCall, asked);
  }
  for (const std::string &name : asked)
    if (name.size() > 2 && !there.count(name) && !isNamedMask(name))
      if (std::string meant = nearestOf(name, known); !meant.empty())
        torn.insert(std::move(meant));
}

//===--- what is handed out and what is read ----------------------------------===//

/// Every output is bound by some statement; every value and every input leads to an output; every dim of `dims` is an
/// axis of an input. Names with {expressions} are compared as patterns with '*'.
void Lint::checkOutputsAndInputs(const std::vector<Reached> &calls) {
  std::vector<std::string> bound;
  forEachStatement(doc.body, [&](const Statement &s) {
    for (const NameSpec &n : s.names)
      if (n.text != "_")
        bound.push_back(starred(n.text));
  });
  for (const InputSpec &in : doc.inputs)
    bound.push_back(in.name);

  suspectMisspelt(bound);
  Names roots;
  bool allNamed = doc.outputs && !doc.outputs->items.empty();
  if (doc.outputs)
    for (const JsonValue &o : doc.outputs->items) {
      if (!o.isString()) {
        allNamed = false;
        continue;
      }
      roots.insert(o.string);
      if (!torn.count(o.string) && llvm::none_of(bound, [&](const std::string &b) { return matches(o.string, b); })) {
        sink.error(Error::UnknownName, o.loc, o.path(), "nothing binds " + quote(o.string) + nearest(o.string, bound));
        allNamed = false;
      }
    }
  // Where an output is not known, any value may be what it was to be.
  if (!allNamed)
    roots.insert(bound.begin(), bound.end());
  outputsKnown = allNamed;
  Names seen = unread(doc.body, roots);

  Names axes; // what the types of inputs mention
  for (const InputSpec &in : doc.inputs) {
    refers(in.fallbackCall ? nullptr : in.fallback, seen);
    if (in.fallbackCall)
      refersOf(*in.fallbackCall, seen);
    refers(in.condition, seen);
    refers(in.repeat, seen);
    if (in.type)
      wordsIn(in.type->string, [&](StringRef w) { axes.insert(w.str()); });
  }
  for (const InputSpec &in : doc.inputs) {
    std::string family = in.name + ".";
    bool read = doc.body.empty() || llvm::any_of(seen, [&](const std::string &n) {
                  return n == in.name || StringRef(n).starts_with(family);
                });
    if (!read)
      sink.error(Error::NoEffect, in.loc, "$.inputs." + in.name, quote(in.name) + ": nothing reads this input");
  }
  if (doc.dims)
    for (const JsonMember &m : doc.dims->members)
      if (!axes.count(m.key))
        sink.error(Error::UnknownName, m.keyLoc, "$.dims." + m.key,
                   "no input has the axis " + quote(m.key) +
                       nearest(m.key, std::vector<std::string>(axes.begin(), axes.end())));
}

/// The roles of `generate` name inputs and outputs that exist.
void Lint::checkRoles() {
  if (!doc.generate)
    return;
  std::vector<std::string> inputs, outputs;
  for (const InputSpec &in : doc.inputs)
    inputs.push_back(in.name);
  if (doc.outputs)
    for (const JsonValue &o : doc.outputs->items)
      outputs.push_back(o.string);
  auto check = [&](StringRef name, Loc loc, const Twine &path, StringRef what, const std::vector<std::string> &known) {
    // What an expression comes to is checked where it is evaluated.
    if (!name.starts_with("=") && !llvm::is_contained(known, name))
      sink.error(Error::UnknownName, loc, path, "no " + what + " " + quote(name) + nearest(name, known));
  };
  for (StringRef role : {"tokens", "mask", "positions", "source"})
    if (const JsonValue *v = doc.generate->find(role); v && v->isString())
      check(v->string, v->loc, "$.generate." + role, "input", inputs);
  if (const JsonValue *extend = doc.generate->find("extend"))
    for (const JsonMember &m : extend->members) {
      check(m.key, m.keyLoc, "$.generate.extend." + m.key, "input", inputs);
      for (StringRef role : {"tokens", "mask", "positions", "source"})
        if (const JsonValue *v = doc.generate->find(role); v && v->isString() && v->string == m.key)
          sink.error(Error::Misplaced, m.keyLoc, "$.generate.extend." + m.key,
                     quote(m.key) + " has the role `" + role +
                         "` already, which says what it becomes at a new token; `extend` is for other inputs");
    }
  if (const JsonValue *v = doc.generate->find("logits"); v && v->isString() && outputsKnown)
    check(v->string, v->loc, "$.generate.logits", "output", outputs);
}

//===--- constants ------------------------------------------------------------===//

/// Every constant is mentioned in some expression, type or pair of braces of the file, and is not bound by a statement.
void Lint::checkConstants() {
  struct Constant {
    StringRef name;
    Loc loc;
    std::string path;
  };
  std::vector<Constant> constants;
  Names declared;
  if (doc.config)
    for (const JsonMember &m : doc.config->members) {
      constants.push_back({m.key, m.keyLoc, "$.config." + m.key});
      declared.insert(m.key);
    }
  if (doc.family)
    if (const JsonValue *known = doc.family->find("architectures"))
      for (const JsonMember &a : known->members)
        for (const JsonMember &m : a.value.members)
          if (declared.insert(m.key).second)
            constants.push_back({m.key, m.keyLoc, a.value.path() + "." + m.key});

  // Every expression of the file, those in braces and in keys too. A quoted type inside
  // an expression ('i64[B,T]') and a type itself mention what their axes name.
  Names mentioned;
  auto typeWords = [&](StringRef text) {
    if (text.contains('[') && text.ends_with("]"))
      wordsIn(text, [&](StringRef w) { mentioned.insert(w.str()); });
  };
  auto inExpression = [&](const Expr *e) {
    namesIn(e, [&](StringRef n, Loc) { mentioned.insert(n.split('.').first.str()); });
    stringsIn(e, typeWords);
  };
  std::function<void(const JsonValue &)> walk = [&](const JsonValue &v) {
    if (v.isExpression())
      inExpression(expressions.ofValue(v));
    else if (v.isString()) {
      refersIn(v.string, v.loc, mentioned);
      typeWords(v.string);
    }
    for (const JsonValue &x : v.items)
      walk(x);
    for (const JsonMember &m : v.members) {
      if (m.key == "about")
        continue;
      refersIn(m.key, m.keyLoc, mentioned);
      if (m.value.isString() && !m.value.isExpression() && m.key != "weights" && m.key != "weight")
        mentioned.insert(m.value.string); // a constant that lacks its `=` is refused where it is read
      walk(m.value);
    }
  };
  walk(doc.root);

  for (const Constant &c : constants) {
    if (!doc.body.empty() && !mentioned.count(c.name) && !torn.count(c.name))
      sink.error(Error::NoEffect, c.loc, c.path, quote(c.name) + ": nothing refers to this constant");
  }
  // A value may not take a constant's name. Blocks have names of their own.
  forEachStatement(doc.body, [&](const Statement &s) {
    for (const NameSpec &n : s.names)
      if (declared.count(n.text))
        sink.error(Error::NameTaken, n.loc, s.json->path(),
                   quote(n.text) + " is a constant of the config and cannot be bound");
  });
  for (const InputSpec &in : doc.inputs)
    if (declared.count(in.name))
      sink.error(Error::NameTaken, in.loc, "$.inputs." + in.name, quote(in.name) + " is a constant of the config");
}
