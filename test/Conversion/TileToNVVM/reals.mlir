// RUN: heddle-opt %s --heddle-tile-to-nvvm --canonicalize --cse | FileCheck %s

// Products of f32 whose elements are spread as a unit has them: rows l/4 and l/4 + 8, pairs of columns.
!scores = !tile.frag<16x16, mma 1x1>
!queries = !tile.shared<16x8xf32, left>
!keys = !tile.shared<8x16xf32, plain>
!values = !tile.shared<16x24xf32, plain>
!out = !tile.frag<16x24, mma 1x1>

// 544 bytes of queries (4 words free behind each group), behind it two slots of 512 bytes of keys and 1536 bytes of values.
// CHECK: llvm.mlir.global internal @heddle_shared_attention() {{.*}} : !llvm.array<4640 x i8>
// CHECK-LABEL: func.func @attention(
func.func @attention(%keys: !llvm.ptr, %values: !llvm.ptr, %count: index, %from: index, %to: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  tile.launch %count threads 32 {
  ^bb0(%tile: index):
    %q = tile.piece : !queries
    %zero = tile.zero : !scores
    %none = tile.zero : !out
    %sum = tile.var %none : !out
    tile.rounds %from to %to by 16 stages 2 fill {
    ^bb0(%at: index, %k: !keys, %v: !values):
      tile.copy %keys[%c0, %at] of %c8 by %to panels 16 anywhere -> %k : !keys
      tile.copy %values[%at, %c0] of %to by %c24 -> %v : !values
      tile.yield
    } use {
    ^bb0(%at: index, %k: !keys, %v: !values):
      // Four components of two rows at once; of each the keys in pairs, one fused product an element.
      // CHECK: nvvm.barrier
      // CHECK: %[[S:.+]]:8 = scf.for %{{.+}} = %c0{{.*}} to %c8{{.*}} step %c4{{.*}} iter_args(
      // CHECK-COUNT-2: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<4xf32>
      // CHECK-COUNT-2: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<2xf32>
      // CHECK-COUNT-8: math.fma
      // CHECK-COUNT-2: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<2xf32>
      // CHECK-COUNT-8: math.fma
      // CHECK-COUNT-2: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<2xf32>
      // CHECK-COUNT-8: math.fma
      // CHECK-COUNT-2: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<2xf32>
      // CHECK-COUNT-8: math.fma
      // CHECK-NOT: math.fma
      // CHECK: scf.yield
      %s = tile.mma %q, %k, %zero : !queries, !keys -> !scores
      // 16 keys: the weight of each, for two rows, from the lane that has it, and three pairs of features. Keys 0 and 1 are
      // those of the first lane of a row, its elements 0 and 1 of the upper row, 4 and 5 of the lower one; key 8 is element 2.
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[S]]#0, %[[FIRST:[a-z0-9_]+]],
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[S]]#4, %[[FIRST]],
      // CHECK-COUNT-3: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<2xf32>
      // CHECK-COUNT-12: math.fma
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[S]]#1, %[[FIRST]],
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[S]]#5, %[[FIRST]],
      // CHECK-COUNT-12: math.fma
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[S]]#0, %[[SECOND:[a-z0-9_]+]],
      // CHECK-COUNT-72: math.fma
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[S]]#2, %[[FIRST]],
      // CHECK-COUNT-96: math.fma
      // CHECK-NOT: math.fma
      // CHECK-NOT: nvvm.mma.sync
      %old = tile.get %sum : !tile.var<!out>
      %new = tile.mma %s, %v, %old : !scores, !values -> !out
      tile.set %sum, %new : !tile.var<!out>
      tile.yield
    }
    tile.yield
  }
  return
}
