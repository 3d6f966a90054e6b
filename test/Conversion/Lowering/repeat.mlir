// RUN: %loops %s | FileCheck %s

// A repeat is one loop around one body, with a parameter's address by the index. The carried value has one place, y; the
// caller's x is copied there first, and the body's last op writes there: no copy and no barrier but behind the op.
!x = !model.tensor<[B, 12], f32>
!w = !model.tensor<[12], f32>
// CHECK-LABEL: heddle_entry_layers:
// CHECK-NEXT: n0 := ((12*B + 4095)/4096)
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | n1 := min(12*B - 4096*i, 4096)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*i + j : 16] = x[4096*i + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*i + j : min(16, n1 - j)] = x[4096*i + j : min(16, n1 - j)]
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = 0 to 3
// CHECK-NEXT: | for j = share(B)
// CHECK-NEXT: | | y[12*j : min(16, 12)] = y[12*j : min(16, 12)] * weights[64*i : min(16, 12)]
// CHECK-NEXT: | barrier
func.func @layers(%x0: !x {model.name = "x"}) -> (!x {model.name = "y"}) {
  %y = model.repeat 3 iter(%x0) : (!x) -> !x {
  ^bb0(%i: index, %x: !x):
    %w = model.param "h.{0}.w"[%i] : !w
    %z = model.binary mul %x, %w : (!x, !w) -> !x
    model.yield %z : !x
  }
  return %y : !x
}

// What an iteration leaves beside the carried value is collected in row i, behind a barrier of its own.
!all = !model.tensor<[3, B, 12], f32>
// CHECK-LABEL: heddle_entry_collects:
// CHECK-NEXT: n0 := ((12*B + 4095)/4096)
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | n1 := min(12*B - 4096*i, 4096)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*i + j : 16] = x[4096*i + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*i + j : min(16, n1 - j)] = x[4096*i + j : min(16, n1 - j)]
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = 0 to 3
// CHECK-NEXT: | for j = share(B)
// CHECK-NEXT: | | arena[12*j : min(16, 12)] = y[12*j : min(16, 12)] * weights[64*i : min(16, 12)]
// CHECK-NEXT: | barrier
// CHECK-NEXT: | for j = share(n0)
// CHECK-NEXT: | | n2 := min(12*B - 4096*j, 4096)
// CHECK-NEXT: | | for k = 0 to 16*(n2/16) step 16
// CHECK-NEXT: | | | all[12*B*i + 4096*j + k : 16] = y[4096*j + k : 16]
// CHECK-NEXT: | | for k = 16*(n2/16) to n2 step 16
// CHECK-NEXT: | | | all[12*B*i + 4096*j + k : min(16, n2 - k)] = y[4096*j + k : min(16, n2 - k)]
// CHECK-NEXT: | barrier
// CHECK-NEXT: | for j = share(n0)
// CHECK-NEXT: | | for k = 0 to 16*(n2/16) step 16
// CHECK-NEXT: | | | y[4096*j + k : 16] = arena[4096*j + k : 16]
// CHECK-NEXT: | | for k = 16*(n2/16) to n2 step 16
// CHECK-NEXT: | | | y[4096*j + k : min(16, n2 - k)] = arena[4096*j + k : min(16, n2 - k)]
// CHECK-NEXT: | barrier
func.func @collects(%x0: !x {model.name = "x"}) -> (!x {model.name = "y"}, !all {model.name = "all"}) {
  %y, %all = model.repeat 3 iter(%x0) : (!x) -> (!x, !all) {
  ^bb0(%i: index, %x: !x):
    %w = model.param "h.{0}.w"[%i] : !w
    %z = model.binary mul %x, %w : (!x, !w) -> !x
    model.yield %z, %x : !x, !x
  }
  return %y, %all : !x, !all
}

// Values that change places go through a third one: copies, each half behind a barrier.
// CHECK-LABEL: heddle_entry_crossed:
// CHECK-NEXT: n0 := ((12*B + 4095)/4096)
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | n1 := min(12*B - 4096*i, 4096)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | y[4096*i + j : 16] = a[4096*i + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | y[4096*i + j : min(16, n1 - j)] = a[4096*i + j : min(16, n1 - j)]
// CHECK-NEXT: for i = share(n0)
// CHECK-NEXT: | for j = 0 to 16*(n1/16) step 16
// CHECK-NEXT: | | z[4096*i + j : 16] = b[4096*i + j : 16]
// CHECK-NEXT: | for j = 16*(n1/16) to n1 step 16
// CHECK-NEXT: | | z[4096*i + j : min(16, n1 - j)] = b[4096*i + j : min(16, n1 - j)]
// CHECK-NEXT: barrier
// CHECK-NEXT: for i = 0 to 3
// CHECK-NEXT: | for j = share(n0)
// CHECK-NEXT: | | n2 := min(12*B - 4096*(j%n0), 4096)
// CHECK-NEXT: | | for k = 0 to 16*(n2/16) step 16
// CHECK-NEXT: | | | arena[4096*(j%n0) + 12*(j/n0)*B + k : 16] = negf(y[4096*(j%n0) + k : 16])
// CHECK-NEXT: | | for k = 16*(n2/16) to n2 step 16
// CHECK-NEXT: | | | arena[4096*(j%n0) + 12*(j/n0)*B + k : min(16, n2 - k)] = negf(y[4096*(j%n0) + k : min(16, n2 - k)])
// CHECK-NEXT: | barrier
// CHECK-NEXT: | for j = share(n0)
// CHECK-NEXT: | | for k = 0 to 16*(n2/16) step 16
// CHECK-NEXT: | | | y[4096*(j%n0) + 12*(j/n0)*B + k : 16] = z[4096*(j%n0) + k : 16]
// CHECK-NEXT: | | for k = 16*(n2/16) to n2 step 16
// CHECK-NEXT: | | | y[4096*(j%n0) + 12*(j/n0)*B + k : min(16, n2 - k)] = z[4096*(j%n0) + k : min(16, n2 - k)]
// CHECK-NEXT: | barrier
// CHECK-NEXT: | for j = share(n0)
// CHECK-NEXT: | | n3 := min(12*B - 4096*j, 4096)
// CHECK-NEXT: | | for k = 0 to 16*(n3/16) step 16
// CHECK-NEXT: | | | z[4096*j + k : 16] = arena[4096*j + k : 16]
// CHECK-NEXT: | | for k = 16*(n3/16) to n3 step 16
// CHECK-NEXT: | | | z[4096*j + k : min(16, n3 - k)] = arena[4096*j + k : min(16, n3 - k)]
// CHECK-NEXT: | barrier
func.func @crossed(%a0: !x {model.name = "a"}, %b0: !x {model.name = "b"}) -> (!x {model.name = "y"}, !x {model.name = "z"}) {
  %y, %z = model.repeat 3 iter(%a0, %b0) : (!x, !x) -> (!x, !x) {
  ^bb0(%i: index, %a: !x, %b: !x):
    %n = model.unary neg %a : (!x) -> !x
    model.yield %b, %n : !x, !x
  }
  return %y, %z : !x, !x
}
