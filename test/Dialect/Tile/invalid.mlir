// RUN: heddle-opt %s -split-input-file -verify-diagnostics

// The clauses of TileTypes.td and TileOps.td, in their order.

// expected-error @below {{a fragment of 128x0 over 1x1 has no elements}}
func.func private @frag_c1(!tile.frag<128x0, block 1x1>)

// -----

// expected-error @below {{squares of 4x4 in 16 rows of 16 threads do not fill 96x128}}
func.func private @frag_c2(!tile.frag<96x128, block 16x16>)

// -----

// expected-error @below {{pieces of 16x8 in 2 rows of 4 groups do not fill 48x128}}
func.func private @frag_c3(!tile.frag<48x128, mma 2x4>)

// -----

// expected-error @below {{pieces of 64 rows and 8, 16, .. 256 columns in 2 rows of 1 groups of 128 threads do not fill 64x128}}
func.func private @frag_c4(!tile.frag<64x128, wgmma 2x1>)

// -----

// expected-error @below {{pieces of 64 rows and 8, 16, .. 256 columns in 1 rows of 1 groups of 128 threads do not fill 64x264}}
func.func private @frag_c4_wide(!tile.frag<64x264, wgmma 1x1>)

// -----

// expected-error @below {{a number a row is of rows x 1, 16 rows for each of D x 1 groups, not of 64x2 over 4x1}}
func.func private @frag_c5(!tile.frag<64x2, rows 4x1>)

// -----

// expected-error @below {{16 rows of 8 threads do not fill 24x8}}
func.func private @frag_c6(!tile.frag<24x8, cyclic 16x8>)

// -----

// expected-error @below {{there is no 'diagonal'}}
func.func private @spread(!tile.frag<48x128, diagonal 2x4>)

// -----

// expected-error @below {{expected rows x columns}}
func.func private @extent(!tile.frag<48, block 2x4>)

// -----

// expected-error @below {{a piece of 0x16 has no elements}}
func.func private @shared_c1(!tile.shared<0x16xf32, plain>)

// -----

// expected-error @below {{expected f32 in 'turned', got 'i32'}}
func.func private @shared_c2(!tile.shared<128x16xi32, turned>)

// -----

// expected-error @below {{expected i32 in 'woven', got 'f32'}}
func.func private @shared_c2_pairs(!tile.shared<16x128xf32, woven>)

// -----

// expected-error @below {{expected f32 or i32 in 'left', got 'f16'}}
func.func private @shared_c2_groups(!tile.shared<128x16xf16, left>)

// -----

// expected-error @below {{'plain' is fetched in parts that do not fill 16x126}}
func.func private @shared_c3(!tile.shared<16x126xf32, plain>)

// -----

// expected-error @below {{'turned' is fetched in parts that do not fill 126x16}}
func.func private @shared_c3_turned(!tile.shared<126x16xf32, turned>)

// -----

// expected-error @below {{'chunks' is fetched in parts that do not fill 128x24}}
func.func private @shared_c3_chunks(!tile.shared<128x24xi32, chunks>)

// -----

// expected-error @below {{'woven' is fetched in parts that do not fill 16x48}}
func.func private @shared_c3_woven(!tile.shared<16x48xi32, woven>)

// -----

// expected-error @below {{'left' is fetched in parts that do not fill 128x12}}
func.func private @shared_c3_left(!tile.shared<128x12xi32, left>)

// -----

// expected-error @below {{'right' is fetched in parts that do not fill 24x24}}
func.func private @shared_c3_right(!tile.shared<24x24xi32, right>)

// -----

func.func @launch_c1(%count: index) {
  // expected-error @below {{expected 32, 64, .. 1024 threads, got 48}}
  tile.launch %count threads 48 {
  ^bb0(%tile: index):
    tile.yield
  }
  return
}

// -----

func.func @launch_c2(%count: index) {
  tile.launch %count threads 128 {
  ^bb0(%tile: index):
    // expected-error @below {{expected a fragment over the 128 threads of the launch, got one over 256}}
    %none = tile.zero : !tile.frag<128x128, block 16x16>
    tile.yield
  }
  return
}

// -----

func.func @launch_c4(%count: index) {
  // expected-error @below {{expected names of chips, or no 'on' for all chips, got [}}
  tile.launch %count threads 128 on [] {
  ^bb0(%tile: index):
    tile.yield
  }
  return
}

// -----

func.func @launch_c5(%count: index) {
  // expected-error @below {{expected 1 to 32 blocks together, got 33}}
  tile.launch %count threads 128 together 33 {
  ^bb0(%tile: index):
    tile.yield
  }
  return
}

// -----

func.func @launch_c3(%count: index) {
  // expected-error @below {{expected a body (index) that yields nothing, got (}}
  tile.launch %count threads 128 {
  ^bb0(%tile: i32):
    tile.yield
  }
  return
}

// -----

!f = !tile.frag<64x64, block 8x8>
!a = !tile.shared<64x16xf32, turned>
func.func @stream_c1(%x: !llvm.ptr, %n: index, %none: !f) {
  // expected-error @below {{expected a length and a step of at least 1 and 2 to 8 stages, got 64, 16 and 1}}
  %sum = tile.stream 64 by 16 stages 1 carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    tile.copy %x[%at, %at] of %n by %n -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, block 8x8>
!a = !tile.shared<64x16xf32, turned>
func.func @stream_c2(%x: !llvm.ptr, %n: index, %none: !f) {
  // expected-error @below {{expected a body 'fill' (index, pieces..) and a body 'use' (pieces.., }}
  %sum = tile.stream 64 by 16 stages 2 carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    tile.copy %x[%at, %at] of %n by %n -> %a : !a
    tile.yield
  } use {
  ^bb0(%now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, block 8x8>
!a = !tile.shared<64x16xf32, turned>
func.func @stream_c3(%x: !llvm.ptr, %n: index, %none: !f) {
  // expected-error @below {{expected one copy into each piece and no other use in 'fill', got }}
  %sum = tile.stream 64 by 16 stages 2 carry %none : !f fill {
  ^bb0(%at: index, %a: !a, %b: !a):
    tile.copy %x[%at, %at] of %n by %n -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %b: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, block 8x8>
!a = !tile.shared<64x16xf32, turned>
func.func @copy_c1(%x: !llvm.ptr, %n: index, %none: !f) {
  %sum = tile.stream 64 by 16 stages 2 carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    // expected-error @below {{expected panels of 4, 8, .. columns, got 6}}
    tile.copy %x[%at, %at] of %n by %n panels 6 -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, mma 1x1>
!a = !tile.shared<64x16xi32, left>
func.func @stream_c4(%x: !llvm.ptr, %n: index, %none: !f) {
  // expected-error @below {{expected a length and a step in multiples of 8 words for bulk copies, got 60 and 16}}
  %sum = tile.stream 60 by 16 stages 2 bulk carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    tile.copy %x[%at, %at] of %n by %n groups -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, mma 1x1>
!a = !tile.shared<64x16xi32, chunks>
func.func @stream_c4_rows(%x: !llvm.ptr, %n: index, %none: !f) {
  %sum = tile.stream 64 by 16 stages 2 bulk carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    // expected-error @below {{expected a matrix in groups and no panels for a bulk copy, got }}
    tile.copy %x[%at, %at] of %n by %n -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, mma 1x1>
!a = !tile.shared<64x16xi32, right>
func.func @copy_c3(%x: !llvm.ptr, %n: index, %none: !f) {
  %sum = tile.stream 64 by 16 stages 2 carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    // expected-error @below {{expected groups to fill 'right', got }}
    tile.copy %x[%at, %at] of %n by %n -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, mma 1x1>
!a = !tile.shared<64x16xi32, left>
func.func @copy_c3_panels(%x: !llvm.ptr, %n: index, %none: !f) {
  %sum = tile.stream 64 by 16 stages 2 carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    // expected-error @below {{expected groups or rows without panels to fill 'left', got }}
    tile.copy %x[%at, %at] of %n by %n panels 16 -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

!f = !tile.frag<64x64, mma 1x1>
!a = !tile.shared<64x16xi32, chunks>
func.func @copy_c3_chunks(%x: !llvm.ptr, %n: index, %none: !f) {
  %sum = tile.stream 64 by 16 stages 2 carry %none : !f fill {
  ^bb0(%at: index, %a: !a):
    // expected-error @below {{expected rows or panels to fill 'chunks', got groups}}
    tile.copy %x[%at, %at] of %n by %n groups -> %a : !a
    tile.yield
  } use {
  ^bb0(%a: !a, %now: !f):
    tile.yield %now : !f
  }
  return
}

// -----

func.func @copy_c2(%x: !llvm.ptr, %n: index, %a: !tile.shared<64x16xf32, turned>) {
  // expected-error @below {{expected a copy in the body 'fill' of a stream or of rounds, into an argument of that body, got }}
  tile.copy %x[%n, %n] of %n by %n -> %a : !tile.shared<64x16xf32, turned>
  return
}

// -----

func.func @mma_c1(%a: !tile.shared<64x16xf32, turned>, %b: !tile.shared<16x32xf32, plain>, %sum: !tile.frag<64x64, block 8x8>) {
  // expected-error @below {{expected sides of MxK and KxN and a sum of MxN, got 64x16, 16x32 and 64x64}}
  %next = tile.mma %a, %b, %sum : !tile.shared<64x16xf32, turned>, !tile.shared<16x32xf32, plain> -> !tile.frag<64x64, block 8x8>
  return
}

// -----

func.func @mma_c2(%a: !tile.shared<64x16xf32, turned>, %b: !tile.shared<16x64xf32, plain>, %sum: !tile.frag<64x64, mma 2x4>) {
  // expected-error @below {{expected 'chunks' or 'left' and 'woven' or 'right' of pairs, or 'left' and 'plain' of f32 for a sum 'mma', got }}
  %next = tile.mma %a, %b, %sum : !tile.shared<64x16xf32, turned>, !tile.shared<16x64xf32, plain> -> !tile.frag<64x64, mma 2x4>
  return
}

// -----

func.func @mma_c2_groups(%a: !tile.shared<64x16xi32, left>, %b: !tile.shared<16x64xi32, woven>, %sum: !tile.frag<64x64, wgmma 1x1>) {
  // expected-error @below {{expected 'left' and 'right' of pairs for a sum 'wgmma', got }}
  %next = tile.mma %a, %b, %sum : !tile.shared<64x16xi32, left>, !tile.shared<16x64xi32, woven> -> !tile.frag<64x64, wgmma 1x1>
  return
}

// -----

func.func @mma_c2_reals(%a: !tile.shared<64x16xf32, left>, %b: !tile.shared<16x64xf32, right>, %sum: !tile.frag<64x64, mma 1x1>) {
  // expected-error @below {{expected 'chunks' or 'left' and 'woven' or 'right' of pairs, or 'left' and 'plain' of f32 for a sum 'mma', got }}
  %next = tile.mma %a, %b, %sum : !tile.shared<64x16xf32, left>, !tile.shared<16x64xf32, right> -> !tile.frag<64x64, mma 1x1>
  return
}

// -----

func.func @mma_c2_cyclic(%a: !tile.shared<16x16xi32, left>, %b: !tile.shared<16x8xi32, right>, %sum: !tile.frag<16x8, cyclic 16x8>) {
  // expected-error @below {{expected 'left' and 'right' of f32 for a sum 'cyclic', got }}
  %next = tile.mma %a, %b, %sum : !tile.shared<16x16xi32, left>, !tile.shared<16x8xi32, right> -> !tile.frag<16x8, cyclic 16x8>
  return
}

// -----

!f = !tile.frag<64x64, wgmma 1x1>
!a = !tile.shared<64x16xi32, left>
!b = !tile.shared<16x64xi32, right>
func.func @mma_c3(%x: !llvm.ptr, %n: index, %none: !f) {
  %sum = tile.stream 64 by 16 stages 2 carry %none : !f fill {
  ^bb0(%at: index, %a: !a, %b: !b):
    tile.copy %x[%at, %at] of %n by %n groups -> %a : !a
    tile.copy %x[%at, %at] of %n by %n groups -> %b : !b
    tile.yield
  } use {
  ^bb0(%a: !a, %b: !b, %now: !f):
    // expected-error @below {{expected a stream in bulk around a product into 'wgmma', got one without 'bulk'}}
    %next = tile.mma %a, %b, %now : !a, !b -> !f
    tile.yield %next : !f
  }
  return
}

// -----

func.func @each_c1(%n: index, %sum: !tile.frag<64x64, mma 2x4>) {
  // expected-error @below {{expected runs of 1, 2 or 4 elements, at most the 2 that a thread has side by side, got 4}}
  tile.each %sum at [%n, %n] of %n by %n run 4 : !tile.frag<64x64, mma 2x4> {
  ^bb0(%i: index, %j: index, %x: f32):
    tile.yield
  }
  return
}

// -----

func.func @each_c2(%n: index, %sum: !tile.frag<64x64, mma 2x4>) {
  // expected-error @below {{expected a body (row, column, f32) that yields nothing, got (}}
  tile.each %sum at [%n, %n] of %n by %n run 2 : !tile.frag<64x64, mma 2x4> {
  ^bb0(%i: index, %x: f32):
    tile.yield
  }
  return
}

// -----

!k = !tile.shared<32x64xi32, woven>
func.func @rounds_c1(%x: !llvm.ptr, %n: index) {
  // expected-error @below {{expected a step of at least 1 and 2 to 8 stages, got 0 and 2}}
  tile.rounds %n to %n by 0 stages 2 fill {
  ^bb0(%at: index, %k: !k):
    tile.copy %x[%n, %at] of %n by %n panels 16 -> %k : !k
    tile.yield
  } use {
  ^bb0(%at: index, %k: !k):
    tile.yield
  }
  return
}

// -----

!k = !tile.shared<32x64xi32, woven>
func.func @rounds_c2(%x: !llvm.ptr, %n: index) {
  // expected-error @below {{expected bodies 'fill' and 'use' (index, pieces..) that yield nothing, got (}}
  tile.rounds %n to %n by 64 stages 2 fill {
  ^bb0(%at: index, %k: !k):
    tile.copy %x[%n, %at] of %n by %n panels 16 -> %k : !k
    tile.yield
  } use {
  ^bb0(%k: !k):
    tile.yield
  }
  return
}

// -----

!k = !tile.shared<32x64xi32, woven>
func.func @rounds_c3(%x: !llvm.ptr, %n: index) {
  // expected-error @below {{expected one copy into each piece and no other use in 'fill', got }}
  tile.rounds %n to %n by 64 stages 2 fill {
  ^bb0(%at: index, %k: !k):
    tile.yield
  } use {
  ^bb0(%at: index, %k: !k):
    tile.yield
  }
  return
}

// -----

func.func @copy_c2_used(%x: !llvm.ptr, %n: index) {
  tile.rounds %n to %n by 64 stages 2 fill {
  ^bb0(%at: index, %k: !tile.shared<32x64xi32, woven>):
    tile.copy %x[%n, %at] of %n by %n panels 16 -> %k : !tile.shared<32x64xi32, woven>
    tile.yield
  } use {
  ^bb0(%at: index, %k: !tile.shared<32x64xi32, woven>):
    // expected-error @below {{expected a copy in the body 'fill' of a stream or of rounds, into an argument of that body, got }}
    tile.copy %x[%n, %at] of %n by %n panels 16 -> %k : !tile.shared<32x64xi32, woven>
    tile.yield
  }
  return
}

// -----

func.func @put_c1(%q: !tile.shared<64x32xi32, chunks>) {
  // expected-error @below {{expected a body (row, column, word) -> word, got (}}
  tile.put %q : !tile.shared<64x32xi32, chunks> {
  ^bb0(%i: index, %j: index, %now: i32):
    tile.yield
  }
  return
}

// -----

!p = !tile.frag<64x64, mma 4x1>
func.func @mma_c1_held(%p: !p, %v: !tile.shared<64x16xi32, chunks>, %sum: !p) {
  // expected-error @below {{expected sides of MxK and KxN and a sum of MxN, got 64x64, 64x16 pairs and 64x64}}
  %next = tile.mma %p, %v, %sum : !p, !tile.shared<64x16xi32, chunks> -> !p
  return
}

// -----

!p = !tile.frag<64x64, mma 4x1>
func.func @mma_c2_held(%p: !p, %v: !tile.shared<64x32xi32, woven>, %sum: !p) {
  // expected-error @below {{on the left and a sum 'mma', got 'woven'}}
  %next = tile.mma %p, %v, %sum : !p, !tile.shared<64x32xi32, woven> -> !p
  return
}

// -----

!p = !tile.frag<64x64, mma 4x1>
func.func @mma_c1_held_reals(%p: !p, %v: !tile.shared<64x32xf32, plain>, %sum: !p) {
  // expected-error @below {{expected sides of MxK and KxN and a sum of MxN, got 64x64, 64x32 and 64x64}}
  %next = tile.mma %p, %v, %sum : !p, !tile.shared<64x32xf32, plain> -> !p
  return
}

// -----

!p = !tile.frag<64x64, mma 4x1>
func.func @mma_c2_held_reals(%p: !p, %v: !tile.shared<64x64xf32, right>, %sum: !p) {
  // expected-error @below {{on the left and a sum 'mma', got 'right'}}
  %next = tile.mma %p, %v, %sum : !p, !tile.shared<64x64xf32, right> -> !p
  return
}

// -----

!p = !tile.frag<64x64, wgmma 1x1>
func.func @mma_c2_held_units(%p: !p, %v: !tile.shared<64x32xi32, chunks>, %sum: !p) {
  // expected-error @below {{expected the right side in the order 'left', for a fragment of pairs on the left and a sum 'wgmma', got 'chunks'}}
  %next = tile.mma %p, %v, %sum : !p, !tile.shared<64x32xi32, chunks> -> !p
  return
}

// -----

func.func @mma_c4_units(%p: !tile.frag<64x64, mma 4x1>, %v: !tile.shared<64x32xi32, left>, %sum: !tile.frag<64x64, wgmma 1x1>) {
  // expected-error @below {{expected both fragments spread alike, over D x 1 groups of 'mma', or of 'wgmma' with pairs, got '}}
  %next = tile.mma %p, %v, %sum : !tile.frag<64x64, mma 4x1>, !tile.shared<64x32xi32, left> -> !tile.frag<64x64, wgmma 1x1>
  return
}

// -----

func.func @mma_c4(%p: !tile.frag<64x64, mma 4x1>, %v: !tile.shared<64x32xi32, chunks>, %sum: !tile.frag<64x64, mma 2x2>) {
  // expected-error @below {{expected both fragments spread alike, over D x 1 groups of 'mma', or of 'wgmma' with pairs, got '}}
  %next = tile.mma %p, %v, %sum : !tile.frag<64x64, mma 4x1>, !tile.shared<64x32xi32, chunks> -> !tile.frag<64x64, mma 2x2>
  return
}

// -----

func.func @map_c1(%x: !tile.frag<64x32, mma 4x1>) {
  // expected-error @below {{expected operands spread like '!tile.frag<64x64, mma 4x1>', got '!tile.frag<64x32, mma 4x1>'}}
  %y = tile.map(%x) : (!tile.frag<64x32, mma 4x1>) -> !tile.frag<64x64, mma 4x1> {
  ^bb0(%i: index, %j: index, %a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @map_c2(%x: !tile.frag<64x64, mma 4x1>) {
  // expected-error @below {{expected a body (row, column, one f32 for each operand) -> f32, got (}}
  %y = tile.map(%x) : (!tile.frag<64x64, mma 4x1>) -> !tile.frag<64x64, mma 4x1> {
  ^bb0(%i: index, %j: index):
    %a = arith.constant 1.0 : f32
    tile.yield %a : f32
  }
  return
}

// -----

func.func @keep_c1(%x: !tile.frag<64x64, mma 4x1>) {
  // expected-error @below {{expected a body (row, column) -> i1, got (}}
  %y = tile.keep %x else 0.0 : !tile.frag<64x64, mma 4x1> {
  ^bb0(%i: index, %j: index):
    tile.yield %i : index
  }
  return
}

// -----

func.func @fold_c1(%x: !tile.frag<64x64, mma 2x2>) {
  // expected-error @below {{expected rows of 'mma' over D x 1 groups, or 64 rows for each group of 'wgmma', got '!tile.frag<64x64, mma 2x2>'}}
  %y = tile.fold sum %x : !tile.frag<64x64, mma 2x2> -> !tile.frag<64x1, rows 2x1>
  return
}

// -----

func.func @fold_c1_units(%x: !tile.frag<128x64, wgmma 1x1>) {
  // expected-error @below {{expected rows of 'mma' over D x 1 groups, or 64 rows for each group of 'wgmma', got '!tile.frag<128x64, wgmma 1x1>'}}
  %y = tile.fold sum %x : !tile.frag<128x64, wgmma 1x1> -> !tile.frag<128x1, rows 4x1>
  return
}

// -----

func.func @fold_c2(%x: !tile.frag<64x64, mma 4x1>) {
  // expected-error @below {{expected the result '!tile.frag<64x1, rows 4x1>', got '!tile.frag<64x1, rows 2x1>'}}
  %y = tile.fold most %x : !tile.frag<64x64, mma 4x1> -> !tile.frag<64x1, rows 2x1>
  return
}

// -----

func.func @any_c1(%x: !tile.frag<64x64, mma 4x1>) {
  // expected-error @below {{expected a body (f32) -> i1, got (}}
  %y = tile.any %x : !tile.frag<64x64, mma 4x1> {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

func.func @var_c1(%x: !tile.frag<64x64, mma 4x1>) {
  // expected-error @below {{failed to verify that the variable is of the fragment's type}}
  %v = "tile.var"(%x) : (!tile.frag<64x64, mma 4x1>) -> !tile.var<<64x32, mma 4x1>>
  return
}

// -----

func.func @get_c1(%v: !tile.var<<64x64, mma 4x1>>) {
  // expected-error @below {{failed to verify that it is a fragment of the variable's type}}
  %x = "tile.get"(%v) : (!tile.var<<64x64, mma 4x1>>) -> !tile.frag<64x32, mma 4x1>
  return
}

// -----

func.func @set_c1(%v: !tile.var<<64x64, mma 4x1>>, %x: !tile.frag<64x32, mma 4x1>) {
  // expected-error @below {{failed to verify that it is a fragment of the variable's type}}
  "tile.set"(%v, %x) : (!tile.var<<64x64, mma 4x1>>, !tile.frag<64x32, mma 4x1>) -> ()
  return
}

// -----

func.func @yield_c1() {
  scf.execute_region {
    // expected-error @below {{'tile.yield' op expects parent op to be one of 'tile.launch, tile.stream, tile.rounds, tile.put, tile.map, tile.keep, tile.any, tile.each'}}
    tile.yield
  }
  return
}
