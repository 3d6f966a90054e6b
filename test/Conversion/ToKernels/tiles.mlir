// RUN: heddle-opt %s --heddle-split-kernels | FileCheck %s
// RUN: heddle-opt %s --heddle-split-kernels | heddle-translate --card | FileCheck %s --check-prefix=CARD

// A tile is the work of a whole block, so a phase with tiles is launched with their number of threads; what warps do in the same
// phase is dealt to whatever warps there are. Each has as many items as the larger of the two needs.
// CARD: launch run_0 items max(8*((B+127)//128),B) of 32 threads 256
// CARD-NEXT: launch run_1 items B of 32 threads 128
module attributes {card.entries = [#card.entry<name = "run", dims = ["B"], arena = "64">], model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func private @heddle_barrier(!llvm.ptr)
  func.func private @heddle_entry_run(%context: !llvm.ptr, %team: i64, %teams: i64, %dims: !llvm.ptr, %tensors: !llvm.ptr, %arena: !llvm.ptr, %weights: !llvm.ptr) attributes {tile.dims = ["B"]} {
    %t = arith.index_cast %team : i64 to index
    %n = arith.index_cast %teams : i64 to index
    %b64 = llvm.load %dims : !llvm.ptr -> i64
    %b = arith.index_cast %b64 : i64 to index
    scf.for %i = %t to %b step %n {
      llvm.store %b64, %arena : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "B", each = 32>}
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %more = arith.addi %b, %c127 : index
    %count = arith.divui %more, %c128 : index
    tile.launch %count threads 256 {
    ^bb0(%tile: index):
      %none = tile.zero : !tile.frag<128x128, block 16x16>
      tile.each %none at[%tile, %tile] of %b by %c128 run 4 : !tile.frag<128x128, block 16x16> {
      ^bb0(%i: index, %j: index, %x: f32):
        llvm.store %x, %arena : f32, !llvm.ptr
        tile.yield
      }
      tile.yield
    } {tile.items = #tile.items<count = "(B+127)//128", each = 256>}
    func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
    scf.for %i = %t to %b step %n {
      llvm.store %b64, %arena : i64, !llvm.ptr
    } {tile.items = #tile.items<count = "B", each = 32>}
    func.call @heddle_barrier(%context) : (!llvm.ptr) -> ()
    return
  }
}

// CHECK-LABEL: func.func @run_0(
// CHECK-SAME: attributes {nvvm.maxntid = array<i32: 256>, {{.*}}tile.kernel, tile.launches = {{.*}}]}
// CHECK: scf.for
// CHECK: tile.launch %{{.*}} threads 256 {
// CHECK: tile.each
// CHECK-LABEL: func.func @run_1(
// CHECK-SAME: attributes {{.*}}tile.kernel, tile.launches = {{.*}}]}
// CHECK-NOT: tile.{{launch |items}}
