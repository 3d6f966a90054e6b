// RUN: heddle-opt %s --heddle-tiled --heddle-buffers --convert-heddle-to-warps | FileCheck %s

// Lanes are threads: an element of a row is read at address + lane, the end of a row is a condition, a row's sum is five
// shuffles, and items are dealt in turn.
module attributes {heddle.stage = "fused", model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%x: !model.tensor<[B, 40], f32> {model.name = "x"}, %w: !model.tensor<[40], f32> {model.name = "w"}) -> (!model.tensor<[B, 40], f32> {model.name = "y"}) {
    %y = model.rms_norm %x weight %w eps 1.0e-5 offset 0.0 : (!model.tensor<[B, 40], f32>, !model.tensor<[40], f32>) -> !model.tensor<[B, 40], f32>
    return %y : !model.tensor<[B, 40], f32>
  }
}
// CHECK-LABEL: func.func private @heddle_entry_run(
// CHECK-SAME: %[[TEAM:[a-z0-9]*]]: i64, %[[TEAMS:[a-z0-9]*]]: i64
// CHECK-SAME: tile.dims = ["B"]
// CHECK-DAG: %[[T:.*]] = arith.index_cast %[[TEAM]]
// CHECK-DAG: %[[N:.*]] = arith.index_cast %[[TEAMS]]
// CHECK: scf.for %{{.*}} = %[[T]] to %{{.*}} step %[[N]]
// CHECK-NOT: vector<
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: tile.items = #tile.items<count = "B", each = 32>
// CHECK-NEXT: arith.constant 0 : i64
// CHECK-NEXT: call @heddle_barrier
