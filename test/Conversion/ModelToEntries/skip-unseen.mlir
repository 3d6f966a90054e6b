// Queries that see nothing are not computed, nor keys and values of texts without any other query.
// RUN: heddle-opt --model-skip-unseen --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @some
// CHECK: %[[HERE:.+]] = model.compare ne %{{.+}}, %{{.+}} : {{.*}} -> !B_T_b
// CHECK: %[[MOST:.+]] = model.reduce max %{{.+}} axes {{.*}} keep
// CHECK: %[[ALL:.+]] = model.broadcast %[[MOST]] : !B_1_i -> !B_T_i
// CHECK: %[[TEXTS:.+]] = model.live_rows %[[ALL]] as "live1"
// CHECK: %[[QUERIES:.+]] = model.live_rows %{{.+}} as "live"
// CHECK: model.repeat
// CHECK: %[[XQ:.+]] = model.pack_rows %[[X:.+]] at %[[QUERIES]] : {{.*}} -> !_1_live_8_f
// CHECK: %[[Q:.+]] = model.linear %[[XQ]], {{.*}} -> !_1_live_8_f
// CHECK: %[[QU:.+]] = model.unpack_rows %[[Q]] at %[[QUERIES]]
// CHECK: %[[XK:.+]] = model.pack_rows %[[X]] at %[[TEXTS]] : {{.*}} -> !_1_live1_8_f
// CHECK: %[[K:.+]] = model.linear %[[XK]],
// CHECK: %[[KU:.+]] = model.unpack_rows %[[K]] at %[[TEXTS]]
// The values have another reader.
// CHECK: %[[V:.+]] = model.linear %[[X]],
// CHECK: attn.sdpa %[[QU]], %[[KU]], %[[V]]
func.func @some(%x: !model.tensor<[B, T, 8], f32>, %far: !model.tensor<[B, T], i64>, %real: !model.tensor<[B, T], i64>)
    -> !model.tensor<[B, T, 8], f32> {
  %keys = mask.keys %real : !model.tensor<[B, T], i64>
  %rows = mask.queries %real : !model.tensor<[B, T], i64>
  %q = mask.queries %far : !model.tensor<[B, T], i64>
  %qk = mask.and %q, %keys
  %m = mask.and %qk, %rows
  %y = model.repeat 2 iter(%x) : (!model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32> {
  ^bb0(%i: index, %c: !model.tensor<[B, T, 8], f32>):
    %w = model.param "h.{0}"[%i] : !model.tensor<[8, 8], f32>
    %a = model.linear %c, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %b = model.linear %c, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %v = model.linear %c, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %s = attn.sdpa %a, %b, %v mask %m heads 2 kv_heads 2 scale 0.5
      : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    %r = model.binary add %s, %v : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
    model.yield %r : !model.tensor<[B, T, 8], f32>
  }
  return %y : !model.tensor<[B, T, 8], f32>
}

// -----

// A mask of padding alone says nothing new, a row that is the mean of all values needs them, and of a step's queries
// the tensor holds rows of the past, too.
// CHECK-LABEL: func.func @all
// CHECK-NOT: live_rows
// CHECK: return
func.func @all(%x: !model.tensor<[B, T, 8], f32>, %far: !model.tensor<[B, T], i64>, %real: !model.tensor<[B, T], i64>, %w: !model.tensor<[8, 8], f32>)
    -> (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) {
  %keys = mask.keys %real : !model.tensor<[B, T], i64>
  %rows = mask.queries %real : !model.tensor<[B, T], i64>
  %padding = mask.and %rows, %keys
  %some = mask.queries %far : !model.tensor<[B, T], i64>
  %q0 = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %k0 = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %a = attn.sdpa %q0, %k0, %x mask %padding heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %q1 = model.linear %x, %w : (!model.tensor<[B, T, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  %b = attn.sdpa %q1, %x, %x mask %some heads 2 kv_heads 2 scale 0.5 masked_rows mean
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %a, %b : !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>
}

// -----

// Rows that are packed already: the list refines theirs.
// CHECK-LABEL: func.func @packed
// CHECK: %[[LIVE:.+]] = model.live_rows %{{.+}} as "live"
// CHECK: %[[HERE:.+]] = model.pack_rows %{{.+}} at %[[LIVE]] : (!B_T_b, !live_i) -> !_1_live_b
// CHECK: %[[MORE:.+]] = model.live_rows %[[HERE]] as "live1"
// CHECK: %[[X:.+]] = model.pack_rows %{{.+}} at %[[MORE]] : (!_1_live_8_f, !live1_i) -> !_1_live1_8_f
// CHECK: %[[Q:.+]] = model.linear %[[X]],
// CHECK: %[[ONCE:.+]] = model.unpack_rows %[[Q]] at %[[MORE]] : (!_1_live1_8_f, !live1_i) -> !_1_live_8_f
// CHECK: model.unpack_rows %[[ONCE]] at %[[LIVE]]
func.func @packed(%x: !model.tensor<[B, T, 8], f32>, %far: !model.tensor<[B, T], i1>, %real: !model.tensor<[B, T], i64>, %w: !model.tensor<[8, 8], f32>)
    -> !model.tensor<[B, T, 8], f32> {
  %live = model.live_rows %real as "live" : (!model.tensor<[B, T], i64>) -> !model.tensor<[live], i64>
  %p = model.pack_rows %x at %live : (!model.tensor<[B, T, 8], f32>, !model.tensor<[live], i64>) -> !model.tensor<[1, live, 8], f32>
  %l = model.linear %p, %w : (!model.tensor<[1, live, 8], f32>, !model.tensor<[8, 8], f32>) -> !model.tensor<[1, live, 8], f32>
  %q = model.unpack_rows %l at %live : (!model.tensor<[1, live, 8], f32>, !model.tensor<[live], i64>) -> !model.tensor<[B, T, 8], f32>
  %packing = mask.queries %real : !model.tensor<[B, T], i64>
  %some = mask.queries %far : !model.tensor<[B, T], i1>
  %m = mask.and %some, %packing
  %a = attn.sdpa %q, %x, %x mask %m heads 2 kv_heads 2 scale 0.5
    : (!model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>, !model.tensor<[B, T, 8], f32>) -> !model.tensor<[B, T, 8], f32>
  return %a : !model.tensor<[B, T, 8], f32>
}
