// The table of the leaves of masks (window, keys, grid, ..): for each the name, the number of arguments, its meaning in
// a line, and the function that checks the arguments and makes the op.
#include "compiler/Import/Description/OpTable.h"
#include "compiler/Import/Evaluate/Arithmetic.h"
#include "compiler/Import/Evaluate/EmitTemplates.h"

#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using E = Emitter::Element;
using K = Value::Kind;

/// A call of a leaf with its arguments. A method that reads an argument reports what is wrong with it, sets `bad` and
/// returns something harmless; emit() then makes poison in place of the op.
class heddle::MaskCall {
public:
  MaskCall(Emitter &in, StringRef name, llvm::ArrayRef<Value> args, At at) : in(in), name(name), args(args), at(at) {}

  Emitter &in;
  StringRef name;
  llvm::ArrayRef<Value> args;
  At at;
  bool bad = false;

  /// Whether argument n is there; null is no limit, no labels.
  bool given(size_t n) const { return n < args.size() && !args[n].isNull(); }
  void refuse(const Twine &expected, const Value &found) {
    fail(Error::WrongValue, expected + " expected, found " + found.show());
  }
  void fail(Error code, const Twine &text) {
    in.error(code, at, name + ": " + text);
    bad = true;
  }
  /// An argument that is a constant from `least` on.
  int64_t constant(size_t n, int64_t least, const Twine &what) {
    if (args[n].is(K::Integer) && args[n].asInteger() >= least)
      return args[n].asInteger();
    refuse(what, args[n]);
    return least;
  }
  /// An argument as a tensor of one of these ranks.
  mlir::Value tensor(size_t n, int64_t least, int64_t most, std::optional<E> element = std::nullopt) {
    const Value &v = args[n];
    if (!v.isArray()) {
      refuse("a tensor", v);
      return {};
    }
    // Numbers that are compared or counted: a real one would be cut off silently.
    if (element == E::Integer && in.elementOf(v) == E::Real) {
      fail(Error::WrongElement,
           "a tensor of integers expected, found " + v.show() + " of reals; int(t) makes integers of them");
      return {};
    }
    mlir::Value x = element ? in.materialize(v, *element, at) : in.materialize(v, at);
    if (x && (tensorType(x).getRank() < least || tensorType(x).getRank() > most)) {
      refuse("a tensor of rank " + Twine(least) + (most > least ? " to " + Twine(most) : Twine("")), v);
      return {};
    }
    return x;
  }
  template <typename Op> Value emit(llvm::ArrayRef<mlir::Value> operands, Emitter::Attrs attrs = {}) {
    return bad ? Value::poison() : in.emitMask<Op>(at, operands, attrs);
  }
};

//===--- leaves ---------------------------------------------------------------===//

/// window(left, right[, labels]): attributes for the limits that are given, an operand for the labels.
static Value window(MaskCall &c) {
  Emitter::Attrs attrs;
  const StringRef sides[] = {"left", "right"};
  for (auto [i, side] : llvm::enumerate(sides)) {
    if (!c.given(i))
      continue;
    if (!c.args[i].is(K::Integer))
      c.refuse("a constant or null", c.args[i]);
    else if (std::llabs(c.args[i].asInteger()) >= mask::kUnbounded)
      c.refuse("a limit below 2**30", c.args[i]);
    else
      attrs.push_back(c.in.intAttr(side, c.args[i].asInteger()));
    if (c.bad)
      return Value::poison();
  }
  if (c.given(0) && c.given(1) && c.args[0].asInteger() + c.args[1].asInteger() < 0)
    c.fail(Error::OutOfRange, "left + right of 0 or more expected, found window(" + Twine(c.args[0].asInteger()) +
                                  ", " + Twine(c.args[1].asInteger()) +
                                  "), which sees nothing: the first key would come after the last one");
  llvm::SmallVector<mlir::Value, 1> labels;
  if (!c.bad && c.given(2))
    labels.push_back(c.tensor(2, 1, 2, E::Integer));
  attrs.push_back(c.in.segments({static_cast<int32_t>(labels.size()), 0, 0}));
  return c.emit<mask::WindowOp>(labels, attrs);
}

static Value dilated(MaskCall &c) {
  return c.emit<mask::DilatedOp>({}, {c.in.intAttr("step", c.constant(0, 1, "a positive constant"))});
}

static Value chunk(MaskCall &c) {
  return c.emit<mask::ChunkOp>({}, {c.in.intAttr("size", c.constant(0, 1, "a positive constant"))});
}

/// Sizes of a picture: constants from `least` on, below 2**30.
static void sizes(MaskCall &c, llvm::ArrayRef<std::pair<const char *, int64_t>> names, Emitter::Attrs &attrs) {
  for (auto [n, name] : llvm::enumerate(names)) {
    if (c.bad || (n >= c.args.size() && name.second == 0))
      return;
    int64_t v = c.constant(n, name.second, Twine(name.first) + ": a constant from " + Twine(name.second) + " on");
    if (!c.bad && v >= mask::kUnbounded)
      c.refuse(Twine(name.first) + " below 2**30", c.args[n]);
    attrs.push_back(c.in.intAttr(name.first, v));
  }
}
static Value grid(MaskCall &c) {
  Emitter::Attrs attrs;
  sizes(c, {{"width", 1}, {"rows", 0}, {"columns", 0}}, attrs);
  return c.emit<mask::GridOp>({}, attrs);
}
static Value gridWindow(MaskCall &c) {
  Emitter::Attrs attrs;
  sizes(c, {{"width", 1}, {"rows", 1}, {"columns", 1}, {"shift", 0}}, attrs);
  return c.emit<mask::GridWindowOp>({}, attrs);
}

static Value keys(MaskCall &c) { return c.emit<mask::KeysOp>({c.tensor(0, 1, 2)}); }
static Value queries(MaskCall &c) { return c.emit<mask::QueriesOp>({c.tensor(0, 1, 2)}); }
static Value dense(MaskCall &c) { return c.emit<mask::DenseOp>({c.tensor(0, 2, 4)}); }

/// prefix(n): n is a tensor (one number a batch row), a constant or a length.
static Value prefix(MaskCall &c) {
  const Value &n = c.args[0];
  if (n.isArray())
    return c.emit<mask::PrefixOp>({c.tensor(0, 0, 1, E::Integer)});
  if (!(n.is(K::Integer) && n.asInteger() >= 0) && !n.is(K::Size)) {
    c.refuse("a number of keys, 0 or more", n);
    return Value::poison();
  }
  return c.emit<mask::PrefixOp>({c.in.materialize(n, E::Integer, c.at)});
}

/// document(q[, k]): one tensor of labels is for both sides.
static Value document(MaskCall &c) {
  mlir::Value q = c.tensor(0, 1, 2, E::Integer), k = c.given(1) ? c.tensor(1, 1, 2, E::Integer) : q;
  return c.emit<mask::DocumentOp>({q, k});
}

/// Block lists given as constants, one for each block of queries, or such lists for each head;
/// shorter ones are filled with -1, which no block has.
static std::optional<ConstantTensor> blockLists(const Value &v) {
  auto isListOfLists = [](const Value &v) {
    return v.is(K::List) && !v.asList().empty() &&
           llvm::all_of(v.asList(), [](const Value &x) { return x.is(K::List); });
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

/// blocks(size, lists): the lists are a tensor or constants.
static Value blocks(MaskCall &c) {
  int64_t size = c.constant(0, 1, "a positive constant as the size of a block");
  if (c.bad)
    return Value::poison();
  if (!c.args[1].is(K::List))
    return c.emit<mask::BlocksOp>({c.tensor(1, 2, 3, E::Integer)}, {c.in.intAttr("size", size)});
  std::optional<ConstantTensor> t = blockLists(c.args[1]);
  if (!t) {
    c.refuse("a list of block numbers for each block of queries, or such lists for each head", c.args[1]);
    return Value::poison();
  }
  return c.emit<mask::BlocksOp>({c.in.constantOp(*t, E::Integer, c.at)}, {c.in.intAttr("size", size)});
}

//===--- the table --------------------------------------------------------------===//

// clang-format off
static const MaskLeaf leaves[] = {
    {{"window", 2, 3, "masks", "window(left, right[, labels]): -left ≤ j-i ≤ right; null is no limit"}, window},
    {{"dilated", 1, 1, "masks", "dilated(step): (j-i) is a multiple of step"}, dilated},
    {{"chunk", 1, 1, "masks", "chunk(n): j // n = i // n"}, chunk},
    {{"grid", 3, 3, "masks", "grid(width, rows, columns): j // width is at most `rows`, and j % width at most `columns`, from that of i"}, grid},
    {{"grid_window", 3, 4, "masks",
      "grid_window(width, rows, columns[, shift]): (j // width - shift) // rows and (j % width - shift) // columns are those of i"},
     gridWindow},
    {{"keys", 1, 1, "masks", "keys(t): t[b,j] ≠ 0"}, keys},
    {{"queries", 1, 1, "masks", "queries(t): t[b,i] ≠ 0"}, queries},
    {{"prefix", 1, 1, "masks", "prefix(n): j < n[b]"}, prefix},
    {{"document", 1, 2, "masks", "document(q[, k]): the labels are equal"}, document},
    {{"blocks", 2, 2, "masks", "blocks(size, lists): lists[(h,) i // size] contains j // size"}, blocks},
    {{"dense", 1, 1, "masks", "dense(t): t[b,h,i,j] ≠ 0"}, dense},
};
// clang-format on

llvm::ArrayRef<MaskLeaf> heddle::maskLeaves() { return leaves; }

Value Arithmetic::maskFunction(StringRef name, llvm::ArrayRef<Value> args, At at) {
  MaskCall call(in, name, args, at);
  return llvm::find_if(leaves, [&](const MaskLeaf &leaf) { return leaf.info.name == name; })->make(call);
}
