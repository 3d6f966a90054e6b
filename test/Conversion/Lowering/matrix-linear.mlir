// RUN: %loops %s | grep -v 'prefetch' | FileCheck %s

// Pairs of bf16 in matrix registers: 32 rows by 32 results in four of them, 16 rows where there are no more; up to 16 rows by two panels.
// Rows are rounded once for both linears, their lines an odd number apart. What is fetched is left out here.
module attributes {model.dtype = "bf16", model.math = "dots", model.target = #model.target<"cpu", chip = "", lanes = 16, registers = 32, needs = "amx-bf16 amx-tile amx-int8">} {
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to 64 step 16
// CHECK-NEXT: | | n0 := select(x[64*i + j : 16] unordered x[64*i + j : 16], x[64*i + j : 16] | 4194304, ..)
// CHECK-NEXT: | | arena[96*i + j : 16] = shrui(n0 & -65536, 16)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_linear_64_32_dots_matrix(arena, weights, null, y, B, dealt(((B + 255)/256) of select(B > 16, ((B + 255)/256), nth)))
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_linear_64_32_dots_matrix(arena, weights[4096], null, z, B, dealt(((B + 255)/256) of select(B > 16, ((B + 255)/256), nth)))
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_linear_64_32_dots_matrix:
// CHECK-NEXT: if rows > 16
// CHECK: | ldtilecfg(alloca)
// CHECK-NEXT: | for i = from to to
// CHECK-NEXT: | | n0 := min(256*i + 256, rows)
// CHECK-NEXT: | | for j = 256*i to n0 step 32
// CHECK-NEXT: | | | if min(32, n0 - j) > 16
// CHECK-NEXT: | | | | tilezero(0)
// CHECK-NEXT: | | | | tilezero(1)
// CHECK-NEXT: | | | | tilezero(2)
// CHECK-NEXT: | | | | tilezero(3)
// CHECK-NEXT: | | | | for k = 0 to 2
// CHECK-NEXT: | | | | | n1 := ((n0 + 31 - 256*i)/32)
// CHECK-NEXT: | | | | | n2 := ((2*n1 + 63)/(2*n1))
// CHECK-NEXT: | | | | | for l = 0 to 64*n2 step 128
// CHECK-NEXT: | | | | | tileloadd64(4, x[192*j + 64*k], 192)
// CHECK-NEXT: | | | | | tileloadd64(5, x[192*j + 64*k + 3072], 192)
// CHECK-NEXT: | | | | | tileloadd64(6, w[2048*k], 128)
// CHECK-NEXT: | | | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | | | tdpbf16ps(2, 5, 6)
// CHECK-NEXT: | | | | | tileloadd64(7, w[2048*k + 64], 128)
// CHECK-NEXT: | | | | | tdpbf16ps(1, 4, 7)
// CHECK-NEXT: | | | | | tdpbf16ps(3, 5, 7)
// CHECK-NEXT: | | | | tilestored64(0, alloca, 128)
// CHECK-NEXT: | | | | tilestored64(1, alloca[64], 128)
// CHECK-NEXT: | | | | tilestored64(2, alloca[2048], 128)
// CHECK-NEXT: | | | | tilestored64(3, alloca[2112], 128)
// CHECK-NEXT: | | | | for k = 0 to min(32, n0 - j)
// CHECK-NEXT: | | | | | y[32*j + 32*k : 16] = alloca[128*k : 16]
// CHECK-NEXT: | | | | | y[32*j + 32*k + 16 : 16] = alloca[128*k + 64 : 16]
// CHECK-NEXT: | | | else
// CHECK-NEXT: | | | | tilezero(0)
// CHECK-NEXT: | | | | tilezero(1)
// CHECK-NEXT: | | | | for k = 0 to 2
// CHECK-NEXT: | | | | | for l = 0 to 64*n2 step 128
// CHECK-NEXT: | | | | | tileloadd64(4, x[192*j + 64*k], 192)
// CHECK-NEXT: | | | | | tileloadd64(6, w[2048*k], 128)
// CHECK-NEXT: | | | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | | | tileloadd64(7, w[2048*k + 64], 128)
// CHECK-NEXT: | | | | | tdpbf16ps(1, 4, 7)
// CHECK-NEXT: | | | | tilestored64(0, alloca, 128)
// CHECK-NEXT: | | | | tilestored64(1, alloca[64], 128)
// CHECK-NEXT: | | | | for k = 0 to min(32, n0 - j)
// CHECK-NEXT: | | | | | y[32*j + 32*k : 16] = alloca[128*k : 16]
// CHECK-NEXT: | | | | | y[32*j + 32*k + 16 : 16] = alloca[128*k + 64 : 16]
// CHECK-NEXT: | tilerelease()
// CHECK-NEXT: else
// CHECK: | ldtilecfg(alloca)
// CHECK-NEXT: | for i = from to 2*((to - from)/2) + from step 2
// CHECK-NEXT: | | if i == from
// CHECK-NEXT: | | | for j = 0 to 2
// CHECK-NEXT: | | tilezero(0)
// CHECK-NEXT: | | tilezero(1)
// CHECK-NEXT: | | tilezero(2)
// CHECK-NEXT: | | tilezero(3)
// CHECK-NEXT: | | for j = 0 to 2
// CHECK-NEXT: | | | tileloadd64(4, x[64*j], 192)
// CHECK-NEXT: | | | tileloadd64(6, w[4096*i + 2048*j], 128)
// CHECK-NEXT: | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | tileloadd64(7, w[4096*i + 2048*j + 64], 128)
// CHECK-NEXT: | | | tdpbf16ps(1, 4, 7)
// CHECK-NEXT: | | | tileloadd64(6, w[4096*i + 2048*j + 4096], 128)
// CHECK-NEXT: | | | tdpbf16ps(2, 4, 6)
// CHECK-NEXT: | | | tileloadd64(7, w[4096*i + 2048*j + 4160], 128)
// CHECK-NEXT: | | | tdpbf16ps(3, 4, 7)
// CHECK-NEXT: | | tilestored64(0, alloca, 256)
// CHECK-NEXT: | | tilestored64(1, alloca[64], 256)
// CHECK-NEXT: | | tilestored64(2, alloca[128], 256)
// CHECK-NEXT: | | tilestored64(3, alloca[192], 256)
// CHECK-NEXT: | | for j = 0 to rows
// CHECK-NEXT: | | | y[32*i + 32*j : 16] = alloca[256*j : 16]
// CHECK-NEXT: | | | y[32*i + 32*j + 16 : 16] = alloca[256*j + 64 : 16]
// CHECK-NEXT: | | | y[32*i + 32*j + 32 : 16] = alloca[256*j + 128 : 16]
// CHECK-NEXT: | | | y[32*i + 32*j + 48 : 16] = alloca[256*j + 192 : 16]
// CHECK-NEXT: | for i = 2*((to - from)/2) + from to to
// CHECK-NEXT: | | tilezero(0)
// CHECK-NEXT: | | tilezero(1)
// CHECK-NEXT: | | for j = 0 to 2
// CHECK-NEXT: | | | tileloadd64(4, x[64*j], 192)
// CHECK-NEXT: | | | tileloadd64(6, w[4096*i + 2048*j], 128)
// CHECK-NEXT: | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | tileloadd64(7, w[4096*i + 2048*j + 64], 128)
// CHECK-NEXT: | | | tdpbf16ps(1, 4, 7)
// CHECK-NEXT: | | tilestored64(0, alloca, 128)
// CHECK-NEXT: | | tilestored64(1, alloca[64], 128)
// CHECK-NEXT: | | for j = 0 to rows
// CHECK-NEXT: | | | y[32*i + 32*j : 16] = alloca[128*j : 16]
// CHECK-NEXT: | | | y[32*i + 32*j + 16 : 16] = alloca[128*j + 64 : 16]
// CHECK-NEXT: | tilerelease()
func.func @run(%x: !model.tensor<[B, 64], f32> {model.name = "x"}) -> (!model.tensor<[B, 32], f32> {model.name = "y"}, !model.tensor<[B, 32], f32> {model.name = "z"}) {
  %w = model.param "w" : !model.tensor<[32, 64], f32>
  %u = model.param "u" : !model.tensor<[32, 64], f32>
  %y = model.linear %x, %w {model.schedule = #model.schedule<panel = 32, rows = 32, block = 256, ahead = 64>} : (!model.tensor<[B, 64], f32>, !model.tensor<[32, 64], f32>) -> !model.tensor<[B, 32], f32>
  %z = model.linear %x, %u {model.schedule = #model.schedule<panel = 32, rows = 32, block = 256, ahead = 64>} : (!model.tensor<[B, 64], f32>, !model.tensor<[32, 64], f32>) -> !model.tensor<[B, 32], f32>
  return %y, %z : !model.tensor<[B, 32], f32>, !model.tensor<[B, 32], f32>
}
}
