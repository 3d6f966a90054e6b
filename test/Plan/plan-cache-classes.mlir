// RUN: heddle-opt %s --attn-plan-cache | FileCheck %s

// Keys and values under a dilated mask lie class by class, whatever hides padding beside it.
// CHECK: %{{.+}}: !state_B_capacity_6_f {attn.cache = #attn.cache<keys, heads = 2, element = f32, block = 128, panel = 16, classes = 4>, model.state = "k"}
// CHECK: %{{.+}}: !state_B_capacity_8_f {attn.cache = #attn.cache<values, heads = 2, element = f32, block = 128, panel = 16, classes = 4>, model.state = "v"}
// Two attentions that see one state want it in two ways: it stays as it is.
// CHECK: %{{.+}}: !state_B_capacity_6_f {model.state = "k2"}
// CHECK: %{{.+}}: !state_B_capacity_8_f {attn.cache = #attn.cache<values, heads = 2, element = f32, block = 128, panel = 16>, model.state = "v2"}
func.func @step(%q: !model.tensor<[B, new, 6], f32> {model.name = "q"}, %k: !model.tensor<[B, new, 6], f32> {model.name = "k"}, %v: !model.tensor<[B, new, 8], f32> {model.name = "v"},
                %real: !model.tensor<[B, "new+past"], i64> {model.name = "real"},
                %ks: !model.state<[B, capacity, 6], f32> {model.state = "k"}, %vs: !model.state<[B, capacity, 8], f32> {model.state = "v"},
                %k2: !model.state<[B, capacity, 6], f32> {model.state = "k2"}, %v2: !model.state<[B, capacity, 8], f32> {model.state = "v2"}) -> (!model.tensor<[B, new, 8], f32> {model.name = "y"}, !model.tensor<[B, new, 8], f32> {model.name = "z"}, !model.tensor<[B, new, 8], f32> {model.name = "w"}) {
  %ka = model.append %ks, %k axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %va = model.append %vs, %v axis 1 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
  %kb = model.append %k2, %k axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
  %vb = model.append %v2, %v axis 1 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
  %c = mask.causal
  %d = mask.dilated 4
  %r = mask.keys %real : !model.tensor<[B, "new+past"], i64>
  %b = mask.and %c, %d
  %m = mask.and %b, %r
  %y = attn.sdpa %q, %ka, %va mask %m heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
  %z = attn.sdpa %q, %kb, %va mask %b heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
  %w = attn.sdpa %q, %kb, %vb mask %c heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
  return %y, %z, %w : !model.tensor<[B, new, 8], f32>, !model.tensor<[B, new, 8], f32>, !model.tensor<[B, new, 8], f32>
}
