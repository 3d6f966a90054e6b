// The passes that stay inside the mask dialect.
#ifndef HEDDLE_DIALECTS_MASK_TRANSFORMS_PASSES_TD
#define HEDDLE_DIALECTS_MASK_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimplifyPass : Pass<"mask-simplify", "mlir::ModuleOp"> {
  let summary = "Bring masks into the form that costs least and shows most";
  let description = [{
    `not` goes to the leaves, connectives are flattened, bands of one direction become one
    `mask.band`, what the lengths, another operand or its own negation decides is `all` or `none`.
    Lattice laws keep which tiles are visited; contradictions and lengths make them fewer. Counts
    (`+`) are kept: below a `+` only what is 0 or 1 is rewritten.
    An op that asks a mask gets the attribute `every_row_sees` where it is proved that no row is
    fully masked: it needs no guard.
  }];
}

def BuildTablesPass : Pass<"mask-build-tables", "mlir::ModuleOp"> {
  let summary = "Give data-dependent leaves the tables that they look up, one for all users";
  let description = [{
    A table is made directly after the tensor that it summarises. That tensor is first moved out of repeats that do
    not change it. Leaves on the same tensor share the table (MaskTables.h).
  }];
}

#endif
