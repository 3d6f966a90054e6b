// RUN: %loops %s | FileCheck %s

// New keys go into panels of 16 behind the past ones: a whole panel is turned, of others the new keys alone are written.
// Values lie row by row. Nothing is packed for attention, which reads the states; each write has a barrier.
!x = !model.tensor<[B, new, 16], f32>
!all = !model.tensor<[B, "new+past", 16], f32>
!state = !model.state<[B, capacity, 16], f32>
// CHECK-LABEL: heddle_entry_step:
// CHECK-NEXT: n0 := ((new + past + 15)/16)
// CHECK-NEXT: for i = share(n0*B - (past/16)*B)
// CHECK-NEXT: | n1 := (i%(n0 - (past/16)))
// CHECK-NEXT: | n2 := min(16*(past/16) + 16*n1 + 16, new + past)
// CHECK-NEXT: | n3 := max(16*(past/16) + 16*n1, past)
// CHECK-NEXT: | if n2 - n3 == 16
// CHECK-NEXT: | | n4 := ((capacity + 127)/128)
// CHECK-NEXT: | | n5 := (i/(n0 - (past/16)))
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 16 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 32 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 48 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 64 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 80 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 96 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 112 : 16] = shuffle 0 1 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 128 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 144 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 160 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 176 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 192 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 208 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 224 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | | ks[256*(past/16) + 2048*n4*n5 + 256*n1 + 240 : 16] = shuffle 8 9 of (.., ..)
// CHECK-NEXT: | else
// CHECK-NEXT: | | for j = n3 to n2
// CHECK-NEXT: | | | for k = 0 to 16
// CHECK-NEXT: | | | | ks[240*(past/16) + 2048*n4*n5 + 240*n1 + j + 16*k] = k[16*n5*new + 16*j + k - 16*past]
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = share(n0*B - (past/16)*B)
// CHECK-NEXT: | for j = n3 to n2
// CHECK-NEXT: | | vs[2048*n4*n5 + 16*j : 16] = v[16*n5*new + 16*j - 16*past : 16]
// CHECK-NEXT: barrier
// CHECK-NEXT: n6 := ((new + past + 127)/128)
// CHECK-NEXT: heddle_attention(q, ks, vs, y, arena, tid, dealt(((new + 31)/32)*B), new, new + past, past, 0, 128*n4, 128*n4, ((new + 31)/32), n6, 0, 0, 0)
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention:
// CHECK-NEXT: area := scratch[10352*thread]
// CHECK: | | n0 := (i%((new + 31)/32))
// CHECK-NEXT: | | n1 := min(32, new - 32*n0)
// CHECK-NEXT: | | for j = 0 to n1
// CHECK-NEXT: | | | n2 := (i/((new + 31)/32))
// CHECK: | | for j = 0 to n1 step 8
// CHECK-NEXT: | | | area[10304][2*(j/8)] = 0
// CHECK-NEXT: | | | area[10304][2*(j/8) + 1] = 32*n0 + min(n1, j + 8) + past
// CHECK: | | | | for j = 128*(w1.0/128) to r12 step 128
// CHECK: | | | | | n18 := min(j + 128, r12)
// CHECK: | | | | | | | n19 := area[10304][2*(l/8) + 1]
// CHECK-NEXT: | | | | | | | n20 := area[10304][2*(l/8)]
// CHECK: | | | | | | | | | n22 := ((capacity + 127)/128)
// CHECK: | | | | | | | | | m0 <- fma(area[16*l + m + s], key[2048*n22*n2 + 256*k + 16*m + 16*s : 16], m0), s = 0 to 4
// CHECK-NEXT: | | | | | | | | | m1 <- fma(area[16*l + m + s], key[2048*n22*n2 + 256*k + 16*m + 16*s + 256 : 16], m1), s = 0 to 4
// CHECK: | | | | | | | n23 := area[10304][2*(k/8)]
// CHECK: | | | | | | | n25 := area[10304][2*(k/8) + 1]
// CHECK: | | | | | | | | n26 := min(32*n0 + k + past + 1, n18)
// CHECK-NEXT: | | | | | | | | area[272*k + l + 576 : 16] = select((j + l + lane < n26) & (j + l + lane >= max(j, w1.0)), area[272*k + l + 576 : 16], -inf)
// CHECK-NEXT: | | | | | | | | area[272*k + l + 592 : 16] = select((j + l + lane + 16 < n26) & (j + l + lane + 16 >= max(j, w1.0)), area[272*k + l + 592 : 16], -inf)
// CHECK: | | | | | | | | | l0'3 <- select(area[272*k + l + 576 - j] != 0, fma(area[272*k + l + 576 - j], value[2048*n22*n2 + 16*l : 16], l0'3), l0'3)
// CHECK: | | | | | | | | | l0'7 <- fma(area[272*k + l + s + 576 - j], value[2048*n22*n2 + 16*l + 16*s : 16], l0'7), s = 0 to 4
// CHECK: | | for j = 0 to n1, 1 from 0
func.func @step(%q: !x {model.name = "q"}, %k: !x {model.name = "k"}, %v: !x {model.name = "v"}, %ks: !state {model.state = "ks"},
                %vs: !state {model.state = "vs"}) -> (!x {model.name = "y"}) {
  %ka = model.append %ks, %k axis 1 : !state, !x -> !all
  %va = model.append %vs, %v axis 1 : !state, !x -> !all
  %m = mask.causal
  %y = attn.sdpa %q, %ka, %va mask %m heads 1 kv_heads 1 scale 0.5 past "past" : (!x, !all, !all) -> !x
  return %y : !x
}
