// What the verifiers of the masks refuse, and in which words.
// REQUIRES: heddle-opt
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

func.func @keys_c1(%t: !model.tensor<[B, T, S], i64>) {
  // expected-error @below {{tensor must have rank 1 to 2, but is '!model.tensor<[B, T, S], i64>'}}
  %m = mask.keys %t : !model.tensor<[B, T, S], i64>
  return
}

// -----

func.func @queries_c1(%t: !model.tensor<[], i64>) {
  // expected-error @below {{tensor must have rank 1 to 2}}
  %m = mask.queries %t : !model.tensor<[], i64>
  return
}

// -----

func.func @dense_rank(%t: !model.tensor<[S], i1>) {
  // expected-error @below {{tensor must have rank 2 to 4}}
  %m = mask.dense %t : !model.tensor<[S], i1>
  return
}

// -----

func.func @blocks_size(%t: !model.tensor<[4, 2], i64>) {
  // expected-error @below {{size must be positive, but is 0}}
  %m = mask.blocks 0, %t : !model.tensor<[4, 2], i64>
  return
}

// -----

func.func @blocks_lists(%t: !model.tensor<[4], i64>) {
  // expected-error @below {{lists must have rank 2 to 3}}
  %m = mask.blocks 8, %t : !model.tensor<[4], i64>
  return
}

// -----

func.func @document_rank(%t: !model.tensor<[B, T], i64>, %s: !model.tensor<[B, T, S], i64>) {
  // expected-error @below {{key_ids must have rank 1 to 2}}
  %m = mask.document %t, %s : !model.tensor<[B, T], i64>, !model.tensor<[B, T, S], i64>
  return
}

// -----

func.func @dilated_step() {
  // expected-error @below {{step must be positive, but is 0}}
  %m = mask.dilated 0
  return
}

// -----

func.func @window_c1(%t: !model.tensor<[], i64>) {
  // expected-error @below {{labels must have rank 1 to 2}}
  %m = mask.window left 1 on %t : !model.tensor<[], i64>
  return
}
