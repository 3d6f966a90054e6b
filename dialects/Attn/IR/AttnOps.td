// Attention as an op with a mask VALUE, and the score modifiers it may carry.
#ifndef HEDDLE_DIALECTS_ATTN_IR_ATTNOPS_TD
#define HEDDLE_DIALECTS_ATTN_IR_ATTNOPS_TD

include "dialects/Attn/IR/AttnAttrs.td"
include "dialects/Model/IR/ModelDialect.td"
include "dialects/Mask/IR/MaskDialect.td"
include "dialects/Mask/IR/MaskInterfaces.td"
include "dialects/Model/IR/StepInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Attn_BiasType : TypeDef<Attn_Dialect, "Bias"> {
  let mnemonic = "bias";
  let builderCall = "::heddle::attn::BiasType::get($_builder.getContext())";
  let summary = "what is added to score(b, h, i, j); evaluated inside the tile";
}

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits # [Pure]>;
class Attn_BiasOp<string mnemonic, list<Trait> traits = [], list<Trait> sides = NoSides> : Attn_Op<mnemonic, traits # sides> {
  let results = (outs Attn_BiasType:$result);
}

def Attn_MaskedRows : I32EnumAttr<"MaskedRows", "what a row that sees nothing yields", [
    I32EnumAttrCase<"zero", 0>, I32EnumAttrCase<"nan", 1>, I32EnumAttrCase<"mean", 2>]> {
  let cppNamespace = "::heddle::attn";
}

def Attn_SdpaOp : Attn_Op<"sdpa", [AttrSizedOperandSegments, InferTypeOpAdaptor, DeclareOpInterfaceMethods<Mask_MaskUserInterface>]> {
  let summary = "softmax(scale·q·kᵀ -> softcap -> + bias -> mask)·v";
  let description = [{
    q [B, T, h·w], k [B, S, g·w], v [B, S, g·u] -> [B, T, h·u]; query head n uses key head n // (h/g). scores =
    scale·q·kᵀ; softcap c·tanh(s/c); + bias; mask; softmax, with exp(sink[h]) added to its denominator; ·v. A row that
    sees nothing is exactly 0 (`masked_rows`: or nan, or the mean of v). A hidden key is absent: its V row, NaN or
    not, never reaches the result. A score of -inf after the bias is hidden, too. Key row 0 has position `key_start`
    if query row 0 has position 0. Query row r has position past + r, where past is the size form `past`. With
    `starts`, i64 [B], batch element b uses starts[b] in place of `past` in the size forms: its query row r has
    position past - `past` + starts[b] + r, and it has S - `past` + starts[b] keys.
    - (C1) ranks are 3, batch axes equal (or 1 for k, v), k and v of equal rows.
    - (C2) features divide into heads; key heads divide heads; q and k heads equally wide.
    - (C3) sinks are [heads].
    - (C4) tensors of mask and bias agree with the axes of the scores [B, heads, T, S]: equal lengths, or 1.
    - (C5) slopes and tables of a bias are of as many heads.
    - (C6) starts are i64 [B].
    ```mlir
    %a = attn.sdpa %q, %k, %v mask %m heads 12 kv_heads 12 scale 1.250000e-01 : (!model.tensor<[B, T, 768], f32>, !model.tensor<[B, T, 768], f32>, !model.tensor<[B, T, 768], f32>) -> !model.tensor<[B, T, 768], f32>
    ```
  }];
  let arguments = (ins Model_Real:$query, Model_Real:$key, Model_Real:$value, Optional<Mask_MaskType>:$mask,
                       Optional<Attn_BiasType>:$bias, Optional<Model_Real>:$sinks, Optional<Model_Int>:$starts, I64Attr:$heads, I64Attr:$kv_heads,
                       F64Attr:$scale, OptionalAttr<F64Attr>:$softcap, DefaultValuedStrAttr<StrAttr, "0">:$key_start,
                       DefaultValuedStrAttr<StrAttr, "0">:$past, DefaultValuedAttr<Attn_MaskedRows, "MaskedRows::zero">:$masked_rows);
  let results = (outs Model_Real:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`bias` $bias^)? (`sinks` $sinks^ `:` type($sinks))? (`starts` $starts^ `:` type($starts))? `heads` $heads `kv_heads` $kv_heads `scale` $scale
    (`softcap` $softcap^)? (`key_start` $key_start^)? (`past` $past^)? (`masked_rows` $masked_rows^)? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `)` `->` type($result) }];
}

//===-- biases -----------------------------------------------------------------===//

def Attn_AlibiOp : Attn_BiasOp<"alibi"> {
  let summary = "m_h·(j-i), or -m_h·|j-i| with `symmetric` (Press et al. 2021)";
  let arguments = (ins Model_Real:$slopes, UnitAttr:$symmetric);
  let assemblyFormat = "$slopes (`symmetric` $symmetric^)? attr-dict `:` type($slopes)";
}
def Attn_BucketBiasOp : Attn_BiasOp<"bucket_bias"> {
  let summary = "table[bucket(j-i), h], table [buckets, heads]; the logarithm in float32 (Raffel et al. 2019)";
  let arguments = (ins Model_Real:$table, I64Attr:$max_distance, UnitAttr:$two_sided);
  let assemblyFormat = "$table `max_distance` $max_distance (`two_sided` $two_sided^)? attr-dict `:` type($table)";
  let hasVerifier = 1;
}
def Attn_RelativeDotOp : Attn_BiasOp<"relative_dot", [], OwnSides> {
  let summary = "x_i·R[clip(zero + i-j)] per head; `key_side`: x_j·R[..] (Shaw 2018, Dai 2019, He 2020)";
  let description = [{
    x [B, rows, h·w], table [rows, w] or [rows, h·w]. With `bucket` [size, far] the distance is
    first mapped to DeBERTa's log buckets.
  }];
  let arguments = (ins Model_Real:$x, Model_Real:$table, I64Attr:$heads, StrAttr:$zero, UnitAttr:$key_side, OptionalAttr<DenseI64ArrayAttr>:$bucket);
  let assemblyFormat = "$x `,` $table `heads` $heads `zero` $zero (`key_side` $key_side^)? (`bucket` $bucket^)? attr-dict `:` type($x) `,` type($table)";
}
def Attn_DenseBiasOp : Attn_BiasOp<"dense_bias", [], OwnSides> {
  let summary = "a tensor [T,S], [B,T,S] or [B,H,T,S]; axes of 1 are never expanded";
  let arguments = (ins Model_Real:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}
def Attn_BiasAddOp : Attn_BiasOp<"bias_add", [Commutative]> {
  let summary = "the sum of two biases";
  let arguments = (ins Attn_BiasType:$lhs, Attn_BiasType:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
}
def Attn_BiasScaleOp : Attn_BiasOp<"bias_scale"> {
  let summary = "a bias times a number";
  let arguments = (ins Attn_BiasType:$operand, F64Attr:$factor);
  let assemblyFormat = "$operand `by` $factor attr-dict";
}
def Attn_AlibiSlopesOp : Attn_Op<"alibi_slopes", [InferTypeOpAdaptor]> {
  let summary = "the published slopes of `heads` heads, [heads]";
  let arguments = (ins I64Attr:$heads);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$heads attr-dict `:` type($result)";
}
#endif
