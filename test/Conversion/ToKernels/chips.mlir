// RUN: heddle-opt %s --split-input-file --heddle-kernels-by-chip | FileCheck %s

// Two kinds of chips: two forms, one name to launch them by.
module attributes {model.target = #model.target<"cuda", chip = "sm_80+sm_89+sm_90a", lanes = 32, registers = 255>} {
  // CHECK-LABEL: func.func @k_for_sm_80(
  // CHECK-SAME: tile.chips = ["sm_80", "sm_89"], tile.kernel = "k"
  // CHECK: tile.launch %{{.+}} threads 32 {
  // CHECK-NOT: tile.launch
  // CHECK-LABEL: func.func @k_for_sm_90a(
  // CHECK-SAME: tile.chips = ["sm_90a"], tile.kernel = "k"
  // CHECK: tile.launch %{{.+}} threads 64 {
  // CHECK-NOT: tile.launch
  func.func @k(%count: index) attributes {tile.kernel} {
    tile.launch %count threads 32 on ["sm_80", "sm_89"] {
    ^bb0(%tile: index):
      tile.yield
    }
    tile.launch %count threads 64 on ["sm_90a"] {
    ^bb0(%tile: index):
      tile.yield
    }
    return
  }
  // CHECK-LABEL: func.func @all(
  // CHECK-SAME: tile.kernel}
  func.func @all(%count: index) attributes {tile.kernel} {
    tile.launch %count threads 32 {
    ^bb0(%tile: index):
      tile.yield
    }
    return
  }
}

// -----

// One kind: the kernel stays, and loses what none of its chips does.
module attributes {model.target = #model.target<"cuda", chip = "sm_90a", lanes = 32, registers = 255>} {
  // CHECK-LABEL: func.func @k(
  // CHECK-SAME: attributes {tile.kernel}
  // CHECK-NOT: threads 32
  // CHECK: tile.launch %{{.+}} threads 64 {
  func.func @k(%count: index) attributes {tile.kernel} {
    tile.launch %count threads 32 on ["sm_80"] {
    ^bb0(%tile: index):
      tile.yield
    }
    tile.launch %count threads 64 on ["sm_90a"] {
    ^bb0(%tile: index):
      tile.yield
    }
    return
  }
}
