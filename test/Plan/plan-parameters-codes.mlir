// RUN: heddle-opt %s --model-plan-parameters --split-input-file --verify-diagnostics | FileCheck %s

// Coded weights lie in panels of codes, 32 scales of 2 bytes and 32 * 32 codes of half a byte a group; a table shares the panels of the
// linear that it is tied to, and has panels of its own where no linear reads it. A part has its rows. A matrix of the file's codes that
// something else reads lies there as f32, too.
// CHECK-DAG: [[TIED:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 8 by 32 f16>
// CHECK-DAG: [[IN:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 4 by 32 f16, in_out, part 1 of [1, 2] groups 1>
// CHECK-DAG: [[TABLE:#panels[0-9]*]] = #model.layout<panels 32, f32, coded 4 by 64 bf16 zeros ordered>
// CHECK-DAG: [[WHOLE:#natural[0-9]*]] = #model.layout<natural, f32>
// CHECK-DAG: #model.entry<name = "tied", shape = [50, 64], layout = [[TIED]], offset = 0
// CHECK-DAG: #model.entry<name = "w", shape = [64, 96], layout = [[IN]], offset = 4352
// CHECK-DAG: #model.entry<name = "own", shape = [40, 64], layout = [[TABLE]], offset = 16896
// CHECK-DAG: #model.entry<name = "own", shape = [40, 64], layout = [[WHOLE]], offset = 6656
// CHECK-LABEL: func.func @run
#tied = #model.coded<bits = 8, group = 32, scale = f16, from = "search">
#in = #model.coded<bits = 4, group = 32, scale = f16, in_out = true, from = "search">
#table = #model.coded<bits = 4, group = 64, scale = bf16, zeros = true, ordered = true, from = "gptq">
module attributes {model.dtype = "bf16", model.math = "wide"} {
  func.func @run(%ids: !model.tensor<[B], i64>) -> (!model.tensor<[B, 50], f32>, !model.tensor<[B, 64], f32>, !model.tensor<[B, 64], f32>, !model.tensor<[40, 64], f32>) {
    // CHECK: model.param "tied" {coded = {{.*}}, layout = [[TIED]], offset = 0 : i64
    %t = model.param "tied" {coded = #tied} : !model.tensor<[50, 64], f32>
    // CHECK: model.param "w" {coded = {{.*}}, layout = [[IN]], offset = 4352 : i64
    %w = model.param "w" {coded = #in} : !model.tensor<[64, 96], f32>
    // CHECK-DAG: model.param "own" {coded = {{.*}}, layout = [[TABLE]], offset = 16896 : i64
    // CHECK-DAG: model.param "own" {coded = {{.*}}, layout = [[WHOLE]], offset = 6656 : i64
    %o = model.param "own" {coded = #table} : !model.tensor<[40, 64], f32>
    %x = model.embedding %ids in %t : (!model.tensor<[B], i64>, !model.tensor<[50, 64], f32>) -> !model.tensor<[B, 64], f32>
    %e = model.embedding %ids in %o : (!model.tensor<[B], i64>, !model.tensor<[40, 64], f32>) -> !model.tensor<[B, 64], f32>
    %y = model.linear %x, %t : (!model.tensor<[B, 64], f32>, !model.tensor<[50, 64], f32>) -> !model.tensor<[B, 50], f32>
    %z = model.linear %x, %w in_out parts [1, 2] groups 1 {part = 1 : i64} : (!model.tensor<[B, 64], f32>, !model.tensor<[64, 96], f32>) -> !model.tensor<[B, 64], f32>
    %n = model.unary neg %o : (!model.tensor<[40, 64], f32>) -> !model.tensor<[40, 64], f32>
    return %y, %z, %e, %n : !model.tensor<[B, 50], f32>, !model.tensor<[B, 64], f32>, !model.tensor<[B, 64], f32>, !model.tensor<[40, 64], f32>
  }
}

// -----

func.func @run() -> !model.tensor<[40, 64], f32> {
  %w = model.param "w" {coded = #model.coded<bits = 4, group = 32, scale = f16, from = "search">} : !model.tensor<[40, 64], f32>
  // expected-error @below {{reads "w", which is rounded to codes; linears and embeddings can read these}}
  %n = model.unary neg %w : (!model.tensor<[40, 64], f32>) -> !model.tensor<[40, 64], f32>
  return %n : !model.tensor<[40, 64], f32>
}

// -----

func.func @run(%x: !model.tensor<[B, 64], f32>) -> !model.tensor<[B, 64], f32> {
  %w = model.param "w" {coded = #model.coded<bits = 4, group = 32, scale = f16, from = "search">} : !model.tensor<[64, 64], f32>
  // expected-error @below {{sums over another axis than the groups of the codes of "w"}}
  %y = model.linear %x, %w in_out : (!model.tensor<[B, 64], f32>, !model.tensor<[64, 64], f32>) -> !model.tensor<[B, 64], f32>
  return %y : !model.tensor<[B, 64], f32>
}

// -----

// expected-error @below {{expected 'model.codes' to be "wide" or "dots", got "bf16"}}
module attributes {model.codes = "bf16"} {}

// -----

// expected-error @below {{expected 'model.rows' to be 32 or 128, got 64}}
module attributes {model.rows = 64 : i64} {}
