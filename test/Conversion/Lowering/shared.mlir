// RUN: heddle-opt --heddle-tiled --heddle-buffers --convert-heddle-to-loops --heddle-share-loops --canonicalize --cse %s -o %t
// RUN: FileCheck %s < %t
// RUN: grep -c 'func.func private @heddle_attention_[0-9A-Fa-f]*(' %t | FileCheck %s --check-prefix=TWO
// RUN: grep -c 'func.func private @heddle_attention_[0-9A-Fa-f]*_anchors(' %t | FileCheck %s --check-prefix=ONE
// RUN: grep -c 'func.func private @heddle_layer_norm' %t | FileCheck %s --check-prefix=ONE
// RUN: sed 's/^  %c = mask.causal/%u = mask.causal\n%l = mask.window left 199\n%c = mask.and %u, %l/' %s | heddle-opt --heddle-tiled --heddle-buffers --convert-heddle-to-loops -o %t.ring
// RUN: grep -c 'func.func private @heddle_attention_[0-9A-Fa-f]*(' %t.ring | FileCheck %s --check-prefix=TWO
// RUN: grep -c 'arith.constant 896 : index' %t.ring | FileCheck %s --check-prefix=SOME
// RUN: sed '/past "past"/s/heads 2 kv_heads 2/heads 1 kv_heads 1/' %s | heddle-opt --heddle-tiled --heddle-buffers --convert-heddle-to-loops | grep -c 'func.func private @heddle_attention_[0-9A-Fa-f]*(' | FileCheck %s --check-prefix=THREE

// Lengths reach a kernel by their roles. Attention of all rows (rows T, keys T, past 0, keys from the rows of the call; one
// tensor says which keys and which queries there are) is the function of the attention of new rows (rows new, keys past +
// new, from a cache; two tensors), and so is that of a fixed number of rows. Heads of another width are another function:
// with one head of 32 features instead of two of 16 there are three. Under a window @step reads a ring of 896 rows and @run its
// rows, in one function too.
// ONE: {{^}}1{{$}}
// TWO: {{^}}2{{$}}
// THREE: {{^}}3{{$}}
// SOME: {{^[1-9]}}
!x = !model.tensor<[B, T, 32], f32>
!m = !model.tensor<[B, T], i64>
!new = !model.tensor<[B, new, 32], f32>
!newm = !model.tensor<[B, new], i64>
!all = !model.tensor<[B, "past+new", 32], f32>
!allm = !model.tensor<[B, "past+new"], i64>
!fixed = !model.tensor<[B, 50, 32], f32>
!w = !model.tensor<[32], f32>
!state = !model.state<[B, capacity, 32], f32>
!mstate = !model.state<[B, capacity], i64>

// CHECK-LABEL: func.func private @heddle_entry_run(
// CHECK: call @[[NORM:heddle_layer_norm_[0-9A-Fa-f]+]](
// CHECK: call @[[ATTENTION:heddle_attention_[0-9A-Fa-f]+]]_pack(
// CHECK: call @[[ATTENTION]]_anchors(
// CHECK: call @[[ATTENTION]](
// CHECK: call @[[NORM]](
// CHECK: call @heddle_attention_
func.func @run(%x: !x {model.name = "x"}, %m: !m {model.name = "m"}, %w: !w {model.name = "w"}) -> (!x {model.name = "y"}) {
  %n = model.layer_norm %x weight %w bias %w eps 1.0e-5 : (!x, !w, !w) -> !x
  %c = mask.causal
  %k = mask.keys %m : !m
  %q = mask.queries %m : !m
  %ck = mask.and %c, %k
  %all = mask.and %ck, %q
  %a = attn.sdpa %n, %n, %n mask %all heads 2 kv_heads 2 scale 0.5 : (!x, !x, !x) -> !x
  %b = model.layer_norm %a weight %w bias %w eps 1.0e-5 : (!x, !w, !w) -> !x
  %y = attn.sdpa %b, %b, %b heads 2 kv_heads 2 scale 0.5 : (!x, !x, !x) -> !x
  return %y : !x
}

// CHECK-LABEL: func.func private @heddle_entry_step(
// CHECK: call @[[NORM]](
// CHECK: call @[[ATTENTION]]_anchors(
// CHECK: call @[[ATTENTION]](
func.func @step(%x: !new {model.name = "x"}, %m: !newm {model.name = "m"}, %w: !w {model.name = "w"}, %ks: !state {model.state = "ks"},
                %vs: !state {model.state = "vs"}, %ms: !mstate {model.state = "ms"}) -> (!new {model.name = "y"}) {
  %n = model.layer_norm %x weight %w bias %w eps 1.0e-5 : (!new, !w, !w) -> !new
  %ka = model.append %ks, %n axis 1 : !state, !new -> !all
  %va = model.append %vs, %n axis 1 : !state, !new -> !all
  %ma = model.append %ms, %m axis 1 : !mstate, !newm -> !allm
  %c = mask.causal
  %k = mask.keys %ma : !allm
  %q = mask.queries %m : !newm
  %ck = mask.and %c, %k
  %all = mask.and %ck, %q
  %y = attn.sdpa %n, %ka, %va mask %all heads 2 kv_heads 2 scale 0.5 past "past" : (!new, !all, !all) -> !new
  return %y : !new
}

// Another number in the code, eps, is other code; it comes once and stays where it is.
// CHECK-LABEL: func.func private @heddle_entry_fixed(
// CHECK-NOT: call @heddle_layer_norm_
// CHECK: arith.constant 9.99999997E-7
// CHECK-NOT: call @heddle_layer_norm_
// CHECK: call @heddle_attention_
func.func @fixed(%x: !fixed {model.name = "x"}, %w: !w {model.name = "w"}) -> (!fixed {model.name = "y"}) {
  %n = model.layer_norm %x weight %w bias %w eps 1.0e-6 : (!fixed, !w, !w) -> !fixed
  %y = attn.sdpa %n, %n, %n heads 2 kv_heads 2 scale 0.5 : (!fixed, !fixed, !fixed) -> !fixed
  return %y : !fixed
}
