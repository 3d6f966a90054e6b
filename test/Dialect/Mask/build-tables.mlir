// mask-build-tables: one table a tensor, outside of repeats, shared by all who ask the same.
// REQUIRES: heddle-opt
// RUN: heddle-opt %s --mask-build-tables | FileCheck %s

!x = !model.tensor<[B, T, 8], f32>
!ids = !model.tensor<[B, T], i64>

// CHECK-DAG: !B_T_15_16_2_i = !model.tensor<[B, "(T+15)//16+2"], i64>
// CHECK-DAG: !B_T_1_i = !model.tensor<[B, "T+1"], i64>
// CHECK-DAG: !B_3_T_15_16_2_T_1_i = !model.tensor<[B, "3*((T+15)//16)+2*T+1"], i64>
// CHECK-DAG: !B_1_T_7_8_2_T_1023_1024_i = !model.tensor<[B, 1, "(T+7)//8", 2, "(T+1023)//1024"], i64>
// CHECK-LABEL: @layers
func.func @layers(%x: !x, %ids: !ids, %pad: !ids) -> !x {
  // CHECK: %[[REAL:.*]] = model.compare
  // CHECK-NEXT: %[[KEYS:.*]] = mask.key_table %[[REAL]] :
  // CHECK: model.repeat
  // CHECK-NOT: mask.key_table
  // CHECK: mask.keys %[[REAL]] : {{.*}} table %[[KEYS]] : {{.*}}!B_T_15_16_2_i
  // CHECK: mask.keys %[[REAL]] : {{.*}} table %[[KEYS]]
  %out = model.repeat 12 iter(%x) : (!x) -> (!x) {
  ^bb0(%i: index, %y: !x):
    %real = model.compare ne %ids, %pad : (!ids, !ids) -> !model.tensor<[B, T], i1>
    %a = mask.keys %real : !model.tensor<[B, T], i1>
    %b = mask.causal
    %m = mask.and %a, %b
    %z = attn.sdpa %y, %y, %y mask %m heads 2 kv_heads 2 scale 1.0 : (!x, !x, !x) -> !x
    %c = mask.keys %real : !model.tensor<[B, T], i1>
    %w = attn.sdpa %z, %z, %z mask %c heads 2 kv_heads 2 scale 1.0 : (!x, !x, !x) -> !x
    model.yield %w : !x
  }
  return %out : !x
}

// CHECK-LABEL: @kinds
func.func @kinds(%x: !x, %ids: !ids, %real: !model.tensor<[B, T], f32>, %lists: !model.tensor<[4, 2], i64>,
                 %pairs: !model.tensor<[B, 1, T, T], i1>, %row: !model.tensor<[B, 1, 1, T], i1>) -> !x {
  // CHECK-DAG: mask.row_counts %arg1
  // CHECK-DAG: mask.label_table %arg1, %arg1 left 0 right 0
  // CHECK-DAG: mask.label_table %arg1, %arg1 left 3
  // CHECK-DAG: mask.block_runs 64, %arg3
  // CHECK-DAG: mask.dense_table %arg4
  // CHECK: mask.queries %arg1 : {{.*}} table {{.*}}!B_T_1_i
  %a = mask.queries %ids : !ids
  // CHECK: mask.document {{.*}} table {{.*}}!B_3_T_15_16_2_T_1_i
  %b = mask.document %ids, %ids : !ids, !ids
  // CHECK: mask.window left 3 on {{.*}} table
  %c = mask.window left 3 on %ids : !ids
  // CHECK: mask.blocks 64, {{.*}} table {{.*}}!_1_4_5_i
  %d = mask.blocks 64, %lists : !model.tensor<[4, 2], i64>
  // CHECK: mask.dense %arg4 : {{.*}} table {{.*}}!B_1_T_7_8_2_T_1023_1024_i
  %e = mask.dense %pairs : !model.tensor<[B, 1, T, T], i1>
  // One element for all rows, and reals, are not looked up.
  // CHECK: mask.dense %arg5 : {{.*}}!B_1_1_T_b{{$}}
  %f = mask.dense %row : !model.tensor<[B, 1, 1, T], i1>
  // CHECK: mask.document %arg2, %arg2 : {{.*}}_f{{$}}
  %g = mask.document %real, %real : !model.tensor<[B, T], f32>, !model.tensor<[B, T], f32>
  %h = mask.and %a, %b
  %i = mask.and %h, %c
  %j = mask.and %i, %d
  %k = mask.and %j, %e
  %l = mask.and %k, %f
  %m = mask.and %l, %g
  %y = attn.sdpa %x, %x, %x mask %m heads 2 kv_heads 2 scale 1.0 : (!x, !x, !x) -> !x
  return %y : !x
}
