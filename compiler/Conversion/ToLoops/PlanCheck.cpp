//===- PlanCheck.cpp - whether a plan is whole ----------------------------===//
//
// A stage can be saved, edited and compiled on. What an attribute may be at all its verifier says; here it is
// held against the function around it: every result has a place, every place is inside of the memory it names, for
// some lengths that stand for all. What a pass of ours has planned passes; so an error is the editor's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ToLoops/PlanCheck.h"
#include "compiler/Conversion/ToLoops/CPUPlan.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Conversion/ToLoops/Lowering.h"
#include "dialects/Model/IR/Plan.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "dialects/Model/Transforms/Views.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;
using namespace heddle::plan;

namespace {
class PlanCheck {
public:
  explicit PlanCheck(func::FuncOp function);
  LogicalResult run();

private:
  func::FuncOp function;
  std::map<std::string, Size> bounds; ///< of dims that the function finds out for itself
  std::vector<std::map<std::string, int64_t>> samples; ///< lengths at which forms are compared
  std::optional<Size> arena;

  bool allLengthsExist(const std::map<std::string, int64_t> &dims);
  LogicalResult check(Operation *op);
  LogicalResult checkPlace(Operation *op, PlaceAttr place, const Size &bytes, const Twine &whose);
  LogicalResult checkParam(ParamOp op);
  Size bytesOf(ModelTensorType t) { return t.getCount().substitute(bounds) * Size(plan::bytesOf(t.getElementType())); }
};
} // namespace

PlanCheck::PlanCheck(func::FuncOp function) : function(function), bounds(rowBounds(function)), arena(arenaOf(function)) {
  for (int64_t length : {1, 2, 17, 300, 5000}) {
    std::map<std::string, int64_t> dims{{model::kThreadsDim.str(), 2}};
    for (const std::string &dim : entryDims(function))
      dims[dim] = length++;
    if (allLengthsExist(dims))
      samples.push_back(dims);
  }
}

/// Whether no tensor is shorter than nothing: a convolution over too few rows is no run of the function.
bool PlanCheck::allLengthsExist(const std::map<std::string, int64_t> &dims) {
  auto exists = [&](Type type) {
    auto tensor = dyn_cast<ModelTensorType>(type);
    return !tensor || llvm::all_of(tensor.getSizes(), [&](const Size &n) { return n.substitute(bounds).evaluate(dims).value_or(0) >= 0; });
  };
  WalkResult all = function.walk([&](Operation *op) { return llvm::all_of(op->getResultTypes(), exists) ? WalkResult::advance() : WalkResult::interrupt(); });
  return llvm::all_of(function.getArgumentTypes(), exists) && !all.wasInterrupted();
}

/// Whether results of `op` are memory of its own.
static bool ownsMemory(Operation *op) {
  return !viewOffset(op) && !isa<ParamOp, ConstantOp, attn::AlibiSlopesOp>(op) && !standsForCache(op);
}

LogicalResult PlanCheck::checkPlace(Operation *op, PlaceAttr place, const Size &bytes, const Twine &whose) {
  if (!place || place.getKind() == PlaceKind::none)
    return op->emitError() << whose << " has no place; the pass model-plan-memory gives it one";
  if (place.getKind() == PlaceKind::output) {
    int64_t i = place.getOutput();
    auto output = i < int64_t(function.getNumResults()) ? dyn_cast<ModelTensorType>(function.getResultTypes()[i]) : ModelTensorType();
    for (const auto &dims : samples)
      if (!output || bytes.evaluate(dims).value_or(INT64_MAX) > bytesOf(output).evaluate(dims).value_or(0))
        return op->emitError() << whose << " lies in output " << i << " of '" << function.getName() << "', which has no room for " << bytes.str() << " bytes";
    return success();
  }
  for (const auto &dims : samples) {
    std::optional<int64_t> from = place.getOffset().evaluate(dims), size = bytes.evaluate(dims), all = arena->evaluate(dims);
    if (!from || !size || !all)
      return op->emitError() << whose << " lies at " << place.getForm() << ", whose dims '" << function.getName() << "' does not know";
    if (*from < 0 || *size > *all || *from > *all - *size)
      return op->emitError() << whose << " lies at " << place.getForm() << ", outside of the arena's " << arena->str() << " bytes";
  }
  return success();
}

LogicalResult PlanCheck::checkParam(ParamOp op) {
  if (!op.getLayout() || !op.getOffset())
    return op.emitError("has no place in the blob; the pass model-plan-parameters gives it one");
  SmallVector<int64_t> shape;
  for (const Size &n : op.getType().getSizes())
    shape.push_back(*n.constant());
  int64_t end = int64_t(op.getLayout()->getLayout().bytes(ArrayRef<int64_t>(shape)));
  bool over = llvm::AddOverflow(end, int64_t(*op.getOffset()), end);
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), *op.getStrides())) {
    APInt constant;
    auto arg = dyn_cast<BlockArgument>(index);
    auto repeat = arg && arg.getArgNumber() == 0 ? dyn_cast<RepeatOp>(arg.getOwner()->getParentOp()) : RepeatOp();
    bool known = matchPattern(index, m_ConstantInt(&constant));
    if (!repeat && !known)
      return op.emitError("has an index that is neither a constant nor that of a repeat");
    int64_t last = known ? constant.getSExtValue() : int64_t(repeat.getCount()) - 1, far;
    over |= last < 0 || llvm::MulOverflow(last, stride, far) || llvm::AddOverflow(end, far, end);
  }
  auto module = function->getParentOfType<ModuleOp>();
  if (over || (hasBlob(module) && end > blobBytesOf(module)))
    return op.emitError("lies outside of the blob's ") << blobBytesOf(module) << " bytes";
  return success();
}

LogicalResult PlanCheck::check(Operation *op) {
  if (std::string why = refuseTiles(op); !why.empty())
    return op->emitError() << why;
  if (auto param = dyn_cast<ParamOp>(op))
    return checkParam(param);
  if (ownsMemory(op))
    for (OpResult result : op->getResults())
      if (auto type = dyn_cast<ModelTensorType>(result.getType()))
        if (failed(checkPlace(op, placeOf(result), bytesOf(type), "result " + Twine(result.getResultNumber()))))
          return failure();
  if (Size bytes = scratchBytes(op).substitute(bounds); !bytes.is(0))
    if (failed(checkPlace(op, scratchOf(op), bytes, "working memory")))
      return failure();
  if (auto repeat = dyn_cast<RepeatOp>(op); repeat && (copiesInto(repeat).size() != repeat.getNumCarried() || copiesBack(repeat).size() != repeat.getNumCarried()))
    return op->emitError("does not say which carried values are copied; the pass model-plan-memory does");
  return success();
}

LogicalResult PlanCheck::run() {
  if (!arena || !llvm::all_of(samples, [&](const auto &dims) { return arena->evaluate(dims); }))
    return function.emitError("has an arena of unknown size; the pass model-plan-memory knows it");
  bool good = true;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    good &= succeeded(check(op));
    return isa<MapOp, LinearOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return success(good);
}

LogicalResult heddle::loops::checkPlan(func::FuncOp function) { return PlanCheck(function).run(); }
