// RUN: heddle-opt %s --model-plan-memory | FileCheck %s

// Linears of pairs that read the same rows have one working memory, where the first leaves them rounded, to the last of these; a weight
// that is packed at run time needs more, so that linear has its own.
#panels = #model.layout<panels 32, bf16>
#target = #model.target<"cuda", chip = "sm_80", lanes = 32, registers = 255>
#tiles = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
module attributes {model.dims = {}, model.dtype = "bf16", model.math = "dots", model.target = #target} {
  // CHECK-LABEL: func.func @run
  func.func @run(%x: !model.tensor<[n, 96], f32>, %v: !model.tensor<[48, 96], f32>) -> (!model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>) {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !model.tensor<[48, 96], f32>
    %u = model.param "u" {layout = #panels, offset = 12288 : i64, strides = array<i64>} : !model.tensor<[48, 48], f32>
    // CHECK: model.linear {{.*}}model.scratch = [[ROWS:#[a-z0-9]+]]}
    %a = model.linear %x, %w {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    // Its rows are others.
    // CHECK-NOT: model.scratch = [[ROWS]]}
    // CHECK: model.linear {{.*}}model.scratch
    %b = model.linear %a, %u {model.schedule = #tiles} : (!model.tensor<[n, 48], f32>, !model.tensor<[48, 48], f32>) -> !model.tensor<[n, 48], f32>
    // CHECK: model.linear {{.*}}model.scratch = [[ROWS]]}
    %c = model.linear %x, %w {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    // CHECK-NOT: model.scratch = [[ROWS]]}
    // CHECK: model.linear {{.*}}model.scratch
    %d = model.linear %x, %v {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    // CHECK: model.linear {{.*}}model.scratch = [[ROWS]]}
    %e = model.linear %x, %w {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    return %a, %b, %c, %d, %e : !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>
  }

  // A norm leaves its rows rounded to all linears that read them; what else reads it reads its result.
  // CHECK-LABEL: func.func @normed
  func.func @normed(%x: !model.tensor<[n, 96], f32>, %g: !model.tensor<[96], f32>) -> (!model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 96], f32>) {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !model.tensor<[48, 96], f32>
    // CHECK: model.rms_norm {{.*}}model.scratch = [[NORM:#[a-z0-9]+]]}
    %y = model.rms_norm %x weight %g eps 1.0e-5 offset 0.0 : (!model.tensor<[n, 96], f32>, !model.tensor<[96], f32>) -> !model.tensor<[n, 96], f32>
    // CHECK: model.linear {{.*}}model.scratch = [[NORM]]}
    %a = model.linear %y, %w {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    // CHECK: model.linear {{.*}}model.scratch = [[NORM]]}
    %b = model.linear %y, %w {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !model.tensor<[48, 96], f32>) -> !model.tensor<[n, 48], f32>
    return %a, %b, %y : !model.tensor<[n, 48], f32>, !model.tensor<[n, 48], f32>, !model.tensor<[n, 96], f32>
  }
}
