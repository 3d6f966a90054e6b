// RUN: heddle-opt %s --heddle-group-weights | FileCheck %s
// RUN: heddle-opt %s --heddle-buffers --heddle-cuda-kernels | heddle-translate --card | FileCheck %s --check-prefix=CARD

// Panels of bf16 that linears of pairs alone read, of whole units of 16 features, lie in groups on a device: "w" (96 features) and both
// layers of "u". The table is read row by row too, and "v" has 20 features.
!t = !model.tensor<[40, 96], f32>
!w = !model.tensor<[48, 96], f32>
!u = !model.tensor<[48, 48], f32>
!v = !model.tensor<[96, 20], f32>
!s = !model.tensor<[20, 48], f32>
#panels = #model.layout<panels 32, bf16>
#target = #model.target<"cuda", chip = "sm_80+sm_90a", lanes = 32, registers = 255>
#tiles = #model.schedule<panel = 32, rows = 8, block = 256, ahead = 64, small = 32768>
#entry = #model.entry<name = "t", shape = [40, 96], layout = #panels, offset = 0, firsts = [], counts = [], strides = []>
#entry1 = #model.entry<name = "w", shape = [48, 96], layout = #panels, offset = 12288, firsts = [], counts = [], strides = []>
#entry2 = #model.entry<name = "u.{0}", shape = [48, 48], layout = #panels, offset = 24576, firsts = [0], counts = [2], strides = [6144]>
#entry3 = #model.entry<name = "v", shape = [96, 20], layout = #panels, offset = 36864, firsts = [], counts = [], strides = []>
#entry4 = #model.entry<name = "s", shape = [20, 48], layout = #panels, offset = 40704, firsts = [], counts = [], strides = []>
// CHECK: tile.regrouped = [#tile.regroup<offset = 12288, depth = 48, panels = 2, width = 32>,
// CHECK-SAME: #tile.regroup<offset = 24576, depth = 24, panels = 2, width = 32>,
// CHECK-SAME: #tile.regroup<offset = 30720, depth = 24, panels = 2, width = 32>,
// CHECK-SAME: #tile.regroup<offset = 40704, depth = 24, panels = 1, width = 32>]
// CARD: device sm_80 sm_90a
// CARD-NEXT: regroup 12288 48 2 32
// CARD-NEXT: regroup 24576 24 2 32
// CARD-NEXT: regroup 30720 24 2 32
// CARD-NEXT: regroup 40704 24 1 32
// CARD: shared 98328 on sm_90a
module attributes {heddle.stage = "tiled", model.blob = [#entry, #entry1, #entry2, #entry3, #entry4], model.blob_bytes = 43776 : i64, model.dims = {}, model.dtype = "bf16", model.math = "dots", model.name = "small", model.target = #target, model.weights = ["none"]} {
  func.func @run(%id: !model.tensor<[n], i64> {model.name = "id"}) -> (!model.tensor<[n, 40], f32> {model.name = "z"}) {
    // CHECK: model.param "t" {layout
    // CHECK-NOT: tile.groups
    %t = model.param "t" {layout = #panels, offset = 0 : i64, strides = array<i64>} : !t
    %e = model.embedding %id in %t : (!model.tensor<[n], i64>, !t) -> !model.tensor<[n, 96], f32>
    // CHECK: model.param "w" {{{.*}}tile.groups
    %w = model.param "w" {layout = #panels, offset = 12288 : i64, strides = array<i64>} : !w
    %a = model.linear %e, %w {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !w) -> !model.tensor<[n, 48], f32>
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    // CHECK: model.param "u.{0}"[%{{.+}}] {{{.*}}tile.groups
    %u = model.param "u.{0}"[%zero] {layout = #panels, offset = 24576 : i64, strides = array<i64: 6144>} : !u
    %b = model.linear %a, %u {model.schedule = #tiles} : (!model.tensor<[n, 48], f32>, !u) -> !model.tensor<[n, 48], f32>
    // CHECK: model.param "s" {{{.*}}tile.groups
    %s = model.param "s" {layout = #panels, offset = 40704 : i64, strides = array<i64>} : !s
    %c = model.linear %b, %s {model.schedule = #tiles} : (!model.tensor<[n, 48], f32>, !s) -> !model.tensor<[n, 20], f32>
    // CHECK: model.param "v" {layout
    // CHECK-NOT: tile.groups
    %v = model.param "v" {layout = #panels, offset = 36864 : i64, strides = array<i64>} : !v
    %d = model.linear %c, %v {model.schedule = #tiles} : (!model.tensor<[n, 20], f32>, !v) -> !model.tensor<[n, 96], f32>
    %z = model.linear %d, %t {model.schedule = #tiles} : (!model.tensor<[n, 96], f32>, !t) -> !model.tensor<[n, 40], f32>
    return %z : !model.tensor<[n, 40], f32>
  }
}
