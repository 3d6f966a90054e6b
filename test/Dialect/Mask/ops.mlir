// Every mask op prints what it parses.
// REQUIRES: heddle-opt
// RUN: heddle-opt %s | heddle-opt | FileCheck %s

// CHECK: !B_S_15_16_2_i = !model.tensor<[B, "(S+15)//16+2"], i64>
// CHECK-LABEL: func.func @masks
func.func @masks(%keys: !model.tensor<[B, S], i64>, %rows: !model.tensor<[B, T], i64>, %n: !model.tensor<[B], i64>,
                 %lists: !model.tensor<[4, 2], i64>, %dense: !model.tensor<[B, 12, T, S], i1>, %which: !model.tensor<[], i1>) {
  // CHECK: mask.all
  %a = mask.all
  // CHECK: mask.causal
  %b = mask.causal
  // CHECK: mask.window left 127 right 0
  %c = mask.window left 127 right 0
  // CHECK: mask.window left -3{{$}}
  %d = mask.window left -3
  // CHECK: mask.window left 1 right 1 on %{{.*}} : !B_T_i keys %{{.*}} : !B_S_i
  %e = mask.window left 1 right 1 on %rows : !model.tensor<[B, T], i64> keys %keys : !model.tensor<[B, S], i64>
  // CHECK: mask.dilated 4
  %f = mask.dilated 4
  // CHECK: mask.chunk 8192
  %chunk = mask.chunk 8192
  // CHECK: mask.grid width 14 rows 3 columns 0
  %grid = mask.grid width 14 rows 3 columns 0
  // CHECK: mask.grid_window width 56 rows 7 columns 7 shift 3
  %windows = mask.grid_window width 56 rows 7 columns 7 shift 3
  // CHECK: mask.grid_window width 56 rows 7 columns 7{{$}}
  %unmoved = mask.grid_window width 56 rows 7 columns 7
  // CHECK: mask.band from [#map{{[0-9]*}}]
  %chunked = mask.band from [affine_map<(i) -> (i floordiv 16 * 16 + 2)>]
  // CHECK: mask.keys %{{.*}} : {{.*}}!B_S_i
  %g = mask.keys %keys : !model.tensor<[B, S], i64>
  // CHECK: mask.queries %{{.*}} : {{.*}}!B_T_i
  %h = mask.queries %rows : !model.tensor<[B, T], i64>
  // CHECK: mask.prefix %{{.*}} : {{.*}}!B_i
  %i = mask.prefix %n : !model.tensor<[B], i64>
  // CHECK: mask.document %{{.*}}, %{{.*}} : {{.*}}!B_T_i, {{.*}}!B_S_i
  %j = mask.document %rows, %keys : !model.tensor<[B, T], i64>, !model.tensor<[B, S], i64>
  // CHECK: mask.blocks 64, %{{.*}} : {{.*}}!_4_2_i
  %k = mask.blocks 64, %lists : !model.tensor<[4, 2], i64>
  // CHECK: mask.dense %{{.*}} : {{.*}}!B_12_T_S_b
  %l = mask.dense %dense : !model.tensor<[B, 12, T, S], i1>
  // CHECK: mask.and
  %m = mask.and %b, %g
  // CHECK: mask.or
  %o = mask.or %m, %h
  // CHECK: mask.add
  %p = mask.add %o, %k
  // CHECK: mask.not
  %q = mask.not %p
  // CHECK: mask.select %{{.*}}, %{{.*}}, %{{.*}} : {{.*}}!b
  %r = mask.select %which, %q, %a : !model.tensor<[], i1>
  // CHECK: mask.none
  %s = mask.none
  // CHECK: mask.band from [#map{{[0-9]*}}] below [#map{{[0-9]*}}, #map{{[0-9]*}}] of %{{.*}} : {{.*}}!B_i
  %t = mask.band from [affine_map<(i)[n] -> (i - 64)>] below [affine_map<(i)[n] -> (i + 1, n)>, affine_map<(i)[n] -> (512)>] of %n : !model.tensor<[B], i64>
  // CHECK: %[[TABLE:.*]] = mask.key_table %{{.*}} : {{.*}}!B_S_i
  %u = mask.key_table %keys : !model.tensor<[B, S], i64>
  // CHECK: mask.keys %{{.*}} : {{.*}}!B_S_i table %[[TABLE]] : {{.*}}!B_S_15_16_2_i
  %v = mask.keys %keys : !model.tensor<[B, S], i64> table %u : !model.tensor<[B, "(S+15)//16+2"], i64>
  // CHECK: mask.row_counts %{{.*}} : {{.*}}!B_T_i
  %w = mask.row_counts %rows : !model.tensor<[B, T], i64>
  // CHECK: mask.label_table %{{.*}}, %{{.*}} left 2 right 0 : {{.*}}!B_T_i, {{.*}}!B_S_i
  %x = mask.label_table %rows, %keys left 2 right 0 : !model.tensor<[B, T], i64>, !model.tensor<[B, S], i64>
  // CHECK: mask.block_runs 64, %{{.*}} : {{.*}}!_4_2_i
  %y = mask.block_runs 64, %lists : !model.tensor<[4, 2], i64>
  // CHECK: mask.dense_table %{{.*}} : {{.*}}!B_12_T_S_b
  %z = mask.dense_table %dense : !model.tensor<[B, 12, T, S], i1>
  return
}
