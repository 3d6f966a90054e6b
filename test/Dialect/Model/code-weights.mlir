// Which parameters become codes: large matrices of linears and tables of tokens, the output product always in 8 bits.
// RUN: heddle-opt %s --model-code-weights="bits=4 group=32" | FileCheck %s
// RUN: heddle-opt %s --model-code-weights="bits=4 group=32 keep=l.0.in,embed" | FileCheck %s --check-prefix=KEEP
// RUN: heddle-opt %s --model-code-weights="bits=8 group=0" | FileCheck %s --check-prefix=CHANNEL
// RUN: heddle-opt %s --model-code-weights | FileCheck %s --check-prefix=NONE
// RUN: not heddle-opt %s --model-code-weights="bits=8 keep=nothing" 2>&1 | FileCheck %s --check-prefix=NOTHING
// NONE-NOT: coded
// NOTHING: error: no matrix that would become codes has the name 'nothing'; a parameter of a repeat is named as in its first layer

// CHECK-LABEL: func.func @run
func.func @run(%ids: !model.tensor<[B, T], i64>, %places: !model.tensor<[B, T], i64> {model.default}) {
  // CHECK: model.param "embed" {coded = #model.coded<bits = 4, group = 32, scale = f16, from = "search">}
  // CHANNEL: model.param "embed" {coded = #model.coded<bits = 8, group = 96, scale = f16, from = "search">}
  // KEEP: model.param "embed" :
  %embed = model.param "embed" : !model.tensor<[500, 96], f32>
  %x = model.embedding %ids in %embed : (!model.tensor<[B, T], i64>, !model.tensor<[500, 96], f32>) -> !model.tensor<[B, T, 96], f32>
  // Places and types have a default.
  // CHECK: model.param "places" :
  %table = model.param "places" : !model.tensor<[512, 96], f32>
  %p = model.embedding %places in %table : (!model.tensor<[B, T], i64>, !model.tensor<[512, 96], f32>) -> !model.tensor<[B, T, 96], f32>
  %h = model.binary add %x, %p : (!model.tensor<[B, T, 96], f32>, !model.tensor<[B, T, 96], f32>) -> !model.tensor<[B, T, 96], f32>
  %y = model.repeat 2 iter(%h) : (!model.tensor<[B, T, 96], f32>) -> !model.tensor<[B, T, 96], f32> {
  ^bb0(%i: index, %a: !model.tensor<[B, T, 96], f32>):
    // CHECK: model.param "l.{0}.in"[%{{.+}}] {coded = #model.coded<bits = 4, group = 32, scale = f16, in_out = true, from = "search">}
    // KEEP: model.param "l.{0}.in"[%{{.+}}] :
    %in = model.param "l.{0}.in"[%i] : !model.tensor<[96, 128], f32>
    %bias = model.param "l.{0}.bias"[%i] : !model.tensor<[128], f32>
    %u = model.linear %a, %in bias %bias in_out : (!model.tensor<[B, T, 96], f32>, !model.tensor<[96, 128], f32>, !model.tensor<[128], f32>) -> !model.tensor<[B, T, 128], f32>
    // Experts are chosen by a matrix that stays.
    // CHECK: model.param "l.{0}.router"[%{{.+}}] :
    %router = model.param "l.{0}.router"[%i] : !model.tensor<[64, 128], f32>
    %r = model.linear %u, %router : (!model.tensor<[B, T, 128], f32>, !model.tensor<[64, 128], f32>) -> !model.tensor<[B, T, 64], f32>
    %s = model.softmax %r axis 2 : (!model.tensor<[B, T, 64], f32>) -> !model.tensor<[B, T, 64], f32>
    %k = model.top_k %s k 2 fill 0.0 : (!model.tensor<[B, T, 64], f32>) -> !model.tensor<[B, T, 64], f32>
    // 24 results are too few; 64 features are enough, and one group of 64 where 128 are asked for.
    // CHECK: model.param "l.{0}.few"[%{{.+}}] :
    %few = model.param "l.{0}.few"[%i] : !model.tensor<[24, 64], f32>
    %f = model.linear %k, %few : (!model.tensor<[B, T, 64], f32>, !model.tensor<[24, 64], f32>) -> !model.tensor<[B, T, 24], f32>
    // CHECK: model.param "l.{0}.out"[%{{.+}}] {coded = #model.coded<bits = 4, group = 32, scale = f16, from = "search">}
    // CHANNEL: model.param "l.{0}.out"[%{{.+}}] {coded = #model.coded<bits = 8, group = 64, scale = f16, from = "search">}
    %out = model.param "l.{0}.out"[%i] : !model.tensor<[96, 64], f32>
    %o = model.linear %k, %out : (!model.tensor<[B, T, 64], f32>, !model.tensor<[96, 64], f32>) -> !model.tensor<[B, T, 96], f32>
    model.yield %o : !model.tensor<[B, T, 96], f32>
  }
  // As many results as there are tokens: 8 bits in groups of 32.
  // CHECK: model.param "head" {coded = #model.coded<bits = 8, group = 32, scale = f16, from = "search">}
  // CHANNEL: model.param "head" {coded = #model.coded<bits = 8, group = 32, scale = f16, from = "search">}
  %head = model.param "head" : !model.tensor<[500, 96], f32>
  %logits = model.linear %y, %head : (!model.tensor<[B, T, 96], f32>, !model.tensor<[500, 96], f32>) -> !model.tensor<[B, T, 500], f32>
  return
}

// A table that is the output product, too, has its 8 bits; what something else reads stays.
// CHECK-LABEL: func.func @tied
func.func @tied(%ids: !model.tensor<[B, T], i64>) {
  // CHECK: model.param "tied" {coded = #model.coded<bits = 8, group = 32, scale = f16, from = "search">}
  %embed = model.param "tied" : !model.tensor<[500, 96], f32>
  %x = model.embedding %ids in %embed : (!model.tensor<[B, T], i64>, !model.tensor<[500, 96], f32>) -> !model.tensor<[B, T, 96], f32>
  // CHECK: model.param "shared" :
  %shared = model.param "shared" : !model.tensor<[96, 96], f32>
  %y = model.linear %x, %shared : (!model.tensor<[B, T, 96], f32>, !model.tensor<[96, 96], f32>) -> !model.tensor<[B, T, 96], f32>
  %z = model.unary neg %shared : (!model.tensor<[96, 96], f32>) -> !model.tensor<[96, 96], f32>
  %l = model.linear %x, %embed : (!model.tensor<[B, T, 96], f32>, !model.tensor<[500, 96], f32>) -> !model.tensor<[B, T, 500], f32>
  return
}
