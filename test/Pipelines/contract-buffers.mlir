// The memory that the stage `buffers` promises: nothing is lost before its last reader. Each clause, broken. (Places that lie outside of
// memory, or are missing: test/Conversion/Lowering/plan-check.mlir.)
// RUN: heddle-opt %s --heddle-check-stage --split-input-file --verify-diagnostics

module attributes {heddle.stage = "buffers"} {
  // expected-error @below {{this is not what the stage 'buffers' of the file promises: has an arena of unknown size}}
  func.func @run(%x: !model.tensor<[B], f32>) -> !model.tensor<[B], f32> {
    return %x : !model.tensor<[B], f32>
  }
}

// -----

// What `tiled` promises holds on.
module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T, 4], f32>, %w: !model.tensor<[4, 4], f32>) attributes {model.arena = "64*T"} {
    // expected-error @below {{promises: has no tiles}}
    %y = model.matmul %x, %w {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
    return
  }
}

// -----

// %a is asked for again when %b lies in its place.
module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
    %a = model.cumsum %x axis 0 {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
    %b = model.cumsum %x axis 0 {model.place = [#model.place<arena, "2*T">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
    // expected-error @below {{promises: needs a value in the place where 'model.cumsum' has written meanwhile}}
    %c = model.cumsum %a axis 0 {model.place = [#model.place<arena, "32*T">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
    return {model.copies = array<i1>}
  }
}

// -----

// A sum along an axis reads other elements than the one it writes; a map does not.
module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
    %a = model.cumsum %x axis 0 {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
    %b = model.map %a {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
    ^bb0(%e: f32):
      %n = arith.negf %e : f32
      model.yield %n : f32
    }
    // expected-error @below {{promises: writes over an operand that it still reads}}
    %c = model.cumsum %b axis 0 {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
    return {model.copies = array<i1>}
  }
}

// -----

module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T, 4], f32>, %w: !model.tensor<[4, 4], f32>) attributes {model.arena = "1024*T+1024"} {
    // expected-error @below {{promises: has results, or working memory, that lie in one another}}
    %y = model.linear %x, %w {model.place = [#model.place<arena, "64">], model.scratch = #model.place<arena, "0">, model.schedule = #model.schedule<panel = 32, rows = 8, block = 256>} : (!model.tensor<[T, 4], f32>, !model.tensor<[4, 4], f32>) -> !model.tensor<[T, 4], f32>
    return {model.copies = array<i1>}
  }
}

// -----

// The first value of the repeat is said to lie in its place.
module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
    // expected-error @below {{promises: takes a value to lie in its place already, but it does not, and no copy is planned}}
    %y = model.repeat 3 iter(%x) {model.place = [#model.place<arena, "0">], model.copy_in = array<i1: false>, model.copy_back = array<i1: false>} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
    ^bb0(%i: index, %z: !model.tensor<[T], f32>):
      model.yield %z : !model.tensor<[T], f32>
    }
    return {model.copies = array<i1>}
  }
}

// -----

// The second iteration needs what the first has written over.
module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T], f32>) attributes {model.arena = "64*T"} {
    %a = model.cumsum %x axis 0 {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
    %y = model.repeat 3 iter(%x) {model.place = [#model.place<arena, "16*T">], model.copy_in = array<i1: true>, model.copy_back = array<i1: true>} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
    ^bb0(%i: index, %z: !model.tensor<[T], f32>):
      // expected-error @below {{promises: needs a value in the place where 'model.cumsum' has written meanwhile}}
      %b = model.map %z, %a {model.place = [#model.place<arena, "32*T">]} : (!model.tensor<[T], f32>, !model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
      ^bb0(%e: f32, %f: f32):
        %n = arith.addf %e, %f : f32
        model.yield %n : f32
      }
      %c = model.cumsum %b axis 0 {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
      model.yield %c : !model.tensor<[T], f32>
    }
    return {model.copies = array<i1>}
  }
}

// -----

module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T], f32>) -> !model.tensor<[T], f32> attributes {model.arena = "64*T"} {
    %a = model.cumsum %x axis 0 {model.place = [#model.place<arena, "0">]} : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32>
    // expected-error @below {{promises: takes a value to lie in its place already, but it does not, and no copy is planned}}
    return {model.copies = array<i1: false>} %a : !model.tensor<[T], f32>
  }
}

// -----

module attributes {heddle.stage = "buffers"} {
  func.func @run(%x: !model.tensor<[T], f32>) -> !model.tensor<[T], f32> attributes {model.arena = "64*T"} {
    // expected-error @below {{promises: does not say which results are copied; the pass model-plan-memory does}}
    return %x : !model.tensor<[T], f32>
  }
}

// -----

// How many rows are live is read by each thread when it comes there: that place stays as it is, though no op names it.
module attributes {heddle.stage = "buffers"} {
  func.func @run(%a: !model.tensor<[B, T], i64>, %x: !model.tensor<[B, T], f32>) attributes {model.arena = "64*B*T+128"} {
    %l = model.live_rows %a as "live" {model.place = [#model.place<arena, "64">], model.scratch = #model.place<arena, "0">} : (!model.tensor<[B, T], i64>) -> !model.tensor<[live], i64>
    %b = model.cumsum %x axis 1 {model.place = [#model.place<arena, "8*B*T+64">]} : (!model.tensor<[B, T], f32>) -> !model.tensor<[B, T], f32>
    // expected-error @below {{promises: writes into the working memory of 'model.live_rows', which is read to the end of the function}}
    %c = model.cumsum %x axis 1 {model.place = [#model.place<arena, "60">]} : (!model.tensor<[B, T], f32>) -> !model.tensor<[B, T], f32>
    return {model.copies = array<i1>}
  }
}

// -----

// What lay there before is gone by then, and nobody asks for it.
module attributes {heddle.stage = "buffers"} {
  func.func @run(%a: !model.tensor<[B, T], i64>, %x: !model.tensor<[B, T], f32>) attributes {model.arena = "64*B*T+128"} {
    %b = model.cumsum %x axis 1 {model.place = [#model.place<arena, "0">]} : (!model.tensor<[B, T], f32>) -> !model.tensor<[B, T], f32>
    %l = model.live_rows %a as "live" {model.place = [#model.place<arena, "64">], model.scratch = #model.place<arena, "0">} : (!model.tensor<[B, T], i64>) -> !model.tensor<[live], i64>
    return {model.copies = array<i1>}
  }
}
