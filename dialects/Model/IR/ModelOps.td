// The ops of the `model` dialect, 1:1 with the description language (language.md section 5).
// Result types are inferred (InferTypeOpAdaptor): the inference IS the check of shapes, so a
// builder that is given misfitting operands reports at the JSON token the op comes from.
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODELOPS_TD
#define HEDDLE_DIALECTS_MODEL_IR_MODELOPS_TD

include "dialects/Model/IR/ModelAttrs.td"
include "dialects/Model/IR/StepInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Model_Op<string mnemonic, list<Trait> traits = []> : Op<Model_Dialect, mnemonic, traits>;
/// An op whose result types are inferred. How rows depend on rows (StepInterface.td) is part of `step`: `RowWise`,
/// `OwnStep`, or `NoStep`, which is the default: an op that says nothing has no cached step, and padding stays.
class Model_Infer<string mnemonic, list<Trait> traits = [], list<Trait> step = NoStep>
    : Model_Op<mnemonic, traits # step # [Pure, InferTypeOpAdaptor]>;

class Model_Enum<string name, string summary, list<string> words>
    : I32EnumAttr<name, summary, !foreach(i, !range(!size(words)),
        I32EnumAttrCase<!cast<string>(words[i]), i, words[i]>)> {
  let cppNamespace = "::heddle::model";
}

//===-- leaves -----------------------------------------------------------------===//

def Model_ParamOp : Model_Op<"param", [Pure]> {
  let summary = "a tensor of the weights file";
  let description = [{
    `name` is the name in the file; inside repeats `{k}` in it is replaced by the k-th index
    operand. Bytes never enter the IR. From `tiled` on `layout` says how the bytes lie in the blob and `offset`
    where; index k moves them by `strides[k]`.
    - (C1) every index has a place in the name. (C2) the layout fits the shape and the element type.
    - (C3) a place in the blob is not negative and has a stride an index.
    - (C4) with `coded` its numbers are codes. It is then a matrix of f32 with constant lengths. Its features divide
      into groups of 16, 32, 64 or a multiple of 128, or are one group. A layout in codes stores the codes, any other
      layout their values.
    ```mlir
    %w = model.param "wte.weight" : !model.tensor<[50257, 768], f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Index>:$indices, OptionalAttr<Model_LayoutAttr>:$layout,
                       OptionalAttr<I64Attr>:$offset, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<Model_CodedAttr>:$coded);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$name (`[` $indices^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Model_ConstantOp : Model_Op<"constant", [Pure]> {
  let summary = "a constant of the description";
  let description = [{
    Reals are f64 in the attribute (nothing is rounded before the type of computation is
    known). `(C1)` the shapes agree and the element types are f64/f32, i64/i64 or i1/i1.
    ```mlir
    %c = model.constant dense<0.5> : tensor<f64> : !model.tensor<[], f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "double":$value)>, OpBuilder<(ins "int64_t":$value)>, OpBuilder<(ins "bool":$value)>];
  let hasVerifier = 1;
}

// `size` and `range` have no operands whose rows could mix.
def Model_SizeOp : Model_Infer<"size", [], RowWise> {
  let summary = "a length as a value";
  let arguments = (ins StrAttr:$size);
  let results = (outs Model_Int:$result);
  let assemblyFormat = "$size attr-dict `:` type($result)";
}

def Model_RangeOp : Model_Infer<"range", [], RowWise> {
  let summary = "the integers from, ..., to - 1";
  let arguments = (ins StrAttr:$from, StrAttr:$to);
  let results = (outs Model_Int:$result);
  let assemblyFormat = "$from `to` $to attr-dict `:` type($result)";
}

//===-- elementwise ------------------------------------------------------------===//
// What f32 gives, compiled (test/Numerics/SweepTest.cpp holds every line to it):
// - NaN gives NaN; so do sin, cos of an infinity, log, sqrt of what is below 0, and the gates (silu and the gelus) of
//   -inf, which is inf * 0. A result of 0 has the sign of the exact result: sin, tanh, gelu of -0 are -0; relu of -0 is 0;
//   for min and max -0 is less than 0, and a NaN operand gives NaN.
// - Off by at most, in ulp (the distance of f32 numbers at the exact result): neg, abs, floor, ceil, relu, min, max 0;
//   add, sub, mul, div, mod, sqrt, relu2 1/2; floordiv, pow 1; exp, log, sin, cos, tanh and pow by a constant 2, 3 or 0.5 2;
//   sigmoid, softplus, silu 3; quick_gelu and gelu_tanh, which take exp(e), 3 and 2 min(|e|, 128) more; gelu 2^-22 |x|.
// - What exp and so sigmoid and softplus give below 2^-126 may be 0; so may a gate below 2^-119. log takes denormals.

def Model_UnaryKind : I32EnumAttr<"UnaryKind", "function of one element", [
    I32EnumAttrCase<"neg", 0>, I32EnumAttrCase<"abs", 1>, I32EnumAttrCase<"sqrt", 2>, I32EnumAttrCase<"exp", 3>,
    I32EnumAttrCase<"log", 4>, I32EnumAttrCase<"sin", 5>, I32EnumAttrCase<"cos", 6>, I32EnumAttrCase<"floor", 7>,
    I32EnumAttrCase<"ceil", 8>, I32EnumAttrCase<"tanh", 9>, I32EnumAttrCase<"sigmoid", 10>, I32EnumAttrCase<"relu", 11>,
    I32EnumAttrCase<"gelu", 12>, I32EnumAttrCase<"gelu_tanh", 13>, I32EnumAttrCase<"quick_gelu", 14>,
    I32EnumAttrCase<"silu", 15>, I32EnumAttrCase<"relu2", 16>, I32EnumAttrCase<"softplus", 17>,
    I32EnumAttrCase<"bf16", 18>, I32EnumAttrCase<"logical_not", 19, "not">]> {
  let cppNamespace = "::heddle::model";
}

def Model_UnaryOp : Model_Infer<"unary", [], RowWise> {
  let summary = "a function of each element";
  let description = [{
    neg and abs keep i64; `not` takes i1; every other one takes and gives f32. `bf16` rounds to
    bfloat16 and back (nearest, ties to even). gelu is the erf form, gelu_tanh the tanh form.
  }];
  let arguments = (ins Model_UnaryKind:$kind, Model_Any:$operand);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` functional-type(operands, results)";
}

def Model_BinaryKind : I32EnumAttr<"BinaryKind", "function of two elements", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"sub", 1>, I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"div", 3>,
    I32EnumAttrCase<"floordiv", 4>, I32EnumAttrCase<"mod", 5>, I32EnumAttrCase<"pow", 6>, I32EnumAttrCase<"min", 7>,
    I32EnumAttrCase<"max", 8>, I32EnumAttrCase<"logical_and", 9, "and">, I32EnumAttrCase<"logical_or", 10, "or">]> {
  let cppNamespace = "::heddle::model";
}

def Model_BinaryOp : Model_Infer<"binary", [], RowWise> {
  let summary = "a function of two elements, numpy broadcasting";
  let description = [{
    (C1) both operands have one element type (casts are separate ops). (C2) axes, aligned
    from the right, are equal forms or one of them is the constant 1. `div` takes f32 only;
    `floordiv` rounds to minus infinity and `mod` is x - y*(x floordiv y), for i64 and f32;
    `and`, `or` take i1. A NaN operand of min/max gives NaN.
  }];
  let arguments = (ins Model_BinaryKind:$kind, Model_Any:$lhs, Model_Any:$rhs);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Model_ComparePredicate : I32EnumAttr<"ComparePredicate", "comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::heddle::model";
}
def Model_CompareOp : Model_Infer<"compare", [], RowWise> {
  let summary = "elementwise comparison, as of IEEE 754 for reals";
  let arguments = (ins Model_ComparePredicate:$predicate, Model_Any:$lhs, Model_Any:$rhs);
  let results = (outs Model_Bool:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Model_SelectOp : Model_Infer<"select", [], RowWise> {
  let summary = "elementwise choice, numpy broadcasting of all three";
  let arguments = (ins Model_Bool:$condition, Model_Any:$yes, Model_Any:$no);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$condition `,` $yes `,` $no attr-dict `:` functional-type(operands, results)";
}

def Model_CastOp : Model_Op<"cast", [Pure] # RowWise> {
  let summary = "another element type: to i1 is `!= 0`, f32 to i64 truncates towards zero";
  let arguments = (ins Model_Any:$operand);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$element)>];
  let hasVerifier = 1;
}

def Model_BroadcastOp : Model_Op<"broadcast", [Pure] # RowWise> {
  let summary = "axes of 1 (and missing leading axes) stretched to the result's lengths";
  let arguments = (ins Model_Any:$operand);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Model_DefaultOp : Model_Op<"default", [Pure, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "an input, or what stands for it when it was not given";
  let description = [{
    The result is `input` when the caller gave it, else what the region yields, broadcast to
    the type of the input. The input is an argument of the function with the attribute
    `model.default`.
    - (C1) the input is an argument of a function and the result of its type. (C2) the region yields one tensor
      that stretches to that type.
  }];
  let arguments = (ins Model_Any:$input);
  let results = (outs Model_Any:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result) $body";
  let hasVerifier = 1;
}

//===-- moving -----------------------------------------------------------------===//

def Model_SliceOp : Model_Infer<"slice", [], OwnStep> {
  let summary = "rows from, ..., to - 1 along one axis (forms; already counted from the start)";
  let arguments = (ins Model_Any:$operand, I64Attr:$axis, StrAttr:$from, StrAttr:$to);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis `from` $from `to` $to attr-dict `:` functional-type(operands, results)";
}
def Model_SqueezeOp : Model_Infer<"squeeze", [], OwnStep> {
  let summary = "drops an axis of length 1";
  let arguments = (ins Model_Any:$operand, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_UnsqueezeOp : Model_Infer<"unsqueeze", [], OwnStep> {
  let summary = "inserts an axis of length 1 before `axis` of the result";
  let arguments = (ins Model_Any:$operand, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_RearrangeOp : Model_Infer<"rearrange", [], OwnStep> {
  let summary = "einops: split, permute and merge axes";
  let description = [{
    `pattern` as in "b t (h d) -> b h t d"; `sizes` names the lengths that cannot be divided
    out: {h = "12"}. (C1) every name occurs once on each side; (C2) a group has at most one
    unknown length and divides exactly.
  }];
  let arguments = (ins Model_Any:$operand, StrAttr:$pattern, DefaultValuedAttr<DictionaryAttr, "{}">:$sizes);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand $pattern (`sizes` $sizes^)? attr-dict `:` functional-type(operands, results)";
}
def Model_ConcatOp : Model_Infer<"concat", [], OwnStep> {
  let summary = "operands one after another along `axis`; other axes broadcast";
  let arguments = (ins Variadic<Model_Any>:$operands, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operands `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_PadOp : Model_Infer<"pad", [], OwnStep> {
  let summary = "`before` and `after` rows of `value` along `axis`";
  let arguments = (ins Model_Any:$operand, I64Attr:$axis, StrAttr:$before, StrAttr:$after, F64Attr:$value);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis `before` $before `after` $after `value` $value attr-dict `:` functional-type(operands, results)";
}
def Model_GatherOp : Model_Infer<"gather", [], OwnStep> {
  let summary = "x[b, at[b]] or x[b, at[b, n]]: rows by position";
  let arguments = (ins Model_Any:$operand, Model_Int:$at);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `at` $at attr-dict `:` functional-type(operands, results)";
}

// What a convolution multiplies. Along one axis without dilation rows overlap in the memory of x: then nothing is
// copied (dialects/Model/Transforms/Views.h).
def Model_WindowsOp : Model_Infer<"windows"> {
  let summary = "each window of x as a row: [B, L..., c] -> [B, L'..., Πsize * c], taps in row-major order, channels last";
  let description = [{
    y[b, l..., t*c + i] = x[b, l*stride + t*dilation, i]; L' = (L - dilation*(size-1) - 1)//stride + 1. Made by
    `model-conv-to-linear`, which pads first.
    - (C1) x has rank 3 or more; size, stride, dilation have one number each of the axes between, 1 or more.
    - (C2) an axis of known length holds a window; the channels are a number.
    ```mlir
    func.func @overlapping(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.windows %x size [3] stride [2] dilation [1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, "(T-3)//2+1", 24], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$operand, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$dilation);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$operand `size` $size `stride` $stride `dilation` $dilation attr-dict `:` functional-type(operands, results)";
}

//===-- projections ------------------------------------------------------------===//

def Model_EmbeddingOp : Model_Infer<"embedding", [], OwnStep> {
  let summary = "row ids[...] of the table [rows, width]; an id outside is a run-time error";
  let arguments = (ins Model_Int:$ids, Model_Real:$table);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$ids `in` $table attr-dict `:` functional-type(operands, results)";
}

def Model_LinearOp : Model_Op<"linear", [Pure, AttrSizedOperandSegments, IsolatedFromAbove, InferTypeOpAdaptor] # OwnStep> {
  let summary = "x Wᵀ + b over the last axis, perhaps split into several results";
  let description = [{
    x [..., n], W [m, n] (`in_out`: [n, m]), b [m]. With `parts` p₀..pₖ and `groups` g:
    m = g * Σp * unit, and result j takes its pⱼ*unit features of every group, in order. With `part` = j
    (`model-split-linear`) there is result j alone.
    From `fused` on: `extras` and the region `epilogue` finish each element,
    ^bb(%acc: f32, %extra0: ...) -> model.yield %out : f32, where an extra is aligned with the
    result from the right and read at the element's index.
    `filter` (`model-conv-to-linear`): W is [m, c, k...]; its feature t*c + i is W[m, i, t], taps t in row-major order.
    If W is a coded parameter (`#model.coded`) and `model.codes` is not "wide", rows are rounded and integers are
    multiplied. Each r features x of a row, in the order of the codes, are rounded together; r is `model.rows`, 128
    without it. With b = max |x|:
    inv = 127 / b, s = b / 127, and q = x * inv rounded to the nearest integer, ties to even. If inv is not finite, all
    q are 0; if one x is a NaN or an infinity, s is NaN. A unit of features is a group, or r features of a larger
    group. The integer sum of a unit is exact: t = sum of q * (code - zero). The rest is in f32, ascending, with w, the
    scale of the group, and y = 0 at the beginning:

    - groups of up to r: z = fma(t, w, z) over the units of r features, then y = fma(z, s, y) and z = 0;
    - larger ones: z = fma(t, s, z) over the units of a group, then y = fma(z, w, y) and z = 0.

    So the bits of a row depend on that row alone, and are the same on every processor.
    - (C1) W has rank 2 and n features. (C2) b is [m]. (C3) m divides into groups and parts.
    - (C4) only a linear with one result has an epilogue.
    - (C5) with `filter`, W has rank 3 or more, constant lengths, n = c * Πk, and is not `in_out`.
    ```mlir
    func.func @qkv(%x: !model.tensor<[B, T, 8], f32>, %w: !model.tensor<[24, 8], f32>, %b: !model.tensor<[24], f32>) {
      %q, %k, %v = model.linear %x, %w bias %b parts [1, 1, 1] groups 1
        : (!model.tensor<[B, T, 8], f32>, !model.tensor<[24, 8], f32>, !model.tensor<[24], f32>)
        -> (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>)
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$input, Model_Real:$weight, Optional<Model_Real>:$bias, Variadic<Model_Any>:$extras,
                       UnitAttr:$in_out, OptionalAttr<DenseI64ArrayAttr>:$parts, DefaultValuedAttr<I64Attr, "1">:$groups,
                       OptionalAttr<I64Attr>:$part, UnitAttr:$filter);
  let results = (outs Variadic<Model_Real>:$results);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^)? (`in_out` $in_out^)? (`filter` $filter^)? (`parts` $parts^ `groups` $groups)?
    (`with` $extras^)? attr-dict `:` functional-type(operands, results) ($epilogue^)? }];
  let hasVerifier = 1;
}

def Model_MatmulOp : Model_Infer<"matmul", [], OwnStep> {
  let summary = "[..., a, b] x [..., b, c] -> [..., a, c], leading axes broadcast";
  let arguments = (ins Model_Real:$lhs, Model_Real:$rhs);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Model_ConvOp : Model_Infer<"conv", [], OwnStep> {
  let summary = "cross-correlation, channels last: [B, L..., c] -> [B, L'..., m]";
  let description = [{
    weight [m, c/groups, k...]; L' = (L + before + after - dilation*(k-1) - 1)//stride + 1.
    `padding` holds before, after of each spatial axis in turn.
  }];
  let arguments = (ins Model_Real:$input, Model_Real:$weight, Optional<Model_Real>:$bias, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$dilation, DenseI64ArrayAttr:$padding, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Model_Real:$result);
  let assemblyFormat = [{ $input `,` $weight (`bias` $bias^)? `stride` $stride `dilation` $dilation `padding` $padding
    (`groups` $groups^)? attr-dict `:` functional-type(operands, results) }];
  let extraClassDeclaration = [{
    /// Whether result c reads channel c alone.
    bool isDepthwise() { return getWeight().getType().getSize(1).is(1) && getWeight().getType().getSize(0).is(getGroups()); }
  }];
}

// A NaN is larger than every number, as for max and argmax: exactly k elements stay, a NaN among them, so that
// what is made of them shows it.
def Model_TopKOp : Model_Infer<"top_k", [], OwnStep> {
  let summary = "the k largest of the last axis stay (ties: the lower index), others become fill";
  let arguments = (ins Model_Real:$operand, I64Attr:$k, F64Attr:$fill);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$operand `k` $k `fill` $fill attr-dict `:` functional-type(operands, results)";
}

//===-- norms ------------------------------------------------------------------===//
// Over rows of n. Statistics are f32 sums of n/16 steps, so with c = (n/16 + 10) 2^-24 a result y (before weight and
// bias) is off by at most c |y|, and where a mean is taken by c (1 + |y|) max|x| / sqrt(var + eps) more. Where squares
// or sums pass 2^126 (numbers of some 10^18) nothing is promised. group_norm adds in f64 and rounds twice; batch_norm
// rounds four times.

def Model_LayerNormOp : Model_Infer<"layer_norm", [AttrSizedOperandSegments], OwnStep> {
  let summary = "(x-μ)/√(σ²+eps)·w + b over the last axis";
  let arguments = (ins Model_Real:$input, Optional<Model_Real>:$weight, Optional<Model_Real>:$bias, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input (`weight` $weight^)? (`bias` $bias^)? `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def Model_RmsNormOp : Model_Infer<"rms_norm", [], OwnStep> {
  let summary = "x/√(mean x²+eps)·(offset+w) over the last axis";
  let arguments = (ins Model_Real:$input, Model_Real:$weight, F64Attr:$eps, F64Attr:$offset);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `weight` $weight `eps` $eps `offset` $offset attr-dict `:` functional-type(operands, results)";
}
def Model_GroupNormOp : Model_Infer<"group_norm", [], OwnStep> {
  let summary = "[B, L..., C]: statistics over all positions and the channels of a group";
  let arguments = (ins Model_Real:$input, Model_Real:$weight, Model_Real:$bias, I64Attr:$groups, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `weight` $weight `bias` $bias `groups` $groups `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def Model_BatchNormOp : Model_Infer<"batch_norm", [], OwnStep> {
  let summary = "(x-mean)/√(var+eps)·w + b with the file's statistics";
  let arguments = (ins Model_Real:$input, Model_Real:$mean, Model_Real:$variance, Model_Real:$weight, Model_Real:$bias, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `mean` $mean `variance` $variance `weight` $weight `bias` $bias `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def Model_L2NormOp : Model_Infer<"l2_norm", [], OwnStep> {
  let summary = "x/max(‖x‖, eps) over the last axis";
  let arguments = (ins Model_Real:$input, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `eps` $eps attr-dict `:` functional-type(operands, results)";
}

//===-- positions --------------------------------------------------------------===//

def Model_SinusoidalOp : Model_Infer<"sinusoidal", [], OwnStep> {
  let summary = "positions [...] -> [..., width]: sin and cos of p·theta^(-2i/width)";
  let description = "interleaved: s c s c; `halves`: s..s c..c. (Vaswani et al. 2017)";
  let arguments = (ins Model_Any:$positions, I64Attr:$width, UnitAttr:$halves, F64Attr:$theta);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$positions `width` $width (`halves` $halves^)? `theta` $theta attr-dict `:` functional-type(operands, results)";
}
def Model_RotaryOp : Model_Infer<"rotary", [], OwnStep> {
  let summary = "each head's first 2n features turn by positions × frequencies [.., n]";
  let description = [{
    x [B, T, heads·head_width], positions [B, T] or [T], frequencies [n] (or [.., n] that
    broadcasts against positions[..., None]); 2n <= head_width. halves: pairs (i, i+n);
    `pairs`: (2i, 2i+1). cos and sin are multiplied by amplitude (f32 scalar). (Su et al. 2021)
  }];
  let arguments = (ins Model_Real:$input, Model_Any:$positions, Model_Real:$frequencies, Model_Real:$amplitude, I64Attr:$head_width, UnitAttr:$pairs);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `at` $positions `by` $frequencies `amplitude` $amplitude `head_width` $head_width (`pairs` $pairs^)? attr-dict `:` functional-type(operands, results)";
}
def Model_InterpolateOp : Model_Infer<"interpolate", [], OwnStep> {
  let summary = "[B,H,W,C] to other H, W: bilinear or bicubic (a = -0.75), half-pixel centres, edges clamped";
  let description = "`scales` are f32 scalars, one an axis (result i reads (i+½)/scale - ½); none: size/old.";
  let arguments = (ins Model_Real:$input, Variadic<Model_Real>:$scales, StrArrayAttr:$sizes, UnitAttr:$bicubic);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `to` $sizes (`scales` $scales^)? (`bicubic` $bicubic^)? attr-dict `:` functional-type(operands, results)";
}

//===-- reductions -------------------------------------------------------------===//
// A NaN is larger than every number: max gives NaN, argmax the place of the first one. Sums and means of f32 are kept in
// f64 and rounded once; a running sum is f32, number k is off by at most k 2^-24 sum|x|. With d = x - max and c as above
// softmax is off by at most (c + |d| 2^-24) of itself and may be 0 below 2^-126; its logarithm by (2|d| + 2 log n) 2^-24 + c,
// however large the maximum. A row whose maximum is a NaN or an infinity is NaN.

def Model_ReduceKind : I32EnumAttr<"ReduceKind", "reduction", [
    I32EnumAttrCase<"mean", 0>, I32EnumAttrCase<"sum", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"argmax", 3>]> {
  let cppNamespace = "::heddle::model";
}
def Model_ReduceOp : Model_Infer<"reduce", [], OwnStep> {
  let summary = "over `axes`, ascending; argmax takes the first of equals and gives i64";
  let arguments = (ins Model_ReduceKind:$kind, Model_Any:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keep);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$kind $operand `axes` $axes (`keep` $keep^)? attr-dict `:` functional-type(operands, results)";
}
def Model_CumsumOp : Model_Infer<"cumsum", [], OwnStep> {
  let summary = "inclusive running sum along `axis`; from `entries` on it may go on from `init` (the axis left out)";
  let arguments = (ins Model_Any:$operand, Optional<Model_Any>:$init, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand (`init` $init^)? `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_SoftmaxOp : Model_Infer<"softmax", [], OwnStep> {
  let summary = "softmax, or its logarithm, along `axis`";
  let arguments = (ins Model_Real:$operand, I64Attr:$axis, UnitAttr:$logarithm);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$operand `axis` $axis (`logarithm` $logarithm^)? attr-dict `:` functional-type(operands, results)";
}

//===-- repetition -------------------------------------------------------------===//

def Model_RepeatOp : Model_Op<"repeat", [SingleBlock, AutomaticAllocationScope]> {
  let summary = "one body for every layer that is alike";
  let description = [{
    The body's arguments are the index (0..count-1) and the carried values. `model.yield`
    ends it: as many operands as carried values go on to the next iteration, those after them
    are collected: result c of them is [count, ...], row i from iteration i.
    - (C1) carried operands, arguments, yields and results have equal types.
    ```mlir
    func.func @layers(%x0: !model.tensor<[B, T, 768], f32>) -> !model.tensor<[B, T, 768], f32> {
      %x12, %states = model.repeat 12 iter(%x0) : (!model.tensor<[B, T, 768], f32>) -> (!model.tensor<[B, T, 768], f32>, !model.tensor<[12, B, T, 768], f32>) {
      ^bb0(%i: index, %x: !model.tensor<[B, T, 768], f32>):
        %w = model.param "h.{0}.ln.weight"[%i] : !model.tensor<[768], f32>
        %y = model.rms_norm %x weight %w eps 1.0e-6 offset 0.0 : (!model.tensor<[B, T, 768], f32>, !model.tensor<[768], f32>) -> !model.tensor<[B, T, 768], f32>
        model.yield %y, %x : !model.tensor<[B, T, 768], f32>, !model.tensor<[B, T, 768], f32>
      }
      return %x12 : !model.tensor<[B, T, 768], f32>
    }
    ```
    Values from outside may be used inside. `first` is added to the index in parameter names.
  }];
  let arguments = (ins I64Attr:$count, Variadic<AnyType>:$carried, DefaultValuedAttr<I64Attr, "0">:$first);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count (`iter` `(` $carried^ `)`)? attr-dict `:` functional-type($carried, $results) $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getIndex() { return getBody().front().getArgument(0); }
    ::mlir::ValueRange getCarriedArgs() { return getBody().front().getArguments().drop_front(); }
    ::heddle::model::YieldOp getYield();
    unsigned getNumCarried() { return getCarried().size(); }
  }];
}

def Model_YieldOp : Model_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends the body of a repeat, a default or an epilogue";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

//===-- states (from `entries` on) ---------------------------------------------===//

def Model_AppendOp : Model_Op<"append", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "writes new rows after the past ones and returns all of them";
  let description = [{
    state [iterations..., b, capacity, ...] (axis `axis` of the rows' type is the capacity),
    `indices` choose the iteration; rows [.., new, ..] are written at `past` (the dim of that
    name); the result is rows 0..past+new-1: [.., past+new, ..].

    With `slots` and `starts`, i64 [B], the state is [iterations..., slots, capacity, ...]. The rows of batch element
    b are written to the state's row slots[b], at starts[b] instead of `past`. The result has the rows
    0..starts[b]+new-1 of that row; later elements are undefined. No start is greater than `past`. Several elements
    may name one slot: each writes different positions, and each sees all that were written.
    - (C1) both are there or none; they are i64 [B], B the first axis of the rows, which are not appended along it.
    - (C2) the axis is one of the rows; the result has the rank of the rows. (C3) the state has an axis for each index
      in front of those of the rows.
  }];
  let arguments = (ins AnyType:$state, Variadic<Index>:$indices, Model_Any:$rows, Optional<Model_Int>:$slots,
                       Optional<Model_Int>:$starts, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $state (`[` $indices^ `]`)? `,` $rows (`slots` $slots^ `:` type($slots))? (`starts` $starts^ `:` type($starts))? `axis` $axis attr-dict
    `:` type($state) `,` type($rows) `->` type($result) }];
}
def Model_LoadOp : Model_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "the value of a state (what the last store left; zero at first)";
  let arguments = (ins AnyType:$state, Variadic<Index>:$indices);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$state (`[` $indices^ `]`)? attr-dict `:` type($state) `->` type($result)";
}
def Model_StoreOp : Model_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "keeps a value for later calls";
  let arguments = (ins Model_Any:$value, AnyType:$state, Variadic<Index>:$indices);
  let assemblyFormat = "$value `in` $state (`[` $indices^ `]`)? attr-dict `:` type($value) `,` type($state)";
}

//===-- fused ------------------------------------------------------------------===//

def Model_MapOp : Model_Op<"map", [Pure, SingleBlock, IsolatedFromAbove]> {
  let summary = "a chain of elementwise ops as one body on scalars";
  let description = [{
    operands broadcast (numpy) to the result's shape; the body takes one scalar each (f32, i64
    or i1) and is made of arith and math ops and `model.function` ; `model.yield` gives the
    element. Made by `model-fuse-elementwise`.
  }];
  let arguments = (ins Variadic<Model_Any>:$operands);
  let results = (outs Model_Any:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$operands attr-dict `:` functional-type(operands, results) $body";
}
def Model_FunctionOp : Model_Op<"function", [Pure]> {
  let summary = "a unary function of one scalar, by name (in the body of a map or an epilogue)";
  let arguments = (ins Model_UnaryKind:$kind, AnyType:$operand);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` type($operand) `->` type($result)";
}

//===-- rows of padding (from `fused` on) ----------------------------------------===//

def Model_LiveRowsOp : Model_Infer<"live_rows"> {
  let summary = "where a mask [B, T] is not 0: the flat rows b*T + t, ascending; how many, is the dim `dim`";
  let description = [{
    Defines a dim of the function, known from here on and at most B*T. Made by `model-skip-padding`.
    - (C1) the mask has rank 2. (C2) `dim` is a name, and not one of the mask's own dims. (C3) the op is in no repeat:
      the dim has one value a call.
    ```mlir
    %rows = model.live_rows %real as "live" : (!model.tensor<[B, T], i64>) -> !model.tensor<[live], i64>
    ```
  }];
  let arguments = (ins Model_Any:$mask, StrAttr:$dim);
  let results = (outs Model_Int:$result);
  let assemblyFormat = "$mask `as` $dim attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Model_PackRowsOp : Model_Infer<"pack_rows"> {
  let summary = "the rows of x [B, T, ..] that a list of flat rows [n] names, in order: [1, n, ..]";
  let description = "(C1) x has rank 2 or more, the list rank 1.";
  let arguments = (ins Model_Any:$operand, Model_Int:$rows);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `at` $rows attr-dict `:` functional-type(operands, results)";
}
def Model_UnpackRowsOp : Model_Op<"unpack_rows", [Pure]> {
  let summary = "packed rows [1, n, ..] back at their places in [B, T, ..]; rows that the list does not name are 0";
  let description = "(C1) the list is [n]; x is [1, n, ..]; the result agrees with x after its first two axes.";
  let arguments = (ins Model_Any:$operand, Model_Int:$rows);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `at` $rows attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
