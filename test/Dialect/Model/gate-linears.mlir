// RUN: heddle-opt %s --model-fuse-elementwise --model-gate-linears | FileCheck %s

// Two experts: the gate of each is an extra of its linears, made in front of them. The last linear adds both, and keeps its own gate
// apart from that of the other.
// CHECK-LABEL: func.func @run
// CHECK: %[[G:.+]] = model.top_k
// CHECK-DAG: %[[G0:.+]] = model.slice %[[G]] axis 2 from "0" to "1"
// CHECK-DAG: %[[G1:.+]] = model.slice %[[G]] axis 2 from "1" to "2"
// CHECK: %[[H0:.+]] = model.linear %{{.+}}, %{{.+}} with %[[G0]] :
// CHECK: ^bb0(%[[SUM:.+]]: f32, %[[GATE:.+]]: f32):
// CHECK: %[[OPEN:.+]] = arith.cmpf une, %[[GATE]],
// CHECK: %[[KEPT:.+]] = arith.select %[[OPEN]], %[[SUM]],
// CHECK: model.function silu %[[KEPT]]
// CHECK: %[[Y0:.+]] = model.linear %[[H0]], %{{.+}} with %[[G0]] :
// CHECK: %[[H1:.+]] = model.linear %{{.+}}, %{{.+}} with %[[G1]] :
// CHECK: model.linear %[[H1]], %{{.+}} with %[[G0]], %[[Y0]], %[[G1]], %[[G1]] :
// CHECK: arith.select
!x = !model.tensor<[B, T, 8], f32>
!h = !model.tensor<[B, T, 6], f32>
!g = !model.tensor<[B, T, 2], f32>
!one = !model.tensor<[B, T, 1], f32>
func.func @run(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %wr = model.param "wr" : !model.tensor<[2, 8], f32>
  %r = model.linear %x, %wr : (!x, !model.tensor<[2, 8], f32>) -> !g
  %g = model.top_k %r k 1 fill 0.0 : (!g) -> !g
  %u0 = model.param "u0" : !model.tensor<[6, 8], f32>
  %d0 = model.param "d0" : !model.tensor<[8, 6], f32>
  %a0 = model.linear %x, %u0 : (!x, !model.tensor<[6, 8], f32>) -> !h
  %s0 = model.unary silu %a0 : (!h) -> !h
  %y0 = model.linear %s0, %d0 : (!h, !model.tensor<[8, 6], f32>) -> !x
  %g0 = model.slice %g axis 2 from "0" to "1" : (!g) -> !one
  %p0 = model.binary mul %g0, %y0 : (!one, !x) -> !x
  %u1 = model.param "u1" : !model.tensor<[6, 8], f32>
  %d1 = model.param "d1" : !model.tensor<[8, 6], f32>
  %a1 = model.linear %x, %u1 : (!x, !model.tensor<[6, 8], f32>) -> !h
  %s1 = model.unary silu %a1 : (!h) -> !h
  %y1 = model.linear %s1, %d1 : (!h, !model.tensor<[8, 6], f32>) -> !x
  %g1 = model.slice %g axis 2 from "1" to "2" : (!g) -> !one
  %p1 = model.binary mul %g1, %y1 : (!one, !x) -> !x
  %y = model.binary add %p0, %p1 : (!x, !x) -> !x
  return %y : !x
}

// Not gated: a gate that nothing has chosen, and a linear that another op reads, too.
// CHECK-LABEL: func.func @other
// CHECK-NOT: arith.select
// CHECK: return
func.func @other(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}, !x {model.name = "z"}) {
  %wr = model.param "wr" : !model.tensor<[2, 8], f32>
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %r = model.linear %x, %wr : (!x, !model.tensor<[2, 8], f32>) -> !g
  %a = model.linear %x, %w : (!x, !model.tensor<[8, 8], f32>) -> !x
  %g0 = model.slice %r axis 2 from "0" to "1" : (!g) -> !one
  %y = model.binary mul %g0, %a : (!one, !x) -> !x
  %c = model.top_k %r k 1 fill 0.0 : (!g) -> !g
  %b = model.linear %x, %w : (!x, !model.tensor<[8, 8], f32>) -> !x
  %g1 = model.slice %c axis 2 from "1" to "2" : (!g) -> !one
  %p = model.binary mul %g1, %b : (!one, !x) -> !x
  %z = model.binary add %p, %b : (!x, !x) -> !x
  return %y, %z : !x, !x
}
