//===- LoopArguments.h - places that the text of a loop cannot show -------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_LOOPARGUMENTS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_LANGUAGE_LOOPARGUMENTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace heddle::loops {

/// MLIR prints the arguments of `scf.for` and of the first region of `scf.while` without their locations, and locations
/// have the names of values. Here these arguments get the loop's place and no name, so that a text that is read back
/// prints the same.
inline void placeArgumentsAtLoops(mlir::Operation *root) {
  root->walk([](mlir::Operation *op) {
    if (!mlir::isa<mlir::scf::ForOp, mlir::scf::WhileOp>(op))
      return;
    auto place = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
    for (mlir::BlockArgument argument : op->getRegion(0).getArguments())
      argument.setLoc(place ? mlir::Location(place) : op->getLoc());
  });
}

} // namespace heddle::loops

#endif
