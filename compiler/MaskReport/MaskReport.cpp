//===- MaskReport.cpp - heddle mask: gather, count, write -----------------===//
//
//   1. the attentions of @run or another entry, those alike together
//   2. what their masks read: given data, the model's defaults, or an example
//   3. their cursors, compiled and walked over the grid: what is seen, visited, tested
//
//===----------------------------------------------------------------------===//

#include "compiler/MaskReport/MaskReport.h"
#include "compiler/Conversion/Lowering/Facts/AttentionShape.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Interpreter/Evaluator.h"
#include "compiler/Interpreter/ParameterFiles.h"
#include "compiler/MaskReport/MaskCursor.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::evaluation;
using heddle::model::ModelTensorType;
using heddle::model::Size;

//===-- attentions that are alike --------------------------------------------------===//

/// Whether two values are the same, or are computed alike from the same values.
static bool alike(Value x, Value y, llvm::DenseSet<std::pair<Value, Value>> &seen) {
  if (x == y || !seen.insert({x, y}).second)
    return true;
  auto a = dyn_cast<OpResult>(x), b = dyn_cast<OpResult>(y);
  return a && b && a.getResultNumber() == b.getResultNumber() && a.getOwner()->getNumRegions() == 0 &&
         OperationEquivalence::isEquivalentTo(
             a.getOwner(), b.getOwner(), [&](Value p, Value q) { return success(alike(p, q, seen)); }, nullptr,
             OperationEquivalence::IgnoreLocations);
}
static bool alike(attn::SdpaOp x, attn::SdpaOp y) {
  llvm::DenseSet<std::pair<Value, Value>> seen;
  return x.getQuery().getType() == y.getQuery().getType() && x.getKey().getType() == y.getKey().getType() &&
         x.getValue().getType() == y.getValue().getType() && x.getHeads() == y.getHeads() &&
         x.getKvHeads() == y.getKvHeads() && x.getPast() == y.getPast() && x.getKeyStart() == y.getKeyStart() &&
         bool(x.getMask()) == bool(y.getMask()) && bool(x.getBias()) == bool(y.getBias()) &&
         (!x.getMask() || alike(x.getMask(), y.getMask(), seen));
}

static AttentionReport::Place placeOf(attn::SdpaOp op) {
  AttentionReport::Place p;
  p.path = model::pathOf(op->getLoc()).str();
  if (auto file = op->getLoc()->findInstanceOf<FileLineColLoc>()) {
    p.file = file.getFilename().str();
    p.line = file.getLine();
    p.column = file.getColumn();
  }
  Operation *mask = op.getMask() ? op.getMask().getDefiningOp() : nullptr;
  if (auto at = mask ? mask->getLoc()->findInstanceOf<FileLineColLoc>() : FileLineColLoc();
      at && at.getFilename() == p.file) {
    p.maskLine = at.getLine();
    p.maskColumn = at.getColumn();
  }
  for (auto repeat = op->getParentOfType<model::RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<model::RepeatOp>())
    p.layers *= repeat.getCount();
  return p;
}

//===-- what masks read --------------------------------------------------------------===//

namespace {
/// The role of an input for the masks, by which example data is invented. Padding hides its keys from all queries.
enum class Role { None, Padding, Set, Labels, Length, Pairs };

class Gatherer {
public:
  Gatherer(const InspectOptions &look, ModuleOp module, func::FuncOp run)
      : look(look), module(module), run(run), e({}, &states, [this](StringRef name) { return parameter(name); }, {}) {}

  LogicalResult bind(std::string &error);
  /// Fills in everything but counts and pictures; `unknown` becomes the reason if these cannot be made.
  void describe(AttentionReport &report, attn::SdpaOp op, Value mask);
  void count(AttentionReport &report, MaskCursors &cursors, unsigned n, attn::SdpaOp op, Value mask);
  Dims dims() const { return e.dims; }

private:
  // The steps of `bind`; `error` says why it failed.
  LogicalResult readGiven(std::string &error);
  LogicalResult chooseDims(std::string &error);
  LogicalResult bindGiven(BlockArgument a, ModelTensorType type, Tensor t, const std::vector<int64_t> &shape,
                          std::string &error);
  const InspectOptions &look;
  ModuleOp module;
  func::FuncOp run;
  States states;
  std::optional<ParameterFiles> files;
  Evaluator e;
  Tensors given;
  std::map<std::string, MaskData> sources; ///< of the inputs
  llvm::DenseSet<Operation *> leading;     ///< `keys` leaves that apply to all queries

  FailureOr<Tensor> parameter(StringRef name);
  Role roleOf(BlockArgument argument);
  Tensor example(Role role, ModelTensorType type, std::vector<int64_t> shape, std::string &about);
  void bindState(BlockArgument state);
  bool bindPlaces(BlockArgument argument, const std::vector<int64_t> &shape);
  bool evaluate(Value v, std::string &why);
  void inputsOf(Value v, llvm::SetVector<Value> &inputs, llvm::DenseSet<Value> &seen);
  int64_t length(const Size &form) { return form.evaluate(e.dims).value_or(1); }
  int64_t anchorOf(Value mask, const MaskPlace &at);
};
} // namespace

FailureOr<Tensor> Gatherer::parameter(StringRef name) {
  if (!files) {
    absl::StatusOr<ParameterFiles> opened = ParameterFiles::open(module);
    if (!opened.ok())
      return failure();
    files.emplace(std::move(*opened));
  }
  return files->read(name);
}

static Role roleOf(mask::Example data) {
  switch (data) {
  case mask::Example::None: return Role::None;
  case mask::Example::Set: return Role::Set;
  case mask::Example::Labels: return Role::Labels;
  case mask::Example::Length: return Role::Length;
  case mask::Example::Pairs: return Role::Pairs;
  }
  llvm_unreachable("an example without a role");
}

/// The role of an input: that of the first leaf that depends on it.
Role Gatherer::roleOf(BlockArgument argument) {
  SmallVector<Value> open = {argument};
  llvm::DenseSet<Value> seen;
  Role role = Role::None;
  while (!open.empty()) {
    Value v = open.pop_back_val();
    for (Operation *user : v.getUsers()) {
      auto mask = dyn_cast<mask::MaskOpInterface>(user);
      Role found = leading.contains(user) ? Role::Padding : mask ? ::roleOf(mask.exampleData()) : Role::None;
      if (found != Role::None)
        return found;
      if (user->hasTrait<OpTrait::ZeroOperands>() || isa<attn::SdpaOp, model::EmbeddingOp, model::LinearOp>(user))
        continue;
      for (Value r : user->getResults())
        if (seen.insert(r).second && seen.size() < 200)
          open.push_back(r);
    }
  }
  return role;
}

Tensor Gatherer::example(Role role, ModelTensorType type, std::vector<int64_t> shape, std::string &about) {
  Tensor t = Tensor::zeros(kindOf(type), shape);
  int64_t last = shape.empty() ? 1 : shape.back(), rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  int64_t most = std::max<int64_t>(1, last * 3 / 4), half = std::max<int64_t>(1, (last + 1) / 2),
          shortest = look.length;
  for (auto &[name, n] : e.dims)
    shortest = name == "B" ? shortest : std::min(shortest, n);
  for (int64_t i = 0, n = product(shape); i < n; ++i) {
    int64_t k = i % last, q = i / last % rows;
    int64_t x = role == Role::Labels    ? k * 5 / std::max<int64_t>(1, last)
                : role == Role::Padding ? k < most
                : role == Role::Set     ? k % half == 0
                : role == Role::Pairs   ? k <= q
                : role == Role::Length  ? shortest * 3 / 4
                                        : 1;
    t.kind == Tensor::Kind::Real ? void(t.reals[i] = double(x)) : void(t.ints[i] = x);
  }
  switch (role) {
  case Role::Labels: about = "5 labels of " + std::to_string(std::max<int64_t>(1, last / 5)) + " positions each"; break;
  case Role::Set: about = "1 at position 0 and in the middle"; break;
  case Role::Padding: about = "1 up to position " + std::to_string(most) + ", 0 after it"; break;
  case Role::Pairs: about = "1 where key <= query"; break;
  case Role::Length: about = std::to_string(shortest * 3 / 4); break;
  case Role::None: about = "1 everywhere"; break;
  }
  return t;
}

/// Reads --input, keeps the tensors that the function takes, and binds the dims that they give.
LogicalResult Gatherer::readGiven(std::string &error) {
  if (look.input.empty())
    return success();
  absl::StatusOr<Tensors> read = readTensors(look.input);
  if (!read.ok()) {
    error = std::string(read.status().message());
    return failure();
  }
  given = std::move(*read);
  for (auto it = given.begin(); it != given.end();) {
    bool known = llvm::any_of(run.getArguments(), [&](BlockArgument a) { return describeTensor(a) == it->first; });
    it = known ? std::next(it) : given.erase(it);
  }
  FailureOr<Dims> bound = bindDims(run, given, {});
  if (failed(bound))
    return failure();
  e.dims = std::move(*bound);
  return success();
}

/// The dims of the function's inputs and states.
static std::set<std::string> dimsOf(func::FuncOp function) {
  std::set<std::string> names;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = dyn_cast<ModelTensorType>(type);
    auto state = dyn_cast<model::StateType>(type);
    for (const Size &s : tensor ? tensor.getSizes() : state ? state.getSizes() : SmallVector<Size>())
      for (const std::string &d : s.dims())
        names.insert(d);
  }
  return names;
}

/// Gives every dim of the function's inputs a length: the input's, that of --dims, or the default within its bound. A
/// step has one new position after as many as make the default; the states hold just these.
LogicalResult Gatherer::chooseDims(std::string &error) {
  std::set<std::string> names = dimsOf(run);
  bool isStep = run.getName() == "step" || run.getName() == "batch";
  if (isStep)
    for (StringRef name : model::kStepDims)
      names.insert(name.str());
  auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims");
  for (auto &[name, n] : look.dims) {
    if (!names.count(name)) {
      error = "no dim '" + name + "'" + nearest(name, std::vector<std::string>(names.begin(), names.end()));
      return failure();
    }
    if (!e.dims.emplace(name, n).second && e.dims[name] != n) {
      error = "--dims says " + name + "=" + std::to_string(n) + ", the input " + std::to_string(e.dims[name]);
      return failure();
    }
  }
  int64_t longest = look.length; // of a text
  if (bounds)
    for (NamedAttribute bound : bounds)
      longest = std::min(longest, cast<IntegerAttr>(bound.getValue()).getInt());
  if (isStep) {
    int64_t fresh = e.dims.emplace(model::kNewDim, 1).first->second;
    int64_t past = e.dims.emplace(model::kPastDim, std::max<int64_t>(0, longest - fresh)).first->second;
    int64_t capacity = e.dims.emplace(model::kCapacityDim, past + fresh).first->second;
    if (capacity < past + fresh) {
      error = "capacity=" + std::to_string(capacity) + " is less than past + new = " + std::to_string(past + fresh);
      return failure();
    }
  }
  for (const std::string &name : names) {
    auto bound = bounds ? bounds.getAs<IntegerAttr>(name) : IntegerAttr();
    bool texts = name == model::kSlotsDim || name == model::kAskedDim; // as many as the batch, which comes before
    int64_t n = name == "B" ? 1
                : texts     ? e.dims.try_emplace("B", 1).first->second
                : bound     ? std::min(look.length, bound.getInt())
                            : look.length;
    e.dims.emplace(name, n);
    if (bound && e.dims[name] > bound.getInt()) {
      error = name + "=" + std::to_string(e.dims[name]) + " is past its bound " + std::to_string(bound.getInt());
      return failure();
    }
  }
  return success();
}

/// The given tensor of the argument `a`; 0 and 1 may be given as integers.
LogicalResult Gatherer::bindGiven(BlockArgument a, ModelTensorType type, Tensor t, const std::vector<int64_t> &shape,
                                  std::string &error) {
  if (t.kind != kindOf(type) && t.kind != Tensor::Kind::Real) {
    Tensor as = Tensor::zeros(kindOf(type), t.shape);
    for (int64_t i = 0; i < t.count(); ++i)
      as.kind == Tensor::Kind::Real ? void(as.reals[i] = double(t.ints[i]))
                                    : void(as.ints[i] = as.kind == Tensor::Kind::Bool ? t.ints[i] != 0 : t.ints[i]);
    t = std::move(as);
  }
  if (t.kind != kindOf(type) || !stretches(t.shape, shape)) {
    error = "input '" + describeTensor(a) + "' is " + showShape(t.shape) + ", expected " + showShape(shape);
    return failure();
  }
  e.set(a, t.shape == shape ? std::move(t) : stretched(t, shape));
  return success();
}

/// What a state holds that masks read: an example, as if past calls had given it. Others stay zeros.
void Gatherer::bindState(BlockArgument state) {
  auto name = run.getArgAttrOfType<StringAttr>(state.getArgNumber(), "model.state");
  if (!name)
    return;
  e.setState(state, name.str());
  auto type = cast<model::StateType>(state.getType());
  std::vector<int64_t> shape;
  for (const Size &s : type.getSizes())
    shape.push_back(length(s));
  Role role = roleOf(state);
  if (role == Role::None || product(shape) >= int64_t(1) << 24)
    return;
  MaskData &source = sources[describeTensor(state)];
  source.name = describeTensor(state);
  source.source = "example";
  auto rows = ModelTensorType::get(run.getContext(), type.getSizes(), type.getElementType());
  states[name.str()] = example(role, rows, shape, source.about);
}

/// Which slot each row of @batch is, and how many positions it has: the rows are slots 0, 1, ..., all of them `past`
/// long. False where the argument says neither.
bool Gatherer::bindPlaces(BlockArgument argument, const std::vector<int64_t> &shape) {
  for (Operation *user : argument.getUsers()) {
    auto append = dyn_cast<model::AppendOp>(user);
    bool slots = append && append.getSlots() == argument;
    if (!append || (!slots && append.getStarts() != argument))
      continue;
    Tensor t = Tensor::zeros(Tensor::Kind::Int, shape);
    for (int64_t i = 0; i < t.count(); ++i)
      t.ints[i] = slots ? i : e.dims.at(model::kPastDim.str());
    e.set(argument, std::move(t));
    return true;
  }
  return false;
}

LogicalResult Gatherer::bind(std::string &error) {
  if (failed(readGiven(error)) || failed(chooseDims(error)))
    return failure();
  run.walk([&](attn::SdpaOp op) {
    for (Operation *leaf : mask::leadingKeys(op.getMask()))
      leading.insert(leaf);
  });
  for (BlockArgument a : run.getArguments()) {
    auto type = dyn_cast<ModelTensorType>(a.getType());
    if (!type) {
      bindState(a);
      continue;
    }
    std::string name = describeTensor(a);
    MaskData &source = sources[name];
    source.name = name;
    std::vector<int64_t> shape;
    for (const Size &s : type.getSizes())
      shape.push_back(length(s));
    if (auto it = given.find(name); it != given.end()) {
      source.source = "given";
      if (failed(bindGiven(a, type, it->second, shape, error)))
        return failure();
    } else if (run.getArgAttr(a.getArgNumber(), "model.default")) {
      source.source = "default"; // not passed, so that the model's own default is evaluated
    } else if (bindPlaces(a, shape)) {
      source.source = "computed";
    } else if (product(shape) < int64_t(1) << 24) {
      source.source = "example";
      e.set(a, example(roleOf(a), type, shape, source.about));
    }
  }
  return success();
}

/// What `v` depends on, in order, then `v` itself.
bool Gatherer::evaluate(Value v, std::string &why) {
  if (e.has(v))
    return true;
  Operation *op = v.getDefiningOp();
  if (!op) {
    auto f = dyn_cast<func::FuncOp>(cast<BlockArgument>(v).getOwner()->getParentOp());
    if (f && f == run && f.getArgAttr(cast<BlockArgument>(v).getArgNumber(), "model.default"))
      return true;
    why = f && f == run ? "it reads " + describeTensor(v) + ", which is too large to make up"
                        : std::string("it changes from layer to layer");
    return false;
  }
  if (auto files = module->getAttrOfType<ArrayAttr>("model.weights");
      isa<model::ParamOp>(op) && (!files || files.empty())) {
    why = "it reads weights, and there are none";
    return false;
  }
  if (isa<attn::SdpaOp>(op) || isa<model::LinearOp>(op)) {
    why = "it is made of activations: what it hides is known only when the model runs";
    return false;
  }
  llvm::SetVector<Value> needs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needs);
  for (Value operand : needs)
    if (!evaluate(operand, why))
      return false;
  if (failed(e.run(op))) {
    why = "its data does not fit (see above)";
    return false;
  }
  return true;
}

void Gatherer::inputsOf(Value v, llvm::SetVector<Value> &inputs, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(v).second)
    return;
  Operation *op = v.getDefiningOp();
  if (!op) {
    inputs.insert(v);
    return;
  }
  if (isa<model::ParamOp, attn::SdpaOp, model::LinearOp>(op)) {
    inputs.insert(v);
    return;
  }
  for (Value operand : op->getOperands())
    inputsOf(operand, inputs, seen);
}

void Gatherer::describe(AttentionReport &r, attn::SdpaOp op, Value mask) {
  auto query = cast<ModelTensorType>(op.getQuery().getType()), key = cast<ModelTensorType>(op.getKey().getType()),
       value = cast<ModelTensorType>(op.getValue().getType());
  r.heads = op.getHeads();
  r.kvHeads = op.getKvHeads();
  r.width = length(query.getSize(2)) / r.heads;
  r.valueWidth = length(value.getSize(2)) / r.kvHeads;
  r.batches = length(query.getSize(0));
  r.rows = length(query.getSize(1));
  r.keys = length(key.getSize(1));
  r.rowsForm = query.getSize(1).str();
  r.keysForm = key.getSize(1).str();
  r.past = Size::parse(op.getPast()).value_or(Size(0)).evaluate(e.dims).value_or(0);
  r.keyStart = Size::parse(op.getKeyStart()).value_or(Size(0)).evaluate(e.dims).value_or(0);
  mask::Axes axes = mask ? mask.getDefiningOp<mask::MaskOpInterface>().dependsOn() : mask::None;
  r.perBatch = axes & mask::Batch;
  r.perHead = axes & mask::Head;
  // The kernel's tiles have 32 rows; query heads that share a key head are rows of the same position.
  r.packed = r.perHead || op.getBias() ? 1 : r.heads / r.kvHeads;
  r.rowTile = look.rowTile ? look.rowTile : std::max<int64_t>(1, loops::kRowTile / r.packed);
  r.keyTile = look.keyTile ? look.keyTile : loops::kKeyTile;
  r.bounds = boundsOf(op, mask, r.rowTile);
  r.batch = std::min(look.batch, r.batches - 1);
  r.head = std::min(look.head, r.heads - 1);
  if (!mask)
    return;
  llvm::SetVector<Value> inputs;
  llvm::DenseSet<Value> seen;
  inputsOf(mask, inputs, seen);
  for (Value v : inputs) {
    auto argument = dyn_cast<BlockArgument>(v);
    auto it = argument && argument.getOwner()->getParentOp() == run ? sources.find(describeTensor(v)) : sources.end();
    r.data.push_back(it != sources.end() ? it->second : MaskData{describeTensor(v), "computed", ""});
  }
  if (!evaluate(mask, r.unknown))
    return;
  Grid grid{r.batches, r.heads, r.rows, r.keys, r.past, r.keyStart};
  if (failed(e.mask(mask).fits(grid)))
    r.unknown = "its data does not fit (see above)";
}

/// The first key that no leading `keys` leaf hides, where the kernel's grid of tiles begins.
int64_t Gatherer::anchorOf(Value mask, const MaskPlace &at) {
  SmallVector<Operation *> leading = mask::leadingKeys(mask);
  for (int64_t k = 0; !leading.empty() && k < at.keys; ++k)
    if (llvm::all_of(leading, [&](Operation *leaf) {
          return e.mask(leaf->getResult(0)).sees({at.batch, at.head, 0, k, at.past, at.keyStart + k}) > 0;
        }))
      return k;
  return 0;
}

//===-- counting -----------------------------------------------------------------------===//

namespace {
/// The boundaries of all grids along one axis, so that a run is counted once for all of them.
std::vector<int64_t> cuts(int64_t lo, int64_t hi, std::initializer_list<int64_t> steps) {
  std::set<int64_t> at = {lo, hi};
  for (int64_t step : steps)
    for (int64_t x = (lo / step + 1) * step; x < hi; x += step)
      at.insert(x);
  return {at.begin(), at.end()};
}
} // namespace

/// Runs the compiled walk of mask `n` over every tile of rows, and counts full, partial and skipped tiles and the keys
/// that rows see.
void Gatherer::count(AttentionReport &r, MaskCursors &cursors, unsigned n, attn::SdpaOp op, Value mask) {
  // The data in the form that generated code reads.
  std::vector<std::vector<char>> stores;
  std::vector<const void *> data;
  std::vector<int64_t> dims;
  for (Value v : cursors.tensors(n)) {
    const Tensor &t = e.tensor(v);
    Type type = cast<ModelTensorType>(v.getType()).getElementType();
    unsigned width = std::max(1u, type.getIntOrFloatBitWidth() / 8);
    std::vector<char> &store = stores.emplace_back(t.count() * width + 64);
    for (int64_t i = 0; i < t.count(); ++i) {
      float real = t.kind == Tensor::Kind::Real ? float(t.reals[i]) : 0;
      int64_t whole = t.kind == Tensor::Kind::Real ? 0 : t.ints[i];
      std::memcpy(&store[i * width], isa<FloatType>(type) ? static_cast<const void *>(&real) : &whole, width);
    }
    data.push_back(store.data());
  }
  for (const std::string &d : cursors.dims(n))
    dims.push_back(e.dims.at(d));
  cursors.bind(n, data, dims);

  int64_t cell = 1;
  while ((std::max(r.rows, r.keys) + cell - 1) / cell > (look.output.empty() ? kMaskCells : 4 * kMaskCells))
    cell *= 2;
  r.elements = MaskGrid(r.rows, r.keys, cell, cell);
  r.tiles = MaskGrid(r.rows, r.keys, r.rowTile, r.keyTile);
  int64_t batches = r.perBatch ? r.batches : 1, heads = r.perHead ? r.heads : 1;
  int64_t times = (r.batches / batches) * (r.heads / heads);
  MaskCounts &sum = r.counts;
  std::vector<MaskRun> runs;
  std::vector<int64_t> ofRow(r.rowTile);
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t head = 0; head < heads; ++head) {
      MaskPlace at{batch, head, r.past, r.rows, r.keys, r.keyStart, 0};
      at.anchor = mask ? anchorOf(mask, at) : 0;
      bool drawn = batch == (r.perBatch ? r.batch : 0) && head == (r.perHead ? r.head : 0);
      MaskGrid tiles(r.rows, r.keys, r.rowTile, r.keyTile);
      for (int64_t first = 0; first < r.rows; first += r.rowTile) {
        int64_t end = std::min(r.rows, first + r.rowTile), lastTile = -1;
        std::fill(ofRow.begin(), ofRow.end(), 0);
        cursors.walk(n, at, first, end - 1, runs);
        for (const MaskRun &run : runs) {
          sum.reads += (run.hi - run.lo) * times / r.packed;
          sum.computed += (end - first) * (run.hi - run.lo) * times;
          sum.tested += run.tested ? (end - first) * (run.hi - run.lo) * times : 0;
          int64_t from = std::max(run.lo / r.keyTile, lastTile + 1), to = (run.hi - 1) / r.keyTile;
          sum.visited += std::max<int64_t>(0, to - from + 1) * times;
          lastTile = std::max(lastTile, to);
          std::vector<int64_t> columns =
              drawn ? cuts(run.lo, run.hi, {r.keyTile, cell}) : cuts(run.lo, run.hi, {r.keyTile});
          for (size_t c = 0; c + 1 < columns.size(); ++c)
            for (int64_t row = first; row < end; ++row) {
              int64_t lo = columns[c],
                      seen = run.tested ? cursors.seen(n, at, row, lo, columns[c + 1]) : columns[c + 1] - lo;
              ofRow[row - first] += seen;
              tiles.seen[first / r.rowTile * tiles.columns + lo / r.keyTile] += seen;
              if (drawn)
                r.elements.seen[row / cell * r.elements.columns + lo / cell] += seen;
            }
        }
        for (int64_t row = first; row < end; ++row) {
          sum.visible += ofRow[row - first] * times;
          sum.blindRows += (ofRow[row - first] == 0) * times;
        }
      }
      for (int64_t i = 0; i < tiles.rows; ++i)
        for (int64_t k = 0; k < tiles.columns; ++k)
          (tiles.at(i, k) == 0 ? sum.empty : tiles.full(i, k) ? sum.full : sum.partial) += times;
      sum.tiles += tiles.rows * tiles.columns * times;
      sum.allReads += tiles.rows * r.keys * times / r.packed;
      sum.pairs += r.rows * r.keys * times;
      if (drawn)
        r.tiles = std::move(tiles);
    }
}

//===-- the command ----------------------------------------------------------------------===//

/// The masks after mask-simplify, where that changes their text; the module is not changed.
static LogicalResult simplify(ModuleOp module, llvm::ArrayRef<attn::SdpaOp> distinct, MaskReport &report) {
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [i, op] : llvm::enumerate(distinct))
    numbers[op] = i;
  IRMapping map;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(map));
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  addPasses(pm, "fused", {}, [](StringRef flag) { return flag == "mask-simplify"; });
  if (failed(pm.run(*copy)))
    return failure();
  for (auto [op, number] : numbers) {
    auto after = cast<attn::SdpaOp>(map.lookup(op));
    std::string words = describeMask(after.getMask());
    AttentionReport &r = report.attentions[number];
    r.simplified = words == r.written ? "" : words;
  }
  return success();
}

/// Why a model has no cached step, as far as the passes have said; empty: they have not.
static std::string missingBecause(ModuleOp module) {
  auto why = module->getAttrOfType<ArrayAttr>("model.step_report");
  auto first = why && !why.empty() ? dyn_cast<StringAttr>(why[0]) : StringAttr();
  return first ? "; no cached step: " + escaped(first.getValue(), 1000) : "";
}

/// Imports the model without its weights, binds dims and example data, compiles the masks and counts what they see.
int heddle::gatherMasks(const Console &console, const CompileOptions &options, const InspectOptions &look,
                        MaskReport &report) {
  if (!look.input.empty())
    if (int missing = canRead(console, look.input))
      return missing;
  std::unique_ptr<MLIRContext> context = makeContext();
  int code = Ok;
  // Masks do not depend on weights, so weights are optional.
  ImportOptions import = options.import;
  import.weightsOptional = true;
  OwningOpRef<ModuleOp> module = load(console, *context, import, code);
  if (!module)
    return code;
  if (look.entry != "run") {
    CompileOptions derived = options;
    derived.pipeline.slots = look.entry == "batch" ? "require" : "none";
    if (int failed = runStages(console, *module, sharedStages(), "entries", derived))
      return failed;
  }
  auto run = module->lookupSymbol<func::FuncOp>(look.entry);
  if (!run)
    return console.complain(Error::BadStage, "the module has no function @" + look.entry + missingBecause(*module));
  DiagnosticSink sink;
  PassMessages messages(*context, sink, Error::BadInput);
  llvm::scope_exit print([&] { sink.print(console.err); });
  Gatherer gatherer(look, *module, run);
  std::string error;
  if (failed(gatherer.bind(error)))
    return error.empty() ? failedWith(sink) : console.complain(Error::BadInput, error);

  report.model = escaped(options.import.path, 4096);
  report.entry = look.entry;
  report.dims = gatherer.dims();
  std::vector<attn::SdpaOp> distinct;
  run.walk([&](attn::SdpaOp op) {
    size_t n = llvm::find_if(distinct, [&](attn::SdpaOp other) { return alike(op, other); }) - distinct.begin();
    if (n == distinct.size()) {
      distinct.push_back(op);
      report.attentions.emplace_back();
      report.attentions.back().written = describeMask(op.getMask());
      gatherer.describe(report.attentions.back(), op, op.getMask());
    }
    AttentionReport &r = report.attentions[n];
    AttentionReport::Place here = placeOf(op);
    r.layers += here.layers;
    // Layers of one repeat are named once.
    auto same = llvm::find_if(r.places, [&](const AttentionReport::Place &p) { return p.names(here); });
    if (same != r.places.end())
      same->layers += here.layers;
    else
      r.places.push_back(std::move(here));
  });
  if (failed(simplify(*module, distinct, report)))
    return console.complain(Error::OurMistake, "mask-simplify fails on this model");
  std::vector<unsigned> drawn;
  std::vector<Value> masks;
  int64_t keyTile = look.keyTile ? look.keyTile : loops::kKeyTile;
  for (auto [n, r] : llvm::enumerate(report.attentions))
    if (r.unknown.empty()) {
      drawn.push_back(n);
      masks.push_back(distinct[n].getMask());
    }
  if (!drawn.empty()) {
    std::unique_ptr<MaskCursors> cursors = MaskCursors::compile(*context, masks, keyTile, error);
    if (!cursors)
      return console.complain(Error::OurMistake, error);
    for (auto [i, n] : llvm::enumerate(drawn))
      gatherer.count(report.attentions[n], *cursors, i, distinct[n], masks[i]);
  }
  return Ok;
}

/// `heddle mask`: prints the report as text, JSON or a picture. Returns the exit code.
int heddle::showMasks(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  MaskReport report;
  if (int failed = gatherMasks(console, options, look, report))
    return failed;
  if (look.json)
    writeMaskJson(report, console.out);
  else if (look.output != "-") // then the SVG goes to standard output
    writeMaskText(report, /*pictures=*/look.output.empty(), console.out);
  if (look.output.empty())
    return Ok;
  return writeAtomically(console, look.output, [&](llvm::raw_pwrite_stream &os) {
    writeMaskSvg(report, os);
    return true;
  });
}
