// RUN: %loops %s | FileCheck %s

// States that are no cache of attention: an append writes its rows behind the past ones, then the result takes all rows,
// element by element, since the capacity between them is not its own.
!state = !model.state<[3, B, capacity, 8], f32>
!rows = !model.tensor<[B, new, 8], f32>
!seen = !model.tensor<[B, "new+past", 8], f32>
// CHECK-LABEL: heddle_entry_append:
// CHECK-NEXT: for i = share(B*new)
// CHECK-NEXT: | s[8*(i%new) + 8*(i/new)*capacity + 16*B*capacity + 8*past : min(16, 8)] = x[8*i : min(16, 8)]
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = share(B*new + B*past)
// CHECK-NEXT: | y[8*i : min(16, 8)] = s[8*(i%(new + past)) + 8*(i/(new + past))*capacity + 16*B*capacity : min(16, 8)]
// CHECK-NEXT: barrier
func.func @append(%s: !state {model.state = "s"}, %x: !rows {model.name = "x"}) -> (!seen {model.name = "y"}) {
  %i = arith.constant 2 : index
  %y = model.append %s[%i], %x axis 1 : !state, !rows -> !seen
  return %y : !seen
}

// A whole part of a state, in and out.
!kept = !model.state<[3, B, 8], f32>
!part = !model.tensor<[B, 8], f32>
// CHECK-LABEL: heddle_entry_store:
// CHECK-NEXT: n0 := ((8*B + 4095)/4096)
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | n1 := min(4096, 8*B - 4096*i)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | s[8*B + 4096*i + j : 16] = x[4096*i + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | s[8*B + 4096*i + j : min(16, n1 - j)] = x[4096*i + j : min(16, n1 - j)]
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*i + j : 16] = s[8*B + 4096*i + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*i + j : min(16, n1 - j)] = s[8*B + 4096*i + j : min(16, n1 - j)]
// CHECK-NEXT: barrier
func.func @store(%s: !kept {model.state = "s"}, %x: !part {model.name = "x"}) -> (!part {model.name = "y"}) {
  %i = arith.constant 1 : index
  model.store %x in %s[%i] : !part, !kept
  %y = model.load %s[%i] : !kept -> !part
  return %y : !part
}
