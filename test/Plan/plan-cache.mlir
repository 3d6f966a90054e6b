// RUN: heddle-opt %s --split-input-file --attn-plan-cache | FileCheck %s
// RUN: heddle-opt %s --split-input-file --attn-plan-cache=longest-piece=64 | FileCheck %s --check-prefix=SHORT

// What @once keeps for attention is written as attention reads it, and loaded without a copy.
// CHECK-LABEL: func.func @once
// CHECK-SAME: %{{.+}}: !state_3_B_S_6_f {attn.cache = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>, model.state = "k"}
// CHECK: model.store %{{.+}} in %{{.+}}[%{{.+}}] {attn.cache = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>}
// CHECK-LABEL: func.func @step
// CHECK-SAME: {attn.cache = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>, model.state = "k"}
// CHECK-SAME: {attn.cache = #attn.cache<values, heads = 2, element = f32, block = 128, panel = 16>, model.state = "v"}
// CHECK: model.load %{{.+}}[%{{.+}}] {attn.cache = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>}
// CHECK: model.load %{{.+}}[%{{.+}}] {attn.cache = #attn.cache<values, heads = 2, element = f32, block = 128, panel = 16>}
func.func @once(%k: !model.tensor<[B, S, 6], f32> {model.name = "k"}, %v: !model.tensor<[B, S, 8], f32> {model.name = "v"},
                %ks: !model.state<[3, B, S, 6], f32> {model.state = "k"}, %vs: !model.state<[3, B, S, 8], f32> {model.state = "v"}) {
  %i = arith.constant 1 : index
  model.store %k in %ks[%i] : !model.tensor<[B, S, 6], f32>, !model.state<[3, B, S, 6], f32>
  model.store %v in %vs[%i] : !model.tensor<[B, S, 8], f32>, !model.state<[3, B, S, 8], f32>
  return
}
func.func @step(%q: !model.tensor<[B, new, 6], f32> {model.name = "q"}, %ks: !model.state<[3, B, S, 6], f32> {model.state = "k"},
                %vs: !model.state<[3, B, S, 8], f32> {model.state = "v"}) -> (!model.tensor<[B, new, 8], f32> {model.name = "y"}) {
  %i = arith.constant 1 : index
  %k = model.load %ks[%i] : !model.state<[3, B, S, 6], f32> -> !model.tensor<[B, S, 6], f32>
  %v = model.load %vs[%i] : !model.state<[3, B, S, 8], f32> -> !model.tensor<[B, S, 8], f32>
  %y = attn.sdpa %q, %k, %v heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, S, 6], f32>, !model.tensor<[B, S, 8], f32>) -> !model.tensor<[B, new, 8], f32>
  return %y : !model.tensor<[B, new, 8], f32>
}

// -----

// Not so what something else reads too, what is keys here and values there, or what one call both
// loads and stores.
// CHECK-LABEL: func.func @mixed
// CHECK-NOT: cache
func.func @mixed(%q: !model.tensor<[B, new, 6], f32> {model.name = "q"}, %a: !model.state<[B, S, 6], f32> {model.state = "a"},
                 %c: !model.state<[B, S, 6], f32> {model.state = "c"}, %t: !model.state<[B, S, 6], f32> {model.state = "t"})
    -> (!model.tensor<[B, new, 6], f32> {model.name = "x"}, !model.tensor<[B, new, 6], f32> {model.name = "y"}, !model.tensor<[B, S, 6], f32> {model.name = "z"}) {
  %k = model.load %a : !model.state<[B, S, 6], f32> -> !model.tensor<[B, S, 6], f32>
  %b = model.load %c : !model.state<[B, S, 6], f32> -> !model.tensor<[B, S, 6], f32>
  %u = model.load %t : !model.state<[B, S, 6], f32> -> !model.tensor<[B, S, 6], f32>
  model.store %b in %t : !model.tensor<[B, S, 6], f32>, !model.state<[B, S, 6], f32>
  %x = attn.sdpa %q, %u, %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, S, 6], f32>, !model.tensor<[B, S, 6], f32>) -> !model.tensor<[B, new, 6], f32>
  %y = attn.sdpa %q, %b, %k heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, S, 6], f32>, !model.tensor<[B, S, 6], f32>) -> !model.tensor<[B, new, 6], f32>
  return %x, %y, %k : !model.tensor<[B, new, 6], f32>, !model.tensor<[B, new, 6], f32>, !model.tensor<[B, S, 6], f32>
}

// -----

// A window of 200 rows: its rows and a piece of 512 (64) new ones, and the block in which they begin.
// CHECK-LABEL: func.func @step
// CHECK-SAME: {attn.cache = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16, ring = 896>, model.state = "k"}
// CHECK-SAME: {attn.cache = #attn.cache<values, heads = 2, element = f32, block = 128, panel = 16, ring = 896>, model.state = "v"}
// CHECK-SAME: model.pieces = #model.pieces<longest = 512, beyond = 896>
// SHORT: model.pieces = #model.pieces<longest = 64, beyond = 512>
// SHORT: model.append {{.+}} ring = 512>
func.func @step(%q: !model.tensor<[B, new, 6], f32> {model.name = "q"}, %k: !model.tensor<[B, new, 6], f32> {model.name = "k"}, %v: !model.tensor<[B, new, 6], f32> {model.name = "v"},
                %ks: !model.state<[B, capacity, 6], f32> {model.state = "k"}, %vs: !model.state<[B, capacity, 6], f32> {model.state = "v"}) -> (!model.tensor<[B, new, 6], f32> {model.name = "y"}) {
  %ka = model.append %ks, %k axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %va = model.append %vs, %v axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %c = mask.causal
  %w = mask.window left 199
  %m = mask.and %c, %w
  %y = attn.sdpa %q, %ka, %va mask %m heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 6], f32>) -> !model.tensor<[B, new, 6], f32>
  return %y : !model.tensor<[B, new, 6], f32>
}

// -----

// No limit: a second reader that sees all, first tokens that everybody sees, the mean of all values.
// CHECK-LABEL: func.func @step
// CHECK-NOT: ring
func.func @step(%q: !model.tensor<[B, new, 6], f32> {model.name = "q"}, %k: !model.tensor<[B, new, 6], f32> {model.name = "k"}, %n: !model.tensor<[], i64> {model.name = "n"},
                %k0: !model.state<[B, capacity, 6], f32> {model.state = "k0"}, %v0: !model.state<[B, capacity, 6], f32> {model.state = "v0"},
                %k1: !model.state<[B, capacity, 6], f32> {model.state = "k1"}, %v1: !model.state<[B, capacity, 6], f32> {model.state = "v1"},
                %k2: !model.state<[B, capacity, 6], f32> {model.state = "k2"}, %v2: !model.state<[B, capacity, 6], f32> {model.state = "v2"})
    -> (!model.tensor<[B, new, 6], f32> {model.name = "y"}) {
  %c = mask.causal
  %w = mask.window left 199 right 0
  %a0 = model.append %k0, %k axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %b0 = model.append %v0, %k axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %x0 = attn.sdpa %q, %a0, %b0 mask %w heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 6], f32>) -> !model.tensor<[B, new, 6], f32>
  %y0 = attn.sdpa %x0, %a0, %b0 mask %c heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 6], f32>) -> !model.tensor<[B, new, 6], f32>
  %a1 = model.append %k1, %y0 axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %b1 = model.append %v1, %y0 axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %p = mask.prefix %n : !model.tensor<[], i64>
  %s = mask.or %p, %w
  %m = mask.and %c, %s
  %y1 = attn.sdpa %y0, %a1, %b1 mask %m heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 6], f32>) -> !model.tensor<[B, new, 6], f32>
  %a2 = model.append %k2, %y1 axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %b2 = model.append %v2, %y1 axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %y2 = attn.sdpa %y1, %a2, %b2 mask %w heads 2 kv_heads 2 scale 0.5 past "past" masked_rows mean : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 6], f32>) -> !model.tensor<[B, new, 6], f32>
  return %y2 : !model.tensor<[B, new, 6], f32>
}

// -----

// The text is no longer than the ring and the twin of its first block: 896 + 128.
// CHECK-LABEL: func.func @step
// CHECK-NOT: ring
// CHECK-NOT: pieces
module attributes {model.dims = {T = 1024 : i64}, model.generate = {tokens = "ids", logits = "y"}} {
  func.func @run(%ids: !model.tensor<[B, T], i64> {model.name = "ids"}) { return }
  func.func @step(%q: !model.tensor<[B, new, 6], f32> {model.name = "q"}, %ks: !model.state<[B, capacity, 6], f32> {model.state = "k"}, %vs: !model.state<[B, capacity, 6], f32> {model.state = "v"})
      -> (!model.tensor<[B, new, 6], f32> {model.name = "y"}) {
    %ka = model.append %ks, %q axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
    %va = model.append %vs, %q axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
    %w = mask.window left 199 right 0
    %y = attn.sdpa %q, %ka, %va mask %w heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 6], f32>) -> !model.tensor<[B, new, 6], f32>
    return %y : !model.tensor<[B, new, 6], f32>
  }
}
