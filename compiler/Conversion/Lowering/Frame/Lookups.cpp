//===- Lookups.cpp - rows that are chosen by numbers of the data ----------===//
//
// Numbers the embeddings and gathers of a module, and says in words what each one reads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Lookups.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace heddle;

/// Calls `visit` with each lookup, in the order of the ops.
static void forEachLookup(ModuleOp module, llvm::function_ref<void(Operation *)> visit) {
  module.walk([&](Operation *op) {
    if (isa<model::EmbeddingOp, model::GatherOp>(op))
      visit(op);
  });
}

/// Where the numbers of a lookup come from, through ops that only reshape them: an input or positions; empty if they
/// are computed.
static std::string sourceOf(Value numbers) {
  while (Operation *op = numbers.getDefiningOp()) {
    if (isa<model::RangeOp>(op))
      return "positions";
    if (!isa<model::DefaultOp, model::CastOp, model::BroadcastOp, model::SqueezeOp, model::UnsqueezeOp,
             model::PackRowsOp>(op))
      return "";
    numbers = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(numbers);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto name = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "model.name") : StringAttr();
  return name ? "input `" + name.getValue().str() + "`" : "";
}

/// What a message says of a lookup: the table, and by what it is indexed.
static std::string textOf(Operation *lookup) {
  auto embedding = dyn_cast<model::EmbeddingOp>(lookup);
  auto table = embedding ? embedding.getTable().getDefiningOp<model::ParamOp>() : model::ParamOp();
  std::string text = table       ? table.getName().str()
                     : embedding ? "a table that is computed"
                                 : "rows that are chosen by position";
  std::string source = sourceOf(lookup->getOperand(embedding ? 0 : 1));
  return source.empty() ? text : text + ", by " + source;
}

std::vector<std::string> loops::lookupTexts(ModuleOp module) {
  std::vector<std::string> texts;
  forEachLookup(module, [&](Operation *lookup) { texts.push_back(textOf(lookup)); });
  return texts;
}

int64_t loops::lookupNumber(Operation *lookup) {
  int64_t number = -1, next = 0;
  forEachLookup(lookup->getParentOfType<ModuleOp>(), [&](Operation *other) {
    if (other == lookup)
      number = next;
    ++next;
  });
  return number;
}
