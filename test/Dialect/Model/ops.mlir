// Every form of the type, and ops whose assembly is more than a list of operands.
// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// Tensor types stand in front under short names, lengths in normal form.
// CHECK-DAG: !B_H_2_2_T_1_768_f = !model.tensor<[B, "H//2", "2*T+1", 768], f32>
// CHECK-DAG: !B_T_i = !model.tensor<[B, T], i64>
// CHECK-DAG: !state_3_B_capacity_8_f = !model.state<[3, B, capacity, 8], f32>
// CHECK-DAG: [[LA:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 4 by 128 bf16 zeros ordered, part 1 of [1, 1] groups 1>
// CHECK-DAG: [[LB:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 8 by 32 f16, in_out>
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
