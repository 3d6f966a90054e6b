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

/// A mask, which says itself what `answers` names; the rest is the interface's default.
class Mask_Op<string mnemonic, list<string> answers = [], list<Trait> traits = []>
    : Op<Mask_Dialect, mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Mask_MaskOpInterface, answers>,
                                           DeclareOpInterfaceMethods<Model_SidesInterface, ["stepSide"]>]> {
  let results = (outs Mask_MaskType:$result);
  let extraClassDefinition = [{
    ::heddle::model::StepSide $cppClass::stepSide(unsigned operand) { return ::heddle::mask::sideRead(*this, operand); }
  }];
}
/// A mask between bounds that never decrease with the row: it says its sides and bounds, and all code follows.
class Mask_BandLike<string mnemonic, list<string> answers = [], list<Trait> traits = []>
    : Mask_Op<mnemonic, ["sides", "bound", "surelySees", "dependsOn", "positions"] # answers, traits>;
/// A leaf that is read from data: with a table (`mask-build-tables`) its segments are looked up.
class Mask_DataLeaf<string mnemonic, list<string> answers = [], list<Trait> traits = []>
    : Mask_Op<mnemonic, ["axesOf", "positions", "exampleData", "createTable", "setTable"] # answers, traits> {
  let hasVerifier = 1;
}

//===-- leaves: positions are absolute, query i = past + row, key k + key_start ----===//

def Mask_AllOp : Mask_Op<"all", ["implies", "positions", "surelySees"]> {
  let summary = "every pair";
  let description = [{
    visible(b, h, i, k) is true for every row i and key k. It has no operands and no attributes, hence no clause.
    ```mlir
    %m = mask.all
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def Mask_NoneOp : Mask_Op<"none", ["implies", "positions", "reach"]> {
  let summary = "no pair: every row is fully masked";
  let description = [{
    visible(b, h, i, k) is false for every row i and key k. It has no operands and no attributes, hence no clause.
    ```mlir
    %m = mask.none
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def Mask_BandOp : Mask_BandLike<"band", ["reach", "describe", "axesOf"]> {
  let summary = "keys between two bounds that never decrease with the row: what `mask-simplify` makes of bands";
  let description = [{
    i sees k if from(i) <= k < below(i), for positions i and k. A bound is a list of maps `(i)[n...] -> (terms)`, where n are
    the values of `bounds` for the batch element. `below` is the least of the maps' greatest terms, `from` the greatest of
    their least terms.
    - (C1) A map has one dimension, a symbol for each of `bounds`, and at least one result.
    - (C2) A result is i + c, i floordiv n * n + c, a symbol + c, or a constant: such a bound never decreases with i.
    - (C3) `bounds` are i64 of rank 0 or 1, and there is a side.
    ```mlir
    %m = mask.band from [affine_map<(i) -> (i - 64)>] below [affine_map<(i) -> (i + 1)>]
    ```
  }];
  let arguments = (ins OptionalAttr<AffineMapArrayAttr>:$from, OptionalAttr<AffineMapArrayAttr>:$below, Variadic<Model_Int>:$bounds);
  let assemblyFormat = "(`from` $from^)? (`below` $below^)? (`of` $bounds^ `:` type($bounds))? attr-dict";
  let hasVerifier = 1;
}
def Mask_CausalOp : Mask_BandLike<"causal", ["reach"]> {
  let summary = "k <= i";
  let description = [{
    visible(b, h, i, k) = k <= i: a row sees its own key and those before. It has no operands and no attributes, hence no
    clause.
    ```mlir
    %m = mask.causal
    ```
  }];
  let assemblyFormat = "attr-dict";
}
def Mask_ChunkOp : Mask_BandLike<"chunk", ["reach", "describe"]> {
  let summary = "i // size == k // size: query and key in the same chunk of positions";
  let description = [{
    Chunks are of positions, from 0 on, wherever keys start and whatever is cached. With `causal`, a row of a step sees keys
    from the first key of its chunk on.
    - (C1) The size is positive.
    ```mlir
    %m = mask.chunk 8192
    ```
  }];
  let arguments = (ins I64Attr:$size);
  let assemblyFormat = "$size attr-dict";
  let hasVerifier = 1;
}
def Mask_WindowOp : Mask_BandLike<"window", ["reach", "describe", "axesOf", "exampleData", "implies", "createTable", "setTable", "withKeys"],
                                   [AttrSizedOperandSegments]> {
  let summary = "i - left <= k <= i + right; with labels [T] or [B, T]: on the labels of i and k";
  let description = [{
    A missing side is no limit. Both ends are inclusive and may be negative (a window off the diagonal). From `entries` on,
    `key_labels` may give the labels of the keys apart from those of the queries.
    - (C1) Labels are i64 of rank 1 or 2, and so are labels of keys.
    - (C2) A table is the `label_table` of these labels and sides.
    - (C3) Labels of keys and a table need labels.
    ```mlir
    %m = mask.window left 127 right 0
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right, Optional<Model_Int>:$labels, Optional<Model_Int>:$key_labels,
                       Optional<Model_Int>:$table);
  let assemblyFormat = [{ (`left` $left^)? (`right` $right^)? (`on` $labels^ `:` type($labels))? (`keys` $key_labels^ `:` type($key_labels))?
    (`table` $table^ `:` type($table))? attr-dict }];
  let hasVerifier = 1;
}
def Mask_DilatedOp : Mask_Op<"dilated", ["dependsOn", "positions", "describe", "surelySees"]> {
  let summary = "(k - i) is a multiple of step";
  let description = [{
    i sees k if (k - i) mod step = 0: every step-th key, counted from the row's own position, in both directions.
    - (C1) The step is positive.
    ```mlir
    %m = mask.dilated 4
    ```
  }];
  let arguments = (ins I64Attr:$step);
  let assemblyFormat = "$step attr-dict";
  let hasVerifier = 1;
}
/// Tokens of a picture in row-major order: position i is in row i // width, column i % width.
class Mask_GridLike<string mnemonic> : Mask_Op<mnemonic, ["reach", "dependsOn", "describe", "surelySees"]> {
  let hasVerifier = 1;
}
def Mask_GridOp : Mask_GridLike<"grid"> {
  let summary = "tokens of a picture, at most so many rows and columns away";
  let description = [{
    i sees k if their rows are at most `rows` apart and their columns at most `columns`. The edge of a picture cuts
    neighbourhoods off; it does not move them. The last row may be short. Positions before 0 go on to the left and upwards.
    - (C1) The width is positive; rows and columns are not negative; all are below 2**30.
    ```mlir
    %m = mask.grid width 14 rows 3 columns 3
    ```
  }];
  let arguments = (ins I64Attr:$width, I64Attr:$rows, I64Attr:$columns);
  let assemblyFormat = "`width` $width `rows` $rows `columns` $columns attr-dict";
}
def Mask_GridWindowOp : Mask_GridLike<"grid_window"> {
  let summary = "tokens of a picture, in the same window of rows x columns";
  let description = [{
    i sees k if (row - shift) // rows and (column - shift) // columns agree, rounded down. Windows begin at multiples of their
    size, all moved right and down by `shift`. Smaller windows at the edges are windows, too. (Swin's shifted
    windows: its mask of a rolled picture means the same.)
    - (C1) Width, rows and columns are positive, shift is not negative; all are below 2**30.
    ```mlir
    %m = mask.grid_window width 56 rows 7 columns 7 shift 3
    ```
  }];
  let arguments = (ins I64Attr:$width, I64Attr:$rows, I64Attr:$columns, DefaultValuedAttr<I64Attr, "0">:$shift);
  let assemblyFormat = "`width` $width `rows` $rows `columns` $columns (`shift` $shift^)? attr-dict";
}
def Mask_KeysOp : Mask_DataLeaf<"keys", ["implies"]> {
  let summary = "t[b, k] != 0";
  let description = [{
    A set of keys for each batch element: padding, global keys; holes are allowed. A t of rank 1 is the same for every b.
    - (C1) t is [S] or [B, S].
    - (C2) A table is the `key_table` of t.
    ```mlir
    %m = mask.keys %real : !model.tensor<[B, S], i64>
    ```
  }];
  let arguments = (ins Model_Any:$tensor, Optional<Model_Int>:$table);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) (`table` $table^ `:` type($table))?";
}
def Mask_QueriesOp : Mask_DataLeaf<"queries"> {
  let summary = "t[b, row] != 0";
  let description = [{
    A set of rows for each batch element: a row that is not in it sees nothing. A t of rank 1 is the same for every b.
    - (C1) t is [T] or [B, T].
    - (C2) A table is the `row_counts` of t.
    ```mlir
    %m = mask.queries %real : !model.tensor<[B, T], i64>
    ```
  }];
  let arguments = (ins Model_Any:$tensor, Optional<Model_Int>:$table);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) (`table` $table^ `:` type($table))?";
}
def Mask_PrefixOp : Mask_BandLike<"prefix", ["axesOf", "exampleData"]> {
  let summary = "k < n[b]";
  let description = [{
    The first n[b] keys of batch element b, seen by every row. An n of rank 0 is the same for every b.
    - (C1) n is [] or [B].
    ```mlir
    %m = mask.prefix %n : !model.tensor<[B], i64>
    ```
  }];
  let arguments = (ins Model_Int:$length);
  let assemblyFormat = "$length attr-dict `:` type($length)";
  let hasVerifier = 1;
}
def Mask_DocumentOp : Mask_DataLeaf<"document", ["surelySees", "describe"]> {
  let summary = "query_ids[b, row] == key_ids[b, k]";
  let description = [{
    A row sees the keys that have its label. Ids of rank 1 are the same for every b.
    - (C1) The ids have rank 1 or 2.
    - (C2) A table is the `label_table` of these ids.
    ```mlir
    %m = mask.document %queries, %keys : !model.tensor<[B, T], i64>, !model.tensor<[B, S], i64>
    ```
  }];
  let arguments = (ins Model_Any:$query_ids, Model_Any:$key_ids, Optional<Model_Int>:$table);
  let assemblyFormat = "$query_ids `,` $key_ids attr-dict `:` type($query_ids) `,` type($key_ids) (`table` $table^ `:` type($table))?";
}
def Mask_BlocksOp : Mask_DataLeaf<"blocks", ["dependsOn", "describe", "misfit"]> {
  let summary = "lists[(h,) i // size] contains k // size; a block listed twice counts twice under `+`";
  let description = [{
    Rows and keys are divided into blocks of `size` positions. Row i sees the blocks of keys that the list of its block names;
    -1 names none.
    - (C1) The size is positive.
    - (C2) The lists are [blocks, n] or [heads, blocks, n].
    - (C3) A table is the `block_runs` of these lists.
    ```mlir
    %m = mask.blocks 64, %lists : !model.tensor<[12, 32, 3], i64>
    ```
  }];
  let arguments = (ins I64Attr:$size, Model_Int:$lists, Optional<Model_Int>:$table);
  let assemblyFormat = "$size `,` $lists attr-dict `:` type($lists) (`table` $table^ `:` type($table))?";
}
def Mask_DenseOp : Mask_DataLeaf<"dense"> {
  let summary = "t[b, h, row, k] != 0: [T,S], [B,T,S] or [B,H,T,S]";
  let description = [{
    A mask that the user supplies as a tensor. Axes of length 1 count for every index.
    - (C1) t has rank 2, 3 or 4.
    - (C2) A table is the `dense_table` of t.
    ```mlir
    %m = mask.dense %t : !model.tensor<[B, 12, T, S], i1>
    ```
  }];
  let arguments = (ins Model_Any:$tensor, Optional<Model_Int>:$table);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) (`table` $table^ `:` type($table))?";
}

//===-- connectives ------------------------------------------------------------===//

class Mask_Connective<string mnemonic> : Mask_Op<mnemonic, ["dependsOn", "reach", "implies", "positions", "surelySees"], [Commutative]> {
  let arguments = (ins Mask_MaskType:$lhs, Mask_MaskType:$rhs); // and_c1, or_c1, add_c1: ODS
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
}
def Mask_AndOp : Mask_Connective<"and"> {
  let summary = "visible where both are (counts multiply)";
  let description = [{
    count(b, h, i, k) = lhs * rhs. Without `mask.add` below it a count is 0 or 1.
    - (C1) The operands are masks.
    ```mlir
    %causal = mask.causal
    %real = mask.keys %tokens : !model.tensor<[B, S], i64>
    %m = mask.and %causal, %real
    ```
  }];
}
def Mask_OrOp : Mask_Connective<"or"> {
  let summary = "visible where one is (the larger count)";
  let description = [{
    count(b, h, i, k) = max(lhs, rhs).
    - (C1) The operands are masks.
    ```mlir
    %near = mask.window left 128 right 128
    %global = mask.keys %tokens : !model.tensor<[B, S], i64>
    %m = mask.or %near, %global
    ```
  }];
}
def Mask_AddOp : Mask_Connective<"add"> {
  let summary = "counts add";
  let description = [{
    count(b, h, i, k) = lhs + rhs: a key that both see counts twice in the softmax.
    - (C1) The operands are masks.
    ```mlir
    %near = mask.window left 128 right 128
    %random = mask.blocks 64, %lists : !model.tensor<[32, 3], i64>
    %m = mask.add %near, %random
    ```
  }];
}
def Mask_NotOp : Mask_Op<"not", ["dependsOn", "implies", "positions", "surelySees"]> {
  let summary = "visible where the operand is not (count 0)";
  let description = [{
    count(b, h, i, k) = 1 where that of the operand is 0, else 0.
    - (C1) The operand is a mask.
    ```mlir
    %past = mask.causal
    %m = mask.not %past
    ```
  }];
  let arguments = (ins Mask_MaskType:$operand); // not_c1: ODS
  let assemblyFormat = "$operand attr-dict";
}
def Mask_SelectOp : Mask_Op<"select", ["dependsOn", "reach", "implies", "positions", "surelySees"]> {
  let summary = "one of two masks, by a scalar that is known when the run starts";
  let description = [{
    The mask `yes` where the condition is true, else `no`: one choice for all rows and keys of a run.
    - (C1) The condition is one i1: [].
    ```mlir
    %causal = mask.causal
    %all = mask.all
    %m = mask.select %which, %causal, %all : !model.tensor<[], i1>
    ```
  }];
  let arguments = (ins Model_Bool:$condition, Mask_MaskType:$yes, Mask_MaskType:$no);
  let assemblyFormat = "$condition `,` $yes `,` $no attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

//===-- tables: what a leaf looks up, made once a forward (formats: MaskTables.h) ---===//

class Mask_TableOp<string mnemonic> : Op<Mask_Dialect, mnemonic, [Pure, InferTypeOpAdaptor]> {
  let results = (outs Model_Int:$result);
}
def Mask_KeyTableOp : Mask_TableOp<"key_table"> {
  let summary = "of keys(t): the first and last key that is set, and for every 16 keys their state and where it ends";
  let description = [{
    t [S] or [B, S] -> [1 or B, (S+15)//16 + 2], i64. A run of equal keys is then found by one load.
    - (C1) t has rank 1 or 2.
    ```mlir
    %table = mask.key_table %real : !model.tensor<[B, S], i64>
    ```
  }];
  let arguments = (ins Model_Any:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
}
def Mask_RowCountsOp : Mask_TableOp<"row_counts"> {
  let summary = "of queries(t): how many rows before each row are set";
  let description = [{
    t [T] or [B, T] -> [1 or B, T + 1], i64: the number of rows in a range is the difference of two entries.
    - (C1) t has rank 1 or 2.
    ```mlir
    %table = mask.row_counts %real : !model.tensor<[B, T], i64>
    ```
  }];
  let arguments = (ins Model_Any:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
}
def Mask_LabelTableOp : Mask_TableOp<"label_table"> {
  let summary = "of labels: each row's first and last key where these never decrease, and a signature of every 16 keys";
  let description = [{
    labels [T], keys [S] (or with a batch axis) -> [1 or B, 1 + 2·T + 3·((S+15)//16)], i64.
    A row sees the keys with -left <= label(k) - label(q) <= right; `left` = `right` = 0 is a document. Whether the keys of
    each row are one run that never moves back is found at run time and stored in the table.
    - (C1) The labels are i64 or i1 of rank 1 or 2.
    ```mlir
    %table = mask.label_table %labels, %labels left 2 right 0 : !model.tensor<[B, T], i64>, !model.tensor<[B, T], i64>
    ```
  }];
  let arguments = (ins Model_Any:$labels, Model_Any:$key_labels, OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let assemblyFormat = "$labels `,` $key_labels (`left` $left^)? (`right` $right^)? attr-dict `:` type($labels) `,` type($key_labels)";
}
def Mask_BlockRunsOp : Mask_TableOp<"block_runs"> {
  let summary = "of blocks(size, lists): the stretches of keys of each row of blocks, ascending, neighbours joined";
  let description = [{
    lists [(heads,) blocks, n] -> [1 or heads, blocks, 2·n + 1], i64: of each list the number of runs, then first and end of each.
    - (C1) The lists have rank 2 or 3.
    - (C2) The size is positive.
    ```mlir
    %table = mask.block_runs 64, %lists : !model.tensor<[32, 3], i64>
    ```
  }];
  let arguments = (ins I64Attr:$size, Model_Int:$lists);
  let assemblyFormat = "$size `,` $lists attr-dict `:` type($lists)";
}
def Mask_DenseTableOp : Mask_TableOp<"dense_table"> {
  let summary = "of dense(t): for every 8 rows and 16 keys whether some pair and whether every pair is set, as bits";
  let description = [{
    t [..., T, S] -> [..., (T+7)//8, 2, (S+1023)//1024], i64: two bits for each 8 x 16 pairs. So the walk skips tiles and
    does not test full ones.
    - (C1) t has rank 2, 3 or 4.
    ```mlir
    %table = mask.dense_table %t : !model.tensor<[B, 12, T, S], i1>
    ```
  }];
  let arguments = (ins Model_Any:$tensor);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor)";
}
#endif
