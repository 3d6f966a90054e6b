// RUN: heddle-opt %s --attn-plan-cache | FileCheck %s

// The mark of a cache says that it holds bf16; the state keeps its type.
// CHECK: %{{.+}}: !state_B_capacity_6_f {attn.cache = #attn.cache<keys, heads = 2, element = bf16, block = 128, panel = 16>, model.state = "k"}
// CHECK: %{{.+}}: !state_B_capacity_8_f {attn.cache = #attn.cache<values, heads = 2, element = bf16, block = 128, panel = 16>, model.state = "v"}
module attributes {model.dtype = "bf16", model.math = "wide"} {
  func.func @step(%q: !model.tensor<[B, new, 6], f32> {model.name = "q"}, %k: !model.tensor<[B, new, 6], f32> {model.name = "k"}, %v: !model.tensor<[B, new, 8], f32> {model.name = "v"},
                  %ks: !model.state<[B, capacity, 6], f32> {model.state = "k"}, %vs: !model.state<[B, capacity, 8], f32> {model.state = "v"}) -> (!model.tensor<[B, new, 8], f32> {model.name = "y"}) {
    %ka = model.append %ks, %k axis 1 : !model.state<[B, capacity, 6], f32>, !model.tensor<[B, new, 6], f32> -> !model.tensor<[B, "new+past", 6], f32>
    %va = model.append %vs, %v axis 1 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
    %y = attn.sdpa %q, %ka, %va heads 2 kv_heads 2 scale 0.5 past "past" : (!model.tensor<[B, new, 6], f32>, !model.tensor<[B, "new+past", 6], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
    return %y : !model.tensor<[B, new, 8], f32>
  }
}
