// The ops of the `model` dialect, 1:1 with the description language (language.md section 5).
// Result types are inferred (InferTypeOpAdaptor): the inference IS the check of shapes, so a
// builder that is given misfitting operands reports at the JSON token the op comes from.
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODELOPS_TD
#define HEDDLE_DIALECTS_MODEL_IR_MODELOPS_TD

include "dialects/Model/IR/ModelOp.td"

//===-- leaves -----------------------------------------------------------------===//

def Model_ParamOp : Model_Op<"param", [Pure]> {
  let summary = "a tensor of the weights file";
  let description = [{
    `name` is the name in the file. Inside repeats, `{k}` in the name is replaced by index operand k. Bytes never enter
    the IR. From `tiled` on, `layout` says how the bytes are stored in the blob and `offset` says where; index k moves
    them by `strides[k]`.
    - (C1) Every index has a place in the name, and every place has an index.
    - (C2) The layout fits the shape and the element type.
    - (C3) A place in the blob is an offset of 0 or more, with one stride of 0 or more for each index.
    - (C4) A `coded` parameter is an f32 matrix of constant lengths. Its features divide into groups of 16, 32, 64 or a
      multiple of 128, or are one group. A layout in codes has the codes of the parameter.
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
    Reals are f64 in the attribute: nothing is rounded before the type of computation is known.
    - (C1) The value and the result have the same shape. Their element types are f64/f32, i64/i64 or i1/i1.
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
  let description = [{
    The length `size`, a form over dims, as an i64 scalar: [].
    - (C1) `size` is a size form, and its numbers fit in 64 bits.
    ```mlir
    %n = model.size "T-1" : !model.tensor<[], i64>
    ```
  }];
  let arguments = (ins StrAttr:$size);
  let results = (outs Model_Int:$result);
  let assemblyFormat = "$size attr-dict `:` type($result)";
}

def Model_RangeOp : Model_Infer<"range", [], RowWise> {
  let summary = "the integers from, ..., to - 1";
  let description = [{
    y[i] = from + i, i64 of shape [to - from]. A range that is surely negative is empty.
    - (C1) `from` and `to` are size forms.
    ```mlir
    %p = model.range "past" to "past+T" : !model.tensor<[T], i64>
    ```
  }];
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
    y[...] = kind(x[...]), of the type of x. `bf16` rounds to bfloat16 and back (nearest, ties to even). `gelu` is the erf
    form, `gelu_tanh` the tanh form. The header of this section says how exact each function is.
    - (C1) `neg` and `abs` take f32 or i64, `not` takes i1, every other kind takes f32.
    ```mlir
    func.func @activation(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.unary silu %x : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
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
    y[...] = kind(a[...], b[...]). `floordiv` rounds to minus infinity and `mod` is a - b*(a floordiv b), for i64 and f32.
    A NaN operand of `min` or `max` gives NaN.
    - (C1) Both operands have one element type; casts are separate ops.
    - (C2) Axes, aligned from the right, are equal forms, or one of them is the constant 1.
    - (C3) `div` and `pow` take f32, `and` and `or` take i1, every other kind takes f32 or i64.
    ```mlir
    func.func @residual(%x: !model.tensor<[B, T, 8], f32>, %b: !model.tensor<[8], f32>) {
      %y = model.binary add %x, %b : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
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
  let description = [{
    y[...] = a[...] predicate b[...], of i1. A comparison with a NaN is false, `ne` is true.
    - (C1) Both operands have one element type.
    - (C2) Axes, aligned from the right, are equal forms, or one of them is the constant 1.
    ```mlir
    func.func @real_tokens(%ids: !model.tensor<[B, T], i64>, %pad: !model.tensor<[], i64>) {
      %y = model.compare ne %ids, %pad : (!model.tensor<[B, T], i64>, !model.tensor<[], i64>) -> !model.tensor<[B, T], i1>
      return
    }
    ```
  }];
  let arguments = (ins Model_ComparePredicate:$predicate, Model_Any:$lhs, Model_Any:$rhs);
  let results = (outs Model_Bool:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Model_SelectOp : Model_Infer<"select", [], RowWise> {
  let summary = "elementwise choice, numpy broadcasting of all three";
  let description = [{
    y[...] = condition[...] ? yes[...] : no[...].
    - (C1) `yes` and `no` have one element type.
    - (C2) Axes of all three, aligned from the right, are equal forms or the constant 1.
    - (C3) The condition is a tensor of i1.
    ```mlir
    func.func @zero_padding(%real: !model.tensor<[B, T, 1], i1>, %x: !model.tensor<[B, T, 8], f32>, %zero: !model.tensor<[], f32>) {
      %y = model.select %real, %x, %zero : (!model.tensor<[B, T, 1], i1>, !model.tensor<[B, T, 8], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Bool:$condition, Model_Any:$yes, Model_Any:$no); // select_c3
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$condition `,` $yes `,` $no attr-dict `:` functional-type(operands, results)";
}

def Model_CastOp : Model_Op<"cast", [Pure] # RowWise> {
  let summary = "another element type: to i1 is `!= 0`, f32 to i64 truncates towards zero";
  let description = [{
    The same elements in another type. A number becomes i1 as `x != 0`; an f32 becomes i64 by truncation towards zero.
    - (C1) The operand and the result have equal lengths.
    ```mlir
    %y = model.cast %x : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], f32>
    ```
  }];
  let arguments = (ins Model_Any:$operand);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$element)>];
  let hasVerifier = 1;
}

def Model_BroadcastOp : Model_Op<"broadcast", [Pure] # RowWise> {
  let summary = "axes of 1 (and missing leading axes) stretched to the result's lengths";
  let description = [{
    y[i..., j...] = x[j or 0...]: x repeated along its axes of length 1 and along the leading axes that it lacks.
    - (C1) The operand and the result have one element type.
    - (C2) Each axis of the operand, aligned from the right, is the result's, or is 1.
    ```mlir
    %y = model.broadcast %x : !model.tensor<[T, 1], f32> -> !model.tensor<[B, T, 8], f32>
    ```
  }];
  let arguments = (ins Model_Any:$operand);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Model_DefaultOp : Model_Op<"default", [Pure, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "an input, or what stands for it when it was not given";
  let description = [{
    The result is `input` if the caller gave it. If not, it is what the region yields, broadcast to the type of the input.
    The input is an argument of the function with the attribute `model.default`.
    - (C1) The input is an argument of a function, and the result has its type.
    - (C2) The region yields one tensor that stretches to that type. A constant length of it may fix a dim.
    ```mlir
    func.func @mask(%mask: !model.tensor<[B, T], i64> {model.default}) {
      %m = model.default %mask : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
        %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
        model.yield %one : !model.tensor<[], i64>
      }
      return
    }
    ```
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
  let description = [{
    y[..., i, ...] = x[..., from + i, ...]: [..., n, ...] -> [..., to - from, ...]. `from` and `to` are forms that count from
    the start; negative indices of the language are resolved before.
    - (C1) x has the axis.
    - (C2) `from` and `to` are size forms, and their numbers fit in 64 bits.
    - (C3) 0 <= from <= to <= n. Where forms do not decide this, it is a condition on the lengths of a call.
    ```mlir
    func.func @last(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.slice %x axis 1 from "T-1" to "T" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 1, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, I64Attr:$axis, StrAttr:$from, StrAttr:$to);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis `from` $from `to` $to attr-dict `:` functional-type(operands, results)";
}
def Model_SqueezeOp : Model_Infer<"squeeze", [], OwnStep> {
  let summary = "drops an axis of length 1";
  let description = [{
    [..., 1, ...] -> [..., ...]. The elements stay where they are in memory.
    - (C1) x has the axis.
    - (C2) Its length is 1.
    ```mlir
    func.func @vectors(%x: !model.tensor<[B, 1, 8], f32>) {
      %y = model.squeeze %x axis 1 : (!model.tensor<[B, 1, 8], f32>) -> !model.tensor<[B, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_UnsqueezeOp : Model_Infer<"unsqueeze", [], OwnStep> {
  let summary = "inserts an axis of length 1 before `axis` of the result";
  let description = [{
    [..., ...] -> [..., 1, ...]: the new axis is number `axis` of the result. The elements stay where they are in memory.
    - (C1) `axis` is 0 to the rank of x.
    ```mlir
    func.func @rows(%x: !model.tensor<[B, 8], f32>) {
      %y = model.unsqueeze %x axis 1 : (!model.tensor<[B, 8], f32>) -> !model.tensor<[B, 1, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_RearrangeOp : Model_Infer<"rearrange", [], OwnStep> {
  let summary = "einops: split, permute and merge axes";
  let description = [{
    `pattern` names the axes of x on the left and those of the result on the right: "b t (h d) -> b h t d". A group in
    parentheses is one axis; its last name is the fastest. `sizes` gives the lengths that division cannot find: {h = "12"}.
    - (C1) Every name occurs once on each side.
    - (C2) A group has at most one unknown length, and the known ones divide its axis.
    - (C3) The pattern can be read, and its left side has as many axes as x.
    - (C4) `sizes` gives size forms for names of the left side.
    ```mlir
    func.func @heads(%x: !model.tensor<[B, T, 768], f32>) {
      %y = model.rearrange %x "b t (h d) -> b h t d" sizes {h = "12"} : (!model.tensor<[B, T, 768], f32>) -> !model.tensor<[B, 12, T, 64], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, StrAttr:$pattern, DefaultValuedAttr<DictionaryAttr, "{}">:$sizes);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand $pattern (`sizes` $sizes^)? attr-dict `:` functional-type(operands, results)";
}
def Model_ConcatOp : Model_Infer<"concat", [], OwnStep> {
  let summary = "operands one after another along `axis`; other axes broadcast";
  let description = [{
    The rows of the operands along `axis`, one operand after another: [..., n0, ...], [..., n1, ...] -> [..., n0 + n1 + .., ...].
    - (C1) There is an operand, and the one of the highest rank has the axis.
    - (C2) All operands have one element type.
    - (C3) The other axes, aligned from the right, are equal forms or the constant 1.
    ```mlir
    func.func @class_token(%c: !model.tensor<[1, 1, 8], f32>, %x: !model.tensor<[B, T, 8], f32>) {
      %y = model.concat %c, %x axis 1 : (!model.tensor<[1, 1, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, "T+1", 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Model_Any>:$operands, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operands `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_PadOp : Model_Infer<"pad", [], OwnStep> {
  let summary = "`before` and `after` rows of `value` along `axis`";
  let description = [{
    [..., n, ...] -> [..., before + n + after, ...]: the rows that are added hold `value`.
    - (C1) x has the axis.
    - (C2) `before` and `after` are size forms, and no negative numbers. Their numbers fit in 64 bits.
    ```mlir
    func.func @rows(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.pad %x axis 1 before "2" after "0" value 0.0 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, "T+2", 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, I64Attr:$axis, StrAttr:$before, StrAttr:$after, F64Attr:$value);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `axis` $axis `before` $before `after` $after `value` $value attr-dict `:` functional-type(operands, results)";
}
def Model_GatherOp : Model_Infer<"gather", [], OwnStep> {
  let summary = "x[b, at[b]] or x[b, at[b, n]]: rows by position";
  let description = [{
    x [B, T, ...]: y[b, ...] = x[b, at[b], ...] for positions [B], y[b, n, ...] = x[b, at[b, n], ...] for [B, N]. An axis 0 of
    length 1 is read for every b. A position outside of x is a run-time error.
    - (C1) x has rank 2 or more.
    - (C2) The positions are [B] or [B, N], where the first axis of x is B or 1.
    ```mlir
    func.func @answers(%x: !model.tensor<[B, T, 8], f32>, %at: !model.tensor<[B], i64>) {
      %y = model.gather %x at %at : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B], i64>) -> !model.tensor<[B, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, Model_Int:$at);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `at` $at attr-dict `:` functional-type(operands, results)";
}

//===-- projections ------------------------------------------------------------===//

def Model_EmbeddingOp : Model_Infer<"embedding", [], OwnStep> {
  let summary = "row ids[...] of the table [rows, width]; an id outside is a run-time error";
  let description = [{
    y[..., j] = table[ids[...], j]: [...] -> [..., width].
    - (C1) The table is [rows, width].
    ```mlir
    func.func @tokens(%ids: !model.tensor<[B, T], i64>, %table: !model.tensor<[50257, 768], f32>) {
      %y = model.embedding %ids in %table : (!model.tensor<[B, T], i64>, !model.tensor<[50257, 768], f32>) -> !model.tensor<[B, T, 768], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Int:$ids, Model_Real:$table);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$ids `in` $table attr-dict `:` functional-type(operands, results)";
}

def Model_LinearOp : Model_Op<"linear", [Pure, AttrSizedOperandSegments, IsolatedFromAbove, InferTypeOpAdaptor] # OwnStep> {
  let summary = "x Wᵀ + b over the last axis, perhaps split into several results";
  let description = [{
    x [..., n], W [m, n] (`in_out`: [n, m]), b [m]: y[..., j] = b[j] + the sum over i of x[..., i] * W[j, i].
    With `parts` p₀..pₖ and `groups` g: m = g * Σp * unit, and result j takes its pⱼ*unit features of every group, in order. With `part` = j
    (`model-split-linear`) there is result j alone.
    From `fused` on: `extras` and the region `epilogue` finish each element,
    ^bb(%acc: f32, %extra0: ...) -> model.yield %out : f32, where an extra is aligned with the
    result from the right and read at the element's index.
    `filter` (`model-conv-to-linear`): W is [m, c, k...]; its feature t*c + i is W[m, i, t], taps t in row-major order.
    If W is a coded parameter (`#model.coded`) and `model.codes` is not "wide", rows are rounded and integers are
    multiplied. Each r features x of a row, in the order of the codes, are rounded together; r is `model.rows`, 128
    without it and for codes of two levels. With b = max |x|:
    inv = 127 / b, s = b / 127, and q = x * inv rounded to the nearest integer, ties to even. If inv is not finite, all
    q are 0; if one x is a NaN or an infinity, s is NaN. A unit of features is a group, or r features of a larger
    group. The integer sum of a unit is exact: t = sum of q * (integer - zero), and so is R = sum of q. The rest is in
    f32, ascending, with w and u, the scale and the minimum of the group, and y = z = 0 at the beginning.

    - Groups of up to r: over the units of r features z = fma(t, w, z), and with minima z = fma(R, u, z). Then
      y = fma(z, s, y) and z = 0.
    - Larger groups: over the units of a group z = fma(t, s, z). Then y = fma(z, w, y) and z = 0.
    - Two levels, with d and e of the super-group: over the units of r features z = fma(t, subscale, z), and M, the sum
      of subminimum * R, is exact. Then v = z * d, with minima v = fma(e, M, v), y = fma(v, s, y) and z = 0.

    So the bits of a row depend on that row alone, and are the same on every processor.
    - (C1) W has rank 2 and n features.
    - (C2) b is [m].
    - (C3) Parts are positive, and m divides into groups and parts.
    - (C4) An epilogue has one result, and extras have an epilogue.
    - (C5) With `filter`, W has rank 3 or more, constant lengths, n = c * Πk, and is not `in_out`.
    - (C6) `part` is the number of a part, and there is one result.
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
  let description = [{
    y[..., i, j] = the sum over k of a[..., i, k] * b[..., k, j].
    - (C1) Both operands have rank 2 or more. The last axis of a is the last but one of b.
    - (C2) The axes in front, aligned from the right, are equal forms or the constant 1.
    ```mlir
    func.func @scores(%q: !model.tensor<[B, 4, T, 8], f32>, %k: !model.tensor<[B, 4, 8, S], f32>) {
      %y = model.matmul %q, %k : (!model.tensor<[B, 4, T, 8], f32>, !model.tensor<[B, 4, 8, S], f32>) -> !model.tensor<[B, 4, T, S], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$lhs, Model_Real:$rhs);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Model_ConvOp : Model_Infer<"conv", [], OwnStep> {
  let summary = "cross-correlation, channels last: [B, L..., c] -> [B, L'..., m]";
  let description = [{
    x [B, L..., c], weight [m, c/groups, k...], bias [m].
    y[b, l..., j] = bias[j] + the sum of weight[j, i, t] * x[b, l*stride + t*dilation - before, i]. The sum is over the
    taps t and the channels i of the group of j. Elements outside of x are 0.
    L' = (L + before + after - dilation*(k-1) - 1)//stride + 1. `padding` holds before, after of each spatial axis.
    - (C1) The weight has rank 3 or more, and x has its rank.
    - (C2) `stride` and `dilation` have one number, 1 or more, for each spatial axis; `padding` has two.
    - (C3) The channels of x are those of the weight times `groups`, and `groups` divides m.
    - (C4) The bias is [m].
    - (C5) An axis of known length holds the taps.
    ```mlir
    func.func @patches(%x: !model.tensor<[B, 224, 224, 3], f32>, %w: !model.tensor<[768, 3, 16, 16], f32>, %b: !model.tensor<[768], f32>) {
      %y = model.conv %x, %w bias %b stride [16, 16] dilation [1, 1] padding [0, 0, 0, 0] : (!model.tensor<[B, 224, 224, 3], f32>, !model.tensor<[768, 3, 16, 16], f32>, !model.tensor<[768], f32>) -> !model.tensor<[B, 14, 14, 768], f32>
      return
    }
    ```
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
  let description = [{
    y[..., i] = x[..., i] where it is among the k largest of its row, else `fill`; of the shape of x.
    - (C1) The last axis has a constant length n, and 1 <= k <= n.
    ```mlir
    func.func @experts(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.top_k %x k 2 fill 0.0 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
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
  let description = [{
    x [..., n], w and b [n] -> [..., n]: μ and σ² are the mean and the variance (over n, not n - 1) of each row.
    - (C1) x has a last axis.
    - (C2) Weight and bias are [n].
    ```mlir
    func.func @norm(%x: !model.tensor<[B, T, 8], f32>, %w: !model.tensor<[8], f32>, %b: !model.tensor<[8], f32>) {
      %y = model.layer_norm %x weight %w bias %b eps 1.0e-5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$input, Optional<Model_Real>:$weight, Optional<Model_Real>:$bias, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input (`weight` $weight^)? (`bias` $bias^)? `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def Model_RmsNormOp : Model_Infer<"rms_norm", [], OwnStep> {
  let summary = "x/√(mean x²+eps)·(offset+w) over the last axis";
  let description = [{
    x [..., n], w [n] -> [..., n]; the mean of x² is that of a row. `offset` is 1 for weights that are stored less 1.
    - (C1) x has a last axis.
    - (C2) The weight is [n].
    ```mlir
    func.func @norm(%x: !model.tensor<[B, T, 8], f32>, %w: !model.tensor<[8], f32>) {
      %y = model.rms_norm %x weight %w eps 1.0e-6 offset 0.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$input, Model_Real:$weight, F64Attr:$eps, F64Attr:$offset);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `weight` $weight `eps` $eps `offset` $offset attr-dict `:` functional-type(operands, results)";
}
def Model_GroupNormOp : Model_Infer<"group_norm", [], OwnStep> {
  let summary = "[B, L..., C]: statistics over all positions and the channels of a group";
  let description = [{
    y[b, l..., c] = (x - μ)/√(σ²+eps)·w[c] + bias[c]. μ and σ² are those of batch element b over all positions l and the
    C/groups neighbouring channels of the group of c.
    - (C1) x has rank 3 or more, and `groups` divides its channels.
    - (C2) Weight and bias are [C].
    ```mlir
    func.func @norm(%x: !model.tensor<[B, T, 8], f32>, %w: !model.tensor<[8], f32>, %b: !model.tensor<[8], f32>) {
      %y = model.group_norm %x weight %w bias %b groups 2 eps 1.0e-5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$input, Model_Real:$weight, Model_Real:$bias, I64Attr:$groups, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `weight` $weight `bias` $bias `groups` $groups `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def Model_BatchNormOp : Model_Infer<"batch_norm", [], OwnStep> {
  let summary = "(x-mean)/√(var+eps)·w + b with the file's statistics";
  let description = [{
    x [..., n] -> [..., n], as in inference: mean and variance [n] come from the weights file.
    - (C1) x has a last axis.
    - (C2) Mean, variance, weight and bias are [n].
    ```mlir
    func.func @norm(%x: !model.tensor<[B, T, 8], f32>, %m: !model.tensor<[8], f32>, %v: !model.tensor<[8], f32>, %w: !model.tensor<[8], f32>, %b: !model.tensor<[8], f32>) {
      %y = model.batch_norm %x mean %m variance %v weight %w bias %b eps 1.0e-5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>, !model.tensor<[8], f32>, !model.tensor<[8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$input, Model_Real:$mean, Model_Real:$variance, Model_Real:$weight, Model_Real:$bias, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `mean` $mean `variance` $variance `weight` $weight `bias` $bias `eps` $eps attr-dict `:` functional-type(operands, results)";
}
def Model_L2NormOp : Model_Infer<"l2_norm", [], OwnStep> {
  let summary = "x/max(‖x‖, eps) over the last axis";
  let description = [{
    x [..., n] -> [..., n]: each row is divided by its Euclidean norm, or by `eps` where that is larger. There is no weight.
    - (C1) x has a last axis.
    ```mlir
    func.func @unit(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.l2_norm %x eps 1.0e-12 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$input, F64Attr:$eps);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `eps` $eps attr-dict `:` functional-type(operands, results)";
}

//===-- positions --------------------------------------------------------------===//

def Model_SinusoidalOp : Model_Infer<"sinusoidal", [], OwnStep> {
  let summary = "positions [...] -> [..., width]: sin and cos of p·theta^(-2i/width)";
  let description = [{
    With f(i) = theta^(-2i/width): y[..., 2i] = sin(p·f(i)), y[..., 2i+1] = cos(p·f(i)); with `halves` all sines, then all
    cosines. (Vaswani et al. 2017)
    - (C1) `width` is even and positive.
    ```mlir
    func.func @places(%p: !model.tensor<[T], i64>) {
      %y = model.sinusoidal %p width 64 theta 10000.0 : (!model.tensor<[T], i64>) -> !model.tensor<[T, 64], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$positions, I64Attr:$width, UnitAttr:$halves, F64Attr:$theta);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$positions `width` $width (`halves` $halves^)? `theta` $theta attr-dict `:` functional-type(operands, results)";
}
def Model_RotaryOp : Model_Infer<"rotary", [], OwnStep> {
  let summary = "each head's first 2n features turn by positions × frequencies [.., n]";
  let description = [{
    x [..., heads·head_width]; positions stretch to the axes of x in front of the features. Angles are
    position × frequencies. Frequencies are [n], [..., n] or [..., heads, n]; the axes in front of n stretch to those of x.
    Each head rotates n pairs of its features by these angles: features (i, i+n), with `pairs` (2i, 2i+1); the others stay.
    cos and sin are multiplied by `amplitude`. (Su et al. 2021)
    - (C1) x has rank 2 or more, and its features divide into heads.
    - (C2) n is a constant, and 2n <= head_width.
    - (C3) The positions stretch to the axes of x in front of the features.
    - (C4) So do the frequencies' axes in front of n, with or without an axis of heads.
    - (C5) The amplitude is one number.
    ```mlir
    func.func @rotate(%x: !model.tensor<[B, T, 768], f32>, %p: !model.tensor<[T], i64>, %f: !model.tensor<[32], f32>, %a: !model.tensor<[], f32>) {
      %y = model.rotary %x at %p by %f amplitude %a head_width 64 : (!model.tensor<[B, T, 768], f32>, !model.tensor<[T], i64>, !model.tensor<[32], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 768], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$input, Model_Any:$positions, Model_Real:$frequencies, Model_Real:$amplitude, I64Attr:$head_width, UnitAttr:$pairs);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$input `at` $positions `by` $frequencies `amplitude` $amplitude `head_width` $head_width (`pairs` $pairs^)? attr-dict `:` functional-type(operands, results)";
}
def Model_InterpolateOp : Model_Infer<"interpolate", [], OwnStep> {
  let summary = "[B,H,W,C] to other H, W: bilinear or bicubic (a = -0.75), half-pixel centres, edges clamped";
  let description = [{
    [B, H, W, C] -> [B, H', W', C], one size for each axis after the batch. Result i reads (i+½)/scale - ½; without `scales`
    the scale of an axis is its new length divided by the old one.
    - (C1) There are at most as many sizes as x has axes between the batch and the channels.
    - (C2) There is no scale, or one f32 scalar for each size.
    - (C3) The sizes are size forms.
    ```mlir
    func.func @positions(%x: !model.tensor<[1, 14, 14, 768], f32>) {
      %y = model.interpolate %x to ["H//16", "W//16"] bicubic : (!model.tensor<[1, 14, 14, 768], f32>) -> !model.tensor<[1, "H//16", "W//16", 768], f32>
      return
    }
    ```
  }];
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
  let description = [{
    The reduced axes are dropped, or with `keep` become 1. The order of the elements is ascending. `argmax` takes the first of
    equal elements and gives i64.
    - (C1) `axes` names one axis or more of x, each once.
    - (C2) x holds f32 or i64; `mean` takes f32.
    - (C3) `argmax` has one axis and no `keep`.
    ```mlir
    func.func @pool(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.reduce mean %x axes [1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_ReduceKind:$kind, Model_Any:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keep);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$kind $operand `axes` $axes (`keep` $keep^)? attr-dict `:` functional-type(operands, results)";
}
def Model_CumsumOp : Model_Infer<"cumsum", [], OwnStep> {
  let summary = "inclusive running sum along `axis`; from `entries` on it may go on from `init` (the axis left out)";
  let description = [{
    y[..., i, ...] = init + x[..., 0, ...] + .. + x[..., i, ...], of the shape of x. `init` exists from `entries` on, where the
    sum continues that of an earlier call.
    - (C1) x has the axis.
    - (C2) x holds f32 or i64.
    - (C3) `init` has the element type of x and stretches to its shape without the axis.
    ```mlir
    func.func @positions(%mask: !model.tensor<[B, T], i64>) {
      %y = model.cumsum %mask axis 1 : (!model.tensor<[B, T], i64>) -> !model.tensor<[B, T], i64>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, Optional<Model_Any>:$init, I64Attr:$axis);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand (`init` $init^)? `axis` $axis attr-dict `:` functional-type(operands, results)";
}
def Model_SoftmaxOp : Model_Infer<"softmax", [], OwnStep> {
  let summary = "softmax, or its logarithm, along `axis`";
  let description = [{
    y = exp(x - max) / the sum of exp(x - max) along the axis, of the shape of x; with `logarithm` x - max - log of that sum.
    - (C1) x has the axis.
    ```mlir
    func.func @weights(%x: !model.tensor<[B, T, 8], f32>) {
      %y = model.softmax %x axis 2 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Real:$operand, I64Attr:$axis, UnitAttr:$logarithm);
  let results = (outs Model_Real:$result);
  let assemblyFormat = "$operand `axis` $axis (`logarithm` $logarithm^)? attr-dict `:` functional-type(operands, results)";
}

//===-- repetition -------------------------------------------------------------===//

def Model_RepeatOp : Model_Op<"repeat", [SingleBlock, AutomaticAllocationScope]> {
  let summary = "one body for every layer that is alike";
  let description = [{
    The body takes the index (0 .. count-1) and the carried values. Of what `model.yield` ends it with, as many operands as
    there are carried values go on to the next iteration; the others are collected: result c of them is [count, ...], row i
    from iteration i. Values from outside may be used inside. `first` is added to the index in parameter names.
    - (C1) Carried operands, arguments, yields and results have equal types.
    - (C2) The body takes the index and the carried values, and yields a value for each result.
    - (C3) The result of a collected tensor is [count, ...].
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

def Model_YieldOp : Model_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["RepeatOp", "DefaultOp", "MapOp", "LinearOp"]>]> {
  let summary = "ends the body of a repeat, a default or an epilogue";
  let description = [{
    The operands are what the op around it takes from its body: the next carried values and the collected ones (`repeat`), a
    tensor (`default`), or a scalar (`map`, the epilogue of `linear`). The example of `model.repeat` has one.
    - (C1) It ends a body of one of these four ops.
  }];
  let arguments = (ins Variadic<AnyType>:$operands); // yield_c1: ParentOneOf
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

include "dialects/Model/IR/ModelPassOps.td"

#endif
