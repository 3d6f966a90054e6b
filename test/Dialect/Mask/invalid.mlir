// What the verifiers of the masks refuse, and in which words.
// REQUIRES: heddle-opt
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

func.func @keys_c1(%t: !model.tensor<[B, T, S], i64>) {
  // expected-error @below {{tensor must have rank 1 to 2, got '!model.tensor<[B, T, S], i64>'}}
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

func.func @dense_c1(%t: !model.tensor<[S], i1>) {
  // expected-error @below {{tensor must have rank 2 to 4}}
  %m = mask.dense %t : !model.tensor<[S], i1>
  return
}

// -----

func.func @blocks_c1(%t: !model.tensor<[4, 2], i64>) {
  // expected-error @below {{expected a positive size, got 0}}
  %m = mask.blocks 0, %t : !model.tensor<[4, 2], i64>
  return
}

// -----

func.func @blocks_c2(%t: !model.tensor<[4], i64>) {
  // expected-error @below {{lists must have rank 2 to 3}}
  %m = mask.blocks 8, %t : !model.tensor<[4], i64>
  return
}

// -----

func.func @document_c1(%t: !model.tensor<[B, T], i64>, %s: !model.tensor<[B, T, S], i64>) {
  // expected-error @below {{key_ids must have rank 1 to 2}}
  %m = mask.document %t, %s : !model.tensor<[B, T], i64>, !model.tensor<[B, T, S], i64>
  return
}

// -----

func.func @dilated_c1() {
  // expected-error @below {{expected a positive step, got 0}}
  %m = mask.dilated 0
  return
}

// -----

func.func @window_c1(%t: !model.tensor<[], i64>) {
  // expected-error @below {{labels must have rank 1 to 2}}
  %m = mask.window left 1 on %t : !model.tensor<[], i64>
  return
}

// -----

func.func @band_c1() {
  // expected-error @below {{maps need 1 dimension, 0 symbols and a result, but one is affine_map<()[s0] -> (s0)>}}
  %m = mask.band below [affine_map<()[n] -> (n)>]
  return
}

// -----

func.func @band_c2() {
  // expected-error @below {{bound '-d0' is not a position, a chunk's first position, a value or nothing, plus a constant}}
  %m = mask.band below [affine_map<(i) -> (-i)>]
  return
}

// -----

func.func @band_c3(%t: !model.tensor<[B, T], i64>) {
  // expected-error @below {{expected bounds of rank 0 or 1, got '!model.tensor<[B, T], i64>'}}
  %m = mask.band below [affine_map<(i)[n] -> (n)>] of %t : !model.tensor<[B, T], i64>
  return
}

// -----

func.func @band_c3_sides() {
  // expected-error @below {{expected a side `from`, `below` or both, got none}}
  %m = mask.band
  return
}

// -----

func.func @keys_c2(%t: !model.tensor<[B, S], i64>, %x: !model.tensor<[B, S], i64>) {
  // expected-error @below {{expected the table '!model.tensor<[B, "(S+15)//16+2"], i64>', got '!model.tensor<[B, S], i64>'}}
  %m = mask.keys %t : !model.tensor<[B, S], i64> table %x : !model.tensor<[B, S], i64>
  return
}

// -----

func.func @queries_c2(%t: !model.tensor<[B, T], i64>, %x: !model.tensor<[B, T], i64>) {
  // expected-error @below {{expected the table '!model.tensor<[B, "T+1"], i64>'}}
  %m = mask.queries %t : !model.tensor<[B, T], i64> table %x : !model.tensor<[B, T], i64>
  return
}

// -----

func.func @document_c2(%t: !model.tensor<[B, T], i64>) {
  // expected-error @below {{expected the table}}
  %m = mask.document %t, %t : !model.tensor<[B, T], i64>, !model.tensor<[B, T], i64> table %t : !model.tensor<[B, T], i64>
  return
}

// -----

func.func @window_c2(%t: !model.tensor<[B, T], i64>) {
  // expected-error @below {{expected the table}}
  %m = mask.window left 1 on %t : !model.tensor<[B, T], i64> table %t : !model.tensor<[B, T], i64>
  return
}

// -----

func.func @window_c3(%t: !model.tensor<[B, T], i64>) {
  // expected-error @below {{a table is of labels}}
  %m = mask.window left 1 table %t : !model.tensor<[B, T], i64>
  return
}

// -----

func.func @label_table_c1(%t: !model.tensor<[B, T], f32>) {
  // expected-error @below {{labels are integers of rank 1 to 2}}
  %m = mask.label_table %t, %t : !model.tensor<[B, T], f32>, !model.tensor<[B, T], f32>
  return
}

// -----

func.func @band_c2_chunk() {
  // expected-error @below {{bound '(d0 floordiv 3) * 4' is not a position}}
  %m = mask.band below [affine_map<(i) -> (i floordiv 3 * 4)>]
  return
}

// -----

func.func @chunk_c1() {
  // expected-error @below {{expected a positive size, got 0}}
  %m = mask.chunk 0
  return
}

// -----

func.func @grid_c1() {
  // expected-error @below {{width must be positive and below 2**30, but is 0}}
  %m = mask.grid width 0 rows 1 columns 1
  return
}

// -----

func.func @grid_c1_columns() {
  // expected-error @below {{columns must be 0 or more and below 2**30, but is -1}}
  %m = mask.grid width 4 rows 1 columns -1
  return
}

// -----

func.func @grid_window_c1() {
  // expected-error @below {{rows must be positive and below 2**30, but is 0}}
  %m = mask.grid_window width 4 rows 0 columns 1
  return
}

// -----

func.func @grid_window_c1_shift() {
  // expected-error @below {{shift must be 0 or more and below 2**30, but is 1073741824}}
  %m = mask.grid_window width 4 rows 1 columns 1 shift 1073741824
  return
}

// -----

func.func @window_c1_keys(%t: !model.tensor<[B, T], i64>, %s: !model.tensor<[], i64>) {
  // expected-error @below {{key_labels must have rank 1 to 2}}
  %m = mask.window left 1 on %t : !model.tensor<[B, T], i64> keys %s : !model.tensor<[], i64>
  return
}

// -----

func.func @window_c3_keys(%t: !model.tensor<[B, T], i64>) {
  // expected-error @below {{expected labels of queries with the labels of keys, got none}}
  %m = mask.window left 1 keys %t : !model.tensor<[B, T], i64>
  return
}

// -----

func.func @prefix_c1(%t: !model.tensor<[B, T], i64>) {
  // expected-error @below {{length must have rank 0 to 1, got '!model.tensor<[B, T], i64>'}}
  %m = mask.prefix %t : !model.tensor<[B, T], i64>
  return
}

// -----

func.func @blocks_c3(%t: !model.tensor<[4, 2], i64>) {
  // expected-error @below {{expected the table '!model.tensor<[1, 4, 5], i64>'}}
  %m = mask.blocks 8, %t : !model.tensor<[4, 2], i64> table %t : !model.tensor<[4, 2], i64>
  return
}

// -----

func.func @dense_c2(%t: !model.tensor<[T, S], i1>, %x: !model.tensor<[T, S], i64>) {
  // expected-error @below {{expected the table }}
  %m = mask.dense %t : !model.tensor<[T, S], i1> table %x : !model.tensor<[T, S], i64>
  return
}

// -----

func.func @and_c1(%t: !model.tensor<[B], i64>) {
  // expected-error @below {{operand #0 must be}}
  %m = "mask.and"(%t, %t) : (!model.tensor<[B], i64>, !model.tensor<[B], i64>) -> !mask.mask
  return
}

// -----

func.func @or_c1(%t: !model.tensor<[B], i64>) {
  // expected-error @below {{operand #0 must be}}
  %m = "mask.or"(%t, %t) : (!model.tensor<[B], i64>, !model.tensor<[B], i64>) -> !mask.mask
  return
}

// -----

func.func @add_c1(%t: !model.tensor<[B], i64>) {
  // expected-error @below {{operand #0 must be}}
  %m = "mask.add"(%t, %t) : (!model.tensor<[B], i64>, !model.tensor<[B], i64>) -> !mask.mask
  return
}

// -----

func.func @not_c1(%t: !model.tensor<[B], i64>) {
  // expected-error @below {{operand #0 must be}}
  %m = "mask.not"(%t) : (!model.tensor<[B], i64>) -> !mask.mask
  return
}

// -----

func.func @select_c1(%t: !model.tensor<[B], i1>) {
  %a = mask.all
  // expected-error @below {{condition must have rank 0 to 0, got '!model.tensor<[B], i1>'}}
  %m = mask.select %t, %a, %a : !model.tensor<[B], i1>
  return
}

// -----

func.func @key_table_c1(%t: !model.tensor<[B, T, S], i64>) {
  // expected-error @below {{a table is made of a tensor of rank 1 to 2}}
  %m = mask.key_table %t : !model.tensor<[B, T, S], i64>
  return
}

// -----

func.func @row_counts_c1(%t: !model.tensor<[], i64>) {
  // expected-error @below {{a table is made of a tensor of rank 1 to 2}}
  %m = mask.row_counts %t : !model.tensor<[], i64>
  return
}

// -----

func.func @label_table_c1_rank(%t: !model.tensor<[], i64>) {
  // expected-error @below {{labels are integers of rank 1 to 2}}
  %m = mask.label_table %t, %t : !model.tensor<[], i64>, !model.tensor<[], i64>
  return
}

// -----

func.func @block_runs_c1(%t: !model.tensor<[4], i64>) {
  // expected-error @below {{a table is made of a tensor of rank 2 to 3}}
  %m = mask.block_runs 8, %t : !model.tensor<[4], i64>
  return
}

// -----

func.func @block_runs_c2(%t: !model.tensor<[4, 2], i64>) {
  // expected-error @below {{expected a positive size, got 0}}
  %m = mask.block_runs 0, %t : !model.tensor<[4, 2], i64>
  return
}

// -----

func.func @dense_table_c1(%t: !model.tensor<[S], i1>) {
  // expected-error @below {{a table is made of a tensor of rank 2 to 4}}
  %m = mask.dense_table %t : !model.tensor<[S], i1>
  return
}
