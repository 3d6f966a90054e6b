//===- RegisterRemarks.cpp - what was decided for registers ----------------===//
//
// Remarks on ops that have their tiles and their layouts: whether matrix registers make a product, and whether rows
// are rounded where they are made, or once for all linears that read them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/Attention/KernelShape.h"
#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Remarks/Remark.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;
using namespace heddle::model;

static void remarkOnLinear(LinearOp op) {
  if (multipliesMatrices(op))
    remarks::passed(op, remarks::MatrixRegisters) << "its sums are made in matrix registers";
  else if (StringRef why = whyNoMatrices(op); !why.empty())
    remarks::missed(op, remarks::MatrixRegisters, why);
  if (!arithmeticOf(op).dots || keptRows(op.getInput()))
    return;
  SmallVector<LinearOp> readers = readersOfRows(op);
  if (readers.empty())
    remarks::missed(op, remarks::RowsRoundedOnce,
                    "it needs other working memory, too, so it rounds its rows for itself");
  else if (readers.front() == op && readers.size() > 1)
    remarks::passed(op, remarks::RowsRoundedOnce)
        << "it rounds its rows for " << remarks::number("readers", readers.size()) << " linears";
}

static void remarkOnAttention(attn::SdpaOp op) {
  if (!MatrixTiles::has(op, "amx-bf16"))
    return;
  if (KernelShape(op).matrix)
    remarks::passed(op, remarks::MatrixRegisters) << "its scores and outputs are made in matrix registers";
  else
    remarks::missed(op, remarks::MatrixRegisters,
                    attentionArithmeticOf(op).dots ? "its heads, or its tiles, do not fill matrix registers"
                                                   : "its queries and scores are not rounded to bf16");
}

void heddle::loops::remarkOnRegisters(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op); linear && linear->getNumResults() == 1)
    remarkOnLinear(linear);
  else if (auto sdpa = dyn_cast<attn::SdpaOp>(op))
    remarkOnAttention(sdpa);
  for (Value result : op->getResults()) {
    if (std::optional<Size> bytes = keptBytes(result))
      remarks::passed(op, remarks::RowsKept) << "its rows are stored as bf16, as the linears after it read them: "
                                             << remarks::number("bytes", bytes->str()) << " bytes";
    else if (StringRef why = whyNotKept(result); !why.empty())
      remarks::missed(op, remarks::RowsKept, why);
  }
}
