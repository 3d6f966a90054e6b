// RUN: heddle-opt %s --convert-heddle-to-loops --split-input-file --verify-diagnostics

// What a hand may do to the plan of a stage `buffers`: each is told, none is believed.

// expected-error @below {{has an arena of unknown size; the pass model-plan-memory knows it}}
func.func @no_arena(%x: !model.tensor<[T], f32>) { return }

// -----

func.func @no_place(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
  // expected-error @below {{result 0 has no place; the pass model-plan-memory gives it one}}
  %y = model.unary neg %x : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @outside(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
  // expected-error @below {{result 0 is at "61*T", outside of the arena's 64*T bytes}}
  %y = model.unary neg %x {model.place = [#model.place<arena, "61*T">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @unknown_dim(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
  // expected-error @below {{result 0 is at "nobody", of which 'unknown_dim' does not know}}
  %y = model.unary neg %x {model.place = [#model.place<arena, "nobody">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @no_output(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
  // expected-error @below {{result 0 is in output 0 of 'no_output', which has no room for 4*T bytes}}
  %y = model.unary neg %x {model.place = [#model.place<output, 0>]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @no_tiles(%x: !model.tensor<[T, 4], f32>, %w: !model.tensor<[4, 4], f32>) attributes {model.arena = "64*T"} {
  // expected-error @below {{has no tiles; the pass model-plan-schedules gives it some}}
  %y = model.linear %x, %w {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
  return
}

// -----

func.func @no_scratch(%x: !model.tensor<[T, 4], f32>, %w: !model.tensor<[4, 4], f32>) attributes {model.arena = "64*T"} {
  // expected-error @below {{working memory has no place; the pass model-plan-memory gives it one}}
  %y = model.linear %x, %w {model.place = [#model.place<arena, "0">], model.schedule = #model.schedule<panel = 32, rows = 8, block = 256>} : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
  return
}

// -----

func.func @apart(%x: !model.tensor<[T, 4], f32>) attributes {model.arena = "64*T"} {
  %w = model.param "w" {layout = #model.layout<panels 32, f32>, offset = 0 : i64, strides = array<i64>} : !model.tensor<[4, 4], f32>
  // expected-error @below {{has tiles of 64 results, but its weight is packed in panels of 32}}
  %y = model.linear %x, %w {model.place = [#model.place<arena, "0">], model.schedule = #model.schedule<panel = 64, rows = 8, block = 256>} : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
  return
}

// -----

func.func @no_parameter() attributes {model.arena = "64"} {
  // expected-error @below {{has no place in the blob; the pass model-plan-parameters gives it one}}
  %w = model.param "w" : !model.tensor<[4, 4], f32>
  return
}

// -----

module attributes {model.blob = [], model.blob_bytes = 64 : i64} {
  func.func @no_entry() attributes {model.arena = "64"} {
    // expected-error @below {{is no entry of the blob: 'model.blob' has none of its name, shape and layout}}
    %w = model.param "w" {layout = #model.layout<natural, f32>, offset = 64 : i64, strides = array<i64>} : !model.tensor<[4, 4], f32>
    return
  }
}

// -----

func.func @no_copies(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
  // expected-error @below {{does not say which carried values are copied; the pass model-plan-memory does}}
  %y = model.repeat 3 iter(%x) {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
  ^bb0(%i: index, %z: !model.tensor<[T], f32>):
    model.yield %z : !model.tensor<[T], f32>
  }
  return
}

// -----

func.func @tiles(%q: !model.tensor<[B, T, 8], f32>) attributes {model.arena = "64*B*T"} {
  // expected-error @below {{has panels of 8 keys; loops are made of 16}}
  %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 128, panel = 8, packed = 1>, model.place = [#model.place<arena, "0">]} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @classes(%q: !model.tensor<[B, T, 8], f32>) attributes {model.arena = "64*B*T"} {
  // expected-error @below {{falls into 4 classes; its mask allows 1 or 1}}
  %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 32, keys = 128, panel = 16, packed = 1, classes = 4>, model.place = [#model.place<arena, "0">]} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

// expected-error @below {{loops are made of vectors of 4, 8 or 16 f32, not of 64}}
module attributes {model.target = #model.target<"cpu", chip = "x", lanes = 64, registers = 32>} {}
