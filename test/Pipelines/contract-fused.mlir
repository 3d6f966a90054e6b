// Nothing is left that could ride along, and no mask that nobody asks.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

module attributes {heddle.stage = "fused"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    // expected-error @below {{this is not what the stage 'fused' of the file promises: an elementwise op that is no map}}
    %y = model.unary exp %x : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32>
    return %y : !model.tensor<[B], f32>
  }
}

// -----

module attributes {heddle.stage = "fused"} {
  func.func @run(%x: !model.tensor<[B, 12], f32>) -> !model.tensor<[B, 12], f32> {
    %w = model.param "w" : !model.tensor<[12, 12], f32>
    %y = model.linear %x, %w : (!model.tensor<[B, 12], f32>, !model.tensor<[12, 12], f32>) -> !model.tensor<[B, 12], f32>
    // expected-error @below {{promises: a map that its linear could take in}}
    %z = model.map %y : (!model.tensor<[B, 12], f32>) -> !model.tensor<[B, 12], f32> {
    ^bb0(%a: f32):
      %s = arith.addf %a, %a : f32
      model.yield %s : f32
    }
    return %z : !model.tensor<[B, 12], f32>
  }
}

// -----

// Who else reads the linear keeps it from taking the map in.
module attributes {heddle.stage = "fused"} {
  func.func @run(%x: !model.tensor<[B, 12], f32>) -> (!model.tensor<[B, 12], f32>, !model.tensor<[B, 12], f32>) {
    %w = model.param "w" : !model.tensor<[12, 12], f32>
    %y = model.linear %x, %w : (!model.tensor<[B, 12], f32>, !model.tensor<[12, 12], f32>) -> !model.tensor<[B, 12], f32>
    %z = model.map %y : (!model.tensor<[B, 12], f32>) -> !model.tensor<[B, 12], f32> {
    ^bb0(%a: f32):
      %s = arith.addf %a, %a : f32
      model.yield %s : f32
    }
    return %y, %z : !model.tensor<[B, 12], f32>, !model.tensor<[B, 12], f32>
  }
}

// -----

module attributes {heddle.stage = "fused"} {
  func.func @run(%x: !model.tensor<[B, 4], f32>) -> (!model.tensor<[B, 4], f32>, !model.tensor<[B, 8], f32>) {
    %w = model.param "w" : !model.tensor<[12, 4], f32>
    // expected-error @below {{promises: a linear with several results}}
    %y:2 = model.linear %x, %w parts [4, 8] groups 1 : (!model.tensor<[B, 4], f32>, !model.tensor<[12, 4], f32>) -> (!model.tensor<[B, 4], f32>, !model.tensor<[B, 8], f32>)
    return %y#0, %y#1 : !model.tensor<[B, 4], f32>, !model.tensor<[B, 8], f32>
  }
}

// -----

module attributes {heddle.stage = "fused"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    // expected-error @below {{promises: a mask or bias that no attention reads}}
    %m = mask.band below [affine_map<(i) -> (i + 1)>]
    return %x : !model.tensor<[B], f32>
  }
}
