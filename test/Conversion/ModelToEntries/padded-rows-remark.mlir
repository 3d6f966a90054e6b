// A model that numbers its rows says that padding moves them, where, and what to read instead; one that counts the mask
// says nothing.
// RUN: sed 's/POSITIONS/%%rows/' %s | heddle-opt --model-derive-entries 2>&1 >/dev/null | FileCheck %s
// RUN: sed 's/POSITIONS/%%counted/' %s | heddle-opt --model-derive-entries 2>&1 >/dev/null | count 0

// CHECK: model.json:8:3{{.*}}: remark: a padded row of a batch is not what it is alone: this reads the position of a row
// CHECK: note: to make it what it is alone, count real tokens instead: an input with the role `positions` of `generate`, or `cumsum` of the mask minus 1
module attributes {model.generate = {tokens = "ids", logits = "logits", mask = "mask"}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}, %mask: !model.tensor<[B, T], i64> {model.name = "mask"})
    -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %w = model.param "shared" : !model.tensor<[50, 24], f32>
  %places = model.param "places" : !model.tensor<[64, 24], f32>
  %r = model.range "0" to "T" : !model.tensor<[T], i64> loc(fused<"$.body[4]">["model.json":8:3])
  %rows = model.broadcast %r : !model.tensor<[T], i64> -> !model.tensor<[B, T], i64>
  %counted = model.cumsum %mask axis 1 : (!model.tensor<[B, T], i64>) -> !model.tensor<[B, T], i64>
  %x = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %p = model.embedding POSITIONS in %places : (!model.tensor<[B, T], i64>, !model.tensor<[64, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %y = model.binary add %x, %p : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %c = mask.causal
  %k = mask.keys %mask : !model.tensor<[B, T], i64>
  %v = mask.and %c, %k
  %a = attn.sdpa %y, %y, %y mask %v heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %logits = model.linear %a, %w : (!model.tensor<[B, T, 24], f32>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}
