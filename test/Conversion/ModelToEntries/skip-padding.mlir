// Rows of padding: what keeps rows apart works on live rows, attention sees them at their places.
// RUN: heddle-opt --model-skip-padding=rows=skip --canonicalize --cse --split-input-file %s | FileCheck %s
// RUN: heddle-opt --model-skip-padding=rows=compute --split-input-file %s | FileCheck %s --check-prefix=COMPUTE
// COMPUTE-NOT: pack_rows

// An encoder whose first row is read: it is live in any case. Query, key and value are put at their
// places, the result is packed; the table of positions is packed once.
// CHECK-LABEL: func.func @encoder
// CHECK: %[[SOME:.+]] = model.compare ne %{{.+}}, %{{.+}}
// CHECK: %[[EITHER:.+]] = model.binary or %[[SOME]], %{{.+}} : {{.*}} -> !B_T_b
// CHECK: %[[LIVE:.+]] = model.cast %[[EITHER]] : !B_T_b -> !B_T_i
// CHECK: %[[ROWS:.+]] = model.live_rows %[[LIVE]] as "live"
// CHECK: %[[PLACES:.+]] = model.broadcast %{{.+}} : !T_8_f -> !B_T_8_f
// CHECK: %[[PACKED:.+]] = model.pack_rows %[[PLACES]] at %[[ROWS]] : {{.*}} -> !_1_live_8_f
// CHECK: %[[IDS:.+]] = model.pack_rows %{{.+}} at %[[ROWS]] : {{.*}} -> !_1_live_i
// CHECK: %[[Q:.+]] = mask.queries %[[LIVE]]
// CHECK: mask.and %{{.+}}, %[[Q]]
// CHECK: model.embedding %[[IDS]]
// CHECK: model.binary add %{{.+}}, %[[PACKED]] : (!_1_live_8_f
// CHECK: model.repeat 2 iter(%{{.+}}) : (!_1_live_8_f) -> !_1_live_8_f
// CHECK: model.linear {{.*}} -> (!_1_live_8_f, !_1_live_8_f, !_1_live_8_f)
// CHECK-COUNT-3: model.unpack_rows
// CHECK: attn.sdpa
// CHECK: model.pack_rows %{{.+}} at %[[ROWS]] : (!B_T_8_f
// CHECK: model.unary gelu %{{.+}} : (!_1_live_8_f)
// CHECK: %[[OUT:.+]] = model.unpack_rows %{{.+}} at %[[ROWS]] : (!_1_live_8_f{{.*}} -> !B_T_8_f
// CHECK: model.slice %[[OUT]] axis 1 from "0" to "1"
// CHECK: return %[[OUT]],
func.func @encoder(%ids: !model.tensor<[B, T], i64>, %real: !model.tensor<[B, T], i64> {model.default}, %places: !model.tensor<[T, 8], f32>)
    -> (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, 8], f32>) {
  %m = mask.keys %real : !model.tensor<[B, T], i64>
  %w = model.param "words" : !model.tensor<[11, 8], f32>
  %e = model.embedding %ids in %w : (!model.tensor<[B, T], i64>, !model.tensor<[11, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %x = model.binary add %e, %places : (!model.tensor<[B, T, 8], f32>, !model.tensor<[T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %y = model.repeat 2 iter(%x) : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32> {
  ^bb0(%i: index, %c: !model.tensor<[B, T, 8], f32>):
    %wq = model.param "h.{0}"[%i] : !model.tensor<[24, 8], f32>
    %q, %k, %v = model.linear %c, %wq parts [1, 1, 1] groups 1 : (!model.tensor<[B, T, 8], f32>, !model.tensor<[24, 8], f32>)
      -> (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>)
    %a = attn.sdpa %q, %k, %v mask %m heads 2 kv_heads 2 scale 0.5
      : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %s = model.binary add %c, %a : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %g = model.unary gelu %s : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    model.yield %g : !model.tensor<[B, T, 8], f32>
  }
  %f = model.slice %y axis 1 from "0" to "1" : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 1, 8], f32>
  %p = model.squeeze %f axis 1 : (!model.tensor<[B, 1, 8], f32>) -> !model.tensor<[B, 8], f32>
  return %y, %p : !model.tensor<[B, T, 8], f32>, !model.tensor<[B, 8], f32>
}

// -----

// The cached step: the rows of the past stand before the new ones in the mask.
// CHECK-LABEL: func.func @step
// CHECK: %[[ALL:.+]] = model.append
// CHECK: %[[NEW:.+]] = model.slice %[[ALL]] axis 1 from "past" to "new+past"
// CHECK: model.live_rows %[[NEW]] as "live"
// CHECK: model.linear {{.*}} -> !_1_live_8_f
// CHECK: %[[PLACED:.+]] = model.unpack_rows
// CHECK: model.append %{{.+}}, %[[PLACED]] axis 1
// CHECK: model.unpack_rows %{{.+}} -> !B_new_8_f
func.func @step(%x: !model.tensor<[B, new, 8], f32>, %real: !model.tensor<[B, new], i1> {model.default},
                %k: !model.state<[B, capacity, 8], f32> {model.state = "k"}, %r: !model.state<[B, capacity], i1> {model.state = "r"})
    -> !model.tensor<[B, new, 8], f32> {
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %h = model.linear %x, %w : (!model.tensor<[B, new, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, new, 8], f32>
  %seen = model.append %r, %real axis 1 : !model.state<[B, capacity], i1>, !model.tensor<[B, new], i1> -> !model.tensor<[B, "new+past"], i1>
  %c = mask.causal
  %n = mask.keys %seen : !model.tensor<[B, "new+past"], i1>
  %m = mask.and %c, %n
  %all = model.append %k, %h axis 1 : !model.state<[B, capacity, 8], f32>, !model.tensor<[B, new, 8], f32> -> !model.tensor<[B, "new+past", 8], f32>
  %a = attn.sdpa %h, %all, %all mask %m heads 2 kv_heads 2 scale 0.5 past "past"
    : (!model.tensor<[B, new, 8], f32>, !model.tensor<[B, "new+past", 8], f32>, !model.tensor<[B, "new+past", 8], f32>) -> !model.tensor<[B, new, 8], f32>
  %y = model.linear %a, %w : (!model.tensor<[B, new, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, new, 8], f32>
  return %y : !model.tensor<[B, new, 8], f32>
}

// -----

// Padding said the other way round, and a sum of the rows that are none.
// CHECK-LABEL: func.func @inverted
// CHECK: %[[NOT:.+]] = model.unary not %{{.+}}
// CHECK: model.live_rows %[[NOT]] as "live"
// CHECK: model.linear {{.*}} -> !_1_live_8_f
func.func @inverted(%x: !model.tensor<[B, T, 8], f32>, %pad: !model.tensor<[B, T], i1> {model.default}) -> !model.tensor<[B, T, 8], f32> {
  %k = mask.keys %pad : !model.tensor<[B, T], i1>
  %c = mask.causal
  %n = mask.not %c
  %o = mask.or %n, %k
  %m = mask.not %o
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %h = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %a = attn.sdpa %h, %h, %h mask %m heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %a : !model.tensor<[B, T, 8], f32>
}

// -----

// A mean of the live rows does not mind the others.
// CHECK-LABEL: func.func @pooled
// CHECK: model.linear {{.*}} -> !_1_live_8_f
// CHECK: %[[WHOLE:.+]] = model.unpack_rows
// CHECK: model.binary mul
// CHECK: model.reduce sum
func.func @pooled(%x: !model.tensor<[B, T, 8], f32>, %real: !model.tensor<[B, T], i64> {model.default}) -> !model.tensor<[B, 8], f32> {
  %m = mask.keys %real : !model.tensor<[B, T], i64>
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %a = attn.sdpa %x, %x, %x mask %m heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %h = model.linear %a, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %r = model.cast %real : !model.tensor<[B, T], i64> -> !model.tensor<[B, T], f32>
  %u = model.unsqueeze %r axis 2 : (!model.tensor<[B, T], f32>) -> !model.tensor<[B, T, 1], f32>
  %p = model.binary mul %h, %u : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 1], f32>) -> !model.tensor<[B, T, 8], f32>
  %s = model.reduce sum %p axes [1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 8], f32>
  return %s : !model.tensor<[B, 8], f32>
}

// -----

// A mean of all rows does.
// CHECK: module attributes {model.padding_report = ["@mean computes rows of padding (B x T): {{.+}}: reduce works along the rows"]}
// CHECK-NOT: pack_rows
func.func @mean(%x: !model.tensor<[B, T, 8], f32>, %real: !model.tensor<[B, T], i64> {model.default}) -> !model.tensor<[B, 8], f32> {
  %m = mask.keys %real : !model.tensor<[B, T], i64>
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %a = attn.sdpa %x, %x, %x mask %m heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %h = model.linear %a, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %s = model.reduce mean %h axes [1] : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, 8], f32>
  return %s : !model.tensor<[B, 8], f32>
}

// -----

// One attention sees padding: its keys and values, and what they are made of, are needed.
// CHECK: module attributes {model.padding_report = ["@seen computes rows of padding (B x T): {{.+}}: attention may see keys of padding: its mask does not imply keys(..) of the padding"]}
// CHECK-NOT: pack_rows
func.func @seen(%x: !model.tensor<[B, T, 8], f32>, %real: !model.tensor<[B, T], i64> {model.default}) -> !model.tensor<[B, T, 8], f32> {
  %m = mask.keys %real : !model.tensor<[B, T], i64>
  %c = mask.causal
  %n = mask.or %m, %c
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %h = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %a = attn.sdpa %h, %h, %h mask %m heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %b = attn.sdpa %a, %a, %a mask %n heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %b : !model.tensor<[B, T, 8], f32>
}

// -----

// A row that sees nothing and is the mean of all values reads hidden ones.
// CHECK: {{.+}}: a row that sees nothing is the mean of all values, hidden ones too"]}
// CHECK-NOT: pack_rows
func.func @means(%x: !model.tensor<[B, T, 8], f32>, %real: !model.tensor<[B, T], i64> {model.default}) -> !model.tensor<[B, T, 8], f32> {
  %m = mask.keys %real : !model.tensor<[B, T], i64>
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %h = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %a = attn.sdpa %h, %h, %h mask %m heads 2 kv_heads 2 scale 0.5 masked_rows mean
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %a : !model.tensor<[B, T, 8], f32>
}

// -----

// Keys that are the only ones seen need not be padding: outputs of the other rows may be wanted.
// CHECK: module attributes {model.padding_report = ["@anchors computes rows of padding (B x T): {{.+}}: nothing says that rows with keys that no row sees are padding: {{.+}}"]}
// CHECK-NOT: pack_rows
func.func @anchors(%x: !model.tensor<[B, T, 8], f32>, %far: !model.tensor<[B, T], i64>) -> !model.tensor<[B, T, 8], f32> {
  %m = mask.keys %far : !model.tensor<[B, T], i64>
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %h = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %a = attn.sdpa %h, %h, %h mask %m heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %a : !model.tensor<[B, T, 8], f32>
}

// -----

// The id of padding says it.
// CHECK-LABEL: func.func @ids
// CHECK: %[[REAL:.+]] = model.compare ne %arg0
// CHECK: model.live_rows %[[REAL]] as "live"
func.func @ids(%ids: !model.tensor<[B, T], i64>) -> !model.tensor<[B, T, 8], f32> {
  %pad = model.constant dense<0> : tensor<i64> : !model.tensor<[], i64>
  %real = model.compare ne %ids, %pad : (!model.tensor<[B, T], i64>, !model.tensor<[], i64>) -> !model.tensor<[B, T], i1>
  %m = mask.keys %real : !model.tensor<[B, T], i1>
  %words = model.param "words" : !model.tensor<[11, 8], f32>
  %x = model.embedding %ids in %words : (!model.tensor<[B, T], i64>, !model.tensor<[11, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %w = model.param "w" : !model.tensor<[8, 8], f32>
  %h = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %a = attn.sdpa %h, %h, %h mask %m heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %a : !model.tensor<[B, T, 8], f32>
}
