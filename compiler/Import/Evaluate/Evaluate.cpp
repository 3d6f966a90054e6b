// Evaluates expressions and JSON values: looks names up, walks the tree, and hands operators and functions with their
// evaluated operands to Arithmetic. Also {expressions} inside of names.
#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Description/OpTable.h"
#include "compiler/Import/Evaluate/Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

Value Evaluator::literal(const JsonValue &v) {
  switch (v.kind) {
  case JsonValue::Kind::Null: return Value::null();
  case JsonValue::Kind::Bool: return Value::boolean(v.boolean);
  case JsonValue::Kind::Integer: return Value::integer(v.integer);
  case JsonValue::Kind::HugeInteger:
    in.error(Error::BadArithmetic, {v.loc, &v}, "the integer " + escaped(v.string) + " does not fit 64 bits");
    return Value::poison();
  case JsonValue::Kind::Real: return Value::real(v.real);
  case JsonValue::Kind::String: return Value::string(v.string);
  case JsonValue::Kind::Array: {
    std::vector<Value> items;
    for (const JsonValue &x : v.items)
      items.push_back(literal(x));
    return Value::list(std::move(items));
  }
  case JsonValue::Kind::Object: {
    Value::Members members;
    for (const JsonMember &m : v.members)
      members.push_back({m.key, literal(m.value)});
    return Value::object(std::move(members));
  }
  }
  return Value::poison();
}

Value Evaluator::caught(Value v, At at) {
  if (!v.is(K::Absent))
    return v;
  in.error(Error::AbsentValue, at, quote(v.asString()) + " is absent and there is no default (write ?? DEFAULT)");
  return Value::poison();
}

Value Evaluator::value(const JsonValue &v, const Scope &scope) {
  if (v.isExpression())
    return caught(evaluate(expressions.ofValue(v), scope, &v), {v.loc, &v});
  if (v.isArray()) {
    std::vector<Value> items;
    for (const JsonValue &x : v.items) {
      items.push_back(value(x, scope));
      if (items.back().isBad())
        return Value::poison();
    }
    return Value::list(std::move(items));
  }
  if (v.isObject()) {
    Value::Members members;
    for (const JsonMember &m : v.members) {
      members.push_back({m.key, value(m.value, scope)});
      if (members.back().second.isBad())
        return Value::poison();
    }
    return Value::object(std::move(members));
  }
  return literal(v);
}

/// An operand of a call: a plain string is the name of a value (it may contain {expressions}), not a text.
Value Evaluator::operand(const JsonValue &v, const Scope &scope) {
  if (!v.isString() || v.isExpression())
    return value(v, scope);
  std::optional<std::string> name = fill(v, scope);
  if (!name)
    return Value::poison();
  if (const Value *found = scope.env->find(*name))
    return *found;
  if (scope.kind != Scope::Kind::Block)
    if (const Value *found = constants.find(*name))
      return *found;
  std::string meant = meantExpression(*name, scope);
  in.error(Error::UnknownName, {v.loc, &v},
           "unknown value " + quote(*name) + (meant.empty() ? nearest(*name, scope.env->names()) : meant));
  return Value::poison();
}

std::string Evaluator::meantExpression(StringRef text, const Scope &scope) const {
  static constexpr StringRef kWords[] = {"and", "or", "not", "in", "true", "false", "null"};
  bool names = false, known = true;
  wordsIn(text, [&](StringRef word) {
    bool isKnown = scope.env->find(word) || (scope.kind == Scope::Kind::Body && constants.find(word)) ||
                   dims.count(word.str()) || isNamedMask(word) || findFunction(word);
    names |= isKnown;
    known &= isKnown || llvm::isDigit(word.front()) || llvm::is_contained(kWords, word);
  });
  return names && known ? "; did you mean " + quote(("=" + text).str()) + "?" : "";
}

/// The value of a name. A scope of constants (Config) sees the constants before it and, in a family, the keys of
/// config.json; a body sees its own values, then constants, dims and the masks that are names; a block sees no
/// constants.
Value Evaluator::lookup(StringRef name, At at, const Scope &scope) {
  if (const Value *v = scope.env->find(name))
    return *v;
  if (scope.kind == Scope::Kind::Config) {
    if (configFile) {
      if (const JsonValue *v = configFile->find(name); v && !v->isNull())
        return literal(*v);
      return configFile->nullMember(name) ? ofNull(name) : Value::absent(name.str());
    }
    in.error(Error::UnknownName, at, "unknown name " + quote(name) + nearest(name, scope.env->names()));
    return Value::poison();
  }
  if (scope.kind == Scope::Kind::Body)
    if (const Value *v = constants.find(name))
      return *v;
  if (auto it = dims.find(std::string_view(name)); it != dims.end())
    return it->second;
  if (isNamedMask(name))
    return arithmetic.namedMask(name, at);
  std::vector<std::string> known = scope.env->names();
  if (scope.kind == Scope::Kind::Body)
    llvm::append_range(known, constants.names());
  for (auto &d : dims)
    known.push_back(d.first);
  known.insert(known.end(), {"causal", "all"});
  in.error(
      Error::UnknownName, at,
      "unknown name " + quote(name) +
          (name == "i" ? "; the index of a repeat is 'i' unless its key 'index' names another" : nearest(name, known)));
  return Value::poison();
}

std::optional<std::string> Evaluator::fill(const std::string &whole, Loc loc, size_t begin, size_t end,
                                           const Scope &scope, const JsonValue *context) {
  StringRef text = StringRef(whole).slice(begin, end);
  std::string out;
  size_t at = 0;
  for (auto [first, last] : bracesIn(text)) {
    out += text.slice(at, first - 1);
    at = last + 1;
    const Expr *e = expressions.ofPart(whole, loc, begin + first, begin + last, context);
    if (!e)
      return std::nullopt;
    Value v = caught(evaluate(e, scope, context), {e->loc, context});
    if (v.is(K::Integer)) {
      out += std::to_string(v.asInteger());
    } else if (v.is(K::String)) {
      out += v.asString();
    } else {
      if (!v.isBad())
        in.error(Error::WrongValue, {e->loc, context}, "a name or an integer expected, found " + Twine(v.show()));
      return std::nullopt;
    }
  }
  return out + text.drop_front(at).str();
}

std::optional<std::string> Evaluator::fill(const JsonValue &text, const Scope &scope) {
  return fill(text.string, text.loc, 0, text.string.size(), scope, &text);
}

//===--- the tree -------------------------------------------------------------===//

/// "a.b.c" where that is all the expression says and `a` is no constant; else empty.
static std::string chainOf(const Expr *e, const Environment &constants) {
  if (e->kind == Expr::Kind::Name)
    return constants.find(e->text) ? "" : std::string(e->text);
  if (e->kind != Expr::Kind::Member)
    return "";
  std::string base = chainOf(e->args[0], constants);
  return base.empty() ? base : base + "." + std::string(e->text);
}

/// The family says what null of the key means, or `??` judges it by its default.
Value Evaluator::ofNull(StringRef key) {
  const JsonValue *meaning = configFile->meaningOfNull(key);
  if (!meaning || (meaning->isArray() && meaning->items.empty()) || !nullKeys.insert(key.str()).second)
    return Value::absent(key.str(), /*isNullKey=*/true);
  Value v = meaning->isExpression() ? evaluate(expressions.ofValue(*meaning), configScope, meaning) : literal(*meaning);
  nullKeys.erase(key.str());
  return v.isNull() ? Value::null(/*stays=*/true) : v;
}

/// The right side where the left is null or absent. A key of config.json that is null reaches a published class as
/// None, past the class's default. So the default says what null is: of a key that a class computes from others, or
/// that is None or empty, the same as absence; of a switch, false; of a number or a text, nothing that a class can work
/// with.
Value Evaluator::coalesce(const Expr *e, const Scope &scope, const JsonValue *context, std::string nullKey) {
  Value left = evaluate(e->args[0], scope, context);
  if (left.nullStays())
    return Value::null();
  if (!left.is(K::Absent) && !left.isNull())
    return left;
  if (left.isNullKey() && nullKey.empty())
    nullKey = left.asString();
  const Expr *right = e->args[1];
  if (right->kind == Expr::Kind::Coalesce)
    return coalesce(right, scope, context, std::move(nullKey));
  Value v = evaluate(right, scope, context);
  bool computed = false;
  namesIn(right, [&](StringRef, Loc) { computed = true; });
  bool empty = v.isNull() || (v.is(K::List) && v.asList().empty()) || (v.is(K::String) && v.asString().empty());
  if (nullKey.empty() || v.isBad() || computed || empty || configFile->meaningOfNull(nullKey))
    return v;
  if (v.is(K::Bool))
    return Value::boolean(false);
  const JsonMember *null = configFile->nullMember(nullKey);
  in.error(Error::ConfigValue, {null->value.loc, nullptr},
           "expected " + Twine(v.describe()) + " (" + v.show() + " where the key is left out), got null" +
               configFile->orIgnore(nullKey))
      .path = "config.json." + nullKey;
  return Value::poison();
}

/// Evaluates a tree. Poison in any part makes the whole poison; Absent (a key that config.json lacks) travels up to the
/// nearest `??`. `context` is the JSON value that the expression is in, for the paths of messages.
Value Evaluator::evaluate(const Expr *e, const Scope &scope, const JsonValue *context) {
  if (!e) // did not parse, and was complained about
    return Value::poison();
  At at{e->loc, context};
  switch (e->kind) {
  case Expr::Kind::Null: return Value::null();
  case Expr::Kind::Bool: return Value::boolean(e->integer);
  case Expr::Kind::Integer: return Value::integer(e->integer);
  case Expr::Kind::Real: return Value::real(e->real);
  case Expr::Kind::String: return Value::string(e->text);
  case Expr::Kind::Name: return lookup(e->text, at, scope);
  case Expr::Kind::List: {
    std::vector<Value> items;
    Value bad = Value::null();
    for (const Expr *a : e->args) {
      items.push_back(evaluate(a, scope, context));
      if (items.back().isBad() && !bad.is(K::Poison))
        bad = items.back();
    }
    return bad.isBad() ? bad : Value::list(std::move(items));
  }
  case Expr::Kind::Negate: return arithmetic.negate(evaluate(e->args[0], scope, context), at);
  case Expr::Kind::Not: return arithmetic.logicalNot(evaluate(e->args[0], scope, context), at);
  case Expr::Kind::Coalesce: return coalesce(e, scope, context);
  case Expr::Kind::Conditional: return conditional(e, scope, context);
  case Expr::Kind::Call: return call(e, scope, context);
  case Expr::Kind::Member: {
    // A key inside an object of config.json may have another spelling as a whole.
    if (configFile && scope.kind == Scope::Kind::Config)
      if (std::string chain = chainOf(e, *scope.env); !chain.empty()) {
        if (const JsonValue *v = configFile->find(chain); v && !v->isNull())
          return literal(*v);
        if (configFile->nullMember(chain))
          return ofNull(chain);
      }
    Value base = evaluate(e->args[0], scope, context);
    if (base.isNullKey())
      return Value::absent(e->text);
    if (base.isBad())
      return base;
    if (base.isNull())
      return Value::absent(e->text);
    if (!base.is(K::Object)) {
      in.error(Error::WrongValue, at, Twine(base.describe()) + " has no member " + quote(e->text));
      return Value::poison();
    }
    for (auto &[key, member] : base.asObject())
      if (key == e->text)
        return member.isNull() ? Value::absent(e->text) : member;
    return Value::absent(e->text);
  }
  case Expr::Kind::Index: return index(e, scope, context);
  case Expr::Kind::Binary: {
    Value a = evaluate(e->args[0], scope, context);
    // true and false decide alone what the right side need not say.
    if ((e->text == "and" || e->text == "or") && a.is(K::Bool)) {
      if (a.asBool() == (e->text == "or"))
        return a;
      Value b = evaluate(e->args[1], scope, context);
      if (b.isBad() || b.is(K::Bool) || b.isArray() || b.is(K::Mask))
        return b;
      in.error(Error::WrongValue, {e->args[1]->loc, context}, "true or false expected, found " + Twine(b.show()));
      return Value::poison();
    }
    Value b = evaluate(e->args[1], scope, context);
    if (a.isBad() || b.isBad())
      return a.is(K::Poison) || !b.isBad() ? a : b;
    // Told here, where the tensor's own place and name are known.
    if (a.is(K::Mask) != b.is(K::Mask) && (e->text == "and" || e->text == "or") && (a.isArray() || b.isArray())) {
      const Expr *tensor = e->args[a.is(K::Mask) ? 1 : 0];
      std::string t = tensor->kind == Expr::Kind::Name ? tensor->text : "t";
      in.error(Error::MaskMix, {tensor->loc, context},
               "a mask combines only with masks, found " + Twine((a.is(K::Mask) ? b : a).show()) + "; say keys(" + t +
                   "), queries(" + t + ") or dense(" + t + ") to make it one");
      return Value::poison();
    }
    return arithmetic.binary(e->text, a, b, at);
  }
  }
  return Value::poison();
}

/// `c ? a : b`: only the branch that a constant condition chooses is evaluated, both if it is a tensor.
Value Evaluator::conditional(const Expr *e, const Scope &scope, const JsonValue *context) {
  Value c = evaluate(e->args[0], scope, context);
  if (c.isBad())
    return c;
  At at{e->args[0]->loc, context};
  if (c.is(K::Bool))
    return evaluate(e->args[c.asBool() ? 1 : 2], scope, context);
  if (!c.isArray()) {
    in.error(Error::WrongValue, at, "a condition must be true or false, found " + Twine(c.show()));
    return Value::poison();
  }
  Value yes = evaluate(e->args[1], scope, context), no = evaluate(e->args[2], scope, context);
  if (yes.isBad() || no.isBad())
    return yes.is(K::Poison) || !no.isBad() ? yes : no;
  return arithmetic.select(c, yes, no, {e->loc, context});
}

/// A function with its arguments. All arguments are evaluated first, so that each one's errors are told, then the name
/// and the number of arguments are checked.
Value Evaluator::call(const Expr *e, const Scope &scope, const JsonValue *context) {
  At at{e->loc, context};
  StringRef name = e->text;
  const FunctionInfo *f = findFunction(name);
  std::vector<Value> args;
  for (const Expr *a : e->args)
    args.push_back(evaluate(a, scope, context));
  if (!f) {
    std::vector<StringRef> known;
    for (const FunctionInfo &g : allFunctions())
      known.push_back(g.name);
    in.error(Error::UnknownName, at, "unknown function " + quote(name) + nearest(name, known));
    return Value::poison();
  }
  int n = args.size();
  if (n < f->least || (f->most >= 0 && n > f->most)) {
    in.error(Error::WrongCount, at,
             name + " takes " + Twine(f->least) +
                 (f->most < 0          ? Twine(" or more")
                  : f->most > f->least ? " to " + Twine(f->most)
                                       : Twine("")) +
                 " arguments, found " + Twine(n));
    return Value::poison();
  }
  // The name of an activation is checked even where its operand went wrong.
  if (name == "activation" && args[1].is(K::String) && canonicalActivation(args[1].asString()).empty()) {
    in.error(Error::UnknownName, {e->args[1]->loc, context},
             "unknown activation " + quote(args[1].asString()) + nearest(args[1].asString(), activationNames()));
    return Value::poison();
  }
  for (const Value &v : args)
    if (v.is(K::Poison))
      return v;
  for (const Value &v : args)
    if (v.is(K::Absent))
      return v;
  if (name == "activation" && !args[1].is(K::String)) {
    in.error(Error::WrongValue, {e->args[1]->loc, context},
             "the name of an activation expected, found " + Twine(args[1].show()));
    return Value::poison();
  }
  return arithmetic.function(*f, args, at);
}

/// x[..]: evaluates the subscripts. `null` as a subscript is a new axis, an open end of a slice is null too.
Value Evaluator::index(const Expr *e, const Scope &scope, const JsonValue *context) {
  Value v = evaluate(e->args[0], scope, context);
  llvm::SmallVector<Sub, 4> subs;
  Value bad = v;
  for (const Expr::Subscript &s : e->subscripts) {
    Value first = s.first ? evaluate(s.first, scope, context) : Value::null();
    Value last = s.last ? evaluate(s.last, scope, context) : Value::null();
    for (const Value *x : {&first, &last})
      if (x->isBad() && !bad.is(K::Poison))
        bad = *x;
    Sub::Kind kind = s.slice ? Sub::Kind::Slice : first.isNull() ? Sub::Kind::Axis : Sub::Kind::Index;
    subs.push_back({kind, first, last, {s.first ? s.first->loc : e->loc, context}});
  }
  if (bad.isBad())
    return bad;
  return arithmetic.subscript(v, subs, {e->loc, context});
}
