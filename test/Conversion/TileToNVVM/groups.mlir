// RUN: heddle-opt %s --heddle-tile-to-nvvm --canonicalize --cse | FileCheck %s

!x = !tile.shared<128x32xi32, left>
!w = !tile.shared<32x128xi32, right>
!f = !tile.frag<128x128, wgmma 2x1>

// 3 slots of 32 KiB are more than needs no asking, so the launch gives the memory; behind the ring are three barriers, for two announced
// pieces each.
// CHECK: llvm.mlir.global external @heddle_shared_bulk() {{.*}}alignment = 128 {{.*}} : !llvm.array<0 x i8>
// CHECK-LABEL: func.func @bulk(
// CHECK-SAME: attributes {nvvm.minctasm = 2 : i32}
func.func @bulk(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 104 : index
  %n = arith.constant 160 : index
  %zero = arith.constant 0 : index
  // CHECK: %[[TWO:.+]] = arith.constant 2 : i32
  // CHECK: %[[FIRST:.+]] = llvm.getelementptr %{{.+}}[24576]
  // CHECK-COUNT-3: nvvm.mbarrier.init %{{.+}}, %[[TWO]]
  // CHECK-NOT: nvvm.mbarrier.init
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.barrier
  tile.launch %count threads 256 together 2 {
  ^bb0(%tile: index):
    %none = tile.zero : !f
    // Two rounds before the loop, each of two announcements by one thread and two copies by eight, of which no lane asks for one before the
    // bytes are announced. Nothing but copies in bulk writes to the ring: no fence is in front.
    // CHECK-NOT: llvm.inline_asm
    // CHECK: nvvm.mbarrier.arrive.expect_tx
    // CHECK-NOT: nvvm.cp.async.bulk
    // CHECK: nvvm.bar.warp.sync
    // CHECK: nvvm.cp.async.bulk.shared.cluster.global
    // CHECK-COUNT-3: nvvm.mbarrier.arrive.expect_tx
    // CHECK-NOT: nvvm.cp.async.bulk
    // CHECK: nvvm.bar.warp.sync
    // CHECK: nvvm.cp.async.bulk.shared.cluster.global
    // CHECK: scf.for
    %sum = tile.stream 104 by 32 stages 3 bulk carry %none : !f fill {
    ^bb0(%at: index, %a: !x, %b: !w):
      tile.copy %x[%tile, %at] of %rows by %k groups -> %a : !x
      tile.copy %w[%at, %zero] of %k by %n groups -> %b : !w
      tile.yield
    } use {
    ^bb0(%a: !x, %b: !w, %now: !f):
      // Lanes may hear different answers: no branch is uniform.
      // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "{{.*}}mbarrier.try_wait.parity{{.*}} @done bra over; bra again; over: }"
      // CHECK: nvvm.wgmma.fence.aligned
      // CHECK-COUNT-4: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {$0, {{.*}}, $63}, $64, $65, 1, 1, 1, 0, 0;"
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      // The product of the round before is over; this one goes on.
      // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
      // CHECK-NEXT: nvvm.barrier
      // CHECK: nvvm.cp.async.bulk.shared.cluster.global
      // CHECK: nvvm.cp.async.bulk.shared.cluster.global
      // The last round has 8 of the 32 words; then all is settled.
      // CHECK: mbarrier.try_wait.parity
      // CHECK: "wgmma.mma_async
      // CHECK-NOT: "wgmma.mma_async
      // CHECK: "wgmma.wait_group.sync.aligned 0;"
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

// A value that is used in its round is settled there.
// CHECK-LABEL: func.func @used(
func.func @used(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 32 : index
  %n = arith.constant 128 : index
  %zero = arith.constant 0 : index
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    %none = tile.zero : !f
    // CHECK: scf.for
    %sum = tile.stream 32 by 32 stages 2 bulk carry %none : !f fill {
    ^bb0(%at: index, %a: !x, %b: !w):
      tile.copy %x[%tile, %at] of %rows by %k groups -> %a : !x
      tile.copy %w[%at, %zero] of %k by %n groups -> %b : !w
      tile.yield
    } use {
    ^bb0(%a: !x, %b: !w, %now: !f):
      // CHECK-COUNT-4: "wgmma.mma_async
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      // CHECK-NEXT: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;"
      %once = tile.mma %a, %b, %now : !x, !w -> !f
      // CHECK-COUNT-4: "wgmma.mma_async
      // CHECK: "wgmma.wait_group.sync.aligned 0;"
      %next = tile.mma %a, %b, %once : !x, !w -> !f
      tile.yield %next : !f
    }
    tile.yield
  }
  return
}

!low = !tile.frag<16x128, mma 1x8>
!u = !tile.shared<16x16xi32, left>
!v = !tile.shared<16x128xi32, right>

// The same order in shared memory serves warps: both sides come by ldmatrix, two right sides at a time.
// CHECK-LABEL: func.func @warps(
func.func @warps(%x: !llvm.ptr, %w: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 64 : index
  %n = arith.constant 128 : index
  %zero = arith.constant 0 : index
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    %none = tile.zero : !low
    %sum = tile.stream 64 by 16 stages 2 carry %none : !low fill {
    ^bb0(%at: index, %a: !u, %b: !v):
      // 64 and 512 parts of 16 bytes.
      // CHECK-COUNT-3: nvvm.cp.async.shared.global %{{.+}}, %{{.+}}, 16, cache = cg
      // CHECK-NOT: nvvm.cp.async.shared
      // CHECK: scf.for
      tile.copy %x[%tile, %at] of %rows by %k groups -> %a : !u
      tile.copy %w[%at, %zero] of %k by %n groups -> %b : !v
      tile.yield
    } use {
    ^bb0(%a: !u, %b: !v, %now: !low):
      // CHECK-COUNT-2: nvvm.ldmatrix %{{.*}} {{{.*}}num = 4 : i32
      // CHECK-COUNT-2: nvvm.mma.sync
      // CHECK-COUNT-2: nvvm.ldmatrix
      // CHECK-COUNT-2: nvvm.mma.sync
      // CHECK-NOT: nvvm.mma.sync
      %next = tile.mma %a, %b, %now : !u, !v -> !low
      tile.yield %next : !low
    }
    tile.yield
  }
  return
}

!chunks = !tile.shared<32x16xi32, chunks>
!woven = !tile.shared<16x32xi32, woven>
!pairs = !tile.frag<32x32, mma 2x4>

// Threads have copied to where copies in bulk come then: each shows what it wrote, in front of the barrier.
// CHECK-LABEL: func.func @behind(
func.func @behind(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 32 : index
  %n = arith.constant 128 : index
  %zero = arith.constant 0 : index
  // CHECK: nvvm.cp.async.shared.global
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    %none = tile.zero : !pairs
    %sum = tile.stream 32 by 16 stages 2 carry %none : !pairs fill {
    ^bb0(%at: index, %a: !chunks, %b: !woven):
      tile.copy %x[%tile, %at] of %rows by %k -> %a : !chunks
      tile.copy %w[%at, %zero] of %k by %n panels 32 -> %b : !woven
      tile.yield
    } use {
    ^bb0(%a: !chunks, %b: !woven, %now: !pairs):
      %next = tile.mma %a, %b, %now : !chunks, !woven -> !pairs
      tile.yield %next : !pairs
    }
    tile.yield
  }
  // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: nvvm.barrier
  // CHECK: nvvm.mbarrier.arrive.expect_tx
  // CHECK-NOT: fence.proxy.async
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    %none = tile.zero : !f
    %sum = tile.stream 32 by 32 stages 2 bulk carry %none : !f fill {
    ^bb0(%at: index, %a: !x, %b: !w):
      tile.copy %x[%tile, %at] of %rows by %k groups -> %a : !x
      tile.copy %w[%at, %zero] of %k by %n groups -> %b : !w
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
