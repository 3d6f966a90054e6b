//===- KeyExpressions.cpp - Expressions over the keys of a file -----------===//

#include "compiler/Gguf/KeyExpressions.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace heddle {

using llvm::StringRef;
using Value = ConfigValue;

/// Keys that hold a number, or one for each layer; a list counts where all are equal.
static bool mayBeList(StringRef name) {
  return name == "attention.head_count" || name == "attention.head_count_kv" || name == "feed_forward_length";
}
/// Keys that hold a word.
static bool isWord(StringRef name) { return name.ends_with("type") || name.ends_with("activation"); }

absl::StatusOr<Value> KeyExpressions::key(StringRef name) {
  const GgufValue *found = file.find(whole(name));
  if (!found)
    return Value();
  if (asked.empty())
    asked = whole(name);
  auto refuse = [&](std::string why) { return file.damaged(whole(name), std::move(why)); };
  if (std::optional<StringRef> text = found->text()) {
    if (isWord(name))
      return Value(text->str());
    return refuse("the key is a text, a number is needed");
  }
  if (std::optional<bool> flag = found->boolean())
    return Value(*flag);
  if (std::optional<int64_t> number = found->integer())
    return Value(*number);
  if (std::optional<double> number = found->number())
    return std::isfinite(*number) ? absl::StatusOr<Value>(Value(*number)) : refuse("it is no finite number");
  Value list = Value::array();
  if (std::optional<std::vector<int64_t>> numbers = found->integers())
    list = *numbers;
  else if (std::optional<std::vector<bool>> flags = found->booleans())
    list = *flags;
  else if (std::optional<std::vector<double>> reals = found->numbers()) {
    if (llvm::any_of(*reals, [](double x) { return !std::isfinite(x); }))
      return refuse("one of its numbers is not finite");
    list = *reals;
  } else
    return refuse("it is " + found->what() + ", a number is needed");
  bool one = mayBeList(name) && !list.empty() && llvm::all_of(list, [&](const Value &x) { return x == list[0]; });
  return one ? list[0] : list;
}

absl::StatusOr<Value> KeyExpressions::value(const Value &text) {
  if (text.is_object()) {
    Value out = Value::object();
    for (const auto &[name, member] : text.items()) {
      absl::StatusOr<Value> one = value(member);
      if (!one.ok())
        return one.status();
      out[name] = *std::move(one);
    }
    return out;
  }
  if (!text.is_string() || text.get<std::string>().rfind('=', 0) != 0)
    return text;
  std::string whole = text.get<std::string>().substr(1);
  asked.clear();
  missing.clear();
  const Expr *tree = parsed.ofText(whole, Loc());
  Result result = tree ? evaluate(tree) : Result(absl::InternalError("an expression of the table: " + whole));
  if (!result.ok())
    return result.status();
  if (*result)
    return **result;
  return file.damaged(missing, "the key is missing");
}

/// Whether a value counts as true: as in Python, 0 and an absent key do not.
static bool isTrue(const Value &v) {
  return v.is_boolean() ? v.get<bool>() : v.is_number() ? v.get<double>() != 0 : !v.is_null();
}

/// The key that a chain of members names; "" for anything else.
static std::string chain(const Expr *e) {
  if (e->kind == Expr::Kind::Name)
    return e->text;
  std::string head = e->kind == Expr::Kind::Member ? chain(e->args[0]) : "";
  return head.empty() ? "" : head + "." + e->text;
}

KeyExpressions::Result KeyExpressions::evaluate(const Expr *e) {
  using Kind = Expr::Kind;
  auto some = [](Value v) { return Result(std::optional<Value>(std::move(v))); };
  switch (e->kind) {
  case Kind::Null: return some(Value());
  case Kind::Bool: return some(e->integer != 0);
  case Kind::Integer: return some(e->integer);
  case Kind::Real: return some(e->real);
  case Kind::String: return some(e->text);
  case Kind::Name:
  case Kind::Member: {
    std::string name = chain(e);
    absl::StatusOr<Value> found = key(name);
    if (!found.ok())
      return found.status();
    if (!found->is_null())
      return some(*std::move(found));
    if (missing.empty())
      missing = whole(name);
    return std::optional<Value>();
  }
  case Kind::Coalesce: {
    Result left = evaluate(e->args[0]);
    if (!left.ok() || (*left && !(*left)->is_null()))
      return left;
    missing.clear();
    return evaluate(e->args[1]);
  }
  case Kind::Conditional: {
    Result condition = evaluate(e->args[0]);
    if (!condition.ok() || !*condition)
      return condition;
    return evaluate(e->args[isTrue(**condition) ? 1 : 2]);
  }
  case Kind::Not: {
    Result x = evaluate(e->args[0]);
    return x.ok() && *x ? some(!isTrue(**x)) : x;
  }
  case Kind::Call: return call(e);
  case Kind::Binary: return binary(e);
  default: return absl::InternalError("an expression of the table");
  }
}

KeyExpressions::Result KeyExpressions::binary(const Expr *e) {
  StringRef op = e->text;
  auto some = [](Value v) { return Result(std::optional<Value>(std::move(v))); };
  Result a = evaluate(e->args[0]);
  if (!a.ok() || !*a)
    return a;
  if ((op == "and" && !isTrue(**a)) || (op == "or" && isTrue(**a)))
    return some(op == "or");
  Result b = evaluate(e->args[1]);
  if (!b.ok() || !*b)
    return b;
  const Value &x = **a, &y = **b;
  if (op == "and" || op == "or")
    return some(isTrue(y));
  if (op == "==" || op == "!=")
    return some((x == y) == (op == "=="));
  if (op == "+" && (x.is_string() || y.is_string())) {
    auto text = [](const Value &v) { return v.is_string() ? v.get<std::string>() : v.dump(); };
    return some(text(x) + text(y));
  }
  if (!x.is_number() || !y.is_number())
    return file.damaged(asked, "it is " + (x.is_number() ? y : x).dump() + ", a number is needed");
  double p = x.get<double>(), q = y.get<double>();
  if (op == ">" || op == "<")
    return some(op == ">" ? p > q : p < q);
  if ((op == "/" || op == "//") && q == 0)
    return file.damaged(asked, "0 cannot divide");
  bool whole = x.is_number_integer() && y.is_number_integer() && op != "/";
  double r = op == "+" ? p + q : op == "-" ? p - q : op == "*" ? p * q : op == "/" ? p / q : std::floor(p / q);
  return whole && std::fabs(r) < 9e15 ? some(int64_t(r)) : some(r);
}

KeyExpressions::Result KeyExpressions::call(const Expr *e) {
  auto some = [](Value v) { return Result(std::optional<Value>(std::move(v))); };
  StringRef function = e->text;
  if (function == "scaling") {
    absl::StatusOr<Value> made = ropeScaling(file, architecture, *this);
    if (!made.ok())
      return made.status();
    if (made->is_null() && !e->args.empty())
      return some(Value{{"rope_type", e->args[0]->text}});
    return some(*std::move(made));
  }
  Result first = evaluate(e->args[0]);
  if (!first.ok() || !*first)
    return first;
  Value x = **first;
  std::string name = x.is_string() ? x.get<std::string>() : "";
  if (function == "has")
    return some(file.tensor(name) != nullptr);
  if (function == "rows") {
    if (const GgufTensor *tensor = file.tensor(name))
      return some(tensor->shape.front());
    return file.damaged(name, "the tensor is missing");
  }
  if (function == "tokenizer") {
    const GgufValue *value = file.find("tokenizer.ggml." + name);
    std::optional<StringRef> text = value ? value->text() : std::nullopt;
    std::optional<int64_t> number = value ? value->integer() : std::nullopt;
    return some(text ? Value(text->str()) : number ? Value(*number) : Value());
  }
  if (function == "is_list")
    return some(x.is_array());
  if (function == "nonzero")
    return some(isTrue(x) ? x : Value());
  if (function == "sqrt")
    return some(std::sqrt(x.get<double>()));
  if (function == "int")
    return some(int64_t(x.get<double>()));
  if (function == "each") {
    Result count = evaluate(e->args[1]);
    if (!count.ok() || !*count)
      return count;
    return some(Value(size_t((*count)->get<int64_t>()), x));
  }
  if (function != "layer_types")
    return absl::InternalError("a function of the table");
  // A list of booleans, or a period: its last layer is the one that sees everything.
  absl::StatusOr<Value> pattern = key("attention.sliding_window_pattern");
  std::optional<int64_t> layers = ggufInteger(file, architecture, "block_count");
  if (!pattern.ok())
    return pattern.status();
  if (!layers) {
    missing = whole("block_count");
    return std::optional<Value>();
  }
  int64_t count = *layers - ggufInteger(file, architecture, "nextn_predict_layers").value_or(0);
  if (pattern->is_array() && int64_t(pattern->size()) < count)
    return file.damaged(whole("attention.sliding_window_pattern"), "it has " + std::to_string(pattern->size()) +
                                                                       " entries, there are " + std::to_string(count) +
                                                                       " layers");
  int64_t period =
      pattern->is_number_integer() && pattern->get<int64_t>() > 0 ? pattern->get<int64_t>() : x.get<int64_t>();
  Value kinds = Value::array();
  for (int64_t i = 0; i < count; ++i) {
    bool isNear = pattern->is_array() ? isTrue((*pattern)[size_t(i)]) : i % period < period - 1;
    kinds.push_back(isNear ? "sliding_attention" : "full_attention");
  }
  return some(std::move(kinds));
}

} // namespace heddle
