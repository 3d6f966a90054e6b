// A file that says it is in the stage `model` holds a description, and nothing that later stages make.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

// expected-error @below {{this is not what the stage 'model' of the file promises: it has no function @run}}
module attributes {heddle.stage = "model"} {
  // expected-error @below {{promises: a function other than @run and @head}}
  func.func @step(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
}

// -----

module attributes {heddle.stage = "model"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    // expected-error @below {{promises: 'model.map', which a later stage makes}}
    %y = model.map %x : (!model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    ^bb0(%a: f32):
      model.yield %a : f32
    }
    return %y : !model.tensor<[B], f32>
  }
}

// -----

module attributes {heddle.stage = "model"} {
  // expected-error @below {{promises: an axis of an input is called 'past'}}
  func.func @run(%x: !model.tensor<[B, past], f32>) -> !model.tensor<[B, past], f32> {
    return %x : !model.tensor<[B, past], f32>
  }
}

// -----

// expected-error @below {{there is no stage 'molten'}}
module attributes {heddle.stage = "molten"} {
}

// -----

// Nothing is promised where no stage is named.
module {
}
