// RUN: %loops %s | FileCheck %s

// Weights in bf16: a word of a panel holds two k, which are widened in registers and taken one after the other. An odd k at the
// end is a step of its own behind the loop.
module attributes {model.dtype = "bf16"} {
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: heddle_linear_5_16_wide(x, weights, null, y, B, dealt(((B + 255)/256) of select(B > 4, ((B + 255)/256), nth)))
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_linear_5_16_wide:
// CHECK-NEXT: for i = from to to
// CHECK-NEXT: | n0 := min(256*i + 256, rows)
// CHECK-NEXT: | n1 := ((n0 - 256*i)/2)
// CHECK-NEXT: | for j = 256*i to 2*n1 + 256*i step 2
// CHECK-NEXT: | | for k = 0 to 2, 2 from 0
// CHECK-NEXT: | | | n2 := max((2*n1/2), 1)
// CHECK-NEXT: | | | prefetch w[3*((j%256)/2)*max((16/n2), 1) + k*max((16/n2), 1) + 48]
// CHECK-NEXT: | | | k0 <- fma(x[5*j + 2*k + 1], w[16*k : 16] & -65536, fma(x[5*j + 2*k], shli(w[16*k : 16], 16), k0))
// CHECK-NEXT: | | | k1 <- fma(x[5*j + 2*k + 6], w[16*k : 16] & -65536, fma(x[5*j + 2*k + 5], shli(w[16*k : 16], 16), k1))
// CHECK-NEXT: | | y[16*j : 16] = fma(x[5*j + 4], shli(w[32 : 16], 16), k0)
// CHECK-NEXT: | | y[16*j + 16 : 16] = fma(x[5*j + 9], shli(w[32 : 16], 16), k1)
// CHECK-NEXT: | for j = 2*n1 + 256*i to n0
// CHECK-NEXT: | | for k = 0 to 2, 1 from 0
// CHECK-NEXT: | | | prefetch w[3*((j%256)/2)*max((16/n2), 1) + k*max((16/n2), 1) + 48]
// CHECK-NEXT: | | | k0' <- fma(x[5*j + 2*k + 1], w[16*k : 16] & -65536, fma(x[5*j + 2*k], shli(w[16*k : 16], 16), k0'))
// CHECK-NEXT: | | y[16*j : 16] = fma(x[5*j + 4], shli(w[32 : 16], 16), k0')
func.func @run(%x: !model.tensor<[B, 5], f32> {model.name = "x"}) -> (!model.tensor<[B, 16], f32> {model.name = "y"}) {
  %w = model.param "w" : !model.tensor<[16, 5], f32>
  %y = model.linear %x, %w {model.schedule = #model.schedule<panel = 16, rows = 2, block = 256, ahead = 64, small = 32768>} : (!model.tensor<[B, 5], f32>, !model.tensor<[16, 5], f32>) -> !model.tensor<[B, 16], f32>
  return %y : !model.tensor<[B, 16], f32>
}
}
