// What inference and the verifiers of shapes refuse: an op whose operands do not fit, one function a clause of ModelOps.td.
// RUN: heddle-opt %s -split-input-file -verify-diagnostics

func.func @size_c1() {
  // expected-error @below {{'T+' is not a size form}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.size "T+" : !model.tensor<[], i64>
  return
}

// -----

func.func @range_c1() {
  // expected-error @below {{range needs two size forms}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.range "0" to "T T" : !model.tensor<[T], i64>
  return
}

// -----

func.func @unary_c1(%n: !model.tensor<[T], i64>) {
  // expected-error @below {{exp does not take elements of 'i64'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.unary exp %n : (!model.tensor<[T], i64>) -> !model.tensor<[T], i64>
  return
}

// -----

func.func @unary_c1_not(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{not does not take elements of 'f32'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.unary not %x : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @binary_c3(%n: !model.tensor<[T], i64>) {
  // expected-error @below {{div does not take elements of 'i64'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.binary div %n, %n : (!model.tensor<[T], i64>, !model.tensor<[T], i64>) -> !model.tensor<[T], i64>
  return
}

// -----

func.func @binary_c3_logic(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{and does not take elements of 'f32'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.binary and %x, %x : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @binary_c3_add(%c: !model.tensor<[T], i1>) {
  // expected-error @below {{add does not take elements of 'i1'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.binary add %c, %c : (!model.tensor<[T], i1>, !model.tensor<[T], i1>) -> !model.tensor<[T], i1>
  return
}

// -----

func.func @compare_c1(%x: !model.tensor<[T], f32>, %n: !model.tensor<[T], i64>) {
  // expected-error @below {{operands have element types 'f32' and 'i64'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.compare lt %x, %n : (!model.tensor<[T], f32>, !model.tensor<[T], i64>) -> !model.tensor<[T], i1>
  return
}

// -----

func.func @compare_c2(%x: !model.tensor<[T], f32>, %y: !model.tensor<[S], f32>) {
  // expected-error @below {{shapes do not broadcast: S against T}}
  // expected-error @below {{failed to infer returned types}}
  %z = model.compare lt %x, %y : (!model.tensor<[T], f32>, !model.tensor<[S], f32>) -> !model.tensor<[T], i1>
  return
}

// -----

func.func @select_c1(%c: !model.tensor<[T], i1>, %x: !model.tensor<[T], f32>, %n: !model.tensor<[T], i64>) {
  // expected-error @below {{branches have element types 'f32' and 'i64'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.select %c, %x, %n : (!model.tensor<[T], i1>, !model.tensor<[T], f32>, !model.tensor<[T], i64>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @select_c2(%c: !model.tensor<[S], i1>, %x: !model.tensor<[T], f32>) {
  // expected-error @below {{shapes do not broadcast: T against S}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.select %c, %x, %x : (!model.tensor<[S], i1>, !model.tensor<[T], f32>, !model.tensor<[T], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @select_c3(%x: !model.tensor<[T], f32>) {
  // expected-error @below {{operand #0 must be tensor of i1}}
  %y = model.select %x, %x, %x : (!model.tensor<[T], f32>, !model.tensor<[T], f32>, !model.tensor<[T], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @cast_c1(%n: !model.tensor<[B, T], i64>) {
  // expected-error @below {{changes the element type only, but the lengths differ}}
  %y = model.cast %n : !model.tensor<[B, T], i64> -> !model.tensor<[T], f32>
  return
}

// -----

func.func @broadcast_c1(%n: !model.tensor<[T], i64>) {
  // expected-error @below {{changes lengths only, but the element types differ}}
  %y = model.broadcast %n : !model.tensor<[T], i64> -> !model.tensor<[B, T], f32>
  return
}

// -----

func.func @broadcast_c2(%x: !model.tensor<[B, T], f32>) {
  // expected-error @below {{cannot stretch '!model.tensor<[B, T], f32>' to '!model.tensor<[1, T], f32>'}}
  %y = model.broadcast %x : !model.tensor<[B, T], f32> -> !model.tensor<[1, T], f32>
  return
}

// -----

func.func @broadcast_c2_axes(%x: !model.tensor<[B, S], f32>) {
  // expected-error @below {{shapes do not broadcast: T against S}}
  %y = model.broadcast %x : !model.tensor<[B, S], f32> -> !model.tensor<[B, T], f32>
  return
}

// -----

func.func @slice_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 3 does not exist in [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.slice %x axis 3 from "0" to "1" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @slice_c2(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{a slice needs two size forms}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.slice %x axis 1 from "a b" to "T" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @slice_c3(%x: !model.tensor<[4, 8], f32>) {
  // expected-error @below {{rows 2 to 9 do not lie in an axis of 8}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.slice %x axis 1 from "2" to "9" : (!model.tensor<[4, 8], f32>) -> !model.tensor<[4, 7], f32>
  return
}

// -----

func.func @slice_c3_order(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{rows 3 to 2 do not lie in an axis of T}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.slice %x axis 1 from "3" to "2" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, -1, 8], f32>
  return
}

// -----

func.func @squeeze_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis -1 does not exist in [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.squeeze %x axis -1 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T], f32>
  return
}

// -----

func.func @squeeze_c2(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 1 of [B, T, 8] has not length 1}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.squeeze %x axis 1 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 8], f32>
  return
}

// -----

func.func @unsqueeze_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 4 cannot be inserted into [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.unsqueeze %x axis 4 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8, 1], f32>
  return
}

// -----

func.func @rearrange_c2_division(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 2 of [B, T, 8] does not divide by 3}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rearrange %x "b t (h d) -> b h t d" sizes {h = "3"} : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 3, T, 2], f32>
  return
}

// -----

func.func @rearrange_c3(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{'b (t d' is not a pattern like}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rearrange %x "b (t d" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @rearrange_c3_axes(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{the pattern has 2 axes on its left, the operand is [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rearrange %x "b t -> t b" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[T, B], f32>
  return
}

// -----

func.func @rearrange_c4(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{sizes gives 'h', which is not on the left of the pattern}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rearrange %x "b t d -> b d t" sizes {h = "2"} : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 8, T], f32>
  return
}

// -----

func.func @rearrange_c4_form(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{the size of 'd' is not a form}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rearrange %x "b t d -> b d t" sizes {d = "8 8"} : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 8, T], f32>
  return
}

// -----

func.func @concat_c1() {
  // expected-error @below {{concat needs operands}}
  // expected-error @below {{failed to infer returned types}}
  %y = "model.concat"() <{axis = 0 : i64}> : () -> !model.tensor<[B], f32>
  return
}

// -----

func.func @concat_c1_axis(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 3 does not exist in operands of rank 3}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.concat %x, %x axis 3 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @concat_c2(%x: !model.tensor<[T], f32>, %n: !model.tensor<[T], i64>) {
  // expected-error @below {{operands have element types 'f32' and 'i64'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.concat %x, %n axis 0 : (!model.tensor<[T], f32>, !model.tensor<[T], i64>) -> !model.tensor<["2*T"], f32>
  return
}

// -----

func.func @concat_c3(%x: !model.tensor<[B, T, 8], f32>, %y: !model.tensor<[B, T, 7], f32>) {
  // expected-error @below {{shapes do not broadcast: 7 against 8}}
  // expected-error @below {{failed to infer returned types}}
  %z = model.concat %x, %y axis 1 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 7], f32>) -> !model.tensor<[B, "2*T", 8], f32>
  return
}

// -----

func.func @pad_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 3 does not exist in [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.pad %x axis 3 before "1" after "0" value 0.0 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @pad_c2(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{cannot pad by -1 and 0 rows}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.pad %x axis 1 before "-1" after "0" value 0.0 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, "T-1", 8], f32>
  return
}

// -----

func.func @pad_c2_form(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{pad needs two size forms}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.pad %x axis 1 before "" after "0" value 0.0 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @gather_c1(%x: !model.tensor<[B], f32>, %n: !model.tensor<[B], i64>) {
  // expected-error @below {{positions [B] do not fit rows of [B]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.gather %x at %n : (!model.tensor<[B], f32>, !model.tensor<[B], i64>) -> !model.tensor<[B], f32>
  return
}

// -----

func.func @gather_c2(%x: !model.tensor<[B, T, 8], f32>, %n: !model.tensor<[N], i64>) {
  // expected-error @below {{positions [N] do not fit rows of [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.gather %x at %n : (!model.tensor<[B, T, 8], f32>, !model.tensor<[N], i64>) -> !model.tensor<[N, 8], f32>
  return
}

// -----

func.func @embedding_c1(%n: !model.tensor<[T], i64>, %w: !model.tensor<[50], f32>) {
  // expected-error @below {{the table must be [rows, width], but is [50]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.embedding %n in %w : (!model.tensor<[T], i64>, !model.tensor<[50], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @linear_c3_part(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>) {
  // expected-error @below {{a part must be positive, but got 0}}
  // expected-error @below {{failed to infer returned types}}
  %y, %z = model.linear %x, %w parts [1, 0] groups 1 : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>) -> (!model.tensor<[T, 12], f32>, !model.tensor<[T, 0], f32>)
  return
}

// -----

func.func @linear_c4_extras(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>) {
  // expected-error @below {{extras are read by an epilogue, and there is none}}
  %y = model.linear %x, %w with %x : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>, !model.tensor<[T, 8], f32>) -> !model.tensor<[T, 12], f32>
  return
}

// -----

func.func @linear_c6(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[12, 8], f32>) {
  // expected-error @below {{part 2 of 2 does not exist}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.linear %x, %w parts [1, 2] groups 1 {part = 2 : i64} : (!model.tensor<[T, 8], f32>, !model.tensor<[12, 8], f32>) -> !model.tensor<[T, 4], f32>
  return
}

// -----

func.func @matmul_c1(%x: !model.tensor<[T, 8], f32>, %y: !model.tensor<[7, 4], f32>) {
  // expected-error @below {{matmul of [T, 8] and [7, 4] does not fit}}
  // expected-error @below {{failed to infer returned types}}
  %z = model.matmul %x, %y : (!model.tensor<[T, 8], f32>, !model.tensor<[7, 4], f32>) -> !model.tensor<[T, 4], f32>
  return
}

// -----

func.func @matmul_c1_rank(%x: !model.tensor<[T, 8], f32>, %y: !model.tensor<[8], f32>) {
  // expected-error @below {{matmul of [T, 8] and [8] does not fit}}
  // expected-error @below {{failed to infer returned types}}
  %z = model.matmul %x, %y : (!model.tensor<[T, 8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[T], f32>
  return
}

// -----

func.func @matmul_c2(%x: !model.tensor<[2, T, 8], f32>, %y: !model.tensor<[3, 8, 4], f32>) {
  // expected-error @below {{shapes do not broadcast: 3 against 2}}
  // expected-error @below {{failed to infer returned types}}
  %z = model.matmul %x, %y : (!model.tensor<[2, T, 8], f32>, !model.tensor<[3, 8, 4], f32>) -> !model.tensor<[2, T, 4], f32>
  return
}

// -----

func.func @conv_c1(%x: !model.tensor<[B, L], f32>, %w: !model.tensor<[8, 4, 5], f32>) {
  // expected-error @below {{weight [8, 4, 5] does not fit an operand [B, L]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.conv %x, %w stride [1] dilation [1] padding [0, 0] : (!model.tensor<[B, L], f32>, !model.tensor<[8, 4, 5], f32>) -> !model.tensor<[B, L, 8], f32>
  return
}

// -----

func.func @conv_c2(%x: !model.tensor<[B, L, 4], f32>, %w: !model.tensor<[8, 4, 5], f32>) {
  // expected-error @below {{stride and dilation have 1 numbers, padding 2}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.conv %x, %w stride [1] dilation [1] padding [0] : (!model.tensor<[B, L, 4], f32>, !model.tensor<[8, 4, 5], f32>) -> !model.tensor<[B, L, 8], f32>
  return
}

// -----

func.func @conv_c2_positive(%x: !model.tensor<[B, L, 4], f32>, %w: !model.tensor<[8, 4, 5], f32>) {
  // expected-error @below {{stride and dilation must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.conv %x, %w stride [0] dilation [1] padding [0, 0] : (!model.tensor<[B, L, 4], f32>, !model.tensor<[8, 4, 5], f32>) -> !model.tensor<[B, L, 8], f32>
  return
}

// -----

func.func @conv_c3(%x: !model.tensor<[B, L, 3], f32>, %w: !model.tensor<[8, 4, 5], f32>) {
  // expected-error @below {{the operand has 3 channels}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.conv %x, %w stride [1] dilation [1] padding [0, 0] : (!model.tensor<[B, L, 3], f32>, !model.tensor<[8, 4, 5], f32>) -> !model.tensor<[B, "L-4", 8], f32>
  return
}

// -----

func.func @conv_c3_groups(%x: !model.tensor<[B, L, 12], f32>, %w: !model.tensor<[8, 4, 5], f32>) {
  // expected-error @below {{8 results do not divide into 3 groups}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.conv %x, %w stride [1] dilation [1] padding [0, 0] groups 3 : (!model.tensor<[B, L, 12], f32>, !model.tensor<[8, 4, 5], f32>) -> !model.tensor<[B, "L-4", 8], f32>
  return
}

// -----

func.func @conv_c4(%x: !model.tensor<[B, L, 4], f32>, %w: !model.tensor<[8, 4, 5], f32>, %c: !model.tensor<[7], f32>) {
  // expected-error @below {{bias should be [8], is [7]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.conv %x, %w bias %c stride [1] dilation [1] padding [0, 0] : (!model.tensor<[B, L, 4], f32>, !model.tensor<[8, 4, 5], f32>, !model.tensor<[7], f32>) -> !model.tensor<[B, "L-4", 8], f32>
  return
}

// -----

func.func @conv_c5(%x: !model.tensor<[B, 4, 4], f32>, %w: !model.tensor<[8, 4, 5], f32>) {
  // expected-error @below {{an axis of 4 is shorter than 5 taps}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.conv %x, %w stride [1] dilation [1] padding [0, 0] : (!model.tensor<[B, 4, 4], f32>, !model.tensor<[8, 4, 5], f32>) -> !model.tensor<[B, 0, 8], f32>
  return
}

// -----

func.func @top_k_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{k must lie in 1 .. the length of the last axis, but is 9 of [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.top_k %x k 9 fill 0.0 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @layer_norm_c1(%x: !model.tensor<[], f32>) {
  // expected-error @below {{a norm needs an operand with features, but got a scalar}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.layer_norm %x eps 0.5 : (!model.tensor<[], f32>) -> !model.tensor<[], f32>
  return
}

// -----

func.func @layer_norm_c2(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[7], f32>) {
  // expected-error @below {{weight should be [8], is [7]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.layer_norm %x weight %w eps 0.5 : (!model.tensor<[T, 8], f32>, !model.tensor<[7], f32>) -> !model.tensor<[T, 8], f32>
  return
}

// -----

func.func @rms_norm_c1(%x: !model.tensor<[], f32>, %w: !model.tensor<[1], f32>) {
  // expected-error @below {{a norm needs an operand with features, but got a scalar}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rms_norm %x weight %w eps 0.5 offset 0.0 : (!model.tensor<[], f32>, !model.tensor<[1], f32>) -> !model.tensor<[], f32>
  return
}

// -----

func.func @rms_norm_c2(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[1, 8], f32>) {
  // expected-error @below {{weight should be [8], is [1, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rms_norm %x weight %w eps 0.5 offset 0.0 : (!model.tensor<[T, 8], f32>, !model.tensor<[1, 8], f32>) -> !model.tensor<[T, 8], f32>
  return
}

// -----

func.func @group_norm_c1(%x: !model.tensor<[B, T, 8], f32>, %w: !model.tensor<[8], f32>) {
  // expected-error @below {{the channels of [B, T, 8] do not divide into 3 groups}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.group_norm %x weight %w bias %w groups 3 eps 0.5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @group_norm_c2(%x: !model.tensor<[B, T, 8], f32>, %w: !model.tensor<[8], f32>, %c: !model.tensor<[4], f32>) {
  // expected-error @below {{weight should be [8], is [4]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.group_norm %x weight %w bias %c groups 2 eps 0.5 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8], f32>, !model.tensor<[4], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @batch_norm_c1(%x: !model.tensor<[], f32>, %w: !model.tensor<[1], f32>) {
  // expected-error @below {{a norm needs an operand with features, but got a scalar}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.batch_norm %x mean %w variance %w weight %w bias %w eps 0.5 : (!model.tensor<[], f32>, !model.tensor<[1], f32>, !model.tensor<[1], f32>, !model.tensor<[1], f32>, !model.tensor<[1], f32>) -> !model.tensor<[], f32>
  return
}

// -----

func.func @batch_norm_c2(%x: !model.tensor<[T, 8], f32>, %w: !model.tensor<[8], f32>, %v: !model.tensor<[1], f32>) {
  // expected-error @below {{weight should be [8], is [1]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.batch_norm %x mean %w variance %v weight %w bias %w eps 0.5 : (!model.tensor<[T, 8], f32>, !model.tensor<[8], f32>, !model.tensor<[1], f32>, !model.tensor<[8], f32>, !model.tensor<[8], f32>) -> !model.tensor<[T, 8], f32>
  return
}

// -----

func.func @l2_norm_c1(%x: !model.tensor<[], f32>) {
  // expected-error @below {{a norm needs an operand with features, but got a scalar}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.l2_norm %x eps 0.5 : (!model.tensor<[], f32>) -> !model.tensor<[], f32>
  return
}

// -----

func.func @sinusoidal_c1(%p: !model.tensor<[T], i64>) {
  // expected-error @below {{width must be even and positive, but is 7}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.sinusoidal %p width 7 theta 100.0 : (!model.tensor<[T], i64>) -> !model.tensor<[T, 7], f32>
  return
}

// -----

func.func @rotary_c1(%x: !model.tensor<[B, T, 8], f32>, %p: !model.tensor<[T], i64>, %f: !model.tensor<[1], f32>, %a: !model.tensor<[], f32>) {
  // expected-error @below {{[B, T, 8] does not divide into heads of width 3}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rotary %x at %p by %f amplitude %a head_width 3 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T], i64>, !model.tensor<[1], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @rotary_c2(%x: !model.tensor<[B, T, 8], f32>, %p: !model.tensor<[T], i64>, %f: !model.tensor<[3], f32>, %a: !model.tensor<[], f32>) {
  // expected-error @below {{frequencies [3] turn more features than a head of width 4 has}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T], i64>, !model.tensor<[3], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @rotary_c3(%x: !model.tensor<[B, T, 8], f32>, %p: !model.tensor<[S], i64>, %f: !model.tensor<[2], f32>, %a: !model.tensor<[], f32>) {
  // expected-error @below {{positions [S] do not fit [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[S], i64>, !model.tensor<[2], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @rotary_c3_longer(%x: !model.tensor<[1, T, 8], f32>, %p: !model.tensor<[B, T], i64>, %f: !model.tensor<[2], f32>, %a: !model.tensor<[], f32>) {
  // expected-error @below {{positions [B, T] do not fit [1, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[1, T, 8], f32>, !model.tensor<[B, T], i64>, !model.tensor<[2], f32>, !model.tensor<[], f32>) -> !model.tensor<[1, T, 8], f32>
  return
}

// -----

func.func @rotary_c4(%x: !model.tensor<[B, T, 8], f32>, %p: !model.tensor<[T], i64>, %f: !model.tensor<[S, 2], f32>, %a: !model.tensor<[], f32>) {
  // expected-error @below {{frequencies [S, 2] do not fit [B, T, 8] of 2 heads}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T], i64>, !model.tensor<[S, 2], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @rotary_c4_heads(%x: !model.tensor<[B, T, 8], f32>, %p: !model.tensor<[T], i64>, %f: !model.tensor<[B, T, 3, 2], f32>, %a: !model.tensor<[], f32>) {
  // expected-error @below {{frequencies [B, T, 3, 2] do not fit [B, T, 8] of 2 heads}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T], i64>, !model.tensor<[B, T, 3, 2], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @rotary_c5(%x: !model.tensor<[B, T, 8], f32>, %p: !model.tensor<[T], i64>, %f: !model.tensor<[2], f32>, %a: !model.tensor<[2], f32>) {
  // expected-error @below {{expected an amplitude that is one number, got [2]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.rotary %x at %p by %f amplitude %a head_width 4 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T], i64>, !model.tensor<[2], f32>, !model.tensor<[2], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @interpolate_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{2 sizes do not fit [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.interpolate %x to ["2", "2"] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 2, 2], f32>
  return
}

// -----

func.func @interpolate_c2(%x: !model.tensor<[B, H, W, 8], f32>, %s: !model.tensor<[], f32>) {
  // expected-error @below {{2 sizes do not fit [B, H, W, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.interpolate %x to ["2", "2"] scales %s : (!model.tensor<[B, H, W, 8], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, 2, 2, 8], f32>
  return
}

// -----

func.func @interpolate_c2_number(%x: !model.tensor<[B, T, 8], f32>, %s: !model.tensor<[2], f32>) {
  // expected-error @below {{expected a scale that is one number, got [2]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.interpolate %x to ["2"] scales %s : (!model.tensor<[B, T, 8], f32>, !model.tensor<[2], f32>) -> !model.tensor<[B, 2, 8], f32>
  return
}

// -----

func.func @interpolate_c3(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{'2 2' is not a size form}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.interpolate %x to ["2 2"] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 2, 8], f32>
  return
}

// -----

func.func @reduce_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{a reduction needs different axes}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.reduce sum %x axes [1, 1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 8], f32>
  return
}

// -----

func.func @reduce_c1_axis(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 3 does not exist in [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.reduce sum %x axes [3] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @reduce_c2(%n: !model.tensor<[T], i64>) {
  // expected-error @below {{mean takes reals, found 'i64'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.reduce mean %n axes [0] : (!model.tensor<[T], i64>) -> !model.tensor<[], i64>
  return
}

// -----

func.func @reduce_c2_booleans(%n: !model.tensor<[T], i1>) {
  // expected-error @below {{reductions take numbers; cast the booleans first}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.reduce max %n axes [0] : (!model.tensor<[T], i1>) -> !model.tensor<[], i1>
  return
}

// -----

func.func @reduce_c3(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{argmax takes one axis and drops it}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.reduce argmax %x axes [1, 2] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B], i64>
  return
}

// -----

func.func @cumsum_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 3 does not exist in [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.cumsum %x axis 3 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @cumsum_c2(%n: !model.tensor<[T], i1>) {
  // expected-error @below {{cumsum takes numbers; cast the booleans first}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.cumsum %n axis 0 : (!model.tensor<[T], i1>) -> !model.tensor<[T], i1>
  return
}

// -----

func.func @cumsum_c3(%x: !model.tensor<[B, T, 8], f32>, %s: !model.tensor<[B, T], f32>) {
  // expected-error @below {{expected a first sum that stretches to '!model.tensor<[B, 8], f32>', got '!model.tensor<[B, T], f32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.cumsum %x init %s axis 1 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}

// -----

func.func @cumsum_c3_element(%x: !model.tensor<[B, T], f32>, %s: !model.tensor<[B], i64>) {
  // expected-error @below {{expected a first sum that stretches to '!model.tensor<[B], f32>', got '!model.tensor<[B], i64>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.cumsum %x init %s axis 1 : (!model.tensor<[B, T], f32>, !model.tensor<[B], i64>) -> !model.tensor<[B, T], f32>
  return
}

// -----

func.func @softmax_c1(%x: !model.tensor<[B, T, 8], f32>) {
  // expected-error @below {{axis 3 does not exist in [B, T, 8]}}
  // expected-error @below {{failed to infer returned types}}
  %y = model.softmax %x axis 3 : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return
}
