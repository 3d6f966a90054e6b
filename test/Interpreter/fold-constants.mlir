// RUN: heddle-opt --model-fold-constants --split-input-file %s | FileCheck %s

// The frequencies of rope become a constant, inside the repeat too.

// CHECK-LABEL: @rope
// CHECK-NEXT: model.constant dense<[1.000000e+00, 1.000000e-01, 1.000000e-02, 1.000000e-03]> : tensor<4xf64>
// CHECK-NEXT: model.constant dense<1.000000e+00>
// CHECK-NEXT: model.range "0" to "T"
// CHECK-NEXT: model.repeat 2
// CHECK-NEXT: ^bb0
// CHECK-NEXT: model.constant dense<[5.000000e-01, 2.500000e-01, 1.250000e-01, 6.250000e-02, 3.125000e-02, 1.562500e-02, 7.812500e-03, 3.906250e-03]> : tensor<8xf64>
// CHECK-NEXT: model.rotary
// CHECK-NEXT: model.binary mul
// CHECK-NEXT: model.yield
func.func @rope(%x: !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32> {
  %r = model.range "0" to "4" : !model.tensor<[4], i64>
  %c = model.cast %r : !model.tensor<[4], i64> -> !model.tensor<[4], f32>
  %two = model.constant dense<-2.0> : tensor<f64> : !model.tensor<[], f32>
  %d = model.constant dense<8.0> : tensor<f64> : !model.tensor<[], f32>
  %base = model.constant dense<10000.0> : tensor<f64> : !model.tensor<[], f32>
  %e1 = model.binary mul %c, %two : (!model.tensor<[4], f32>, !model.tensor<[], f32>) -> !model.tensor<[4], f32>
  %e2 = model.binary div %e1, %d : (!model.tensor<[4], f32>, !model.tensor<[], f32>) -> !model.tensor<[4], f32>
  %f = model.binary pow %base, %e2 : (!model.tensor<[], f32>, !model.tensor<[4], f32>) -> !model.tensor<[4], f32>
  %amp = model.constant dense<1.0> : tensor<f64> : !model.tensor<[], f32>
  %t = model.range "0" to "T" : !model.tensor<[T], i64>
  %y = model.repeat 2 iter(%x) : (!model.tensor<[B, T, 8], f32>) -> (!model.tensor<[B, T, 8], f32>) {
  ^bb0(%i: index, %z: !model.tensor<[B, T, 8], f32>):
    %s = attn.alibi_slopes 8 : !model.tensor<[8], f32>
    %u = model.rotary %z at %t by %f amplitude %amp head_width 8 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T], i64>, !model.tensor<[4], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
    %v = model.binary mul %u, %s : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
    model.yield %v : !model.tensor<[B, T, 8], f32>
  }
  return %y : !model.tensor<[B, T, 8], f32>
}

// -----

// Integers and booleans keep their types.

// CHECK-LABEL: @kinds
// CHECK-NEXT: model.constant dense<[4, 5, 6]> : tensor<3xi64>
// CHECK-NEXT: model.constant dense<[false, true, true]> : tensor<3xi1>
// CHECK-NEXT: return
func.func @kinds() -> (!model.tensor<[3], i64>, !model.tensor<[3], i1>) {
  %r = model.range "4" to "7" : !model.tensor<[3], i64>
  %c = model.constant dense<4> : tensor<i64> : !model.tensor<[], i64>
  %b = model.compare gt %r, %c : (!model.tensor<[3], i64>, !model.tensor<[], i64>) -> !model.tensor<[3], i1>
  return %r, %b : !model.tensor<[3], i64>, !model.tensor<[3], i1>
}

// -----

// A parameter is read when the model runs, and so is what depends on it or on a dim.

// CHECK-LABEL: @stays
// CHECK-NEXT: model.constant dense<3.000000e+00>
// CHECK-NEXT: model.param "w"
// CHECK-NEXT: model.binary mul
// CHECK-NEXT: model.size "T"
// CHECK-NEXT: model.range "0" to "T"
// CHECK-NEXT: return
func.func @stays() -> (!model.tensor<[2], f32>, !model.tensor<[], i64>, !model.tensor<[T], i64>) {
  %a = model.constant dense<9.0> : tensor<f64> : !model.tensor<[], f32>
  %s = model.unary sqrt %a : (!model.tensor<[], f32>) -> !model.tensor<[], f32>
  %w = model.param "w" : !model.tensor<[2], f32>
  %y = model.binary mul %w, %s : (!model.tensor<[2], f32>, !model.tensor<[], f32>) -> !model.tensor<[2], f32>
  %n = model.size "T" : !model.tensor<[], i64>
  %r = model.range "0" to "T" : !model.tensor<[T], i64>
  return %y, %n, %r : !model.tensor<[2], f32>, !model.tensor<[], i64>, !model.tensor<[T], i64>
}

// -----

// What has no value is left for the run to report; what is large is left to be computed.

// CHECK-LABEL: @left
// CHECK: model.gather
// CHECK: model.broadcast
func.func @left() -> (!model.tensor<[1, 1], f32>, !model.tensor<[2000, 1000], f32>) {
  %x = model.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf64> : !model.tensor<[1, 2, 1], f32>
  %at = model.constant dense<[5]> : tensor<1xi64> : !model.tensor<[1], i64>
  %g = model.gather %x at %at : (!model.tensor<[1, 2, 1], f32>, !model.tensor<[1], i64>) -> !model.tensor<[1, 1], f32>
  %one = model.constant dense<1.0> : tensor<f64> : !model.tensor<[], f32>
  %b = model.broadcast %one : !model.tensor<[], f32> -> !model.tensor<[2000, 1000], f32>
  return %g, %b : !model.tensor<[1, 1], f32>, !model.tensor<[2000, 1000], f32>
}
