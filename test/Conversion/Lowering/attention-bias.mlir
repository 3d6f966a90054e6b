// RUN: %loops %s | FileCheck %s

// Biases are added inside the tile, times log2(e) as the scores are, in whole tiles and in partial ones.
!q = !model.tensor<[B, 1, 32], f32>
!k = !model.tensor<[B, "past+1", 32], f32>

// A slope a head times the distance j - i; the row is `past`.
!s = !model.tensor<[2], f32>
// CHECK-LABEL: heddle_entry_alibi:
// CHECK-NEXT: heddle_attention_pack(q, k, v, y, arena, slopes, null, tid, dealt(2*(past/128)*B + 2*B), 1, past + 1, past, 0, 128*(past/128) + 128, 128*(past/128) + 128, 1, (past/128) + 1, 4096*(past/128)*B + 4096*B, 8192*(past/128)*B + 8192*B, 8192*(past/128)*B + 8192*B)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_attention(q, arena, arena[4096*(past/128)*B + 4096*B], y, arena, slopes, null, tid, dealt(2*B), 1, past + 1, past, 0, 128*(past/128) + 128, 128*(past/128) + 128, 1, (past/128) + 1, 4096*(past/128)*B + 4096*B, 8192*(past/128)*B + 8192*B, 8192*(past/128)*B + 8192*B)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention_pack:
// CHECK: | n0 := ((i/2)%((past/128) + 1))
// CHECK-NEXT: | n1 := min(128*n0 + 128, past + 1)
// CHECK-NEXT: | for j = 128*n0 to n1 step 16
// CHECK: | for j = 128*n0 to n1
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[8192*(past/128)*B + 8192*B + 10352*thread]
// CHECK: | | | | for j = 128*(w1.0/128) to r7 step 128
// CHECK: | | | | | | area[576 : 16] = fma(slopes[(i%2)] * (j + lane - past), 1.442695, area[576 : 16])
// CHECK-NEXT: | | | | | | area[592 : 16] = fma(slopes[(i%2)] * (j + lane + 16 - past), 1.442695, area[592 : 16])
// CHECK-NEXT: | | | | | | area[608 : 16] = fma(slopes[(i%2)] * (j + lane + 32 - past), 1.442695, area[608 : 16])
// CHECK-NEXT: | | | | | | area[624 : 16] = fma(slopes[(i%2)] * (j + lane + 48 - past), 1.442695, area[624 : 16])
// CHECK-NEXT: | | | | | | area[640 : 16] = fma(slopes[(i%2)] * (j + lane + 64 - past), 1.442695, area[640 : 16])
// CHECK-NEXT: | | | | | | area[656 : 16] = fma(slopes[(i%2)] * (j + lane + 80 - past), 1.442695, area[656 : 16])
// CHECK-NEXT: | | | | | | area[672 : 16] = fma(slopes[(i%2)] * (j + lane + 96 - past), 1.442695, area[672 : 16])
// CHECK-NEXT: | | | | | | area[688 : 16] = fma(slopes[(i%2)] * (j + lane + 112 - past), 1.442695, area[688 : 16])
// CHECK: | | | | | | | area[k + 576 : 16] = select((j + k + lane < min(j + 128, r7)) & (j + k + lane >= max(j, w1.0)), fma(slopes[(i%2)] * (j + k + lane - past), 1.442695, area[k + 576 : 16]), -inf)
// CHECK-NEXT: | | | | | | | area[k + 592 : 16] = select((j + k + lane + 16 < min(j + 128, r7)) & (j + k + lane + 16 >= max(j, w1.0)), fma(slopes[(i%2)] * (j + k + lane + 16 - past), 1.442695, area[k + 592 : 16]), -inf)
// CHECK: | | result[16*(i%2) + 32*(i/2) : 16] = area[9216 : 16] * ..
func.func @alibi(%q: !q {model.name = "q"}, %k: !k {model.name = "k"}, %v: !k {model.name = "v"}, %s: !s {model.name = "slopes"}) -> (!q {model.name = "y"}) {
  %b = attn.alibi %s : !s
  %y = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 past "past" : (!q, !k, !k) -> !q
  return %y : !q
}

// A head's row of biases by distance, made once an item from bucket numbers (constants) and the table; distances past its ends
// are those of its ends.
!t = !model.tensor<[4, 2], f32>
// CHECK-LABEL: heddle_entry_buckets:
// CHECK-NEXT: heddle_attention_pack(q, k, v, y, arena, t, constant_0, tid, dealt(2*(past/128)*B + 2*B), 1, past + 1, past, 0, 128*(past/128) + 128, 128*(past/128) + 128, 1, (past/128) + 1, 4096*(past/128)*B + 4096*B, 8192*(past/128)*B + 8192*B, 8192*(past/128)*B + 8192*B)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_attention(q, arena, arena[4096*(past/128)*B + 4096*B], y, arena, t, constant_0, tid, dealt(2*B), 1, past + 1, past, 0, 128*(past/128) + 128, 128*(past/128) + 128, 1, (past/128) + 1, 4096*(past/128)*B + 4096*B, 8192*(past/128)*B + 8192*B, 8192*(past/128)*B + 8192*B)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention_pack:
// CHECK: | n0 := ((i/2)%((past/128) + 1))
// CHECK-NEXT: | n1 := min(128*n0 + 128, past + 1)
// CHECK-NEXT: | for j = 128*n0 to n1 step 16
// CHECK: | for j = 128*n0 to n1
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[8192*(past/128)*B + 8192*B + 10400*thread]
// CHECK: | for j = 0 to 41
// CHECK-NEXT: | | n0 := min(8, max(0, j - 16))
// CHECK-NEXT: | | area[j + 10336] = t[(i%2) + 2*constant_0[n0]]
// CHECK: | | | | for j = 128*(w1.0/128) to r7 step 128
// CHECK: | | | | | | n9 := max(-20, j - past)
// CHECK-NEXT: | | | | | | area[576 : 16] = fma(area[min(5, n9) + 10356 : 16], 1.442695, area[576 : 16])
// CHECK-NEXT: | | | | | | n10 := max(-20, j + 16 - past)
// CHECK-NEXT: | | | | | | area[592 : 16] = fma(area[min(5, n10) + 10356 : 16], 1.442695, area[592 : 16])
// CHECK-NEXT: | | | | | | n11 := max(-20, j + 32 - past)
// CHECK-NEXT: | | | | | | area[608 : 16] = fma(area[min(5, n11) + 10356 : 16], 1.442695, area[608 : 16])
// CHECK-NEXT: | | | | | | n12 := max(-20, j + 48 - past)
// CHECK-NEXT: | | | | | | area[624 : 16] = fma(area[min(5, n12) + 10356 : 16], 1.442695, area[624 : 16])
// CHECK-NEXT: | | | | | | n13 := max(-20, j + 64 - past)
// CHECK-NEXT: | | | | | | area[640 : 16] = fma(area[min(5, n13) + 10356 : 16], 1.442695, area[640 : 16])
// CHECK-NEXT: | | | | | | n14 := max(-20, j + 80 - past)
// CHECK-NEXT: | | | | | | area[656 : 16] = fma(area[min(5, n14) + 10356 : 16], 1.442695, area[656 : 16])
// CHECK-NEXT: | | | | | | n15 := max(-20, j + 96 - past)
// CHECK-NEXT: | | | | | | area[672 : 16] = fma(area[min(5, n15) + 10356 : 16], 1.442695, area[672 : 16])
// CHECK-NEXT: | | | | | | n16 := max(-20, j + 112 - past)
// CHECK-NEXT: | | | | | | area[688 : 16] = fma(area[min(5, n16) + 10356 : 16], 1.442695, area[688 : 16])
// CHECK: | | | | | | | n18 := max(-20, j + k - past)
// CHECK-NEXT: | | | | | | | area[k + 576 : 16] = select((j + k + lane < min(j + 128, r7)) & (j + k + lane >= max(j, w1.0)), fma(area[min(5, n18) + 10356 : 16], 1.442695, area[k + 576 : 16]), -inf)
// CHECK-NEXT: | | | | | | | n19 := max(-20, j + k + 16 - past)
// CHECK-NEXT: | | | | | | | area[k + 592 : 16] = select((j + k + lane + 16 < min(j + 128, r7)) & (j + k + lane + 16 >= max(j, w1.0)), fma(area[min(5, n19) + 10356 : 16], 1.442695, area[k + 592 : 16]), -inf)
// CHECK: | | result[16*(i%2) + 32*(i/2) : 16] = area[9216 : 16] * ..
func.func @buckets(%q: !q {model.name = "q"}, %k: !k {model.name = "k"}, %v: !k {model.name = "v"}, %t: !t {model.name = "t"}) -> (!q {model.name = "y"}) {
  %b = attn.bucket_bias %t max_distance 8 : !t
  %y = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 past "past" : (!q, !k, !k) -> !q
  return %y : !q
}
