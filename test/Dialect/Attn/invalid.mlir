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

func.func @bucket_bias_c1(%t: !model.tensor<[32], f32>) {
  // expected-error @below {{expected the table [buckets, heads], got }}
  %b = attn.bucket_bias %t max_distance 128 : !model.tensor<[32], f32>
  return
}

// -----

func.func @dense_bias_c1(%t: !model.tensor<[T], f32>) {
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

// -----

func.func @sdpa_c7(%q: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{expected a size form, got 'a b'}}
  %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 past "a b" : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @sdpa_c7_start(%q: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{expected a size form, got ''}}
  %a = attn.sdpa %q, %q, %q heads 2 kv_heads 2 scale 1.0 key_start "" : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @alibi_c1(%m: !model.tensor<[12, 1], f32>) {
  // expected-error @below {{expected slopes [heads], got '!model.tensor<[12, 1], f32>'}}
  %b = attn.alibi %m : !model.tensor<[12, 1], f32>
  return
}

// -----

func.func @bucket_bias_c1_sides(%t: !model.tensor<[3, 12], f32>) {
  // expected-error @below {{expected the table [buckets, heads], got '!model.tensor<[3, 12], f32>'}}
  %b = attn.bucket_bias %t max_distance 128 two_sided : !model.tensor<[3, 12], f32>
  return
}

// -----

func.func @bucket_bias_c2(%t: !model.tensor<[32, 12], f32>) {
  // expected-error @below {{expected max_distance above the 16 exact buckets, got 16}}
  %b = attn.bucket_bias %t max_distance 16 : !model.tensor<[32, 12], f32>
  return
}

// -----

func.func @relative_dot_c1(%x: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[9, 2], f32>) {
  // expected-error @below {{expected [B, rows, 3 heads x width], got '!model.tensor<[B, T, 8], f32>'}}
  %b = attn.relative_dot %x, %t heads 3 zero "4" : !model.tensor<[B, T, 8], f32>, !model.tensor<[9, 2], f32>
  return
}

// -----

func.func @relative_dot_c2(%x: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[9, 3], f32>) {
  // expected-error @below {{expected a table [rows, 2] or [rows, 8], got '!model.tensor<[9, 3], f32>'}}
  %b = attn.relative_dot %x, %t heads 4 zero "4" : !model.tensor<[B, T, 8], f32>, !model.tensor<[9, 3], f32>
  return
}

// -----

func.func @relative_dot_c3(%x: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[9, 2], f32>) {
  // expected-error @below {{expected a size form, got '4 4'}}
  %b = attn.relative_dot %x, %t heads 4 zero "4 4" : !model.tensor<[B, T, 8], f32>, !model.tensor<[9, 2], f32>
  return
}

// -----

func.func @relative_dot_c4(%x: !model.tensor<[B, T, 8], f32>, %t: !model.tensor<[9, 2], f32>) {
  // expected-error @below {{expected a bucket [size, far] with a size of 4 or more and far > size/2 + 1, got [8, 5]}}
  %b = attn.relative_dot %x, %t heads 4 zero "4" bucket [8, 5] : !model.tensor<[B, T, 8], f32>, !model.tensor<[9, 2], f32>
  return
}

// -----

func.func @bias_add_c1(%t: !model.tensor<[T, S], f32>) {
  // expected-error @below {{operand #0 must be}}
  %b = "attn.bias_add"(%t, %t) : (!model.tensor<[T, S], f32>, !model.tensor<[T, S], f32>) -> !attn.bias
  return
}

// -----

func.func @bias_scale_c1(%t: !model.tensor<[T, S], f32>) {
  // expected-error @below {{operand #0 must be}}
  %b = "attn.bias_scale"(%t) <{factor = 1.0 : f64}> : (!model.tensor<[T, S], f32>) -> !attn.bias
  return
}

// -----

func.func @alibi_slopes_c1() {
  // expected-error @below {{heads must be positive, but is 0}}
  // expected-error @below {{failed to infer returned types}}
  %m = attn.alibi_slopes 0 : !model.tensor<[0], f32>
  return
}
