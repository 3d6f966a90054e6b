// RUN: %loops %s | FileCheck %s

// A window of 200 rows needs a ring of 896: a panel goes to its place modulo 896, and once more behind the last block if that
// place is in the first. The kernel subtracts what the ring has turned by, j - j%896, for keys and values.
!x = !model.tensor<[B, new, 16], f32>
!all = !model.tensor<[B, "new+past", 16], f32>
!state = !model.state<[B, capacity, 16], f32>
// CHECK-LABEL: heddle_entry_step:
// CHECK-NEXT: n0 := ((new + past + 15)/16)
// CHECK-NEXT: for i = share(n0*B - (past/16)*B)
// CHECK-NEXT: | n1 := (i%(n0 - (past/16)))
// CHECK-NEXT: | n2 := ((16*(past/16) + 16*n1)%896)
// CHECK-NEXT: | n3 := ((capacity + 127)/128)
// CHECK-NEXT: | n4 := min(1024, 128*n3)
// CHECK-NEXT: | n5 := min(n2 + 897, n4)
// CHECK-NEXT: | for j = n2 to n5 step 896
// CHECK-NEXT: | | n6 := min(16*(past/16) + 16*n1 + 16, new + past)
// CHECK-NEXT: | | n7 := max(16*(past/16) + 16*n1, past)
// CHECK-NEXT: | | if n6 - n7 == 16
// CHECK-NEXT: | | | n8 := (i/(n0 - (past/16)))
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 16 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 32 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 48 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 64 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 80 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 96 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 112 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 128 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 144 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 160 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 176 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 192 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 208 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 224 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | | ks[16*n4*n8 + 16*j + 240 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | else
// CHECK-NEXT: | | | for k = n7 to n6
// CHECK-NEXT: | | | | for l = 0 to 16
// CHECK-NEXT: | | | | | ks[16*n4*n8 + 16*j + k + 16*l - 16*(past/16) - 16*n1] = k[16*n8*new + 16*k + l - 16*past]
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = share(n0*B - (past/16)*B)
// CHECK-NEXT: | for j = n2 to n5 step 896
// CHECK-NEXT: | | for k = n7 to n6
// CHECK-NEXT: | | | vs[16*n4*n8 + 16*j + 16*k - 256*(past/16) - 256*n1 : 16] = v[16*n8*new + 16*k - 16*past : 16]
// CHECK-NEXT: barrier
// CHECK-NEXT: n9 := ((new + past + 127)/128)
// CHECK-NEXT: heddle_attention(q, ks, vs, y, arena, tid, dealt(((new + 31)/32)*B), new, new + past, past, 0, n4, n4, ((new + 31)/32), n9, 0, 0, 0, 896, 896)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[10352*thread]
// CHECK: | | n0 := (i%((new + 31)/32))
// CHECK-NEXT: | | n1 := min(32, new - 32*n0)
// CHECK-NEXT: | | for j = 0 to n1
// CHECK-NEXT: | | | n2 := (i/((new + 31)/32))
// CHECK: | | for j = 0 to n1 step 8
// CHECK-NEXT: | | | area[10304][2*(j/8)] = 32*n0 + j + past - 199
// CHECK-NEXT: | | | area[10304][2*(j/8) + 1] = 32*n0 + min(n1, j + 8) + past
// CHECK: | | | | for j = 128*(w1.0/128) to r12 step 128
// CHECK: | | | | | n26 := min(j + 128, r12)
// CHECK: | | | | | | | n27 := area[10304][2*(l/8) + 1]
// CHECK-NEXT: | | | | | | | n28 := area[10304][2*(l/8)]
// CHECK: | | | | | | | | | n30 := min(1024, 128*((capacity + 127)/128))
// CHECK-NEXT: | | | | | | | | | n31 := (128*(w1.0/128)%896)
// CHECK-NEXT: | | | | | | | | | n32 := select(n31 + j - 128*(w1.0/128) < 896, 128*(w1.0/128) - n31, 128*(w1.0/128) + 896 - n31)
// CHECK: | | | | | | | | | m0 <- fma(area[16*l + m + s], key[16*n30*n2 + 256*k + 16*m + 16*s - 16*n32 : 16], m0), s = 0 to 4
// CHECK-NEXT: | | | | | | | | | m1 <- fma(area[16*l + m + s], key[16*n30*n2 + 256*k + 16*m + 16*s + 256 - 16*n32 : 16], m1), s = 0 to 4
// CHECK: | | | | | | | n33 := area[10304][2*(k/8)]
// CHECK: | | | | | | | n35 := area[10304][2*(k/8) + 1]
// CHECK: | | | | | | | | n36 := min(32*n0 + k + past + 1, n26)
// CHECK-NEXT: | | | | | | | | n37 := max(32*n0 + k + past - 199, max(j, w1.0))
// CHECK-NEXT: | | | | | | | | area[272*k + l + 576 : 16] = select((j + l + lane < n36) & (j + l + lane >= n37), area[272*k + l + 576 : 16], -inf)
// CHECK-NEXT: | | | | | | | | area[272*k + l + 592 : 16] = select((j + l + lane + 16 < n36) & (j + l + lane + 16 >= n37), area[272*k + l + 592 : 16], -inf)
// CHECK: | | | | | | | | | l0'3 <- select(area[272*k + l + 576 - j] != 0, fma(area[272*k + l + 576 - j], value[16*n30*n2 + 16*l - 16*n32 : 16], l0'3), l0'3)
// CHECK: | | | | | | | | | l0'7 <- fma(area[272*k + l + s + 576 - j], value[16*n30*n2 + 16*l + 16*s - 16*n32 : 16], l0'7), s = 0 to 4
// CHECK: | | for j = 0 to n1, 1 from 0
func.func @step(%q: !x {model.name = "q"}, %k: !x {model.name = "k"}, %v: !x {model.name = "v"}, %ks: !state {model.state = "ks"},
                %vs: !state {model.state = "vs"}) -> (!x {model.name = "y"}) {
  %ka = model.append %ks, %k axis 1 : !state, !x -> !all
  %va = model.append %vs, %v axis 1 : !state, !x -> !all
  %c = mask.causal
  %w = mask.window left 199
  %m = mask.and %c, %w
  %y = attn.sdpa %q, %ka, %va mask %m heads 1 kv_heads 1 scale 0.5 past "past" : (!x, !all, !all) -> !x
  return %y : !x
}
