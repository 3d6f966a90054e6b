// RUN: %loops %s | FileCheck %s

// One thread makes the channels of one place: an element is one sum that begins with the bias and goes over taps, then
// channels of its group; a tap beside the picture (an index that is negative or too large, compared unsigned) has none.
!x = !model.tensor<[B, L, 4], f32>
!w = !model.tensor<[6, 2, 3], f32>
!b = !model.tensor<[6], f32>
!y = !model.tensor<[B, "(L-1)//2+1", 6], f32>

// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: for i = share(((L + 1)/2)*B)
// CHECK-NEXT: | for j = 0 to 6
// CHECK-NEXT: | | for k = 0 to 3, 1 from weights[192][j]
// CHECK-NEXT: | | | n0 := select(2*(i%((L + 1)/2)) + 3*k - 1 <u L, 2, 0)
// CHECK-NEXT: | | | for l = 0 to n0, 1 from k0
// CHECK-NEXT: | | | | l0 <- fma(x[8*(i%((L + 1)/2)) + 4*(i/((L + 1)/2))*L + 2*(j/3) + 12*k + l - 4], weights[6*j + k + 3*l], l0)
// CHECK-NEXT: | | | k0 <- l0
// CHECK-NEXT: | | y[6*i + j] = k0
// CHECK-NEXT: barrier
func.func @run(%x: !x {model.name = "x"}) -> (!y {model.name = "y"}) {
  %w = model.param "w" : !w
  %b = model.param "b" : !b
  %y = model.conv %x, %w bias %b stride [2] dilation [3] padding [1, 5] groups 2 : (!x, !w, !b) -> !y
  return %y : !y
}

// Windows that overlap are not copied: rows are 2*4 elements apart where x lies, batch elements 4*L, and one call does a batch element.
!x1 = !model.tensor<[B, L, 4], f32>
!w1 = !model.tensor<[6, 4, 3], f32>
!y1 = !model.tensor<[B, "(L-3)//2+1", 6], f32>
!r1 = !model.tensor<[B, "(L-3)//2+1", 12], f32>

// CHECK-LABEL: heddle_entry_overlap:
// CHECK-NEXT: for i = 0 to B
// CHECK-NEXT: | n0 := ((((L + 1)/2) + 254)/256)
// CHECK-NEXT: | heddle_linear_12_6_every_8(x[4*L*i], weights[256], null, y[6*((L + 1)/2)*i - 6*i], ((L + 1)/2) - 1, share(n0))
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_linear_12_6_every_8:
// CHECK: k0 <- fma(x[8*j + k], w[32*k : 16], k0)
// CHECK: k2 <- fma(x[8*j + k + 8], w[32*k : 16], k2)
// CHECK: | y[6*j : min(16, 6)] = k0
// CHECK: | y[6*j + 6 : min(16, 6)] = k2
func.func @overlap(%x: !x1 {model.name = "x"}) -> (!y1 {model.name = "y"}) {
  %w = model.param "w" : !w1
  %r = model.windows %x size [3] stride [2] dilation [1] : (!x1) -> !r1
  %y = model.linear %r, %w filter : (!r1, !w1) -> !y1
  return %y : !y1
}
