// RUN: heddle-opt %s --model-plan-schedules | FileCheck %s

// On a device dots of bf16 go through tiles that threads share; what these do not take has the usual schedule and so the general program.
// CHECK-DAG: [[TILES:#attention[0-9]*]] = #attn.schedule<rows = 64, keys = 64, panel = 16, packed = 4, tiled = true>
// CHECK-DAG: [[WIDE:#attention[0-9]*]] = #attn.schedule<rows = 64, keys = 32, panel = 16, packed = 1, tiled = true>
// CHECK-DAG: [[PAIRED:#attention[0-9]*]] = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1, paired = true>
// CHECK-DAG: [[GENERAL:#attention[0-9]*]] = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
// CHECK-DAG: [[CLASSES:#attention[0-9]*]] = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1, classes = 3, paired = true>
// CHECK-DAG: [[GROUPED:#attention[0-9]*]] = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 4, paired = true>
module attributes {model.dtype = "bf16", model.math = "dots", model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  // CHECK-LABEL: func.func @run
  func.func @run(%x: !model.tensor<[B, T, 16], f32>, %k: !model.tensor<[B, T, 4], f32>, %w: !model.tensor<[B, T, 128], f32>, %u: !model.tensor<[B, T, 260], f32>, %t: !model.tensor<[9, 4], f32>) {
    %m = mask.causal
    // CHECK: attn.sdpa {{.*}}attn.schedule = [[TILES]]}
    %a = attn.sdpa %x, %k, %k mask %m heads 4 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 16], f32>
    // CHECK: attn.sdpa {{.*}}attn.schedule = [[WIDE]]}
    %b = attn.sdpa %w, %w, %w mask %m heads 1 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 128], f32>, !model.tensor<[B, T, 128], f32>, !model.tensor<[B, T, 128], f32>) -> !model.tensor<[B, T, 128], f32>
    // Wider than two tiles have registers for.
    // CHECK: attn.sdpa {{.*}}attn.schedule = [[PAIRED]]}
    %c = attn.sdpa %u, %u, %u mask %m heads 1 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 260], f32>, !model.tensor<[B, T, 260], f32>, !model.tensor<[B, T, 260], f32>) -> !model.tensor<[B, T, 260], f32>
    // A bias that is a product.
    %bias = attn.relative_dot %x, %t heads 4 zero "4" : !model.tensor<[B, T, 16], f32>, !model.tensor<[9, 4], f32>
    // CHECK: attn.sdpa {{.*}}attn.schedule = [[PAIRED]]}
    %d = attn.sdpa %x, %k, %k mask %m bias %bias heads 4 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 16], f32>
    // A row that sees nothing needs all values.
    // CHECK: attn.sdpa {{.*}}attn.schedule = [[GENERAL]]}
    %e = attn.sdpa %x, %x, %x mask %m heads 4 kv_heads 4 scale 0.5 masked_rows mean : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 16], f32>) -> !model.tensor<[B, T, 16], f32>
    // Classes, and a key that counts twice.
    %three = mask.dilated 3
    // CHECK: attn.sdpa {{.*}}attn.schedule = [[CLASSES]]}
    %f = attn.sdpa %x, %x, %x mask %three heads 4 kv_heads 4 scale 0.5 : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 16], f32>) -> !model.tensor<[B, T, 16], f32>
    %twice = mask.add %m, %m
    // CHECK: attn.sdpa {{.*}}attn.schedule = [[GROUPED]]}
    %g = attn.sdpa %x, %k, %k mask %twice heads 4 kv_heads 1 scale 0.5 : (!model.tensor<[B, T, 16], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 16], f32>
    return
  }
}
