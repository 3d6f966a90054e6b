//===- MaskSides.cpp - which side of a pair a mask's tensor is read on -----===//

#include "dialects/Mask/IR/Mask.h"

using namespace heddle::mask;
using heddle::model::StepSide;

// Tables come after the steps are derived.
StepSide KeysOp::stepSide(unsigned operand) { return operand == 0 ? StepSide::Keys : StepSide::None; }
StepSide QueriesOp::stepSide(unsigned operand) { return operand == 0 ? StepSide::Queries : StepSide::None; }
StepSide DocumentOp::stepSide(unsigned operand) {
  return operand == 0 ? StepSide::Queries : operand == 1 ? StepSide::Keys : StepSide::None;
}
StepSide DenseOp::stepSide(unsigned operand) { return operand == 0 ? StepSide::Pairs : StepSide::None; }
StepSide WindowOp::stepSide(unsigned operand) {
  if (operand == 1)
    return StepSide::Keys;
  return getKeyLabels() ? StepSide::Queries : StepSide::Both;
}
