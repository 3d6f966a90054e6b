// RUN: heddle-opt %s --model-split-linear | FileCheck %s

// Each used part becomes a linear of its own; the part that nobody reads is gone.
// CHECK-LABEL: func.func @run
// CHECK: %[[Q:.+]] = model.linear %{{.+}}, %[[W:.+]] bias %[[B:.+]] in_out parts [2, 1, 1] groups 2 {part = 0 : i64}
// CHECK: %[[V:.+]] = model.linear %{{.+}}, %[[W]] bias %[[B]] in_out parts [2, 1, 1] groups 2 {part = 2 : i64}
// CHECK-NOT: model.linear
// CHECK: return %[[Q]], %[[V]]
func.func @run(%x: !model.tensor<[B, T, 10], f32> {model.name = "x"}) -> (!model.tensor<[B, T, 8], f32> {model.name = "q"}, !model.tensor<[B, T, 4], f32> {model.name = "v"}) {
  %w = model.param "w" : !model.tensor<[10, 16], f32>
  %b = model.param "b" : !model.tensor<[16], f32>
  %q, %k, %v = model.linear %x, %w bias %b in_out parts [2, 1, 1] groups 2 : (!model.tensor<[B, T, 10], f32>, !model.tensor<[10, 16], f32>, !model.tensor<[16], f32>) -> (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>)
  return %q, %v : !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 4], f32>
}
