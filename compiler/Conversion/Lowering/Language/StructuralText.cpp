//===- StructuralText.cpp - equal texts: equal code -----------------------===//

#include "compiler/Conversion/Lowering/Language/StructuralText.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

StructuralText::StructuralText(Operation *op) : root(op), os(text) { write(op); }

/// An operand: its number, and at its first mention, if it is made outside, the constant that it is or its type.
void StructuralText::mention(Value v) {
  auto [at, fresh] = numbers.try_emplace(v, numbers.size());
  os << ' ' << at->second;
  if (!fresh || root->isAncestor(v.getParentBlock()->getParentOp()))
    return;
  Operation *op = v.getDefiningOp();
  if (op && op->getNumOperands() == 0 && op->getNumRegions() == 0 && isPure(op)) {
    made.insert(op);
    os << '=' << op->getName() << op->getAttrDictionary();
  } else {
    read.insert(v);
  }
  os << ':' << v.getType();
}

/// An op with its attributes, operands, successors, types of results, and regions.
void StructuralText::write(Operation *op) {
  os << op->getName() << op->getDiscardableAttrDictionary() << op->getPropertiesAsAttribute();
  for (Value v : op->getOperands())
    mention(v);
  for (Block *block : op->getSuccessors())
    os << " ^" << blocks.try_emplace(block, blocks.size()).first->second;
  os << "->";
  for (Value v : op->getResults()) {
    numbers.try_emplace(v, numbers.size());
    os << v.getType();
  }
  for (Region &region : op->getRegions()) {
    os << '{';
    for (Block &block : region) {
      if (!block.hasNoPredecessors())
        os << '^' << blocks.try_emplace(&block, blocks.size()).first->second;
      for (BlockArgument v : block.getArguments()) {
        numbers.try_emplace(v, numbers.size());
        os << v.getType();
      }
      os << ':';
      for (Operation &inner : block)
        write(&inner);
    }
    os << '}';
  }
  os << '\n';
}
