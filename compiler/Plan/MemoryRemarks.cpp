//===- MemoryRemarks.cpp - what the memory plan decided -------------------===//

#include "compiler/Plan/MemoryRemarks.h"
#include "compiler/Plan/CacheLayout.h"
#include "compiler/Plan/InPlace.h"
#include "compiler/Plan/Lengths.h"
#include "dialects/Model/IR/LifeAttrs.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/Transforms/Views.h"
#include "dialects/Remarks/Remark.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

namespace {
/// The remarks of one function.
class MemoryRemarks {
public:
  MemoryRemarks(func::FuncOp function, const plan::Target &target)
      : function(function), target(target), bounds(plan::rowBounds(function)) {}
  void run();

private:
  func::FuncOp function;
  const plan::Target &target;
  std::map<std::string, Size> bounds; ///< of dims that are computed inside the function
  llvm::SetVector<Attribute> inArena; ///< places

  std::string bytesOf(Value v);
  void onPlaces(Operation *op);
  void onInPlace(Operation *op);
  void onRepeat(RepeatOp op);
  void onReturn(func::ReturnOp op);
};
} // namespace

/// The form of a tensor's bytes, as the target stores it.
std::string MemoryRemarks::bytesOf(Value v) {
  auto result = dyn_cast<OpResult>(v);
  if (std::optional<Size> own = result ? target.bytesOf(result) : std::nullopt)
    return own->substitute(bounds).str();
  auto type = cast<ModelTensorType>(v.getType());
  return (type.getCount().substitute(bounds) * Size(plan::bytesOf(type.getElementType()))).str();
}

/// Where a value is that fills its place; null for a view, and for what has no place of the plan.
static PlaceAttr placeOfWhole(Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto repeat = dyn_cast<RepeatOp>(arg.getOwner()->getParentOp());
    return repeat && arg.getArgNumber() ? placeOf(repeat->getResult(arg.getArgNumber() - 1)) : PlaceAttr();
  }
  auto result = cast<OpResult>(v);
  PlaceAttr place = placeOf(result);
  return place && place.getKind() != PlaceKind::none ? place : PlaceAttr();
}

void MemoryRemarks::onPlaces(Operation *op) {
  for (OpResult result : op->getResults()) {
    PlaceAttr place = isa<ModelTensorType>(result.getType()) ? placeOfWhole(result) : PlaceAttr();
    if (!place)
      continue;
    remarks::InFlight remark = remarks::analysis(op, remarks::MemoryPlace);
    if (std::optional<Life> life = lifeOf(result))
      remark.add("first", life->begin).add("last", life->end);
    if (place.inArena()) {
      inArena.insert(place);
      remark << "its result has " << remarks::number("bytes", bytesOf(result)) << " bytes of the arena from "
             << remarks::number("offset", place.getOffset().str()) << " on";
    } else {
      remark << "its result has " << remarks::number("bytes", bytesOf(result))
             << " bytes in the caller's memory of output " << place.getOutput();
    }
  }
  if (PlaceAttr scratch = scratchOf(op); scratch && scratch.inArena()) {
    inArena.insert(scratch);
    remarks::analysis(op, remarks::MemoryPlace)
        << "its scratch memory has " << remarks::number("bytes", target.scratchBytes(op).substitute(bounds).str())
        << " bytes of the arena from " << remarks::number("offset", scratch.getOffset().str()) << " on";
  }
  if (isa<AppendOp, StoreOp>(op))
    remarks::analysis(op, remarks::MemoryPlace) << "it writes its rows into the state";
}

/// Why the result of `op` is not in the place of its operand `v`, which has one.
static StringRef whyBeside(Operation *op, Value v) {
  if (v.getType() != op->getResult(0).getType())
    return "its operand has another shape or type";
  if (v.getParentBlock() != op->getBlock())
    return "its operand is made outside of this block";
  for (Operation *user : v.getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (user != op && here && op->isBeforeInBlock(here))
      return "its operand is read later, too";
  }
  if (isa<BlockArgument>(v))
    return "the repeat makes its next value in the operand's place";
  return "a view of its operand is read later, or it reads other elements of it";
}

void MemoryRemarks::onInPlace(Operation *op) {
  if (op->getNumResults() != 1 || !isa<ModelTensorType>(op->getResult(0).getType()))
    return;
  PlaceAttr mine = placeOfWhole(op->getResult(0));
  if (!mine)
    return;
  SmallVector<Value> operands = plan::elementwiseOperands(op);
  if (isa<PackRowsOp, UnpackRowsOp>(op))
    operands = {op->getOperand(0)};
  StringRef why;
  for (Value v : operands) {
    PlaceAttr place = placeOfWhole(v);
    if (place == mine) {
      remarks::passed(op, remarks::MemoryInPlace)
          << "its result is written over its operand, " << remarks::number("bytes", bytesOf(v)) << " bytes";
      return;
    }
    if (place && why.empty())
      why = whyBeside(op, v);
  }
  if (!why.empty())
    remarks::missed(op, remarks::MemoryInPlace, why).add("bytes", bytesOf(op->getResult(0)));
}

void MemoryRemarks::onRepeat(RepeatOp op) {
  ArrayRef<bool> into = copiesInto(op), back = copiesBack(op);
  int64_t copies = llvm::count(into, true) + llvm::count(back, true), values = op.getNumCarried();
  if (!values) {
    remarks::passed(op, remarks::MemoryCarried).add("values", values)
        << "it carries nothing from one iteration to the next";
    return;
  }
  if (!copies) {
    remarks::passed(op, remarks::MemoryCarried)
        << remarks::number("values", values)
        << (values == 1 ? " value that it carries stays" : " values that it carries stay") << " in place";
    return;
  }
  remarks::InFlight remark = remarks::missed(
      op, remarks::MemoryCarried,
      back.empty() || !llvm::is_contained(back, true)
          ? "a first value is copied, since it is read later, or is an input or a view"
          : "a new value is copied after each iteration, since the body still reads the old one when it is made");
  remark.add("values", values).add("copies", copies);
  for (auto [i, v] : llvm::enumerate(op.getCarried()))
    if (i < into.size() && into[i])
      remark.note(v.getLoc(), "this first value is copied");
  for (auto [i, v] : llvm::enumerate(op.getYield().getOperands()))
    if (i < back.size() && back[i])
      remark.note(v.getLoc(), "this is copied after each iteration");
}

/// Why an output is copied to the caller's memory.
static StringRef whyCopied(func::ReturnOp op, unsigned index) {
  Value v = op.getOperand(index);
  Operation *maker = v.getDefiningOp();
  if (!maker)
    return "it is an input";
  if (isa<ParamOp, ConstantOp>(maker))
    return "it is constant";
  if (viewOffset(maker))
    return "it is a view of another value";
  if (llvm::is_contained(op.getOperands().take_front(index), v))
    return "it is an output already";
  return "its memory is another output's, too, or may be the caller's";
}

void MemoryRemarks::onReturn(func::ReturnOp op) {
  for (auto [i, copied] : llvm::enumerate(copiesOut(op))) {
    Value v = op.getOperand(i);
    remarks::Where where(v.getLoc(), function.getNameAttr());
    if (copied)
      remarks::missed(where, remarks::MemoryOutput, whyCopied(op, i)).add("bytes", bytesOf(v));
    else
      remarks::passed(where, remarks::MemoryOutput)
          << "output " << i << " is made in the caller's memory, " << remarks::number("bytes", bytesOf(v)) << " bytes";
  }
}

void MemoryRemarks::run() {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return;
    target.remarkOn(op);
    onPlaces(op);
    onInPlace(op);
    if (auto repeat = dyn_cast<RepeatOp>(op))
      onRepeat(repeat);
    else if (auto end = dyn_cast<func::ReturnOp>(op))
      onReturn(end);
  });
  if (std::optional<Size> bytes = arenaOf(function))
    remarks::analysis(function, remarks::MemoryArena)
        << "a call reserves " << remarks::number("reserved", bytes->str()) << " bytes, in which "
        << remarks::number("places", inArena.size()) << " places begin";
}

void heddle::plan::remarkOnMemory(func::FuncOp function, const Target &target) {
  MemoryRemarks(function, target).run();
}
