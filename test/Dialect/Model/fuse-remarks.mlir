// Why elementwise ops stay apart, one function for each reason.
// RUN: heddle-opt %s --model-fuse-elementwise --remarks-filter='fuse.*' -o /dev/null 2>&1 | FileCheck %s

!row = !model.tensor<[4], f32>
!rows = !model.tensor<[B, 4], f32>
!many = !model.tensor<[B, T, 4], f32>
!some = !model.tensor<[T, 4], f32>
!square = !model.tensor<[4, 4], f32>

// CHECK-DAG: [Missed] fuse.map {{.*}}Function=block{{.*}}its reader is in another block
func.func @block(%x: !rows {model.name = "x"}) -> (!rows {model.name = "y"}) {
  %n = model.unary neg %x : (!rows) -> !rows
  %y = model.repeat 2 iter(%x) : (!rows) -> !rows {
  ^bb0(%i: index, %c: !rows):
    %s = model.binary add %c, %n : (!rows, !rows) -> !rows
    model.yield %s : !rows
  }
  return %y : !rows
}

// CHECK-DAG: [Missed] fuse.map {{.*}}Function=readers{{.*}}another op reads it, too
func.func @readers(%x: !rows {model.name = "x"}) -> (!rows {model.name = "y"}, !rows {model.name = "z"}) {
  %n = model.unary neg %x : (!rows) -> !rows
  %e = model.unary exp %n : (!rows) -> !rows
  return %n, %e : !rows, !rows
}

// CHECK-DAG: [Missed] fuse.map {{.*}}Function=function{{.*}}would compute a division or a function again
func.func @function(%x: !rows {model.name = "x"}, %v: !row {model.name = "v"}) -> (!rows {model.name = "y"}) {
  %e = model.unary exp %v : (!row) -> !row
  %y = model.binary add %x, %e : (!rows, !row) -> !rows
  return %y : !rows
}

// CHECK-DAG: [Missed] fuse.map {{.*}}Function=dear{{.*}}would compute more than 4 ops again
func.func @dear(%x: !rows {model.name = "x"}, %v: !row {model.name = "v"}) -> (!rows {model.name = "y"}) {
  %a = model.binary mul %v, %v : (!row, !row) -> !row
  %b = model.binary add %a, %v : (!row, !row) -> !row
  %c = model.binary mul %b, %v : (!row, !row) -> !row
  %d = model.binary sub %c, %v : (!row, !row) -> !row
  %e = model.binary add %d, %v : (!row, !row) -> !row
  %y = model.binary add %x, %e : (!rows, !row) -> !rows
  return %y : !rows
}

// CHECK-DAG: [Passed] fuse.map {{.*}}Function=chain{{.*}}ops=3
func.func @chain(%x: !rows {model.name = "x"}) -> (!rows {model.name = "y"}) {
  %a = model.unary neg %x : (!rows) -> !rows
  %b = model.unary exp %a : (!rows) -> !rows
  %y = model.binary add %b, %x : (!rows, !rows) -> !rows
  return %y : !rows
}

// CHECK-DAG: [Passed] fuse.epilogue {{.*}}Function=taken{{.*}}ops=1
// CHECK-DAG: [Missed] fuse.epilogue {{.*}}Function=taken{{.*}}the linear has an epilogue already
func.func @taken(%x: !rows {model.name = "x"}) -> (!rows {model.name = "y"}, !rows {model.name = "z"}) {
  %w = model.param "w" : !square
  %l = model.linear %x, %w : (!rows, !square) -> !rows
  %g = model.unary gelu %l : (!rows) -> !rows
  %e = model.unary exp %g : (!rows) -> !rows
  return %g, %e : !rows, !rows
}

// CHECK-DAG: [Missed] fuse.epilogue {{.*}}Function=second{{.*}}another op reads the linear's result, too
func.func @second(%x: !rows {model.name = "x"}) -> (!rows {model.name = "y"}, !rows {model.name = "z"}) {
  %w = model.param "w" : !square
  %l = model.linear %x, %w : (!rows, !square) -> !rows
  %g = model.unary gelu %l : (!rows) -> !rows
  return %l, %g : !rows, !rows
}

// CHECK-DAG: [Missed] fuse.epilogue {{.*}}Function=several{{.*}}the linear has several results
func.func @several(%x: !rows {model.name = "x"}) -> (!model.tensor<[B, 2], f32> {model.name = "y"}, !model.tensor<[B, 2], f32> {model.name = "z"}) {
  %w = model.param "w" : !square
  %q, %k = model.linear %x, %w parts [1, 1] groups 1 : (!rows, !square) -> (!model.tensor<[B, 2], f32>, !model.tensor<[B, 2], f32>)
  %g = model.unary gelu %q : (!model.tensor<[B, 2], f32>) -> !model.tensor<[B, 2], f32>
  return %g, %k : !model.tensor<[B, 2], f32>, !model.tensor<[B, 2], f32>
}

// CHECK-DAG: [Missed] fuse.epilogue {{.*}}Function=elsewhere{{.*}}the linear is in another block
func.func @elsewhere(%x: !rows {model.name = "x"}) -> (!rows {model.name = "y"}) {
  %w = model.param "w" : !square
  %l = model.linear %x, %w : (!rows, !square) -> !rows
  %y = model.repeat 2 iter(%x) : (!rows) -> !rows {
  ^bb0(%i: index, %c: !rows):
    %s = model.binary add %c, %l : (!rows, !rows) -> !rows
    model.yield %s : !rows
  }
  return %y : !rows
}

// CHECK-DAG: [Missed] fuse.epilogue {{.*}}Function=wider{{.*}}it has another shape than the linear's result
func.func @wider(%v: !some {model.name = "v"}, %x: !many {model.name = "x"}) -> (!many {model.name = "y"}) {
  %w = model.param "w" : !square
  %l = model.linear %v, %w : (!some, !square) -> !some
  %y = model.binary add %x, %l : (!many, !some) -> !many
  return %y : !many
}

// CHECK-DAG: [Missed] fuse.epilogue {{.*}}Function=across{{.*}}neither along the rows nor along the columns
func.func @across(%v: !some {model.name = "v"}, %x: !many {model.name = "x"}) -> (!many {model.name = "y"}) {
  %w = model.param "w" : !square
  %l = model.linear %x, %w : (!many, !square) -> !many
  %y = model.binary add %l, %v : (!many, !some) -> !many
  return %y : !many
}
