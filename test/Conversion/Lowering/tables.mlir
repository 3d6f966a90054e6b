// RUN: %loops %s | FileCheck %s

// Rows by number. A number outside of the table is the run's error; row 0 stands for it.
!ids = !model.tensor<[B, T], i64>
!y = !model.tensor<[B, T, 20], f32>

!table = !model.tensor<[9, 20], f32>
// CHECK-LABEL: heddle_entry_embedding:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | if ids[i] >=u 9
// CHECK-NEXT: | | heddle_fail(context, 257, ids[i], 9)
// CHECK-NEXT: | n0 := select(ids[i] >=u 9, 0, ids[i])
// CHECK-NEXT: | y[20*i : 16] = weights[20*n0 : 16]
// CHECK-NEXT: | y[20*i + 16 : min(16, 4)] = weights[20*n0 + 16 : min(16, 4)]
// CHECK-NEXT: barrier
func.func @embedding(%ids: !ids {model.name = "ids"}) -> (!y {model.name = "y"}) {
  %w = model.param "w" : !table
  %y = model.embedding %ids in %w : (!ids, !table) -> !y
  return %y : !y
}

// Rows of the batch element's own.
!x = !model.tensor<[B, 5, 20], f32>
!n = !model.tensor<[B, 2], i64>
!g = !model.tensor<[B, 2, 20], f32>
// CHECK-LABEL: heddle_entry_gather:
// CHECK-NEXT: for i = share(2*B)
// CHECK-NEXT: | if n[i] >=u 5
// CHECK-NEXT: | | heddle_fail(context, 513, n[i], 5)
// CHECK-NEXT: | n0 := select(n[i] >=u 5, 0, n[i])
// CHECK-NEXT: | y[20*i : 16] = x[100*(i/2) + 20*n0 : 16]
// CHECK-NEXT: | y[20*i + 16 : min(16, 4)] = x[100*(i/2) + 20*n0 + 16 : min(16, 4)]
// CHECK-NEXT: barrier
func.func @gather(%x: !x {model.name = "x"}, %n: !n {model.name = "n"}) -> (!g {model.name = "y"}) {
  %y = model.gather %x at %n : (!x, !n) -> !g
  return %y : !g
}
