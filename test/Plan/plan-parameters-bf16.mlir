// RUN: heddle-opt %s --model-plan-parameters --split-input-file --verify-diagnostics | FileCheck %s

// Weights of linears and tables of embeddings take half the bytes; the scale of a norm keeps its type.
// CHECK-DAG: [[HALVES:#natural[0-9]*]] = #model.layout<natural, bf16>
// CHECK-DAG: [[WHOLE:#natural[0-9]*]] = #model.layout<natural, f32>
// CHECK-DAG: #panels = #model.layout<panels 32, bf16>
// CHECK-DAG: #model.entry<name = "table", shape = [14, 9], layout = [[HALVES]], offset = 0
// CHECK-DAG: #model.entry<name = "w", shape = [20, 9], layout = #panels, offset = 256
// CHECK-DAG: #model.entry<name = "scale", shape = [20], layout = [[WHOLE]], offset = 896
// CHECK: module attributes
// CHECK-SAME: model.blob_bytes = 1024 : i64
// CHECK: model.param "table" {layout = [[HALVES]], offset = 0 : i64, strides = array<i64>}
// CHECK: model.param "w" {layout = #panels, offset = 256 : i64, strides = array<i64>}
// CHECK: model.param "scale" {layout = [[WHOLE]], offset = 896 : i64, strides = array<i64>}
module attributes {model.dtype = "bf16", model.math = "wide"} {
  func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}) -> (!model.tensor<[B, T, 20], f32> {model.name = "y"}) {
    %t = model.param "table" : !model.tensor<[14, 9], f32>
    %w = model.param "w" : !model.tensor<[20, 9], f32>
    %s = model.param "scale" : !model.tensor<[20], f32>
    %x = model.embedding %ids in %t : (!model.tensor<[B, T], i64>, !model.tensor<[14, 9], f32>) -> !model.tensor<[B, T, 9], f32>
    %y = model.linear %x, %w : (!model.tensor<[B, T, 9], f32>, !model.tensor<[20, 9], f32>) -> !model.tensor<[B, T, 20], f32>
    %z = model.binary mul %y, %s : (!model.tensor<[B, T, 20], f32>, !model.tensor<[20], f32>) -> !model.tensor<[B, T, 20], f32>
    return %z : !model.tensor<[B, T, 20], f32>
  }
}

// -----

// expected-error @below {{expected 'model.dtype' to be "f32", "bf16" or "f16", got "f8"}}
module attributes {model.dtype = "f8"} {}

// -----

// expected-error @below {{expected 'model.math' to be "wide" or "dots", got "fast"}}
module attributes {model.dtype = "bf16", model.math = "fast"} {}

// -----

// expected-error @below {{'model.math' is "dots", which needs 'model.dtype' = "bf16"}}
module attributes {model.math = "dots"} {}
