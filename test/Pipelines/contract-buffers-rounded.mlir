// What linears of the same rows share (test/Plan/plan-memory-rounded.mlir) must still be there, and where it was left.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

#panels = #model.layout<panels 32, bf16>
#target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>
#tiles = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
#entry = #model.entry<name = "w", shape = [48, 96], layout = #panels, offset = 0, firsts = [], counts = [], strides = []>
#entry1 = #model.entry<name = "u", shape = [48, 48], layout = #panels, offset = 12288, firsts = [], counts = [], strides = []>
module attributes {heddle.stage = "buffers", model.blob = [#entry, #entry1], model.blob_bytes = 18432 : i64, model.weights = ["no file"], model.dims = {}, model.dtype = "bf16", model.math = "dots", model.target = #target} {
  func.func @run(%x: !model.tensor<[n, 96], f32>) attributes {model.arena = "1280*n+1280"} {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !model.tensor<[48, 96], f32>
    %u = model.param "u" {layout = #panels, offset = 12288 : i64, strides = array<i64>} : !model.tensor<[48, 48], f32>
    %a = model.linear %x, %w {model.place = [#model.place<arena, "0">], model.schedule = #tiles, model.scratch = #model.place<arena, "192*n">} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    %b = model.linear %a, %u {model.place = [#model.place<arena, "384*n">], model.schedule = #tiles, model.scratch = #model.place<arena, "576*n">} : (!model.tensor<[n, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[n, 48], f32>
    %c = model.linear %x, %w {model.place = [#model.place<arena, "768*n">], model.schedule = #tiles, model.scratch = #model.place<arena, "192*n">} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    return {model.copies = array<i1>}
  }
}

// -----

#panels = #model.layout<panels 32, bf16>
#target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>
#tiles = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
#entry = #model.entry<name = "w", shape = [48, 96], layout = #panels, offset = 0, firsts = [], counts = [], strides = []>
#entry1 = #model.entry<name = "u", shape = [48, 48], layout = #panels, offset = 12288, firsts = [], counts = [], strides = []>
module attributes {heddle.stage = "buffers", model.blob = [#entry, #entry1], model.blob_bytes = 18432 : i64, model.weights = ["no file"], model.dims = {}, model.dtype = "bf16", model.math = "dots", model.target = #target} {
  func.func @run(%x: !model.tensor<[n, 96], f32>) attributes {model.arena = "1280*n+1280"} {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !model.tensor<[48, 96], f32>
    %u = model.param "u" {layout = #panels, offset = 12288 : i64, strides = array<i64>} : !model.tensor<[48, 48], f32>
    %a = model.linear %x, %w {model.place = [#model.place<arena, "0">], model.schedule = #tiles, model.scratch = #model.place<arena, "192*n">} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    %b = model.linear %a, %u {model.place = [#model.place<arena, "384*n">], model.schedule = #tiles, model.scratch = #model.place<arena, "576*n">} : (!model.tensor<[n, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[n, 48], f32>
    // expected-error @below {{promises: does not find the working memory that 'model.linear' before it left}}
    %c = model.linear %x, %w {model.place = [#model.place<arena, "768*n">], model.schedule = #tiles, model.scratch = #model.place<arena, "576*n">} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    return {model.copies = array<i1>}
  }
}

// -----

#panels = #model.layout<panels 32, bf16>
#target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>
#tiles = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
#entry = #model.entry<name = "w", shape = [48, 96], layout = #panels, offset = 0, firsts = [], counts = [], strides = []>
#entry1 = #model.entry<name = "u", shape = [48, 48], layout = #panels, offset = 12288, firsts = [], counts = [], strides = []>
module attributes {heddle.stage = "buffers", model.blob = [#entry, #entry1], model.blob_bytes = 18432 : i64, model.weights = ["no file"], model.dims = {}, model.dtype = "bf16", model.math = "dots", model.target = #target} {
  func.func @run(%x: !model.tensor<[n, 96], f32>) attributes {model.arena = "1280*n+1280"} {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !model.tensor<[48, 96], f32>
    %u = model.param "u" {layout = #panels, offset = 12288 : i64, strides = array<i64>} : !model.tensor<[48, 48], f32>
    %a = model.linear %x, %w {model.place = [#model.place<arena, "0">], model.schedule = #tiles, model.scratch = #model.place<arena, "192*n">} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    %b = model.linear %a, %u {model.place = [#model.place<arena, "384*n">], model.schedule = #tiles, model.scratch = #model.place<arena, "192*n">} : (!model.tensor<[n, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[n, 48], f32>
    // expected-error @below {{promises: does not find the working memory that 'model.linear' before it left}}
    %c = model.linear %x, %w {model.place = [#model.place<arena, "768*n">], model.schedule = #tiles, model.scratch = #model.place<arena, "192*n">} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    return {model.copies = array<i1>}
  }
}
