// RUN: heddle-opt %s -split-input-file -verify-diagnostics

// The clauses of ModelAttrs.td, and what the plan's attributes may stand on (Plan.cpp).

// expected-error @below {{a panel has 1 to 256 rows, not 257}}
#layout_c1 = #model.layout<panels 257, f32>

// -----

// expected-error @below {{expected a panel of 1 to 256 rows, got 0}}
#layout_c1_zero = #model.layout<panels 0, f32>

// -----

// expected-error @below {{panels hold f32, bf16 or f16}}
#layout_c2 = #model.layout<panels 32, i64>

// -----

// expected-error @below {{expected elements of f32, bf16, f16, i64 or i1, got 'i8'}}
#layout_c2_element = #model.layout<natural, i8>

// -----

// expected-error @below {{'in_out' is said of panels alone}}
#layout_c3 = #model.layout<natural, f32, in_out>

// -----

// expected-error @below {{there is no part 2 of 2}}
#layout_c4 = #model.layout<panels 32, f32, part 2 of [1, 1] groups 1>

// -----

// expected-error @below {{a part takes 1 or more rows of a group, not 0}}
#layout_c4_parts = #model.layout<panels 32, f32, part 0 of [1, 0] groups 1>

// -----

// expected-error @below {{rows split into 1 or more groups, not 0}}
#layout_c4_groups = #model.layout<panels 32, f32, part 0 of [1, 1] groups 0>

// -----

// expected-error @below {{codes lie in panels and mean f32}}
#layout_c5 = #model.layout<natural, f32, coded 8 by 32 f16>

// -----

// expected-error @below {{codes lie in panels and mean f32}}
#layout_c5_type = #model.layout<panels 32, bf16, coded 8 by 32 f16>

// -----

// expected-error @below {{codes have 8, 6, 5, 4 or 2 bits, not 3}}
#layout_c5_bits = #model.layout<panels 32, f32, coded 3 by 32 f16>

// -----

// expected-error @below {{expected scales of f16, bf16 or f32, got 'f64'}}
#layout_c5_scale = #model.layout<panels 32, f32, coded 8 by 32 f64>

// -----

// expected-error @below {{codes have 8, 6, 5, 4 or 2 bits, not 1}}
#coded_c1 = #model.coded<bits = 1, group = 32, scale = f16, from = "gptq">

// -----

// expected-error @below {{a group has 1 or more features, not 0}}
#coded_c2 = #model.coded<bits = 4, group = 0, scale = f16, from = "gptq">

// -----

// expected-error @below {{scales are f16, bf16 or f32}}
#coded_c3 = #model.coded<bits = 4, group = 32, scale = i1, from = "gptq">

// -----

// expected-error @below {{expected scales of f16, bf16 or f32, got 'f64'}}
#coded_c3_type = #model.coded<bits = 4, group = 32, scale = f64, from = "gptq">

// -----

// expected-error @below {{expected one word as the method of the codes, got "g p"}}
#coded_c4 = #model.coded<bits = 4, group = 32, scale = f16, from = "g p">

// -----

// expected-error @below {{expected codes of a search without zeros and order, got}}
#coded_c4_search = #model.coded<bits = 4, group = 32, scale = f16, zeros = true, from = "search">

// -----

// expected-error @below {{expected codes of a search without minima, table and levels}}
#coded_c4_levels = #model.coded<bits = 4, group = 32, scale = f16, super = 256, from = "search">

// -----

// expected-error @below {{groups have zeros or minima, not both}}
#coded_c5 = #model.coded<bits = 4, group = 32, scale = f16, zeros = true, minima = true, from = "gguf">

// -----

// expected-error @below {{groups with minima have at most 32 features, not 64}}
#coded_c5_group = #model.coded<bits = 4, group = 64, scale = f16, minima = true, from = "gguf">

// -----

// expected-error @below {{expected the table "nl4" or "e2m1", got "nf4"}}
#coded_c6 = #model.coded<bits = 4, group = 32, scale = f16, table = "nf4", from = "gguf">

// -----

// expected-error @below {{indices of a table have 4 bits and no code of 0}}
#coded_c6_bits = #model.coded<bits = 5, group = 32, scale = f16, table = "nl4", from = "gguf">

// -----

// expected-error @below {{the code of 0 is one of 4 bits, not 16}}
#coded_c7 = #model.coded<bits = 4, group = 32, scale = f16, zero_code = 16, from = "gguf">

// -----

// expected-error @below {{two levels have groups of 16 or 32 features in super-groups of 256 and no zeros}}
#coded_c8 = #model.coded<bits = 4, group = 64, scale = f16, super = 256, from = "gguf">

// -----

// expected-error @below {{two levels have features in the order of the file}}
#coded_c8_ordered = #model.coded<bits = 4, group = 32, scale = f16, super = 256, ordered = true, from = "gguf">

// -----

// expected-error @below {{expected the table nl4 or e2m1, got nf4}}
#layout_c5_table = #model.layout<panels 32, f32, coded 4 by 32 f16 table nf4>

// -----

func.func @param_c4_levels() {
  // expected-error @below {{has codes that do not fit: two levels have a multiple of 256 features, but not 128}}
  %w = model.param "w" {coded = #model.coded<bits = 4, group = 32, scale = f16, super = 256, from = "gguf">} : !model.tensor<[4, 128], f32>
  return
}

// -----

func.func @param_c4_five_bits() {
  // expected-error @below {{has codes that do not fit: codes of 5 bits have groups of a multiple of 32 features, but not 16}}
  %w = model.param "w" {coded = #model.coded<bits = 5, group = 16, scale = f16, from = "gguf">} : !model.tensor<[4, 64], f32>
  return
}

// -----

func.func @param_c4_rank() {
  // expected-error @below {{expected an f32 matrix of constant lengths for codes}}
  %w = model.param "w" {coded = #model.coded<bits = 8, group = 32, scale = f16, from = "search">} : !model.tensor<[4, 32, 2], f32>
  return
}

// -----

func.func @param_c4_group() {
  // expected-error @below {{has codes that do not fit: groups have 16, 32, 64 or a multiple of 128 features, or all 64, but not 48}}
  %w = model.param "w" {coded = #model.coded<bits = 8, group = 48, scale = f16, from = "search">} : !model.tensor<[4, 64], f32>
  return
}

// -----

func.func @param_c4_layout() {
  // expected-error @below {{expected the layout in the blob to have the codes of #model.coded}}
  %w = model.param "w" {coded = #model.coded<bits = 8, group = 32, scale = f16, from = "search">,
                        layout = #model.layout<panels 32, f32, coded 4 by 32 f16>} : !model.tensor<[4, 64], f32>
  return
}

// -----

func.func @param_c4_no_codes() {
  // expected-error @below {{expected the layout in the blob to have the codes of #model.coded}}
  %w = model.param "w" {layout = #model.layout<panels 32, f32, coded 4 by 32 f16>} : !model.tensor<[4, 64], f32>
  return
}

// -----

// expected-error @below {{the layout of "w" does not fit: codes are of a matrix, but the shape has 3 axes}}
#entry_c2_codes = #model.entry<name = "w", shape = [4, 64, 2], layout = <panels 32, f32, coded 4 by 32 f16>, offset = 0, firsts = [], counts = [], strides = []>

// -----

// expected-error @below {{expected 'panels' or 'natural'}}
#layout_word = #model.layout<transposed, f32>

// -----

// expected-error @below {{the entry of "w" has 0 firsts, 1 counts and 1 strides}}
#entry_c1 = #model.entry<name = "w", shape = [4], layout = <natural, f32>, offset = 0, firsts = [], counts = [1], strides = [0]>

// -----

// expected-error @below {{the layout of "w" does not fit: panels are of a matrix or of a filter [N, c, k...], but the shape has 1 axes}}
#entry_c2 = #model.entry<name = "w", shape = [4], layout = <panels 32, f32>, offset = 0, firsts = [], counts = [], strides = []>

// -----

// expected-error @below {{the entry of "w" counts 0 indices from 0 with a stride of 0}}
#entry_c3 = #model.entry<name = "w", shape = [4], layout = <natural, f32>, offset = 0, firsts = [0], counts = [0], strides = [0]>

// -----

// expected-error @below {{the entry of "w" is at -64}}
#entry_c3_offset = #model.entry<name = "w", shape = [4], layout = <natural, f32>, offset = -64, firsts = [], counts = [], strides = []>

// -----

// expected-error @below {{tensors of "w{0}" overlap: a stride of 8 is less than 16 bytes}}
#entry_c4 = #model.entry<name = "w{0}", shape = [4], layout = <natural, f32>, offset = 0, firsts = [0], counts = [2], strides = [8]>

// -----

// expected-error @below {{expected a size form as offset in the arena, got "64*"}}
#place_c1 = #model.place<arena, "64*">

// -----

// expected-error @below {{expected an offset of 0 or more in the arena, got "-64"}}
#place_c2 = #model.place<arena, "-64">

// -----

// expected-error @below {{there is no output -1}}
#place_c2_output = #model.place<output, -1>

// -----

// expected-error @below {{expected the place 'none', 'arena' or 'output', got 'stack'}}
#place_word = #model.place<stack, 0>

// -----

// expected-error @below {{expected a tile of 1 to 32 rows, got 33}}
#schedule_c1 = #model.schedule<panel = 32, rows = 33, block = 66>

// -----

// expected-error @below {{expected a block of a multiple of the 8 rows of a tile, at most 65536, got 60}}
#schedule_c2 = #model.schedule<panel = 32, rows = 8, block = 60>

// -----

// expected-error @below {{expected a panel of 1 to 256 rows, got 0}}
#schedule_c3 = #model.schedule<panel = 0, rows = 8, block = 64>

// -----

// expected-error @below {{expected weights fetched 0 to 4096 steps ahead, got -1}}
#schedule_c4 = #model.schedule<panel = 32, rows = 8, block = 64, ahead = -1>

// -----

// expected-error @below {{expected a small weight of 0 to 2^30 numbers, got -1}}
#schedule_c5 = #model.schedule<panel = 32, rows = 8, block = 64, small = -1>

// -----

// expected-error @below {{expected pieces of 1 row or more beyond 0 rows or more, got 0 beyond 8}}
#pieces_c1 = #model.pieces<longest = 0, beyond = 8>

// -----

// expected-error @below {{expected a word as target, got ""}}
#target_c1 = #model.target<"", chip = "x", lanes = 16, registers = 32>

// -----

// expected-error @below {{expected vectors of 1, 2, 4 .. 64 lanes, got 12}}
#target_c2 = #model.target<"cpu", chip = "x", lanes = 12, registers = 32>

// -----

// expected-error @below {{expected 4 to 1024 vector registers, got 2}}
#target_c3 = #model.target<"cpu", chip = "x", lanes = 16, registers = 2>

// -----

func.func @param_c2() {
  // expected-error @below {{does not fit its layout: 20 rows do not split into 3 groups of 2 units}}
  %w = model.param "w" {layout = #model.layout<panels 32, f32, part 0 of [1, 1] groups 3>} : !model.tensor<[20, 4], f32>
  return
}

// -----

func.func @param_c2_element() {
  // expected-error @below {{of 'i64' cannot lie as 'i1'}}
  %w = model.param "w" {layout = #model.layout<natural, i1>} : !model.tensor<[20, 4], i64>
  return
}

// -----

func.func @param_c3() {
  // expected-error @below {{expected an offset of 0 or more in the blob and 0 strides}}
  %w = model.param "w" {offset = -64 : i64, strides = array<i64>} : !model.tensor<[20, 4], f32>
  return
}

// -----

func.func @linear_part(%x: !model.tensor<[B, 8], f32>, %w: !model.tensor<[24, 8], f32>) {
  // expected-error @below {{part 3 of 3 does not exist}}
  // expected-error @below {{failed to infer returned types}}
  %q = model.linear %x, %w parts [1, 1, 1] groups 1 {part = 3 : i64} : (!model.tensor<[B, 8], f32>, !model.tensor<[24, 8], f32>) -> !model.tensor<[B, 8], f32>
  return
}

// -----

func.func @places(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'model.place' to be one #model.place for each of 1 results}}
  %y = model.unary neg %x {model.place = []} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

func.func @scratch(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'model.scratch' to be a #model.place in the arena}}
  %y = model.unary neg %x {model.scratch = #model.place<output, 0>} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

// expected-error @below {{expected 'model.arena' to be the size form of a function's bytes}}
func.func @arena() attributes {model.arena = "64*"} { return }

// -----

func.func @copies(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
  // expected-error @below {{expected 'model.copies' to be one flag for each of 1 values}}
  return {model.copies = array<i1>} %x : !model.tensor<[B], f32>
}

// -----

func.func @copy_in(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'model.copy_in' to be on a repeat}}
  %y = model.unary neg %x {model.copy_in = array<i1: true>} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

func.func @in_place(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'model.in_place' to be a flag of pack_rows or unpack_rows}}
  %y = model.unary neg %x {model.in_place} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

func.func @schedule(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'model.schedule' to be the #model.schedule of a linear or a matmul}}
  %y = model.unary neg %x {model.schedule = #model.schedule<panel = 32, rows = 8, block = 64>} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

// expected-error @below {{expected 'model.pieces' to be the #model.pieces of a function}}
func.func @pieces() attributes {model.pieces = 512 : i64} { return }

// -----

// expected-error @below {{expected 'model.target' to be the #model.target of a module}}
module attributes {model.target = "cpu"} {}

// -----

// expected-error @below {{expected 'model.blob' to be an array of #model.entry on a module}}
module attributes {model.blob = [1], model.blob_bytes = 0 : i64} {}

// -----

// expected-error @below {{the entry of "w" ends at 128, after the 64 bytes of the blob}}
module attributes {model.blob = [#model.entry<name = "w", shape = [16], layout = <natural, f32>, offset = 64, firsts = [], counts = [], strides = []>], model.blob_bytes = 64 : i64} {}

// -----

func.func @life(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'model.place' to be one #model.place for each of 1 results}}
  %y = model.unary neg %x {model.place = [[#model.place<arena, "0">, {begin = 3 : i64, bytes = "4*B", end = 2 : i64, storage = 0 : i64}]]} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}

// -----

func.func @scratch_life(%x: !model.tensor<[B], f32>) {
  // expected-error @below {{expected 'model.scratch' to be a #model.place in the arena}}
  %y = model.unary neg %x {model.scratch = [#model.place<arena, "0">, {begin = 0 : i64, bytes = "4*", end = 2 : i64, storage = 0 : i64}]} : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
  return
}
