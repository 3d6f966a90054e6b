// RUN: %loops %s | grep -v 'prefetch' | FileCheck %s

// Scores and outputs of dots in matrix registers: scores 32 rows by two panels of keys, outputs 32 rows by 32 features and the 16 that are
// left, over 32 keys at a time. Values behind the last key and weights of keys that a row does not see are 0; where an output was not finite,
// values that are not finite are added by themselves.
module attributes {model.dtype = "bf16", model.math = "dots", model.target = #model.target<"cpu", chip = "", lanes = 16, registers = 32, needs = "amx-bf16 amx-tile amx-int8">} {
// CHECK-LABEL: heddle_attention_pack:
// CHECK: | for j = 2*((n1 + 1)/2) to 32*((n1 + 31)/32) step 2
// CHECK-NEXT: | | scratch[4096*((S + 127)/128)*(i%2) + 8192*((S + 127)/128)*n2 + 4096*((S + 127)/128)*B + 32*j : 16] = 0
// CHECK-NEXT: | | scratch[4096*((S + 127)/128)*(i%2) + 8192*((S + 127)/128)*n2 + 4096*((S + 127)/128)*B + 32*j + 16 : 16] = 0
// CHECK-NEXT: | | scratch[4096*((S + 127)/128)*(i%2) + 8192*((S + 127)/128)*n2 + 4096*((S + 127)/128)*B + 32*j + 32 : 16] = 0
// CHECK-NEXT: | | scratch[4096*((S + 127)/128)*(i%2) + 8192*((S + 127)/128)*n2 + 4096*((S + 127)/128)*B + 32*j + 48 : 16] = 0
// CHECK-LABEL: heddle_attention:
// CHECK: ldtilecfg(alloca)
// CHECK: | | | | | | | for l = 2*(n18/2) to ((n19 + 15)/16) step 2
// CHECK-NEXT: | | | | | | | | tilezero(0)
// CHECK-NEXT: | | | | | | | | tilezero(1)
// CHECK-NEXT: | | | | | | | | tilezero(2)
// CHECK-NEXT: | | | | | | | | tilezero(3)
// CHECK-NEXT: | | | | | | | | tileloadd64(4, area[16*k], 64)
// CHECK-NEXT: | | | | | | | | tileloadd64(5, area[16*k + 256], 64)
// CHECK-NEXT: | | | | | | | | tileloadd64(6, key[2048*((S + 127)/128)*(n2%2) + 4096*((S + 127)/128)*(n2/2) + 256*l], 64)
// CHECK-NEXT: | | | | | | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | | | | | | tdpbf16ps(2, 5, 6)
// CHECK-NEXT: | | | | | | | | tileloadd64(7, key[2048*((S + 127)/128)*(n2%2) + 4096*((S + 127)/128)*(n2/2) + 256*l + 256], 64)
// CHECK-NEXT: | | | | | | | | tdpbf16ps(1, 4, 7)
// CHECK-NEXT: | | | | | | | | tdpbf16ps(3, 5, 7)
// CHECK-NEXT: | | | | | | | | tilestored64(0, area[272*k + 16*l + 576 - j], 1088)
// CHECK-NEXT: | | | | | | | | tilestored64(1, area[272*k + 16*l + 592 - j], 1088)
// CHECK-NEXT: | | | | | | | | tilestored64(2, area[272*k + 16*l + 4928 - j], 1088)
// CHECK-NEXT: | | | | | | | | tilestored64(3, area[272*k + 16*l + 4944 - j], 1088)
// CHECK-NEXT: | | | | | | else
// CHECK-NEXT: | | | | | | | for l = 2*(n18/2) to ((n19 + 15)/16) step 2
// CHECK-NEXT: | | | | | | | | tilezero(0)
// CHECK-NEXT: | | | | | | | | tilezero(1)
// CHECK-NEXT: | | | | | | | | tileloadd64(4, area[16*k], 64)
// CHECK-NEXT: | | | | | | | | tileloadd64(6, key[2048*((S + 127)/128)*(n2%2) + 4096*((S + 127)/128)*(n2/2) + 256*l], 64)
// CHECK-NEXT: | | | | | | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | | | | | | tileloadd64(7, key[2048*((S + 127)/128)*(n2%2) + 4096*((S + 127)/128)*(n2/2) + 256*l + 256], 64)
// CHECK-NEXT: | | | | | | | | tdpbf16ps(1, 4, 7)
// CHECK-NEXT: | | | | | | | | tilestored64(0, area[272*k + 16*l + 576 - j], 1088)
// CHECK-NEXT: | | | | | | | | tilestored64(1, area[272*k + 16*l + 592 - j], 1088)
// CHECK: | | | | | | | n26 := select(n21 < min(n19, n22), 32*((n21 - j)/32), 32*n25)
// CHECK-NEXT: | | | | | | | for l = 32*n24 to n26 step 32
// CHECK-NEXT: | | | | | | | | area[272*k + 576][(l/2) : 16] = 0
// CHECK: | | | | | | | for l = n28 to 32*n25 step 32
// CHECK-NEXT: | | | | | | | | area[272*k + 576][(l/2) : 16] = 0
// CHECK: | | | | | for k = 0 to n1
// CHECK-NEXT: | | | | | | area[48*k + 9216 : 16] = area[48*k + 9216 : 16] * area[k + 11264]
// CHECK-NEXT: | | | | | | area[48*k + 9232 : 16] = area[48*k + 9232 : 16] * area[k + 11264]
// CHECK-NEXT: | | | | | | area[48*k + 9248 : 16] = area[48*k + 9248 : 16] * area[k + 11264]
// CHECK-NEXT: | | | | | if w0.0
// CHECK: | | | | | | for k = 0 to n1
// CHECK-NEXT: | | | | | | | for l = 0 to 48 step 16
// CHECK-NEXT: | | | | | | | | n29 := ((max(j, w1.0) - j)/2)
// CHECK-NEXT: | | | | | | | | n30 := ((n19 + 1 - j)/2)
// CHECK-NEXT: | | | | | | | | for m = n29 to n30, 1 from area[48*k + l + 9216 : 16]
// CHECK-NEXT: | | | | | | | | | n31 := value[4096*((S + 127)/128)*(n2%2) + 8192*((S + 127)/128)*(n2/2) + 32*j][l + 64*m : 16]
// CHECK-NEXT: | | | | | | | | | n32 := area[272*k + 576][m]
// CHECK-NEXT: | | | | | | | | | m0 <- select(select((n31 & 32640 != 32640) | (not (n32 != 0)), 0, n31) != 0, .., m0)
// CHECK-NEXT: | | | | | | | | area[48*k + l + 9216 : 16] = m0
// CHECK-NEXT: | | | | | | for k = 1024*n24 to 1024*n25 step 16
// CHECK-NEXT: | | | | | | | n33 := value[4096*((S + 127)/128)*(n2%2) + 8192*((S + 127)/128)*(n2/2) + 32*j][k : 16]
// CHECK-NEXT: | | | | | | | area[11360][k : 16] = select(n33 & 32640 != 32640, n33, 0)
// CHECK-NEXT: | | | | | | for k = 0 to n1 step 32
// CHECK: | | | | | | | | tileloadd64(0, area[48*k + 9216], 192)
// CHECK-NEXT: | | | | | | | | tileloadd64(1, area[48*k + 9232], 192)
// CHECK-NEXT: | | | | | | | | tileloadd64(2, area[48*k + 9984], 192)
// CHECK-NEXT: | | | | | | | | tileloadd64(3, area[48*k + 10000], 192)
// CHECK-NEXT: | | | | | | | | for l = n24 to n25
// CHECK-NEXT: | | | | | | | | | tileloadd64(4, area[272*k + 16*l + 576], 1088)
// CHECK-NEXT: | | | | | | | | | tileloadd64(5, area[272*k + 16*l + 4928], 1088)
// CHECK-NEXT: | | | | | | | | | tileloadd64(6, area[1024*l + 11360], 256)
// CHECK-NEXT: | | | | | | | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | | | | | | | tdpbf16ps(2, 5, 6)
// CHECK-NEXT: | | | | | | | | | tileloadd64(7, area[1024*l + 11376], 256)
// CHECK-NEXT: | | | | | | | | | tdpbf16ps(1, 4, 7)
// CHECK-NEXT: | | | | | | | | | tdpbf16ps(3, 5, 7)
// CHECK-NEXT: | | | | | | | | tilestored64(0, area[48*k + 9216], 192)
// CHECK-NEXT: | | | | | | | | tilestored64(1, area[48*k + 9232], 192)
// CHECK-NEXT: | | | | | | | | tilestored64(2, area[48*k + 9984], 192)
// CHECK-NEXT: | | | | | | | | tilestored64(3, area[48*k + 10000], 192)
// CHECK-NEXT: | | | | | | | | tileloadd64(0, area[48*k + 9248], 192)
// CHECK-NEXT: | | | | | | | | tileloadd64(1, area[48*k + 10016], 192)
// CHECK-NEXT: | | | | | | | | for l = n24 to n25
// CHECK-NEXT: | | | | | | | | | tileloadd64(4, area[272*k + 16*l + 576], 1088)
// CHECK-NEXT: | | | | | | | | | tileloadd64(5, area[272*k + 16*l + 4928], 1088)
// CHECK-NEXT: | | | | | | | | | tileloadd64(6, area[1024*l + 11392], 256)
// CHECK-NEXT: | | | | | | | | | tdpbf16ps(0, 4, 6)
// CHECK-NEXT: | | | | | | | | | tdpbf16ps(1, 5, 6)
// CHECK-NEXT: | | | | | | | | tilestored64(0, area[48*k + 9248], 192)
// CHECK-NEXT: | | | | | | | | tilestored64(1, area[48*k + 10016], 192)
// CHECK: tilerelease()
func.func @run(%q: !model.tensor<[B, T, 64], f32> {model.name = "q"}, %k: !model.tensor<[B, S, 64], f32> {model.name = "k"}, %v: !model.tensor<[B, S, 96], f32> {model.name = "v"}) -> (!model.tensor<[B, T, 96], f32> {model.name = "y"}) {
  %m = mask.causal
  %y = attn.sdpa %q, %k, %v mask %m heads 2 kv_heads 2 scale 0.5 past "0" : (!model.tensor<[B, T, 64], f32>, !model.tensor<[B, S, 64], f32>, !model.tensor<[B, S, 96], f32>) -> !model.tensor<[B, T, 96], f32>
  return %y : !model.tensor<[B, T, 96], f32>
}
}
