// The `tile` dialect and its types: where the elements of a tile are.
#ifndef HEDDLE_DIALECTS_TILE_IR_TILETYPES_TD
#define HEDDLE_DIALECTS_TILE_IR_TILETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::heddle::tile";
  let summary = "programs with tiles that threads share";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let extraClassDeclaration = "void registerAttributes();";
}

class Tile_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::heddle::tile";
  let genSpecializedAttr = 0;
}

def Tile_Spread : Tile_Enum<"Spread", "which thread holds which element of a fragment",
                            [I32EnumAttrCase<"block", 0>, I32EnumAttrCase<"mma", 1>, I32EnumAttrCase<"wgmma", 2>,
                             I32EnumAttrCase<"rows", 3>, I32EnumAttrCase<"cyclic", 4>]>;
def Tile_Image : Tile_Enum<"Image", "in which order a piece lies in shared memory", [
    I32EnumAttrCase<"plain", 0>, I32EnumAttrCase<"turned", 1>, I32EnumAttrCase<"chunks", 2>, I32EnumAttrCase<"woven", 3>,
    I32EnumAttrCase<"left", 4>, I32EnumAttrCase<"right", 5>]>;

class Tile_Type<string name, string mnemonicText> : TypeDef<Tile_Dialect, name> {
  let mnemonic = mnemonicText;
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def Tile_Frag : Tile_Type<"Frag", "frag"> {
  let summary = "a matrix of f32, spread over the registers of all threads";
  let description = [{
    `!tile.frag<128x128, block 16x16>`: 128 rows and 128 columns. The spread D x A says what thread t holds:
    - `block`: threads form D rows of A. The one at (y, x) holds rows 4·D·n + 4·y + 0..3 and columns
      4·A·n + 4·x + 0..3 for n = 0, 1, ...: squares of 4 x 4.
    - `mma`: groups of 32 threads form D rows of A. Each has a rectangle of rows/D x columns/A, in pieces of 16 x 8.
      Of a piece thread l of a group holds rows l/4 and l/4 + 8, columns 2·(l%4) and the next: the accumulators of a
      matrix unit.
    - `wgmma`: as `mma`, but with groups of 128 threads and pieces of 64 rows, as wide as the rectangle. The q-th 32
      threads of a group hold rows 16·q .. 16·q + 15 of a piece as a group of `mma` does.
    - `cyclic`: threads form D rows of A. The one at (y, x) holds rows D·n + y and columns A·n + x.
    - `rows`: a number a row, held by the four threads that hold elements of this row in an `mma` fragment of as many
      rows. `wgmma` D x 1 of 64·D rows has its rows where `mma` 4·D x 1 has them, so it uses `rows`, too.

    - (C1) D and A are positive, and so are rows and columns.
    - (C2) `block`: 4·D divides the rows, 4·A the columns.
    - (C3) `mma`: 16·D divides the rows, 8·A the columns.
    - (C4) `wgmma`: 64·D divides the rows, 8·A the columns, and a rectangle has at most 256 of them.
    - (C5) `rows`: 16·D divides the rows, there is one column, and A is 1.
    - (C6) `cyclic`: D divides the rows, A the columns.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::heddle::tile::Spread":$spread, "int64_t":$down, "int64_t":$across);
  let extraClassDeclaration = [{
    /// Threads that hold it together.
    int64_t threads() const;
    /// Of a thread: rows, and elements of each.
    int64_t heldRows() const;
    int64_t heldColumns() const;
    /// Neighbours in a row that one thread holds.
    int64_t run() const;
    /// Threads that hold a rectangle together.
    int64_t group() const;
    /// A number for each of its rows; null where no such spread fits.
    FragType ofRows() const;
  }];
}

def Tile_Var : TypeDef<Tile_Dialect, "Var"> {
  let mnemonic = "var";
  let summary = "a place for a fragment, in the registers of the threads that hold it";
  let parameters = (ins "::heddle::tile::FragType":$fragment);
  let assemblyFormat = "`<` $fragment `>`";
}

def Tile_Shared : Tile_Type<"Shared", "shared"> {
  let summary = "a matrix of words in the memory that the threads of a tile share";
  let description = [{
    `!tile.shared<128x16xf32, turned>`: element (row, column) is a word of 4 bytes, an f32 or (i32) a pair of bf16.
    The order of words avoids bank conflicts of threads that read at once:
    - `plain`: row after row.
    - `turned`: column after column, with four unused words between two of them.
    - `chunks`: row after row, four words at a time; chunk c of a row is at c xor (row mod 8) if 32 divides the
      columns, else at c xor (row/2 mod 4).
    - `woven`: row after row; column c of a row is at c xor 8·(row mod 4).
    - `left`, `right`: in groups of four words along the axis that is summed (the columns of a left side, the rows of
      a right side). A group has four words of a row (column), for all rows (columns) in order; then comes the next
      group. Eight such rows of pairs are one 8 x 8 matrix of halves, 128 bytes without a gap, as `ldmatrix` and
      `wgmma` read it. Two groups of a left side of f32 have four unused words between them.

    - (C1) rows and columns are positive.
    - (C2) `plain` and `turned` hold f32, `chunks` and `woven` i32.
    - (C3) one fetch is complete: 4 divides the columns of `plain` and the rows of `turned`. Rows and columns are
      multiples of 16 and 16 for `chunks`, 8 and 32 for `woven`, 16 and 8 for `left`. For `right` they are multiples
      of 8 and 16, or of 16 and 8.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$word, "::heddle::tile::Image":$image);
  let extraClassDeclaration = [{
    /// Words from one row to the next (`turned`: from one column, `left` and `right`: from one group to the next), and of all of it.
    int64_t pitch() const;
    int64_t words() const;
  }];
}

#endif
