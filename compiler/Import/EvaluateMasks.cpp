// Masks and biases: values of their own, never mixed with tensors.
#include "compiler/Import/EmitTemplates.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

Value Importer::namedMask(StringRef name, At at) {
  return name == "causal" ? emitMask<mask::CausalOp>(at, {}) : emitMask<mask::AllOp>(at, {});
}

Value Importer::masks(StringRef op, const Value &a, const Value &b, At at) {
  if (op == "not")
    return emitMask<mask::NotOp>(at, {a.asIr()});
  bool fits = a.is(K::Mask) && b.is(K::Mask) && (op == "and" || op == "or" || op == "+");
  // `mask and true` chooses at import, as `true and mask` does.
  if (a.is(K::Mask) && b.is(K::Bool) && (op == "and" || op == "or"))
    return b.asBool() == (op == "and") ? a : b;
  if (!fits) {
    error(at, "a mask combines only with masks, by and/or/not/+, found " + Twine(a.show()) + " " +
                  op + " " + b.show() +
                  "; say keys(t), queries(t) or dense(t) to make a tensor a mask");
    return Value::poison();
  }
  if (op == "and")
    return emitMask<mask::AndOp>(at, {a.asIr(), b.asIr()});
  if (op == "or")
    return emitMask<mask::OrOp>(at, {a.asIr(), b.asIr()});
  return emitMask<mask::AddOp>(at, {a.asIr(), b.asIr()});
}

Value Importer::biases(StringRef op, const Value &a, const Value &b, At at) {
  if (op == "+" && a.is(K::Bias) && b.is(K::Bias))
    return emitBias<attn::BiasAddOp>(at, {a.asIr(), b.asIr()});
  if (op == "-" && a.is(K::Bias) && b.is(K::Bias)) {
    Value minus = biases("*", b, Value::integer(-1), at);
    return biases("+", a, minus, at);
  }
  if ((op == "*" || op == "/") && a.is(K::Bias) && b.isNumber() && !(op == "/" && b.asReal() == 0)) {
    double factor = op == "*" ? b.asReal() : 1 / b.asReal();
    return emitBias<attn::BiasScaleOp>(at, {a.asIr()}, {realAttr("factor", factor)});
  }
  if (op == "*" && a.isNumber() && b.is(K::Bias))
    return biases(op, b, a, at);
  error(at, "biases are added to each other or scaled by a constant, nothing else; found " +
                Twine(a.show()) + " " + op + " " + b.show());
  return Value::poison();
}

//===--- leaves ---------------------------------------------------------------===//

/// Block lists given as constants, one for each block of queries, or such lists for each head;
/// shorter ones are filled with -1, which no block has.
static std::optional<ConstantTensor> blockLists(const Value &v) {
  auto isListOfLists = [](const Value &v) {
    return v.is(K::List) && !v.asList().empty() && llvm::all_of(v.asList(), [](const Value &x) { return x.is(K::List); });
  };
  if (!isListOfLists(v))
    return std::nullopt;
  bool perHead = llvm::all_of(v.asList(), isListOfLists);
  std::vector<Value> heads = perHead ? v.asList() : std::vector<Value>{v};
  size_t rows = heads.front().asList().size(), longest = 0;
  for (const Value &head : heads) {
    if (head.asList().size() != rows)
      return std::nullopt;
    for (const Value &row : head.asList())
      longest = std::max(longest, row.asList().size());
  }
  ConstantTensor t;
  t.element = ConstantTensor::Element::Integer;
  t.shape = {static_cast<int64_t>(rows), static_cast<int64_t>(longest)};
  if (perHead)
    t.shape.insert(t.shape.begin(), heads.size());
  for (const Value &head : heads)
    for (const Value &row : head.asList())
      for (size_t i = 0; i < longest; ++i) {
        bool there = i < row.asList().size();
        if (there && (!row.asList()[i].is(K::Integer) || row.asList()[i].asInteger() < 0))
          return std::nullopt;
        t.integers.push_back(there ? row.asList()[i].asInteger() : -1);
      }
  return t;
}

Value Importer::maskFunction(StringRef name, llvm::ArrayRef<Value> args, At at) {
  auto refuse = [&](const Twine &expected, const Value &found) {
    error(at, name + ": " + expected + " expected, found " + found.show());
    return Value::poison();
  };
  /// The argument as a tensor of one of these ranks.
  auto tensor = [&](const Value &v, int64_t least, int64_t most, std::optional<Element> e) -> mlir::Value {
    if (!v.isArray()) {
      refuse("a tensor", v);
      return {};
    }
    // Numbers that are compared or counted: a real one would be cut off silently.
    if (e == Element::Integer && elementOf(v) == Element::Real) {
      error(at, name + ": a tensor of integers expected, found " + v.show() + " of reals; int(t) makes integers of them");
      return {};
    }
    mlir::Value x = e ? materialize(v, *e, at) : materialize(v, at);
    if (x && (tensorType(x).getRank() < least || tensorType(x).getRank() > most)) {
      refuse("a tensor of rank " + Twine(least) + (most > least ? " to " + Twine(most) : Twine("")), v);
      return {};
    }
    return x;
  };

  if (name == "window") {
    Attrs attrs;
    const StringRef sides[] = {"left", "right"};
    for (auto [i, side] : llvm::enumerate(sides)) {
      if (args[i].isNull())
        continue;
      if (!args[i].is(K::Integer))
        return refuse("a constant or null", args[i]);
      if (std::llabs(args[i].asInteger()) >= mask::kUnbounded)
        return refuse("a limit below 2**30", args[i]);
      attrs.push_back(intAttr(side, args[i].asInteger()));
    }
    if (args[0].is(K::Integer) && args[1].is(K::Integer) && args[0].asInteger() + args[1].asInteger() < 0) {
      error(at, "window: left + right of 0 or more expected, found window(" + Twine(args[0].asInteger()) + ", " +
                    Twine(args[1].asInteger()) + "), which sees nothing: the first key would lie behind the last one");
      return Value::poison();
    }
    llvm::SmallVector<mlir::Value, 1> labels;
    if (args.size() == 3 && !args[2].isNull()) {
      mlir::Value v = tensor(args[2], 1, 2, Element::Integer);
      if (!v)
        return Value::poison();
      labels.push_back(v);
    }
    attrs.push_back(segments({static_cast<int32_t>(labels.size()), 0, 0}));
    return emitMask<mask::WindowOp>(at, labels, attrs);
  }
  if (name == "dilated") {
    if (!args[0].is(K::Integer) || args[0].asInteger() < 1)
      return refuse("a positive constant", args[0]);
    return emitMask<mask::DilatedOp>(at, {}, {intAttr("step", args[0].asInteger())});
  }
  if (name == "keys")
    return emitMask<mask::KeysOp>(at, {tensor(args[0], 1, 2, std::nullopt)});
  if (name == "queries")
    return emitMask<mask::QueriesOp>(at, {tensor(args[0], 1, 2, std::nullopt)});
  if (name == "dense")
    return emitMask<mask::DenseOp>(at, {tensor(args[0], 2, 4, std::nullopt)});
  if (name == "prefix") {
    mlir::Value n = args[0].isArray() ? tensor(args[0], 0, 1, Element::Integer)
                    : (args[0].is(K::Integer) && args[0].asInteger() >= 0) || args[0].is(K::Size)
                        ? materialize(args[0], Element::Integer, at)
                        : (refuse("a number of keys, 0 or more", args[0]), mlir::Value());
    return emitMask<mask::PrefixOp>(at, {n});
  }
  if (name == "document") {
    mlir::Value q = tensor(args[0], 1, 2, Element::Integer);
    mlir::Value k = args.size() == 2 && !args[1].isNull() ? tensor(args[1], 1, 2, Element::Integer) : q;
    return emitMask<mask::DocumentOp>(at, {q, k});
  }
  // blocks(size, lists)
  if (!args[0].is(K::Integer) || args[0].asInteger() < 1)
    return refuse("a positive constant as the size of a block", args[0]);
  mlir::Value lists;
  if (args[1].is(K::List)) {
    std::optional<ConstantTensor> t = blockLists(args[1]);
    if (!t)
      return refuse("a list of block numbers for each block of queries, or such lists for each head", args[1]);
    lists = constantOp(*t, Element::Integer, at);
  } else {
    lists = tensor(args[1], 2, 3, Element::Integer);
  }
  return emitMask<mask::BlocksOp>(at, {lists}, {intAttr("size", args[0].asInteger())});
}
