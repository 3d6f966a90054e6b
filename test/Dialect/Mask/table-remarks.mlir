// When the table of a leaf is made: once a call, or in each iteration where its tensor changes.
// RUN: heddle-opt %s --mask-build-tables --remarks-filter='mask.table' -o /dev/null 2>&1 | FileCheck %s

!x = !model.tensor<[B, T, 8], f32>
!ids = !model.tensor<[B, T], i64>

// CHECK: [Passed] mask.table {{.*}}a table that is made once a call answers for 2 leaves{{.*}}leaves=2
// CHECK: [Missed] mask.table {{.*}}what its table is made of changes in each iteration
func.func @layers(%x: !x, %ids: !ids) -> (!x, !ids) {
  %y, %z = model.repeat 3 iter(%x, %ids) : (!x, !ids) -> (!x, !ids) {
  ^bb0(%i: index, %a: !x, %c: !ids):
    %once = mask.keys %ids : !ids
    %b = attn.sdpa %a, %a, %a mask %once heads 2 kv_heads 2 scale 1.0 : (!x, !x, !x) -> !x
    %again = mask.keys %ids : !ids
    %d = attn.sdpa %b, %b, %b mask %again heads 2 kv_heads 2 scale 1.0 : (!x, !x, !x) -> !x
    %each = mask.keys %c : !ids
    %e = attn.sdpa %d, %d, %d mask %each heads 2 kv_heads 2 scale 1.0 : (!x, !x, !x) -> !x
    %next = model.binary add %c, %ids : (!ids, !ids) -> !ids
    model.yield %e, %next : !x, !ids
  }
  return %y, %z : !x, !ids
}
