// RUN: heddle-opt %s --model-fuse-elementwise | FileCheck %s

// A chain becomes one map, its constant moves inside, and the linear before it takes it in:
// bias, activation and residual leave with the sums.
// CHECK-LABEL: func.func @run
// CHECK-SAME: %[[X:[^:]+]]: !B_T_12_f
// CHECK-NOT: model.unary
// CHECK-NOT: model.constant
// CHECK: %[[Y:.+]] = model.linear %[[X]], %{{.+}} bias %{{.+}} with %[[X]]
// CHECK: ^bb0(%[[ACC:.+]]: f32, %[[RES:.+]]: f32):
// CHECK: model.function gelu %[[ACC]]
// CHECK: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: arith.mulf %{{.+}}, %[[HALF]]
// CHECK: arith.addf %[[RES]],
// CHECK: model.yield
// CHECK: return %[[Y]]
func.func @run(%x: !model.tensor<[B, T, 12], f32> {model.name = "x"}) -> (!model.tensor<[B, T, 12], f32> {model.name = "y"}) {
  %w = model.param "w" : !model.tensor<[12, 12], f32>
  %b = model.param "b" : !model.tensor<[12], f32>
  %h = model.constant dense<0.5> : tensor<f64> : !model.tensor<[], f32>
  %l = model.linear %x, %w bias %b : (!model.tensor<[B, T, 12], f32>, !model.tensor<[12, 12], f32>, !model.tensor<[12], f32>) -> !model.tensor<[B, T, 12], f32>
  %g = model.unary gelu %l : (!model.tensor<[B, T, 12], f32>) -> !model.tensor<[B, T, 12], f32>
  %s = model.binary mul %g, %h : (!model.tensor<[B, T, 12], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 12], f32>
  %y = model.binary add %x, %s : (!model.tensor<[B, T, 12], f32>, !model.tensor<[B, T, 12], f32>) -> !model.tensor<[B, T, 12], f32>
  return %y : !model.tensor<[B, T, 12], f32>
}

// What two ops read stays a map of its own.
// CHECK-LABEL: func.func @shared
// CHECK: %[[N:.+]] = model.map %{{.+}} :
// CHECK: %[[E:.+]] = model.map %[[N]] :
// CHECK: return %[[N]], %[[E]]
func.func @shared(%x: !model.tensor<[B], f32> {model.name = "x"}) -> (!model.tensor<[B], f32> {model.name = "y"}, !model.tensor<[B], f32> {model.name = "z"}) {
  %n = model.unary neg %x : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  %e = model.unary exp %n : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return %n, %e : !model.tensor<[B], f32>, !model.tensor<[B], f32>
}
