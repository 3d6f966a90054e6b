// RUN: heddle-opt %s --heddle-tile-to-nvvm --canonicalize --cse | FileCheck %s

!f = !tile.frag<32x32, mma 1x2>
!x = !tile.shared<32x16xi32, chunks>
!w = !tile.shared<16x32xi32, woven>

// Rows of 12 words, which are multiples of 16 bytes: one round, of which 8 words and 4 with zeros behind are multiplied.
// CHECK: llvm.mlir.global internal @heddle_shared_whole() {{.*}} : !llvm.array<12288 x i8>
// CHECK-LABEL: func.func @whole(
func.func @whole(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 12 : index
  %n = arith.constant 32 : index
  %zero = arith.constant 0 : index
  tile.launch %count threads 64 {
  ^bb0(%tile: index):
    %none = tile.zero : !f
    // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
    // CHECK-NOT: nvvm.cp.async.shared
    %sum = tile.stream 12 by 16 stages 3 carry %none : !f fill {
    ^bb0(%at: index, %a: !x, %b: !w):
      tile.copy %x[%tile, %at] of %rows by %k -> %a : !x
      tile.copy %w[%at, %zero] of %k by %n panels 32 -> %b : !w
      tile.yield
    } use {
    ^bb0(%a: !x, %b: !w, %now: !f):
      // Two groups stand side by side: 32 rows of 16 results each. Two left sides, two right sides, four products for each 8 words.
      // CHECK: nvvm.cp.async.wait.group 1
      // CHECK-NEXT: nvvm.barrier
      // CHECK-COUNT-2: nvvm.ldmatrix %{{.*}} {{{.*}}num = 4 : i32
      // CHECK-COUNT-4: nvvm.mma.sync
      // CHECK-COUNT-2: nvvm.ldmatrix
      // CHECK-COUNT-4: nvvm.mma.sync
      // CHECK-NOT: nvvm.mma.sync
      %next = tile.mma %a, %b, %now : !x, !w -> !f
      tile.yield %next : !f
    }
    tile.each %sum at[%tile, %zero] of %rows by %n run 2 : !f {
    ^bb0(%i: index, %j: index, %value: f32):
      llvm.store %value, %y : f32, !llvm.ptr
      tile.yield
    }
    tile.yield
  }
  return
}

// Rows of 13 words are not: each word comes by itself.
// CHECK-LABEL: func.func @ragged(
func.func @ragged(%x: !llvm.ptr, %w: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 13 : index
  %n = arith.constant 32 : index
  %zero = arith.constant 0 : index
  tile.launch %count threads 64 {
  ^bb0(%tile: index):
    %none = tile.zero : !f
    // Where none is there a copy of no bytes has the address of the first.
    // CHECK: %[[BASE:.+]] = llvm.addrspacecast %{{.+}} : !llvm.ptr to !llvm.ptr<1>
    // CHECK: %[[THERE:.+]] = arith.andi
    // CHECK: %[[FROM:.+]] = arith.select %[[THERE]], %{{.+}}, %[[BASE]] : !llvm.ptr<1>
    // CHECK: %[[BYTES:.+]] = arith.select %[[THERE]], %{{.+}}, %{{.+}} : i32
    // CHECK: nvvm.cp.async.shared.global %{{.+}}, %[[FROM]], 4, cache = ca, %[[BYTES]]
    // CHECK-COUNT-7: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
    // CHECK-COUNT-2: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
    // CHECK-NOT: nvvm.cp.async.shared
    %sum = tile.stream 13 by 16 stages 3 carry %none : !f fill {
    ^bb0(%at: index, %a: !x, %b: !w):
      tile.copy %x[%tile, %at] of %rows by %k -> %a : !x
      tile.copy %w[%at, %zero] of %k by %n panels 32 -> %b : !w
      tile.yield
    } use {
    ^bb0(%a: !x, %b: !w, %now: !f):
      %next = tile.mma %a, %b, %now : !x, !w -> !f
      tile.yield %next : !f
    }
    tile.yield
  }
  return
}
