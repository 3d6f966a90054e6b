// Every form of the type, and ops whose assembly is more than a list of operands.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// Tensor types stand in front under short names, lengths in normal form.
// CHECK-DAG: !B_H_2_2_T_1_768_f = !model.tensor<[B, "H//2", "2*T+1", 768], f32>
// CHECK-DAG: !B_T_i = !model.tensor<[B, T], i64>
// CHECK-DAG: !state_3_B_capacity_8_f = !model.state<[3, B, capacity, 8], f32>
// CHECK-DAG: [[LA:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 4 by 128 bf16 zeros ordered, part 1 of [1, 1] groups 1>
// CHECK-DAG: [[LB:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 8 by 32 f16, in_out>
// CHECK-DAG: [[LC:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 4 by 32 f16 minima zero 0 super 256>
// CHECK-DAG: [[LD:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 4 by 32 f16 table nl4 super 256>
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: !B_H_2_2_T_1_768_f
func.func @sizes(%x: !model.tensor<[B, "(H-2)//2+1", "T+T+1", 768], f32>) {
  return
}

// CHECK-LABEL: func.func @repeat
func.func @repeat(%x0: !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32> {
  // CHECK: %[[R:.+]]:2 = model.repeat 3 iter(%{{.+}}) : (!B_T_8_f) -> (!B_T_8_f, !_3_B_T_8_f)
  %x, %all = model.repeat 3 iter(%x0) : (!model.tensor<[B, T, 8], f32>) -> (!model.tensor<[B, T, 8], f32>, !model.tensor<[3, B, T, 8], f32>) {
  ^bb0(%i: index, %y: !model.tensor<[B, T, 8], f32>):
    // CHECK: model.param "h.{0}.w"[%{{.+}}]
    %w = model.param "h.{0}.w"[%i] : !model.tensor<[8], f32>
    // CHECK: model.rms_norm %{{.+}} weight %{{.+}} eps {{.+}} offset 0.000000e+00
    %n = model.rms_norm %y weight %w eps 1.0e-6 offset 0.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
    model.yield %n, %y : !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>
  }
  return %x : !model.tensor<[B, T, 8], f32>
}

// CHECK-LABEL: func.func @codes
func.func @codes() {
  // CHECK: model.param "a" {coded = #model.coded<bits = 4, group = 128, scale = bf16, zeros = true, ordered = true, from = "gptq">, layout = [[LA]]} : !
  %a = model.param "a" {coded = #model.coded<bits = 4, group = 128, scale = bf16, zeros = true, ordered = true, from = "gptq">,
                        layout = #model.layout<panels 32, f32, coded 4 by 128 bf16 zeros ordered, part 1 of [1, 1] groups 1>} : !model.tensor<[64, 256], f32>
  // CHECK: model.param "b" {coded = #model.coded<bits = 8, group = 32, scale = f16, in_out = true, from = "search">, layout = [[LB]]} : !
  %b = model.param "b" {coded = #model.coded<bits = 8, group = 32, scale = f16, in_out = true, from = "search">,
                        layout = #model.layout<panels 32, f32, coded 8 by 32 f16, in_out>} : !model.tensor<[100, 64], f32>
  // CHECK: model.param "c" {coded = #model.coded<bits = 4, group = 32, scale = f16, minima = true, zero_code = 0, super = 256, from = "gguf">, layout = [[LC]]} : !
  %c = model.param "c" {coded = #model.coded<bits = 4, group = 32, scale = f16, minima = true, zero_code = 0, super = 256, from = "gguf">,
                        layout = #model.layout<panels 32, f32, coded 4 by 32 f16 minima zero 0 super 256>} : !model.tensor<[64, 512], f32>
  // CHECK: model.param "d" {coded = #model.coded<bits = 4, group = 32, scale = f16, table = "nl4", super = 256, from = "gguf">, layout = [[LD]]} : !
  %d = model.param "d" {coded = #model.coded<bits = 4, group = 32, scale = f16, table = "nl4", super = 256, from = "gguf">,
                        layout = #model.layout<panels 32, f32, coded 4 by 32 f16 table nl4 super 256>} : !model.tensor<[64, 512], f32>
  return
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: !model.tensor<[B, 8], f32>, %w: !model.tensor<[12, 8], f32>, %b: !model.tensor<[12], f32>, %r: !model.tensor<[B, 12], f32>) {
  // CHECK: model.linear %{{.+}}, %{{.+}} bias %{{.+}} parts [1, 1, 2] groups 1
  %q, %k, %v = model.linear %x, %w bias %b parts [1, 1, 2] groups 1 : (!model.tensor<[B, 8], f32>, !model.tensor<[12, 8], f32>, !model.tensor<[12], f32>) -> (!model.tensor<[B, 3], f32>, !model.tensor<[B, 3], f32>, !model.tensor<[B, 6], f32>)
  // CHECK: model.linear %{{.+}}, %{{.+}} with %{{.+}} :
  // CHECK-NEXT: ^bb0(%[[ACC:.+]]: f32, %[[EXTRA:.+]]: f32):
  %y = model.linear %x, %w with %r : (!model.tensor<[B, 8], f32>, !model.tensor<[12, 8], f32>, !model.tensor<[B, 12], f32>) -> !model.tensor<[B, 12], f32> {
  ^bb0(%acc: f32, %extra: f32):
    %s = arith.addf %acc, %extra : f32
    model.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @states
func.func @states(%s: !model.state<[3, B, capacity, 8], f32> {model.state = "keys"}, %rows: !model.tensor<[B, new, 8], f32>, %i: index) {
  // CHECK: model.append %{{.+}}[%{{.+}}], %{{.+}} axis 1 : !state_3_B_capacity_8_f
  %all = model.append %s[%i], %rows axis 1 : !model.state<[3, B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
  return
}

// CHECK-LABEL: func.func @default
func.func @default(%mask: !model.tensor<[B, T], i64> {model.default}) {
  // CHECK: model.default %{{.+}} : !B_T_i -> !B_T_i {
  %m = model.default %mask : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
    model.yield %one : !model.tensor<[], i64>
  }
  return
}

// CHECK-LABEL: func.func @live_rows
func.func @live_rows(%mask: !model.tensor<[B, T], i64>, %x: !model.tensor<[B, T, 8], f32>) {
  // CHECK: model.live_rows %{{.+}} as "live" : (!B_T_i) -> !live_i
  %rows = model.live_rows %mask as "live" : (!model.tensor<[B, T], i64>) -> !model.tensor<[live], i64>
  // CHECK: model.pack_rows %{{.+}} at %{{.+}} : (!B_T_8_f, !live_i) -> !_1_live_8_f
  %packed = model.pack_rows %x at %rows : (!model.tensor<[B, T, 8], f32>, !model.tensor<[live], i64>) -> !model.tensor<[1, live, 8], f32>
  // CHECK: model.unpack_rows %{{.+}} at %{{.+}} : (!_1_live_8_f, !live_i) -> !B_T_8_f
  %back = model.unpack_rows %packed at %rows : (!model.tensor<[1, live, 8], f32>, !model.tensor<[live], i64>) -> !model.tensor<[B, T, 8], f32>
  return
}
// CHECK-LABEL: func.func @leaves
func.func @leaves(%i: index) {
  // CHECK: model.param "h.{0}.w"[%{{.+}}] {offset = 64 : i64, strides = array<i64: 128>} : !_8_f
  %w = model.param "h.{0}.w"[%i] {offset = 64 : i64, strides = array<i64: 128>} : !model.tensor<[8], f32>
  // CHECK: model.constant dense<[1, 2]> : tensor<2xi64> : !_2_i
  %c = model.constant dense<[1, 2]> : tensor<2xi64> : !model.tensor<[2], i64>
  // CHECK: model.size "(T-1)//2+1" : !i
  %n = model.size "(T-1)//2+1" : !model.tensor<[], i64>
  // CHECK: model.range "past" to "T+past" : !T_i
  %p = model.range "past" to "T+past" : !model.tensor<[T], i64>
  return
}

!x = !model.tensor<[B, T, 8], f32>
!h = !model.tensor<[B, 4, T, 2], f32>
!w = !model.tensor<[8], f32>
!n = !model.tensor<[B, T], i64>
!one = !model.tensor<[], f32>

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: !x, %w: !w, %n: !n, %b: !model.tensor<[T, 1], i1>) {
  // CHECK: model.unary silu %{{.+}} : (!B_T_8_f) -> !B_T_8_f
  %u = model.unary silu %x : (!x) -> !x
  // CHECK: model.unary not %{{.+}} : (!T_1_b) -> !T_1_b
  %not = model.unary not %b : (!model.tensor<[T, 1], i1>) -> !model.tensor<[T, 1], i1>
  // CHECK: model.binary add %{{.+}}, %{{.+}} : (!B_T_8_f, !_8_f) -> !B_T_8_f
  %s = model.binary add %x, %w : (!x, !w) -> !x
  // CHECK: model.binary and %{{.+}}, %{{.+}} : (!T_1_b, !T_1_b) -> !T_1_b
  %and = model.binary and %b, %not : (!model.tensor<[T, 1], i1>, !model.tensor<[T, 1], i1>) -> !model.tensor<[T, 1], i1>
  // CHECK: model.compare le %{{.+}}, %{{.+}} : (!B_T_8_f, !_8_f) -> !B_T_8_b
  %c = model.compare le %x, %w : (!x, !w) -> !model.tensor<[B, T, 8], i1>
  // CHECK: model.select %{{.+}}, %{{.+}}, %{{.+}} : (!T_1_b, !B_T_8_f, !_8_f) -> !B_T_8_f
  %y = model.select %b, %x, %w : (!model.tensor<[T, 1], i1>, !x, !w) -> !x
  // CHECK: model.cast %{{.+}} : !B_T_i -> !B_T_f
  %r = model.cast %n : !n -> !model.tensor<[B, T], f32>
  // CHECK: model.broadcast %{{.+}} : !_8_f -> !B_T_8_f
  %all = model.broadcast %w : !w -> !x
  return
}

// CHECK-LABEL: func.func @moving
func.func @moving(%x: !x, %at: !model.tensor<[B], i64>) {
  // CHECK: model.slice %{{.+}} axis 1 from "T-1" to "T" : (!B_T_8_f) -> !B_1_8_f
  %last = model.slice %x axis 1 from "T-1" to "T" : (!x) -> !model.tensor<[B, 1, 8], f32>
  // CHECK: model.squeeze %{{.+}} axis 1 : (!B_1_8_f) -> !B_8_f
  %vector = model.squeeze %last axis 1 : (!model.tensor<[B, 1, 8], f32>) -> !model.tensor<[B, 8], f32>
  // CHECK: model.unsqueeze %{{.+}} axis 1 : (!B_8_f) -> !B_1_8_f
  %row = model.unsqueeze %vector axis 1 : (!model.tensor<[B, 8], f32>) -> !model.tensor<[B, 1, 8], f32>
  // CHECK: model.rearrange %{{.+}} "b t (h d) -> b h t d" sizes {h = "4"} : (!B_T_8_f) -> !B_4_T_2_f
  %heads = model.rearrange %x "b t (h d) -> b h t d" sizes {h = "4"} : (!x) -> !h
  // CHECK: model.rearrange %{{.+}} "b t d -> b d t" : (!B_T_8_f) -> !B_8_T_f
  %turned = model.rearrange %x "b t d -> b d t" : (!x) -> !model.tensor<[B, 8, T], f32>
  // CHECK: model.concat %{{.+}}, %{{.+}} axis 1 : (!B_1_8_f, !B_T_8_f) -> !B_T_1_8_f
  %more = model.concat %row, %x axis 1 : (!model.tensor<[B, 1, 8], f32>, !x) -> !model.tensor<[B, "T+1", 8], f32>
  // CHECK: model.pad %{{.+}} axis 1 before "0" after "2" value 0.000000e+00 : (!B_T_8_f) -> !B_T_2_8_f
  %padded = model.pad %x axis 1 before "0" after "2" value 0.0 : (!x) -> !model.tensor<[B, "T+2", 8], f32>
  // CHECK: model.gather %{{.+}} at %{{.+}} : (!B_T_8_f, !B_i) -> !B_8_f
  %rows = model.gather %x at %at : (!x, !model.tensor<[B], i64>) -> !model.tensor<[B, 8], f32>
  // CHECK: model.windows %{{.+}} size [3] stride [2] dilation [1] : (!B_T_8_f) -> !B_T_1_2_1_24_f
  %windows = model.windows %x size [3] stride [2] dilation [1] : (!x) -> !model.tensor<[B, "(T-3)//2+1", 24], f32>
  return
}

// CHECK-LABEL: func.func @projections
func.func @projections(%ids: !n, %table: !model.tensor<[50, 8], f32>, %h: !h, %x: !x, %w: !model.tensor<[6, 4, 3], f32>, %b: !model.tensor<[6], f32>) {
  // CHECK: model.embedding %{{.+}} in %{{.+}} : (!B_T_i, !_50_8_f) -> !B_T_8_f
  %e = model.embedding %ids in %table : (!n, !model.tensor<[50, 8], f32>) -> !x
  // CHECK: model.rearrange %{{.+}} "b h t d -> b h d t" : (!B_4_T_2_f) -> !B_4_2_T_f
  %t = model.rearrange %h "b h t d -> b h d t" : (!h) -> !model.tensor<[B, 4, 2, T], f32>
  // CHECK: model.matmul %{{.+}}, %{{.+}} : (!B_4_T_2_f, !B_4_2_T_f) -> !B_4_T_T_f
  %m = model.matmul %h, %t : (!h, !model.tensor<[B, 4, 2, T], f32>) -> !model.tensor<[B, 4, T, T], f32>
  // CHECK: model.conv %{{.+}}, %{{.+}} bias %{{.+}} stride [1] dilation [1] padding [2, 0] groups 2 : (!B_T_8_f, !_6_4_3_f, !_6_f) -> !B_T_6_f
  %c = model.conv %x, %w bias %b stride [1] dilation [1] padding [2, 0] groups 2 : (!x, !model.tensor<[6, 4, 3], f32>, !model.tensor<[6], f32>) -> !model.tensor<[B, T, 6], f32>
  // CHECK: model.top_k %{{.+}} k 2 fill -1.000000e+00 : (!B_T_8_f) -> !B_T_8_f
  %k = model.top_k %x k 2 fill -1.0 : (!x) -> !x
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: !x, %w: !w) {
  // CHECK: model.layer_norm %{{.+}} eps 1.000000e-05 : (!B_T_8_f) -> !B_T_8_f
  %bare = model.layer_norm %x eps 1.0e-5 : (!x) -> !x
  // CHECK: model.layer_norm %{{.+}} weight %{{.+}} bias %{{.+}} eps 1.000000e-05 : (!B_T_8_f, !_8_f, !_8_f) -> !B_T_8_f
  %layer = model.layer_norm %x weight %w bias %w eps 1.0e-5 : (!x, !w, !w) -> !x
  // CHECK: model.rms_norm %{{.+}} weight %{{.+}} eps 5.000000e-01 offset 1.000000e+00 : (!B_T_8_f, !_8_f) -> !B_T_8_f
  %rms = model.rms_norm %x weight %w eps 0.5 offset 1.0 : (!x, !w) -> !x
  // CHECK: model.group_norm %{{.+}} weight %{{.+}} bias %{{.+}} groups 2 eps 1.000000e-05 : (!B_T_8_f, !_8_f, !_8_f) -> !B_T_8_f
  %group = model.group_norm %x weight %w bias %w groups 2 eps 1.0e-5 : (!x, !w, !w) -> !x
  // CHECK: model.batch_norm %{{.+}} mean %{{.+}} variance %{{.+}} weight %{{.+}} bias %{{.+}} eps 1.000000e-05 : (!B_T_8_f, !_8_f, !_8_f, !_8_f, !_8_f) -> !B_T_8_f
  %batch = model.batch_norm %x mean %w variance %w weight %w bias %w eps 1.0e-5 : (!x, !w, !w, !w, !w) -> !x
  // CHECK: model.l2_norm %{{.+}} eps 2.500000e-01 : (!B_T_8_f) -> !B_T_8_f
  %l2 = model.l2_norm %x eps 0.25 : (!x) -> !x
  return
}

// CHECK-LABEL: func.func @positions
func.func @positions(%x: !x, %p: !model.tensor<[T], i64>, %f: !model.tensor<[1], f32>, %a: !one, %image: !model.tensor<[1, 14, 14, 8], f32>) {
  // CHECK: model.sinusoidal %{{.+}} width 8 halves theta 1.000000e+04 : (!T_i) -> !T_8_f
  %s = model.sinusoidal %p width 8 halves theta 10000.0 : (!model.tensor<[T], i64>) -> !model.tensor<[T, 8], f32>
  // CHECK: model.rotary %{{.+}} at %{{.+}} by %{{.+}} amplitude %{{.+}} head_width 2 pairs : (!B_T_8_f, !T_i, !_1_f, !f) -> !B_T_8_f
  %r = model.rotary %x at %p by %f amplitude %a head_width 2 pairs : (!x, !model.tensor<[T], i64>, !model.tensor<[1], f32>, !one) -> !x
  // CHECK: model.interpolate %{{.+}} to ["H//16", "W//16"] scales %{{.+}}, %{{.+}} bicubic : (!_1_14_14_8_f, !f, !f) -> !_1_H_16_W_16_8_f
  %i = model.interpolate %image to ["H//16", "W//16"] scales %a, %a bicubic : (!model.tensor<[1, 14, 14, 8], f32>, !one, !one) -> !model.tensor<[1, "H//16", "W//16", 8], f32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: !x, %n: !n, %i: !model.tensor<[B], i64>) {
  // CHECK: model.reduce mean %{{.+}} axes [1] keep : (!B_T_8_f) -> !B_1_8_f
  %mean = model.reduce mean %x axes [1] keep : (!x) -> !model.tensor<[B, 1, 8], f32>
  // CHECK: model.reduce argmax %{{.+}} axes [2] : (!B_T_8_f) -> !B_T_i
  %most = model.reduce argmax %x axes [2] : (!x) -> !n
  // CHECK: model.cumsum %{{.+}} init %{{.+}} axis 1 : (!B_T_i, !B_i) -> !B_T_i
  %sums = model.cumsum %n init %i axis 1 : (!n, !model.tensor<[B], i64>) -> !n
  // CHECK: model.softmax %{{.+}} axis 2 logarithm : (!B_T_8_f) -> !B_T_8_f
  %p = model.softmax %x axis 2 logarithm : (!x) -> !x
  return
}

// CHECK-LABEL: func.func @fused
func.func @fused(%x: !x, %w: !w) {
  // CHECK: model.map %{{.+}}, %{{.+}} : (!B_T_8_f, !_8_f) -> !B_T_8_f {
  %y = model.map %x, %w : (!x, !w) -> !x {
  ^bb0(%a: f32, %b: f32):
    // CHECK: model.function gelu %{{.+}} : f32 -> f32
    %g = model.function gelu %a : f32 -> f32
    %p = arith.mulf %g, %b : f32
    // CHECK: model.yield %{{.+}} : f32
    model.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @kept
func.func @kept(%s: !model.state<[3, B, 8], f32> {model.state = "sums"}, %i: index) {
  // CHECK: model.load %{{.+}}[%{{.+}}] : !state_3_B_8_f -> !B_8_f
  %old = model.load %s[%i] : !model.state<[3, B, 8], f32> -> !model.tensor<[B, 8], f32>
  // CHECK: model.store %{{.+}} in %{{.+}}[%{{.+}}] : !B_8_f, !state_3_B_8_f
  model.store %old in %s[%i] : !model.tensor<[B, 8], f32>, !model.state<[3, B, 8], f32>
  return
}
