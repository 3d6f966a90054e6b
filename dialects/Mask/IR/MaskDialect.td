// The dialect and its one type, apart from the ops so that `attn` may name them.
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKDIALECT_TD
#define HEDDLE_DIALECTS_MASK_IR_MASKDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Mask_Dialect : Dialect {
  let name = "mask";
  let cppNamespace = "::heddle::mask";
  let summary = "attention masks as values, never as tensors";
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::heddle::model::ModelDialect"];
}

def Mask_MaskType : TypeDef<Mask_Dialect, "Mask"> {
  let mnemonic = "mask";
  let builderCall = "::heddle::mask::MaskType::get($_builder.getContext())";
  let summary = "how often query i sees key k: a predicate visible(b, h, i, k), or a count";
}
#endif
