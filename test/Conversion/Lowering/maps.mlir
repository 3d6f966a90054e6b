// RUN: %loops %s | FileCheck %s

// Elementwise ops: the axes along which all operands move alike are one row of vectors, cut into blocks of 4096 that threads
// share; the end of a row is a masked vector of the same code. One barrier an op.
!x = !model.tensor<[T, 6], f32>
!c = !model.tensor<[T, 1], f32>

// CHECK-LABEL: heddle_entry_alike:
// CHECK-NEXT: n0 := ((6*T + 4095)/4096)
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | n1 := min(4096, 6*T - 4096*(i%n0))
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 6*(i/n0)*T + j : 16] = x[4096*(i%n0) + j : 16] - z[4096*(i%n0) + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 6*(i/n0)*T + j : min(16, n1 - j)] = x[4096*(i%n0) + j : min(16, n1 - j)] - z[4096*(i%n0) + j : min(16, n1 - j)]
// CHECK-NEXT: barrier
func.func @alike(%x: !x {model.name = "x"}, %z: !x {model.name = "z"}) -> (!x {model.name = "y"}) {
  %y = model.binary sub %x, %z : (!x, !x) -> !x
  return %y : !x
}

// An operand of another shape cuts the rows: c is read once a row, for all lanes.
// CHECK-LABEL: heddle_entry_broadcast:
// CHECK-NEXT: for i = share(T)
// CHECK-NEXT: | y[6*i : min(16, 6)] = x[6*i : min(16, 6)] + c[i]
// CHECK-NEXT: barrier
func.func @broadcast(%x: !x {model.name = "x"}, %c: !c {model.name = "c"}) -> (!x {model.name = "y"}) {
  %y = model.binary add %x, %c : (!x, !c) -> !x
  return %y : !x
}

// A chain is one op after stage `fused`; two ops here, the second in the memory of the first.
// CHECK-LABEL: heddle_entry_chain:
// CHECK-NEXT: n0 := ((6*T + 4095)/4096)
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | n1 := min(4096, 6*T - 4096*(i%n0))
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 6*(i/n0)*T + j : 16] = negf(x[4096*(i%n0) + j : 16])
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*(i%n0) + 6*(i/n0)*T + j : min(16, n1 - j)] = negf(x[4096*(i%n0) + j : min(16, n1 - j)])
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = share(T)
// CHECK-NEXT: | y[6*i : min(16, 6)] = y[6*i : min(16, 6)] * c[i]
// CHECK-NEXT: barrier
func.func @chain(%x: !x {model.name = "x"}, %c: !c {model.name = "c"}) -> (!x {model.name = "y"}) {
  %a = model.unary neg %x : (!x) -> !x
  %y = model.binary mul %a, %c : (!x, !c) -> !x
  return %y : !x
}
