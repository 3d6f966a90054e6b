// RUN: heddle-opt %s | heddle-opt | FileCheck %s

!reals = !tile.frag<128x128, block 16x16>
!x = !tile.shared<128x16xf32, turned>
!w = !tile.shared<16x128xf32, plain>

// What is known of a program and its launches.
// CHECK: module attributes {tile.regrouped = [#tile.regroup<offset = 64, depth = 16, panels = 2, width = 32>]}
module attributes {tile.regrouped = [#tile.regroup<offset = 64, depth = 16, panels = 2, width = 32>]} {
  func.func private @barrier()
  // CHECK: func.func @entry(
  // CHECK-SAME: attributes {tile.costs = [#tile.cost<op = "linear", operations = "2*T", read = "4*T", written = "4*T", dots = true, untiled = "wide">], tile.dims = ["B", "T"]}
  func.func @entry(%arena: !llvm.ptr, %offset: i64, %count: index, %n: index) attributes {tile.dims = ["B", "T"], tile.costs = [#tile.cost<op = "linear", operations = "2*T", read = "4*T", written = "4*T", dots = true, integers = false, untiled = "wide">]} {
    %zero = arith.constant 0 : index
    // CHECK: %[[PLACE:.+]] = tile.place %{{.+}} at %{{.+}}, "64*T"
    %place = tile.place %arena at %offset, "64*T"
    // CHECK: llvm.load %[[PLACE]] {tile.kept = "B*T"} : !llvm.ptr -> i64
    %kept = llvm.load %place {tile.kept = "B*T"} : !llvm.ptr -> i64
    // CHECK: } {tile.items = #tile.items<count = "B*T", each = 32>}
    scf.for %i = %zero to %count step %n {
    } {tile.items = #tile.items<count = "B*T", each = 32, estimate = false>}
    // CHECK: tile.launch
    tile.launch %count threads 64 {
    ^bb0(%tile: index):
      tile.yield
    // CHECK: } {tile.items = #tile.items<count = "B", each = 64, estimate = true>}
    } {tile.items = #tile.items<count = "B", each = 64, estimate = true>}
    // CHECK: call @barrier() {tile.costs = [#tile.cost<op = "map", operations = "0", read = "T", written = "T", integers = true>]}
    func.call @barrier() {tile.costs = [#tile.cost<op = "map", operations = "0", read = "T", written = "T", integers = true>]} : () -> ()
    return
  }
  // CHECK: func.func private @kernel() attributes {tile.chips = ["sm_80"], tile.kernel = "run_0",
  // CHECK-SAME: tile.launches = [#tile.launch<entry = "run", items = "B", each = 1, threads = 128, times = 3, optional = true, place = "a.json:1:2", costs = [#tile.cost<op = "map", operations = "0", read = "T", written = "T">], shared = 65536, on = ["sm_80"], numbers = [0, 64]>]}
  func.func private @kernel() attributes {tile.kernel = "run_0", tile.chips = ["sm_80"], tile.launches = [#tile.launch<entry = "run", items = "B", each = 1, threads = 128, times = 3, optional = true, place = "a.json:1:2", costs = [#tile.cost<op = "map", operations = "0", read = "T", written = "T">], shared = 65536, on = ["sm_80"], numbers = [0, 64]>]}
  // CHECK: func.func private @other() attributes {tile.kernel, tile.launches = [#tile.launch<entry = "run", items = "1", each = 32, threads = 64>]}
  func.func private @other() attributes {tile.kernel, tile.launches = [#tile.launch<entry = "run", items = "1", each = 32, threads = 64, times = 1>]}
}

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
      // CHECK: tile.mma %{{.+}}, %{{.+}}, %{{.+}} : !tile.shared<128x16xf32, turned>, <16x128xf32, plain> -> <128x128, block 16x16>
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
      // CHECK: tile.mma %{{.+}}, %{{.+}}, %{{.+}} : !tile.shared<64x32xi32, left>, <32x128xi32, right> -> <64x128, wgmma 1x1>
      %next = tile.mma %a, %b, %now : !tile.shared<64x32xi32, left>, !tile.shared<32x128xi32, right> -> !tile.frag<64x128, wgmma 1x1>
      tile.yield %next : !tile.frag<64x128, wgmma 1x1>
    }
    tile.yield
  }
  return
}

!scores = !tile.frag<64x64, mma 4x1>
!numbers = !tile.frag<64x1, rows 4x1>
!queries = !tile.shared<64x32xi32, chunks>
!keys = !tile.shared<32x64xi32, woven>
!values = !tile.shared<64x32xi32, chunks>

// CHECK-LABEL: func.func @rows
func.func @rows(%keys: !llvm.ptr, %values: !llvm.ptr, %out: !llvm.ptr, %count: index, %n: index, %words: index) {
  %none = arith.constant 0 : index
  tile.launch %count threads 128 {
  ^bb0(%tile: index):
    // CHECK: %[[Q:.+]] = tile.piece : <64x32xi32, chunks>
    %q = tile.piece : !queries
    // CHECK: tile.put %[[Q]] : <64x32xi32, chunks> {
    tile.put %q : !queries {
    ^bb0(%i: index, %j: index, %now: i32):
      // CHECK: tile.yield %{{.+}} : i32
      tile.yield %now : i32
    }
    %zero = tile.zero : !scores
    // CHECK: %[[SUM:.+]] = tile.var %{{.+}} : !tile.frag<64x64, mma 4x1>
    %sum = tile.var %zero : !scores
    // CHECK: tile.rounds %[[TILE:.+]] to %{{.+}} by 64 stages 2 fill {
    tile.rounds %tile to %n by 64 stages 2 fill {
    ^bb0(%at: index, %k: !keys, %v: !values):
      // CHECK: tile.copy %{{.+}}[%{{.+}}, %{{.+}}] of %{{.+}} by %{{.+}} panels 16 anywhere -> %{{.+}} : <32x64xi32, woven>
      tile.copy %keys[%none, %at] of %words by %n panels 16 anywhere -> %k : !keys
      tile.copy %values[%at, %none] of %n by %words -> %v : !values
      tile.yield
    // CHECK: } use {
    } use {
    ^bb0(%at: index, %k: !keys, %v: !values):
      %s = tile.mma %q, %k, %zero : !queries, !keys -> !scores
      // CHECK: tile.keep %{{.+}} else 0xFF800000 : <64x64, mma 4x1> {
      %seen = tile.keep %s else 0xFF800000 : !scores {
      ^bb0(%i: index, %j: index):
        %yes = arith.cmpi sle, %j, %i : index
        tile.yield %yes : i1
      }
      // CHECK: %[[TOP:.+]] = tile.fold most %[[SEEN:.+]] : <64x64, mma 4x1> -> <64x1, rows 4x1>
      %top = tile.fold most %seen : !scores -> !numbers
      // CHECK: tile.map(%[[SEEN]], %[[TOP]]) : (!tile.frag<64x64, mma 4x1>, !tile.frag<64x1, rows 4x1>) -> !tile.frag<64x64, mma 4x1> {
      %p = tile.map(%seen, %top) : (!scores, !numbers) -> !scores {
      ^bb0(%i: index, %j: index, %x: f32, %y: f32):
        %less = arith.subf %x, %y : f32
        tile.yield %less : f32
      }
      // CHECK: %[[OLD:.+]] = tile.get %[[SUM]] : !tile.var<<64x64, mma 4x1>>
      %old = tile.get %sum : !tile.var<!scores>
      // CHECK: tile.mma %{{.+}}, %{{.+}}, %[[OLD]] : !tile.frag<64x64, mma 4x1>, <64x32xi32, chunks> -> <64x64, mma 4x1>
      %new = tile.mma %p, %v, %old : !scores, !values -> !scores
      // CHECK: tile.set %[[SUM]], %{{.+}} : !tile.var<<64x64, mma 4x1>>
      tile.set %sum, %new : !tile.var<!scores>
      tile.yield
    }
    %all = tile.get %sum : !tile.var<!scores>
    // CHECK: tile.any %{{.+}} : <64x64, mma 4x1> {
    %nan = tile.any %all : !scores {
    ^bb0(%x: f32):
      %is = arith.cmpf uno, %x, %x : f32
      tile.yield %is : i1
    }
    llvm.store %nan, %out : i1, !llvm.ptr
    tile.yield
  }
  return
}

// CHECK-LABEL: func.func private @images(!tile.shared<128x16xi32, chunks>, !tile.shared<16x128xi32, woven>)
func.func private @images(!tile.shared<128x16xi32, chunks>, !tile.shared<16x128xi32, woven>)
