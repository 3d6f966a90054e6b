// What the plan decides about attention. Each clause has its verifier (AttnAttrs.cpp) and a negative test
// (test/Dialect/Attn/invalid-plan.mlir).
#ifndef HEDDLE_DIALECTS_ATTN_IR_ATTNATTRS_TD
#define HEDDLE_DIALECTS_ATTN_IR_ATTNATTRS_TD

include "dialects/Attn/IR/AttnDialect.td"

class Attn_Attr<string name, string mnemonicText> : AttrDef<Attn_Dialect, name> {
  let mnemonic = mnemonicText;
  let genVerifyDecl = 1;
}

def Attn_CacheKind : I32EnumAttr<"CacheKind", "what attention reads a state as", [
    I32EnumAttrCase<"keys", 0>, I32EnumAttrCase<"values", 1>]> {
  let cppNamespace = "::heddle::attn";
  let genSpecializedAttr = 0;
}

def Attn_CacheAttr : Attn_Attr<"Cache", "cache"> {
  let summary = "how a state that only attention reads holds keys or values";
  let description = [{
    `#attn.cache<keys, heads = 4, element = f32, block = 64, panel = 8>`: for each iteration, batch element and key
    head the rows are in blocks of `block`. Rows of keys are in panels of `panel` keys: [blocks][panels][w][panel], in
    16 bits [w/2][panel][2]. Rows of values follow one another. With `classes` = d there are d copies of this layout,
    one after the other, for the positions of each residue modulo d. With `ring` = n position p of a class is at place
    p mod n, and a copy of the first block follows the last.
    - (C1) heads, block, panel and classes are positive, classes up to 32. (C2) elements are f32, bf16 or f16.
    - (C3) panels divide a block, blocks a ring.
  }];
  let parameters = (ins EnumParameter<Attn_CacheKind>:$kind, "int64_t":$heads, "::mlir::Type":$element, "int64_t":$block,
                        "int64_t":$panel, DefaultValuedParameter<"int64_t", "1">:$classes,
                        DefaultValuedParameter<"int64_t", "0">:$ring);
  let assemblyFormat = "`<` $kind `,` struct($heads, $element, $block, $panel, $classes, $ring) `>`";
  let extraClassDeclaration = [{
    static constexpr int64_t mostClasses = 32;
    bool halves() const { return !getElement().isF32(); }
    /// Rows that a class of a head has room for in a state of `rows` rows.
    ::heddle::model::Size roomOf(const ::heddle::model::Size &rows) const;
  }];
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "the tiles of an attention";
  let description = [{
    A work item is `rows` packed rows of one key head (of a query head if `packed` is 1). It processes `keys` keys at
    once, in panels of `panel`. `packed` query heads that share a key head are processed together. An attention under
    a dilated mask becomes `classes` attentions, one for each residue. With `paired` a row of words holds two rows of
    values. `rows`, `packed` and `paired` only affect which thread computes a result and when, so results keep their
    bits. `keys` and `classes` decide the order of the sums of a row, so results differ in rounding. So does `tiled`,
    which selects a program of tiles that threads share (dialects/Tile) instead of the general one.
    - (C1) rows, keys and panel are powers of two, rows up to 256, keys up to 1024. (C2) panels divide keys.
    - (C3) packed is positive and divides the query heads of a key head (verified on the op).
    - (C4) classes are 1 to 32.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$keys, "int64_t":$panel, "int64_t":$packed,
                        DefaultValuedParameter<"int64_t", "1">:$classes, DefaultValuedParameter<"bool", "false">:$paired,
                        DefaultValuedParameter<"bool", "false">:$tiled);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
