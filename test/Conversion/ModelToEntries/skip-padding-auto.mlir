// rows=auto: a row of padding that an output hands out is computed, unless the module says that nobody reads it.
// RUN: heddle-opt --model-skip-padding --canonicalize --cse %s | FileCheck %s --check-prefix=READ
// RUN: sed 's/attributes {}/attributes {model.padding_unread}/' %s | heddle-opt --model-skip-padding --canonicalize --cse | FileCheck %s --check-prefix=UNREAD

// READ-LABEL: func.func @all_rows
// READ-NOT: model.pack_rows
// READ: return
// UNREAD-LABEL: func.func @all_rows
// UNREAD: model.pack_rows
// UNREAD: model.unpack_rows

// What hands out the first row alone skips the others whoever reads it.
// READ-LABEL: func.func @first_row
// READ: model.pack_rows
// UNREAD-LABEL: func.func @first_row
// UNREAD: model.pack_rows
module attributes {} {
  func.func @all_rows(%x: !model.tensor<[B, T, 8], f32>, %real: !model.tensor<[B, T], i64> {model.default}) -> !model.tensor<[B, T, 8], f32> {
    %m = mask.keys %real : !model.tensor<[B, T], i64>
    %w = model.param "w" : !model.tensor<[8, 8], f32>
    %q = model.linear %x, %w parts [1] groups 1 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %a = attn.sdpa %q, %q, %q mask %m heads 2 kv_heads 2 scale 0.5
      : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %y = model.linear %a, %w parts [1] groups 1 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    return %y : !model.tensor<[B, T, 8], f32>
  }
  func.func @first_row(%x: !model.tensor<[B, T, 8], f32>, %real: !model.tensor<[B, T], i64> {model.default}) -> !model.tensor<[B, 1, 8], f32> {
    %m = mask.keys %real : !model.tensor<[B, T], i64>
    %w = model.param "w" : !model.tensor<[8, 8], f32>
    %q = model.linear %x, %w parts [1] groups 1 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %a = attn.sdpa %q, %q, %q mask %m heads 2 kv_heads 2 scale 0.5
      : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %y = model.linear %a, %w parts [1] groups 1 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %f = model.slice %y axis 1 from "0" to "1" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 1, 8], f32>
    return %f : !model.tensor<[B, 1, 8], f32>
  }
}
