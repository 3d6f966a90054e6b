// RUN: heddle-opt %s --model-plan-schedules --model-plan-memory | FileCheck %s

// Every thread reads how many rows are live when it comes there, so nothing else may be written in that place: each
// list keeps its own to the end, and the arena has room for both.
// CHECK-DAG: [[ONE:#arena[0-9]*]] = #model.place<arena, "0">
// CHECK-DAG: [[OTHER:#arena[0-9]*]] = #model.place<arena, "64*((B*T+7)//8)+64">
// CHECK-DAG: [[FIRST:#slot[0-9]*]] = {{\[}}[[ONE]], {begin = 0 : i64, bytes = "64", end = 9223372036854775807 : i64
// CHECK-DAG: [[SECOND:#slot[0-9]*]] = {{\[}}[[OTHER]], {begin = 1 : i64, bytes = "64", end = 9223372036854775807 : i64
// CHECK: func.func @run({{.*}}model.arena = "128*((B*T+7)//8)+192"
// CHECK: model.live_rows %{{.+}} as "live" {{.*}}model.scratch = [[FIRST]]}
// CHECK: model.live_rows %{{.+}} as "live1" {{.*}}model.scratch = [[SECOND]]}
func.func @run(%a: !model.tensor<[B, T], i64> {model.name = "a"}, %b: !model.tensor<[B, T], i64> {model.name = "b"}, %x: !model.tensor<[B, T, 4], f32> {model.name = "x"})
    -> (!model.tensor<[B, T, 4], f32> {model.name = "y"}, !model.tensor<[B, T, 4], f32> {model.name = "z"}) {
  %l = model.live_rows %a as "live" : (!model.tensor<[B, T], i64>) -> !model.tensor<[live], i64>
  %m = model.live_rows %b as "live1" : (!model.tensor<[B, T], i64>) -> !model.tensor<[live1], i64>
  %p = model.pack_rows %x at %l : (!model.tensor<[B, T, 4], f32>, !model.tensor<[live], i64>) -> !model.tensor<[1, live, 4], f32>
  %q = model.pack_rows %x at %m : (!model.tensor<[B, T, 4], f32>, !model.tensor<[live1], i64>) -> !model.tensor<[1, live1, 4], f32>
  %y = model.unpack_rows %p at %l : (!model.tensor<[1, live, 4], f32>, !model.tensor<[live], i64>) -> !model.tensor<[B, T, 4], f32>
  %z = model.unpack_rows %q at %m : (!model.tensor<[1, live1, 4], f32>, !model.tensor<[live1], i64>) -> !model.tensor<[B, T, 4], f32>
  return %y, %z : !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>
}
