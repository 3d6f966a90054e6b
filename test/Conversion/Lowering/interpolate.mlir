// RUN: %loops %s --names | FileCheck %s

// A line of pictures stretched from 4 places to W: position (i + 1/2) / scale - 1/2 in f64, two taps inside the line.
!x = !model.tensor<[B, 4, 3], f32>
!n = !model.tensor<[W], f32>
!y = !model.tensor<[B, W, 3], f32>
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: for i = share(B*W)
// CHECK-NEXT: | n0 := ((((i%W) + 0.5) / (W / 4)) - 0.5) - floor((((i%W) + 0.5) / (W / 4)) - 0.5)
// CHECK-NEXT: | n1 := min(3, floor((((i%W) + 0.5) / (W / 4)) - 0.5) + 1)
// CHECK-NEXT: | n2 := min(3, floor((((i%W) + 0.5) / (W / 4)) - 0.5))
// CHECK-NEXT: | n3 := fma(n0, x[12*(i/W) + 3*max(0, n1) : min(16, 3)], (1 - n0) * x[12*(i/W) + 3*max(0, n2) : min(16, 3)])
// CHECK-NEXT: | y[3*i : min(16, 3)] = n3
// CHECK-NEXT: barrier
func.func @run(%x: !x {model.name = "x"}, %n: !n {model.name = "n"}) -> (!y {model.name = "y"}) {
  %y = model.interpolate %x to ["W"] : (!x) -> !y
  return %y : !y
}
