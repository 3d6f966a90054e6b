// RUN: heddle-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected a size form}}
func.func @axis_c1(%x: !model.tensor<["T+T*2//1x"], f32>) { return }

// -----

// expected-error @below {{expected elements of f32, i64 or i1, got }}
func.func @element_c1(%x: !model.tensor<[T], f64>) { return }

// -----

func.func @param_c1(%i: index) {
  // expected-error @below {{index 0 does not occur in the name}}
  %w = model.param "wte"[%i] : !model.tensor<[4], f32>
  return
}

// -----

func.func @param_c1_place() {
  // expected-error @below {{has more places than indices}}
  %w = model.param "h.{0}.w" : !model.tensor<[4], f32>
  return
}

// -----

func.func @constant_c1() {
  // expected-error @below {{value has rank 1, the result 0}}
  %c = model.constant dense<0.5> : tensor<2xf64> : !model.tensor<[], f32>
  return
}

// -----

func.func @constant_c1_type() {
  // expected-error @below {{cannot hold 'i64' as 'i1'}}
  %c = model.constant dense<1> : tensor<i64> : !model.tensor<[], i1>
  return
}

// -----

func.func @binary_c1(%x: !model.tensor<[T], f32>, %n: !model.tensor<[T], i64>) {
  // expected-error @below {{operands have element types 'f32' and 'i64'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.binary add %x, %n : (!model.tensor<[T], f32>, !model.tensor<[T], i64>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @binary_c2(%x: !model.tensor<[B, T, 8], f32>, %y: !model.tensor<[B, S, 8], f32>) {
  // expected-error @below {{shapes do not broadcast: S against T}}
  // expected-error @below {{failed to infer returned types}}
  %z = model.binary add %x, %y : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, S, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @linear_c1(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 7], f32>) {
  // expected-error @below {{weight is [12, 7] (out_in), the operand has 8 features}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.linear %x, %w : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 7], f32>) -> !model.tensor<[T, 12], f32>
  return
}

// -----

func.func @linear_c2(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>, %b: !model.tensor<[11], f32>) {
  // expected-error @below {{bias should be [12], is [11]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.linear %x, %w bias %b : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>, !model.tensor<[11], f32>) -> !model.tensor<[T, 12], f32>
  return
}

// -----

func.func @linear_c3(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>) {
  // expected-error @below {{12 features do not split into 5 groups of 2 units}}
  // expected-error @below {{failed to infer returned types}}
  %y, %z = model.linear %x, %w parts [1, 1] groups 5 : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>) -> (!model.tensor<[T, 6], f32>, !model.tensor<[T, 6], f32>)
  return
}

// -----

func.func @linear_c5(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 2, 3], f32>) {
  // expected-error @below {{a filter is [m, c, k...] in numbers with c * k... the 8 features of the operand, but the weight is [12, 2, 3]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.linear %x, %w filter : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 2, 3], f32>) -> !model.tensor<[T, 12], f32>
  return
}

// -----

func.func @linear_c5_matrix(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>) {
  // expected-error @below {{but the weight is [12, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.linear %x, %w filter : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>) -> !model.tensor<[T, 12], f32>
  return
}

// -----

func.func @windows_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{take a size, a stride and a dilation, 1 or more, for each axis between the first and the last}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.windows %x size [3] stride [0] dilation [1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, "T-2", 24], f32>
  return
}

// -----

func.func @windows_c1_axes(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{take a size, a stride and a dilation, 1 or more, for each axis between the first and the last}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.windows %x size [3, 3] stride [1, 1] dilation [1, 1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, "T-2", 24], f32>
  return
}

// -----

func.func @windows_c2(%x: !model.tensor<[B, 4, 8], f32>) {
  // expected-error @below {{an axis of 4 is shorter than a window of 5}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.windows %x size [3] stride [1] dilation [2] : (!model.tensor<[B, 4, 8], f32>) -> !model.tensor<[B, 1, 24], f32>
  return
}

// -----

func.func @windows_c2_channels(%x: !model.tensor<[B, 4, C], f32>) {
  // expected-error @below {{the channels of [B, 4, C] must be a number}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.windows %x size [3] stride [1] dilation [1] : (!model.tensor<[B, 4, C], f32>) -> !model.tensor<[B, 2, "3*C"], f32>
  return
}

// -----

func.func @rearrange_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{the two sides of the pattern name different axes}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rearrange %x "b t d -> b t" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T], f32>
  return
}

// -----

func.func @rearrange_c2(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{two lengths of axis 2 are unknown}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rearrange %x "b t (h d) -> b h t d" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 2, T, 4], f32>
  return
}

// -----

func.func @repeat_c1(%x: !model.tensor<[T], f32>) {
  // expected-error @below {{carried value 0 must keep its type}}
  %y = model.repeat 2 iter(%x) : (!model.tensor<[T], f32>) -> (!model.tensor<[T], f32>) {
  ^bb0(%i: index, %a: !model.tensor<[T], f32>):
    %s = model.size "T" : <[], i64>
    model.yield %s : !model.tensor<[], i64>
  }
  return
}

// -----

func.func @live_rows_c1(%m: !model.tensor<[T], i64>) {
  // expected-error @below {{a mask of rows has rank 2, found [T]}}
  // expected-error @below {{failed to infer returned types}}
  %r = model.live_rows %m as "live" : (!model.tensor<[T], i64>) -> !model.tensor<[live], i64>
  return
}

// -----

func.func @live_rows_c2_name(%m: !model.tensor<[B, T], i64>) {
  // expected-error @below {{'2*n' is no name for a dim}}
  // expected-error @below {{failed to infer returned types}}
  %r = model.live_rows %m as "2*n" : (!model.tensor<[B, T], i64>) -> !model.tensor<["2*n"], i64>
  return
}

// -----

func.func @live_rows_c2_own(%m: !model.tensor<[B, T], i64>) {
  // expected-error @below {{dim 'T' is already a dim of the mask}}
  %r = model.live_rows %m as "T" : (!model.tensor<[B, T], i64>) -> !model.tensor<[T], i64>
  return
}

// -----

func.func @live_rows_c3(%m: !model.tensor<[B, T], i64>) {
  model.repeat 2 : () -> () {
  ^bb0(%i: index):
    // expected-error @below {{cannot be in a repeat: its dim has one value a call}}
    %r = model.live_rows %m as "live" : (!model.tensor<[B, T], i64>) -> !model.tensor<[live], i64>
    model.yield
  }
  return
}

// -----

func.func @pack_rows_c1(%x: !model.tensor<[B], f32>, %r: !model.tensor<[n], i64>) {
  // expected-error @below {{cannot take the rows [n] of [B]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.pack_rows %x at %r : (!model.tensor<[B], f32>, !model.tensor<[n], i64>) -> !model.tensor<[1, n], f32>
  return
}

// -----

func.func @unpack_rows_c1(%x: !model.tensor<[1, n, 8], f32>, %r: !model.tensor<[n], i64>) {
  // expected-error @below {{cannot put '!model.tensor<[1, n, 8], f32>' at the rows '!model.tensor<[n], i64>' of '!model.tensor<[B, T, 9], f32>'}}
  %y = model.unpack_rows %x at %r : (!model.tensor<[1, n, 8], f32>, !model.tensor<[n], i64>) -> !model.tensor<[B, T, 9], f32>
  return
}

// -----

func.func @linear_c4(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>) {
  // expected-error @below {{an epilogue is only possible where there is one result}}
  %y, %z = "model.linear"(%x, %w) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, parts = array<i64: 1, 1>}> ({
  ^bb0(%a: f32):
    "model.yield"(%a) : (f32) -> ()
  }) : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>) -> (!model.tensor<[T, 6], f32>, !model.tensor<[T, 6], f32>)
  return
}

// -----

func.func @default_c1(%x: !model.tensor<[B, T], i64>) {
  %n = model.unary neg %x : (!model.tensor<[B, T], i64>) -> !model.tensor<[B, T], i64>
  // expected-error @below {{stands for an argument of the function}}
  %m = model.default %n : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
    model.yield %one : !model.tensor<[], i64>
  }
  return
}

// -----

func.func @default_c1_type(%x: !model.tensor<[B, T], i64> {model.default}) {
  // expected-error @below {{keeps the type of its input, '!model.tensor<[B, T], i64>', but gives '!model.tensor<[B], i64>'}}
  %m = model.default %x : !model.tensor<[B, T], i64> -> !model.tensor<[B], i64> {
    %one = model.constant dense<1> : tensor<i64> : !model.tensor<[], i64>
    model.yield %one : !model.tensor<[], i64>
  }
  return
}

// -----

func.func @default_c2(%x: !model.tensor<[B, T], i64> {model.default}) {
  // expected-error @below {{yields one tensor of 'i64'}}
  %m = model.default %x : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    %one = model.constant dense<1.0> : tensor<f32> : !model.tensor<[], f32>
    model.yield %one : !model.tensor<[], f32>
  }
  return
}

// -----

func.func @default_c2_none(%x: !model.tensor<[B, T], i64> {model.default}) {
  // expected-error @below {{yields one tensor of 'i64'}}
  %m = model.default %x : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], i64> {
    model.yield
  }
  return
}

// -----

func.func @default_c2_shape(%z: !model.tensor<[B, 4], i64> {model.default}) {
  // expected-error @below {{cannot stretch '!model.tensor<[3], i64>' to '!model.tensor<[B, 4], i64>'}}
  %m = model.default %z : !model.tensor<[B, 4], i64> -> !model.tensor<[B, 4], i64> {
    %three = model.constant dense<1> : tensor<3xi64> : !model.tensor<[3], i64>
    model.yield %three : !model.tensor<[3], i64>
  }
  return
}

// -----

func.func @append_c1(%state: !model.state<[slots, capacity, 8], f32>, %x: !model.tensor<[B, new, 8], f32>, %s: !model.tensor<[B], i64>) {
  // expected-error @below {{expected slots and starts, or neither, got one of them}}
  %r = model.append %state, %x slots %s : !model.tensor<[B], i64> axis 1 : !model.state<[slots, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "past+new", 8], f32>
  return
}

// -----

func.func @append_c1_shape(%state: !model.state<[slots, capacity, 8], f32>, %x: !model.tensor<[B, new, 8], f32>, %s: !model.tensor<[new], i64>) {
  // expected-error @below {{expected slots and starts of one number for each row of the batch, got }}
  %r = model.append %state, %x slots %s : !model.tensor<[new], i64> starts %s : !model.tensor<[new], i64> axis 1 : !model.state<[slots, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "past+new", 8], f32>
  return
}

// -----

func.func @append_c2(%state: !model.state<[B, capacity, 8], f32>, %x: !model.tensor<[B, new, 8], f32>) {
  // expected-error @below {{axis 9223372036854775807 does not exist in rows of rank 3}}
  %r = model.append %state, %x axis 9223372036854775807 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "past+new", 8], f32>
  return
}

// -----

func.func @append_c2_negative(%state: !model.state<[B, capacity, 8], f32>, %x: !model.tensor<[B, new, 8], f32>) {
  // expected-error @below {{axis -1 does not exist in rows of rank 3}}
  %r = model.append %state, %x axis -1 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "past+new", 8], f32>
  return
}

// -----

func.func @append_c2_result(%state: !model.state<[B, capacity, 8], f32>, %x: !model.tensor<[B, new, 8], f32>) {
  // expected-error @below {{gives rows of rank 2 for rows of rank 3}}
  %r = model.append %state, %x axis 1 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "past+new"], f32>
  return
}

// -----

func.func @append_c3(%state: !model.state<[B, capacity], f32>, %x: !model.tensor<[B, new, 8], f32>) {
  // expected-error @below {{writes rows of rank 3 with 0 indices into '!model.state<[B, capacity], f32>'}}
  %r = model.append %state, %x axis 1 : !model.state<[B, capacity], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "past+new", 8], f32>
  return
}

// -----

// expected-error @below {{the tensor has 17 axes, and a tensor has at most 16}}
func.func @rank(%x: !model.tensor<[B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B], f32>) { return }

// -----

// expected-error @below {{the tensor has more than 2^42 bytes where every length is 1, and a tensor has at most so many}}
func.func @bytes(%x: !model.tensor<[B, 1099511627777], f32>) { return }

// -----

// expected-error @below {{the tensor has a length that does not fit in 64 bits}}
func.func @length(%x: !model.tensor<["9223372036854775807*T+2*T*4611686018427387904"], f32>) { return }

// -----

func.func @doubled(%x: !model.tensor<[T, 549755813888], f32>) {
  // expected-error @below {{has more than 2^42 bytes where every length is 1}}
  %y = model.concat %x, %x, %x axis 1 : (!model.tensor<[T, 549755813888], f32>, !model.tensor<[T, 549755813888], f32>, !model.tensor<[T, 549755813888], f32>) -> !model.tensor<[T, 1649267441664], f32>
  return
}

// -----

func.func @windows_c2_reach(%x: !model.tensor<[B, T, 4], f32>) {
  // expected-error @below {{an axis of T is shorter than a window of ?}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.windows %x size [9223372036854775807] stride [1] dilation [9223372036854775807] : (!model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 4], f32>
  return
}

// -----

func.func @linear_c6_results(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>) {
  // expected-error @below {{of one part has one result}}
  %y, %z = model.linear %x, %w parts [1, 2] groups 1 {part = 0 : i64} : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>) -> (!model.tensor<[T, 4], f32>, !model.tensor<[T, 8], f32>)
  return
}

// -----

func.func @repeat_c2(%x: !model.tensor<[T], f32>) {
  // expected-error @below {{expected a body that takes the index and 1 carried values}}
  %y = model.repeat 2 iter(%x) : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
  ^bb0(%i: index):
    model.yield %x : !model.tensor<[T], f32>
  }
  return
}

// -----

func.func @repeat_c2_yield(%x: !model.tensor<[T], f32>) {
  // expected-error @below {{expected 1 values from model.yield}}
  %y = model.repeat 2 iter(%x) : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
  ^bb0(%i: index, %z: !model.tensor<[T], f32>):
    model.yield
  }
  return
}

// -----

func.func @repeat_c3(%x: !model.tensor<[T], f32>) {
  // expected-error @below {{collected value 0 should be '!model.tensor<[2, T], f32>'}}
  %y = model.repeat 2 : () -> !model.tensor<[T], f32> {
  ^bb0(%i: index):
    model.yield %x : !model.tensor<[T], f32>
  }
  return
}

// -----

func.func @yield_c1(%x: !model.tensor<[T], f32>) {
  scf.execute_region {
    // expected-error @below {{'model.yield' op expects parent op to be one of 'model.repeat, model.default, model.map, model.linear'}}
    model.yield
  }
  return
}

// -----

func.func @load_c1(%s: !model.state<[3, B, 8], f32> {model.state = "sums"}) {
  // expected-error @below {{expected a state of rank 2, got '!model.state<[3, B, 8], f32>'}}
  %y = model.load %s : !model.state<[3, B, 8], f32> -> !model.tensor<[B, 8], f32>
  return
}

// -----

func.func @load_c1_state(%x: !model.tensor<[B, 8], f32>) {
  // expected-error @below {{expected a state of rank 2, got '!model.tensor<[B, 8], f32>'}}
  %y = model.load %x : !model.tensor<[B, 8], f32> -> !model.tensor<[B, 8], f32>
  return
}

// -----

func.func @store_c1(%s: !model.state<[B, 8], f32> {model.state = "sums"}, %x: !model.tensor<[B, 8], f32>, %i: index) {
  // expected-error @below {{expected a state of rank 3, got '!model.state<[B, 8], f32>'}}
  model.store %x in %s[%i] : !model.tensor<[B, 8], f32>, !model.state<[B, 8], f32>
  return
}

// -----

func.func @map_c1(%x: !model.tensor<[B, T], f32>) {
  // expected-error @below {{expected operands that stretch to '!model.tensor<[T], f32>', got '!model.tensor<[B, T], f32>'}}
  %y = model.map %x : (!model.tensor<[B, T], f32>) -> !model.tensor<[T], f32> {
  ^bb0(%a: f32):
    model.yield %a : f32
  }
  return
}

// -----

func.func @map_c2(%x: !model.tensor<[T], f32>) {
  // expected-error @below {{expected a body that takes a scalar of each operand and yields one of 'f32'}}
  %y = model.map %x : (!model.tensor<[T], f32>) -> !model.tensor<[T], f32> {
  ^bb0(%a: i64):
    %b = arith.sitofp %a : i64 to f32
    model.yield %b : f32
  }
  return
}

// -----

func.func @map_c2_result(%x: !model.tensor<[T], f32>) {
  // expected-error @below {{expected a body that takes a scalar of each operand and yields one of 'i64'}}
  %y = model.map %x : (!model.tensor<[T], f32>) -> !model.tensor<[T], i64> {
  ^bb0(%a: f32):
    model.yield %a : f32
  }
  return
}

// -----

func.func @function_c1(%x: f32) {
  // expected-error @below {{failed to verify that all of {operand, result} have same type}}
  %y = model.function abs %x : f32 -> i64
  return
}
