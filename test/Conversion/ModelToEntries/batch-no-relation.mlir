// An op that says nothing of its rows may let texts of a batch reach each other: there is no @batch, and its name says why.
// RUN: heddle-opt --allow-unregistered-dialect --model-derive-batch=slots=auto %s 2>&1 | FileCheck %s
// RUN: not heddle-opt --allow-unregistered-dialect --model-derive-batch=slots=require %s 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: model.json:5:3{{.*}}: remark: no slots, texts are served one after another: forgetful has no rule for the rows of the batch
// CHECK: func.func @step
// CHECK-NOT: @batch
// ERROR: model.json:5:3{{.*}}: error: no slots, texts are served one after another: forgetful has no rule for the rows of the batch
module attributes {model.generate = {tokens = "ids", logits = "logits"}} {
func.func @step(%ids: !model.tensor<[B, new], i64> {model.name = "ids"}) -> (!model.tensor<[B, new, 50], f32> {model.name = "logits"}) {
  %e = model.param "embed" : !model.tensor<[50, 8], f32>
  %w = model.param "out" : !model.tensor<[50, 8], f32>
  %x = model.embedding %ids in %e : (!model.tensor<[B, new], i64>, !model.tensor<[50, 8], f32>) -> !model.tensor<[B, new, 8], f32>
  %y = "test.forgetful"(%x) : (!model.tensor<[B, new, 8], f32>) -> !model.tensor<[B, new, 8], f32> loc(fused<"$.body[2]">["model.json":5:3])
  %logits = model.linear %y, %w : (!model.tensor<[B, new, 8], f32>, !model.tensor<[50, 8], f32>) -> !model.tensor<[B, new, 50], f32>
  return %logits : !model.tensor<[B, new, 50], f32>
}
}
