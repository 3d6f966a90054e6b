// What the lowering knows of a program of many threads, as attributes that anyone can read in `--emit=kernels`. Each
// clause has its verifier (TileAttrs.cpp) and a negative test (test/Dialect/Tile/invalid-launch.mlir). Where they are
// on ops is in LaunchAttrs.h.
#ifndef HEDDLE_DIALECTS_TILE_IR_TILEATTRS_TD
#define HEDDLE_DIALECTS_TILE_IR_TILEATTRS_TD

include "dialects/Tile/IR/TileTypes.td"

class Tile_Attr<string name, string mnemonicText> : AttrDef<Tile_Dialect, name> {
  let mnemonic = mnemonicText;
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_ItemsAttr : Tile_Attr<"Items", "items"> {
  let summary = "how many items threads share";
  let description = [{
    `#tile.items<count = "B*T", each = 32>`: so many items, each the work of 32 threads. The count is a form over the
    dims of the entry. A length that the entry computes itself is in the form as its bound. `estimate`: there may be more
    items than the form says, because a smaller length gives more of them.
    - (C1) The count is a size form. (C2) An item is the work of 1, 32, 64, .. 1024 threads.
  }];
  let parameters = (ins "::mlir::StringAttr":$count, "int64_t":$each, DefaultValuedParameter<"bool", "false">:$estimate);
  let extraClassDeclaration = [{
    ::heddle::model::Size getForm() const;
  }];
}

def Tile_CostAttr : Tile_Attr<"Cost", "cost"> {
  let summary = "what an op of a phase takes";
  let description = [{
    `#tile.cost<op = "linear", operations = "2*T*K", read = "4*T", written = "4*T", dots = true>`: multiplications and
    additions of products, of bf16 pairs with `dots`, of codes with `integers`; bytes read and written. `untiled` is a
    word that says why the products have no tiles.
    - (C1) Operations, read and written are size forms. (C2) The op is a word, and so is `untiled`.
  }];
  let parameters = (ins "::mlir::StringAttr":$op, "::mlir::StringAttr":$operations, "::mlir::StringAttr":$read,
                        "::mlir::StringAttr":$written, DefaultValuedParameter<"bool", "false">:$dots,
                        DefaultValuedParameter<"bool", "false">:$integers,
                        OptionalParameter<"::mlir::StringAttr">:$untiled);
}

def Tile_LaunchAttr : Tile_Attr<"Launch", "launch"> {
  let summary = "one launch of a kernel";
  let description = [{
    `#tile.launch<entry = "run", items = "B*T", each = 32, threads = 128>`: the entry launches the kernel with so many
    items of 32 threads each, in blocks of 128. More keys, each left out where it says nothing:
    - `times`: launches in a call, by the repeats around it. `optional`: none if there are no items.
    - `place`: "file:line:column" of the description.
    - `costs`: what the ops of its phases take.
    - `shared`: bytes of shared memory to ask for; `on`: the chips that need them, otherwise all.
    - `number`: its place among the launches of the entry, from 0 on.
    - `numbers`: what tells this launch of the kernel from the others.

    - (C1) Items are a size form. (C2) An item is the work of 1 or 32 threads. (C3) A block has 32, 64, .. 1024 threads.
    - (C4) There is 1 launch or more. (C5) `shared` is not negative, and `on` names chips that ask for some.
    - (C6) Costs are #tile.cost. (C7) The entry has a name. (C8) The number is not negative.
  }];
  let parameters = (ins "::mlir::StringAttr":$entry, "::mlir::StringAttr":$items, "int64_t":$each, "int64_t":$threads,
                        DefaultValuedParameter<"int64_t", "1">:$times, DefaultValuedParameter<"bool", "false">:$optional,
                        OptionalParameter<"::mlir::StringAttr">:$place, OptionalParameter<"::mlir::ArrayAttr">:$costs,
                        DefaultValuedParameter<"int64_t", "0">:$shared, OptionalParameter<"::mlir::ArrayAttr">:$on,
                        DefaultValuedParameter<"int64_t", "0">:$number,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$numbers);
}

def Tile_RegroupAttr : Tile_Attr<"Regroup", "regroup"> {
  let summary = "a tensor of the blob whose words the device has in groups";
  let description = [{
    `#tile.regroup<offset = 12288, depth = 48, panels = 2, width = 32>`: the tensor at this offset has two panels of 32
    results by 48 words, and its words go into groups on their way to the device.
    - (C1) The offset is not negative. (C2) Depth, panels and width are positive.
  }];
  let parameters = (ins "int64_t":$offset, "int64_t":$depth, "int64_t":$panels, "int64_t":$width);
}

#endif
