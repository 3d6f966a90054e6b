// Walking an expression: atoms, names, lists, members, ??, and what each operator is given
// to. The arithmetic itself stands in EvaluateNumbers, EvaluateTensors and EvaluateMasks.
#include "compiler/Import/Importer.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

Value Importer::literal(const JsonValue &v) {
  switch (v.kind) {
  case JsonValue::Kind::Null: return Value::null();
  case JsonValue::Kind::Bool: return Value::boolean(v.boolean);
  case JsonValue::Kind::Integer: return Value::integer(v.integer);
  case JsonValue::Kind::HugeInteger:
    in.error({v.loc, &v}, "the integer " + escaped(v.string) + " does not fit 64 bits");
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

Value Importer::caught(Value v, At at) {
  if (!v.is(K::Absent))
    return v;
  in.error(at, quote(v.asString()) + " is absent and there is no default (write ?? DEFAULT)");
  return Value::poison();
}

Value Importer::value(const JsonValue &v, const Scope &scope) {
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

Value Importer::operand(const JsonValue &v, const Scope &scope) {
  if (!v.isString() || v.isExpression())
    return value(v, scope);
  std::optional<std::string> name = fill(v, scope);
  if (!name)
    return Value::poison();
  if (const Value *found = scope.env->find(*name))
    return *found;
  if (scope.kind != Scope::Kind::Block)
    if (const Value *found = config.find(*name))
      return *found;
  in.error({v.loc, &v}, "unknown value " + quote(*name) + nearest(*name, scope.env->names()));
  return Value::poison();
}

Value Importer::lookup(StringRef name, At at, const Scope &scope) {
  if (const Value *v = scope.env->find(name))
    return *v;
  if (scope.kind == Scope::Kind::Config) {
    if (isFamily) {
      if (const JsonValue *v = configKey(name); v && !v->isNull())
        return literal(*v);
      return Value::absent(name.str());
    }
    in.error(at, "unknown name " + quote(name) + nearest(name, scope.env->names()));
    return Value::poison();
  }
  if (scope.kind == Scope::Kind::Body)
    if (const Value *v = config.find(name))
      return *v;
  if (auto it = dims.find(std::string_view(name)); it != dims.end())
    return it->second;
  if (isNamedMask(name))
    return namedMask(name, at);
  std::vector<std::string> known = scope.env->names();
  if (scope.kind == Scope::Kind::Body)
    llvm::append_range(known, config.names());
  for (auto &d : dims)
    known.push_back(d.first);
  known.insert(known.end(), {"causal", "all"});
  in.error(at, "unknown name " + quote(name) + nearest(name, known));
  return Value::poison();
}

std::optional<std::string> Importer::fill(const std::string &whole, Loc loc, size_t begin,
                                          size_t end, const Scope &scope,
                                          const JsonValue *context) {
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
        in.error({e->loc, context}, "a name or an integer expected, found " + Twine(v.show()));
      return std::nullopt;
    }
  }
  return out + text.drop_front(at).str();
}

std::optional<std::string> Importer::fill(const JsonValue &text, const Scope &scope) {
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

Value Importer::evaluate(const Expr *e, const Scope &scope, const JsonValue *context) {
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
  case Expr::Kind::Negate: return negate(evaluate(e->args[0], scope, context), at);
  case Expr::Kind::Not: return logicalNot(evaluate(e->args[0], scope, context), at);
  case Expr::Kind::Coalesce: {
    Value left = evaluate(e->args[0], scope, context);
    if (left.is(K::Absent) || left.isNull())
      return evaluate(e->args[1], scope, context);
    return left;
  }
  case Expr::Kind::Conditional: return conditional(e, scope, context);
  case Expr::Kind::Call: return call(e, scope, context);
  case Expr::Kind::Member: {
    // A key inside an object of config.json may have another spelling as a whole.
    if (isFamily && scope.kind == Scope::Kind::Config)
      if (std::string chain = chainOf(e, *scope.env); !chain.empty())
        if (const JsonValue *v = configKey(chain); v && !v->isNull())
          return literal(*v);
    Value base = evaluate(e->args[0], scope, context);
    if (base.isBad())
      return base;
    if (base.isNull())
      return Value::absent(e->text);
    if (!base.is(K::Object)) {
      in.error(at, Twine(base.describe()) + " has no member " + quote(e->text));
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
      in.error({e->args[1]->loc, context}, "true or false expected, found " + Twine(b.show()));
      return Value::poison();
    }
    Value b = evaluate(e->args[1], scope, context);
    if (a.isBad() || b.isBad())
      return a.is(K::Poison) || !b.isBad() ? a : b;
    if (a.is(K::Mask) != b.is(K::Mask) && (e->text == "and" || e->text == "or") &&
        (a.isArray() || b.isArray())) {
      const Expr *tensor = e->args[a.is(K::Mask) ? 1 : 0];
      std::string t = tensor->kind == Expr::Kind::Name ? tensor->text : "t";
      in.error({tensor->loc, context}, "a mask combines only with masks, found " +
                                        Twine((a.is(K::Mask) ? b : a).show()) + "; say keys(" + t +
                                        "), queries(" + t + ") or dense(" + t + ") to make it one");
      return Value::poison();
    }
    return binary(e->text, a, b, at);
  }
  }
  return Value::poison();
}

Value Importer::conditional(const Expr *e, const Scope &scope, const JsonValue *context) {
  Value c = evaluate(e->args[0], scope, context);
  if (c.isBad())
    return c;
  At at{e->args[0]->loc, context};
  if (c.is(K::Bool))
    return evaluate(e->args[c.asBool() ? 1 : 2], scope, context);
  if (!c.isArray()) {
    in.error(at, "a condition must be true or false, found " + Twine(c.show()));
    return Value::poison();
  }
  Value yes = evaluate(e->args[1], scope, context), no = evaluate(e->args[2], scope, context);
  if (yes.isBad() || no.isBad())
    return yes.is(K::Poison) || !no.isBad() ? yes : no;
  return select(c, yes, no, {e->loc, context});
}

//===--- operators ------------------------------------------------------------===//

static bool isComparison(StringRef op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

Value Importer::binary(StringRef op, Value a, Value b, At at) {
  if (a.is(K::Mask) || b.is(K::Mask))
    return masks(op, a, b, at);
  if (a.is(K::Bias) || b.is(K::Bias))
    return biases(op, a, b, at);
  if (op == "in") {
    if (b.is(K::List))
      return Value::boolean(llvm::any_of(b.asList(), [&](const Value &x) { return equalConstants(a, x); }));
    if (a.is(K::String) && b.is(K::String))
      return Value::boolean(b.asString().find(a.asString()) != std::string::npos);
    in.error(at, "in: a member of a list or a part of a string expected, found " + Twine(a.show()) +
                  " in " + b.show());
    return Value::poison();
  }
  if (a.isNull() || b.isNull()) {
    if (op == "==" || op == "!=")
      return Value::boolean((a.isNull() && b.isNull()) == (op == "=="));
    in.error(at, "null in arithmetic; give a default with ??");
    return Value::poison();
  }
  bool hasArray = a.isArray() || b.isArray();
  if (op == "and" || op == "or") {
    for (const Value *v : {&a, &b})
      if (!v->isArray() && !v->is(K::Bool)) {
        in.error(at, "true or false expected on both sides of '" + op + "', found " + Twine(v->show()));
        return Value::poison();
      }
    if (a.is(K::Bool) && b.is(K::Bool))
      return Value::boolean(op == "and" ? a.asBool() && b.asBool() : a.asBool() || b.asBool());
    return tensors(op, a, b, at);
  }
  auto mayBeElement = [](const Value &v) {
    return v.isArray() || v.isNumber() || v.is(K::Size) || v.is(K::Bool);
  };
  if (hasArray && mayBeElement(a) && mayBeElement(b))
    return tensors(op, a, b, at);
  if (a.is(K::List) && b.is(K::List) && op == "+") {
    std::vector<Value> items = a.asList();
    items.insert(items.end(), b.asList().begin(), b.asList().end());
    return Value::list(std::move(items));
  }
  if (a.is(K::String) && b.is(K::String) && op == "+")
    return Value::string(a.asString() + b.asString());
  auto isLength = [](const Value &v) { return v.is(K::Size) || v.is(K::Integer); };
  if ((a.is(K::Size) || b.is(K::Size)) && (isLength(a) || a.is(K::Real)) &&
      (isLength(b) || b.is(K::Real)))
    return lengths(op, a, b, at);
  if (a.isNumber() && b.isNumber())
    return numbers(op, a, b, at);
  if (op == "==" || op == "!=")
    return Value::boolean(equalConstants(a, b) == (op == "=="));
  in.error(at, Twine(isComparison(op) ? "these cannot be compared" : "numbers or tensors expected") +
                ", found " + a.show() + " " + op + " " + b.show());
  return Value::poison();
}

Value Importer::logicalNot(Value v, At at) {
  if (v.isBad())
    return v;
  if (v.is(K::Bool))
    return Value::boolean(!v.asBool());
  if (v.is(K::Mask))
    return masks("not", v, v, at);
  if (v.isArray())
    return tensors("not", v, v, at);
  in.error(at, "not: true, false, a tensor or a mask expected, found " + Twine(v.show()));
  return Value::poison();
}

Value Importer::negate(Value v, At at) {
  if (v.isBad())
    return v;
  if (v.is(K::Bias))
    return biases("*", v, Value::integer(-1), at);
  if (v.is(K::Integer) || v.is(K::Real))
    return numbers("-", v.is(K::Integer) ? Value::integer(0) : Value::real(-0.0), v, at);
  if (v.is(K::Size))
    return lengths("*", v, Value::integer(-1), at);
  if (v.isArray())
    return mathFunction("neg", v, at);
  in.error(at, "a number or a tensor expected behind '-', found " + Twine(v.show()));
  return Value::poison();
}
