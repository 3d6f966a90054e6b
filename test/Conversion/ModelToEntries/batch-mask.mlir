// A mask of the tokens that is true or false, and read by more than keys: in @batch it is true everywhere. The logits are
// made of more than last rows of numbers, so they have every row.
// RUN: heddle-opt --model-derive-entries --model-derive-batch=slots=require %s | FileCheck %s

// CHECK-LABEL: func.func @batch(
// CHECK-NOT: "mask"
// CHECK-NOT: %asked
// CHECK: %[[TRUE:.+]] = model.constant dense<true>
// CHECK: model.broadcast %[[TRUE]] : !b -> !B_new_b
// CHECK-NOT: mask.keys
// CHECK: attn.sdpa {{.+}} starts %start
// CHECK: model.select
// CHECK: return %{{.+}} : !B_13_f

module attributes {model.name = "seen", model.dims = {}, model.generate = {tokens = "ids", mask = "mask", logits = "logits"}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}, %mask: !model.tensor<[B, T], i1> {model.name = "mask"}) -> (!model.tensor<[B, T, 13], f32> {model.name = "logits"}) {
  %w = model.param "w" : !model.tensor<[13, 8], f32>
  %x = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[13, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %two = model.constant dense<2.0> : tensor<f64> : !model.tensor<[], f32>
  %k = model.binary mul %x, %two : (!model.tensor<[B, T, 8], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
  %v = model.binary add %x, %two : (!model.tensor<[B, T, 8], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
  %causal = mask.causal
  %keys = mask.keys %mask : !model.tensor<[B, T], i1>
  %m = mask.and %causal, %keys
  %a = attn.sdpa %x, %k, %v mask %m heads 1 kv_heads 1 scale 0.35 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %row = model.unsqueeze %mask axis 2 : (!model.tensor<[B, T], i1>) -> !model.tensor<[B, T, 1], i1>
  %y = model.select %row, %a, %x : (!model.tensor<[B, T, 1], i1>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %logits = model.linear %y, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[13, 8], f32>) -> !model.tensor<[B, T, 13], f32>
  return %logits : !model.tensor<[B, T, 13], f32>
}
}
