// A decoder: keys and values and the mask are kept, one state of all layers each; the last
// row alone meets the head.
// RUN: heddle-opt --model-derive-entries %s | FileCheck %s

module attributes {model.name = "gpt", model.dims = {T = 64 : i64},
    model.generate = {tokens = "input_ids", logits = "logits", mask = "attention_mask", positions = "position_ids"}} {
// CHECK: !B_new_past_i = !model.tensor<[B, "new+past"], i64>
// CHECK: model.padding = {left = true, right = true}
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "input_ids"},
               %mask: !model.tensor<[B, T], i64> {model.name = "attention_mask", model.default},
               %pos: !model.tensor<[B, T], i64> {model.name = "position_ids", model.default})
    -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}, !model.tensor<[2, B, T, 24], f32> {model.name = "hidden_states"}) {
  %m = model.default %mask : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
    model.yield %one : !model.tensor<[], i64>
  }
  %p = model.default %pos : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %r = model.range "0" to "T" : !model.tensor<[T], i64>
    model.yield %r : !model.tensor<[T], i64>
  }
  %w = model.param "wte" : !model.tensor<[50, 24], f32>
  %wp = model.param "wpe" : !model.tensor<[64, 24], f32>
  %e = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %ep = model.embedding %p in %wp : (!model.tensor<[B, T], i64>, !model.tensor<[64, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %x0 = model.binary add %e, %ep : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %x1, %hs = model.repeat 2 iter(%x0) : (!model.tensor<[B, T, 24], f32>) -> (!model.tensor<[B, T, 24], f32>, !model.tensor<[2, B, T, 24], f32>) {
  ^bb0(%i: index, %x: !model.tensor<[B, T, 24], f32>):
    %c = mask.causal
    %k = mask.keys %m : !model.tensor<[B, T], i64>
    %v = mask.and %c, %k
    %wq = model.param "h.{0}.w"[%i] : !model.tensor<[24, 72], f32>
    %bq = model.param "h.{0}.b"[%i] : !model.tensor<[72], f32>
    %q, %kk, %vv = model.linear %x, %wq bias %bq in_out parts [1, 1, 1] groups 1 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[24, 72], f32>, !model.tensor<[72], f32>) -> (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>)
    %a = attn.sdpa %q, %kk, %vv mask %v heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
    %y = model.binary add %x, %a : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
    %z = model.unary gelu %y : (!model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
    model.yield %z, %x : !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>
  }
  %n = model.l2_norm %x1 eps 1.0e-6 : (!model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %logits = model.linear %n, %w : (!model.tensor<[B, T, 24], f32>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits, %hs : !model.tensor<[B, T, 50], f32>, !model.tensor<[2, B, T, 24], f32>
}
}

// What does not change from layer to layer is before the repeat, in @run too.
// CHECK-LABEL: func.func @run
// CHECK: mask.and
// CHECK: model.repeat 2

// CHECK-NOT: @once
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[IDS:.*]]: !B_new_i {model.name = "input_ids"}
// CHECK-SAME: %[[M:[^:]*]]: !B_new_i {model.name = "attention_mask"}
// CHECK-SAME: !B_new_i {model.name = "position_ids"}
// CHECK-SAME: !state_2_B_capacity_24_f {model.state = "[[K:rows[0-9]]]"}
// CHECK-SAME: -> (!B_50_f {model.name = "logits"})
// CHECK: %[[ALL:.*]] = model.append %{{.*}}, %[[M]] axis 1 : !state_B_capacity_i, !B_new_i -> !B_new_past_i
// CHECK: mask.keys %[[ALL]]
// CHECK: %[[X:.*]] = model.repeat 2 iter
// CHECK: ^bb0(%[[I:.*]]: index, %{{.*}}: !B_new_24_f)
// CHECK: %[[KEYS:.*]] = model.append %{{.*}}[%[[I]]], %{{.*}} axis 1 : !state_2_B_capacity_24_f
// CHECK: attn.sdpa %{{.*}}, %[[KEYS]], %{{.*}} past "past"
// CHECK: %[[LAST:.*]] = model.slice %[[X]] axis 1 from "new-1" to "new"
// CHECK: model.l2_norm %[[LAST]]
// CHECK: model.linear {{.*}} -> !B_1_50_f
// CHECK: model.squeeze
