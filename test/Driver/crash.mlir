// A pass that fails by a mistake of ours leaves its input, and one command runs it again; reduced, little is left.
// RUN: rm -rf %t && mkdir %t
// RUN: %exits 70 heddle compile %s --emit=llvm -o %t/out.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file %t/heddle-crash.mlir
// RUN: not heddle-opt %t/heddle-crash.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: heddle reduce %t/heddle-crash.mlir --pass='heddle-check-stage{stage=llvm}' -o %t/small.mlir 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --check-prefix=SMALL --input-file %t/small.mlir
// RUN: not ls %t/out.mlir

// CHECK: error[H0901]: internal error: the contract of stage 'llvm' is broken: 'lgammaf' is no function that generated code may call
// CHECK: remark: the pass that failed and its input: heddle-opt {{.*}}/heddle-crash.mlir --run-reproducer
// FILE: // tiny, before the pass heddle-check-stage{stage=llvm}, which fails
// FILE: llvm.func internal @heddle_entry_run
// FILE: pipeline: "builtin.module(heddle-check-stage{stage=llvm})"
// AGAIN: error: internal error: the contract of stage 'llvm' is broken: 'lgammaf' is no function
// SAID: the pass heddle-check-stage{stage=llvm}: it fails: internal error: the contract of stage 'llvm' is broken: 'lgammaf'
// SAID: ops became 1 in
// SMALL: // heddle reduce '{{.*}}small.mlir' --pass='heddle-check-stage{stage=llvm}'
// SMALL-NOT: heddle_entry_run
// SMALL: llvm.func @lgammaf
module attributes {model.name = "tiny"} {
  func.func @run(%x: !model.tensor<[B, 4], f32> {model.name = "x"}) -> (!model.tensor<[B, 4], f32> {model.name = "y"}) {
    %y = model.unary exp %x : (!model.tensor<[B, 4], f32>) -> !model.tensor<[B, 4], f32>
    return %y : !model.tensor<[B, 4], f32>
  }
  llvm.func @lgammaf(f32) -> f32
}
