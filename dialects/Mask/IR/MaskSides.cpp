//===- MaskSides.cpp - which side of a pair a mask's tensor is read on -----===//

#include "dialects/Mask/IR/Mask.h"

using namespace heddle::mask;
using heddle::model::StepSide;

StepSide KeysOp::stepSide(unsigned) { return StepSide::Keys; }
StepSide QueriesOp::stepSide(unsigned) { return StepSide::Queries; }
StepSide DocumentOp::stepSide(unsigned operand) { return operand == 0 ? StepSide::Queries : StepSide::Keys; }
StepSide DenseOp::stepSide(unsigned) { return StepSide::Pairs; }
StepSide WindowOp::stepSide(unsigned operand) {
  if (operand == 1)
    return StepSide::Keys;
  return getKeyLabels() ? StepSide::Queries : StepSide::Both;
}
