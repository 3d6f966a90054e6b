// RUN: %loops %s | FileCheck %s

// Four query heads of two key heads: the two of a key head stand side by side as rows of one item (row r is position r/2, head
// r%2 of the pair), so its keys are read once. Rows of q and y are all heads of a position, those of keys and values two.
!q = !model.tensor<[B, T, 64], f32>
!k = !model.tensor<[B, T, 32], f32>
// CHECK-LABEL: heddle_entry_run:
// CHECK-NEXT: heddle_attention_pack(q, k, v, y, arena, tid, dealt(2*((T + 127)/128)*B), T, T, 0, 0, 128*((T + 127)/128), 128*((T + 127)/128), ((T + 15)/16), ((T + 127)/128), 4096*((T + 127)/128)*B, 8192*((T + 127)/128)*B, 8192*((T + 127)/128)*B)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_attention(q, arena, arena[4096*((T + 127)/128)*B], y, arena, tid, dealt(2*((T + 15)/16)*B), T, T, 0, 0, 128*((T + 127)/128), 128*((T + 127)/128), ((T + 15)/16), ((T + 127)/128), 4096*((T + 127)/128)*B, 8192*((T + 127)/128)*B, 8192*((T + 127)/128)*B)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention_pack:
// CHECK-NEXT: for i = from to to
// CHECK-NEXT: | n0 := ((i/2)%((T + 127)/128))
// CHECK-NEXT: | n1 := min(128*n0 + 128, T)
// CHECK-NEXT: | for j = 128*n0 to n1 step 16
// CHECK-NEXT: | | n2 := ((i/2)/((T + 127)/128))
// CHECK: | for j = 128*n0 to n1
// CHECK-NEXT: | | scratch[2048*((T + 127)/128)*(i%2) + 4096*((T + 127)/128)*n2 + 4096*((T + 127)/128)*B + 16*j : 16] = value[16*(i%2) + 32*n2*T + 32*j : 16]
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[8192*((T + 127)/128)*B + 10352*thread]
// CHECK-NEXT: for i = from to to
// CHECK: | | n0 := (i%((T + 15)/16))
// CHECK-NEXT: | | n1 := min(2*T - 32*n0, 32)
// CHECK-NEXT: | | for j = 0 to n1
// CHECK-NEXT: | | | n2 := (i/((T + 15)/16))
// CHECK-NEXT: | | | area[16*j : 16] = query[16*((32*n0 + j)%2) + 64*((32*n0 + j)/2) + 32*(n2%2) + 64*(n2/2)*T : 16] * 0.7213475
// CHECK: | | | | for j = 128*(w1.0/128) to r7 step 128
// CHECK: | | | | | | | | | m0 <- fma(area[16*l + m + s], key[2048*((T + 127)/128)*(n2%2) + 4096*((T + 127)/128)*(n2/2) + 256*k + 16*m + 16*s : 16], m0), s = 0 to 4
// CHECK-NEXT: | | | | | | | | | m1 <- fma(area[16*l + m + s], key[2048*((T + 127)/128)*(n2%2) + 4096*((T + 127)/128)*(n2/2) + 256*k + 16*m + 16*s + 256 : 16], m1), s = 0 to 4
// CHECK: | | | | | | | | | l0'7 <- fma(area[272*k + l + s + 576 - j], value[2048*((T + 127)/128)*(n2%2) + 4096*((T + 127)/128)*(n2/2) + 16*l + 16*s : 16], l0'7), s = 0 to 4
// CHECK: | | | | | | | | | l0'8 <- fma(area[272*k + l + 576 - j], value[2048*((T + 127)/128)*(n2%2) + 4096*((T + 127)/128)*(n2/2) + 16*l : 16], l0'8)
// CHECK: | | | | | | | | | | l0'9 <- fma(area[272*k + l + 576 - j], value[2048*((T + 127)/128)*(n2%2) + 4096*((T + 127)/128)*(n2/2) + 16*l : 16], l0'9)
// CHECK: | | | | | | | | | | l0'10 <- fma(area[272*k + l + 576 - j], value[2048*((T + 127)/128)*(n2%2) + 4096*((T + 127)/128)*(n2/2) + 16*l : 16], l0'10)
// CHECK: | | | | | | | | | | l0'11 <- fma(area[272*k + l + 576 - j], value[2048*((T + 127)/128)*(n2%2) + 4096*((T + 127)/128)*(n2/2) + 16*l : 16], l0'11)
// CHECK: | | for j = 0 to n1, 1 from 0
// CHECK-NEXT: | | | result[16*((32*n0 + j)%2) + 64*((32*n0 + j)/2) + 32*(n2%2) + 64*(n2/2)*T : 16] = area[16*j + 9216 : 16] * ..
func.func @run(%q: !q {model.name = "q"}, %k: !k {model.name = "k"}, %v: !k {model.name = "v"}) -> (!q {model.name = "y"}) {
  %y = attn.sdpa %q, %k, %v heads 4 kv_heads 2 scale 0.5 : (!q, !k, !k) -> !q
  return %y : !q
}
