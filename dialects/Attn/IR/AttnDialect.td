// The `attn` dialect: attention, and what may be added to its scores.
#ifndef HEDDLE_DIALECTS_ATTN_IR_ATTNDIALECT_TD
#define HEDDLE_DIALECTS_ATTN_IR_ATTNDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::heddle::attn";
  let summary = "attention, and what may be added to its scores";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::heddle::model::ModelDialect", "::heddle::mask::MaskDialect"];
}

#endif
