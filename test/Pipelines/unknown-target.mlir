// A target that nobody knows is an error that says which there are, not the processor's stages.
// RUN: not heddle-opt %s --heddle-check-stage 2>&1 | FileCheck %s
// RUN: not heddle compile %s --emit=llvm -o - 2>&1 | FileCheck %s

// CHECK: there is no target 'abacus'; there are cpu, cuda
module attributes {heddle.stage = "model", model.target = #model.target<"abacus", chip = "x", lanes = 4, registers = 16>} {}
