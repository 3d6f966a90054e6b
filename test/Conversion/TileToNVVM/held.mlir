// RUN: heddle-opt %s --heddle-tile-to-nvvm --canonicalize --cse | FileCheck %s

!scores = !tile.frag<64x64, wgmma 1x1>
!numbers = !tile.frag<64x1, rows 4x1>
!queries = !tile.shared<64x16xi32, left>
!keys = !tile.shared<16x64xi32, right>
!values = !tile.shared<64x16xi32, left>
!out = !tile.frag<64x32, wgmma 1x1>

// Groups of warps read by themselves what threads put and copy: in front of the barriers behind that it is shown to them.
// CHECK-LABEL: func.func @attention(
func.func @attention(%keys: !llvm.ptr, %values: !llvm.ptr, %count: index, %from: index, %to: index, %again: i1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tile.launch %count threads 128 {
  ^bb0(%tile: index):
    %q = tile.piece : !queries
    // CHECK: llvm.store %{{.+}}, %{{.+}} : i32, !llvm.ptr<3>
    // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "fence.proxy.async.shared::cta;", "~{memory}"
    // CHECK-NEXT: nvvm.barrier
    tile.put %q : !queries {
    ^bb0(%i: index, %j: index, %now: i32):
      %word = arith.index_cast %j : index to i32
      tile.yield %word : i32
    }
    %zero = tile.zero : !scores
    %none = tile.zero : !out
    %sum = tile.var %none : !out
    // A slot has 4 groups of 64 keys and 4 groups of 64 values, 256 parts of 16 bytes each: two turns of each thread. Eight rows of values
    // go side by side.
    // CHECK: nvvm.barrier
    // CHECK: scf.if
    // CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
    // CHECK-NOT: nvvm.cp.async.shared
    // CHECK: nvvm.cp.async.commit.group
    // CHECK: scf.for
    // CHECK: nvvm.cp.async.wait.group 0
    // CHECK-NEXT: llvm.inline_asm {{.*}}"fence.proxy.async.shared::cta;"
    // CHECK-NEXT: nvvm.barrier
    // CHECK: nvvm.cp.async.commit.group
    tile.rounds %from to %to by 64 stages 2 fill {
    ^bb0(%at: index, %k: !keys, %v: !values):
      tile.copy %keys[%c0, %at] of %c16 by %to panels 16 groups -> %k : !keys
      tile.copy %values[%at, %c0] of %to by %c16 -> %v : !values
      tile.yield
    } use {
    ^bb0(%at: index, %k: !keys, %v: !values):
      // Two units deep, settled at once. Steps of descriptors, in 16 bytes: 64 keys from a group to the next, 8 of them from a matrix to the next.
      // CHECK: arith.ori %{{.+}}, %c34363932672_i64 : i64
      // CHECK: nvvm.wgmma.fence.aligned
      // CHECK-COUNT-2: llvm.inline_asm {{.*}}"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, {{.*}}, $31}, $32, $33, 1, 1, 1, 0, 0;", "{{.*}},l,l,0,{{.*}}"
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      // CHECK-NEXT: llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0;"
      %s = tile.mma %q, %k, %zero : !queries, !keys -> !scores
      // Rows are folded as those of warps are.
      // CHECK-COUNT-4: nvvm.shfl.sync bfly
      %top = tile.fold most %s : !scores -> !numbers
      %p = tile.map(%s, %top) : (!scores, !numbers) -> !scores {
      ^bb0(%i: index, %j: index, %x: f32, %y0: f32):
        %less = arith.subf %x, %y0 : f32
        tile.yield %less : f32
      }
      // Values that are changed are shown again.
      // CHECK: scf.if
      // CHECK: llvm.store
      // CHECK: llvm.inline_asm {{.*}}"fence.proxy.async.shared::cta;"
      // CHECK-NEXT: nvvm.barrier
      scf.if %again {
        tile.put %v : !values {
        ^bb0(%i: index, %j: index, %now: i32):
          tile.yield %now : i32
        }
      }
      %old = tile.get %sum : !tile.var<!out>
      // 64 keys are four units deep, whose words are all there before the first. 8 keys from a matrix to the next, all 64 from a group to the next.
      // CHECK: arith.ori %{{.+}}, %c274878431232_i64 : i64
      // CHECK: nvvm.wgmma.fence.aligned
      // CHECK-COUNT-4: llvm.inline_asm {{.*}}"wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {$0, {{.*}}, $15}, {$16, $17, $18, $19}, $20, 1, 1, 1, 1;", "{{.*}},r,r,r,r,l,0,{{.*}}"
      // CHECK-NOT: "wgmma.mma_async
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      // CHECK-NEXT: llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0;"
      %new = tile.mma %p, %v, %old : !scores, !values -> !out
      tile.set %sum, %new : !tile.var<!out>
      tile.yield
    }
    tile.yield
  }
  return
}
