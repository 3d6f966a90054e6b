// An op that says nothing of its rows (`windows`, and an op that nobody knows) has no cached step: it is refused by its name,
// at its place. That ODS gives no relation by default is in test/Dialect/Model/step-default.test.
// RUN: heddle-opt --allow-unregistered-dialect --split-input-file --model-derive-entries %s 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// RUN: not heddle-opt --allow-unregistered-dialect --split-input-file --model-derive-entries=cache=require %s 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: "$.body[2]: windows has no rule for the step axis"
// CHECK-NOT: @step
// WHY: model.json:4:3{{.*}}: remark: no cached step
// WHY: note: windows has no rule for the step axis
// ERROR: model.json:4:3{{.*}}: error: no cached step
// ERROR: note: windows has no rule for the step axis
module attributes {model.generate = {tokens = "ids", logits = "logits"}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}) -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %e = model.param "embed" : !model.tensor<[50, 8], f32>
  %w = model.param "out" : !model.tensor<[50, 8], f32>
  %x = model.embedding %ids in %e : (!model.tensor<[B, T], i64>, !model.tensor<[50, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %y = model.windows %x size [1] stride [1] dilation [1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32> loc(fused<"$.body[2]">["model.json":4:3])
  %logits = model.linear %y, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[50, 8], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}

// -----

// CHECK: "$.body[2]: forgetful has no rule for the step axis"
// CHECK-NOT: @step
// WHY: model.json:5:3{{.*}}: remark: no cached step
// WHY: note: forgetful has no rule for the step axis
// ERROR: model.json:5:3{{.*}}: error: no cached step
// ERROR: note: forgetful has no rule for the step axis
module attributes {model.generate = {tokens = "ids", logits = "logits"}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}) -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %e = model.param "embed" : !model.tensor<[50, 8], f32>
  %w = model.param "out" : !model.tensor<[50, 8], f32>
  %x = model.embedding %ids in %e : (!model.tensor<[B, T], i64>, !model.tensor<[50, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %y = "test.forgetful"(%x) : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32> loc(fused<"$.body[2]">["model.json":5:3])
  %logits = model.linear %y, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[50, 8], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}
