// Runs statements in order: bindings, groups and repeats. A value that went wrong is bound to poison, so that
// statements that use it say nothing.
#include "compiler/Import/Evaluate/EmitTemplates.h"
#include "compiler/Import/Ops/BodyRunner.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

// The most iterations of a repeat; a larger count is a mistake.
static constexpr int64_t mostTurns = 10000;

/// A weight's name within a scope: "h.0" and "attn" give "h.0.attn"; "/wte" begins anew. A '|' in the scope says where
/// the part begins that a block asked for (WeightNames.h).
std::string heddle::joinName(StringRef scope, StringRef name) {
  if (name.starts_with("/"))
    return name.drop_front().str();
  if (scope.empty() || name.empty())
    return (scope + name).str();
  return (scope + (scope.ends_with("|") ? "" : ".") + name).str();
}

/// The scope of weights inside of a group or repeat: its `weights` joined to the one in force; none after an error.
std::optional<std::string> BodyRunner::into(const std::string &weights, const Statement &s, const Scope &scope) {
  if (!s.weights)
    return weights;
  std::optional<std::string> filled = evaluator.fill(*s.weights, scope);
  return filled ? std::optional(joinName(weights, *filled)) : std::nullopt;
}

/// "; did you mean '=layers'?" for a string in the place of a constant.
std::string BodyRunner::orExpression(const Value &v, const Scope &scope) const {
  return v.is(K::String) ? evaluator.meantExpression(v.asString(), scope) : "";
}

void BodyRunner::run(const std::vector<Statement> &body, const Scope &scope, const std::string &weights) {
  for (const Statement &s : body) {
    if (in.exhausted() || !in.spend({s.json->loc, s.json}))
      return;
    runStatement(s, scope, weights);
  }
}

/// Binds every name that a statement would have bound to poison, so that later statements do not report missing names.
static void poisonNames(const std::vector<Statement> &body, Environment &env) {
  forEachStatement(body, [&](const Statement &s) {
    for (const NameSpec &n : s.names)
      if (n.text != "_" && !StringRef(n.text).contains('{'))
        env.bind(n.text, Value::poison());
  });
}

/// Runs statements under the `weights` of the group or repeat around them; if those are wrong, their names are poison:
/// the weights would all be missing.
bool BodyRunner::runInside(const std::vector<Statement> &body, const Statement &s, const Scope &scope,
                           const std::string &weights) {
  std::optional<std::string> inside = into(weights, s, scope);
  if (inside)
    run(body, scope, *inside);
  else
    poisonNames(body, *scope.env);
  return inside.has_value();
}

/// Decides the statement's `if`, which must be a constant, and runs the statement, its `else`, or nothing.
void BodyRunner::runStatement(const Statement &s, const Scope &scope, const std::string &weights) {
  // Defaults of a group hold in both of its branches, and may use names of its condition.
  bool pushed = s.defaults && s.kind != Statement::Kind::Bind;
  if (pushed)
    pushDefaults(*s.defaults, scope);
  bool runs = true;
  if (s.condition) {
    Value c = evaluator.value(*s.condition, scope);
    if (!c.is(K::Bool)) {
      if (!c.isBad())
        in.error(Error::WrongValue, session.places.of(*s.condition),
                 "true or false expected, decided at import; found " + c.show() + orExpression(c, scope));
      for (const NameSpec &n : s.names)
        if (n.text != "_" && !StringRef(n.text).contains('{'))
          scope.env->bind(n.text, Value::poison());
      poisonNames(s.body, *scope.env);
      poisonNames(s.otherwise, *scope.env);
      runs = false;
    } else if (!c.asBool()) {
      if (!s.otherwise.empty())
        runInside(s.otherwise, s, scope, weights);
      runs = false;
    }
  }
  if (runs) {
    if (s.kind == Statement::Kind::Bind)
      runBinding(s, scope, weights);
    else if (s.kind == Statement::Kind::Repeat)
      runRepeat(s, scope, weights);
    else
      runInside(s.body, s, scope, weights);
  }
  if (pushed)
    popDefaults();
}

/// Evaluates the call or expression and binds its results to the names, which may contain {expressions}.
void BodyRunner::runBinding(const Statement &s, const Scope &scope, const std::string &weights) {
  std::vector<Value> got;
  if (s.call) {
    got = runCall(*s.call, scope, weights);
  } else {
    Value v = s.expression ? evaluator.value(*s.expression, scope) : Value::poison();
    got.assign(s.names.size(), v);
  }
  bool wrong = got.empty() || llvm::any_of(got, [](const Value &v) { return v.isBad(); });
  if (!wrong && got.size() != s.names.size()) {
    in.error(Error::WrongCount, {s.names.empty() ? s.json->loc : s.names[0].loc, s.json},
             Twine(s.names.size()) + " names for " + Twine(got.size()) + " results");
    wrong = true;
  }
  std::vector<std::string> bound(s.names.size());
  for (auto [i, n] : llvm::enumerate(s.names)) {
    if (n.text == "_")
      continue;
    std::optional<std::string> name =
        evaluator.fill(*n.whole, n.wholeLoc, n.begin, n.begin + n.text.size(), scope, s.json);
    if (!name)
      continue;
    if (scope.kind == Scope::Kind::Body && evaluator.constants.find(*name)) {
      in.error(Error::NameTaken, {n.loc, s.json}, quote(*name) + " is a constant of the config and cannot be bound");
      scope.env->bind(*name, Value::poison()); // what follows means the value, not the constant
      continue;
    }
    Value value = i < got.size() ? got[i] : Value::poison();
    if (value.is(Value::Kind::Constant)) { // it has no op yet that could have the name
      ConstantTensor named = value.asConstant();
      named.name = *name;
      value = Value::constant(std::move(named));
    }
    scope.env->bind(*name, std::move(value));
    bound[i] = std::move(*name);
  }
  in.name(bound, got);
}

/// Writes every iteration out, with the index bound, between markers by which Roll.cpp finds them again.
void BodyRunner::runRepeat(const Statement &s, const Scope &scope, const std::string &weights) {
  Value n = evaluator.value(*s.count, scope);
  if (!n.is(K::Integer) || n.asInteger() < 0 || n.asInteger() > mostTurns) {
    if (!n.isBad())
      in.error(Error::OutOfRange, session.places.of(*s.count),
               "repeat: a constant from 0 to " + Twine(mostTurns) + " expected, found " + n.show() +
                   orExpression(n, scope));
    poisonNames(s.body, *scope.env);
    return;
  }
  // Inner repeats are recorded, and later rolled, before those around them.
  Unrolled repeat{{}, in.location({s.json->loc, s.json}), s.index};
  for (int64_t i = 0; i < n.asInteger() && !in.exhausted(); ++i) {
    repeat.markers.push_back(markIteration(in, {s.json->loc, s.json}));
    scope.env->bind(s.index, Value::integer(i));
    if (!runInside(s.body, s, scope, weights))
      break;
  }
  repeat.markers.push_back(markIteration(in, {s.json->loc, s.json}));
  unrolled.push_back(std::move(repeat));
}
