// RUN: heddle-opt %s --heddle-join-kernels | FileCheck %s
// RUN: heddle-opt %s --heddle-join-kernels | heddle-translate --card | FileCheck %s --check-prefix=CARD

// Four kernels that differ in where their operand and result lie in the arena, where their weight lies, which tensor of the call and which length
// they read: one kernel. What two of them have in common stays in it, places in the arena are lines of the entry, the numbers of a launch say which.
#run = #card.entry<name = "run", dims = ["B", "T"], arena = "64", repeats = [#card.repeat<count = 2, first = 1, end = 2>]>
#step = #card.entry<name = "step", dims = ["B", "past"], arena = "64">
module attributes {card.entries = [#run, #step]} {
  // At T * 4, weights from 100 on.
  func.func @run_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {tile.kernel, tile.dims = ["B", "T"], tile.launches = [#tile.launch<entry = "run", items = "B", each = 32, threads = 128>]} {
    %four = arith.constant 4 : index
    %unused = llvm.load %dims : !llvm.ptr -> i64
    %at1 = llvm.getelementptr %dims[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %t64 = llvm.load %at1 : !llvm.ptr -> i64
    %t = arith.index_cast %t64 : i64 to index
    %bytes = arith.muli %t, %four : index
    %b64 = arith.index_cast %bytes : index to i64
    %to = tile.place %arena at %b64, "4*T"
    %w = llvm.getelementptr %weights[100] : (!llvm.ptr) -> !llvm.ptr, i8
    %in = llvm.load %tensors : !llvm.ptr -> !llvm.ptr
    %x = llvm.load %in : !llvm.ptr -> f32
    %y = llvm.load %w : !llvm.ptr -> f32
    %sum = arith.addf %x, %y : f32
    llvm.store %sum, %to : f32, !llvm.ptr
    llvm.store %t64, %arena : i64, !llvm.ptr
    return
  }
  // At 64, weights of the layer i; ops in another order.
  func.func @run_1(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {tile.kernel, tile.dims = ["B", "T"], tile.launches = [#tile.launch<entry = "run", items = "T", each = 32, threads = 128, number = 1, times = 2, place = "f:1:2">]} {
    %layer = arith.index_cast %i : i64 to index
    %stride = arith.constant 1000 : index
    %begin = arith.constant 200 : index
    %first = arith.muli %layer, %stride : index
    %there = arith.addi %first, %begin : index
    %w64 = arith.index_cast %there : index to i64
    %w = llvm.getelementptr %weights[%w64] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %at2 = llvm.getelementptr %tensors[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %in = llvm.load %at2 : !llvm.ptr -> !llvm.ptr
    %b = llvm.load %dims : !llvm.ptr -> i64
    %c64 = arith.constant 64 : i64
    %to = tile.place %arena at %c64, "64"
    %x = llvm.load %in : !llvm.ptr -> f32
    %y = llvm.load %w : !llvm.ptr -> f32
    %sum = arith.addf %x, %y : f32
    llvm.store %sum, %to : f32, !llvm.ptr
    llvm.store %b, %arena : i64, !llvm.ptr
    return
  }
  // As the first one; `past` in the place of T.
  func.func @step_0(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {tile.kernel, tile.dims = ["B", "past"], tile.launches = [#tile.launch<entry = "step", items = "B", each = 32, threads = 128>]} {
    %four = arith.constant 4 : index
    %at1 = llvm.getelementptr %dims[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %t64 = llvm.load %at1 : !llvm.ptr -> i64
    %t = arith.index_cast %t64 : i64 to index
    %bytes = arith.muli %t, %four : index
    %b64 = arith.index_cast %bytes : index to i64
    %to = tile.place %arena at %b64, "4*past"
    %w = llvm.getelementptr %weights[100] : (!llvm.ptr) -> !llvm.ptr, i8
    %in = llvm.load %tensors : !llvm.ptr -> !llvm.ptr
    %x = llvm.load %in : !llvm.ptr -> f32
    %y = llvm.load %w : !llvm.ptr -> f32
    %sum = arith.addf %x, %y : f32
    llvm.store %sum, %to : f32, !llvm.ptr
    llvm.store %t64, %arena : i64, !llvm.ptr
    return
  }
  // A number that is no place: another kernel.
  func.func @step_1(%fail: !llvm.ptr, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr, %i: i64, %j: i64, %numbers: !llvm.ptr) attributes {tile.kernel, tile.dims = ["B", "past"], tile.launches = [#tile.launch<entry = "step", items = "7", each = 32, threads = 128, number = 1>]} {
    %seven = arith.constant 7 : i64
    llvm.store %seven, %arena : i64, !llvm.ptr
    return
  }
}
// The forms of an entry are computed behind its two lengths, so that the first one is number 2.
// CARD: entry run
// CARD-NEXT: dims B T
// CARD-NEXT: arena 64
// CARD-NEXT: length 4*T
// CARD-NEXT: length 64
// CARD-NEXT: launch run_0 items B of 32 threads 128 with 0 0 100 2 1
// CARD-NEXT: repeat 2
// CARD-NEXT: launch run_0 items T of 32 threads 128 with 2 1000 200 3 0 # f:1:2
// CARD-NEXT: again
// CARD-NEXT: entry step
// CARD-NEXT: dims B past
// CARD-NEXT: arena 64
// CARD-NEXT: length 4*past
// CARD-NEXT: launch run_0 items B of 32 threads 128 with 0 0 100 2 1
// CARD-NEXT: launch step_1 items 7 of 32 threads 128
// CARD-NEXT: end
// CHECK-LABEL: func.func @run_0(
// CHECK-SAME: %{{[a-z0-9]*}}: !llvm.ptr, %[[DIMS:[a-z0-9]*]]: !llvm.ptr, %[[TENSORS:[a-z0-9]*]]: !llvm.ptr, %[[ARENA:[a-z0-9]*]]: !llvm.ptr, %[[WEIGHTS:[a-z0-9]*]]: !llvm.ptr, %[[I:[a-z0-9]*]]: i64, %{{[a-z0-9]*}}: i64, %[[NUMBERS:[a-z0-9]*]]: !llvm.ptr {llvm.byval = !llvm.array<5 x i64>})
// CHECK-SAME: tile.launches = [{{.*}}numbers = [0, 0, 100, 2, 1]{{.*}}numbers = [2, 1000, 200, 3, 0]{{.*}}entry = "step"{{.*}}]
// CHECK-DAG: llvm.getelementptr %[[NUMBERS]][0]
// CHECK-DAG: llvm.getelementptr %[[NUMBERS]][4]
// CHECK: llvm.store
// CHECK: return
// CHECK-NOT: func.func @run_1
// CHECK-NOT: func.func @step_0
// CHECK: func.func @step_1
