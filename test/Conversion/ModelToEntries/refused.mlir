// What cannot be cached says why, at the statement; with cache=require it is an error.
// RUN: heddle-opt --model-derive-entries %s 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// RUN: not heddle-opt --model-derive-entries=cache=require %s 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: heddle-opt --model-derive-entries=cache=none %s | FileCheck %s --check-prefix=NONE

// CHECK: model.padding = {left = false, right = false}
// CHECK-SAME: model.step_report = ["no cached step: every step recomputes the whole text (work grows with T^2)", "$.body[4]: attention may see keys of later positions: its mask does not imply causal; needed unchanged at $.body[6]"
// CHECK-NOT: @step
// WHY: model.json:8:3{{.*}}: remark: no cached step
// WHY: note: attention may see keys of later positions: its mask does not imply causal; needed unchanged at $.body[6]
// ERROR: error: no cached step
// NONE: model.step_report = ["no cached step: --cache=none"]
// NONE-NOT: @step
module attributes {model.generate = {tokens = "ids", logits = "logits"}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}) -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %w = model.param "shared" : !model.tensor<[50, 24], f32>
  %x = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %a = attn.sdpa %x, %x, %x heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32> loc(fused<"$.body[4]">["model.json":8:3])
  %k = model.l2_norm %a eps 1.0e-6 : (!model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32> loc(fused<"$.body[6]">["model.json":10:3])
  %causal = mask.causal
  %b = attn.sdpa %x, %k, %k mask %causal heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %logits = model.linear %b, %w : (!model.tensor<[B, T, 24], f32>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}
