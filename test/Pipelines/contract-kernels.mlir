// What the stage `kernels` promises of the functions that are launched. A number that a saved file has lost is not taken for 0.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

module attributes {heddle.stage = "kernels", model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  // expected-error @below {{promises: the kernel 'run_0' has another type than kernels have}}
  func.func @run_0(%fail: !llvm.ptr) attributes {heddle.kernel, heddle.launch = [{costs = [], entry = "run", items = "B", lanes = 32 : i64, number = 0 : i64, place = "", threads = 128 : i64, times = 1 : i64}]} {
    return
  }
}

// -----

module attributes {heddle.stage = "kernels", model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  // expected-error @below {{promises: the kernel 'run_0': 'heddle.launch' has no form 'items'}}
  func.func @run_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {heddle.kernel, heddle.launch = [{costs = [], entry = "run", items = "B*", lanes = 32 : i64, number = 0 : i64, place = "", threads = 128 : i64, times = 1 : i64}]} {
    return
  }
}

// -----

module attributes {heddle.stage = "kernels", model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  // expected-error @below {{promises: the kernel 'run_0': 'heddle.costs' has no form 'operations'}}
  func.func @run_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {heddle.kernel, heddle.launch = [{costs = [{dots = false, integers = false, op = "map", operations = 7, read = "1", written = "2"}], entry = "run", items = "B", lanes = 32 : i64, number = 0 : i64, place = "", threads = 128 : i64, times = 1 : i64}]} {
    return
  }
}
