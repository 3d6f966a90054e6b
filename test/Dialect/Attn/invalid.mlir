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

func.func @sdpa_c6(%q: !model.tensor<[B, T, 8], f32>, %s: !model.tensor<[T], i64>) {
  // expected-error @below {{starts must be [B]}}
  %a = attn.sdpa %q, %q, %q starts %s : !model.tensor<[T], i64> heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @bucket_table(%t: !model.tensor<[32], f32>) {
  // expected-error @below {{expected the table [buckets, heads], got }}
  %b = attn.bucket_bias %t max_distance 128 : !model.tensor<[32], f32>
  return
}

// -----

func.func @dense_rank(%t: !model.tensor<[T], f32>) {
  // expected-error @below {{expected a tensor of rank 2, 3 or 4, got }}
  %b = attn.dense_bias %t : !model.tensor<[T], f32>
  return
}

// -----

func.func @sdpa_c4(%q: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[B, S], i64>) {
  %k = mask.keys %t : !model.tensor<[B, S], i64>
  %n = mask.not %k
  // expected-error @below {{keys of !model.tensor<[B, S], i64> has an axis of S where the scores have one of T; expected [T] or [B, T]}}
  %a = attn.sdpa %q, %q, %q mask %n heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @sdpa_c4_labels(%q: !model.tensor<[B, T, 8], f32>, %k: !model.tensor<[B, S, 8], f32>, %t: !model.tensor<[B, T], i64>) {
  %m = mask.window left 1 on %t : !model.tensor<[B, T], i64>
  // expected-error @below {{the labels of window of !model.tensor<[B, T], i64> has an axis of T where the scores have one of S}}
  %a = attn.sdpa %q, %k, %k mask %m heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, S, 8], f32>, !model.tensor<[B, S, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @sdpa_c4_heads(%q: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[B, 3, T, T], i1>) {
  %m = mask.dense %t : !model.tensor<[B, 3, T, T], i1>
  // expected-error @below {{dense of !model.tensor<[B, 3, T, T], i1> has an axis of 3 where the scores have one of 2}}
  %a = attn.sdpa %q, %q, %q mask %m heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @sdpa_c4_bias(%q: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[B, S, T], f32>) {
  %b = attn.dense_bias %t : !model.tensor<[B, S, T], f32>
  // expected-error @below {{dense_bias of !model.tensor<[B, S, T], f32> has an axis of S where the scores have one of T}}
  %a = attn.sdpa %q, %q, %q bias %b heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @sdpa_c5(%q: !model.tensor<[B, T, 8], f32>, %m: !model.tensor<[3], f32>) {
  %b = attn.alibi %m : !model.tensor<[3], f32>
  %c = attn.bias_scale %b by 2.0
  // expected-error @below {{alibi is made for 3 heads, the attention has 2}}
  %a = attn.sdpa %q, %q, %q bias %c heads 2 kv_heads 2 scale 1.0 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}
