// RUN: %loops %s | FileCheck %s

// Lanes are channels, weights lie in panels of taps; taps beside the sound are no turn of the loop.
!x = !model.tensor<[B, L, 48], f32>
!w = !model.tensor<[48, 1, 5], f32>

// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: for i = share(B*L)
// CHECK-NEXT: | for j = 0 to 2
// CHECK-NEXT: | | n0 := max(0, 2 - (i%L))
// CHECK-NEXT: | | n1 := max(0, L + 2 - (i%L))
// CHECK-NEXT: | | for k = n0 to min(5, n1), 2 from 0
// CHECK-NEXT: | | | k0 <- fma(x[48*(i%L) + 48*(i/L)*L + 32*j + 48*k - 96 : min(16, 48 - 32*j)], weights[160*j + 32*k : 16], k0)
// CHECK-NEXT: | | | k1 <- fma(x[48*(i%L) + 48*(i/L)*L + 32*j + 48*k - 80 : min(16, 32 - 32*j)], weights[160*j + 32*k + 16 : 16], k1)
// CHECK-NEXT: | | y[48*i + 32*j : min(16, 48 - 32*j)] = k0
// CHECK-NEXT: | | y[48*i + 32*j + 16 : min(16, 32 - 32*j)] = k1
// CHECK-NEXT: barrier
func.func @run(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %w = model.param "w" : !w
  %y = model.conv %x, %w stride [1] dilation [1] padding [2, 2] groups 48 : (!x, !w) -> !x
  return %y : !x
}
