// Programs whose threads share tiles. Each clause has its verifier (TileOps.cpp, TileTypes.cpp) and a negative test
// (test/Dialect/Tile/invalid.mlir).
#ifndef HEDDLE_DIALECTS_TILE_IR_TILEOPS_TD
#define HEDDLE_DIALECTS_TILE_IR_TILEOPS_TD

include "dialects/Tile/IR/TileAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// An address in the one memory that all threads of all blocks know.
def Tile_Address : Type<CPred<"$_self == ::mlir::LLVM::LLVMPointerType::get($_self.getContext())">, "an address">,
                   BuildableType<"$_builder.getType<::mlir::LLVM::LLVMPointerType>()">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_LaunchOp : Tile_Op<"launch", [SingleBlock]> {
  let summary = "one tile after the other, each the work of all threads of a block";
  let description = [{
    The body runs for each number 0 .. count - 1, in any order and in parallel, by `threads` threads that share memory. The
    threads of a block share memory only inside the launch. The lowering decides which threads run it.

    Tiles are dealt to blocks one by one. `after` shifts the deal by so many tiles, so that several launches of a kernel start
    at different blocks.
    - (C1) Threads are 32, 64, .. 1024.
    - (C2) A fragment in the body is spread over all threads.
    - (C3) The body takes the number of its tile and yields nothing.
    - (C4) `on` names the chips that run the launch; without it all chips do.
    - (C5) `together` is 1 to 32: the blocks for which a multiprocessor has registers at once.
    ```mlir
    tile.launch %count threads 256 {
    ^bb0(%tile: index):
      %zero = tile.zero : !tile.frag<128x128, block 16x16>
      tile.yield
    }
    ```
  }];
  let arguments = (ins Index:$count, Optional<Index>:$before, I64Attr:$threads, OptionalAttr<I64Attr>:$together, OptionalAttr<StrArrayAttr>:$on);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$count (`after` $before^)? `threads` $threads (`together` $together^)? (`on` $on^)? $body attr-dict";
  let extraClassDeclaration = [{
    /// Words of the pieces of its own, and of its largest ring behind them.
    int64_t ownWords();
    int64_t ringWords();
    /// Bytes of the barriers of all streams; all bytes of shared memory.
    int64_t barrierBytes();
    int64_t sharedBytes() { return 4 * (ownWords() + ringWords()) + barrierBytes(); }
  }];
}

def Tile_StreamOp : Tile_Op<"stream", [SingleBlock, AllTypesMatch<["init", "result"]>]> {
  let summary = "a sum over pieces that arrive while others are used";
  let description = [{
    `at` is 0, step, 2·step, .. below length, ascending. For each, `fill` names the pieces of shared memory for the columns
    of the left side (the rows of the right side) from `at` on. `use` makes the next value from these pieces. The pieces of `stages` rounds exist at
    once: the copies of a later round are under way while `use` works. The op does not say when a copy may begin and what
    `use` waits for; the lowering does. If step does not divide length, the last round is shorter: products take no more of
    its pieces.

    `bulk`: a few threads ask for a piece in a few large parts, and each slot has a barrier that counts the bytes still to
    come. Parts end where the matrix ends, so words outside of it are undefined; they meet no row and no column inside.
    - (C1) Length and step are positive, and stages are 2 to 8.
    - (C2) `fill` takes an index and one or more pieces. `use` takes the same pieces and the value, and yields the next one.
    - (C3) Each piece is the target of one copy, in `fill`.
    - (C4) `bulk`: length and step are multiples of 8, and the source of each copy is in groups, without panels.
    ```mlir
    %sum = tile.stream 768 by 16 stages 2 carry %zero : !tile.frag<128x128, block 16x16> fill {
    ^bb0(%at: index, %a: !tile.shared<128x16xf32, turned>, %b: !tile.shared<16x128xf32, plain>):
      tile.copy %x[%row, %at] of %rows by %columns -> %a : !tile.shared<128x16xf32, turned>
      tile.copy %w[%at, %column] of %columns by %results panels 32 -> %b : !tile.shared<16x128xf32, plain>
      tile.yield
    } use {
    ^bb0(%a: !tile.shared<128x16xf32, turned>, %b: !tile.shared<16x128xf32, plain>, %now: !tile.frag<128x128, block 16x16>):
      %next = tile.mma %a, %b, %now : !tile.shared<128x16xf32, turned>, !tile.shared<16x128xf32, plain> -> !tile.frag<128x128, block 16x16>
      tile.yield %next : !tile.frag<128x128, block 16x16>
    }
    ```
  }];
  let arguments = (ins I64Attr:$length, I64Attr:$step, I64Attr:$stages, UnitAttr:$bulk, Tile_Frag:$init);
  let results = (outs Tile_Frag:$result);
  let regions = (region SizedRegion<1>:$fill, SizedRegion<1>:$use);
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
  let assemblyFormat = [{
    $length `by` $step `stages` $stages (`bulk` $bulk^)? `carry` $init `:` type($result) `fill` $fill `use` $use attr-dict }];
  let extraClassDeclaration = [{
    /// Words of a slot: of the pieces of one round.
    int64_t slotWords();
  }];
}

def Tile_CopyOp : Tile_Op<"copy"> {
  let summary = "a piece of a matrix in memory, on its way into shared memory";
  let description = [{
    The matrix has `rows` x `columns` words. It is stored row after row, in panels or in groups. Panel n holds
    columns [n·p, n·p + p) of all rows, and the panels follow one another. In `groups` the matrix has the order of the piece
    that it fills, `left` or `right`; with panels each panel has the order of a `right` piece. The piece begins at [row, column]; what is outside of the matrix is 0. The address is aligned to 16
    bytes if 4 divides the columns, and 4 divides `column` too unless the copy is `anywhere`. In groups, 4 divides the axis
    that is summed. The example of `tile.stream` has one of each kind, that of `tile.rounds` one that begins anywhere.
    - (C1) `panels` is a positive multiple of 4.
    - (C2) The op is in the `fill` of a stream or of rounds, and its target is an argument of that body.
    - (C3) A `right` piece of pairs is filled from groups, a `left` one of pairs from groups or rows, without panels. No other
      piece is filled from groups.
  }];
  let arguments = (ins Tile_Address:$from, Index:$row, Index:$column, Index:$rows, Index:$columns, OptionalAttr<I64Attr>:$panels, UnitAttr:$groups,
                       UnitAttr:$anywhere, Tile_Shared:$to);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $from `[` $row `,` $column `]` `of` $rows `by` $columns (`panels` $panels^)? (`groups` $groups^)? (`anywhere` $anywhere^)? `->` $to attr-dict `:` type($to) }];
}

def Tile_PlaceOp : Tile_Op<"place", [Pure]> {
  let summary = "an address in the arena at which planned memory begins";
  let description = [{
    The address `offset` bytes after the base. The form says the same offset over the dims of the entry. Memory of two
    places with different forms does not overlap, so a place tells which memory a phase touches.
    - (C1) The place is a size form.
    ```mlir
    %rows = tile.place %arena at %offset, "64*T"
    ```
  }];
  let arguments = (ins Tile_Address:$base, I64:$offset, StrAttr:$form);
  let results = (outs Tile_Address:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$base `at` $offset `,` $form attr-dict";
}

def Tile_RoundsOp : Tile_Op<"rounds", [SingleBlock]> {
  let summary = "pieces that arrive one after the other while others are used";
  let description = [{
    For at = from, from + step, .. < to, ascending: `fill` names the pieces of shared memory for `at`, and `use` works with
    them; results go to variables. The pieces of `stages` rounds exist at once, as in a stream. Every round is a whole one:
    the copies say where matrices end. All threads reach the op with the same numbers.
    - (C1) The step is positive, and stages are 2 to 8.
    - (C2) `fill` takes an index and one or more pieces, `use` takes the same, and both yield nothing.
    - (C3) Each piece is the target of one copy, in `fill`.
    ```mlir
    %zero = tile.zero : !tile.frag<64x64, mma 4x1>
    %scores = tile.var %zero : !tile.frag<64x64, mma 4x1>
    tile.rounds %first to %last by 64 stages 2 fill {
    ^bb0(%at: index, %k: !tile.shared<32x64xi32, woven>):
      tile.copy %keys[%row, %at] of %rows by %last panels 16 anywhere -> %k : !tile.shared<32x64xi32, woven>
      tile.yield
    } use {
    ^bb0(%at: index, %k: !tile.shared<32x64xi32, woven>):
      %s = tile.mma %queries, %k, %zero : !tile.shared<64x32xi32, chunks>, !tile.shared<32x64xi32, woven> -> !tile.frag<64x64, mma 4x1>
      tile.set %scores, %s : !tile.var<<64x64, mma 4x1>>
      tile.yield
    }
    ```
  }];
  let arguments = (ins Index:$from, Index:$to, I64Attr:$step, I64Attr:$stages);
  let regions = (region SizedRegion<1>:$fill, SizedRegion<1>:$use);
  let extraClassDeclaration = [{
    /// Words of the pieces of a round.
    int64_t slotWords();
  }];
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
  let assemblyFormat = "$from `to` $to `by` $step `stages` $stages `fill` $fill `use` $use attr-dict";
}

def Tile_PieceOp : Tile_Op<"piece"> {
  let summary = "a piece of shared memory of a tile, in addition to those that arrive";
  let description = [{
    The words are undefined when a tile begins. The op has no operands and no attributes, hence no clause.
    ```mlir
    %queries = tile.piece : !tile.shared<64x32xi32, chunks>
    tile.put %queries : !tile.shared<64x32xi32, chunks> {
    ^bb0(%i: index, %j: index, %now: i32):
      %word = "docs.make"(%i, %j) : (index, index) -> i32
      tile.yield %word : i32
    }
    ```
  }];
  let results = (outs Tile_Shared:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_PutOp : Tile_Op<"put", [SingleBlock]> {
  let summary = "gives every word of a piece a new value";
  let description = [{
    The body computes word (row, column) from its present value. An op before this one reads the old words, an op after it the
    new ones. The lowering inserts the barriers. The example of `tile.piece` has one.
    - (C1) The body takes row, column and word, and yields a word.
  }];
  let arguments = (ins Tile_Shared:$piece);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$piece `:` type($piece) $body attr-dict";
}

//===-- fragments -----------------------------------------------------------------===//

def Tile_ZeroOp : Tile_Op<"zero", [Pure]> {
  let summary = "a fragment of zeros";
  let description = [{
    Every element is 0. The op has no operands and no attributes, hence no clause.
    ```mlir
    %zero = tile.zero : !tile.frag<64x64, mma 4x1>
    ```
  }];
  let results = (outs Tile_Frag:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_MmaOp : Tile_Op<"mma", [AllTypesMatch<["sum", "result"]>]> {
  let summary = "sum + left·right";
  let description = [{
    result(i, j) = sum(i, j) + the products of left(i, k) and right(k, j) over k.

    `block`, `cyclic`: each element is one chain of fused products, k ascending, so it has the bits of any other such chain.
    `mma` of f32 (`left` and `plain`, or a fragment and `plain`): such chains too, by the threads that hold the elements.
    `mma` of pairs: 8 words (16 products) at a time, ascending. The unit decides how it adds these 16, in the same way for
    every element of every tile. `wgmma`: the same, by units that read shared memory themselves.

    A fragment on the left of pairs is multiplied as pairs of bf16, the upper halves of its numbers: a program that wants them
    rounded rounds them before. Its columns are rows of the right side; the words of that side are pairs of
    neighbours in a row.
    The examples of `tile.stream` and `tile.rounds` have one each.
    - (C1) Left is rows x k, right is k x columns (of pairs of columns, if left is a fragment).
    - (C2) The sides are, for `block`: `turned` and `plain`. For `mma`: `chunks` or `left` with `woven` or `right`; a
      fragment with `chunks`; `left` or a fragment with `plain`. For `wgmma`: `left` and `right`, or a fragment and
      `left`, with its groups along the columns. For `cyclic`: `left` and `right` of f32.
    - (C3) Into `wgmma` the op is in no stream that is not `bulk`: such units see only the copies of `bulk`, of rounds, and
      what is put.
    - (C4) A fragment on the left is spread as the sum is, and A is 1: a group has whole rows.
  }];
  let arguments = (ins AnyTypeOf<[Tile_Shared, Tile_Frag]>:$left, Tile_Shared:$right, Tile_Frag:$sum);
  let results = (outs Tile_Frag:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$left `,` $right `,` $sum attr-dict `:` type($left) `,` type($right) `->` type($result)";
}

/// The type of a fragment is never written beside that of its variable, so it cannot be another one.
class Tile_VariableOp<string mnemonic, string fragment>
    : Tile_Op<mnemonic, [TypesMatchWith<"it is a fragment of the variable's type", "variable", fragment,
                                        "::llvm::cast<VarType>($_self).getFragment()">]>;

def Tile_VarOp : Tile_Op<"var", [TypesMatchWith<"the variable is of the fragment's type", "init", "result",
                                                "VarType::get($_self.getContext(), ::llvm::cast<FragType>($_self))">]> {
  let summary = "a variable of the launch, for what lives across control flow";
  let description = [{
    A value that threads keep in registers across loops and conditions that carry no values, such as the walk over a mask.
    - (C1) The variable has the type of the fragment.
    ```mlir
    %zero = tile.zero : !tile.frag<64x64, mma 4x1>
    %sum = tile.var %zero : !tile.frag<64x64, mma 4x1>
    %now = tile.get %sum : !tile.var<<64x64, mma 4x1>>
    tile.set %sum, %now : !tile.var<<64x64, mma 4x1>>
    ```
  }];
  let arguments = (ins Tile_Frag:$init); // var_c1: ODS
  let results = (outs Tile_Var:$result);
  let assemblyFormat = "$init attr-dict `:` qualified(type($init))";
}

def Tile_GetOp : Tile_VariableOp<"get", "result"> {
  let summary = "the value of a variable";
  let description = [{
    The fragment that the last `tile.set` before this op left in the variable, or its first one. The example of `tile.var` has
    one.
    - (C1) The result has the type of the variable's fragments.
  }];
  let arguments = (ins Tile_Var:$variable); // get_c1: ODS
  let results = (outs Tile_Frag:$result);
  let assemblyFormat = "$variable attr-dict `:` qualified(type($variable))";
}

def Tile_SetOp : Tile_VariableOp<"set", "value"> {
  let summary = "gives a variable a value";
  let description = [{
    Later `tile.get`s read this fragment. The example of `tile.var` has one.
    - (C1) The value has the type of the variable's fragments.
  }];
  let arguments = (ins Tile_Var:$variable, Tile_Frag:$value); // set_c1: ODS
  let assemblyFormat = "$variable `,` $value attr-dict `:` qualified(type($variable))";
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock]> {
  let summary = "a fragment with elements made from those of others";
  let description = [{
    The body computes element (row, column) of the result from the elements of the operands at the same place. An operand that
    has one number a row gives that number. The code has a copy of the body for each element that a thread holds, so keep it
    short.
    - (C1) The operands are spread as the result is, or are its `rows`.
    - (C2) The body takes row, column and an element of each operand, and yields an f32.
    ```mlir
    %scaled = tile.map(%sum, %factors) : (!tile.frag<64x64, mma 4x1>, !tile.frag<64x1, rows 4x1>) -> !tile.frag<64x64, mma 4x1> {
    ^bb0(%i: index, %j: index, %x: f32, %factor: f32):
      %y = arith.mulf %x, %factor : f32
      tile.yield %y : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Frag>:$operands);
  let results = (outs Tile_Frag:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "`(` $operands `)` `:` functional-type($operands, $result) $body attr-dict";
}

def Tile_KeepOp : Tile_Op<"keep", [SingleBlock, AllTypesMatch<["fragment", "result"]>]> {
  let summary = "some elements of a fragment, the others are a number";
  let description = [{
    Element (row, column) keeps its value where the body yields true, and becomes the number elsewhere. The code has the body
    once, however many elements a thread holds.
    - (C1) The body takes row and column, and yields an i1.
    ```mlir
    %seen = tile.keep %scores else 0xFF800000 : !tile.frag<64x64, mma 4x1> {
    ^bb0(%i: index, %j: index):
      %yes = arith.cmpi sle, %j, %i : index
      tile.yield %yes : i1
    }
    ```
  }];
  let arguments = (ins Tile_Frag:$fragment, F32Attr:$other);
  let results = (outs Tile_Frag:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$fragment `else` $other `:` type($fragment) $body attr-dict";
}

def Tile_Join : Tile_Enum<"Join", "how a row becomes a number", [I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"most", 1>]>;

def Tile_FoldOp : Tile_Op<"fold", [Pure]> {
  let summary = "the sum of each row, or its largest element";
  let description = [{
    The order is the same for all rows and all fragments of the same width: a thread's elements ascending, then those of
    neighbouring threads, then those of threads two apart. `most`: an element that is not greater does not count, so a NaN may
    be lost.
    - (C1) The fragment is `mma`, or `wgmma` of 64 rows a group, and A is 1: a group has whole rows.
    - (C2) The result is its `rows`.
    ```mlir
    %sums = tile.fold sum %scores : !tile.frag<64x64, mma 4x1> -> !tile.frag<64x1, rows 4x1>
    ```
  }];
  let arguments = (ins EnumProp<Tile_Join>:$join, Tile_Frag:$fragment);
  let results = (outs Tile_Frag:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$join $fragment attr-dict `:` type($fragment) `->` type($result)";
}

def Tile_AnyOp : Tile_Op<"any", [SingleBlock]> {
  let summary = "whether some element is such a one, for all threads of the tile";
  let description = [{
    True for all threads of the tile if the body yields true for an element that one of them holds. All threads reach the op.
    - (C1) The body takes an element and yields an i1.
    ```mlir
    %nan = tile.any %scores : !tile.frag<64x64, mma 4x1> {
    ^bb0(%x: f32):
      %is = arith.cmpf uno, %x, %x : f32
      tile.yield %is : i1
    }
    ```
  }];
  let arguments = (ins Tile_Frag:$fragment);
  let results = (outs I1:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$fragment `:` type($fragment) $body attr-dict";
}

def Tile_EachOp : Tile_Op<"each", [SingleBlock]> {
  let summary = "does something with each element of a fragment that is inside of a matrix";
  let description = [{
    Element (i, j) of the fragment is (row + i, column + j) of a matrix of `rows` x `columns`. The body runs for the elements
    inside the matrix, each on the thread that holds it, in any order. It may store, and read what no other element stores.
    `run` elements are inside or outside together: column and columns are multiples of it.
    - (C1) run is 1, 2 or 4, and no more than the neighbours in a row that a thread holds.
    - (C2) The body takes row, column and element, and yields nothing.
    ```mlir
    tile.each %sum at[%row, %column] of %rows by %columns run 4 : !tile.frag<128x128, block 16x16> {
    ^bb0(%i: index, %j: index, %x: f32):
      "docs.use"(%i, %j, %x) : (index, index, f32) -> ()
      tile.yield
    }
    ```
  }];
  let arguments = (ins Tile_Frag:$fragment, Index:$row, Index:$column, Index:$rows, Index:$columns, I64Attr:$run);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$fragment `at` `[` $row `,` $column `]` `of` $rows `by` $columns `run` $run `:` type($fragment) $body attr-dict";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ParentOneOf<["LaunchOp", "StreamOp", "RoundsOp", "PutOp", "MapOp", "KeepOp", "AnyOp", "EachOp"]>]> {
  let summary = "ends the body of an op of this dialect";
  let description = [{
    The operand is what the op around it takes from its body: the next value of a stream, the word of `put`, the element of
    `map`, the i1 of `keep` and `any`, or nothing. The example of `tile.map` has one.
    - (C1) It ends a body of an op of this dialect.
  }];
  let arguments = (ins Optional<AnyType>:$value); // yield_c1: ParentOneOf
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
}

#endif
