// RUN: heddle-opt %s --model-plan-schedules --split-input-file --verify-diagnostics | FileCheck %s

// RUN: heddle-opt %s --model-plan-schedules --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=AVX
// RUN: heddle-opt %s --model-plan-schedules=panel=16 --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=NARROW

// Every product and attention gets its tiles; what was said by hand stays. Rows of four query heads that share a key head
// stand together, but not where a bias knows heads.
// CHECK-DAG: [[PACKED:#attention[0-9]*]] = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 4>
// CHECK-DAG: [[APART:#attention[0-9]*]] = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
// CHECK-DAG: [[CLASSES:#attention[0-9]*]] = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 4, classes = 3>
// CHECK-DAG: [[LINEAR:#tiles[0-9]*]] = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
// CHECK-DAG: [[HAND:#tiles[0-9]*]] = #model.schedule<panel = 16, rows = 2, block = 32>
// CHECK-DAG: [[MATMUL:#tiles[0-9]*]] = #model.schedule<panel = 32, rows = 8, block = 64>
// With another width of panel the product without tiles has it, the one with tiles keeps its own.
// NARROW-DAG: [[LINEAR:#tiles[0-9]*]] = #model.schedule<panel = 16, rows = 8, block = 256, ahead = 64, small = 32768>
// NARROW-DAG: [[HAND:#tiles[0-9]*]] = #model.schedule<panel = 16, rows = 2, block = 32>
// NARROW-DAG: = #model.schedule<panel = 16, rows = 8, block = 64>
// NARROW: model.linear {{.*}}model.schedule = [[LINEAR]]}
// NARROW: model.linear {{.*}}model.schedule = [[HAND]]}
// CHECK-LABEL: func.func @run
// CHECK: model.linear {{.*}}model.schedule = [[LINEAR]]}
// CHECK: model.linear {{.*}}model.schedule = [[HAND]]}
// CHECK: model.matmul {{.*}}model.schedule = [[MATMUL]]}
// CHECK: attn.sdpa {{.*}}attn.schedule = [[PACKED]]}
// CHECK: attn.sdpa {{.*}}attn.schedule = [[APART]]}
// CHECK: attn.sdpa {{.*}}attn.schedule = [[CLASSES]]}
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

// 16 registers have room for 12 sums of AVX2: three vectors of results where they divide them, else two, of a matmul for fewer rows.
// AVX-DAG: [[THREE:#tiles[0-9]*]] = #model.schedule<panel = 24, rows = 4, block = 256, ahead = 64, small = 32768>
// AVX-DAG: [[TWO:#tiles[0-9]*]] = #model.schedule<panel = 16, rows = 6, block = 258, ahead = 64, small = 32768>
// AVX-DAG: [[COLUMNS:#tiles[0-9]*]] = #model.schedule<panel = 16, rows = 4, block = 64>
// AVX-LABEL: func.func @few_registers
// AVX: model.linear {{.*}}model.schedule = [[THREE]]}
// AVX: model.linear {{.*}}model.schedule = [[TWO]]}
// AVX: model.matmul {{.*}}model.schedule = [[COLUMNS]]}
module attributes {model.target = #model.target<"cpu", chip = "haswell", lanes = 8, registers = 16>} {
  func.func @few_registers(%x: !model.tensor<[T, 48], f32>, %w: !model.tensor<[48, 48], f32>, %v: !model.tensor<[50, 48], f32>) {
    %a = model.linear %x, %w : (!model.tensor<[T, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[T, 48], f32>
    %b = model.linear %a, %v : (!model.tensor<[T, 48], f32>, !model.tensor<[50, 48], f32>) -> !model.tensor<[T, 50], f32>
    %c = model.matmul %a, %w : (!model.tensor<[T, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[T, 48], f32>
    return
  }
}

// -----

// expected-error @below {{there is no target 'abacus'; there are cpu, cuda}}
module attributes {model.target = #model.target<"abacus", chip = "x", lanes = 4, registers = 16>} {}
