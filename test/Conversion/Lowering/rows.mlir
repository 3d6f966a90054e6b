// RUN: %loops %s | FileCheck %s

// Rows that are no padding are listed by one thread, for whom all others wait; their number is a length from there on. Rows
// move up in order, and down from the last, each thread in columns of its own, so nobody waits between rows.
!mask = !model.tensor<[B, T], i64>
!x = !model.tensor<[B, T, 40], f32>
!list = !model.tensor<[live], i64>
!packed = !model.tensor<[1, live, 40], f32>
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: if tid == 0
// CHECK-NEXT: | for i = 0 to B*T, 1 from 0
// CHECK-NEXT: | | arena[64][i0] = i
// CHECK-NEXT: | | n0 := select(m[i] != 0, 1, 0)
// CHECK-NEXT: | | i0 <- n0 + i0
// CHECK-NEXT: | arena[0] = i0
// CHECK-NEXT: barrier
// CHECK-NEXT: n1 := ((3*tid + 3)/nth)
// CHECK-NEXT: if 16*(3*tid/nth) < min(16*n1, 40)
// CHECK-NEXT: | for i = 0 to arena[0]
// CHECK-NEXT: | | n2 := ((min(16*n1, 40) - 16*(3*tid/nth))/16)
// CHECK-NEXT: | | for j = 0 to 16*n2 step 16
// CHECK-NEXT: | | | y[16*(3*tid/nth) + 40*i + j : 16] = x[16*(3*tid/nth) + 40*arena[64][i] + j : 16]
// CHECK-NEXT: | | for j = 16*n2 to min(16*n1, 40) - 16*(3*tid/nth) step 16
// CHECK-NEXT: | | | y[16*(3*tid/nth) + 40*i + j : min(16, min(16*n1, 40) - 16*(3*tid/nth) - j)] = x[16*(3*tid/nth) + 40*arena[64][i] + j : min(16, min(16*n1, 40) - 16*(3*tid/nth) - j)]
// CHECK-NEXT: barrier
// CHECK-NEXT: n3 := ((40*arena[0] + 4095)/4096)
// CHECK-NEXT: for i = share(n3)
// CHECK-NEXT: | n4 := min(40*arena[0] - 4096*(i%n3), 4096)
// CHECK-NEXT: | for j = 0 to 16*(n4/16) step 16
// CHECK-NEXT: | | y[4096*(i%n3) + 40*(i/n3)*arena[0] + j : 16] = negf(y[4096*(i%n3) + j : 16])
// CHECK-NEXT: | for j = 16*(n4/16) to n4 step 16
// CHECK-NEXT: | | y[4096*(i%n3) + 40*(i/n3)*arena[0] + j : min(16, n4 - j)] = negf(y[4096*(i%n3) + j : min(16, n4 - j)])
// CHECK-NEXT: barrier
// CHECK-NEXT: if not (arena[0] == B*T)
// CHECK-NEXT: | if 16*(3*tid/nth) < min(16*n1, 40)
// CHECK-NEXT: | | for i = 0 to B*T, 1 from arena[0]
// CHECK-NEXT: | | | n5 := arena[64][max(0, i0' - 1)]
// CHECK-NEXT: | | | if (i0' > 0) & (n5 == B*T - i - 1)
// CHECK-NEXT: | | | | for j = 0 to 16*n2 step 16
// CHECK-NEXT: | | | | | y[16*(3*tid/nth) + 40*B*T + j - 40*i - 40 : 16] = y[16*(3*tid/nth) + 40*i0' + j - 40 : 16]
// CHECK-NEXT: | | | | for j = 16*n2 to min(16*n1, 40) - 16*(3*tid/nth) step 16
// CHECK-NEXT: | | | | | y[16*(3*tid/nth) + 40*B*T + j - 40*i - 40 : min(16, min(16*n1, 40) - 16*(3*tid/nth) - j)] = y[16*(3*tid/nth) + 40*i0' + j - 40 : min(16, min(16*n1, 40) - 16*(3*tid/nth) - j)]
// CHECK-NEXT: | | | else
// CHECK-NEXT: | | | | for j = 0 to 16*n2 step 16
// CHECK-NEXT: | | | | | y[16*(3*tid/nth) + 40*B*T + j - 40*i - 40 : 16] = 0
// CHECK-NEXT: | | | | for j = 16*n2 to min(16*n1, 40) - 16*(3*tid/nth) step 16
// CHECK-NEXT: | | | | | y[16*(3*tid/nth) + 40*B*T + j - 40*i - 40 : min(16, min(16*n1, 40) - 16*(3*tid/nth) - j)] = 0
// CHECK-NEXT: | | | n6 := select((i0' > 0) & (n5 == B*T - i - 1), i0' - 1, i0')
// CHECK-NEXT: | | | i0' <- n6
// CHECK-NEXT: | barrier
func.func @run(%x: !x {model.name = "x"}, %m: !mask {model.name = "m"}) -> (!x {model.name = "y"}) {
  %rows = model.live_rows %m as "live" : (!mask) -> !list
  %p = model.pack_rows %x at %rows : (!x, !list) -> !packed
  %n = model.unary neg %p : (!packed) -> !packed
  %y = model.unpack_rows %n at %rows : (!packed, !list) -> !x
  return %y : !x
}
