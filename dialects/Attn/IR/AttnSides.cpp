//===- AttnSides.cpp - which side of a pair a bias's tensor is read on -----===//

#include "dialects/Attn/IR/Attn.h"

using namespace heddle::attn;
using heddle::model::StepSide;

StepSide DenseBiasOp::stepSide(unsigned) { return StepSide::QueriesAndKeys; }
StepSide RelativeDotOp::stepSide(unsigned operand) {
  if (operand == 1)
    return StepSide::Table;
  return getKeySide() ? StepSide::RowsOfKeys : StepSide::RowsOfQueries;
}
