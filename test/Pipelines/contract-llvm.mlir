// The LLVM dialect alone, and no external symbol but those of abi.def, in its types.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

module attributes {heddle.stage = "llvm"} {
  llvm.func @heddle_barrier(!llvm.ptr, i64)
  llvm.func @expf(f32) -> f32
  llvm.func internal @kernel(%x: f32) -> f32 {
    %y = llvm.call @expf(%x) : (f32) -> f32
    llvm.return %y : f32
  }
}

// -----

module attributes {heddle.stage = "llvm"} {
  // expected-error @below {{this is not what the stage 'llvm' of the file promises: 'lgammaf' is no function that generated code may call}}
  llvm.func @lgammaf(f32) -> f32
  llvm.func internal @kernel(%x: f32) -> f32 {
    %y = llvm.call @lgammaf(%x) : (f32) -> f32
    llvm.return %y : f32
  }
}

// -----

// expected-error @below {{promises: there is no entry 'heddle_entry_step'}}
module attributes {heddle.stage = "llvm", card.entries = [#card.entry<name = "run", dims = [], arena = "0">, #card.entry<name = "step", dims = [], arena = "0">]} {
  // expected-error @below {{promises: 'heddle_fail' has another type than in runtime/include/heddle/abi.def}}
  llvm.func @heddle_fail(!llvm.ptr, i32, i64, i64)
  // expected-error @below {{promises: 'heddle_entry_run' has another type than in runtime/include/heddle/abi.def}}
  llvm.func internal @heddle_entry_run(%context: !llvm.ptr, %tid: i64) {
    llvm.return
  }
  // expected-error @below {{promises: 'elsewhere' is defined nowhere}}
  llvm.mlir.global external @elsewhere() : i32
}

// -----

module attributes {heddle.stage = "llvm"} {
  // expected-error @below {{promises: 'func.func' is left}}
  func.func private @kernel()
}
