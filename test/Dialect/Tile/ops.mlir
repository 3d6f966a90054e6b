// RUN: heddle-opt %s | heddle-opt | FileCheck %s

!reals = !tile.frag<128x128, block 16x16>
!x = !tile.shared<128x16xf32, turned>
!w = !tile.shared<16x128xf32, plain>

// CHECK-LABEL: func.func @f32
func.func @f32(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 768 : index
  %n = arith.constant 256 : index
  %zero = arith.constant 0 : index
  // CHECK: tile.launch %{{.+}} threads 256 {
  // CHECK-NEXT: ^bb0(%[[TILE:.+]]: index):
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    // CHECK: tile.zero : <128x128, block 16x16>
    %none = tile.zero : !reals
    // CHECK: %[[SUM:.+]] = tile.stream 768 by 16 stages 2 carry %{{.+}} : <128x128, block 16x16> fill {
    %sum = tile.stream 768 by 16 stages 2 carry %none : !reals fill {
    // CHECK-NEXT: ^bb0(%{{.+}}: index, %[[A:.+]]: !tile.shared<128x16xf32, turned>, %[[B:.+]]: !tile.shared<16x128xf32, plain>):
    ^bb0(%at: index, %a: !x, %b: !w):
      // CHECK: tile.copy %{{.+}}[%[[TILE]], %{{.+}}] of %{{.+}} by %{{.+}} -> %[[A]] : <128x16xf32, turned>
      tile.copy %x[%tile, %at] of %rows by %k -> %a : !x
      // CHECK: tile.copy %{{.+}}[%{{.+}}, %{{.+}}] of %{{.+}} by %{{.+}} panels 32 -> %[[B]] : <16x128xf32, plain>
      tile.copy %w[%at, %zero] of %k by %n panels 32 -> %b : !w
      tile.yield
    // CHECK: } use {
    } use {
    ^bb0(%a: !x, %b: !w, %now: !reals):
      // CHECK: tile.mma %{{.+}}, %{{.+}}, %{{.+}} : <128x16xf32, turned>, <16x128xf32, plain> -> <128x128, block 16x16>
      %next = tile.mma %a, %b, %now : !x, !w -> !reals
      tile.yield %next : !reals
    }
    // CHECK: tile.each %[[SUM]] at[%[[TILE]], %{{.+}}] of %{{.+}} by %{{.+}} run 4 : <128x128, block 16x16> {
    tile.each %sum at[%tile, %zero] of %rows by %n run 4 : !reals {
    ^bb0(%i: index, %j: index, %value: f32):
      llvm.store %value, %y : f32, !llvm.ptr
      tile.yield
    }
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @pairs
func.func @pairs(%count: index) {
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    // CHECK: tile.zero : <16x128, mma 1x8>
    %none = tile.zero : !tile.frag<16x128, mma 1x8>
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func @groups
func.func @groups(%x: !llvm.ptr, %w: !llvm.ptr, %count: index, %rows: index) {
  %k = arith.constant 96 : index
  %n = arith.constant 160 : index
  // CHECK: tile.launch %{{.+}} threads 128 together 2 on ["sm_90a"] {
  tile.launch %count threads 128 together 2 on ["sm_90a"] {
  ^bb0(%tile: index):
    // CHECK: tile.zero : <64x128, wgmma 1x1>
    %none = tile.zero : !tile.frag<64x128, wgmma 1x1>
    // CHECK: tile.stream 96 by 32 stages 3 bulk carry %{{.+}} : <64x128, wgmma 1x1> fill {
    %sum = tile.stream 96 by 32 stages 3 bulk carry %none : !tile.frag<64x128, wgmma 1x1> fill {
    ^bb0(%at: index, %a: !tile.shared<64x32xi32, left>, %b: !tile.shared<32x128xi32, right>):
      // CHECK: tile.copy %{{.+}}[%{{.+}}, %{{.+}}] of %{{.+}} by %{{.+}} groups -> %{{.+}} : <64x32xi32, left>
      tile.copy %x[%tile, %at] of %rows by %k groups -> %a : !tile.shared<64x32xi32, left>
      tile.copy %w[%at, %tile] of %k by %n groups -> %b : !tile.shared<32x128xi32, right>
      tile.yield
    } use {
    ^bb0(%a: !tile.shared<64x32xi32, left>, %b: !tile.shared<32x128xi32, right>, %now: !tile.frag<64x128, wgmma 1x1>):
      // CHECK: tile.mma %{{.+}}, %{{.+}}, %{{.+}} : <64x32xi32, left>, <32x128xi32, right> -> <64x128, wgmma 1x1>
      %next = tile.mma %a, %b, %now : !tile.shared<64x32xi32, left>, !tile.shared<32x128xi32, right> -> !tile.frag<64x128, wgmma 1x1>
      tile.yield %next : !tile.frag<64x128, wgmma 1x1>
    }
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func private @images(!tile.shared<128x16xi32, chunks>, !tile.shared<16x128xi32, woven>)
func.func private @images(!tile.shared<128x16xi32, chunks>, !tile.shared<16x128xi32, woven>)
