// What the passes of the stage would call is looked at too: a formula that ends in libm beyond abi.def is our mistake.
// RUN: not heddle-opt %s --heddle-llvm 2>&1 | FileCheck %s

// CHECK: error: internal error: the contract of stage 'llvm' is broken: 'lgammaf' is no function that generated code may call
module {
  llvm.func @lgammaf(f32) -> f32
}
