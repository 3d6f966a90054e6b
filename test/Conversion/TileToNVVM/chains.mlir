// RUN: heddle-opt %s --heddle-tile-to-nvvm --canonicalize --cse | FileCheck %s

// Few rows: tiles of few columns. Both sides lie in groups of four along k.

!f = !tile.frag<16x8, cyclic 16x8>
!x = !tile.shared<16x32xf32, left>
!w = !tile.shared<32x8xf32, right>

// Three slots of (16 + 1)·4·8 + 8·32 words.
// CHECK: llvm.mlir.global internal @heddle_shared_chains() {{.*}} : !llvm.array<9600 x i8>
// CHECK-LABEL: func.func @chains(
func.func @chains(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 36 : index
  %n = arith.constant 32 : index
  %zero = arith.constant 0 : index
  tile.launch %count threads 128 {
  ^bb0(%tile: index):
    %none = tile.zero : !f
    // Four k of a row come at once, those of a column one by one. A stream stays a loop.
    // CHECK-COUNT-1: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
    // CHECK-COUNT-2: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
    // CHECK: nvvm.cp.async.commit.group
    %sum = tile.stream 36 by 32 stages 3 carry %none : !f fill {
    ^bb0(%at: index, %a: !x, %b: !w):
      tile.copy %x[%tile, %at] of %rows by %k -> %a : !x
      tile.copy %w[%at, %zero] of %k by %n panels 32 -> %b : !w
      tile.yield
    } use {
    // One chain a thread: of four k two loads and four fused products.
    ^bb0(%a: !x, %b: !w, %now: !f):
      // CHECK: nvvm.cp.async.wait.group 1
      // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      // CHECK-COUNT-4: math.fma
      // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      // CHECK-COUNT-28: math.fma
      // The rest of four.
      // CHECK: nvvm.cp.async.wait.group 1
      // CHECK-COUNT-4: math.fma
      // CHECK-NOT: math.fma
      %next = tile.mma %a, %b, %now : !x, !w -> !f
      tile.yield %next : !f
    }
    tile.each %sum at[%tile, %zero] of %rows by %n run 1 : !f {
    ^bb0(%i: index, %j: index, %value: f32):
      llvm.store %value, %y : f32, !llvm.ptr
      tile.yield
    }
    tile.yield
  }
  return
}

// One piece of eight columns a group of threads: the right sides of two units come by one ldmatrix, at every other unit.
// CHECK-LABEL: func.func @units(
func.func @units(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 64 : index
  %n = arith.constant 32 : index
  %zero = arith.constant 0 : index
  tile.launch %count threads 32 {
  ^bb0(%tile: index):
    %none = tile.zero : !tile.frag<16x8, mma 1x1>
    // CHECK: scf.for
    // CHECK: scf.for
    %sum = tile.stream 64 by 16 stages 2 carry %none : !tile.frag<16x8, mma 1x1> fill {
    ^bb0(%at: index, %a: !tile.shared<16x16xi32, left>, %b: !tile.shared<16x8xi32, right>):
      tile.copy %x[%tile, %at] of %rows by %k groups -> %a : !tile.shared<16x16xi32, left>
      tile.copy %w[%at, %zero] of %k by %n groups -> %b : !tile.shared<16x8xi32, right>
      tile.yield
    } use {
    ^bb0(%a: !tile.shared<16x16xi32, left>, %b: !tile.shared<16x8xi32, right>, %now: !tile.frag<16x8, mma 1x1>):
      // CHECK: nvvm.cp.async.wait.group 0
      // CHECK-COUNT-2: nvvm.ldmatrix
      // CHECK: nvvm.mma.sync
      // CHECK: nvvm.ldmatrix
      // CHECK-NEXT: llvm.extractvalue
      // CHECK-NOT: nvvm.ldmatrix
      // CHECK: nvvm.mma.sync
      // CHECK-NOT: nvvm.mma.sync
      // CHECK: } {llvm.loop_annotation
      %next = tile.mma %a, %b, %now : !tile.shared<16x16xi32, left>, !tile.shared<16x8xi32, right> -> !tile.frag<16x8, mma 1x1>
      tile.yield %next : !tile.frag<16x8, mma 1x1>
    }
    tile.each %sum at[%tile, %zero] of %rows by %n run 2 : !tile.frag<16x8, mma 1x1> {
    ^bb0(%i: index, %j: index, %value: f32):
      llvm.store %value, %y : f32, !llvm.ptr
      tile.yield
    }
    tile.yield
  }
  return
}
