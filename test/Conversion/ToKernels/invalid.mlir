// RUN: heddle-opt %s --heddle-split-kernels --heddle-join-kernels --split-input-file --verify-diagnostics

// What one kernel hands to the next goes through memory: a value that cannot be computed again is a mistake of the compiler.
func.func private @heddle_barrier(!llvm.ptr)
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {tile.dims = []} {
  llvm.store %team, %arena : i64, !llvm.ptr
  // expected-error @below {{internal error: a value lives across a barrier and cannot be computed again}}
  %x = llvm.load %arena : !llvm.ptr -> i64
  func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
  llvm.store %x, %arena : i64, !llvm.ptr
  return
}

// -----

// Unless it bears the bound of what the entry has found out.
func.func private @heddle_barrier(!llvm.ptr)
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {tile.dims = []} {
  llvm.store %team, %arena : i64, !llvm.ptr
  %x = llvm.load %arena {tile.kept = "7"} : !llvm.ptr -> i64
  func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
  llvm.store %x, %arena : i64, !llvm.ptr
  return
}

// -----

// The host takes no decision, so a loop of launches has a constant count.
func.func private @heddle_barrier(!llvm.ptr)
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {tile.dims = ["B"]} {
  %b64 = llvm.load %dims : !llvm.ptr -> i64
  %b = arith.index_cast %b64 : i64 to index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @below {{internal error: a loop with barriers inside is a repeat of a constant count, at most two deep}}
  scf.for %i = %zero to %b step %one {
    llvm.store %b64, %arena : i64, !llvm.ptr
    func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
  }
  return
}
