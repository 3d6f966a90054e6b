// RUN: heddle-opt %s --model-plan-schedules --model-plan-memory --convert-heddle-to-loops | FileCheck %s

// Attentions that say the same share one kernel, wherever their results lie; another mask is
// another kernel. Each comes with a function that packs its keys and values.
// CHECK-LABEL: func.func private @heddle_entry_run
// CHECK: call @heddle_attention_[[A:[0-9a-f]+]]_pack
// CHECK: call @heddle_attention_[[A]](
// CHECK: call @heddle_attention_[[A]]_pack
// CHECK: call @heddle_attention_[[A]](
// CHECK-NOT: call @heddle_attention_[[A]](
// CHECK: call @heddle_attention_[[B:[0-9a-f]+]](
func.func @run(%q: !model.tensor<[B, T, 8], f32> {model.name = "q"}) -> (!model.tensor<[B, T, 8], f32> {model.name = "y"}) {
  %m = mask.causal
  %a = attn.sdpa %q, %q, %q mask %m heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %b = attn.sdpa %a, %q, %a mask %m heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %w = mask.window left 3 right 3
  %c = attn.sdpa %b, %a, %b mask %w heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %c : !model.tensor<[B, T, 8], f32>
}
