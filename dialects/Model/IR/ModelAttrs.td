// What the plan decides about values of the `model` dialect, as attributes that anyone can read in
// `--emit=tiled` and change in a saved stage. Each clause has its verifier (ModelAttrs.cpp) and a negative
// test (test/Dialect/Model/invalid-plan.mlir).
#ifndef HEDDLE_DIALECTS_MODEL_IR_MODELATTRS_TD
#define HEDDLE_DIALECTS_MODEL_IR_MODELATTRS_TD

include "dialects/Model/IR/ModelDialect.td"

class Model_Attr<string name, string mnemonicText> : AttrDef<Model_Dialect, name> {
  let mnemonic = mnemonicText;
  let genVerifyDecl = 1;
}

def Model_LayoutAttr : Model_Attr<"Layout", "layout"> {
  let summary = "how a parameter is stored in the blob (WeightLayout.h)";
  let description = [{
    `#model.layout<natural, f32>`: the elements as the file has them.
    `#model.layout<panels 64, bf16, in_out, part 1 of [2, 1, 1] groups 4>`: panels of 64 rows of W, stored [K, N]
    in the file; of the results, which split into 4 groups of 2 + 1 + 1 units, the second part.
    - (C1) a panel has 1 to 256 rows. (C2) panels hold reals; elements are f32, bf16, f16, i64 or i1.
    `#model.layout<panels 32, f32, coded 4 by 32 f16 zeros ordered>`: panels of codes of 4 bits, with a scale of f16
    and a zero for each 32 features. The order of the features is stored before the panels. The words after the type
    of scales are, in this order: `zeros`, `minima`, `zero 0`, `table nl4`, `super 256`, `ordered`.
    - (C3) only panels are `in_out`. (C4) the part is there, parts and groups are positive.
    - (C5) codes are stored in panels and mean f32; they obey `#model.coded` (C1 to C3, C5 to C8).
  }];
  let parameters = (ins "int64_t":$panel, "::mlir::Type":$element, "bool":$inOut, "int64_t":$part,
                        ArrayRefParameter<"int64_t">:$parts, "int64_t":$groups, "::heddle::Coding":$coding);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static LayoutAttr get(::mlir::MLIRContext *ctx, const ::heddle::WeightLayout &layout);
    ::heddle::WeightLayout getLayout() const;
  }];
}

def Model_CodedAttr : Model_Attr<"Coded", "coded"> {
  let summary = "a matrix of codes, with a scale for each group of features";
  let description = [{
    `#model.coded<bits = 4, group = 32, scale = f16, zeros = true, ordered = true, from = "gptq">`. Along the features
    that are summed (the last axis, with `in_out` the first) `group` neighbours share a scale and, with `zeros` or
    `minima`, a zero or a minimum. With `ordered` the file gives the order in which they are neighbours. An element is
    (integer - zero) * scale + minimum, rounded once to f32. The integer of a code is the entry of `table` ("nl4",
    "e2m1": Coding.h), or without one code - `zero_code`; -1, as without it, is the middle of all codes. `from` names
    the source of the codes: the quantisation method of the weights file, or "search", which rounds an ordinary matrix
    when it is read (compiler/Weights/Pack/Quantise.h).

    `#model.coded<bits = 4, group = 32, scale = f16, minima = true, zero_code = 0, super = 256, from = "gguf">`: two
    levels. `super` features have a scale d and a minimum e, a group a sub-scale s and a sub-minimum m, whole numbers
    of a byte, s with a sign and m without. A group has the scale d * s and the minimum e * m.
    - (C1) `bits` is 8, 6, 5, 4 or 2. (C2) a group has 1 feature or more. (C3) scales are f16, bf16 or f32.
    - (C4) `from` is a word, and what "search" finds has no zeros, minima, table, levels and order.
    - (C5) groups have zeros or minima, not both, and with minima at most 32 features. (C6) a table has a name that is known, codes of 4 bits and no
      `zero_code`. (C7) `zero_code` is a code. (C8) two levels have groups of 16 or 32 in 256, no zeros and no order.
  }];
  let parameters = (ins "int64_t":$bits, "int64_t":$group, "::mlir::Type":$scale, DefaultValuedParameter<"bool", "false">:$zeros,
                        DefaultValuedParameter<"bool", "false">:$minima, DefaultValuedParameter<"int64_t", "-1">:$zero_code,
                        OptionalParameter<"::mlir::StringAttr">:$table, DefaultValuedParameter<"int64_t", "0">:$super,
                        DefaultValuedParameter<"bool", "false">:$ordered, DefaultValuedParameter<"bool", "false">:$in_out,
                        "::mlir::StringAttr":$from);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    static CodedAttr get(::mlir::MLIRContext *ctx, const ::heddle::Coding &coding, bool inOut, ::llvm::StringRef from);
    ::heddle::Coding getCoding() const;
    /// Whether codes are made when the weights are read.
    bool isSearched() const { return getFrom().getValue() == "search"; }
  }];
}

def Model_BlobEntryAttr : Model_Attr<"BlobEntry", "entry"> {
  let summary = "one parameter pattern of the blob";
  let description = [{
    `firsts`, `counts` and `strides` have one number for each index of the name. The tensor with indices i is at
    offset + the sum of strides * (i - firsts), for firsts <= i < firsts + counts.
    - (C1) one first, count and stride an index. (C2) the layout fits the shape.
    - (C3) offset, firsts and strides are not negative, counts positive. (C4) tensors of an entry do not overlap: a
      stride is at least the bytes that the later indices cover.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::DenseI64ArrayAttr":$shape, "::heddle::model::LayoutAttr":$layout,
                        "int64_t":$offset, "::mlir::DenseI64ArrayAttr":$firsts, "::mlir::DenseI64ArrayAttr":$counts,
                        "::mlir::DenseI64ArrayAttr":$strides);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Model_PlaceKind : I32EnumAttr<"PlaceKind", "whose memory holds a value", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"arena", 1>, I32EnumAttrCase<"output", 2>]> {
  let cppNamespace = "::heddle::model";
  let genSpecializedAttr = 0;
}

def Model_PlaceAttr : Model_Attr<"Place", "place"> {
  let summary = "where a value is stored";
  let description = [{
    `#model.place<arena, "64*T">`: so many bytes from the start of the arena. `#model.place<output, 1>`: in the
    caller's memory of result 1. `#model.place<none>`: no separate memory (a view, a parameter, a mask).
    - (C1) the offset is a size form. (C2) neither it nor the output is a number below 0.
  }];
  let parameters = (ins "PlaceKind":$kind, "::mlir::StringAttr":$form, "int64_t":$output);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static PlaceAttr none(::mlir::MLIRContext *ctx);
    static PlaceAttr arena(::mlir::MLIRContext *ctx, const Size &offset);
    static PlaceAttr output(::mlir::MLIRContext *ctx, int64_t output);
    bool inArena() const { return getKind() == PlaceKind::arena; }
    /// Of a place in the arena.
    Size getOffset() const;
  }];
}

def Model_ScheduleAttr : Model_Attr<"Schedule", "schedule"> {
  let summary = "the tiles of a product";
  let description = [{
    A tile is `rows` rows of the left side by one `panel` of results. A panel is used for `block` rows before the next
    one. If few rows stream the weights, the code prefetches them `ahead` steps of k before their use; 0: only the
    processor prefetches, and panels come one by one. `small`: weights with fewer elements have no separate few-rows
    kernel. (A `model.matmul` uses `panel`, `rows`, `block`.)
    - (C1) `rows` is 1 to 32. (C2) `block` is a multiple of it, up to 65536.
    - (C3) `panel` is 1 to 256. (C4) `ahead` is 0 to 4096. (C5) `small` is 0 to 2^30.
  }];
  let parameters = (ins "int64_t":$panel, "int64_t":$rows, "int64_t":$block, DefaultValuedParameter<"int64_t", "0">:$ahead,
                        DefaultValuedParameter<"int64_t", "0">:$small);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Model_PiecesAttr : Model_Attr<"Pieces", "pieces"> {
  let summary = "how many rows of a long text one call takes";
  let description = [{
    A text that may get longer than `beyond` rows comes in calls of at most `longest` new ones.
    - (C1) both are positive.
  }];
  let parameters = (ins "int64_t":$longest, "int64_t":$beyond);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Model_TargetAttr : Model_Attr<"Target", "target"> {
  let summary = "what code is made for";
  let description = [{
    `#model.target<"cpu", chip = "znver5", lanes = 16, registers = 32>`: `lanes` f32 in a vector, so many vector
    `registers`; `needs`: the words by which the runtime knows whether the machine at hand will do.
    - (C1) the name is a word. (C2) lanes are a power of two up to 64. (C3) 4 to 1024 registers.
  }];
  let parameters = (ins StringRefParameter<"">:$name, StringRefParameter<"">:$chip, "int64_t":$lanes, "int64_t":$registers,
                        OptionalParameter<"::mlir::StringAttr">:$needs);
  let assemblyFormat = "`<` $name `,` struct($chip, $lanes, $registers, $needs) `>`";
}

#endif
