// RUN: %loops %s | FileCheck %s

// Keys that a tensor hides. A table is made of it once (behind one barrier); then, beside the packing and behind the same
// barrier, the first visible key of each batch element is found: tiles stand there, so padding on the left moves nothing.
!x = !model.tensor<[B, T, 16], f32>
!m = !model.tensor<[B, T], i64>
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to ((T + 15)/16), 2 from 0, T
// CHECK-NEXT: | | n0 := min(16, T - 16*j)
// CHECK-NEXT: | | n1 := m[T*i + 16*j : min(16, n0)]
// CHECK-NEXT: | | arena[((T + 15)/16)*i + 2*i + j + 2] = extract(n1 != 0)
// CHECK-NEXT: | | n2 := select((extract(n1 != 0) != 0) & (j0 == T), cttz(extract(n1 != 0)) + 16*j, j0)
// CHECK-NEXT: | | j0 <- n2
// CHECK-NEXT: | | n3 := select(extract(n1 != 0) != 0, 16*j + 64 - ctlz(extract(n1 != 0)), j1)
// CHECK-NEXT: | | j1 <- n3
// CHECK-NEXT: | arena[((T + 15)/16)*i + 2*i] = j0
// CHECK-NEXT: | arena[((T + 15)/16)*i + 2*i + 1] = j1
// CHECK-NEXT: | for j = 0 to ((T + 15)/16), 2 from -1, 0
// CHECK-NEXT: | | n4 := arena[((T + 15)/16) + ((T + 15)/16)*i + 2*i + 1 - j]
// CHECK-NEXT: | | n5 := select(n4 != 0, select(.., 2, 1), 0)
// CHECK-NEXT: | | n6 := min(16*((T + 15)/16) - 16*j, j1)
// CHECK-NEXT: | | n7 := select(n5 == j1', j0', n6)
// CHECK-NEXT: | | arena[((T + 15)/16) + ((T + 15)/16)*i + 2*i + 1 - j] = shli(n7, 2) | n5
// CHECK-NEXT: | | j0' <- n7
// CHECK-NEXT: | | j1' <- n5
// CHECK-NEXT: barrier
// CHECK-NEXT: n8 := ((((T + 15)/16)*B + 2*B + 7)/8)
// CHECK-NEXT: heddle_attention_pack(q, k, v, y, arena[64*n8], m, arena, tid, dealt(((T + 127)/128)*B), T, T, 0, 0, 128*((T + 127)/128), 128*((T + 127)/128), ((T + 31)/32), ((T + 127)/128), 2048*((T + 127)/128)*B, 4096*((T + 127)/128)*B, 4096*((T + 127)/128)*B + 16*B, B, T, B, ((T + 15)/16) + 2)
// CHECK-NEXT: heddle_attention_anchors(q, k, v, y, arena[64*n8], m, arena, tid, share(B), T, T, 0, 0, 128*((T + 127)/128), 128*((T + 127)/128), ((T + 31)/32), ((T + 127)/128), 2048*((T + 127)/128)*B, 4096*((T + 127)/128)*B, 4096*((T + 127)/128)*B + 16*B, B, T, B, ((T + 15)/16) + 2)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_attention(q, arena[64*n8], arena[64*n8][2048*((T + 127)/128)*B], y, arena[64*n8], m, arena, tid, dealt(((T + 31)/32)*B), T, T, 0, 0, 128*((T + 127)/128), 128*((T + 127)/128), ((T + 31)/32), ((T + 127)/128), 2048*((T + 127)/128)*B, 4096*((T + 127)/128)*B, 4096*((T + 127)/128)*B + 16*B, B, T, B, ((T + 15)/16) + 2)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention_pack:
// CHECK: | n0 := (i%((T + 127)/128))
// CHECK-NEXT: | n1 := min(128*n0 + 128, T)
// CHECK-NEXT: | for j = 128*n0 to n1 step 16
// CHECK-NEXT: | | n2 := (i/((T + 127)/128))
// CHECK: | for j = 128*n0 to n1
// CHECK-NEXT: | | scratch[2048*((T + 127)/128)*n2 + 2048*((T + 127)/128)*B + 16*j : 16] = value[16*n2*T + 16*j : 16]
// CHECK-LABEL: heddle_attention_anchors:
// CHECK: | | if w0.0 < T
// CHECK: | scratch[4096*((T + 127)/128)*B][i] = w0.0
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[4096*((T + 127)/128)*B + 16*B + 10352*thread]
// CHECK: | | n0 := (i%((T + 31)/32))
// CHECK-NEXT: | | n1 := min(32, T - 32*n0)
// CHECK-NEXT: | | for j = 0 to n1
// CHECK-NEXT: | | | n2 := (i/((T + 31)/32))
// CHECK: | | | area[j + 10272] = -3.402823e+38
// CHECK-NEXT: | | for j = 0 to n1 step 8
// CHECK-NEXT: | | | n3 := arena[((T + 15)/16)*n2 + 2*n2]
// CHECK-NEXT: | | | area[10304][2*(j/8)] = n3
// CHECK-NEXT: | | | n4 := arena[((T + 15)/16)*n2 + 2*n2 + 1]
// CHECK-NEXT: | | | area[10304][2*(j/8) + 1] = n4
// CHECK-NEXT: | | n5 := scratch[4096*((T + 127)/128)*B][n2]
// CHECK-NEXT: | | while, 5 from max(n5, n3), false, false, max(n5, n3), 0
// CHECK-NEXT: | | | as long as w1.0 < min(n4, T)
// CHECK: | | | | n10 := ((w1.0 - n5)/128)
// CHECK: | | | | for j = 128*n10 + n5 to r12 step 128
// CHECK: | | | | | n24 := min(j + 128, r12)
// CHECK: | | | | | | | n25 := area[10304][2*(l/8) + 1]
// CHECK-NEXT: | | | | | | | n26 := area[10304][2*(l/8)]
// CHECK-NEXT: | | | | | | | n27 := max(n26, max(j, w1.0))
// CHECK-NEXT: | | | | | | | if (16*k < min(n24, n25)) & (n27 < 16*k + 32)
// CHECK: | | | | | | | | if (16*k < min(n24, n25)) & (n27 < 16*k + 64)
// CHECK: | | | | | | | | if (16*k < min(n24, n25)) & (n27 < 16*k + 64)
// CHECK: | | | | | | | | if (16*k < min(n24, n25)) & (n27 < 16*k + 64)
// CHECK: | | | | | if ((max(j, w1.0) == j) & (n24 == j + 128)) & (r13 == 0)
// CHECK-NEXT: | | | | | | for k = 0 to n1
// CHECK-NEXT: | | | | | | | area[k + 10272] = select(.., .., area[k + 10272])
// CHECK-NEXT: | | | | | | | area[k + 10240] = area[k + 10272] - ..
// CHECK-NOT: lane
// CHECK: | | | | | | | area[16*k + 9728 : 16] = fma(area[16*k + 9728 : 16], area[k + 10240], ..)
// CHECK-NOT: lane
// CHECK: | | | | | else
// CHECK: | | | | | | | for k = 0 to n1
// CHECK-NEXT: | | | | | | | | n28 := area[10304][2*(k/8)]
// CHECK-NEXT: | | | | | | | | n29 := max(n28, max(j, w1.0))
// CHECK-NEXT: | | | | | | | | n30 := area[10304][2*(k/8) + 1]
// CHECK: | | | | | | | | | area[272*k + l + 576 : 16] = select((j + l + lane < n24) & (j + l + lane >= max(j, w1.0)), area[272*k + l + 576 : 16], -inf)
// CHECK-NEXT: | | | | | | | | | area[272*k + l + 592 : 16] = select((j + l + lane + 16 < n24) & (j + l + lane + 16 >= max(j, w1.0)), area[272*k + l + 592 : 16], -inf)
// CHECK-NEXT: | | | | | | | | | l0 <- larger(select((j + l + lane < n24) & (j + l + lane >= max(j, w1.0)), area[272*k + l + 576 : 16], -inf), l0)
// CHECK-NEXT: | | | | | | | | | l1 <- larger(select((j + l + lane + 16 < n24) & (j + l + lane + 16 >= max(j, w1.0)), area[272*k + l + 592 : 16], -inf), l1)
// CHECK-NEXT: | | | | | | | | area[k + 10272] = larger(largest(larger(l0, l1)), area[k + 10272])
// CHECK-NEXT: | | | | | | | | area[k + 10240] = area[k + 10272] - larger(largest(larger(l0, l1)), area[k + 10272])
// CHECK: | | | | | | else
// CHECK-NEXT: | | | | | | | for k = 0 to n1
// CHECK: | | | | | | | | | n31 := m[n2*T + extract(j + l + lane) : 16 if j + l + lane < T]
// CHECK-NEXT: | | | | | | | | | area[272*k + l + 576 : 16] = select(((j + l + lane < n24) & (j + l + lane >= max(j, w1.0))) & (n31 != 0), area[272*k + l + 576 : 16], -inf)
// CHECK-NEXT: | | | | | | | | | n32 := m[n2*T + extract(j + l + lane + 16) : 16 if j + l + lane + 16 < T]
// CHECK-NEXT: | | | | | | | | | area[272*k + l + 592 : 16] = select(((j + l + lane + 16 < n24) & (j + l + lane + 16 >= max(j, w1.0))) & (n32 != 0), area[272*k + l + 592 : 16], -inf)
// CHECK: | | | | | | | | area[k + 10272] = larger(largest(larger(l0', l1')), area[k + 10272])
// CHECK-NEXT: | | | | | | | | area[k + 10240] = area[k + 10272] - larger(largest(larger(l0', l1')), area[k + 10272])
// CHECK: | | | | | | for k = 0 to n1
// CHECK: | | | | | | | area[16*k + 9728 : 16] = fma(area[16*k + 9728 : 16], area[k + 10240], l0'3 + l1'3)
// CHECK: | | | | | | | | for l = n29 to min(n24, n30), 8 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243], area[16*k + 9280 : 16] * area[k + 10244], area[16*k + 9296 : 16] * area[k + 10245], area[16*k + 9312 : 16] * area[k + 10246], area[16*k + 9328 : 16] * area[k + 10247]
// CHECK: | | | | | | | | | for l = n29 to min(n24, n30), 4 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243]
// CHECK: | | | | | | | | | for l = n29 to min(n24, n30), 2 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241]
// CHECK: | | | | | | | | | for l = n29 to min(n24, n30), 1 from area[16*k + 9216 : 16] * area[k + 10240]
// CHECK: | | | | | else
// CHECK: | | | | | | | | for l = n29 to n29 + 4*n33 step 4, 8 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243], area[16*k + 9280 : 16] * area[k + 10244], area[16*k + 9296 : 16] * area[k + 10245], area[16*k + 9312 : 16] * area[k + 10246], area[16*k + 9328 : 16] * area[k + 10247]
// CHECK-NEXT: | | | | | | | | | l0'8 <- fma(area[272*k + l + s + 576 - j], value[2048*((T + 127)/128)*n2 + 16*l + 16*s : 16], l0'8), s = 0 to 4
// CHECK: | | | | | | | | for l = n29 + 4*n33 to min(n24, n30), 8 from l0'8, l1'8, l2'8, l3'8, l4'8, l5'8, l6'8, l7'8
// CHECK-NEXT: | | | | | | | | | l0'9 <- fma(area[272*k + l + 576 - j], value[2048*((T + 127)/128)*n2 + 16*l : 16], l0'9)
// CHECK: | | | | | | | | | for l = n29 to min(n24, n30), 4 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241], area[16*k + 9248 : 16] * area[k + 10242], area[16*k + 9264 : 16] * area[k + 10243]
// CHECK: | | | | | | | | | for l = n29 to min(n24, n30), 2 from area[16*k + 9216 : 16] * area[k + 10240], area[16*k + 9232 : 16] * area[k + 10241]
// CHECK: | | | | | | | | | for l = n29 to min(n24, n30), 1 from area[16*k + 9216 : 16] * area[k + 10240]
// CHECK: | | for j = 0 to n1, 1 from 0
// CHECK-NEXT: | | | result[16*n2*T + 512*n0 + 16*j : 16] = area[16*j + 9216 : 16] * ..
func.func @run(%q: !x {model.name = "q"}, %k: !x {model.name = "k"}, %v: !x {model.name = "v"}, %m: !m {model.name = "m"}) -> (!x {model.name = "y"}) {
  %keys = mask.keys %m : !m
  %y = attn.sdpa %q, %k, %v mask %keys heads 1 kv_heads 1 scale 0.5 : (!x, !x, !x) -> !x
  return %y : !x
}
