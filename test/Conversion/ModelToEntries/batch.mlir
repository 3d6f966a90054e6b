// Texts in slots: @batch is @step whose appends and attentions name the slot and the start of every row; the mask of the
// tokens is gone.
// RUN: heddle-opt --model-derive-entries --model-derive-batch=slots=require %S/gpt.mlir | FileCheck %s
// RUN: heddle-opt --model-derive-entries --model-derive-batch %S/gpt.mlir | FileCheck %s --check-prefix=NONE
// RUN: heddle-opt --model-derive-entries --model-derive-batch=slots=auto %s 2>&1 | FileCheck %s --check-prefix=NO
// RUN: not heddle-opt --model-derive-entries --model-derive-batch=slots=require %s 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not heddle-opt --model-derive-batch=slots=require %S/skip-padding.mlir 2>&1 | FileCheck %s --check-prefix=TEXTS
// RUN: not heddle-opt --model-derive-batch=slots=some %s 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK-LABEL: func.func @step(
// CHECK-SAME: {model.name = "attention_mask"}
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: !B_new_i {model.name = "input_ids"}, %{{[a-z0-9_]+}}: !B_new_i {model.name = "position_ids"}, %slot: !B_i {model.name = "slot"}, %start: !B_i {model.name = "start"}, %asked: !asked_i {model.name = "asked"},
// CHECK-SAME: !state_2_slots_capacity_24_f {model.state = "slots_rows0"}
// CHECK-NOT: mask.keys
// CHECK: mask.all
// CHECK: %[[K:.+]] = model.append %{{.+}}[%{{.+}}], %{{.+}} slots %slot : !B_i starts %start : !B_i axis 1
// CHECK: attn.sdpa %{{.+}}, %[[K]], %{{.+}} mask %{{.+}} starts %start : !B_i heads
// CHECK-NOT: mask.keys
// CHECK: {{.+}} = model.embedding %asked in %{{.+}} : (!asked_i, !B_24_f)
// CHECK: return %{{.+}} : !asked_50_f

// NONE-NOT: @batch
// NONE-NOT: slots

// NO: remark: no slots, texts are served one after another: the number of past positions is read
// NO: model.slots_report = "the number of past positions is read, which differs between rows"
// ERROR: error: no slots, texts are served one after another: the number of past positions is read, which differs between rows
// TEXTS: error: no slots: the model generates no texts
// OPTION: slots must be served, auto, require or none, found 'some'

module attributes {model.name = "positions", model.dims = {T = 64 : i64}, model.generate = {tokens = "ids", logits = "logits"}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}) -> (!model.tensor<[B, T, 8], f32> {model.name = "logits"}) {
  %p = model.range "0" to "T" : !model.tensor<[T], i64>
  %w = model.param "w" : !model.tensor<[64, 8], f32>
  %e = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[64, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %ep = model.embedding %p in %w : (!model.tensor<[T], i64>, !model.tensor<[64, 8], f32>) -> !model.tensor<[T, 8], f32>
  %x = model.binary add %e, %ep : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %x : !model.tensor<[B, T, 8], f32>
}
}
