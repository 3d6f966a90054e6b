// What a program says of its model, typed: passes fill these attributes, and the target prints them as the text of
// the card at the very end (targets/Card). Each clause has its check (CardAttrs.cpp) and a negative test
// (test/Dialect/Card/invalid.mlir).
#ifndef HEDDLE_DIALECTS_CARD_IR_CARDATTRS_TD
#define HEDDLE_DIALECTS_CARD_IR_CARDATTRS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Card_Dialect : Dialect {
  let name = "card";
  let cppNamespace = "::heddle::card";
  let summary = "what a program says of its model: its entries, their tensors, states, memory and launches";
  let description = [{
    The dialect has attributes alone. `card.entries` of a module is an array of `#card.entry`, each of another name;
    `card.lookups` is an array of texts, one for each table with rows that data selects.
  }];
  let dependentDialects = ["::heddle::model::ModelDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Card_Attr<string name, string mnemonicText> : AttrDef<Card_Dialect, name> {
  let mnemonic = mnemonicText;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

/// A form is a text that model::Size reads.
def Card_TensorAttr : Card_Attr<"Tensor", "tensor"> {
  let summary = "an input or an output of an entry";
  let description = [{
    `#card.tensor<name = "input_ids", type = !model.tensor<[B, T], i64>>`. `has_default`: an input that may be left
    out. `optional`: an output that exists because all were asked for.
    - (C1) an input has a default or an output is optional, not both.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::heddle::model::ModelTensorType":$type,
                        DefaultValuedParameter<"bool", "false">:$has_default,
                        DefaultValuedParameter<"bool", "false">:$optional);
}

def Card_StateAttr : Card_Attr<"State", "state"> {
  let summary = "memory that outlives a call";
  let description = [{
    `#card.state<name = "k0", bytes = "3072*B*capacity", groups = 2>`: in each of `groups` equal parts every row of the
    batch has one block. `rows = [PARTS, BYTES, POSITIONS]`: this block has PARTS equal parts. In each part chunks of
    BYTES follow one another; the chunks of all parts hold POSITIONS positions. `ring = ROWS`: only the last ROWS
    positions are kept.
    - (C1) the bytes are a form. (C2) groups and ring are not negative. (C3) rows are three positive numbers.
    - (C4) rows and a ring exclude each other, and there are groups with either.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$bytes,
                        DefaultValuedParameter<"int64_t", "0">:$groups,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$rows,
                        DefaultValuedParameter<"int64_t", "0">:$ring);
}

def Card_RequireAttr : Card_Attr<"Require", "require"> {
  let summary = "what lengths of a call must be";
  let description = [{
    `#card.require<left = "T", right = "5", op = "conv", place = "model.json:12:5">`: T >= 5; with `differ` T != 5.
    With `without` only where that input is left out.
    - (C1) both sides are forms.
  }];
  let parameters = (ins "::mlir::StringAttr":$left, "::mlir::StringAttr":$right, "::mlir::StringAttr":$op,
                        "::mlir::StringAttr":$place, DefaultValuedParameter<"bool", "false">:$differ,
                        OptionalParameter<"::mlir::StringAttr">:$without);
}

def Card_PhaseAttr : Card_Attr<"Phase", "phase"> {
  let summary = "what threads of a processor do up to a barrier";
  let description = [{
    `#card.phase<ops = "linear+map", math = "dots", repeats = 1, operations = "2*B*T", bytes = "B*T", weight = "h.w">`.
    `math` is left out for products of f32. `place` is the position of the op in the description, `statement` in the
    block that made it, `node` the name of its value; `kernels` are the functions that the phase calls.
    - (C1) operations and bytes are forms. (C2) it is done once or more often. (C3) the math is `dots` or `integers`.
    - (C4) kernels are texts.
  }];
  let parameters = (ins "::mlir::StringAttr":$ops, OptionalParameter<"::mlir::StringAttr">:$math, "int64_t":$repeats,
                        "::mlir::StringAttr":$operations, "::mlir::StringAttr":$bytes,
                        OptionalParameter<"::mlir::StringAttr">:$weight,
                        OptionalParameter<"::mlir::StringAttr">:$place,
                        OptionalParameter<"::mlir::StringAttr">:$statement,
                        OptionalParameter<"::mlir::StringAttr">:$node,
                        OptionalParameter<"::mlir::ArrayAttr">:$kernels);
}

def Card_RepeatAttr : Card_Attr<"Repeat", "repeat"> {
  let summary = "launches that are done several times";
  let description = [{
    `#card.repeat<count = 12, first = 1, end = 7>`: the launches 1 to 6 of the entry, 12 times.
    - (C1) the count is not negative. (C2) 0 <= first < end.
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$first, "int64_t":$end);
}

def Card_EntryAttr : Card_Attr<"Entry", "entry"> {
  let summary = "a function of the program";
  let description = [{
    `#card.entry<name = "run", dims = ["B", "T"], arena = "4*B*T + threads">`. The processor has `phases`; on a device
    a call is the launches of the kernels (their own attributes) with `repeats` around some, an outer one first, after
    the host has computed `lengths`.
    - (C1) each list has elements of its kind. (C2) dims are of different names, and so are inputs and outputs.
    - (C3) operations, bytes, lengths and the arena are forms. (C4) every form is over dims of the entry; that of the
      arena may name `threads`.
    - (C5) an input may have a default, an output may be optional. (C6) a requirement is `without` an input that may be
      left out.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$dims,
                        OptionalParameter<"::mlir::ArrayAttr">:$inputs, OptionalParameter<"::mlir::ArrayAttr">:$outputs,
                        OptionalParameter<"::mlir::ArrayAttr">:$states,
                        OptionalParameter<"::mlir::ArrayAttr">:$requirements,
                        OptionalParameter<"::heddle::model::PiecesAttr">:$pieces,
                        OptionalParameter<"::mlir::StringAttr">:$flops,
                        OptionalParameter<"::mlir::StringAttr">:$integers,
                        OptionalParameter<"::mlir::StringAttr">:$reads, "::mlir::StringAttr":$arena,
                        OptionalParameter<"::mlir::ArrayAttr">:$phases, OptionalParameter<"::mlir::ArrayAttr">:$lengths,
                        OptionalParameter<"::mlir::ArrayAttr">:$repeats);
  let extraClassDeclaration = [{
    /// The symbol of its function on the processor.
    std::string getSymbol() const { return "heddle_entry_" + getName().str(); }
    EntryAttr withPhases(::llvm::ArrayRef<PhaseAttr> phases) const;
    EntryAttr withRepeats(::llvm::ArrayRef<RepeatAttr> repeats) const;
    EntryAttr withLengths(::llvm::ArrayRef<::heddle::model::Size> lengths) const;
  }];
}

#endif
