// mask-simplify: each law once, on masks that an attention asks.
// REQUIRES: heddle-opt
// RUN: heddle-opt %s --split-input-file --mask-simplify --canonicalize --cse | FileCheck %s

!q = !model.tensor<[B, T, 8], f32>
module attributes {model.dims = {T = 1024 : i64}} {
// Half-lines of one direction join; both sides are one band.
// CHECK: [[FROM:#map[0-9]*]] = affine_map<(d0)[s0] -> (d0 - 30)>
// CHECK: [[BELOW:#map[0-9]*]] = affine_map<(d0)[s0] -> (d0 + 1)>
// CHECK: [[LENGTH:#map[0-9]*]] = affine_map<(d0)[s0] -> (s0)>
// CHECK-LABEL: @bands
func.func @bands(%x: !q, %n: !model.tensor<[B], i64>) -> !q {
  %a = mask.causal
  %b = mask.window left 30 right 5
  %c = mask.prefix %n : !model.tensor<[B], i64>
  %d = mask.and %a, %b
  %m = mask.and %d, %c
  // CHECK-NEXT: %[[M:.*]] = mask.band from {{\[}}[[FROM]]{{\]}} below {{\[}}[[BELOW]], [[LENGTH]]{{\]}} of %{{.*}} : !B_i
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[M]]
  %y = attn.sdpa %x, %x, %x mask %m heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %y : !q
}
}

// -----

// A disjunction of two upper bounds is one: the prefix LM.
!q = !model.tensor<[B, T, 8], f32>
// CHECK: [[MAX:#map[0-9]*]] = affine_map<(d0)[s0] -> (s0, d0 + 1)>
// CHECK-LABEL: @prefix_lm
func.func @prefix_lm(%x: !q, %n: !model.tensor<[B], i64>) -> !q {
  %a = mask.causal
  %b = mask.prefix %n : !model.tensor<[B], i64>
  %m = mask.or %b, %a
  // CHECK-NEXT: mask.band below {{\[}}[[MAX]]{{\]}} of %{{.*}}
  // CHECK-NEXT: attn.sdpa
  %y = attn.sdpa %x, %x, %x mask %m heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %y : !q
}

// -----

!q = !model.tensor<[B, T, 8], f32>
// CHECK-LABEL: @contradictions
func.func @contradictions(%x: !q, %t: !model.tensor<[B, T], i64>) -> (!q, !q, !q) {
  %a = mask.causal
  %b = mask.not %a
  %c = mask.and %a, %b
  // CHECK-NEXT: %[[NONE:.*]] = mask.none
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[NONE]]
  %0 = attn.sdpa %x, %x, %x mask %c heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  // A window that sees nothing.
  %d = mask.window left 5 right -6
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[NONE]]
  %1 = attn.sdpa %x, %x, %x mask %d heads 2 kv_heads 2 scale 2.0 : (!q, !q, !q) -> !q
  %e = mask.keys %t : !model.tensor<[B, T], i64>
  %f = mask.not %e
  %g = mask.or %f, %e
  // CHECK-NEXT: %[[ALL:.*]] = mask.all
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[ALL]]
  %2 = attn.sdpa %x, %x, %x mask %g heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %0, %1, %2 : !q, !q, !q
}

// -----

// De Morgan to the leaves; what one operand settles inside another goes; common operands come out.
!q = !model.tensor<[B, T, 8], f32>
// CHECK: [[AFTER:#map[0-9]*]] = affine_map<(d0) -> (d0 + 1)>
// CHECK-LABEL: @lattice
func.func @lattice(%x: !q, %t: !model.tensor<[B, T], i64>, %r: !model.tensor<[B, T], i64>) -> (!q, !q, !q) {
  // CHECK: %[[KEYS:.*]] = mask.keys
  %a = mask.causal
  %k = mask.keys %t : !model.tensor<[B, T], i64>
  %b = mask.and %a, %k
  %c = mask.not %b
  // CHECK-NEXT: %[[FROM:.*]] = mask.band from {{\[}}[[AFTER]]{{\]}}
  // CHECK-NEXT: %[[HIDDEN:.*]] = mask.not %[[KEYS]]
  // CHECK-NEXT: %[[OR:.*]] = mask.or %[[FROM]], %[[HIDDEN]]
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[OR]]
  %0 = attn.sdpa %x, %x, %x mask %c heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %q = mask.queries %r : !model.tensor<[B, T], i64>
  %d = mask.or %q, %k
  %e = mask.and %k, %d
  // CHECK-NEXT: %[[QUERIES:.*]] = mask.queries
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[KEYS]]
  %1 = attn.sdpa %x, %x, %x mask %e heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %f = mask.document %t, %t : !model.tensor<[B, T], i64>, !model.tensor<[B, T], i64>
  %g = mask.and %f, %k
  %h = mask.and %f, %q
  %i = mask.or %g, %h
  // CHECK: %[[EITHER:.*]] = mask.or %[[KEYS]], %[[QUERIES]]
  // CHECK-NEXT: %[[OUT:.*]] = mask.and %{{.*}}, %[[EITHER]]
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[OUT]]
  %2 = attn.sdpa %x, %x, %x mask %i heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %0, %1, %2 : !q, !q, !q
}

// -----

// Lengths decide: no row stands past 1023, so such a window hides nothing; nothing is known of S.
!q = !model.tensor<[B, T, 8], f32>
!k = !model.tensor<[B, S, 8], f32>
module attributes {model.dims = {T = 1024 : i64}} {
// CHECK-LABEL: @lengths
func.func @lengths(%x: !q, %s: !k) -> (!q, !q) {
  %a = mask.window left 1023 right 0
  // CHECK-NEXT: %[[CAUSAL:.*]] = mask.band below
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[CAUSAL]]
  %0 = attn.sdpa %x, %x, %x mask %a heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %b = mask.window right 1023
  // CHECK-NEXT: %[[WINDOW:.*]] = mask.window right 1023
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[WINDOW]]
  %1 = attn.sdpa %x, %s, %s mask %b heads 2 kv_heads 2 scale 1.0 : (!q, !k, !k) -> !q
  return %0, %1 : !q, !q
}
}

// -----

// A choice by a constant, or between equals, is none; counts are kept, and forgotten below `not`.
!q = !model.tensor<[B, T, 8], f32>
// CHECK-LABEL: @choices
func.func @choices(%x: !q, %t: !model.tensor<[B, T], i64>, %c: !model.tensor<[], i1>) -> (!q, !q, !q) {
  // CHECK: %[[KEYS:.*]] = mask.keys
  %k = mask.keys %t : !model.tensor<[B, T], i64>
  %a = mask.causal
  %yes = model.constant dense<true> : tensor<i1> : !model.tensor<[], i1>
  %s = mask.select %yes, %k, %a : !model.tensor<[], i1>
  %d = mask.select %c, %s, %k : !model.tensor<[], i1>
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[KEYS]]
  %0 = attn.sdpa %x, %x, %x mask %d heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %e = mask.add %k, %k
  // CHECK-NEXT: %[[TWICE:.*]] = mask.add %[[KEYS]], %[[KEYS]]
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[TWICE]]
  %1 = attn.sdpa %x, %x, %x mask %e heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %f = mask.not %e
  // CHECK-NEXT: %[[NOT:.*]] = mask.not %[[KEYS]]
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[NOT]]
  %2 = attn.sdpa %x, %x, %x mask %f heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %0, %1, %2 : !q, !q, !q
}

// -----

// Below `+` two `not` are not none: they make 1 of what counts 2.
!q = !model.tensor<[B, T, 8], f32>
// CHECK-LABEL: @counts
func.func @counts(%x: !q, %t: !model.tensor<[12, 3], i64>) -> !q {
  %a = mask.causal
  // CHECK: %[[BLOCKS:.*]] = mask.blocks
  %k = mask.blocks 7, %t : !model.tensor<[12, 3], i64>
  // CHECK: %[[HIDDEN:.*]] = mask.not %[[BLOCKS]]
  %n = mask.not %k
  // CHECK: %[[SEEN:.*]] = mask.not %[[HIDDEN]]
  %m = mask.not %n
  // CHECK: mask.add %{{.*}}, %[[SEEN]]
  %s = mask.add %a, %m
  %0 = attn.sdpa %x, %x, %x mask %s heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %0 : !q
}

// -----

// No row is empty: its own key, or the first, is seen. A key mask, or a window in a prefix, may leave none.
!q = !model.tensor<[B, T, 8], f32>
// CHECK-LABEL: @witnesses
func.func @witnesses(%x: !q, %t: !model.tensor<[B, T], i64>, %n: !model.tensor<[B], i64>) -> (!q, !q, !q, !q, !q) {
  // CHECK: attn.sdpa {{.*}} {every_row_sees}
  %0 = attn.sdpa %x, %x, %x heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %a = mask.window left 5 right 0
  %b = mask.dilated 4
  %c = mask.document %t, %t : !model.tensor<[B, T], i64>, !model.tensor<[B, T], i64>
  %d = mask.and %a, %b
  %e = mask.and %d, %c
  // CHECK: attn.sdpa {{.*}} {every_row_sees}
  %1 = attn.sdpa %x, %x, %x mask %e heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %k = mask.keys %t : !model.tensor<[B, T], i64>
  %f = mask.or %k, %a
  // CHECK: attn.sdpa {{.*}} {every_row_sees}
  %2 = attn.sdpa %x, %x, %x mask %f heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %g = mask.and %k, %a
  // CHECK: attn.sdpa
  // CHECK-NOT: every_row_sees
  %3 = attn.sdpa %x, %x, %x mask %g heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %p = mask.prefix %n : !model.tensor<[B], i64>
  %h = mask.and %p, %a
  %4 = attn.sdpa %x, %x, %x mask %h heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  // CHECK: return
  return %0, %1, %2, %3, %4 : !q, !q, !q, !q, !q
}

// -----

// No witness: a window beside the own key, ids that may be NaN, keys that begin past position 0.
!q = !model.tensor<[B, T, 8], f32>
!k = !model.tensor<[B, 7, 8], f32>
// CHECK-LABEL: @no_witnesses
// CHECK-NOT: every_row_sees
func.func @no_witnesses(%x: !q, %y: !k, %r: !model.tensor<[B, T], f32>, %dims: !model.tensor<[P, K], f32>) -> (!q, !q, !q) {
  %a = mask.window left 5 right -1
  %0 = attn.sdpa %x, %x, %x mask %a heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %b = mask.document %r, %r : !model.tensor<[B, T], f32>, !model.tensor<[B, T], f32>
  %1 = attn.sdpa %x, %x, %x mask %b heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %c = mask.causal
  %2 = attn.sdpa %x, %y, %y mask %c heads 2 kv_heads 2 scale 1.0 key_start "K" past "P" : (!q, !k, !k) -> !q
  // CHECK: return
  return %0, %1, %2 : !q, !q, !q
}

// -----

// Inverted twice a least bound is the least again; a greatest bound is not below one of its members.
!q = !model.tensor<[B, T, 8], f32>
// CHECK-LABEL: @inverted_twice
func.func @inverted_twice(%x: !q, %t: !model.tensor<[B, T], i64>, %m: !model.tensor<[B], i64>, %n: !model.tensor<[B], i64>) -> (!q, !q) {
  %k = mask.keys %t : !model.tensor<[B, T], i64>
  %a = mask.prefix %m : !model.tensor<[B], i64>
  %b = mask.prefix %n : !model.tensor<[B], i64>
  %c = mask.and %a, %b
  %d = mask.not %c
  %e = mask.and %d, %k
  // CHECK: %[[LEAST:.*]] = mask.band below [#{{[a-z0-9]+}}, #{{[a-z0-9]+}}] of %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
  // CHECK: %[[HIDDEN:.*]] = mask.not
  // CHECK: mask.or %[[LEAST]], %[[HIDDEN]]
  %f = mask.not %e
  %0 = attn.sdpa %x, %x, %x mask %f heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %g = mask.or %a, %b
  // CHECK: mask.band below [#{{[a-z0-9]+}}] of %{{[a-z0-9]+}} :
  %h = mask.and %g, %a
  %1 = attn.sdpa %x, %x, %x mask %h heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %0, %1 : !q, !q
}

// -----

// A side that the lengths leave room for stays.
!q = !model.tensor<[B, T, 8], f32>
module attributes {model.dims = {T = 1024 : i64}} {
// CHECK-LABEL: @room
func.func @room(%x: !q) -> !q {
  // CHECK: mask.window right 600
  %a = mask.window right 600
  %0 = attn.sdpa %x, %x, %x mask %a heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %0 : !q
}
}

// -----

// A product with everything is the other factor, whichever side it stands on; a product with nothing is nothing.
!q = !model.tensor<[B, T, 8], f32>
// CHECK-LABEL: @products
func.func @products(%x: !q, %t: !model.tensor<[12, 3], i64>) -> (!q, !q) {
  // CHECK: %[[CAUSAL:.*]] = mask.causal
  %a = mask.causal
  // CHECK: %[[BLOCKS:.*]] = mask.blocks
  %k = mask.blocks 7, %t : !model.tensor<[12, 3], i64>
  %e = mask.all
  %l = mask.and %e, %k
  %r = mask.and %k, %e
  // CHECK: %[[LEFT:.*]] = mask.add %[[CAUSAL]], %[[BLOCKS]]
  %s = mask.add %a, %l
  %u = mask.add %a, %r
  // CHECK: attn.sdpa {{.*}} mask %[[LEFT]]
  %0 = attn.sdpa %x, %x, %x mask %s heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  // CHECK: attn.sdpa {{.*}} mask %[[LEFT]]
  %1 = attn.sdpa %x, %x, %x mask %u heads 2 kv_heads 2 scale 2.0 : (!q, !q, !q) -> !q
  return %0, %1 : !q, !q
}

// -----

// Bounds that are several imply each one of them.
!q = !model.tensor<[B, T, 8], f32>
// CHECK: [[BELOW:#map[0-9]*]] = affine_map<(d0) -> (d0 + 1)>
// CHECK-LABEL: @implied
func.func @implied(%x: !q, %t: !model.tensor<[B, T], i64>, %n: !model.tensor<[B], i64>) -> !q {
  %a = mask.causal
  %p = mask.prefix %n : !model.tensor<[B], i64>
  %k = mask.keys %t : !model.tensor<[B, T], i64>
  %l = mask.and %a, %p
  %m = mask.and %l, %k
  // CHECK-NEXT: %[[CAUSAL:.*]] = mask.band below {{\[}}[[BELOW]]{{\]}}{{$}}
  %o = mask.or %m, %a
  // CHECK-NEXT: attn.sdpa {{.*}} mask %[[CAUSAL]]
  %y = attn.sdpa %x, %x, %x mask %o heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %y : !q
}

// -----

// One bound does not imply several.
!q = !model.tensor<[B, T, 8], f32>
// CHECK-LABEL: @not_implied
func.func @not_implied(%x: !q, %t: !model.tensor<[B, T], i64>, %n: !model.tensor<[B], i64>) -> (!q, !q) {
  %k = mask.keys %t : !model.tensor<[B, T], i64>
  %p = mask.prefix %n : !model.tensor<[B], i64>
  %a = mask.causal
  %c = mask.and %a, %p
  %d = mask.or %c, %k
  // CHECK: %[[SOME:.*]] = mask.or
  // CHECK: %[[BELOW:.*]] = mask.and {{.*}}%[[SOME]]
  %m = mask.and %a, %d
  // CHECK: attn.sdpa {{.*}} mask %[[BELOW]]
  %0 = attn.sdpa %x, %x, %x mask %m heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %w = mask.window left 30
  %s = mask.not %p
  %e = mask.and %w, %s
  %f = mask.or %e, %k
  // CHECK: %[[OTHER:.*]] = mask.or
  // CHECK: %[[FROM:.*]] = mask.and {{.*}}%[[OTHER]]
  %o = mask.and %w, %f
  // CHECK: attn.sdpa {{.*}} mask %[[FROM]]
  %1 = attn.sdpa %x, %x, %x mask %o heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  return %0, %1 : !q, !q
}

// -----

// Keys in front of position 0: none where keys begin there, some where they begin before.
!q = !model.tensor<[B, T, 8], f32>
!k = !model.tensor<[B, S, 8], f32>
module attributes {model.dims = {T = 16 : i64}} {
// CHECK-LABEL: @from_zero
func.func @from_zero(%x: !q, %y: !k) -> !q {
  %a = mask.window right -16
  // CHECK-NEXT: %[[NONE:.*]] = mask.none
  // CHECK-NEXT: attn.sdpa {{.*}} mask %[[NONE]]
  %0 = attn.sdpa %x, %y, %y mask %a heads 2 kv_heads 2 scale 1.0 : (!q, !k, !k) -> !q
  return %0 : !q
}
// CHECK-LABEL: @before_zero
func.func @before_zero(%x: !q, %y: !k, %dims: !model.tensor<[K], f32>) -> !q {
  %a = mask.window right -16
  // CHECK-NEXT: %[[BAND:.*]] = mask.window right -16
  // CHECK-NEXT: attn.sdpa {{.*}} mask %[[BAND]]
  %0 = attn.sdpa %x, %y, %y mask %a heads 2 kv_heads 2 scale 1.0 key_start "K" : (!q, !k, !k) -> !q
  return %0 : !q
}
}

// -----

// A chunk is a band: with `causal` and a window one mask is left, and of two chunks that divide each other one side each.
!q = !model.tensor<[B, T, 8], f32>
// CHECK-DAG: [[CHUNK:#map[0-9]*]] = affine_map<(d0) -> ((d0 floordiv 64) * 64)>
// CHECK-DAG: [[NEAR:#map[0-9]*]] = affine_map<(d0) -> (d0 - 20)>
// CHECK-DAG: [[CAUSAL:#map[0-9]*]] = affine_map<(d0) -> (d0 + 1)>
// CHECK-DAG: [[SMALL:#map[0-9]*]] = affine_map<(d0) -> ((d0 floordiv 16) * 16)>
// CHECK-DAG: [[END:#map[0-9]*]] = affine_map<(d0) -> ((d0 floordiv 16) * 16 + 16)>
// CHECK-LABEL: @chunks
func.func @chunks(%x: !q) -> (!q, !q) {
  %a = mask.causal
  %b = mask.chunk 64
  %c = mask.window left 20
  %d = mask.and %a, %b
  %m = mask.and %d, %c
  // CHECK-NEXT: %[[M:.*]] = mask.band from {{\[}}[[CHUNK]], [[NEAR]]{{\]}} below {{\[}}[[CAUSAL]]{{\]}}
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[M]]{{.*}}every_row_sees
  %0 = attn.sdpa %x, %x, %x mask %m heads 2 kv_heads 2 scale 1.0 : (!q, !q, !q) -> !q
  %e = mask.chunk 16
  %n = mask.and %b, %e
  // CHECK-NEXT: %[[N:.*]] = mask.band from {{\[}}[[SMALL]]{{\]}} below {{\[}}[[END]]{{\]}}
  // CHECK-NEXT: attn.sdpa %{{.*}} mask %[[N]]
  %1 = attn.sdpa %x, %x, %x mask %n heads 2 kv_heads 2 scale 2.0 : (!q, !q, !q) -> !q
  return %0, %1 : !q, !q
}
