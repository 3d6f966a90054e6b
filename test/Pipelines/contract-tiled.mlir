// The plan that the stage `tiled` promises: parameters, tiles, caches. Each clause, broken.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

// expected-error @below {{it has parameters, but no 'model.blob'}}
module attributes {heddle.stage = "tiled"} {
  func.func @run() -> !model.tensor<[4], f32> {
    // expected-error @below {{this is not what the stage 'tiled' of the file promises: has no place in the blob}}
    %w = model.param "w" : !model.tensor<[4], f32>
    return %w : !model.tensor<[4], f32>
  }
}

// -----

module attributes {heddle.stage = "tiled", model.blob = [], model.blob_bytes = 64 : i64} {
  func.func @run() -> !model.tensor<[4], f32> {
    // expected-error @below {{promises: is no entry of the blob: 'model.blob' has none of its name, shape and layout}}
    %w = model.param "w" {layout = #model.layout<natural, f32>, offset = 0 : i64, strides = array<i64>} : !model.tensor<[4], f32>
    return %w : !model.tensor<[4], f32>
  }
}

// -----

// Inside of the blob, but another tensor lies there.
module attributes {heddle.stage = "tiled", model.blob_bytes = 128 : i64, model.blob = [
  #model.entry<name = "v", shape = [4], layout = <natural, f32>, offset = 0, firsts = [], counts = [], strides = []>,
  #model.entry<name = "w", shape = [4], layout = <natural, f32>, offset = 64, firsts = [], counts = [], strides = []>]} {
  func.func @run() -> !model.tensor<[4], f32> {
    // expected-error @below {{promises: is at 0 of the blob, but its entry there at 64, or at other strides}}
    %w = model.param "w" {layout = #model.layout<natural, f32>, offset = 0 : i64, strides = array<i64>} : !model.tensor<[4], f32>
    return %w : !model.tensor<[4], f32>
  }
}

// -----

module attributes {heddle.stage = "tiled", model.blob_bytes = 128 : i64, model.blob = [
  #model.entry<name = "w{0}", shape = [4], layout = <natural, f32>, offset = 0, firsts = [0], counts = [2], strides = [64]>]} {
  func.func @run() {
    %c = arith.constant 3 : index
    // expected-error @below {{promises: has indices from 3 to 3, but its entry of the blob from 0 to 1}}
    %w = model.param "w{0}"[%c] {layout = #model.layout<natural, f32>, offset = 0 : i64, strides = array<i64: 64>} : !model.tensor<[4], f32>
    return
  }
}

// -----

// The weight is stored [N, K], and the linear reads it so; the blob has it otherwise.
module attributes {heddle.stage = "tiled", model.blob_bytes = 1024 : i64, model.blob = [
  #model.entry<name = "w", shape = [4, 4], layout = <panels 32, f32, in_out>, offset = 0, firsts = [], counts = [], strides = []>]} {
  func.func @run(%x: !model.tensor<[T, 4], f32>) -> !model.tensor<[T, 4], f32> {
    // expected-error @below {{is in the blob as #model.layout<panels 32, f32, in_out>, which 'model.linear' cannot read as its operand 1}}
    %w = model.param "w" {layout = #model.layout<panels 32, f32, in_out>, offset = 0 : i64, strides = array<i64>} : !model.tensor<[4, 4], f32>
    %y = model.linear %x, %w {model.schedule = #model.schedule<panel = 32, rows = 8, block = 256>} : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
    return %y : !model.tensor<[T, 4], f32>
  }
}

// -----

// Halves where the module stores f32.
module attributes {heddle.stage = "tiled", model.blob_bytes = 1024 : i64, model.blob = [
  #model.entry<name = "w", shape = [4, 4], layout = <natural, bf16>, offset = 0, firsts = [], counts = [], strides = []>]} {
  func.func @run(%x: !model.tensor<[T], i64>) -> !model.tensor<[T, 4], f32> {
    // expected-error @below {{is in the blob as #model.layout<natural, bf16>, which 'model.embedding' cannot read as its operand 1}}
    %w = model.param "w" {layout = #model.layout<natural, bf16>, offset = 0 : i64, strides = array<i64>} : !model.tensor<[4, 4], f32>
    %y = model.embedding %x in %w : (!model.tensor<[T], i64>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
    return %y : !model.tensor<[T, 4], f32>
  }
}

// -----

module attributes {heddle.stage = "tiled", model.target = #model.target<"cpu", chip = "znver5", lanes = 16, registers = 32>} {
  func.func @run(%x: !model.tensor<[T, 4], f32>, %w: !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32> {
    // expected-error @below {{promises: has no tiles; the pass model-plan-schedules gives it some}}
    %y = model.matmul %x, %w : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
    // expected-error @below {{has panels of 24 results, which vectors of 16 do not divide}}
    %z = model.matmul %y, %w {model.schedule = #model.schedule<panel = 24, rows = 8, block = 64>} : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
    return %z : !model.tensor<[T, 4], f32>
  }
}

// -----

// A program of tiles that threads share: where the target has it, of the sizes that it has.
module attributes {heddle.stage = "tiled", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cpu", chip = "znver5", lanes = 16, registers = 32>} {
  func.func @run(%q: !model.tensor<[B, T, 8], f32>) {
    // expected-error @below {{has a program of tiles that threads share, which this target has not}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 64, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 528], f32>) {
    // expected-error @below {{has a program of tiles, which takes f32 and dots of heads up to 256 wide, whole masks and short biases only}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 64, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 528], f32>, !model.tensor<[B, T, 528], f32>, !model.tensor<[B, T, 528], f32>) -> !model.tensor<[B, T, 528], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 512], f32>) {
    // expected-error @below {{has tiles of 64 rows and 16 keys in panels of 16, but threads share 32 rows and 16 to 16 keys in panels of 16}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 16, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 512], f32>, !model.tensor<[B, T, 512], f32>, !model.tensor<[B, T, 512], f32>) -> !model.tensor<[B, T, 512], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 256], f32>) {
    // expected-error @below {{has tiles of 64 rows and 32 keys in panels of 16, but threads share 64 rows and 16 to 16 keys in panels of 16}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 32, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 256], f32>, !model.tensor<[B, T, 256], f32>, !model.tensor<[B, T, 256], f32>) -> !model.tensor<[B, T, 256], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 8], f32>) {
    // expected-error @below {{has tiles of 64 rows and 128 keys in panels of 16, but threads share 64 rows and 16 to 64 keys in panels of 16}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 128, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.dtype = "bf16", model.math = "dots", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 8], f32>) {
    // expected-error @below {{has tiles of 64 rows and 16 keys in panels of 16, but threads share 64 rows and 32 to 64 keys in panels of 16}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 16, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.dtype = "bf16", model.math = "wide", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 8], f32>) {
    // expected-error @below {{has a program of tiles, which takes f32 and dots of heads up to 256 wide, whole masks and short biases only}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 64, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.dtype = "bf16", model.math = "dots", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 8], f32>) {
    // expected-error @below {{has tiles of 64 rows and 128 keys in panels of 16, but threads share 64 rows and 32 to 64 keys in panels of 16}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 128, panel = 16, packed = 1, tiled = true>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "tiled", model.dtype = "bf16", model.math = "dots", model.blob = [], model.blob_bytes = 0 : i64, model.target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>} {
  func.func @run(%q: !model.tensor<[B, T, 8], f32>) {
    // expected-error @below {{has tiles that threads share with 1 query heads together, of 1 classes; they have 1 or 1 heads, one class and no paired values}}
    %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 {attn.schedule = #attn.schedule<rows = 64, keys = 64, panel = 16, packed = 1, paired = true, tiled = true>} : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    return
  }
}
