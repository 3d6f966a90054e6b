// RUN: heddle-opt %s -split-input-file -verify-diagnostics

func.func @sdpa_c1(%q: !model.tensor<[T, 8], f32>) {
  // expected-error @below {{attention expects [B, rows, heads x width]}}
  // expected-error @below {{failed to infer returned types}}
  %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[T, 8], f32>, !model.tensor<[T, 8], f32>, !model.tensor<[T, 8], f32>) -> !model.tensor<[T, 8], f32>
  return
}

// -----

func.func @sdpa_c1_rows(%q: !model.tensor<[B, T, 8], f32>, %v: !model.tensor<[B, S, 8], f32>) {
  // expected-error @below {{keys have T rows, values S}}
  // expected-error @below {{failed to infer returned types}}
  %a = attn.sdpa %q, %q, %v heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, S, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @sdpa_c2(%q: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{'kv_heads' must divide 'heads' (4), but got 3}}
  // expected-error @below {{failed to infer returned types}}
  %a = attn.sdpa %q, %q, %q heads 4 kv_heads 3 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @sdpa_c2_width(%q: !model.tensor<[B, T, 8], f32>, %k: !model.tensor<[B, T, 4], f32>) {
  // expected-error @below {{query heads are 4 wide, key heads 2}}
  // expected-error @below {{failed to infer returned types}}
  %a = attn.sdpa %q, %k, %k heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 4], f32>, !model.tensor<[B, T, 4], f32>) -> !model.tensor<[B, T, 4], f32>
  return
}

// -----

func.func @sdpa_c3(%q: !model.tensor<[B, T, 8], f32>, %s: !model.tensor<[3], f32>) {
  // expected-error @below {{sinks must be [2]}}
  // expected-error @below {{failed to infer returned types}}
  %a = attn.sdpa %q, %q, %q sinks %s : !model.tensor<[3], f32> heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @bucket_table(%t: !model.tensor<[32], f32>) {
  // expected-error @below {{table must be [buckets, heads]}}
  %b = attn.bucket_bias %t max_distance 128 : !model.tensor<[32], f32>
  return
}

// -----

func.func @dense_rank(%t: !model.tensor<[T], f32>) {
  // expected-error @below {{tensor must have rank 2, 3 or 4}}
  %b = attn.dense_bias %t : !model.tensor<[T], f32>
  return
}
