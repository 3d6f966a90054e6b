// The encoder and the keys and values of cross-attention are computed once, by layer, and
// loaded by the step; the step never sees the source.
// RUN: heddle-opt --model-derive-entries %s | FileCheck %s

module attributes {model.generate = {tokens = "decoder_input_ids", logits = "logits", source = "input_ids", start = 0 : i64}} {
func.func @run(%src: !model.tensor<[B, S], i64> {model.name = "input_ids"}, %mask: !model.tensor<[B, S], i64> {model.name = "attention_mask", model.default},
               %ids: !model.tensor<[B, T], i64> {model.name = "decoder_input_ids"}, %tm: !model.tensor<[B, T], i64> {model.name = "decoder_attention_mask", model.default})
    -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %m = model.default %mask : !model.tensor<[B, S], i64> -> !model.tensor<[B, S], i64> {
    %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
    model.yield %one : !model.tensor<[], i64>
  }
  %t = model.default %tm : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
    model.yield %one : !model.tensor<[], i64>
  }
  %w = model.param "shared" : !model.tensor<[50, 24], f32>
  %bucket = model.param "bias" : !model.tensor<[32, 4], f32>
  %far = attn.bucket_bias %bucket max_distance 128 : !model.tensor<[32, 4], f32>
  %source = mask.keys %m : !model.tensor<[B, S], i64>
  %causal = mask.causal
  %seen = mask.keys %t : !model.tensor<[B, T], i64>
  %target = mask.and %causal, %seen
  %e = model.embedding %src in %w : (!model.tensor<[B, S], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, S, 24], f32>
  %memory = model.repeat 2 iter(%e) : (!model.tensor<[B, S, 24], f32>) -> !model.tensor<[B, S, 24], f32> {
  ^bb0(%i: index, %x: !model.tensor<[B, S, 24], f32>):
    %a = attn.sdpa %x, %x, %x mask %source heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, S, 24], f32>, !model.tensor<[B, S, 24], f32>, !model.tensor<[B, S, 24], f32>) -> !model.tensor<[B, S, 24], f32>
    model.yield %a : !model.tensor<[B, S, 24], f32>
  }
  %d = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %y = model.repeat 3 iter(%d) : (!model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32> {
  ^bb0(%i: index, %x: !model.tensor<[B, T, 24], f32>):
    %a = attn.sdpa %x, %x, %x mask %target bias %far heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
    %wk = model.param "cross.{0}"[%i] : !model.tensor<[24, 24], f32>
    %k = model.linear %memory, %wk : (!model.tensor<[B, S, 24], f32>, !model.tensor<[24, 24], f32>) -> !model.tensor<[B, S, 24], f32>
    %c = attn.sdpa %a, %k, %memory mask %source heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, S, 24], f32>, !model.tensor<[B, S, 24], f32>) -> !model.tensor<[B, T, 24], f32>
    model.yield %c : !model.tensor<[B, T, 24], f32>
  }
  %logits = model.linear %y, %w : (!model.tensor<[B, T, 24], f32>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}

// CHECK-LABEL: func.func @once
// CHECK-SAME: %{{.*}}: !B_S_i {model.name = "input_ids"}
// CHECK-SAME: {model.default, model.name = "attention_mask"}
// CHECK-SAME: %[[K:[^:]*]]: !state_3_B_S_24_f {model.state = "[[KNAME:once[0-9]]]"}
// CHECK: model.repeat 2
// CHECK: model.repeat 3 :
// CHECK-NEXT: ^bb0(%[[I:.*]]: index):
// CHECK: %[[KV:.*]] = model.linear
// CHECK: model.store %[[KV]] in %[[K]][%[[I]]]

// The mask of the target was not given a role: the step takes what stands for it.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%{{[^:]*}}: !B_new_i {model.name = "decoder_input_ids"}, %{{[^:]*}}: !state_
// CHECK-SAME: {model.state = "[[KNAME]]"}
// CHECK-NOT: append {{.*}} i64
// CHECK: model.repeat 3 iter
// CHECK: attn.sdpa {{.*}} bias {{.*}} past "past"
// CHECK: model.load %{{.*}}[%{{.*}}] : !state_3_B_S_24_f
// CHECK-NOT: model.linear {{.*}}S, 24
