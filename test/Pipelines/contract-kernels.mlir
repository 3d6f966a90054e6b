// What the stage `kernels` promises of the functions that are launched. Their launches are checked by the dialect
// (test/Dialect/Tile/invalid-launch.mlir): a number that a saved file has lost is not taken for 0.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

module attributes {heddle.stage = "kernels", model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  // expected-error @below {{promises: the kernel 'run_0' has another type than kernels have}}
  func.func @run_0(%fail: !llvm.ptr) attributes {tile.kernel, tile.launches = [#tile.launch<entry = "run", items = "B", each = 32, threads = 128>]} {
    return
  }
}
