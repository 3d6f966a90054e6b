// RUN: heddle-opt %s --model-plan-schedules --model-plan-memory | FileCheck %s

// The layer's residual writes over the carried value, and that is the caller's memory: nothing
// is copied. The first value is made there already.
// CHECK-DAG: #arena = #model.place<arena, "0">
// CHECK-DAG: [[OUT:#slot[0-9]*]] = [#model.place<output, 0>, {begin = 0 : i64, bytes = "48*B*T", end = 6 : i64, storage = 0 : i64}]
// CHECK-DAG: [[EXP:#slot[0-9]*]] = [#arena, {begin = 2 : i64, bytes = "48*B*T", end = 3 : i64, storage = 1 : i64}]
// CHECK-DAG: [[NEG:#slot[0-9]*]] = [#arena, {begin = 0 : i64, bytes = "48*B", end = 2 : i64, storage = 0 : i64}]
// CHECK-DAG: [[Y:#slot[0-9]*]] = [#model.place<output, 0>, {begin = 2 : i64, bytes = "48*B", end = 3 : i64, storage = 1 : i64}]
// CHECK-LABEL: func.func @run
// CHECK-SAME: model.arena = "64*((3*B*T+3)//4)+64"
// CHECK: model.unary neg %{{.+}} {{.*}}model.place = {{\[}}[[OUT]]]}
// CHECK: model.repeat 3 iter(%{{.+}}) {model.copy_back = array<i1: false>, model.copy_in = array<i1: false>, {{.*}}model.place = {{\[}}[[OUT]]]}
// CHECK: model.unary exp %{{.+}} {{.*}}model.place = {{\[}}[[EXP]]]}
// CHECK: model.binary add %{{.+}}, %{{.+}} {{.*}}model.place = {{\[}}[[OUT]]]}
// CHECK: return {model.copies = array<i1: false>}
func.func @run(%x0: !model.tensor<[B, T, 12], f32> {model.name = "x"}) -> (!model.tensor<[B, T, 12], f32> {model.name = "y"}) {
  %n = model.unary neg %x0 : (!model.tensor<[B, T, 12], f32>) -> !model.tensor<[B, T, 12], f32>
  %y = model.repeat 3 iter(%n) : (!model.tensor<[B, T, 12], f32>) -> !model.tensor<[B, T, 12], f32> {
  ^bb0(%i: index, %x: !model.tensor<[B, T, 12], f32>):
    %e = model.unary exp %x : (!model.tensor<[B, T, 12], f32>) -> !model.tensor<[B, T, 12], f32>
    %z = model.binary add %x, %e : (!model.tensor<[B, T, 12], f32>, !model.tensor<[B, T, 12], f32>) -> !model.tensor<[B, T, 12], f32>
    model.yield %z : !model.tensor<[B, T, 12], f32>
  }
  return %y : !model.tensor<[B, T, 12], f32>
}

// A linear reads all of its operand while it writes, so its result lies elsewhere although the
// residual could lie there.
// CHECK-LABEL: func.func @linear
// CHECK: model.unary neg %{{.+}} {{.*}}model.place = {{\[}}[[NEG]]]}
// CHECK: model.linear {{.*}} {{.*}}model.place = {{\[}}[[Y]]]
func.func @linear(%x0: !model.tensor<[B, 12], f32> {model.name = "x"}) -> (!model.tensor<[B, 12], f32> {model.name = "y"}) {
  %n = model.unary neg %x0 : (!model.tensor<[B, 12], f32>) -> !model.tensor<[B, 12], f32>
  %w = model.param "w" {offset = 0 : i64, strides = array<i64>, layout = #model.layout<panels 32, f32, in_out>} : !model.tensor<[12, 12], f32>
  %y = model.linear %n, %w in_out with %n : (!model.tensor<[B, 12], f32>, !model.tensor<[12, 12], f32>, !model.tensor<[B, 12], f32>) -> !model.tensor<[B, 12], f32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    model.yield %s : f32
  }
  return %y : !model.tensor<[B, 12], f32>
}
