// RUN: %loops %s | FileCheck %s

// One row that sees everything: all of a kernel, as short as it gets. Two barriers: behind packed keys and values, and behind
// the result. `area` is a thread's working memory: query at 0, scores at 576, output at 9216, sums at 9728, alpha at 10240,
// maximum at 10272.
!q = !model.tensor<[1, 1, 16], f32>
!x = !model.tensor<[1, "past+1", 16], f32>
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: heddle_attention_pack(q, k, v, y, arena, tid, dealt((past/128) + 1), 1, past + 1, past, 0, 128*(past/128) + 128, 128*(past/128) + 128, 1, (past/128) + 1, 2048*(past/128) + 2048, 4096*(past/128) + 4096, 4096*(past/128) + 4096)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_attention(q, arena, arena[2048*(past/128) + 2048], y, arena, tid, dealt(1), 1, past + 1, past, 0, 128*(past/128) + 128, 128*(past/128) + 128, 1, (past/128) + 1, 2048*(past/128) + 2048, 4096*(past/128) + 4096, 4096*(past/128) + 4096)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention_pack:
// CHECK-NEXT: for i = from to to
// CHECK-NEXT: | n0 := (i%((past/128) + 1))
// CHECK-NEXT: | n1 := min(128*n0 + 128, past + 1)
// CHECK-NEXT: | for j = 128*n0 to n1 step 16
// CHECK-NEXT: | | n2 := (i/((past/128) + 1))
// CHECK: | for j = 128*n0 to n1
// CHECK-NEXT: | | scratch[2048*(past/128) + 2048*(past/128)*n2 + 2048*n2 + 16*j + 2048 : 16] = value[16*n2 + 16*n2*past + 16*j : 16]
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[4096*(past/128) + 10352*thread + 4096]
// CHECK-NEXT: for i = from to to
// CHECK-NEXT: | while, 1 from false
// CHECK-NEXT: | | area[0 : 16] = query[16*i : 16] * 0.7213475
// CHECK-NEXT: | | area[9216 : 16] = 0
// CHECK-NEXT: | | area[9728 : 16] = 0
// CHECK-NEXT: | | area[10272] = -3.402823e+38
// CHECK-NEXT: | | while, 5 from 0, false, false, 0, 0
// CHECK-NEXT: | | | as long as w1.0 < past + 1
// CHECK-NEXT: | | | if select(w1.0 < w1.3, w1.1, true)
// CHECK-NEXT: | | | | n0 := select(w1.0 < w1.3, w1.3, past + 1)
// CHECK-NEXT: | | | | n1 := min(128*(w1.0/128) + 128, past + 1)
// CHECK-NEXT: | | | | if n0 >= n1
// CHECK-NEXT: | | | | | n2 := select(n0 == past + 1, past + 1, 128*(n0/128))
// CHECK-NEXT: | | | | | r6 <- n2
// CHECK-NEXT: | | | | | r7 <- n2
// CHECK-NEXT: | | | | | n3 := select(w1.0 < w1.3, w1.4, 0)
// CHECK-NEXT: | | | | | n4 := select(select(w1.0 < w1.3, w1.2, true), 0, n3)
// CHECK-NEXT: | | | | | r8 <- n4
// CHECK-NEXT: | | | | | r9 <- select(w1.0 < w1.3, w1.2, true)
// CHECK-NEXT: | | | | | r10 <- n0
// CHECK-NEXT: | | | | | r11 <- n3
// CHECK-NEXT: | | | | else
// CHECK-NEXT: | | | | | while, 4 from n0, select(w1.0 < w1.3, w1.2, true), n0, n3
// CHECK-NEXT: | | | | | | as long as w12.0 < n1
// CHECK-NEXT: | | | | | | n5 := min(n1, past + 1)
// CHECK-NEXT: | | | | | | w12.0 <- n5
// CHECK-NEXT: | | | | | | w12.1 <- true
// CHECK-NEXT: | | | | | | w12.2 <- past + 1
// CHECK-NEXT: | | | | | | w12.3 <- 0
// CHECK-NEXT: | | | | | r6 <- n1
// CHECK-NEXT: | | | | | r7 <- w12.0
// CHECK-NEXT: | | | | | r8 <- n4
// CHECK-NEXT: | | | | | r9 <- w12.1
// CHECK-NEXT: | | | | | r10 <- w12.2
// CHECK-NEXT: | | | | | r11 <- w12.3
// CHECK-NEXT: | | | | for j = 128*(w1.0/128) to r7 step 128
// CHECK-NEXT: | | | | | n6 := (max(j, w1.0)/16)
// CHECK-NEXT: | | | | | n7 := ((min(j + 128, r7) + 15)/16)
// CHECK-NEXT: | | | | | for k = 4*(n6/4) to n7 step 4
// CHECK-NEXT: | | | | | | if (16*k < min(j + 128, r7)) & (max(j, w1.0) < 16*k + 64)
// CHECK-NEXT: | | | | | | | for l = 0 to 16, 4 from 0
// CHECK-NEXT: | | | | | | | | l0 <- fma(area[l], key[2048*(past/128)*i + 2048*i + 256*k + 16*l : 16], l0)
// CHECK-NEXT: | | | | | | | | l1 <- fma(area[l], key[2048*(past/128)*i + 2048*i + 256*k + 16*l + 256 : 16], l1)
// CHECK-NEXT: | | | | | | | | l2 <- fma(area[l], key[2048*(past/128)*i + 2048*i + 256*k + 16*l + 512 : 16], l2)
// CHECK-NEXT: | | | | | | | | l3 <- fma(area[l], key[2048*(past/128)*i + 2048*i + 256*k + 16*l + 768 : 16], l3)
// CHECK-NEXT: | | | | | | | area[16*k + 576 - j : 16] = l0
// CHECK-NEXT: | | | | | | | area[16*k + 592 - j : 16] = l1
// CHECK-NEXT: | | | | | | | area[16*k + 608 - j : 16] = l2
// CHECK-NEXT: | | | | | | | area[16*k + 624 - j : 16] = l3
// CHECK-NEXT: | | | | | if ((max(j, w1.0) == j) & (min(j + 128, r7) == j + 128)) & (r8 == 0)
// CHECK-NEXT: | | | | | | area[10272] = select(.., .., area[10272])
// CHECK-NEXT: | | | | | | area[10240] = area[10272] - ..
// CHECK-NOT: lane
// CHECK: | | | | | | area[9728 : 16] = fma(area[9728 : 16], area[10240], ..)
// CHECK-NOT: lane
// CHECK: | | | | | else
// CHECK-NEXT: | | | | | | n8 := ((max(j, w1.0) - j)/32)
// CHECK-NEXT: | | | | | | for k = 32*n8 to min(j + 128, r7) - j step 32, 2 from -inf
// CHECK-NEXT: | | | | | | | area[k + 576 : 16] = select((j + k + lane < min(j + 128, r7)) & (j + k + lane >= max(j, w1.0)), area[k + 576 : 16], -inf)
// CHECK-NEXT: | | | | | | | area[k + 592 : 16] = select((j + k + lane + 16 < min(j + 128, r7)) & (j + k + lane + 16 >= max(j, w1.0)), area[k + 592 : 16], -inf)
// CHECK-NEXT: | | | | | | | k0 <- larger(select((j + k + lane < min(j + 128, r7)) & (j + k + lane >= max(j, w1.0)), area[k + 576 : 16], -inf), k0)
// CHECK-NEXT: | | | | | | | k1 <- larger(select((j + k + lane + 16 < min(j + 128, r7)) & (j + k + lane + 16 >= max(j, w1.0)), area[k + 592 : 16], -inf), k1)
// CHECK-NEXT: | | | | | | area[10272] = larger(largest(larger(k0, k1)), area[10272])
// CHECK-NEXT: | | | | | | area[10240] = area[10272] - larger(largest(larger(k0, k1)), area[10272])
// CHECK: | | | | | | for k = 32*n8 to min(j + 128, r7) - j step 32, 2 from 0
// CHECK: | | | | | | area[9728 : 16] = fma(area[9728 : 16], area[10240], k0' + k1')
// CHECK-NEXT: | | | | | if w0.0
// CHECK-NEXT: | | | | | | if max(j, w1.0) < min(j + 128, r7)
// CHECK-NEXT: | | | | | | | for k = max(j, w1.0) to min(j + 128, r7), 1 from area[9216 : 16] * area[10240]
// CHECK-NEXT: | | | | | | | | k0'3 <- select(area[k + 576 - j] != 0, fma(area[k + 576 - j], value[2048*(past/128)*i + 2048*i + 16*k : 16], k0'3), k0'3)
// CHECK-NEXT: | | | | | | | area[9216 : 16] = k0'3
// CHECK-NEXT: | | | | | else
// CHECK-NEXT: | | | | | | if max(j, w1.0) < min(j + 128, r7)
// CHECK-NEXT: | | | | | | | for k = max(j, w1.0) to min(j + 128, r7), 1 from area[9216 : 16] * area[10240]
// CHECK-NEXT: | | | | | | | | k0'4 <- fma(area[k + 576 - j], value[2048*(past/128)*i + 2048*i + 16*k : 16], k0'4)
// CHECK-NEXT: | | | | | | | area[9216 : 16] = k0'4
// CHECK-NEXT: | | | | r2 <- r6
// CHECK-NEXT: | | | | r3 <- r9
// CHECK-NEXT: | | | | r4 <- r10
// CHECK-NEXT: | | | | r5 <- r11
// CHECK-NEXT: | | | else
// CHECK-NEXT: | | | | r2 <- n0
// CHECK-NEXT: | | | | r3 <- select(w1.0 < w1.3, w1.2, true)
// CHECK-NEXT: | | | | r4 <- n0
// CHECK-NEXT: | | | | r5 <- n3
// CHECK-NEXT: | | | w1.0 <- r2
// CHECK-NEXT: | | | w1.1 <- select(w1.0 < w1.3, w1.1, true)
// CHECK-NEXT: | | | w1.2 <- r3
// CHECK-NEXT: | | | w1.3 <- r4
// CHECK-NEXT: | | | w1.4 <- r5
// CHECK-NEXT: | | result[16*i : 16] = area[9216 : 16] * ..
// CHECK-NEXT: | | as long as .. & (not w0.0)
// CHECK-NEXT: | | w0.0 <- true
func.func @run(%q: !q {model.name = "q"}, %k: !x {model.name = "k"}, %v: !x {model.name = "v"}) -> (!q {model.name = "y"}) {
  %y = attn.sdpa %q, %k, %v heads 1 kv_heads 1 scale 0.5 past "past" : (!q, !x, !x) -> !q
  return %y : !q
}
