// RUN: heddle-opt %s -split-input-file -verify-diagnostics

// The clauses of AttnAttrs.td, and what the plan's attributes may stand on (Plan.cpp).

// expected-error @below {{expected a cache of 1 or more heads, 1 to 32 classes}}
#cache_c1 = #attn.cache<keys, heads = 0, element = f32, block = 128, panel = 16>

// -----

// expected-error @below {{expected a cache of 1 or more heads, 1 to 32 classes}}
#cache_c1_classes = #attn.cache<keys, heads = 1, element = f32, block = 128, panel = 16, classes = 33>

// -----

// expected-error @below {{expected a cache of f32, bf16 or f16, got 'i64'}}
#cache_c2 = #attn.cache<values, heads = 1, element = i64, block = 128, panel = 16>

// -----

// expected-error @below {{expected panels that divide a block, and blocks that divide a ring, got 24, 128 and 0}}
#cache_c3 = #attn.cache<keys, heads = 1, element = f32, block = 128, panel = 24>

// -----

// expected-error @below {{expected panels that divide a block, and blocks that divide a ring, got 16, 128 and 200}}
#cache_c3_ring = #attn.cache<keys, heads = 1, element = f32, block = 128, panel = 16, ring = 200>

// -----

// expected-error @below {{expected tiles of 1, 2, 4 .. 256 rows, 1, 2, 4 .. 1024 keys and panels of as many, got 24, 128 and 16}}
#schedule_c1 = #attn.schedule<rows = 24, keys = 128, panel = 16, packed = 1>

// -----

// expected-error @below {{a panel of 128 keys does not fit a tile of 64}}
#schedule_c2 = #attn.schedule<rows = 32, keys = 64, panel = 128, packed = 1>

// -----

// expected-error @below {{expected 1 or more query heads together, got 0}}
#schedule_c3 = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 0>

// -----

// expected-error @below {{expected an attention of 1 to 32 classes, got 0}}
#schedule_c4 = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1, classes = 0>

// -----

func.func @schedule_heads(%q: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{expected a divisor of the 1 query heads of a key head as 'packed', got 2}}
  %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 2>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @schedule_place(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'attn.schedule' to be the #attn.schedule of an attn.sdpa}}
  %y = model.unary neg %x {attn.schedule = 1 : i64} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

func.func @cache_place(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'attn.cache' on an append, a load or a store, got }}
  %y = model.unary neg %x {attn.cache = 1 : i64} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

// expected-error @below {{expected 'attn.cache' to be an #attn.cache, got 1}}
func.func @cache_argument(%s: !model.state<[B, capacity, 6], f32> {attn.cache = 1 : i64}) { return }

// -----

// expected-error @below {{do not divide into the 4 heads of its cache}}
func.func @cache_heads(%s: !model.state<[B, capacity, 6], f32> {attn.cache = #attn.cache<keys, heads = 4, element = f32, block = 128, panel = 16>}) { return }

// -----

// expected-error @below {{expected 'attn.cache' on a state [.., batch, rows, features] of f32}}
func.func @cache_state(%s: !model.tensor<[B, capacity, 6], f32> {attn.cache = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16>}) { return }

// -----

// A schedule is read before the op itself is checked.
func.func @no_key_heads(%q: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{'kv_heads' must divide 'heads'}}
  // expected-error @below {{failed to infer returned types}}
  %y = attn.sdpa %q, %q, %q heads 2 kv_heads 0 scale 1.0 {attn.schedule = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}
