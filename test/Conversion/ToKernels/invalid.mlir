// RUN: heddle-opt %s --heddle-split-kernels --heddle-join-kernels --split-input-file --verify-diagnostics

// What one kernel hands to the next goes through memory: a value that cannot be computed again is a mistake of the compiler.
func.func private @heddle_barrier(!llvm.ptr)
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {heddle.dims = []} {
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
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {heddle.dims = []} {
  llvm.store %team, %arena : i64, !llvm.ptr
  %x = llvm.load %arena {heddle.kept = "7"} : !llvm.ptr -> i64
  func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
  llvm.store %x, %arena : i64, !llvm.ptr
  return
}

// -----

// The host takes no decision, so a loop of launches has a constant count.
func.func private @heddle_barrier(!llvm.ptr)
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {heddle.dims = ["B"]} {
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

// -----

// What a barrier says of its phase may come from a file: a form that is none is an error, not 0.
func.func private @heddle_barrier(!llvm.ptr)
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {heddle.dims = []} {
  llvm.store %team, %arena : i64, !llvm.ptr
  // expected-error @below {{'heddle.costs' has no form 'read'}}
  func.call @heddle_barrier(%context) {heddle.costs = [{dots = false, integers = false, op = "map", operations = "0", read = "4*", written = "8"}]} : (!llvm.ptr) -> ()
  return
}

// -----

func.func private @heddle_barrier(!llvm.ptr)
func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {heddle.dims = []} {
  llvm.store %team, %arena : i64, !llvm.ptr
  // expected-error @below {{'heddle.costs' is no dictionary}}
  func.call @heddle_barrier(%context) {heddle.costs = ["map"]} : (!llvm.ptr) -> ()
  return
}

// -----

// And so is a launch of a kernel.
// expected-error @below {{the kernel 'run_0': 'heddle.launch' has no form 'items'}}
func.func @run_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {heddle.kernel, heddle.launch = [{costs = [], entry = "run", lanes = 32 : i64, number = 0 : i64, place = "", threads = 128 : i64, times = 1 : i64}]} {
  return
}

// -----

// expected-error @below {{the kernel 'run_0': 'heddle.launch' has no number from 32 on in 'threads'}}
func.func @run_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {heddle.kernel, heddle.launch = [{costs = [], entry = "run", items = "B", lanes = 32 : i64, number = 0 : i64, place = "", threads = 0 : i64, times = 1 : i64}]} {
  return
}

// -----

// expected-error @below {{the kernel 'run_0': 'heddle.launch' is no array}}
func.func @run_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {heddle.kernel, heddle.launch = "one"} {
  return
}

// -----

// expected-error @below {{the kernel 'run_0': 'heddle.costs' has no flag 'dots'}}
func.func @run_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {heddle.kernel, heddle.launch = [{costs = [{op = "map", operations = "0", read = "4", written = "8"}], entry = "run", items = "B", lanes = 32 : i64, number = 0 : i64, place = "", threads = 128 : i64, times = 1 : i64}]} {
  return
}
