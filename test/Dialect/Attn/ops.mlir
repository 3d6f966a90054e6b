// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// CHECK-LABEL: func.func @sdpa
func.func @sdpa(%q: !model.tensor<[B, new, 64], f32>, %k: !model.tensor<[B, "new+past", 32], f32>, %v: !model.tensor<[B, "new+past", 16], f32>, %sinks: !model.tensor<[4], f32>, %table: !model.tensor<[32, 4], f32>) {
  %m = mask.causal
  // CHECK: %[[BIAS:.+]] = attn.bucket_bias %{{.+}} max_distance 128
  %b = attn.bucket_bias %table max_distance 128 : !model.tensor<[32, 4], f32>
  // CHECK: attn.sdpa %{{.+}}, %{{.+}}, %{{.+}} mask %{{.+}} bias %[[BIAS]] sinks %{{.+}} : {{.*}} heads 4 kv_heads 2 scale 2.500000e-01 softcap 5.000000e+01 past "past"
  // CHECK-SAME: -> !B_new_32_f
  %a = attn.sdpa %q, %k, %v mask %m bias %b sinks %sinks : !model.tensor<[4], f32> heads 4 kv_heads 2 scale 0.25 softcap 50.0 past "past" : (!model.tensor<[B, new, 64], f32>, !model.tensor<[B, "new+past", 32], f32>, !model.tensor<[B, "new+past", 16], f32>) -> !model.tensor<[B, new, 32], f32>
  return
}

// CHECK-LABEL: func.func @biases
func.func @biases(%s: !model.tensor<[4], f32>, %d: !model.tensor<[B, 1, T, S], f32>, %x: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[9, 2], f32>, %table: !model.tensor<[9, 8], f32>) {
  // CHECK: attn.alibi %{{.+}} symmetric
  %a = attn.alibi %s symmetric : !model.tensor<[4], f32>
  // CHECK: attn.dense_bias
  %b = attn.dense_bias %d : !model.tensor<[B, 1, T, S], f32>
  // CHECK: attn.relative_dot %{{.+}}, %{{.+}} heads 4 zero "4" key_side
  %c = attn.relative_dot %x, %t heads 4 zero "4" key_side : !model.tensor<[B, T, 8], f32>, !model.tensor<[9, 2], f32>
  // CHECK: attn.bias_add
  %e = attn.bias_add %a, %b
  // CHECK: attn.bias_scale %{{.+}} by 5.000000e-01
  %f = attn.bias_scale %e by 0.5
  // CHECK: attn.relative_dot %{{.+}}, %{{.+}} heads 4 zero "T-1" bucket [8, 64] : !B_T_8_f, !_9_8_f
  %buckets = attn.relative_dot %x, %table heads 4 zero "T-1" bucket [8, 64] : !model.tensor<[B, T, 8], f32>, !model.tensor<[9, 8], f32>
  // CHECK: attn.alibi_slopes 12 : !_12_f
  %slopes = attn.alibi_slopes 12 : !model.tensor<[12], f32>
  return
}
