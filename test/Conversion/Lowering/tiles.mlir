// RUN: heddle-opt %s --heddle-tiled | FileCheck %s
// RUN: sed 's/icelake-server/znver4/' %s | heddle-opt --heddle-tiled | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/needs = "[^"]*"/needs = "amx-tile amx-bf16"/; s/module attributes {/module attributes {model.dtype = "bf16", model.math = "dots", /' %s | heddle-opt --heddle-tiled | FileCheck %s --check-prefix=MATRIX

// The tiles of linears: where a processor multiplies two vectors at a time, 8 x 48 if such panels make up the results; in matrix registers 32 x 32
// of features that fill rows of them.
module attributes {model.target = #model.target<"cpu", chip = "icelake-server", lanes = 16, registers = 32, needs = "avx512f">} {
// CHECK: #tiles = #model.schedule<panel = 48, rows = 8, block = 256, ahead = 42
// CHECK: #tiles1 = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64
// OTHER: #tiles = #model.schedule<panel = 32, rows = 8, block = 256, small
// OTHER-NOT: #model.schedule
// MATRIX: #tiles = #model.schedule<panel = 32, rows = 32, block = 256
// MATRIX: #tiles1 = #model.schedule<panel = 32, rows = 8, block = 256
func.func @run(%x: !model.tensor<[B, 64], f32> {model.name = "x"}) -> (!model.tensor<[B, 80], f32> {model.name = "z"}) {
  %w = model.param "w" : !model.tensor<[96, 64], f32>
  %u = model.param "u" : !model.tensor<[80, 96], f32>
  %v = model.param "v" : !model.tensor<[80, 80], f32>
  %y = model.linear %x, %w : (!model.tensor<[B, 64], f32>, !model.tensor<[96, 64], f32>) -> !model.tensor<[B, 96], f32>
  %z = model.linear %y, %u : (!model.tensor<[B, 96], f32>, !model.tensor<[80, 96], f32>) -> !model.tensor<[B, 80], f32>
  %t = model.linear %z, %v : (!model.tensor<[B, 80], f32>, !model.tensor<[80, 80], f32>) -> !model.tensor<[B, 80], f32>
  return %t : !model.tensor<[B, 80], f32>
}
}
