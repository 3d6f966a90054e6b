// Why plans leave something as it is, one function for each reason.
// RUN: heddle-opt %s --split-input-file --attn-plan-cache --remarks-filter='cache.*' -o /dev/null 2>&1 | FileCheck %s
// RUN: heddle-opt %s --split-input-file --model-plan-schedules --model-plan-memory --remarks-filter='(memory|rows).*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY

!rows = !model.tensor<[B, new, 6], f32>
!all = !model.tensor<[B, "new+past", 6], f32>
!state = !model.state<[B, capacity, 6], f32>

// Two attentions with different numbers of key heads; a text that may have to be computed again comes at once.
// CHECK-DAG: [Missed] cache.layout {{.*}}different numbers of key heads
// CHECK-DAG: [Passed] cache.layout {{.*}}values of 2 heads are stored as attention reads them
// CHECK-DAG: [Missed] cache.ring {{.*}}a step may order all of the text to be computed again
// CHECK-DAG: [Missed] cache.pieces {{.*}}a step may order all of the text to be computed again
func.func @step(%q: !rows {model.name = "q"}, %ks: !state {model.state = "k"}, %vs: !state {model.state = "v"}, %ws: !state {model.state = "w"})
    -> (!rows {model.name = "y"}, !rows {model.name = "refill"}) {
  %k = model.append %ks, %q axis 1 : !state, !rows -> !all
  %v = model.append %vs, %q axis 1 : !state, !rows -> !all
  %w = model.append %ws, %q axis 1 : !state, !rows -> !all
  %m = mask.window left 199 right 0
  %y = attn.sdpa %q, %k, %v mask %m heads 2 kv_heads 2 scale 0.5 past "past" : (!rows, !all, !all) -> !rows
  %z = attn.sdpa %q, %k, %w mask %m heads 3 kv_heads 3 scale 0.5 past "past" : (!rows, !all, !all) -> !rows
  return %y, %z : !rows, !rows
}

// -----

!x = !model.tensor<[B, 12], f32>

// A repeat that swaps two values, an input that is handed out, a result that is handed out twice.
// MEMORY-DAG: [Missed] memory.carried {{.*}}Function=swap{{.*}}copies=
// MEMORY-DAG: [Missed] memory.output {{.*}}Function=swap{{.*}}it is an input
// MEMORY-DAG: [Missed] memory.output {{.*}}Function=swap{{.*}}it is an output already
func.func @swap(%a: !x {model.name = "a"}, %b: !x {model.name = "b"}) -> (!x {model.name = "p"}, !x {model.name = "q"}, !x {model.name = "r"}) {
  %p, %q = model.repeat 3 iter(%a, %b) : (!x, !x) -> (!x, !x) {
  ^bb0(%i: index, %c: !x, %d: !x):
    model.yield %d, %c : !x, !x
  }
  return %p, %a, %p : !x, !x, !x
}

// An operand that is read later, one of another shape, one from outside of the repeat.
// MEMORY-DAG: [Missed] memory.in_place {{.*}}Function=apart{{.*}}its operand is read later, too
// MEMORY-DAG: [Missed] memory.in_place {{.*}}Function=apart{{.*}}its operand has another shape or type
// MEMORY-DAG: [Missed] memory.in_place {{.*}}Function=apart{{.*}}its operand is made outside of this block
func.func @apart(%a: !x {model.name = "a"}, %v: !model.tensor<[12], f32> {model.name = "v"}) -> (!x {model.name = "y"}, !x {model.name = "z"}) {
  %n = model.unary neg %a : (!x) -> !x
  %e = model.unary exp %n : (!x) -> !x
  %w = model.unary neg %v : (!model.tensor<[12], f32>) -> !model.tensor<[12], f32>
  %s = model.binary add %a, %w : (!x, !model.tensor<[12], f32>) -> !x
  %y = model.repeat 3 iter(%s) : (!x) -> !x {
  ^bb0(%i: index, %c: !x):
    %t = model.unary tanh %n : (!x) -> !x
    %u = model.binary add %c, %t : (!x, !x) -> !x
    model.yield %u : !x
  }
  %z = model.binary add %e, %n : (!x, !x) -> !x
  return %y, %z : !x, !x
}

// -----

// A linear with a weight that is computed packs it, and rounds its rows alone.
// MEMORY-DAG: [Missed] rows.rounded_once {{.*}}Function=packs{{.*}}so it rounds its rows for itself
#target = #model.target<"cpu", chip = "", lanes = 16, registers = 32>
!v = !model.tensor<[n, 96], f32>
!w = !model.tensor<[96, 96], f32>
module attributes {model.dims = {}, model.dtype = "bf16", model.math = "dots", model.target = #target} {
  func.func @packs(%x: !v {model.name = "x"}, %w: !w {model.name = "w"}) -> (!v {model.name = "y"}) {
    %m = model.unary neg %w : (!w) -> !w
    %y = model.linear %x, %m : (!v, !w) -> !v
    return %y : !v
  }
}
