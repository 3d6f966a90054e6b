// The caches that the stage `tiled` promises: all who write and read a state take it to lie alike. Each clause, broken.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

#tiles = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
#keys = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>
module attributes {heddle.stage = "tiled"} {
  func.func @step(%q: !model.tensor<[B, new, 8], f32>, %s: !model.state<[B, capacity, 8], f32> {model.state = "k", attn.cache = #keys}) {
    // expected-error @below {{promises: takes the state to lie otherwise than '@step' does}}
    %k = model.append %s, %q axis 1 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
    return
  }
}

// -----

#keys = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>
module attributes {heddle.stage = "tiled"} {
  // expected-error @below {{promises: the state 'k' is stored otherwise in another function}}
  func.func @once(%s: !model.state<[B, capacity, 8], f32> {model.state = "k", attn.cache = #keys}) { return }
  func.func @step(%s: !model.state<[B, capacity, 8], f32> {model.state = "k"}) { return }
}

// -----

#keys = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>
module attributes {heddle.stage = "tiled"} {
  // expected-error @below {{promises: the state 'k' is stored as attention reads it, but is also read or written otherwise}}
  func.func @step(%q: !model.tensor<[B, new, 8], f32>, %s: !model.state<[B, capacity, 8], f32> {model.state = "k", attn.cache = #keys}) -> !model.tensor<[B, "new+past", 8], f32> {
    %k = model.append %s, %q axis 1 {attn.cache = #keys} : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
    return %k : !model.tensor<[B, "new+past", 8], f32>
  }
}

// -----

#keys = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>
module attributes {heddle.stage = "tiled"} {
  // expected-error @below {{promises: argument 0 is stored as attention reads it, but is no state}}
  func.func @step(%s: !model.state<[B, capacity, 8], f32> {attn.cache = #keys}) { return }
}

// -----

// Four heads are read where two were written.
#tiles = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
#cache = #attn.cache<values, heads = 2, element = f32, block = 128, panel = 16>
module attributes {heddle.stage = "tiled"} {
  // expected-error @below {{promises: the state 'v' is stored as 2 heads of values, but attention reads 4 of values}}
  func.func @step(%q: !model.tensor<[B, new, 8], f32>, %k: !model.tensor<[B, "new+past", 8], f32>, %s: !model.state<[B, capacity, 8], f32> {model.state = "v", attn.cache = #cache}) -> !model.tensor<[B, new, 8], f32> {
    %v = model.append %s, %q axis 1 {attn.cache = #cache} : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
    %c = mask.causal
    // expected-error @below {{promises: reads a cache that is not laid out for it}}
    %y = attn.sdpa %q, %k, %v mask %c heads 4 kv_heads 4 scale 1.0 past "past" {attn.schedule = #tiles} : (!model.tensor<[B, new, 8], f32>, !model.tensor<[B, "new+past", 8], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
    return %y : !model.tensor<[B, new, 8], f32>
  }
}

// -----

// A ring that goes round before the window of 300 keys and a piece of 512 rows have passed: 300 + 511 rows are 7 blocks, and one to begin in.
#tiles = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
#cache = #attn.cache<values, heads = 4, element = f32, block = 128, panel = 16, ring = 896>
module attributes {heddle.stage = "tiled"} {
  // expected-error @below {{promises: the state 'v' is a ring of 896 rows, but its readers need 1024}}
  func.func @step(%q: !model.tensor<[B, new, 8], f32>, %k: !model.tensor<[B, "new+past", 8], f32>, %s: !model.state<[B, capacity, 8], f32> {model.state = "v", attn.cache = #cache}) -> !model.tensor<[B, new, 8], f32> attributes {model.pieces = #model.pieces<longest = 512, beyond = 896>} {
    %v = model.append %s, %q axis 1 {attn.cache = #cache} : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
    %w = mask.window left 300 right 0
    %y = attn.sdpa %q, %k, %v mask %w heads 4 kv_heads 4 scale 1.0 past "past" {attn.schedule = #tiles} : (!model.tensor<[B, new, 8], f32>, !model.tensor<[B, "new+past", 8], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
    return %y : !model.tensor<[B, new, 8], f32>
  }
}

// -----

#tiles = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
#cache = #attn.cache<values, heads = 4, element = f32, block = 128, panel = 16, ring = 1024>
module attributes {heddle.stage = "tiled", model.generate = {}} {
  // expected-error @below {{promises: the state 'v' is a ring, but '@step' does not say in what pieces a long text comes}}
  func.func @step(%q: !model.tensor<[B, new, 8], f32>, %s: !model.state<[B, capacity, 8], f32> {model.state = "v", attn.cache = #cache}) { return }
}

// -----

#tiles = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
#cache = #attn.cache<values, heads = 4, element = f32, block = 128, panel = 16, ring = 1024>
module attributes {heddle.stage = "tiled"} {
  // expected-error @below {{promises: the state 'v' is a ring of 1024 rows, but texts of up to 2000 come in one piece}}
  func.func @step(%q: !model.tensor<[B, new, 8], f32>, %s: !model.state<[B, capacity, 8], f32> {model.state = "v", attn.cache = #cache}) attributes {model.pieces = #model.pieces<longest = 512, beyond = 2000>} { return }
}

// -----

#tiles = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>
#cache = #attn.cache<values, heads = 4, element = f32, block = 128, panel = 16, ring = 1024>
module attributes {heddle.stage = "tiled"} {
  // expected-error @below {{promises: the state 'v' is a ring, but its readers look back at any row}}
  func.func @step(%q: !model.tensor<[B, new, 8], f32>, %k: !model.tensor<[B, "new+past", 8], f32>, %s: !model.state<[B, capacity, 8], f32> {model.state = "v", attn.cache = #cache}) -> !model.tensor<[B, new, 8], f32> attributes {model.pieces = #model.pieces<longest = 512, beyond = 1024>} {
    %v = model.append %s, %q axis 1 {attn.cache = #cache} : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
    %c = mask.causal
    %y = attn.sdpa %q, %k, %v mask %c heads 4 kv_heads 4 scale 1.0 past "past" {attn.schedule = #tiles} : (!model.tensor<[B, new, 8], f32>, !model.tensor<[B, "new+past", 8], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
    return %y : !model.tensor<[B, new, 8], f32>
  }
}

// -----

// What is written or read is as large as its part of the state.
module attributes {heddle.stage = "tiled"} {
  func.func @step(%x: !model.tensor<[B, new, 8], f32>, %y: !model.tensor<[B, 4], f32>, %s: !model.state<[B, capacity, 8], f32>, %t: !model.state<[3, B, 8], f32>) {
    // expected-error @below {{promises: has a value with an axis 1 that is not the state's}}
    %b = model.append %s, %x axis 2 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
    %i = arith.constant 0 : index
    // expected-error @below {{promises: has a value with an axis 1 that is not the state's}}
    %c = model.load %t[%i] : !model.state<[3, B, 8], f32> -> !model.tensor<[B, 4], f32>
    // expected-error @below {{promises: has a value with an axis 1 that is not the state's}}
    model.store %y in %t[%i] : !model.tensor<[B, 4], f32>, !model.state<[3, B, 8], f32>
    return
  }
}
