// How parameters are stored: packed for a linear, twice for two ways to read them, as in the file where no linear does.
// RUN: heddle-opt %s --model-plan-parameters --remarks-filter='layout.panels' -o /dev/null 2>&1 | FileCheck %s

!x = !model.tensor<[B, 12], f32>
!w = !model.tensor<[12, 12], f32>

// CHECK-DAG: [Passed] layout.panels {{.*}}one is packed in panels of 32, 1536 bytes
// CHECK-DAG: [Analysis] layout.panels {{.*}}two is stored 2 times{{.*}}bytes=3072, copies=2
// CHECK-DAG: [Missed] layout.panels {{.*}}three is stored as in its file: no linear multiplies by it{{.*}}bytes=576
func.func @run(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}, !w {model.name = "z"}) {
  %one = model.param "one" : !w
  %two = model.param "two" : !w
  %three = model.param "three" : !w
  %a = model.linear %x, %one : (!x, !w) -> !x
  %b = model.linear %a, %two : (!x, !w) -> !x
  %y = model.linear %b, %two in_out : (!x, !w) -> !x
  %z = model.unary neg %three : (!w) -> !w
  return %y, %z : !x, !w
}
