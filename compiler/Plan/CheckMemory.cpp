//===- CheckMemory.cpp - places, and what is there when ------------------===//
//
// A memory plan is checked in two steps. First every place is held against the size of the memory it names. Then the
// function is simulated on addresses alone, without any data: each op reads its operands' bytes and writes its
// results', and bytes that are read must still belong to the value they are read as. Places may therefore overlap as
// they like, as long as no value is overwritten before its last use; working memory that lasts is overwritten by
// nothing. A repeat is simulated twice, because from its second iteration on every iteration begins with the same
// memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/InPlace.h"
#include "compiler/Plan/Lengths.h"
#include "compiler/Plan/PlanCheck.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Model/Transforms/Views.h"
#include <unordered_map>

using namespace mlir;
using namespace heddle;
using namespace heddle::model;
using namespace heddle::plan;

using Dims = std::map<std::string, int64_t>;

/// Whether results of `op` have memory of their own; views, parameters and caches do not.
static bool ownsMemory(Operation *op) {
  return !viewOffset(op) && !isa<ParamOp, ConstantOp, attn::AlibiSlopesOp>(op) && !standsForCache(op);
}

//===-- how much ----------------------------------------------------------------------===//

namespace {
/// Bytes and offsets of one function as forms over the dims of its calls. Each is made once, since every sample of
/// lengths asks for all of them.
class Forms {
public:
  Forms(func::FuncOp function, const Target &target) : target(target), bounds(rowBounds(function)) {}

  const Size &bytesOf(ModelTensorType type) {
    return once(type.getAsOpaquePointer(),
                [&] { return type.getCount() * Size(plan::bytesOf(type.getElementType())); });
  }
  const Size &offsetOf(PlaceAttr place) {
    return once(place.getAsOpaquePointer(), [&] { return place.getOffset(); });
  }
  /// The same of where a value is.
  const Size &bytesOf(Value v) {
    auto result = dyn_cast<OpResult>(v);
    std::optional<Size> own = result ? target.bytesOf(result) : std::nullopt;
    return own ? once(v.getAsOpaquePointer(), [&] { return *own; }) : bytesOf(cast<ModelTensorType>(v.getType()));
  }
  /// Bytes of the working memory of `op`.
  const Size &scratchOf(Operation *op) {
    return once(op, [&] { return target.scratchBytes(op); });
  }
  /// `form` with the bounds of dims that are computed inside of the function in their place.
  Size bounded(const Size &form) const { return form.substitute(bounds); }

private:
  const Target &target;
  std::map<std::string, Size> bounds;
  std::unordered_map<const void *, Size> made; ///< by type, place or op

  const Size &once(const void *key, llvm::function_ref<Size()> make) {
    auto it = made.find(key);
    return it == made.end() ? made.emplace(key, bounded(make())).first->second : it->second;
  }
};
} // namespace

//===-- what is where --------------------------------------------------------------===//

namespace {
/// Bytes [begin, end) of the arena (space 0) or of output `space` - 1.
struct Stretch {
  int64_t space = 0, begin = 0, end = 0;
  bool operator==(const Stretch &o) const { return space == o.space && begin == o.begin && end == o.end; }
};

/// An interval map from bytes to the last write that touched them. Writes are numbered in the order of the simulation.
class Memory {
public:
  void write(Stretch s, unsigned writing) {
    if (s.begin >= s.end)
      return;
    auto at = firstMeeting(s);
    while (at != pieces.end() && at->first < std::pair(s.space, s.end)) { // cut away what it covers
      Piece old = at->second;
      int64_t begin = at->first.second;
      at = pieces.erase(at);
      if (begin < s.begin)
        pieces[{s.space, begin}] = {s.begin, old.writing};
      if (old.end > s.end)
        at = pieces.insert_or_assign({s.space, s.end}, Piece{old.end, old.writing}).first;
    }
    pieces[{s.space, s.begin}] = {s.end, writing};
  }
  /// A later write than `writing` into some byte of `s`, if there was one.
  std::optional<unsigned> other(Stretch s, unsigned writing) {
    if (s.begin >= s.end)
      return std::nullopt;
    for (auto at = firstMeeting(s); at != pieces.end() && at->first < std::pair(s.space, s.end); ++at)
      if (at->second.writing != writing)
        return at->second.writing;
    return std::nullopt;
  }

private:
  struct Piece {
    int64_t end;
    unsigned writing;
  };
  std::map<std::pair<int64_t, int64_t>, Piece> pieces; ///< by space and first byte; they do not overlap

  std::map<std::pair<int64_t, int64_t>, Piece>::iterator firstMeeting(Stretch s) {
    auto at = pieces.upper_bound({s.space, s.begin});
    if (at != pieces.begin()) {
      auto before = std::prev(at);
      if (before->first.first == s.space && before->second.end > s.begin)
        return before;
    }
    return at;
  }
};

//===-- one function at some lengths ---------------------------------------------------===//

/// The simulation of one function for one choice of lengths. All places are known to be inside of their memory.
class Rehearsal {
public:
  Rehearsal(func::FuncOp function, const Target &target, Forms &forms, const Dims &dims, Report report)
      : function(function), target(target), forms(forms), dims(dims), report(report) {}
  bool run() { return visit(function.getBody().front()); }

private:
  struct Held {
    Stretch where;
    unsigned writing;
  };
  func::FuncOp function;
  const Target &target;
  Forms &forms;
  const Dims &dims;
  Report report;
  Memory memory;
  llvm::DenseMap<Value, Held> held;          ///< of values in the arena or an output
  llvm::DenseMap<Operation *, Held> working; ///< of ops that have working memory
  SmallVector<Operation *> lasting;          ///< those whose working memory is read to the end of the function
  SmallVector<Operation *> writers;          ///< of each writing

  int64_t number(const Size &form) { return form.evaluate(dims).value_or(0); }
  int64_t bytesOf(Value v) { return number(forms.bytesOf(v)); }
  Stretch stretchOf(PlaceAttr place, int64_t bytes) {
    if (!place.inArena())
      return {1 + place.getOutput(), 0, bytes};
    int64_t from = number(forms.offsetOf(place));
    return {0, from, from + bytes};
  }

  unsigned writing(Operation *op) {
    writers.push_back(op);
    return writers.size() - 1;
  }
  void hold(Value v, Stretch where, Operation *writer) {
    held[v] = {where, writing(writer)};
    memory.write(where, held[v].writing);
  }
  /// The op that overwrote (part of) a value; null if it is whole.
  Operation *spoiler(Value v) {
    auto it = held.find(v);
    if (it == held.end())
      return nullptr;
    std::optional<unsigned> other = memory.other(it->second.where, it->second.writing);
    return other ? writers[*other] : nullptr;
  }
  /// Whether all of `values` are still whole when `op` reads them; reports the first that is not.
  bool intact(Operation *op, ArrayRef<Value> values) {
    for (Value v : values)
      if (Operation *by = spoiler(v)) {
        report(op, "needs a value in the place where '" + by->getName().getStringRef() + "' has written meanwhile");
        return false;
      }
    return true;
  }

  /// Whether working memory that is read to the end of the function is still whole after `op`.
  bool lasts(Operation *op) {
    for (Operation *one : lasting)
      if (memory.other(working[one].where, working[one].writing)) {
        report(op, "writes into the working memory of '" + one->getName().getStringRef() +
                       "', which is read to the end of the function");
        return false;
      }
    return true;
  }

  void collect(Value v, SmallVectorImpl<Value> &tensors, llvm::DenseSet<Value> &seen);
  SmallVector<Value> readBy(Operation *op);
  bool mayWriteOver(Operation *op, Value operand);
  bool visit(Block &block);
  bool visit(Operation *op);
  bool visitDefault(DefaultOp op);
  bool visitRepeat(RepeatOp op);
  bool visitReturn(func::ReturnOp op);
  bool copyInto(Operation *op, ArrayRef<std::pair<Value, Value>> pairs, ArrayRef<Stretch> places,
                ArrayRef<bool> copied);
};
} // namespace

/// A mask or a bias is read where attention asks it: it stands for the tensors it is made of.
void Rehearsal::collect(Value v, SmallVectorImpl<Value> &tensors, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(v).second)
    return;
  if (isa<ModelTensorType>(v.getType()))
    return tensors.push_back(v);
  if (Operation *op = v.getDefiningOp(); op && isa<mask::MaskType, attn::BiasType>(v.getType()))
    for (Value operand : op->getOperands())
      collect(operand, tensors, seen);
}

SmallVector<Value> Rehearsal::readBy(Operation *op) {
  SmallVector<Value> tensors;
  llvm::DenseSet<Value> seen;
  for (Value v : op->getOperands())
    collect(v, tensors, seen);
  return tensors;
}

/// Whether the one result of `op` is where `operand` is, and `op` is written so that it may.
bool Rehearsal::mayWriteOver(Operation *op, Value operand) {
  if (op->getNumResults() != 1 || !held.count(op->getResult(0)) || !held.count(operand) ||
      target.bytesOf(op->getResult(0)))
    return false;
  Stretch to = held[op->getResult(0)].where, from = held[operand].where;
  if (isInPlace(op))
    return operand == op->getOperand(0) && to.space == from.space && to.begin == from.begin;
  SmallVector<Value> elementwise = elementwiseOperands(op);
  // An operand that is also read as a whole, of a linear say, must stay.
  unsigned whole = op->getNumOperands() - elementwise.size();
  return to == from && operand.getType() == op->getResult(0).getType() && llvm::is_contained(elementwise, operand) &&
         !llvm::is_contained(op->getOperands().take_front(whole), operand);
}

bool Rehearsal::visit(Block &block) {
  for (Operation &op : block)
    if (!visit(&op) || !lasts(&op))
      return false;
  return true;
}

/// Runs one op on the map of the arena: its operands must be there as they were written; its working memory and its
/// results take their places, which ends what lay there before. False after an error.
bool Rehearsal::visit(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return visitRepeat(repeat);
  if (auto fallback = dyn_cast<DefaultOp>(op))
    return visitDefault(fallback);
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return visitReturn(end);
  if (std::optional<Size> offset = viewOffset(op)) {
    auto it = held.find(op->getOperand(0));
    if (it == held.end())
      return true;
    Held from = it->second;
    auto type = cast<ModelTensorType>(op->getOperand(0).getType());
    from.where.begin += number(forms.bounded(*offset)) * plan::bytesOf(type.getElementType());
    if (!isa<WindowsOp>(op)) // overlapping rows are more elements than are there
      from.where.end = from.where.begin + bytesOf(op->getResult(0));
    held[op->getResult(0)] = from;
    return true;
  }
  if (isa<YieldOp>(op) || llvm::any_of(op->getResultTypes(), llvm::IsaPred<mask::MaskType, attn::BiasType>))
    return true;

  SmallVector<Value> operands = readBy(op);
  if (!intact(op, operands))
    return false;
  if (!ownsMemory(op))
    return true;
  Held scratch{{}, writing(op)};
  if (const Size &bytes = forms.scratchOf(op); !bytes.is(0)) {
    Stretch where = stretchOf(scratchOf(op), number(bytes));
    if (Operation *before = target.leavesScratchFor(op)) {
      scratch = working.lookup(before);
      if (!(scratch.where == where) || memory.other(where, scratch.writing)) {
        report(op, "does not find the working memory that '" + before->getName().getStringRef() + "' before it left");
        return false;
      }
    } else {
      scratch.where = where;
      memory.write(where, scratch.writing);
    }
    working[op] = scratch;
    if (target.scratchLasts(op) && !llvm::is_contained(lasting, op))
      lasting.push_back(op);
  }
  bool apart = true;
  for (OpResult result : op->getResults())
    if (isa<ModelTensorType>(result.getType()))
      hold(result, stretchOf(placeOf(result), bytesOf(result)), op);
  for (Value result : op->getResults())
    apart &= !spoiler(result);
  if (!apart || memory.other(scratch.where, scratch.writing)) {
    report(op, "has results, or working memory, that lie in one another");
    return false;
  }
  for (Value v : operands)
    if (spoiler(v) ? !mayWriteOver(op, v) : isInPlace(op) && v == op->getOperand(0) && bytesOf(v)) {
      report(op, isInPlace(op) ? "moves rows in their place, but its result is elsewhere"
                               : "writes over an operand that it still reads");
      return false;
    }
  return true;
}

bool Rehearsal::visitDefault(DefaultOp op) {
  Block &body = op.getBody().front();
  Value value = body.getTerminator()->getOperand(0);
  if (!visit(body) || !intact(op, value))
    return false;
  hold(op.getResult(), stretchOf(placeOf(cast<OpResult>(op.getResult())), bytesOf(op.getResult())), op);
  return intact(op, value);
}

/// A parallel assignment: the first value of each pair becomes the second, at `places`. What is copied must be whole
/// until all copies are made; what is not copied must be in its place already.
bool Rehearsal::copyInto(Operation *op, ArrayRef<std::pair<Value, Value>> pairs, ArrayRef<Stretch> places,
                         ArrayRef<bool> copied) {
  SmallVector<Held> next;
  for (auto [pair, place, copy] : llvm::zip_equal(pairs, places, copied)) {
    auto it = held.find(pair.first);
    if (!intact(op, pair.first))
      return false;
    if (!copy && (it == held.end() || !(it->second.where == place))) {
      report(op, "takes a value to lie in its place already, but it does not, and no copy is planned");
      return false;
    }
    next.push_back({place, copy ? writing(op) : it->second.writing});
  }
  for (const Held &h : next)
    memory.write(h.where, h.writing);
  for (const Held &h : next)
    if (memory.other(h.where, h.writing)) {
      report(op, "has values in one another's places");
      return false;
    }
  for (auto [pair, copy] : llvm::zip_equal(pairs, copied))
    if (copy && !intact(op, pair.first))
      return false;
  for (auto [pair, h] : llvm::zip_equal(pairs, next))
    held[pair.second] = h;
  return true;
}

bool Rehearsal::visitRepeat(RepeatOp op) {
  unsigned carried = op.getNumCarried();
  YieldOp yield = op.getYield();
  SmallVector<std::pair<Value, Value>> in, back;
  SmallVector<Stretch> slots;
  for (unsigned i = 0; i < carried; ++i) {
    in.push_back({op.getCarried()[i], op.getCarriedArgs()[i]});
    back.push_back({yield.getOperand(i), op.getCarriedArgs()[i]});
    slots.push_back(stretchOf(placeOf(cast<OpResult>(op->getResult(i))), bytesOf(op->getResult(i))));
  }
  if (!copyInto(op, in, slots, copiesInto(op)))
    return false;
  SmallVector<Value> collected;
  for (OpResult result : op->getResults().drop_front(carried)) {
    hold(result, stretchOf(placeOf(result), bytesOf(result)), op);
    collected.push_back(result);
  }
  for (int64_t turn = 0, turns = std::min<int64_t>(op.getCount(), 2); turn < turns; ++turn) {
    SmallVector<Value> ends(yield.getOperands().drop_front(carried));
    if (!visit(op.getBody().front()) || !intact(yield, ends) || !intact(op, collected) ||
        !copyInto(yield, back, slots, copiesBack(op)))
      return false;
  }
  for (unsigned i = 0; i < carried; ++i)
    held[op->getResult(i)] = Held(held.lookup(op.getCarriedArgs()[i])); // a copy: the map may grow meanwhile
  return intact(op, collected);
}

bool Rehearsal::visitReturn(func::ReturnOp op) {
  SmallVector<std::pair<Value, Value>> pairs;
  SmallVector<Stretch> outputs;
  for (auto [i, v] : llvm::enumerate(op.getOperands())) {
    pairs.push_back({v, v});
    outputs.push_back({int64_t(1 + i), 0, bytesOf(v)});
  }
  return copyInto(op, pairs, outputs, copiesOut(op));
}

//===-- places inside of their memory ---------------------------------------------------===//

namespace {
class PlaceCheck {
public:
  PlaceCheck(func::FuncOp function, const Target &target, Report report)
      : function(function), target(target), report(report), forms(function, target), arena(arenaOf(function)) {}
  void run();

private:
  func::FuncOp function;
  const Target &target;
  Report report;
  Forms forms;
  std::optional<Size> arena;
  std::vector<Dims> samples; ///< lengths at which size forms are compared: symbolic comparison would be incomplete

  void sample();
  std::string misplaced(PlaceAttr place, const Size &bytes);
  bool check(Operation *op);
};
} // namespace

/// Chooses the lengths. Those at which some tensor would have a negative length, as after a convolution over too few
/// rows, or bytes that leave 64 bits, are left out: no call of the function has them.
void PlaceCheck::sample() {
  std::set<Size> lengths{*arena}; // of any axis, and bytes
  llvm::DenseSet<Type> seen;
  auto note = [&](Type type) {
    if (auto tensor = dyn_cast<ModelTensorType>(type); tensor && seen.insert(type).second)
      for (const Size &length : tensor.getSizes())
        lengths.insert(forms.bounded(length));
    if (auto tensor = dyn_cast<ModelTensorType>(type))
      lengths.insert(forms.bytesOf(tensor));
  };
  llvm::for_each(function.getArgumentTypes(), note);
  function.walk([&](Operation *op) { llvm::for_each(op->getResultTypes(), note); });
  for (int64_t length : {1, 2, 17, 300, 5000}) {
    Dims dims{{model::kThreadsDim.str(), 2}};
    for (const std::string &dim : entryDims(function))
      dims[dim] = length++;
    auto knows = [&](const std::string &dim) { return dims.count(dim) > 0; };
    if (llvm::all_of(lengths, [&](const Size &n) {
          std::optional<int64_t> number = n.evaluate(dims);
          return number ? *number >= 0 : !llvm::all_of(n.dims(), knows);
        }))
      samples.push_back(dims);
  }
}

/// Why so many bytes are not at `place`; empty: they are.
std::string PlaceCheck::misplaced(PlaceAttr place, const Size &bytes) {
  if (!place || place.getKind() == PlaceKind::none)
    return "has no place; the pass model-plan-memory gives it one";
  if (place.getKind() == PlaceKind::output) {
    int64_t i = place.getOutput();
    auto output = i < int64_t(function.getNumResults()) ? dyn_cast<ModelTensorType>(function.getResultTypes()[i])
                                                        : ModelTensorType();
    for (const Dims &dims : samples)
      if (!output || bytes.evaluate(dims).value_or(INT64_MAX) > forms.bytesOf(output).evaluate(dims).value_or(0))
        return ("is in output " + Twine(i) + " of '" + function.getName() + "', which has no room for " + bytes.str() +
                " bytes")
            .str();
    return "";
  }
  std::string form = "\"" + place.getForm().getValue().str() + "\"";
  for (const Dims &dims : samples) {
    std::optional<int64_t> from = forms.offsetOf(place).evaluate(dims), size = bytes.evaluate(dims),
                           all = arena->evaluate(dims);
    if (!from || !size || !all)
      return ("is at " + form + ", of which '" + function.getName() + "' does not know").str();
    if (*from < 0 || *size > *all || *from > *all - *size)
      return "is at " + form + ", outside of the arena's " + arena->str() + " bytes";
  }
  return "";
}

bool PlaceCheck::check(Operation *op) {
  auto complain = [&](const Twine &what) {
    report(op, what);
    return false;
  };
  if (ownsMemory(op))
    for (OpResult result : op->getResults())
      if (isa<ModelTensorType>(result.getType()))
        if (std::string why = misplaced(placeOf(result), forms.bytesOf(result)); !why.empty())
          return complain("result " + Twine(result.getResultNumber()) + " " + why);
  if (const Size &bytes = forms.scratchOf(op); !bytes.is(0))
    if (std::string why = misplaced(scratchOf(op), bytes); !why.empty())
      return complain("working memory " + why);
  if (auto repeat = dyn_cast<RepeatOp>(op))
    if (copiesInto(repeat).size() != repeat.getNumCarried() || copiesBack(repeat).size() != repeat.getNumCarried())
      return complain("does not say which carried values are copied; the pass model-plan-memory does");
  if (isa<func::ReturnOp>(op) && copiesOut(op).size() != op->getNumOperands())
    return complain("does not say which results are copied; the pass model-plan-memory does");
  return true;
}

void PlaceCheck::run() {
  SmallVector<std::string> known = entryDims(function);
  known.push_back(model::kThreadsDim.str());
  if (!arena || !llvm::all_of(arena->dims(), [&](const std::string &dim) { return llvm::is_contained(known, dim); }))
    return report(function, "has an arena of unknown size; the pass model-plan-memory knows it");
  sample();
  bool good = true;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    good &= op == function || check(op);
    return isa<MapOp, LinearOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  for (const Dims &dims : samples)
    if (good)
      good = Rehearsal(function, target, forms, dims, report).run();
}

void heddle::plan::checkMemory(func::FuncOp function, const Target &target, Report report) {
  PlaceCheck(function, target, report).run();
}

void heddle::plan::checkBuffersPlan(ModuleOp module, Report report) {
  bool good = true;
  checkTiledPlan(module, [&](Operation *op, const Twine &what) {
    good = false;
    report(op, what);
  });
  const Target *target = good ? targetOf(module) : nullptr;
  for (auto f : module.getOps<func::FuncOp>())
    if (target && !f.isDeclaration())
      checkMemory(f, *target, report);
}
