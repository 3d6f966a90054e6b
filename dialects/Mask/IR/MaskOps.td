// Masks as values: leaves and connectives. A mask never is a tensor; `mask.dense` wraps the
// one that the user brought.
#ifndef HEDDLE_DIALECTS_MASK_IR_MASKOPS_TD
#define HEDDLE_DIALECTS_MASK_IR_MASKOPS_TD

include "dialects/Model/IR/ModelDialect.td"
include "dialects/Mask/IR/MaskDialect.td"
include "dialects/Mask/IR/MaskInterfaces.td"
include "dialects/Model/IR/StepInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Mask_Op<string mnemonic, list<Trait> traits = [], list<Trait> sides = NoSides>
    : Op<Mask_Dialect, mnemonic, traits # sides # [Pure, DeclareOpInterfaceMethods<Mask_MaskOpInterface>]> {
  let results = (outs Mask_MaskType:$result);
}
/// A mask between monotone bounds: it says its sides and bounds, and every answer follows.
class Mask_BandLike<string mnemonic, list<Trait> traits = [], list<Trait> sides = NoSides>
    : Op<Mask_Dialect, mnemonic, traits # sides # [Pure, DeclareOpInterfaceMethods<Mask_MaskOpInterface, ["sides", "emitBound"]>]> {
  let results = (outs Mask_MaskType:$result);
}

//===-- leaves: positions are absolute, query i = past + row, key k + key_start ----===//

def Mask_AllOp : Mask_Op<"all"> {
  let summary = "every pair";
  let assemblyFormat = "attr-dict";
}
def Mask_CausalOp : Mask_BandLike<"causal"> {
  let summary = "k <= i";
  let assemblyFormat = "attr-dict";
}
def Mask_WindowOp : Mask_BandLike<"window", [AttrSizedOperandSegments], OwnSides> {
  let summary = "i - left <= k <= i + right; with labels [T] or [B, T]: on the labels of i and k";
  let description = [{
    A missing side is no limit. Both ends are inclusive and may be negative (a window off the
    diagonal). (C1) labels are i64 of rank 1 or 2. From `entries` on `key_labels` may give
    the labels of the keys apart from those of the queries.
    ```mlir
    %m = mask.window left 127 right 0
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right, Optional<Model_Int>:$labels, Optional<Model_Int>:$key_labels);
  let assemblyFormat = "(`left` $left^)? (`right` $right^)? (`on` $labels^ `:` type($labels))? (`keys` $key_labels^ `:` type($key_labels))? attr-dict";
  let hasVerifier = 1;
}
def Mask_DilatedOp : Mask_Op<"dilated"> {
  let summary = "(k - i) is a multiple of step";
  let arguments = (ins I64Attr:$step);
  let assemblyFormat = "$step attr-dict";
  let hasVerifier = 1;
}
def Mask_KeysOp : Mask_Op<"keys", [], OwnSides> {
  let summary = "t[b, k] != 0";
  let description = "(C1) t is [S] or [B, S]. Padding, global keys; holes allowed.";
  let arguments = (ins Model_Any:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}
def Mask_QueriesOp : Mask_Op<"queries", [], OwnSides> {
  let summary = "t[b, row] != 0";
  let description = "(C1) t is [T] or [B, T].";
  let arguments = (ins Model_Any:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}
def Mask_PrefixOp : Mask_BandLike<"prefix"> {
  let summary = "k < n[b]";
  let arguments = (ins Model_Int:$length);
  let assemblyFormat = "$length attr-dict `:` type($length)";
}
def Mask_DocumentOp : Mask_Op<"document", [], OwnSides> {
  let summary = "query_ids[b, row] == key_ids[b, k]";
  let arguments = (ins Model_Any:$query_ids, Model_Any:$key_ids);
  let assemblyFormat = "$query_ids `,` $key_ids attr-dict `:` type($query_ids) `,` type($key_ids)";
  let hasVerifier = 1;
}
def Mask_BlocksOp : Mask_Op<"blocks"> {
  let summary = "lists[(h,) i // size] contains k // size; a block listed twice counts twice under `+`";
  let arguments = (ins I64Attr:$size, Model_Int:$lists);
  let assemblyFormat = "$size `,` $lists attr-dict `:` type($lists)";
  let hasVerifier = 1;
}
def Mask_DenseOp : Mask_Op<"dense", [], OwnSides> {
  let summary = "t[b, h, row, k] != 0: [T,S], [B,T,S] or [B,H,T,S]";
  let arguments = (ins Model_Any:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}

//===-- connectives ------------------------------------------------------------===//

class Mask_Connective<string mnemonic> : Mask_Op<mnemonic, [Commutative]> {
  let arguments = (ins Mask_MaskType:$lhs, Mask_MaskType:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
}
def Mask_AndOp : Mask_Connective<"and"> { let summary = "visible where both are (counts multiply)"; }
def Mask_OrOp : Mask_Connective<"or"> { let summary = "visible where one is (the larger count)"; }
def Mask_AddOp : Mask_Connective<"add"> { let summary = "counts add"; }
def Mask_NotOp : Mask_Op<"not"> {
  let summary = "visible where the operand is not (count 0)";
  let arguments = (ins Mask_MaskType:$operand);
  let assemblyFormat = "$operand attr-dict";
}
def Mask_SelectOp : Mask_Op<"select"> {
  let summary = "one of two masks, by a scalar that is known when the run starts";
  let arguments = (ins Model_Bool:$condition, Mask_MaskType:$yes, Mask_MaskType:$no);
  let assemblyFormat = "$condition `,` $yes `,` $no attr-dict `:` type($condition)";
}
#endif
