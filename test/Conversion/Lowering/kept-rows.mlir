// RUN: %loops %s | grep -v prefetch | FileCheck %s

// Rows that only linears of pairs read are rounded by the attention, the norm or the linear that makes them, and lie as those read them:
// bf16, 16 or 20 words from one row to the next. Rows of f32 (those of the first linear, which the norm reads) stay so.
// CHECK-LABEL: heddle_entry_run:
// CHECK: heddle_attention(q, arena, arena[2048*((T + 127)/128)], [[A:arena[^,]*]],
// CHECK: heddle_linear_32_40_dots([[A]], weights, null, [[B:arena[^,]*]], T,
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = share(T)
// CHECK-NEXT: | for j = 0 to 32 step 16, 1 from 0
// CHECK-NEXT: | | j0 <- j0 + [[B]][40*i + j : 16] * [[B]][40*i + j : 16]
// CHECK-NEXT: | for j = 0 to 32 step 16
// CHECK-NEXT: | | [[M:n[0-9]+]] := select(.., (.. * g[j : 16]) | 4194304, ..)
// CHECK-NEXT: | | [[C:arena.*]]{{\[}}40*i + j : 16] = shrui([[M]] & -65536, 16)
// CHECK-NEXT: | [[N:n[0-9]+]] := select(.., (.. * g[32 : min(16, 8)]) | 4194304, ..)
// CHECK-NEXT: | [[C]][40*i + 32 : min(16, 8)] = shrui([[N]] & -65536, 16)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_linear_40_40_dots_rounded_20([[C]], weights[4096], null, [[B]], T,
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_linear_40_40_dots([[B]], weights[4096], null, y, T,
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_attention:
// CHECK: result[16*(n2%2) + 32*(n2/2)*T + 1024*n0 + 32*j : 16] = shrui({{n[0-9]+}} & -65536, 16)
// CHECK-LABEL: heddle_linear_32_40_dots:
// CHECK: y[32*(i%2) + 40*j : min(16, 40 - 32*(i%2))] = k0
// CHECK-LABEL: heddle_linear_40_40_dots_rounded_20:
// CHECK: | | n5 := select(k0 unordered k0, k0 | 4194304, ..)
// CHECK-NEXT: | | y[32*(i%2) + 40*j : min(16, 40 - 32*(i%2))] = shrui(n5 & -65536, 16)
// CHECK-NEXT: | | n6 := select(k1 unordered k1, k1 | 4194304, ..)
// CHECK-NEXT: | | y[32*(i%2) + 40*j + 16 : min(16, 24 - 32*(i%2))] = shrui(n6 & -65536, 16)
// CHECK-LABEL: heddle_linear_40_40_dots:
// CHECK: y[32*(i%2) + 40*j : min(16, 40 - 32*(i%2))] = k0
!q = !model.tensor<[1, T, 32], f32>
!x = !model.tensor<[1, T, 40], f32>
!w = !model.tensor<[40], f32>
!m = !model.tensor<[40, 40], f32>
!n = !model.tensor<[40, 32], f32>
module attributes {model.dtype = "bf16", model.math = "dots", model.target = #model.target<"cpu", chip = "", lanes = 16, registers = 32>} {
func.func @run(%q: !q {model.name = "q"}, %g: !w {model.name = "g"}) -> (!x {model.name = "y"}) {
  %o = model.param "o" : !n
  %w = model.param "w" : !m
  %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 0.5 past "0" : (!q, !q, !q) -> !q
  %b = model.linear %a, %o : (!q, !n) -> !x
  %n = model.rms_norm %b weight %g eps 1.0e-5 offset 0.0 : (!x, !w) -> !x
  %u = model.linear %n, %w : (!x, !m) -> !x
  %y = model.linear %u, %w : (!x, !m) -> !x
  return %y : !x
}
}
