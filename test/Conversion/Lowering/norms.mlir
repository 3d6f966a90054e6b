// RUN: %loops %s --names | FileCheck %s

// A row belongs to one thread; its sums run over vectors in a fixed order, whose lanes past the end count as 0. Threads meet
// once, behind all rows.
!x = !model.tensor<[B, 40], f32>
!w = !model.tensor<[40], f32>

// Mean, variance in a second pass, then the row.
// CHECK-LABEL: heddle_entry_layer_norm:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to 32 step 16, 1 from 0
// CHECK-NEXT: | | j0 <- j0 + x[40*i + j : 16]
// CHECK-NEXT: | for j = 0 to 32 step 16, 1 from 0
// CHECK-NEXT: | | n0 := x[40*i + j : 16] - (sum(j0 + select(lane < 8, x[40*i + 32 : min(16, 8)], 0)) / 40)
// CHECK-NEXT: | | j0' <- j0' + (n0 * n0)
// CHECK-NEXT: | for j = 0 to 32 step 16
// CHECK-NEXT: | | n1 := x[40*i + 32 : min(16, 8)] - (sum(j0 + select(lane < 8, x[40*i + 32 : min(16, 8)], 0)) / 40)
// CHECK-NEXT: | | n2 := 1 / sqrt((sum(j0' + select(lane < 8, n1 * n1, 0)) / 40) + 1e-05)
// CHECK-NEXT: | | y[40*i + j : 16] = fma(n0 * n2, w[j : 16], b[j : 16])
// CHECK-NEXT: | y[40*i + 32 : min(16, 8)] = fma(n1 * n2, w[32 : min(16, 8)], b[32 : min(16, 8)])
// CHECK-NEXT: barrier
func.func @layer_norm(%x: !x {model.name = "x"}, %w: !w {model.name = "w"}, %b: !w {model.name = "b"}) -> (!x {model.name = "y"}) {
  %y = model.layer_norm %x weight %w bias %b eps 1.0e-5 : (!x, !w, !w) -> !x
  return %y : !x
}

// CHECK-LABEL: heddle_entry_rms_norm:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to 32 step 16, 1 from 0
// CHECK-NEXT: | | j0 <- j0 + x[40*i + j : 16] * x[40*i + j : 16]
// CHECK-NEXT: | for j = 0 to 32 step 16
// CHECK-NEXT: | | n0 := select(lane < 8, x[40*i + 32 : min(16, 8)] * x[40*i + 32 : min(16, 8)], 0)
// CHECK-NEXT: | | n1 := (x[40*i + j : 16] * (1 / sqrt((sum(j0 + n0) / 40) + 1e-05))) * (w[j : 16] + 1)
// CHECK-NEXT: | | y[40*i + j : 16] = n1
// CHECK-NEXT: | n2 := x[40*i + 32 : min(16, 8)] * (1 / sqrt((sum(j0 + n0) / 40) + 1e-05))
// CHECK-NEXT: | y[40*i + 32 : min(16, 8)] = n2 * (w[32 : min(16, 8)] + 1)
// CHECK-NEXT: barrier
func.func @rms_norm(%x: !x {model.name = "x"}, %w: !w {model.name = "w"}) -> (!x {model.name = "y"}) {
  %y = model.rms_norm %x weight %w eps 1.0e-5 offset 1.0 : (!x, !w) -> !x
  return %y : !x
}

// CHECK-LABEL: heddle_entry_l2_norm:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to 32 step 16, 1 from 0
// CHECK-NEXT: | | j0 <- j0 + x[40*i + j : 16] * x[40*i + j : 16]
// CHECK-NEXT: | for j = 0 to 32 step 16
// CHECK-NEXT: | | n0 := select(lane < 8, x[40*i + 32 : min(16, 8)] * x[40*i + 32 : min(16, 8)], 0)
// CHECK-NEXT: | | y[40*i + j : 16] = x[40*i + j : 16] / max(sqrt(sum(j0 + n0)), 1e-05)
// CHECK-NEXT: | y[40*i + 32 : min(16, 8)] = x[40*i + 32 : min(16, 8)] / max(sqrt(sum(j0 + n0)), 1e-05)
// CHECK-NEXT: barrier
func.func @l2_norm(%x: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %y = model.l2_norm %x eps 1.0e-5 : (!x) -> !x
  return %y : !x
}

// Statistics of the run, feature by feature.
// CHECK-LABEL: heddle_entry_batch_norm:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to 32 step 16
// CHECK-NEXT: | | n0 := fma((x[40*i + j : 16] - m[j : 16]) / sqrt(v[j : 16] + 1e-05), w[j : 16], b[j : 16])
// CHECK-NEXT: | | y[40*i + j : 16] = n0
// CHECK-NEXT: | n1 := (x[40*i + 32 : min(16, 8)] - m[32 : min(16, 8)]) / sqrt(v[32 : min(16, 8)] + 1e-05)
// CHECK-NEXT: | y[40*i + 32 : min(16, 8)] = fma(n1, w[32 : min(16, 8)], b[32 : min(16, 8)])
// CHECK-NEXT: barrier
func.func @batch_norm(%x: !x {model.name = "x"}, %m: !w {model.name = "m"}, %v: !w {model.name = "v"}, %w: !w {model.name = "w"}, %b: !w {model.name = "b"}) -> (!x {model.name = "y"}) {
  %y = model.batch_norm %x mean %m variance %v weight %w bias %b eps 1.0e-5 : (!x, !w, !w, !w, !w) -> !x
  return %y : !x
}

// A group of 2 channels at all T places, in f64.
!g = !model.tensor<[B, T, 6], f32>
!v = !model.tensor<[6], f32>
// CHECK-LABEL: heddle_entry_group_norm:
// CHECK-NEXT: for i = share(3*B)
// CHECK-NEXT: | for j = 0 to T, 1 from 0
// CHECK-NEXT: | | for k = 0 to 2, 1 from j0
// CHECK-NEXT: | | | k0 <- k0 + x[2*(i%3) + 6*(i/3)*T + 6*j + k]
// CHECK-NEXT: | | j0 <- k0
// CHECK-NEXT: | for j = 0 to T, 1 from 0
// CHECK-NEXT: | | for k = 0 to 2, 1 from j0'
// CHECK-NEXT: | | | n0 := (x[2*(i%3) + 6*(i/3)*T + 6*j + k] - (j0 / (2*T))) * (x[2*(i%3) + 6*(i/3)*T + 6*j + k] - (j0 / (2*T)))
// CHECK-NEXT: | | | k0' <- k0' + n0
// CHECK-NEXT: | | j0' <- k0'
// CHECK-NEXT: | for j = 0 to T
// CHECK-NEXT: | | for k = 0 to 2
// CHECK-NEXT: | | | n1 := (x[2*(i%3) + 6*(i/3)*T + 6*j + k] - (j0 / (2*T))) * (1 / sqrt(j0' / (2*T) + 1e-05))
// CHECK-NEXT: | | | y[2*(i%3) + 6*(i/3)*T + 6*j + k] = fma(n1, w[2*(i%3) + k], b[2*(i%3) + k])
// CHECK-NEXT: barrier
func.func @group_norm(%x: !g {model.name = "x"}, %w: !v {model.name = "w"}, %b: !v {model.name = "b"}) -> (!g {model.name = "y"}) {
  %y = model.group_norm %x weight %w bias %b groups 3 eps 1.0e-5 : (!g, !v, !v) -> !g
  return %y : !g
}

// Channels of their own: as many vectors of them together as make whole lines, then single ones, the last in part.
!c = !model.tensor<[B, T, 83], f32>
!s = !model.tensor<[83], f32>
// CHECK-LABEL: heddle_entry_channels:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to T, 4 from 0
// CHECK-NEXT: | | j0 <- j0 + x[83*T*i + 83*j : 16]
// CHECK:      | | j3 <- j3 + x[83*T*i + 83*j + 48 : 16]
// CHECK-NEXT: | for j = 0 to T, 4 from 0
// CHECK:      | for j = 0 to T
// CHECK:      for i = share(2*B)
// CHECK-NEXT: | for j = 0 to T, 1 from 0
// CHECK-NEXT: | | {{.*}} + x[16*(i%2) + 83*(i/2)*T + 83*j + 64 : min(16, 19 - 16*(i%2))]
// CHECK:      | for j = 0 to T, 1 from 0
// CHECK:      | for j = 0 to T
// CHECK:      barrier
func.func @channels(%x: !c {model.name = "x"}, %w: !s {model.name = "w"}, %b: !s {model.name = "b"}) -> (!c {model.name = "y"}) {
  %y = model.group_norm %x weight %w bias %b groups 83 eps 1.0e-5 : (!c, !s, !s) -> !c
  return %y : !c
}

// A row of 64 is summed in four sums side by side.
!l = !model.tensor<[B, 128], f32>
// CHECK-LABEL: heddle_entry_long:
// CHECK-NEXT: for i = share(B)
// CHECK-NEXT: | for j = 0 to 128 step 64, 4 from 0
// CHECK-NEXT: | | j0 <- j0 + x[128*i + j : 16] * x[128*i + j : 16]
// CHECK-NEXT: | | j1 <- j1 + x[128*i + j + 16 : 16] * x[128*i + j + 16 : 16]
// CHECK-NEXT: | | j2 <- j2 + x[128*i + j + 32 : 16] * x[128*i + j + 32 : 16]
// CHECK-NEXT: | | j3 <- j3 + x[128*i + j + 48 : 16] * x[128*i + j + 48 : 16]
// CHECK-NEXT: | for j = 0 to 128 step 16
// CHECK-NEXT: | | y[128*i + j : 16] = x[128*i + j : 16] / max(sqrt(sum(j0 + j1 + j2 + j3)), 1e-05)
// CHECK-NEXT: barrier
func.func @long(%x: !l {model.name = "x"}) -> (!l {model.name = "y"}) {
  %y = model.l2_norm %x eps 1.0e-5 : (!l) -> !l
  return %y : !l
}
