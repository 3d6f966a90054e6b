// An input along T with a default and no role: the cached step takes the default. It is said; with a role it is not.
// RUN: heddle-opt --split-input-file --verify-diagnostics --model-derive-entries %s

module attributes {model.generate = {tokens = "ids", logits = "logits"}} {
// expected-warning@+1 {{the input 'kind' has the axis T and `generate` gives it no role: while text is generated its default stands for it, whatever was given for the prompt; `extend` says what a new token takes}}
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}, %kind: !model.tensor<[B, T], i64> {model.name = "kind", model.default})
    -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %k = model.default %kind : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %zero = model.constant dense<0> : tensor<i64> : !model.tensor<[], i64>
    model.yield %zero : !model.tensor<[], i64>
  }
  %w = model.param "words" : !model.tensor<[50, 24], f32>
  %u = model.param "kinds" : !model.tensor<[2, 24], f32>
  %e = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %f = model.embedding %k in %u : (!model.tensor<[B, T], i64>, !model.tensor<[2, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %x = model.binary add %e, %f : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %logits = model.linear %x, %w : (!model.tensor<[B, T, 24], f32>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}

// -----

module attributes {model.generate = {tokens = "ids", logits = "logits", extend = {kind = 0 : i64}}} {
func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}, %kind: !model.tensor<[B, T], i64> {model.name = "kind", model.default})
    -> (!model.tensor<[B, T, 50], f32> {model.name = "logits"}) {
  %k = model.default %kind : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %zero = model.constant dense<0> : tensor<i64> : !model.tensor<[], i64>
    model.yield %zero : !model.tensor<[], i64>
  }
  %w = model.param "words" : !model.tensor<[50, 24], f32>
  %u = model.param "kinds" : !model.tensor<[2, 24], f32>
  %e = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %f = model.embedding %k in %u : (!model.tensor<[B, T], i64>, !model.tensor<[2, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %x = model.binary add %e, %f : (!model.tensor<[B, T, 24], f32>, !model.tensor<[B, T, 24], f32>) -> !model.tensor<[B, T, 24], f32>
  %logits = model.linear %x, %w : (!model.tensor<[B, T, 24], f32>, !model.tensor<[50, 24], f32>) -> !model.tensor<[B, T, 50], f32>
  return %logits : !model.tensor<[B, T, 50], f32>
}
}
