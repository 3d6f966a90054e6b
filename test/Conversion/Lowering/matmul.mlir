// RUN: %loops %s | FileCheck %s

// Products of two values. Items are (matrix, 64 rows, 16 columns); a tile of 4 rows keeps a sum a row while k ascends, one
// fma a sum and step, and stores each once; then tiles of 2 rows and of 1. Columns past the end are masked lanes.
!x = !model.tensor<[B, T, 5], f32>
!w = !model.tensor<[5, 40], f32>
!y = !model.tensor<[B, T, 40], f32>

// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: for i = share(3*((T + 63)/64)*B)
// CHECK-NEXT: | n0 := (i/(3*((T + 63)/64)))
// CHECK-NEXT: | n1 := (i%(3*((T + 63)/64)))
// CHECK-NEXT: | heddle_matmul_16_4_64(x[5*n0*T], w, y[40*n0*T], T, 5, 40, 64*(n1/3), 16*(n1%3))
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_matmul_16_4_64:
// CHECK-NEXT: n0 := min(row + 64, rows)
// CHECK-NEXT: for i = row to 4*((n0 - row)/4) + row step 4
// CHECK-NEXT: | for j = 0 to depth, 4 from 0
// CHECK-NEXT: | | j0 <- fma(x[depth*i + j], w[column + columns*j : min(16, columns - column)], j0)
// CHECK-NEXT: | | j1 <- fma(x[depth + depth*i + j], w[column + columns*j : min(16, columns - column)], j1)
// CHECK-NEXT: | | j2 <- fma(x[2*depth + depth*i + j], w[column + columns*j : min(16, columns - column)], j2)
// CHECK-NEXT: | | j3 <- fma(x[3*depth + depth*i + j], w[column + columns*j : min(16, columns - column)], j3)
// CHECK-NEXT: | y[column + columns*i : min(16, columns - column)] = j0
// CHECK-NEXT: | y[column + columns + columns*i : min(16, columns - column)] = j1
// CHECK-NEXT: | y[column + 2*columns + columns*i : min(16, columns - column)] = j2
// CHECK-NEXT: | y[column + 3*columns + columns*i : min(16, columns - column)] = j3
// CHECK-NEXT: if 4*((n0 - row)/4) + row + 1 < n0
// CHECK-NEXT: | for i = 0 to depth, 2 from 0
// CHECK-NEXT: | | i0 <- fma(x[4*((n0 - row)/4)*depth + depth*row + i], w[column + columns*i : min(16, columns - column)], i0)
// CHECK-NEXT: | | i1 <- fma(x[4*((n0 - row)/4)*depth + depth + depth*row + i], w[column + columns*i : min(16, columns - column)], i1)
// CHECK-NEXT: | y[4*((n0 - row)/4)*columns + column + columns*row : min(16, columns - column)] = i0
// CHECK-NEXT: | y[4*((n0 - row)/4)*columns + column + columns + columns*row : min(16, columns - column)] = i1
// CHECK-NEXT: n1 := select(4*((n0 - row)/4) + row + 1 < n0, 4*((n0 - row)/4) + row + 2, 4*((n0 - row)/4) + row)
// CHECK-NEXT: if n1 < n0
// CHECK-NEXT: | for i = 0 to depth, 1 from 0
// CHECK-NEXT: | | i0' <- fma(x[n1*depth + i], w[column + columns*i : min(16, columns - column)], i0')
// CHECK-NEXT: | y[n1*columns + column : min(16, columns - column)] = i0'
func.func @run(%x: !x {model.name = "x"}, %w: !w {model.name = "w"}) -> (!y {model.name = "y"}) {
  %y = model.matmul %x, %w {model.schedule = #model.schedule<panel = 16, rows = 4, block = 64>} : (!x, !w) -> !y
  return %y : !y
}
