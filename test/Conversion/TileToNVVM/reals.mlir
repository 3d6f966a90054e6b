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
      // 8 keys at a time: the weight of each, for two rows, from the lane that has it, and three pairs of features. Of a
      // thread's weights two of a row are taken; the other two have their turn behind them.
      // CHECK: scf.for %{{.+}} = %c0{{.*}} to %c16{{.*}} step %c8{{.*}} iter_args({{.+}}, %[[W:[a-z0-9]+]] = %[[S]]#0, %[[X:[a-z0-9]+]] = %[[S]]#1, %[[Y:[a-z0-9]+]] = %[[S]]#2, %[[Z:[a-z0-9]+]] = %[[S]]#3, %[[LOW:[a-z0-9]+]] = %[[S]]#4,
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[W]], %[[FIRST:[a-z0-9_]+]],
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[LOW]], %[[FIRST]],
      // CHECK-COUNT-3: llvm.load %{{.+}} : !llvm.ptr<3> -> vector<2xf32>
      // CHECK-COUNT-12: math.fma
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[X]], %[[FIRST]],
      // CHECK-COUNT-12: math.fma
      // CHECK: nvvm.shfl.sync idx %{{.+}}, %[[W]], %[[SECOND:[a-z0-9_]+]],
      // CHECK-COUNT-72: math.fma
      // CHECK-NOT: math.fma
      // CHECK: scf.yield {{.+}}, %[[Y]], %[[Z]], %[[LOW]],
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
