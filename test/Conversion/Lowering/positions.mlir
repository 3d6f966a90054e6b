// RUN: %loops %s --depth=2 | FileCheck %s

// Angles are products in f64, made once a row and frequency; what is rotated serves all heads of the row.
!p = !model.tensor<[B, T], i64>
!x = !model.tensor<[B, T, 24], f32>
!f = !model.tensor<[2], f32>
!a = !model.tensor<[], f32>

!s = !model.tensor<[B, T, 10], f32>
// CHECK-LABEL: heddle_entry_sinusoidal:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | for j = 0 to 5
// CHECK-NEXT: | | y[10*i + 2*j] = select(.., .., ..)
// CHECK-NEXT: | | y[10*i + 2*j + 1] = select(.., .., ..)
// CHECK-NEXT: barrier
func.func @sinusoidal(%p: !p {model.name = "p"}) -> (!s {model.name = "y"}) {
  %y = model.sinusoidal %p width 10 theta 10000.0 : (!p) -> !s
  return %y : !s
}

// All sines, then all cosines.
// CHECK-LABEL: heddle_entry_sinusoidal_halves:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | for j = 0 to 5
// CHECK-NEXT: | | y[10*i + j] = select(.., .., ..)
// CHECK-NEXT: | | y[10*i + j + 5] = select(.., .., ..)
// CHECK-NEXT: barrier
func.func @sinusoidal_halves(%p: !p {model.name = "p"}) -> (!s {model.name = "y"}) {
  %y = model.sinusoidal %p width 10 halves theta 10000.0 : (!p) -> !s
  return %y : !s
}

// Four heads of 6 features, of which 4 turn: j beside j + 2, two frequencies in a vector. The rest passes.
// CHECK-LABEL: heddle_entry_rotary:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | for j = 0 to 4
// CHECK-NEXT: | | y[24*i + 6*j : min(16, 2)] = .. - ..
// CHECK-NEXT: | | y[24*i + 6*j + 2 : min(16, 2)] = .. + ..
// CHECK-NEXT: | for j = 0 to 4
// CHECK-NEXT: | | y[24*i + 6*j + 4 : min(16, 2)] = x[24*i + 6*j + 4 : min(16, 2)]
// CHECK-NEXT: barrier
func.func @rotary(%x: !x {model.name = "x"}, %p: !p {model.name = "p"}, %f: !f {model.name = "f"}, %a: !a {model.name = "a"}) -> (!x {model.name = "y"}) {
  %y = model.rotary %x at %p by %f amplitude %a head_width 6 : (!x, !p, !f, !a) -> !x
  return %y : !x
}

// 2j beside 2j + 1.
// CHECK-LABEL: heddle_entry_rotary_pairs:
// CHECK-NEXT: for i = share(B*T)
// CHECK-NEXT: | for j = 0 to 2
// CHECK-NEXT: | | for k = 0 to 4
// CHECK-NEXT: | | | y[24*i + 2*j + 6*k] = .. - ..
// CHECK-NEXT: | | | y[24*i + 2*j + 6*k + 1] = .. + ..
// CHECK-NEXT: | for j = 0 to 4
// CHECK-NEXT: | | y[24*i + 6*j + 4 : min(16, 2)] = x[24*i + 6*j + 4 : min(16, 2)]
// CHECK-NEXT: barrier
func.func @rotary_pairs(%x: !x {model.name = "x"}, %p: !p {model.name = "p"}, %f: !f {model.name = "f"}, %a: !a {model.name = "a"}) -> (!x {model.name = "y"}) {
  %y = model.rotary %x at %p by %f amplitude %a head_width 6 pairs : (!x, !p, !f, !a) -> !x
  return %y : !x
}
