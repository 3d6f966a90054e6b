// What the stages `tiled` and `buffers` plan is there.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

module attributes {heddle.stage = "tiled"} {
  func.func @run(%x: !model.tensor<[B, 4], f32>) -> !model.tensor<[4], f32> {
    // expected-error @below {{this is not what the stage 'tiled' of the file promises: a parameter without a place in the blob}}
    %w = model.param "w" : !model.tensor<[4], f32>
    return %w : !model.tensor<[4], f32>
  }
}

// -----

module attributes {heddle.stage = "buffers"} {
  // expected-error @below {{promises: a function whose arena is not known}}
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
}
