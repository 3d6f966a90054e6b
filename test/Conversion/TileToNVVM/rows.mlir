// RUN: heddle-opt %s --heddle-tile-to-nvvm --canonicalize --cse | FileCheck %s

!scores = !tile.frag<16x64, mma 1x1>
!numbers = !tile.frag<16x1, rows 1x1>
!queries = !tile.shared<16x16xi32, chunks>
!keys = !tile.shared<16x64xi32, woven>
!values = !tile.shared<64x16xi32, chunks>
!out = !tile.frag<16x32, mma 1x1>

// 1 KiB of queries, behind it two slots of 4 KiB of keys and 4 KiB of values.
// CHECK: llvm.mlir.global internal @heddle_shared_attention() {{.*}} : !llvm.array<17408 x i8>
// CHECK-LABEL: func.func @attention(
func.func @attention(%keys: !llvm.ptr, %values: !llvm.ptr, %y: !llvm.ptr, %count: index, %from: index, %to: index, %partial: i1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tile.launch %count threads 32 {
  ^bb0(%tile: index):
    // A variable is a place a number that the thread holds: 16 of a fragment of 16 x 32.
    // CHECK-COUNT-16: llvm.alloca {{.*}} x f32
    // CHECK-NOT: llvm.alloca
    %q = tile.piece : !queries
    // Words are dealt to threads, between two barriers.
    // CHECK: nvvm.barrier
    // CHECK: scf.for
    // CHECK: llvm.store %{{.+}}, %{{.+}} : i32, !llvm.ptr<3>
    // CHECK: nvvm.barrier
    tile.put %q : !queries {
    ^bb0(%i: index, %j: index, %now: i32):
      %word = arith.index_cast %j : index to i32
      tile.yield %word : i32
    }
    %zero = tile.zero : !scores
    %none = tile.zero : !out
    %sum = tile.var %none : !out
    // The first round is asked for if there is one; its keys four at a time where they begin so, else one by one.
    // CHECK: nvvm.barrier
    // CHECK: scf.if
    // CHECK: scf.if
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
    // CHECK: } else {
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
    // CHECK: nvvm.cp.async.commit.group
    // CHECK: scf.for
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: nvvm.barrier
    // CHECK: nvvm.cp.async.commit.group
    tile.rounds %from to %to by 64 stages 2 fill {
    ^bb0(%at: index, %k: !keys, %v: !values):
      tile.copy %keys[%c0, %at] of %c16 by %to panels 16 anywhere -> %k : !keys
      tile.copy %values[%at, %c0] of %to by %c16 -> %v : !values
      tile.yield
    } use {
    ^bb0(%at: index, %k: !keys, %v: !values):
      // 32 components are two units deep, 64 keys eight of them wide.
      // CHECK: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>
      // CHECK-COUNT-8: nvvm.mma.sync
      // CHECK: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>
      // CHECK-COUNT-8: nvvm.mma.sync
      // CHECK-NOT: nvvm.mma.sync
      %s = tile.mma %q, %k, %zero : !queries, !keys -> !scores
      // The question stands once, the answers are the bits of a word.
      // CHECK: %[[BITS:.+]] = scf.for {{.*}} -> (i32)
      // CHECK-COUNT-1: arith.cmpi sle
      // CHECK-COUNT-32: arith.select
      %seen = tile.keep %s else 0xFF800000 : !scores {
      ^bb0(%i: index, %j: index):
        %yes = arith.cmpi sle, %j, %i : index
        tile.yield %yes : i1
      }
      // Two rows, of which a thread has 16 elements, and three neighbours the others.
      // CHECK-COUNT-4: nvvm.shfl.sync bfly
      // CHECK-NOT: nvvm.shfl.sync
      %top = tile.fold most %seen : !scores -> !numbers
      // CHECK-COUNT-32: arith.subf
      // CHECK-NOT: arith.subf
      %p = tile.map(%seen, %top) : (!scores, !numbers) -> !scores {
      ^bb0(%i: index, %j: index, %x: f32, %y0: f32):
        %less = arith.subf %x, %y0 : f32
        tile.yield %less : f32
      }
      // 64 keys are four units deep, 32 features four wide, which two turned loads of four matrices bring.
      // CHECK-COUNT-8: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>
      %old = tile.get %sum : !tile.var<!out>
      %new = tile.mma %p, %v, %old : !scores, !values -> !out
      // A condition around ops of tiles is copied.
      // CHECK: scf.if %arg6
      // CHECK-COUNT-16: llvm.store {{.*}} : f32, !llvm.ptr
      scf.if %partial {
        tile.set %sum, %new : !tile.var<!out>
      }
      tile.yield
    }
    %all = tile.get %sum : !tile.var<!out>
    // CHECK: nvvm.barrier #nvvm.reduction<or> %{{.+}} -> i32
    %nan = tile.any %all : !out {
    ^bb0(%x: f32):
      %is = arith.cmpf uno, %x, %x : f32
      tile.yield %is : i1
    }
    llvm.store %nan, %y : i1, !llvm.ptr
    tile.yield
  }
  return
}
