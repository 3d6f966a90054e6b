// RUN: heddle-opt %s --heddle-split-kernels | FileCheck %s
// RUN: heddle-opt %s --heddle-split-kernels | heddle-translate --card | FileCheck %s --check-prefix=CARD
// RUN: heddle-opt %s --heddle-split-kernels=alone | heddle-translate --card | FileCheck %s --check-prefix=ALONE

// Five phases, one behind the other in the text. The third needs nothing of the first two, so it is done beside the first; the fourth writes over
// what the third has written, so it is not, but beside the second; the last writes over what the second has read.
module attributes {card.entries = [#card.entry<name = "run", dims = ["B", "T"], arena = "64">], model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func private @heddle_barrier(!llvm.ptr)
  func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {tile.dims = ["B", "T"]} {
    %t = arith.index_cast %team : i64 to index
    %n = arith.index_cast %teams : i64 to index
    %b64 = llvm.load %dims : !llvm.ptr -> i64
    %b = arith.index_cast %b64 : i64 to index
    %second = llvm.getelementptr %dims[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %t64 = llvm.load %second : !llvm.ptr -> i64
    %length = arith.index_cast %t64 : i64 to index
    %c0 = arith.constant 0 : i64
    %p0 = tile.place %arena at %c0, "0"
    %p1 = tile.place %arena at %b64, "B"
    %p2 = tile.place %arena at %t64, "T"
    %given = llvm.load %tensors : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i64
    %c3 = arith.constant 3 : i64
    %c4 = arith.constant 4 : i64
    %c5 = arith.constant 5 : i64
    scf.for %i = %t to %b step %n {
      llvm.store %c1, %p0 : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "B", each = 32>}
    func.call @heddle_barrier(%context) {tile.costs = [#tile.cost<op = "first", operations = "0", read = "0", written = "0">]} : (!llvm.ptr) -> ()
    scf.for %i = %t to %b step %n {
      %x = llvm.load %p0 : !llvm.ptr -> i64
      %y = arith.addi %x, %c2 : i64
      llvm.store %y, %p1 : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "B", each = 32>}
    func.call @heddle_barrier(%context) {tile.costs = [#tile.cost<op = "second", operations = "0", read = "0", written = "0">]} : (!llvm.ptr) -> ()
    scf.for %i = %t to %length step %n {
      llvm.store %c3, %p2 : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "T", each = 1>}
    func.call @heddle_barrier(%context) {tile.costs = [#tile.cost<op = "third", operations = "0", read = "0", written = "0">]} : (!llvm.ptr) -> ()
    scf.for %i = %t to %length step %n {
      %x = llvm.load %given : !llvm.ptr -> i64
      %y = arith.addi %x, %c4 : i64
      llvm.store %y, %p2 : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "T", each = 32>}
    func.call @heddle_barrier(%context) {tile.costs = [#tile.cost<op = "fourth", operations = "0", read = "0", written = "0">]} : (!llvm.ptr) -> ()
    scf.for %i = %t to %b step %n {
      llvm.store %c5, %p0 : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "B", each = 32>}
    return
  }
}

// A kernel has the items of all of its phases.
// CARD: launch run_0 items 32*B+T of 1 threads 128 #
// CARD-NEXT: launch run_1 items B+T of 32 threads 128 #
// CARD-NEXT: launch run_2 items B of 32 threads 128 #
// CHECK-NOT: tile.items
// CHECK-LABEL: func.func @run_0(
// CHECK-SAME: op = "first"
// CHECK-SAME: op = "third"
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: scf.for %{{.*}} = %[[TEAM:[a-z0-9_]*]] to %[[COUNT:[a-z0-9_]*]] step %[[TEAMS:[a-z0-9_]*]] {
// CHECK: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// The items of the third phase begin with the team behind those that the first keeps busy.
// CHECK: %[[LAST:.*]] = arith.remui %[[COUNT]], %{{.*}} : index
// CHECK: %[[THERE:.*]] = arith.subi %{{.*}}, %[[LAST]] : index
// CHECK: %[[TURN:.*]] = arith.addi %{{.*}}, %[[THERE]] : index
// CHECK: %[[LESS:.*]] = arith.subi %[[TURN]], %{{.*}} : index
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[TURN]], %{{.*}} : index
// CHECK: arith.select %[[BELOW]], %[[TURN]], %[[LESS]] : index
// CHECK: scf.for
// CHECK: return
// CHECK-LABEL: func.func @run_1(
// CHECK-SAME: op = "second"
// CHECK-SAME: op = "fourth"
// CHECK-LABEL: func.func @run_2(
// CHECK-NOT: costs
// CHECK-NOT: func.func @run_

// ALONE: launch run_0 items B of 32 threads 128 #
// ALONE-NEXT: launch run_1 items B of 32 threads 128 #
// ALONE-NEXT: launch run_2 items T of 1 threads 128 #
// ALONE-NEXT: launch run_3 items T of 32 threads 128 #
// ALONE-NEXT: launch run_4 items B of 32 threads 128 #
