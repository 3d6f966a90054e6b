// RUN: heddle-opt %s --model-plan-schedules --split-input-file --verify-diagnostics | FileCheck %s

// Every product and attention gets its tiles; what was said by hand stays. Rows of four query heads that share a key head
// stand together, but not where a bias knows heads.
// CHECK-LABEL: func.func @run
// CHECK: model.linear {{.*}}model.schedule = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
// CHECK: model.linear {{.*}}model.schedule = #model.schedule<panel = 16, rows = 2, block = 32>
// CHECK: model.matmul {{.*}}model.schedule = #model.schedule<panel = 32, rows = 8, block = 64>
// CHECK: attn.sdpa {{.*}}attn.schedule = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 4>
// CHECK: attn.sdpa {{.*}}attn.schedule = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
// CHECK: attn.sdpa {{.*}}attn.schedule = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 4, classes = 3>
func.func @run(%x: !model.tensor<[B, T, 16], f32>, %w: !model.tensor<[16, 16], f32>, %k: !model.tensor<[B, T, 4], f32>, %d: !model.tensor<[B, 4, T, T], f32>) {
  %a = model.linear %x, %w : (!model.tensor<[B, T, 16], f32>, !model.tensor<[16, 16], f32>) -> !model.tensor<[B, T, 16], f32>
  %b = model.linear %a, %w {model.schedule = #model.schedule<panel = 16, rows = 2, block = 32>} : (!model.tensor<[B, T, 16], f32>, !model.tensor<[16, 16], f32>) -> !model.tensor<[B, T, 16], f32>
  %q = model.matmul %b, %w : (!model.tensor<[B, T, 16], f32>, !model.tensor<[16, 16], f32>) -> !model.tensor<[B, T, 16], f32>
  %m = mask.causal
  %y = attn.sdpa %q, %k, %k mask %m heads 4 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 16], f32>
  %bias = attn.dense_bias %d : !model.tensor<[B, 4, T, T], f32>
  %z = attn.sdpa %y, %k, %k mask %m bias %bias heads 4 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 16], f32>
  %s = mask.dilated 3
  %u = attn.sdpa %z, %k, %k mask %s heads 4 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 16], f32>
  return
}

// -----

// expected-error @below {{there is no target 'abacus' in this compiler}}
module attributes {model.target = #model.target<"abacus", chip = "x", lanes = 4, registers = 16>} {}
