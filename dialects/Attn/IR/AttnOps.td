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
    q [B, T, h·w], k [B, S, g·w], v [B, S, g·u] -> [B, T, h·u]; query head n uses key head n // (h/g).
    scores = scale·q·kᵀ; softcap c·tanh(s/c); + bias; mask; softmax, with exp(sink[h]) added to its denominator; ·v.
    A row that sees nothing is exactly 0 (`masked_rows`: or nan, or the mean of v). A key that is not seen is absent: its V
    row, NaN or not, never reaches the result. A score of -inf after the bias is not seen. Key row 0 has position `key_start`
    if query row 0 has position 0; query row r has position past + r, where past is the size form `past`.

    With `starts`, i64 [B], the value starts[b] replaces `past` for batch element b: query row r has position
    past - `past` + starts[b] + r, and there are S - `past` + starts[b] keys.
    - (C1) Ranks are 3, batch axes are equal (or 1 for k, v), and k and v have equal rows.
    - (C2) Features divide into heads; key heads divide heads; q and k heads are equally wide.
    - (C3) Sinks are [heads].
    - (C4) Tensors of mask and bias agree with the axes of the scores [B, heads, T, S]: equal lengths, or 1.
    - (C5) Slopes and tables of a bias are for as many heads.
    - (C6) Starts are i64 [B].
    - (C7) `past` and `key_start` are size forms.
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
  let description = [{
    bias(b, h, i, j) = slopes[h]·(j-i), or -slopes[h]·|j-i| with `symmetric`, for positions i and j.
    - (C1) The slopes are [heads].
    ```mlir
    %b = attn.alibi %slopes symmetric : !model.tensor<[12], f32>
    ```
  }];
  let arguments = (ins Model_Real:$slopes, UnitAttr:$symmetric);
  let assemblyFormat = "$slopes (`symmetric` $symmetric^)? attr-dict `:` type($slopes)";
  let hasVerifier = 1;
}
def Attn_BucketBiasOp : Attn_BiasOp<"bucket_bias"> {
  let summary = "table[bucket(j-i), h], table [buckets, heads]; the logarithm in float32 (Raffel et al. 2019)";
  let description = [{
    bias(b, h, i, j) = table[bucket(j-i), h]. With `two_sided` half of the buckets are for keys after
    the row. Of the buckets of a side, one half is single distances; the others grow logarithmically up to `max_distance`.
    - (C1) The table is [buckets, heads] with a constant number of buckets, at least 2, or 4 if it is two-sided.
    - (C2) `max_distance` exceeds the number of buckets that are single distances.
    ```mlir
    %b = attn.bucket_bias %table max_distance 128 two_sided : !model.tensor<[32, 12], f32>
    ```
  }];
  let arguments = (ins Model_Real:$table, I64Attr:$max_distance, UnitAttr:$two_sided);
  let assemblyFormat = "$table `max_distance` $max_distance (`two_sided` $two_sided^)? attr-dict `:` type($table)";
  let hasVerifier = 1;
}
def Attn_RelativeDotOp : Attn_BiasOp<"relative_dot", [], OwnSides> {
  let summary = "x_i·R[clip(zero + i-j)] per head; `key_side`: x_j·R[..] (Shaw 2018, Dai 2019, He 2020)";
  let description = [{
    x [B, rows, h·w], table [rows, w] or [rows, h·w]. bias(b, h, i, j) is the product of the w features of head h of x (row i,
    with `key_side` row j) and of row clip(zero + i-j) of the table. With `bucket` [size, far] the distance is first mapped to
    DeBERTa's logarithmic buckets.
    - (C1) x has rank 3, and its features divide into heads.
    - (C2) The table is [rows, w] or [rows, h·w].
    - (C3) `zero` is a size form.
    - (C4) `bucket` is [size, far], where size is at least 4 and far is more than size/2 + 1.
    ```mlir
    %b = attn.relative_dot %q, %table heads 12 zero "T-1" : !model.tensor<[B, T, 768], f32>, !model.tensor<["2*T-1", 64], f32>
    ```
  }];
  let arguments = (ins Model_Real:$x, Model_Real:$table, I64Attr:$heads, StrAttr:$zero, UnitAttr:$key_side, OptionalAttr<DenseI64ArrayAttr>:$bucket);
  let assemblyFormat = "$x `,` $table `heads` $heads `zero` $zero (`key_side` $key_side^)? (`bucket` $bucket^)? attr-dict `:` type($x) `,` type($table)";
  let hasVerifier = 1;
}
def Attn_DenseBiasOp : Attn_BiasOp<"dense_bias", [], OwnSides> {
  let summary = "a tensor [T,S], [B,T,S] or [B,H,T,S]; axes of 1 are never expanded";
  let description = [{
    bias(b, h, i, j) = t[b, h, row, j]. Axes of length 1 count for every index.
    - (C1) t has rank 2, 3 or 4.
    ```mlir
    %b = attn.dense_bias %t : !model.tensor<[B, 1, T, S], f32>
    ```
  }];
  let arguments = (ins Model_Real:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}
def Attn_BiasAddOp : Attn_BiasOp<"bias_add", [Commutative]> {
  let summary = "the sum of two biases";
  let description = [{
    bias(b, h, i, j) = lhs(b, h, i, j) + rhs(b, h, i, j), evaluated in the tile.
    - (C1) The operands are biases.
    ```mlir
    %far = attn.alibi %slopes : !model.tensor<[12], f32>
    %given = attn.dense_bias %t : !model.tensor<[T, S], f32>
    %b = attn.bias_add %far, %given
    ```
  }];
  let arguments = (ins Attn_BiasType:$lhs, Attn_BiasType:$rhs); // bias_add_c1: ODS
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
}
def Attn_BiasScaleOp : Attn_BiasOp<"bias_scale"> {
  let summary = "a bias times a number";
  let description = [{
    bias(b, h, i, j) = factor·operand(b, h, i, j), evaluated in the tile.
    - (C1) The operand is a bias.
    ```mlir
    %given = attn.dense_bias %t : !model.tensor<[T, S], f32>
    %b = attn.bias_scale %given by 0.125
    ```
  }];
  let arguments = (ins Attn_BiasType:$operand, F64Attr:$factor); // bias_scale_c1: ODS
  let assemblyFormat = "$operand `by` $factor attr-dict";
}
def Attn_AlibiSlopesOp : Attn_Op<"alibi_slopes", [InferTypeOpAdaptor]> {
  let summary = "the published slopes of `heads` heads, [heads]";
  let description = [{
    slopes[n] = 2^(-8(n+1)/p) for the first p heads, p the largest power of 2 up to `heads`; slopes[p+n] = 2^(-4(2n+1)/p).
    - (C1) `heads` is positive.
    ```mlir
    %slopes = attn.alibi_slopes 12 : !model.tensor<[12], f32>
    ```
  }];
  let arguments = (ins I64Attr:$heads);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$heads attr-dict `:` type($result)";
}
#endif
