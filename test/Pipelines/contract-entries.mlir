// Who owns, writes and reads a state; a model that generates has a step or a reason.
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

// expected-error @below {{promises: it generates, has no @step and does not say why}}
module attributes {heddle.stage = "entries", model.generate = {tokens = "x", logits = "y"}} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
}

// -----

module attributes {heddle.stage = "entries"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
  // expected-error @below {{promises: a state of @once has no name (model.state)}}
  func.func @once(%s: !model.state<[B], f32>) {
    return
  }
}

// -----

module attributes {heddle.stage = "entries"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
  // expected-error @below {{promises: state 's' is never written}}
  func.func @step(%s: !model.state<[B], f32> {model.state = "s"}) {
    return
  }
}

// -----

module attributes {heddle.stage = "entries"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
  func.func @once(%x: !model.tensor<[B], f32>, %s: !model.state<[B], f32> {model.state = "s"}) {
    model.store %x in %s : !model.tensor<[B], f32>, !model.state<[B], f32>
    return
  }
  // expected-error @below {{promises: state 's' has two types}}
  func.func @step(%s: !model.state<[B, 1], f32> {model.state = "s"}) {
    return
  }
}

// -----

module attributes {heddle.stage = "entries"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
  func.func @once(%x: !model.tensor<[B], f32>, %s: !model.state<[B], f32> {model.state = "s"}) {
    model.store %x in %s : !model.tensor<[B], f32>, !model.state<[B], f32>
    // expected-error @below {{promises: state 's' has two writers}}
    model.store %x in %s : !model.tensor<[B], f32>, !model.state<[B], f32>
    return
  }
}

// -----

module attributes {heddle.stage = "entries"} {
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
  func.func @step(%x: !model.tensor<[B, new, 4], f32>, %s: !model.state<[B, room, 4], f32> {model.state = "s"}) {
    // expected-error @below {{promises: rows are appended along an axis without capacity}}
    %a = model.append %s, %x axis 1 : !model.state<[B, room, 4], f32>, !model.tensor<[B, new, 4], f32> -> !model.tensor<[B, "past+new", 4], f32>
    return
  }
}
