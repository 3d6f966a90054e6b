// RUN: heddle-opt %s --model-plan-parameters | FileCheck %s

// The tied table is packed once, as panels; the layers of the repeat lie at a constant distance.
// CHECK-DAG: [[TABLED:#panels[0-9]*]] = #model.layout<panels 32, f32>
// CHECK-DAG: [[TURNED:#panels[0-9]*]] = #model.layout<panels 32, f32, in_out>
// CHECK-DAG: #natural = #model.layout<natural, f32>
// CHECK-DAG: [[FIRST:#entry[0-9]*]] = #model.entry<name = "wte", shape = [100, 12], layout = [[TABLED]], offset = 0
// CHECK-DAG: [[LAYERS:#entry[0-9]*]] = #model.entry<name = "h.{0}.w"{{.*}} firsts = [0], counts = [3], strides = [1536]>
// CHECK: module attributes
// CHECK-SAME: model.blob = {{\[}}[[FIRST]], [[LAYERS]],
// CHECK-SAME: model.blob_bytes = 11136 : i64
// CHECK: %[[TABLE:.+]] = model.param "wte" {layout = [[TABLED]], offset = 0 : i64, strides = array<i64>}
// CHECK: model.embedding %{{.+}} in %[[TABLE]]
// CHECK: model.param "h.{0}.w"[%{{.+}}] {layout = [[TURNED]], offset = 6144 : i64, strides = array<i64: 1536>}
// CHECK: model.param "h.{0}.b"[%{{.+}}] {layout = #natural, offset = 10752 : i64, strides = array<i64: 128>}
// CHECK: model.linear %{{.+}}, %[[TABLE]]
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}) -> (!model.tensor<[B, T, 100], f32> {model.name = "y"}) {
  %w = model.param "wte" : !model.tensor<[100, 12], f32>
  %x0 = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[100, 12], f32>) -> !model.tensor<[B, T, 12], f32>
  %x1 = model.repeat 3 iter(%x0) : (!model.tensor<[B, T, 12], f32>) -> !model.tensor<[B, T, 12], f32> {
  ^bb0(%i: index, %x: !model.tensor<[B, T, 12], f32>):
    %v = model.param "h.{0}.w"[%i] : !model.tensor<[12, 12], f32>
    %b = model.param "h.{0}.b"[%i] : !model.tensor<[20], f32>
    %y = model.linear %x, %v in_out : (!model.tensor<[B, T, 12], f32>, !model.tensor<[12, 12], f32>) -> !model.tensor<[B, T, 12], f32>
    %s = model.reduce sum %b axes [0] : (!model.tensor<[20], f32>) -> !model.tensor<[], f32>
    %z = model.binary add %y, %s : (!model.tensor<[B, T, 12], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 12], f32>
    model.yield %z : !model.tensor<[B, T, 12], f32>
  }
  %y = model.linear %x1, %w : (!model.tensor<[B, T, 12], f32>, !model.tensor<[100, 12], f32>) -> !model.tensor<[B, T, 100], f32>
  return %y : !model.tensor<[B, T, 100], f32>
}
