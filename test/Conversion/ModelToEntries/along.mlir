// What works along the rows keeps what it needs of the past: a sum, the last rows.
// RUN: heddle-opt --model-derive-entries %s | FileCheck %s

// CHECK: !B_new_2_24_f = !model.tensor<[B, "new+2", 24], f32>
// CHECK-LABEL: func.func @step
// CHECK-DAG: !state_B_i {model.state = "[[SUM:sum[0-9]]]"}
// CHECK-DAG: !state_B_2_24_f {model.state = "[[TAIL:tail[0-9]]]"}
module attributes {model.generate = {tokens = "ids", logits = "logits", mask = "mask"}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}, %mask: !model.tensor<[B, T], i64> {model.name = "mask"}) -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %w = model.param "shared" : !model.tensor<[50, 24], f32>
  %x = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  // CHECK: %[[HELD:.*]] = model.load {{.*}} : !state_B_i
  // CHECK: %[[PAST:.*]] = model.size "past"
  // CHECK: %[[BEFORE:.*]] = model.select {{.*}}, %[[HELD]]
  // CHECK: %[[SUMS:.*]] = model.cumsum %{{.*}} init %[[BEFORE]] axis 1
  // CHECK: model.slice %[[SUMS]] axis 1 from "new-1" to "new"
  // CHECK: model.store
  %n = model.cumsum %mask axis 1 : (!model.tensor<[B, T], i64>) -> !model.tensor<[B, T], i64>
  %p = model.embedding %n in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %y = model.binary add %x, %p : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  // A window of three rows: the step puts the last two in front and pads no more.
  // CHECK: %[[WINDOW:.*]] = model.concat {{.*}} axis 1 : {{.*}} -> !B_new_2_24_f
  // CHECK: model.slice %[[WINDOW]] axis 1 from "new" to "new+2"
  // CHECK: model.conv %[[WINDOW]], {{.*}} padding [0, 0]
  %c = model.param "conv" : !model.tensor<[24, 24, 3], f32>
  %z = model.conv %y, %c stride [1] dilation [1] padding [2, 0] : (!model.tensor<[B, T, 24], f32>, !model.tensor<[24, 24, 3], f32>) -> !model.tensor<[B, T, 24], f32>
  %causal = mask.causal
  %a = attn.sdpa %z, %z, %z mask %causal heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  // The last layer: one query row, whatever the number of new ones.
  // CHECK: attn.sdpa {{.*}} past "new+past-1" : (!B_1_24_f
  %logits = model.linear %a, %w : (!model.tensor<[B, T, 24], f32>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}
