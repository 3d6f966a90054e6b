// RUN: heddle-opt %s --heddle-split-kernels | FileCheck %s
// RUN: heddle-opt %s --heddle-split-kernels | heddle-translate --card | FileCheck %s --check-prefix=CARD

// An SPMD entry as convert-heddle-to-warps leaves it: what stands between two barriers is a kernel, which makes again what it
// needs; a repeat is a loop of launches whose variable is `i`; a condition around barriers stands inside of each kernel.
module attributes {card.entries = [#card.entry<name = "run", dims = ["B", "T"], arena = "64">], model.target = #model.target<"cuda", chip = "sm_80+sm_90a", lanes = 32, registers = 255>} {
  func.func private @heddle_barrier(!llvm.ptr)
  func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {tile.dims = ["B", "T"]} {
    %t = arith.index_cast %team : i64 to index
    %n = arith.index_cast %teams : i64 to index
    %b64 = llvm.load %dims : !llvm.ptr -> i64
    %b = arith.index_cast %b64 : i64 to index
    %second = llvm.getelementptr %dims[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %t64 = llvm.load %second : !llvm.ptr -> i64
    %length = arith.index_cast %t64 : i64 to index
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %rows = arith.muli %b, %length : index
    // An item is a team's work.
    scf.for %i = %t to %rows step %n {
      %x = arith.index_cast %i : index to i64
      %at = llvm.getelementptr %arena[%x] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      llvm.store %x, %at : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "B*T", each = 32>}
    func.call @heddle_barrier(%context) {tile.costs = [#tile.cost<op = "map", operations = "0", read = "4*B*T", written = "8*B*T">]} : (!llvm.ptr) -> ()
    scf.for %layer = %zero to %three step %one {
      // A stretch of items: from rows * team / teams on.
      %product = arith.muli %b, %t : index
      %from = arith.divui %product, %n {tile.items = #tile.items<count = "B", each = 32>} : index
      %y = arith.addi %from, %layer : index
      %z = arith.index_cast %y : index to i64
      llvm.store %z, %arena : i64, !llvm.ptr
      func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
      %given = llvm.load %tensors : !llvm.ptr -> !llvm.ptr
      %null = llvm.mlir.zero : !llvm.ptr
      %absent = llvm.icmp "eq" %given, %null : !llvm.ptr
      scf.if %absent {
        scf.for %i = %t to %length step %n {
          llvm.store %t64, %arena : i64, !llvm.ptr
        } {tile.items = #tile.items<count = "T", each = 1>}
        func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
      }
    }
    return
  }
}

// CARD: target cuda%20sm_80+sm_90a
// CARD-NEXT: device sm_80 sm_90a
// CARD: arena 64
// CARD-NEXT: launch run_0 items B*T of 32 threads 128 # {{[^ ]*}}split.mlir:{{[0-9]+:[0-9]+}}
// CARD-NEXT: repeat 3
// CARD-NEXT: launch run_1 items B of 32 threads 128 #
// CARD-NEXT: launch run_2 items T of 1 threads 128 #
// CARD-NEXT: again
// CARD-NEXT: end
// CHECK-NOT: heddle_entry_run
// CHECK-LABEL: func.func @run_0(
// CHECK-SAME: %[[FAIL:[a-z0-9]*]]: !llvm.ptr, %[[DIMS:[a-z0-9]*]]: !llvm.ptr, %{{[a-z0-9]*}}: !llvm.ptr, %[[ARENA:[a-z0-9]*]]: !llvm.ptr, %{{[a-z0-9]*}}: !llvm.ptr, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: !llvm.ptr)
// What the barrier says of the phase stands on the kernel.
// CHECK-SAME: attributes {tile.dims = ["B", "T"], tile.kernel, tile.launches = [#tile.launch<entry = "run", items = "B*T", each = 32, threads = 128, place = "{{[^"]*}}", costs = [#tile.cost<op = "map", operations = "0", read = "4*B*T", written = "8*B*T">]>]}
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.load %[[DIMS]]
// CHECK: scf.for
// CHECK-NOT: call
// CHECK: return
// The index of the repeat is the kernel's.
// CHECK-LABEL: func.func @run_1(
// CHECK-SAME: %[[I:[a-z0-9]*]]: i64, %{{[a-z0-9]*}}: i64, %{{[a-z0-9]*}}: !llvm.ptr) attributes
// CHECK-DAG: arith.index_cast %[[I]] : i64 to index
// CHECK: llvm.store
// CHECK-LABEL: func.func @run_2(
// CHECK: %[[ABSENT:.*]] = llvm.icmp "eq"
// CHECK: scf.if %[[ABSENT]]
// CHECK-NEXT: scf.for
// CHECK-NEXT: llvm.store
