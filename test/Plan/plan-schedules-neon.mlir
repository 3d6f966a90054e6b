// RUN: heddle-opt %s --model-plan-schedules | FileCheck %s

// 32 registers of 4 f32 have room for 24 sums: 6 rows of four vectors; of a matmul for fewer rows.
// CHECK-DAG: [[SUMS:#tiles[0-9]*]] = #model.schedule<panel = 16, rows = 6, block = 258, ahead = 64, small = 32768>
// CHECK-DAG: [[COLUMNS:#tiles[0-9]*]] = #model.schedule<panel = 16, rows = 4, block = 64>
// CHECK-LABEL: func.func @short_vectors
// CHECK: model.linear {{.*}}model.schedule = [[SUMS]]}
// CHECK: model.matmul {{.*}}model.schedule = [[COLUMNS]]}
module attributes {model.target = #model.target<"cpu", chip = "cortex-a76", lanes = 4, registers = 32>} {
  func.func @short_vectors(%x: !model.tensor<[T, 48], f32>, %w: !model.tensor<[48, 48], f32>) {
    %a = model.linear %x, %w : (!model.tensor<[T, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[T, 48], f32>
    %c = model.matmul %a, %w : (!model.tensor<[T, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[T, 48], f32>
    return
  }
}
