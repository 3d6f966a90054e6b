// RUN: heddle-opt %s --model-plan-memory | FileCheck %s

// A result that only linears of pairs read lies rounded, as they read it: n rows of 96 bf16, where f32 would take twice as much, and the
// linears have no working memory. It is no elementwise result any more, so it is not written over an operand.
#panels = #model.layout<panels 32, bf16>
#target = #model.target<"cpu", chip = "", lanes = 16, registers = 32>
#tiles = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
!x = !model.tensor<[n, 96], f32>
!v = !model.tensor<[96], f32>
!w = !model.tensor<[96, 96], f32>
module attributes {model.dims = {}, model.dtype = "bf16", model.math = "dots", model.target = #target} {
  // CHECK-LABEL: func.func @normed
  // CHECK-SAME: model.arena = "192*n+64"
  func.func @normed(%x: !x, %g: !v) -> (!x, !x) {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !w
    // CHECK: model.rms_norm {{.*}}model.place
    %y = model.rms_norm %x weight %g eps 1.0e-5 offset 0.0 : (!x, !v) -> !x
    // CHECK-NOT: model.scratch
    %a = model.linear %y, %w {model.schedule = #tiles} : (!x, !w) -> !x
    %b = model.linear %y, %w {model.schedule = #tiles} : (!x, !w) -> !x
    return %a, %b : !x, !x
  }

  // An up projection times its gate: the result may not lie over the gate.
  // CHECK-LABEL: func.func @gated
  // CHECK-SAME: model.arena = "768*n+64"
  func.func @gated(%x: !x) -> !x {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !w
    // CHECK: model.linear {{.*}}model.place = [[GATE:[^,]*]], model.schedule = {{[^,]*}}, model.scratch
    %gate = model.linear %x, %w {model.schedule = #tiles} : (!x, !w) -> !x
    // CHECK-NOT: model.place = [[GATE]],
    // CHECK: model.linear {{.*}} with
    %up = model.linear %x, %w with %gate {model.schedule = #tiles} : (!x, !w, !x) -> !x {
    ^bb0(%sum: f32, %g: f32):
      %p = arith.mulf %sum, %g : f32
      model.yield %p : f32
    }
    // CHECK: arith.mulf
    // CHECK-NOT: model.scratch
    %down = model.linear %up, %w {model.schedule = #tiles} : (!x, !w) -> !x
    return %down : !x
  }

  // One that something else reads, too, lies as its type says, and the first of its linears has working memory.
  // CHECK-LABEL: func.func @residual
  func.func @residual(%x: !x, %g: !v) -> !x {
    %w = model.param "w" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !w
    %y = model.rms_norm %x weight %g eps 1.0e-5 offset 0.0 : (!x, !v) -> !x
    // CHECK: model.linear {{.*}}model.scratch
    %a = model.linear %y, %w {model.schedule = #tiles} : (!x, !w) -> !x
    %s = model.binary add %a, %y : (!x, !x) -> !x
    return %s : !x
  }
}
