// RUN: heddle-opt %s --model-slice-parameters | FileCheck %s

// The matrix of one expert is a parameter of its own where linears alone read it, as their weight or bias.
!x = !model.tensor<[n, 4], f32>
!y = !model.tensor<[n, 6], f32>
!stack = !model.tensor<[3, 6, 4], f32>
!rows = !model.tensor<[3, 6], f32>
module {
  // CHECK-LABEL: func.func @experts
  func.func @experts(%x: !x) -> (!y, !y) {
    // CHECK-NOT: "experts" :
    // CHECK: %[[W:.*]] = model.param "experts[1]" : !_6_4_f
    // CHECK: %[[B:.*]] = model.param "biases[1]" : !_6_f
    // CHECK: model.linear %{{.*}}, %[[W]] bias %[[B]]
    %w = model.param "experts" : !stack
    %b = model.param "biases" : !rows
    %w1 = model.slice %w axis 0 from "1" to "2" : (!stack) -> !model.tensor<[1, 6, 4], f32>
    %m1 = model.squeeze %w1 axis 0 : (!model.tensor<[1, 6, 4], f32>) -> !model.tensor<[6, 4], f32>
    %b1 = model.slice %b axis 0 from "1" to "2" : (!rows) -> !model.tensor<[1, 6], f32>
    %v1 = model.squeeze %b1 axis 0 : (!model.tensor<[1, 6], f32>) -> !model.tensor<[6], f32>
    %y = model.linear %x, %m1 bias %v1 : (!x, !model.tensor<[6, 4], f32>, !model.tensor<[6], f32>) -> !y
    // CHECK: %[[LAST:.*]] = model.param "experts[2]" : !_6_4_f
    // CHECK: model.linear %{{.*}}, %[[LAST]] :
    %w2 = model.slice %w axis 0 from "2" to "3" : (!stack) -> !model.tensor<[1, 6, 4], f32>
    %m2 = model.squeeze %w2 axis 0 : (!model.tensor<[1, 6, 4], f32>) -> !model.tensor<[6, 4], f32>
    %z = model.linear %x, %m2 : (!x, !model.tensor<[6, 4], f32>) -> !y
    return %y, %z : !y, !y
  }

  // In layers the place of their index stays.
  // CHECK-LABEL: func.func @layers
  func.func @layers(%x: !model.tensor<[n, 4], f32>) -> !model.tensor<[n, 4], f32> {
    // CHECK: model.param "layers.{0}.experts[0]"[%{{.*}}] : !_4_4_f
    %y = model.repeat 2 iter(%x) : (!x) -> !x {
    ^bb0(%i: index, %h: !x):
      %w = model.param "layers.{0}.experts"[%i] : !model.tensor<[3, 4, 4], f32>
      %w0 = model.slice %w axis 0 from "0" to "1" : (!model.tensor<[3, 4, 4], f32>) -> !model.tensor<[1, 4, 4], f32>
      %m = model.squeeze %w0 axis 0 : (!model.tensor<[1, 4, 4], f32>) -> !model.tensor<[4, 4], f32>
      %r = model.linear %h, %m : (!x, !model.tensor<[4, 4], f32>) -> !x
      model.yield %r : !x
    }
    return %y : !x
  }

  // Two elements at once, one along another axis, and one that something else reads stay slices.
  // CHECK-LABEL: func.func @others
  func.func @others(%x: !x) -> (!y, !model.tensor<[2, 6, 4], f32>, !model.tensor<[3, 4], f32>) {
    // CHECK: %[[ALL:.*]] = model.param "experts" : !_3_6_4_f
    // CHECK-COUNT-3: model.slice %[[ALL]]
    %w = model.param "experts" : !stack
    %two = model.slice %w axis 0 from "0" to "2" : (!stack) -> !model.tensor<[2, 6, 4], f32>
    %row = model.slice %w axis 1 from "0" to "1" : (!stack) -> !model.tensor<[3, 1, 4], f32>
    %line = model.squeeze %row axis 1 : (!model.tensor<[3, 1, 4], f32>) -> !model.tensor<[3, 4], f32>
    %w0 = model.slice %w axis 0 from "0" to "1" : (!stack) -> !model.tensor<[1, 6, 4], f32>
    %m = model.squeeze %w0 axis 0 : (!model.tensor<[1, 6, 4], f32>) -> !model.tensor<[6, 4], f32>
    %twice = model.binary add %m, %m : (!model.tensor<[6, 4], f32>, !model.tensor<[6, 4], f32>) -> !model.tensor<[6, 4], f32>
    %y = model.linear %x, %m : (!x, !model.tensor<[6, 4], f32>) -> !y
    return %y, %two, %line : !y, !model.tensor<[2, 6, 4], f32>, !model.tensor<[3, 4], f32>
  }
}
