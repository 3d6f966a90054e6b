// RUN: heddle-opt %s --heddle-tile-to-nvvm --canonicalize --cse | FileCheck %s

!f = !tile.frag<16x32, block 4x8>
!x = !tile.shared<16x16xf32, turned>
!w = !tile.shared<16x32xf32, plain>

// 20 = 16 + 4 columns: two rounds in two slots of (16 + 4)·16 + 16·32 words.
// CHECK: llvm.mlir.global internal @heddle_shared_product() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<6656 x i8>
// CHECK-LABEL: func.func @product(
func.func @product(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 20 : index
  %n = arith.constant 32 : index
  %zero = arith.constant 0 : index
  // Tiles are dealt to blocks in turn.
  // CHECK-DAG: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
  // CHECK-DAG: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x
  // CHECK: scf.for
  tile.launch %count threads 32 {
  ^bb0(%tile: index):
    %none = tile.zero : !f
    // What is read of the left side is turned on its way: words one by one, 16 of a row by 16 of 32 threads, 8 times. The right side comes
    // 16 bytes at a time, where it is inside of the matrix.
    // CHECK: nvvm.barrier
    // CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
    // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
    // CHECK-NOT: nvvm.cp.async.shared
    // CHECK: nvvm.cp.async.commit.group
    %sum = tile.stream 20 by 16 stages 2 carry %none : !f fill {
    ^bb0(%at: index, %a: !x, %b: !w):
      tile.copy %x[%tile, %at] of %rows by %k -> %a : !x
      tile.copy %w[%at, %zero] of %k by %n panels 32 -> %b : !w
      tile.yield
    } use {
    // The whole round: the slot before is free behind the barrier, then 16 chains of fused products, four k at a time.
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: nvvm.barrier
    // CHECK: nvvm.cp.async.shared.global
    // CHECK: nvvm.cp.async.commit.group
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    // CHECK-COUNT-64: math.fma
    // CHECK-NOT: math.fma
    // The rest of four columns: zeros behind them are not multiplied, or the sign of a zero might change.
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: nvvm.barrier
    // CHECK-COUNT-64: math.fma
    // CHECK-NOT: math.fma
    // CHECK-NOT: nvvm.barrier
    ^bb0(%a: !x, %b: !w, %now: !f):
      %next = tile.mma %a, %b, %now : !x, !w -> !f
      tile.yield %next : !f
    }
    // The four rows of a thread in turn: its body stands once for each of four columns.
    // CHECK: scf.for
    // CHECK: scf.if
    // CHECK-COUNT-4: llvm.store %{{.*}} : f32, !llvm.ptr
    // CHECK-NOT: llvm.store
    // CHECK: scf.yield
    tile.each %sum at[%tile, %zero] of %rows by %n run 4 : !f {
    ^bb0(%i: index, %j: index, %value: f32):
      %place = arith.index_cast %j : index to i64
      %at = llvm.getelementptr %y[%place] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %value, %at : f32, !llvm.ptr
      tile.yield
    }
    tile.yield
  }
  // CHECK-NOT: tile.
  return
}
