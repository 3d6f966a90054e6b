// RUN: %loops %s | FileCheck %s

// A causal mask is a bound, not a test: the walk over keys ends behind the last row of the block (32 rows from 32 n0 on), a
// group of 8 rows skips what lies behind its own last row, and a tile that all rows see has no mask in its code (no `lane` is
// compared). In the others the vector of keys from j + l on is compared with one bound a row, row + 1.
!x = !model.tensor<[B, T, 16], f32>
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: heddle_attention_pack(q, k, v, y, arena, tid, dealt(((T + 127)/128)*B), T, T, 0, 0, 128*((T + 127)/128), 128*((T + 127)/128), ((T + 31)/32), ((T + 127)/128), 2048*((T + 127)/128)*B, 4096*((T + 127)/128)*B, 4096*((T + 127)/128)*B)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_attention(q, arena, arena[2048*((T + 127)/128)*B], y, arena, tid, dealt(((T + 31)/32)*B), T, T, 0, 0, 128*((T + 127)/128), 128*((T + 127)/128), ((T + 31)/32), ((T + 127)/128), 2048*((T + 127)/128)*B, 4096*((T + 127)/128)*B, 4096*((T + 127)/128)*B)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention_pack:
// CHECK: | n0 := (i%((T + 127)/128))
// CHECK-NEXT: | n1 := min(128*n0 + 128, T)
// CHECK-NEXT: | for j = 128*n0 to n1 step 16
// CHECK-NEXT: | | n2 := (i/((T + 127)/128))
// CHECK: | for j = 128*n0 to n1
// CHECK-NEXT: | | scratch[2048*((T + 127)/128)*n2 + 2048*((T + 127)/128)*B + 16*j : 16] = value[16*n2*T + 16*j : 16]
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[4096*((T + 127)/128)*B + 10352*thread]
// CHECK: | | n0 := (i%((T + 31)/32))
// CHECK-NEXT: | | n1 := min(32, T - 32*n0)
// CHECK-NEXT: | | for j = 0 to n1
// CHECK-NEXT: | | | n2 := (i/((T + 31)/32))
// CHECK: | | | area[j + 10272] = -3.402823e+38
// CHECK-NEXT: | | for j = 0 to n1 step 8
// CHECK-NEXT: | | | area[10304][2*(j/8)] = 0
// CHECK-NEXT: | | | area[10304][2*(j/8) + 1] = 32*n0 + min(n1, j + 8)
// CHECK-NEXT: | | while, 5 from 0, false, false, 0, 0
// CHECK-NEXT: | | | n3 := min(32*n0 + n1, T)
// CHECK-NEXT: | | | as long as w1.0 < n3
// CHECK: | | | | for j = 128*(w1.0/128) to r12 step 128
// CHECK: | | | | | n18 := min(j + 128, r12)
// CHECK: | | | | | | | n19 := area[10304][2*(l/8) + 1]
// CHECK-NEXT: | | | | | | | n20 := area[10304][2*(l/8)]
// CHECK-NEXT: | | | | | | | n21 := max(n20, max(j, w1.0))
// CHECK-NEXT: | | | | | | | if (16*k < min(n18, n19)) & (n21 < 16*k + 32)
// CHECK: | | | | | | | | if (16*k < min(n18, n19)) & (n21 < 16*k + 64)
// CHECK: | | | | | | | | if (16*k < min(n18, n19)) & (n21 < 16*k + 64)
// CHECK: | | | | | | | | if (16*k < min(n18, n19)) & (n21 < 16*k + 64)
// CHECK: | | | | | if ((max(j, w1.0) == j) & (n18 == j + 128)) & (r13 == 0)
// CHECK-NEXT: | | | | | | for k = 0 to n1
// CHECK-NEXT: | | | | | | | area[k + 10272] = select(.., .., area[k + 10272])
// CHECK-NEXT: | | | | | | | area[k + 10240] = area[k + 10272] - ..
// CHECK-NOT: lane
// CHECK: | | | | | | | area[16*k + 9728 : 16] = fma(area[16*k + 9728 : 16], area[k + 10240], ..)
// CHECK-NOT: lane
// CHECK: | | | | | else
// CHECK-NEXT: | | | | | | for k = 0 to n1
// CHECK-NEXT: | | | | | | | n22 := area[10304][2*(k/8)]
// CHECK-NEXT: | | | | | | | n23 := max(n22, max(j, w1.0))
// CHECK-NEXT: | | | | | | | n24 := area[10304][2*(k/8) + 1]
// CHECK: | | | | | | | | n25 := min(32*n0 + k + 1, n18)
// CHECK-NEXT: | | | | | | | | area[272*k + l + 576 : 16] = select((j + l + lane < n25) & (j + l + lane >= max(j, w1.0)), area[272*k + l + 576 : 16], -inf)
// CHECK-NEXT: | | | | | | | | area[272*k + l + 592 : 16] = select((j + l + lane + 16 < n25) & (j + l + lane + 16 >= max(j, w1.0)), area[272*k + l + 592 : 16], -inf)
// CHECK-NEXT: | | | | | | | | l0 <- larger(select((j + l + lane < n25) & (j + l + lane >= max(j, w1.0)), area[272*k + l + 576 : 16], -inf), l0)
// CHECK-NEXT: | | | | | | | | l1 <- larger(select((j + l + lane + 16 < n25) & (j + l + lane + 16 >= max(j, w1.0)), area[272*k + l + 592 : 16], -inf), l1)
// CHECK-NEXT: | | | | | | | area[k + 10272] = larger(largest(larger(l0, l1)), area[k + 10272])
// CHECK-NEXT: | | | | | | | area[k + 10240] = area[k + 10272] - larger(largest(larger(l0, l1)), area[k + 10272])
// CHECK: | | | | | | for k = 0 to n1
// CHECK: | | | | | | | area[16*k + 9728 : 16] = fma(area[16*k + 9728 : 16], area[k + 10240], l0' + l1')
// CHECK: | | | | | | | | for l = n23 to min(n18, n24), 8 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243], area[16*k + 9280 : 16] * area[k + 10244], area[16*k + 9296 : 16] * area[k + 10245], area[16*k + 9312 : 16] * area[k + 10246], area[16*k + 9328 : 16] * area[k + 10247]
// CHECK: | | | | | | | | | for l = n23 to min(n18, n24), 4 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243]
// CHECK: | | | | | | | | | for l = n23 to min(n18, n24), 2 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241]
// CHECK: | | | | | | | | | for l = n23 to min(n18, n24), 1 from area[16*k + 9216 : 16] * area[k + 10240]
// CHECK: | | | | | else
// CHECK: | | | | | | | | for l = n23 to n23 + 4*n26 step 4, 8 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243], area[16*k + 9280 : 16] * area[k + 10244], area[16*k + 9296 : 16] * area[k + 10245], area[16*k + 9312 : 16] * area[k + 10246], area[16*k + 9328 : 16] * area[k + 10247]
// CHECK-NEXT: | | | | | | | | | l0'7 <- fma(area[272*k + l + s + 576 - j], value[2048*((T + 127)/128)*n2 + 16*l + 16*s : 16], l0'7), s = 0 to 4
// CHECK: | | | | | | | | for l = n23 + 4*n26 to min(n18, n24), 8 from l0'7, l1'7, l2'7, l3'7, l4'7, l5'7, l6'7, l7'7
// CHECK-NEXT: | | | | | | | | | l0'8 <- fma(area[272*k + l + 576 - j], value[2048*((T + 127)/128)*n2 + 16*l : 16], l0'8)
// CHECK: | | | | | | | | | for l = n23 to min(n18, n24), 4 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243]
// CHECK: | | | | | | | | | for l = n23 to min(n18, n24), 2 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241]
// CHECK: | | | | | | | | | for l = n23 to min(n18, n24), 1 from area[16*k + 9216 : 16] * area[k + 10240]
// CHECK: | | for j = 0 to n1, 1 from 0
// CHECK-NEXT: | | | result[16*n2*T + 512*n0 + 16*j : 16] = area[16*j + 9216 : 16] * ..
func.func @run(%q: !x {model.name = "q"}, %k: !x {model.name = "k"}, %v: !x {model.name = "v"}) -> (!x {model.name = "y"}) {
  %m = mask.causal
  %y = attn.sdpa %q, %k, %v mask %m heads 1 kv_heads 1 scale 0.5 : (!x, !x, !x) -> !x
  return %y : !x
}
