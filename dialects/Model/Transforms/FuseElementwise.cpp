//===- FuseElementwise.cpp - chains become maps, maps become epilogues ----===//
//
// Every elementwise op becomes a map and merges the maps that only it reads; constants of one element
// move into the body. Then a linear takes the map that is its only reader as its epilogue. Values do not
// change, only how often they go through memory.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/TensorType.h"
#include "dialects/Model/Transforms/Fusion.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Model/Transforms/Scalars.h"
#include "dialects/Model/Transforms/Views.h"
#include "dialects/Remarks/Remark.h"
#include "mlir/IR/IRMapping.h"

namespace heddle::model {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "dialects/Model/Transforms/Passes.h.inc"
} // namespace heddle::model

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

/// Bodies with more ops than this are computed only once for each element, never again in a reader that
/// broadcasts.
static constexpr int kCheap = 4;
/// Bodies with more ops than this merge no further map: little is gained, and code generation time grows
/// faster than the body.
static constexpr size_t kLongestBody = 256;

/// The element of a constant with one element, as an attribute of the type it is computed in.
static TypedAttr oneElement(Value v) {
  auto constant = v.getDefiningOp<ConstantOp>();
  if (!constant || !typeOf(v).getCount().is(1))
    return {};
  Builder b(v.getContext());
  Type element = typeOf(v).getElementType();
  if (element.isF32())
    return b.getFloatAttr(element, (*constant.getValue().value_begin<APFloat>()).convertToDouble());
  APInt value = *constant.getValue().value_begin<APInt>();
  return b.getIntegerAttr(element, element.isInteger(1) ? int64_t(value.getBoolValue()) : value.getSExtValue());
}

/// How many ops of a body compute something.
static int opsOf(Region &body) {
  int ops = 0;
  for (Operation &o : body.front().without_terminator())
    ops += !isa<arith::ConstantOp>(o);
  return ops;
}

/// Why `map` is not computed inside of its reader `op`; "" if it may be.
static StringRef whyApart(MapOp map, Operation *op) {
  if (map->getBlock() != op->getBlock())
    return "its reader is in another block, where it would be computed in each iteration";
  for (Operation *user : map->getUsers())
    if (user != op)
      return "another op reads it, too";
  if (map.getBody().front().getOperations().size() > kLongestBody)
    return "its body is as long as a body may be";
  if (map.getType().getCount() == typeOf(op->getResult(0)).getCount())
    return "";
  // It is broadcast in the reader, so its elements would be computed more than once.
  if (llvm::any_of(map.getBody().front(), [](Operation &o) { return isa<FunctionOp, arith::DivFOp, math::PowFOp>(o); }))
    return "its reader broadcasts it, and would compute a division or a function again for each element";
  if (opsOf(map.getBody()) > kCheap)
    return "its reader broadcasts it, and would compute more than 4 ops again for each element";
  return "";
}

/// The map that defines `v` if it may be computed inside of its reader `op`; null otherwise.
static MapOp fusable(Value v, Operation *op) {
  auto map = v.getDefiningOp<MapOp>();
  if (!map)
    return {};
  StringRef why = whyApart(map, op);
  if (why.empty())
    return map;
  remarks::missed(map, remarks::FuseMap, why);
  return {};
}

/// `where` under the name of `v`.
static Location named(Location where, Value v) { return withName(nameOf(locationOf(v)), where); }

/// Replaces `op` by a map that also computes the maps that only it reads.
static void toMap(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  // Operands, each once, and for each operand of `op` where its element comes from.
  SmallVector<Value> operands;
  auto note = [&](Value v) {
    if (!llvm::is_contained(operands, v))
      operands.push_back(v);
  };
  SmallVector<MapOp> taken;
  for (Value v : op->getOperands()) {
    MapOp map = fusable(v, op);
    taken.push_back(map);
    if (oneElement(v))
      continue;
    if (map)
      for (Value inner : map.getOperands())
        note(inner);
    else
      note(v);
  }
  auto fused = MapOp::create(b, loc, op->getResult(0).getType(), operands);
  Block *body = b.createBlock(&fused.getBody());
  llvm::DenseMap<Value, Value> elements;
  for (Value v : operands)
    elements[v] = body->addArgument(typeOf(v).getElementType(), named(loc, v));
  SmallVector<Value> in;
  llvm::DenseMap<Value, Value> done;
  for (auto [v, map] : llvm::zip_equal(op->getOperands(), taken)) {
    if (TypedAttr one = oneElement(v)) {
      in.push_back(arith::ConstantOp::create(b, loc, one));
    } else if (!map) {
      in.push_back(elements[v]);
    } else if (Value again = done.lookup(v)) {
      in.push_back(again);
    } else {
      IRMapping mapping;
      for (auto [arg, inner] : llvm::zip_equal(map.getBody().getArguments(), map.getOperands()))
        mapping.map(arg, elements[inner]);
      for (Operation &o : map.getBody().front().without_terminator())
        b.clone(o, mapping);
      in.push_back(mapping.lookupOrDefault(map.getBody().front().getTerminator()->getOperand(0)));
      done[v] = in.back();
    }
  }
  Value out = emitElement(
      b, op, in, [&](UnaryKind kind, Value v) -> Value { return FunctionOp::create(b, loc, v.getType(), kind, v); });
  YieldOp::create(b, loc, ValueRange{out});
  op->getResult(0).replaceAllUsesWith(fused.getResult());
  op->erase();
  llvm::SmallSetVector<Operation *, 4> unused;
  for (MapOp map : taken)
    if (map && map->use_empty())
      unused.insert(map);
  for (Operation *map : unused)
    map->erase();
}

/// Whether an epilogue over `result` can read `extra`: at the element, along the columns, along the rows,
/// or as one element.
static bool readable(ModelTensorType result, ModelTensorType extra) {
  int64_t shift = result.getRank() - extra.getRank();
  bool all = true, none = true;
  for (int64_t i = 0; i + 1 < result.getRank(); ++i) {
    bool has = i >= shift && !extra.getSize(i - shift).is(1);
    if (!result.getSize(i).is(1))
      (has ? none : all) = false;
  }
  return all || none;
}

/// Why `map` is no epilogue of `linear`, which makes its operand `v`, whatever its other operands are; "" if it may be.
static StringRef whyNoEpilogue(MapOp map, LinearOp linear, Value v) {
  if (linear->getNumResults() != 1)
    return "the linear has several results";
  if (!linear.getEpilogue().empty())
    return "the linear has an epilogue already";
  if (linear->getBlock() != map->getBlock())
    return "the linear is in another block";
  if (!linear->hasOneUse())
    return "another op reads the linear's result, too";
  return v.getType() != map.getType() ? "it has another shape than the linear's result" : "";
}

/// The linear that takes `map`; null: none does, and `why` says why where it reads the result of one.
static LinearOp takerOf(MapOp map, StringRef &why) {
  LinearOp linear;
  for (Value v : map.getOperands())
    if (auto mine = v.getDefiningOp<LinearOp>()) {
      StringRef no = whyNoEpilogue(map, mine, v);
      if (no.empty() && (!linear || linear->isBeforeInBlock(mine)))
        linear = mine;
      why = why.empty() ? no : why;
    }
  for (Value v : map.getOperands())
    if (linear && v.getDefiningOp() != linear && !readable(map.getType(), typeOf(v))) {
      linear = {};
      why = "an operand can be read neither along the rows nor along the columns of the linear's result";
    }
  return linear;
}

LinearOp heddle::model::linearTaking(MapOp map) {
  StringRef why;
  return takerOf(map, why);
}

/// Moves `map` into the epilogue of its linear, if there is one that takes it.
static void toEpilogue(MapOp map) {
  StringRef why;
  LinearOp linear = takerOf(map, why);
  if (!linear) {
    if (!why.empty())
      remarks::missed(map, remarks::FuseEpilogue, why);
    return;
  }
  SmallVector<Value> extras;
  SmallVector<unsigned> order; // of the map's arguments after the linear's result
  unsigned own = 0;
  for (auto [i, v] : llvm::enumerate(map.getOperands())) {
    if (v.getDefiningOp() == linear) {
      own = i;
      continue;
    }
    extras.push_back(v);
    order.push_back(i);
  }
  OpBuilder b(map);
  Location loc = map.getLoc();
  // What comes out is the map's value, made where the linear is.
  auto fused =
      LinearOp::create(b, named(linear.getLoc(), map.getResult()), map->getResultTypes(), linear.getInput(),
                       linear.getWeight(), linear.getBias(), extras, linear.getInOutAttr(), linear.getPartsAttr(),
                       linear.getGroupsAttr(), linear.getPartAttr(), linear.getFilterAttr());
  fused->setDiscardableAttrs(linear->getDiscardableAttrDictionary());
  Block *body = b.createBlock(&fused.getEpilogue());
  IRMapping mapping;
  mapping.map(map.getBody().getArgument(own), body->addArgument(b.getF32Type(), named(loc, linear.getResult(0))));
  for (auto [i, v] : llvm::zip_equal(order, extras))
    mapping.map(map.getBody().getArgument(i), body->addArgument(typeOf(v).getElementType(), named(loc, v)));
  for (Operation &o : map.getBody().front())
    b.clone(o, mapping);
  map.getResult().replaceAllUsesWith(fused.getResult(0));
  map.erase();
  linear.erase();
}

/// What was fused, once it is final.
static void remarkOnFused(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto map = dyn_cast<MapOp>(op)) {
      if (int ops = opsOf(map.getBody()); ops > 1)
        remarks::passed(map, remarks::FuseMap)
            << remarks::number("ops", ops) << " elementwise ops are one pass over memory";
    } else if (auto linear = dyn_cast<LinearOp>(op); linear && !linear.getEpilogue().empty()) {
      int ops = opsOf(linear.getEpilogue());
      remarks::passed(linear, remarks::FuseEpilogue)
          << remarks::number("ops", ops) << " elementwise op" << (ops == 1 ? " is" : "s are")
          << " done on its sums before they are stored";
    }
  });
}

namespace {
struct FuseElementwise final : heddle::model::impl::FuseElementwisePassBase<FuseElementwise> {
  void runOnOperation() override {
    SmallVector<Operation *> elementwise;
    getOperation().walk([&](Operation *op) {
      if (isElementwise(op) && !viewOffset(op))
        elementwise.push_back(op);
    });
    for (Operation *op : elementwise)
      toMap(op);
    SmallVector<MapOp> maps;
    getOperation().walk([&](MapOp map) { maps.push_back(map); });
    for (MapOp map : maps)
      toEpilogue(map);
    // Constants that had only been read by maps are unused now.
    getOperation().walk([](ConstantOp op) {
      if (op->use_empty())
        op.erase();
    });
    if (remarks::wanted(getOperation()))
      remarkOnFused(getOperation());
  }
};
} // namespace
