// The passes that derive entries and leave out rows of padding.
#ifndef HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_PASSES_TD
#define HEDDLE_COMPILER_CONVERSION_MODELTOENTRIES_PASSES_TD

include "mlir/Pass/PassBase.td"

def DeriveEntriesPass : Pass<"model-derive-entries", "mlir::ModuleOp"> {
  let summary = "Derive @once and @step from @run, or say why not";
  let description = [{
    For a module with `model.generate`: @step computes the logits of the last of `new` rows after `past` ones, with
    states for what later rows read. (A prompt is a step with past = 0.) @once computes what depends on inputs but on
    no token. If rows that a state would keep can change, there is no @step. `model.step_report` then names the
    statements that are the reason; with `cache=require` they are errors. @defaults computes the prompt's part of
    inputs that `extend` does not continue with their default. `model.padding` says on which sides a batch may be
    padded.
  }];
  let options = [
    Option<"cache", "cache", "std::string", "\"auto\"", "auto, require or none">,
    Option<"annotate", "annotate", "bool", "false", "write every value's kind beside it (model.kind)">,
  ];
  let dependentDialects = ["::heddle::model::ModelDialect", "::heddle::mask::MaskDialect",
                           "::heddle::attn::AttnDialect", "::mlir::func::FuncDialect"];
}

def DeriveBatchPass : Pass<"model-derive-batch", "mlir::ModuleOp"> {
  let summary = "Derive @batch, whose rows are texts of their own, from @step, or say why not";
  let description = [{
    @batch is @step with two more inputs, i64 [B]: `slot`, the row of the states that holds the text of a row, and
    `start`, how many of its positions are there. States have a row for each of `slots` texts; `past` is the largest
    start. A third, `asked`, i64 [asked], names the rows that the result has. The mask of the tokens is not passed: no
    row is padded. There is no @batch if a step reads its past other than by appends and attention, keeps other
    states, mixes rows of the batch or has a guard. `model.slots_report` then says why. With `slots=require` that is
    an error, with `auto` a remark, with `served` neither.
  }];
  let options = [Option<"slots", "slots", "std::string", "\"none\"", "served, auto, require or none">];
  let dependentDialects = ["::heddle::model::ModelDialect", "::heddle::mask::MaskDialect",
                           "::heddle::attn::AttnDialect", "::mlir::func::FuncDialect"];
}

def SkipPaddingPass : Pass<"model-skip-padding", "mlir::ModuleOp"> {
  let summary = "Compute no rows of padding where nobody needs them";
  let description = [{
    If a mask of keys M [B, T] hides the keys of every attention over these rows, rows with M = 0 reach no other row.
    Ops that treat rows independently then work on the list of live rows; attention hides the queries of padding too.
    Live rows keep their bits; rows of padding of an output are 0: with `rows=auto` outputs that have such rows, of a
    module without `model.padding_unread`, are left as they are. A row that is taken by its position (the first, the
    last) is live in any case. Where a use of the rows is not understood nothing is skipped, and
    `model.padding_report` says which.
  }];
  let options = [Option<"rows", "rows", "std::string", "\"auto\"", "auto, skip or compute: rows of padding">];
  let dependentDialects = ["::heddle::model::ModelDialect", "::heddle::mask::MaskDialect",
                           "::heddle::attn::AttnDialect", "::mlir::func::FuncDialect"];
}

def SkipUnseenPass : Pass<"model-skip-unseen", "mlir::ModuleOp"> {
  let summary = "Compute no queries that see nothing, and no keys that nobody sees";
  let description = [{
    Where the mask of an attention is `queries(t) and ..`, t [B, T] known in front of the layers and more than the
    mask of padding, queries with t = 0 see nothing. A linear that makes only the queries then works on the rows where
    t is not 0. One that makes only keys or values works on all rows of the texts that have such a row. Its other rows
    are 0, and no result depends on them; with `masked_rows mean` nothing is changed.
  }];
  let dependentDialects = ["::heddle::model::ModelDialect"];
}

#endif
