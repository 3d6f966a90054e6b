// Ops of the `model` dialect that no description has: passes make them. ModelOps.td includes this file; `function` has its
// kinds.
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODELPASSOPS_TD
#define HEDDLE_DIALECTS_MODEL_IR_MODELPASSOPS_TD

include "dialects/Model/IR/ModelOp.td"

//===-- convolutions as linears ------------------------------------------------===//

// What a convolution multiplies. Along one axis without dilation rows overlap in the memory of x: then nothing is
// copied (dialects/Model/Transforms/Views.h).
def Model_WindowsOp : Model_Infer<"windows"> {
  let summary = "each window of x as a row: [B, L..., c] -> [B, L'..., Πsize * c], taps in row-major order, channels last";
  let description = [{
    y[b, l..., t*c + i] = x[b, l*stride + t*dilation, i]; L' = (L - dilation*(size-1) - 1)//stride + 1. Made by
    `model-conv-to-linear`, which pads first.
    - (C1) x has rank 3 or more. `size`, `stride` and `dilation` have one number, 1 or more, for each axis between the first
      and the last.
    - (C2) An axis of known length holds a window, and the channels are a number.
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

//===-- states (from `entries` on) ---------------------------------------------===//

def Model_AppendOp : Model_Op<"append", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "writes new rows after the past ones and returns all of them";
  let description = [{
    The state is [iterations..., b, capacity, ...]: axis `axis` of the rows' type is the capacity there, and `indices` choose
    the iteration. Rows [.., new, ..] are written at `past`, the dim of that name. The result is rows 0 .. past+new-1:
    [.., past+new, ..].

    With `slots` and `starts`, i64 [B], the state is [iterations..., slots, capacity, ...]. The rows of batch element b are
    written to row slots[b] of the state, at starts[b] instead of `past`. The result has rows 0 .. starts[b]+new-1 of that
    slot; the rows after them are undefined. No start is greater than `past`. Several elements may name one slot:
    each writes different positions, and each sees all that were written.
    - (C1) Slots and starts are both given or both left out. They are i64 [B], where B is the first axis of the rows, and
      the rows are not appended along B.
    - (C2) The rows have the axis, and the result has their rank.
    - (C3) The state has an axis for each index in front of those of the rows.
    ```mlir
    func.func @keys(%keys: !model.state<[12, B, capacity, 8], f32> {model.state = "keys"}, %rows: !model.tensor<[B, new, 8], f32>, %i: index) {
      %all = model.append %keys[%i], %rows axis 1 : !model.state<[12, B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
      return
    }
    ```
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
  let description = [{
    The tensor that the last `model.store` left in the state, zeros if there was none. `indices` choose the iteration of a
    repeat: [iterations..., shape...] -> [shape...].
    - (C1) The state has an axis for each index in front of those of the result.
    ```mlir
    func.func @sums(%sums: !model.state<[12, B, 8], f32> {model.state = "sums"}, %i: index) {
      %s = model.load %sums[%i] : !model.state<[12, B, 8], f32> -> !model.tensor<[B, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins AnyType:$state, Variadic<Index>:$indices);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$state (`[` $indices^ `]`)? attr-dict `:` type($state) `->` type($result)";
  let hasVerifier = 1;
}
def Model_StoreOp : Model_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "keeps a value for later calls";
  let description = [{
    The value replaces what the state holds: at `indices`, which choose the iteration of a repeat, or all of it.
    - (C1) The state has an axis for each index in front of those of the value.
    ```mlir
    func.func @sums(%sums: !model.state<[12, B, 8], f32> {model.state = "sums"}, %s: !model.tensor<[B, 8], f32>, %i: index) {
      model.store %s in %sums[%i] : !model.tensor<[B, 8], f32>, !model.state<[12, B, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$value, AnyType:$state, Variadic<Index>:$indices);
  let assemblyFormat = "$value `in` $state (`[` $indices^ `]`)? attr-dict `:` type($value) `,` type($state)";
  let hasVerifier = 1;
}

//===-- fused ------------------------------------------------------------------===//

def Model_MapOp : Model_Op<"map", [Pure, SingleBlock, IsolatedFromAbove]> {
  let summary = "a chain of elementwise ops as one body on scalars";
  let description = [{
    The operands broadcast (numpy) to the shape of the result. The body takes one scalar of each (f32, i64 or i1) and computes
    the element with ops of arith and math and `model.function`. Made by `model-fuse-elementwise`.
    - (C1) The operands stretch to the shape of the result.
    - (C2) The body takes a scalar of each operand and yields one of the result.
    ```mlir
    func.func @gate(%x: !model.tensor<[B, T, 8], f32>, %y: !model.tensor<[8], f32>) {
      %z = model.map %x, %y : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32> {
      ^bb0(%a: f32, %b: f32):
        %s = model.function silu %a : f32 -> f32
        %p = arith.mulf %s, %b : f32
        model.yield %p : f32
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Model_Any>:$operands);
  let results = (outs Model_Any:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$operands attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
}
def Model_FunctionOp : Model_Op<"function", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "a unary function of one scalar, by name (in the body of a map or an epilogue)";
  let description = [{
    y = kind(x), what `model.unary` does with each element. The example of `model.map` has one.
    - (C1) The operand and the result have one type.
  }];
  let arguments = (ins Model_UnaryKind:$kind, AnyType:$operand); // function_c1: AllTypesMatch
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $operand attr-dict `:` type($operand) `->` type($result)";
}

//===-- rows of padding (from `fused` on) ----------------------------------------===//

def Model_LiveRowsOp : Model_Infer<"live_rows"> {
  let summary = "where a mask [B, T] is not 0: the flat rows b*T + t, ascending; how many, is the dim `dim`";
  let description = [{
    The result is i64 [n]. Its length n is the dim `dim`, known from here on and at most B*T. Made by `model-skip-padding`.
    - (C1) The mask has rank 2.
    - (C2) `dim` is a name, and not one of the mask's own dims.
    - (C3) The op is in no repeat: the dim has one value a call.
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
  let description = [{
    y[0, i, ...] = x[b, t, ...] where rows[i] = b*T + t: padding is left out of what follows. Made by `model-skip-padding`.
    - (C1) x has rank 2 or more, and the list has rank 1.
    ```mlir
    func.func @pack(%x: !model.tensor<[B, T, 8], f32>, %rows: !model.tensor<[live], i64>) {
      %y = model.pack_rows %x at %rows : (!model.tensor<[B, T, 8], f32>, !model.tensor<[live], i64>) -> !model.tensor<[1, live, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, Model_Int:$rows);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `at` $rows attr-dict `:` functional-type(operands, results)";
}
def Model_UnpackRowsOp : Model_Op<"unpack_rows", [Pure]> {
  let summary = "packed rows [1, n, ..] back at their places in [B, T, ..]; rows that the list does not name are 0";
  let description = [{
    y[b, t, ...] = x[0, i, ...] where rows[i] = b*T + t, else 0. Made by `model-skip-padding`.
    - (C1) The list is [n], x is [1, n, ...], and the result has the axes of x after the first two.
    ```mlir
    func.func @unpack(%x: !model.tensor<[1, live, 8], f32>, %rows: !model.tensor<[live], i64>) {
      %y = model.unpack_rows %x at %rows : (!model.tensor<[1, live, 8], f32>, !model.tensor<[live], i64>) -> !model.tensor<[B, T, 8], f32>
      return
    }
    ```
  }];
  let arguments = (ins Model_Any:$operand, Model_Int:$rows);
  let results = (outs Model_Any:$result);
  let assemblyFormat = "$operand `at` $rows attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
