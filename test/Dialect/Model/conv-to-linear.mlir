// A convolution becomes a linear over windows of its padded operand; a group of 16 or more results is a linear of its own;
// smaller groups stay.
// RUN: heddle-opt %s --model-conv-to-linear | FileCheck %s

// CHECK-LABEL: func.func @run
func.func @run(%x: !model.tensor<[B, L, 4], f32>) {
  %w = model.param "w" : !model.tensor<[6, 4, 3], f32>
  %b = model.param "b" : !model.tensor<[6], f32>
  // CHECK: %[[P:.+]] = model.pad %{{.+}} axis 1 before "1" after "2" value 0.0
  // CHECK: %[[R:.+]] = model.windows %[[P]] size [3] stride [2] dilation [1] : ({{.*}}) -> !B_L_2_1_12_f
  // CHECK: model.linear %[[R]], %{{.+}} bias %{{.+}} filter : ({{.*}}) -> !B_L_2_1_6_f
  %y = model.conv %x, %w bias %b stride [2] dilation [1] padding [1, 2] : (!model.tensor<[B, L, 4], f32>, !model.tensor<[6, 4, 3], f32>, !model.tensor<[6], f32>) -> !model.tensor<[B, "L//2+1", 6], f32>
  return
}

// Patches of a picture: taps of both axes in row-major order.
// CHECK-LABEL: func.func @patches
func.func @patches(%x: !model.tensor<[B, 8, 8, 3], f32>) {
  %w = model.param "w" : !model.tensor<[6, 3, 4, 4], f32>
  // CHECK-NOT: model.pad
  // CHECK: model.windows %{{.+}} size [4, 4] stride [4, 4] dilation [1, 1] : ({{.*}}) -> !B_2_2_48_f
  // CHECK: model.linear {{.*}} filter : ({{.*}}) -> !B_2_2_6_f
  %y = model.conv %x, %w stride [4, 4] dilation [1, 1] padding [0, 0, 0, 0] : (!model.tensor<[B, 8, 8, 3], f32>, !model.tensor<[6, 3, 4, 4], f32>) -> !model.tensor<[B, 2, 2, 6], f32>
  return
}

// CHECK-LABEL: func.func @groups
func.func @groups(%x: !model.tensor<[B, L, 8], f32>) {
  %w = model.param "w" : !model.tensor<[32, 4, 3], f32>
  // CHECK: %[[A:.+]] = model.slice %{{.+}} axis 2 from "0" to "4"
  // CHECK: %[[AW:.+]] = model.windows %[[A]] size [3]
  // CHECK: %[[AY:.+]] = model.linear %[[AW]], %{{.+}} filter parts [1, 1] groups 1 {part = 0 : i64}
  // CHECK: %[[C:.+]] = model.slice %{{.+}} axis 2 from "4" to "8"
  // CHECK: %[[CW:.+]] = model.windows %[[C]] size [3]
  // CHECK: %[[CY:.+]] = model.linear %[[CW]], %{{.+}} filter parts [1, 1] groups 1 {part = 1 : i64}
  // CHECK: model.concat %[[AY]], %[[CY]] axis 2
  %y = model.conv %x, %w stride [1] dilation [1] padding [0, 0] groups 2 : (!model.tensor<[B, L, 8], f32>, !model.tensor<[32, 4, 3], f32>) -> !model.tensor<[B, "L-2", 32], f32>
  return
}

// CHECK-LABEL: func.func @depthwise
func.func @depthwise(%x: !model.tensor<[B, L, 8], f32>) {
  %w = model.param "w" : !model.tensor<[8, 1, 3], f32>
  // CHECK: model.conv
  %y = model.conv %x, %w stride [1] dilation [1] padding [1, 1] groups 8 : (!model.tensor<[B, L, 8], f32>, !model.tensor<[8, 1, 3], f32>) -> !model.tensor<[B, L, 8], f32>
  return
}

// A weight that is no parameter is made a matrix.
// CHECK-LABEL: func.func @computed
func.func @computed(%x: !model.tensor<[B, L, 4], f32>, %w: !model.tensor<[6, 4, 3], f32>) {
  // CHECK: %[[M:.+]] = model.rearrange %{{.+}} "m c k2 -> m (k2 c)"
  // CHECK: model.linear {{.*}}, %[[M]] :
  %y = model.conv %x, %w stride [1] dilation [1] padding [0, 0] : (!model.tensor<[B, L, 4], f32>, !model.tensor<[6, 4, 3], f32>) -> !model.tensor<[B, "L-2", 6], f32>
  return
}
