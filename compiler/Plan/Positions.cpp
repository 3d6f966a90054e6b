//===- Positions.cpp - when the ops of a function run ---------------------===//

#include "compiler/Plan/Positions.h"
#include "dialects/Model/IR/Model.h"

using namespace mlir;
using namespace heddle;

void plan::Positions::number(Block &block) {
  for (Operation &op : block) {
    int64_t begin = now++, level = base;
    bool around = op.getNumRegions() && !isa<model::MapOp, model::LinearOp>(op);
    for (Value v : op.getOperands())
      if (auto it = levels.find(v.getDefiningOp()); it != levels.end())
        level = std::max(level, it->second.end + 1);
    if (around) {
      level = top + 1;
      base = top = level + 1;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          number(inner);
      base = top + 1;
    }
    top = std::max(top, around ? base : level);
    numbers[&op] = {begin, around ? now++ : begin};
    levels[&op] = {level, around ? base : level};
  }
}
