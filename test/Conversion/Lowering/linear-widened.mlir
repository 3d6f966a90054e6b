// RUN: %loops %s | FileCheck %s

// Weights in bf16 that many rows read: the first tile of a block leaves its panel in f32, two rows of it for a word, in the
// memory of its thread, and the tiles behind it multiply by that. An odd k at the end leaves one row. Fewer than 16 tiles
// widen for themselves.
module attributes {model.dtype = "bf16"} {
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: heddle_linear_5_16_wide(x, weights, null, y, B, dealt(((B + 255)/256) of select(B > 4, ((B + 255)/256), nth)), arena[320*tid])
// CHECK: | | if n2 > 15
// CHECK-NEXT: | | | for j = 256*i to 256*i + 2 step 2
// CHECK-NEXT: | | | | for k = 0 to 2, 2 from 0
// CHECK-NEXT: | | | | | prefetch y[16*j + 16*k]
// CHECK-NEXT: | | | | | for l = k to k + 1, 2 from k0, k1
// CHECK-NEXT: | | | | | | prefetch w[3*((j%256)/2)*max((16/n2), 1) + l*max((16/n2), 1) + 48]
// CHECK-NEXT: | | | | | | to[32*l : 16] = shli(w[16*l : 16], 16)
// CHECK-NEXT: | | | | | | to[32*l + 16 : 16] = w[16*l : 16] & -65536
// CHECK-NEXT: | | | | | | l0 <- fma(x[5*j + 2*l + 1], w[16*l : 16] & -65536, fma(x[5*j + 2*l], shli(w[16*l : 16], 16), l0))
// CHECK-NEXT: | | | | | | l1 <- fma(x[5*j + 2*l + 6], w[16*l : 16] & -65536, fma(x[5*j + 2*l + 5], shli(w[16*l : 16], 16), l1))
// CHECK-NEXT: | | | | | k0 <- l0
// CHECK-NEXT: | | | | | k1 <- l1
// CHECK-NEXT: | | | | to[64 : 16] = shli(w[32 : 16], 16)
// CHECK-NEXT: | | | | y[16*j : 16] = fma(x[5*j + 4], shli(w[32 : 16], 16), k0)
// CHECK-NEXT: | | | | y[16*j + 16 : 16] = fma(x[5*j + 9], shli(w[32 : 16], 16), k1)
// CHECK-NEXT: | | | for j = 256*i + 2 to 2*n1 + 256*i step 2
// CHECK-NEXT: | | | | for k = 0 to 2, 2 from 0
// CHECK-NEXT: | | | | | prefetch y[16*j + 16*k]
// CHECK-NEXT: | | | | | n3 := ((min(3*k + 3, 5) - min(3*k, 5))/4)
// CHECK-NEXT: | | | | | for l = min(3*k, 5) to 4*n3 + min(3*k, 5) step 4, 2 from k0', k1'
// CHECK-NEXT: | | | | | | if 4*max((8/n2), 1) < 17
// CHECK-NEXT: | | | | | | | prefetch w[5*((j%256)/2)*max((8/n2), 1) + l*max((8/n2), 1) + 48]
// CHECK-NEXT: | | | | | | else
// CHECK-NEXT: | | | | | | | prefetch w[5*((j%256)/2)*max((8/n2), 1) + l*max((8/n2), 1) + 48]
// CHECK-NEXT: | | | | | | | prefetch w[5*((j%256)/2)*max((8/n2), 1) + l*max((8/n2), 1) + max((8/n2), 1) + 48]
// CHECK-NEXT: | | | | | | | prefetch w[5*((j%256)/2)*max((8/n2), 1) + l*max((8/n2), 1) + 2*max((8/n2), 1) + 48]
// CHECK-NEXT: | | | | | | | prefetch w[5*((j%256)/2)*max((8/n2), 1) + l*max((8/n2), 1) + 3*max((8/n2), 1) + 48]
// CHECK-NEXT: | | | | | | l0' <- fma(x[5*j + l + s], to[16*l + 16*s : 16], l0'), s = 0 to 4
// CHECK-NEXT: | | | | | | l1' <- fma(x[5*j + l + s + 5], to[16*l + 16*s : 16], l1'), s = 0 to 4
// CHECK-NEXT: | | | | | for l = 4*n3 + min(3*k, 5) to min(3*k + 3, 5), 2 from l0', l1'
// CHECK-NEXT: | | | | | | prefetch w[5*((j%256)/2)*max((8/n2), 1) + l*max((8/n2), 1) + 48]
// CHECK-NEXT: | | | | | | l0'3 <- fma(x[5*j + l], to[16*l : 16], l0'3)
// CHECK-NEXT: | | | | | | l1'3 <- fma(x[5*j + l + 5], to[16*l : 16], l1'3)
// CHECK-NEXT: | | | | | k0' <- l0'3
// CHECK-NEXT: | | | | | k1' <- l1'3
// CHECK-NEXT: | | | | y[16*j : 16] = k0'
// CHECK-NEXT: | | | | y[16*j + 16 : 16] = k1'
// CHECK-NEXT: | | else
// CHECK-NEXT: | | | for j = 256*i to 2*n1 + 256*i step 2
func.func @run(%x: !model.tensor<[B, 5], f32> {model.name = "x"}) -> (!model.tensor<[B, 16], f32> {model.name = "y"}) {
  %w = model.param "w" : !model.tensor<[16, 5], f32>
  %y = model.linear %x, %w {model.schedule = #model.schedule<panel = 16, rows = 2, block = 256, ahead = 64, small = 80>} : (!model.tensor<[B, 5], f32>, !model.tensor<[16, 5], f32>) -> !model.tensor<[B, 16], f32>
  return %y : !model.tensor<[B, 16], f32>
}
}
