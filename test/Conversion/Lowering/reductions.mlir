// RUN: %loops %s | FileCheck %s
// RUN: %loops %s --only=entry_softmax --names | FileCheck %s --check-prefix=LANES

// One thread makes one element of the result (of softmax: one row; of sums beside each other: a vector of them), in ascending order
// of what is reduced; one barrier an op.
!x = !model.tensor<[B, T, 40], f32>
!rows = !model.tensor<[B, 40], f32>
!best = !model.tensor<[B, T], i64>

// CHECK-LABEL: heddle_entry_mean:
// CHECK-NEXT: for i = share(3*B)
// CHECK-NEXT: | for j = 0 to T, 1 from 0
// CHECK-NEXT: | | j0 <- j0 + x[16*(i%3) + 40*(i/3)*T + 40*j : min(16, 40 - 16*(i%3))]
// CHECK-NEXT: | y[16*(i%3) + 40*(i/3) : min(16, 40 - 16*(i%3))] = j0 / T
// CHECK-NEXT: barrier
func.func @mean(%x: !x {model.name = "x"}) -> (!rows {model.name = "y"}) {
  %y = model.reduce mean %x axes [1] : (!x) -> !rows
  return %y : !rows
}

// The first of several largest: only what is larger wins.
// CHECK-LABEL: heddle_entry_argmax:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | for j = 0 to 40, 2 from -inf, 0
// CHECK-NEXT: | | j0 <- select(.., x[40*(i%T) + 40*(i/T)*T + j], j0)
// CHECK-NEXT: | | n0 := select(.., j, j1)
// CHECK-NEXT: | | j1 <- n0
// CHECK-NEXT: | y[i] = j1
// CHECK-NEXT: barrier
func.func @argmax(%x: !x {model.name = "x"}) -> (!best {model.name = "y"}) {
  %y = model.reduce argmax %x axes [2] : (!x) -> !best
  return %y : !best
}

// CHECK-LABEL: heddle_entry_cumsum:
// CHECK-NEXT: for i = share(40*B)
// CHECK-NEXT: | for j = 0 to T, 1 from 0
// CHECK-NEXT: | | y[(i%40) + 40*(i/40)*T + 40*j] = j0 + x[(i%40) + 40*(i/40)*T + 40*j]
// CHECK-NEXT: | | j0 <- j0 + x[(i%40) + 40*(i/40)*T + 40*j]
// CHECK-NEXT: barrier
func.func @cumsum(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %y = model.cumsum %x axis 1 : (!x) -> !x
  return %y : !x
}

// Along the last axis: maximum, sum of exponents (kept in y), quotients. Lanes past the end are -inf, then 0.
// LANES: | [[X:n[0-9]+]] := x[40*i + 32 : min(16, 8)] - largest(max(j0, select(lane < 8, x[40*i + 32 : min(16, 8)], -inf)))
// LANES: [[LAST:n[0-9]+]] := select(lane < 8, select([[X]] unordered {{.*}}), 0)
// LANES-NEXT: y[40*i + j : 16] = y[40*i + j : 16] / sum(j0' + [[LAST]])
// LANES-NEXT: y[40*i + 32 : min(16, 8)] = y[40*i + 32 : min(16, 8)] / sum(j0' + [[LAST]])
// CHECK-LABEL: heddle_entry_softmax:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | for j = 0 to 32 step 16, 1 from -inf
// CHECK-NEXT: | | j0 <- max(j0, x[40*i + j : 16])
// CHECK-NEXT: | for j = 0 to 32 step 16, 1 from 0
// CHECK-NEXT: | | y[40*i + j : 16] = select(.., .., ..)
// CHECK-NEXT: | | j0' <- j0' + ..
// CHECK-NEXT: | y[40*i + 32 : min(16, 8)] = select(.., .., ..)
// CHECK-NEXT: | for j = 0 to 32 step 16
// CHECK-NEXT: | | y[40*i + j : 16] = y[40*i + j : 16] / ..
// CHECK-NEXT: | y[40*i + 32 : min(16, 8)] = y[40*i + 32 : min(16, 8)] / ..
// CHECK-NEXT: barrier
func.func @softmax(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %y = model.softmax %x axis 2 : (!x) -> !x
  return %y : !x
}

// Along another axis the same, element by element.
// CHECK-LABEL: heddle_entry_softmax_rows:
// CHECK-NEXT: for i = share(40*B)
// CHECK-NEXT: | for j = 0 to T, 1 from -inf
// CHECK-NEXT: | | j0 <- max(j0, x[(i%40) + 40*(i/40)*T + 40*j])
// CHECK-NEXT: | for j = 0 to T, 1 from 0
// CHECK-NEXT: | | j0' <- j0' + ..
// CHECK-NEXT: | for j = 0 to T
// CHECK-NEXT: | | y[(i%40) + 40*(i/40)*T + 40*j] = .. / j0'
// CHECK-NEXT: barrier
func.func @softmax_rows(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %y = model.softmax %x axis 1 : (!x) -> !x
  return %y : !x
}

// The routing of experts: an element stays where fewer than 3 come before it, equal ones in the order of their index.
// CHECK-LABEL: heddle_entry_top_k:
// CHECK-NEXT: for i = share(40*B*T)
// CHECK-NEXT: | for j = 0 to (i%40), 1 from 0
// CHECK-NEXT: | | j0 <- (not ((x[40*(i/40) + j] < x[(i%40) + 40*(i/40)]) | ((x[(i%40) + 40*(i/40)] unordered x[(i%40) + 40*(i/40)]) & (x[40*(i/40) + j] ordered x[40*(i/40) + j])))) + j0
// CHECK-NEXT: | for j = (i%40) + 1 to 40, 1 from j0
// CHECK-NEXT: | | j0' <- ((x[(i%40) + 40*(i/40)] < x[40*(i/40) + j]) | ((x[40*(i/40) + j] unordered x[40*(i/40) + j]) & (x[(i%40) + 40*(i/40)] ordered x[(i%40) + 40*(i/40)]))) + j0'
// CHECK-NEXT: | y[i] = select(j0' < 3, x[(i%40) + 40*(i/40)], -1)
// CHECK-NEXT: barrier
func.func @top_k(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %y = model.top_k %x k 3 fill -1.0 : (!x) -> !x
  return %y : !x
}
