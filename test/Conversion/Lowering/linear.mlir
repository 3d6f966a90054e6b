// RUN: %loops %s | FileCheck %s

// x W + b. Items are (block of rows, panel of results), dealt out to the threads; one barrier behind them.
!x = !model.tensor<[B, 10], f32>
!w = !model.tensor<[40, 10], f32>
!b = !model.tensor<[40], f32>
!y = !model.tensor<[B, 40], f32>

// Panels of 16 and tiles of 2 rows, so that all of it can be read: k ascends, a step has one fma a sum, a result is stored
// once, and only lanes that exist are. Weights come from panel i%3, whose next one is fetched meanwhile.
// CHECK-LABEL: heddle_entry_tiles:
// CHECK-NEXT: heddle_linear_10_40(x, weights, weights[1920], y, B, dealt(3*((B + 255)/256) of select(B > 4, 3*((B + 255)/256), nth)))
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_linear_10_40:
// CHECK-NEXT: for i = from to to
// CHECK-NEXT: | n0 := min(256*(i/3) + 256, rows)
// CHECK-NEXT: | n1 := ((n0 - 256*(i/3))/2)
// CHECK-NEXT: | for j = 256*(i/3) to 256*(i/3) + 2*n1 step 2
// CHECK-NEXT: | | for k = 0 to 10, 2 from 0
// CHECK-NEXT: | | | n2 := max((2*n1/2), 1)
// CHECK-NEXT: | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + k*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | k0 <- fma(x[10*j + k], w[160*(i%3) + 16*k : 16], k0)
// CHECK-NEXT: | | | k1 <- fma(x[10*j + k + 10], w[160*(i%3) + 16*k : 16], k1)
// CHECK-NEXT: | | y[16*(i%3) + 40*j : min(16, 40 - 16*(i%3))] = k0 + bias[16*(i%3) : min(16, 40 - 16*(i%3))]
// CHECK-NEXT: | | y[16*(i%3) + 40*j + 40 : min(16, 40 - 16*(i%3))] = k1 + bias[16*(i%3) : min(16, 40 - 16*(i%3))]
// CHECK-NEXT: | for j = 256*(i/3) + 2*n1 to n0
// CHECK-NEXT: | | for k = 0 to 10, 1 from 0
// CHECK-NEXT: | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + k*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | k0' <- fma(x[10*j + k], w[160*(i%3) + 16*k : 16], k0')
// CHECK-NEXT: | | y[16*(i%3) + 40*j : min(16, 40 - 16*(i%3))] = k0' + bias[16*(i%3) : min(16, 40 - 16*(i%3))]
func.func @tiles(%x: !x {model.name = "x"}) -> (!y {model.name = "y"}) {
  %w = model.param "w" : !w
  %b = model.param "b" : !b
  %y = model.linear %x, %w bias %b {model.schedule = #model.schedule<panel = 16, rows = 2, block = 256, ahead = 64, small = 32768>} : (!x, !w, !b) -> !y
  return %y : !y
}

// A weight of `small` elements and more has code of its own for 1 to 4 rows: items are panels, which stream, several at once for one row
// and for two, each fetched `ahead` steps before it is used, past its end the group behind. Of more rows each tile
// fetches the lines of its results meanwhile, some in each part of k, and takes four steps along k in a turn, ascending.
!x2 = !model.tensor<[2, 10], f32>
!y2 = !model.tensor<[2, 40], f32>
// CHECK-LABEL: heddle_entry_few:
// CHECK-NEXT: heddle_linear_10_40(x, weights, null, y, 2, dealt(3 of nth))
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_linear_10_40:
// CHECK-NEXT: if rows > 4
// CHECK-NEXT: | for i = from to to
// CHECK-NEXT: | | n0 := min(256*(i/3) + 256, rows)
// CHECK-NEXT: | | n1 := ((n0 - 256*(i/3))/2)
// CHECK-NEXT: | | for j = 256*(i/3) to 256*(i/3) + 2*n1 step 2
// CHECK-NEXT: | | | for k = 0 to 2, 2 from 0
// CHECK-NEXT: | | | | prefetch y[16*(i%3) + 40*j + 40*k]
// CHECK-NEXT: | | | | for l = 5*k to 5*k + 4 step 4, 2 from k0, k1
// CHECK-NEXT: | | | | | n2 := max((2*n1/2), 1)
// CHECK-NEXT: | | | | | if 4*max((16/n2), 1) < 17
// CHECK-NEXT: | | | | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + l*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | | | else
// CHECK-NEXT: | | | | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + l*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + l*max((16/n2), 1) + max((16/n2), 1) + 160]
// CHECK-NEXT: | | | | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + l*max((16/n2), 1) + 2*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + l*max((16/n2), 1) + 3*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | | | l0 <- fma(x[10*j + l + s], w[160*(i%3) + 16*l + 16*s : 16], l0), s = 0 to 4
// CHECK-NEXT: | | | | | l1 <- fma(x[10*j + l + s + 10], w[160*(i%3) + 16*l + 16*s : 16], l1), s = 0 to 4
// CHECK-NEXT: | | | | for l = 5*k + 4 to 5*k + 5, 2 from l0, l1
// CHECK-NEXT: | | | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + l*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | | | l0' <- fma(x[10*j + l], w[160*(i%3) + 16*l : 16], l0')
// CHECK-NEXT: | | | | | l1' <- fma(x[10*j + l + 10], w[160*(i%3) + 16*l : 16], l1')
// CHECK-NEXT: | | | | k0 <- l0'
// CHECK-NEXT: | | | | k1 <- l1'
// CHECK-NEXT: | | | y[16*(i%3) + 40*j : min(16, 40 - 16*(i%3))] = k0
// CHECK-NEXT: | | | y[16*(i%3) + 40*j + 40 : min(16, 40 - 16*(i%3))] = k1
// CHECK-NEXT: | | if 256*(i/3) + 2*n1 < n0
// CHECK-NEXT: | | | prefetch y[16*(i%3) + 10240*(i/3) + 80*n1]
// CHECK-NEXT: | | | for j = 0 to 10, 1 from 0
// CHECK-NEXT: | | | | n3 := ((256*(i/3) + 2*n1)%256)
// CHECK-NEXT: | | | | prefetch w[10*(n3/2)*max((16/n2), 1) + 160*(i%3) + j*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | | j0 <- fma(x[2560*(i/3) + 20*n1 + j], w[160*(i%3) + 16*j : 16], j0)
// CHECK-NEXT: | | | y[16*(i%3) + 10240*(i/3) + 80*n1 : min(16, 40 - 16*(i%3))] = j0
// CHECK-NEXT: else
// CHECK-NEXT: | if rows == 1
// CHECK-NEXT: | | for i = from to 4*((to - from)/4) + from step 4
// CHECK-NEXT: | | | for j = 0 to 10, 4 from 0
// CHECK-NEXT: | | | | n4 := select(j + 4 > 9, 480, 0)
// CHECK-NEXT: | | | | prefetch w[n4 + 160*i + 16*j + 64]
// CHECK-NEXT: | | | | prefetch w[n4 + 160*i + 16*j + 224]
// CHECK-NEXT: | | | | prefetch w[n4 + 160*i + 16*j + 384]
// CHECK-NEXT: | | | | prefetch w[n4 + 160*i + 16*j + 544]
// CHECK-NEXT: | | | | j0' <- fma(x[j], w[160*i + 16*j : 16], j0')
// CHECK-NEXT: | | | | j1' <- fma(x[j], w[160*i + 16*j + 160 : 16], j1')
// CHECK-NEXT: | | | | j2' <- fma(x[j], w[160*i + 16*j + 320 : 16], j2')
// CHECK-NEXT: | | | | j3' <- fma(x[j], w[160*i + 16*j + 480 : 16], j3')
// CHECK-NEXT: | | | y[16*i : min(16, 40 - 16*i)] = j0'
// CHECK-NEXT: | | | y[16*i + 16 : min(16, 24 - 16*i)] = j1'
// CHECK-NEXT: | | | y[16*i + 32 : min(16, 8 - 16*i)] = j2'
// CHECK-NEXT: | | | y[16*i + 48 : min(16, -16*i - 8)] = j3'
// CHECK-NEXT: | | for i = 4*((to - from)/4) + from to to
// CHECK-NEXT: | | | for j = 0 to 10, 1 from 0
// CHECK-NEXT: | | | | prefetch w[160*i + 16*j + 64]
// CHECK-NEXT: | | | | j0'3 <- fma(x[j], w[160*i + 16*j : 16], j0'3)
// CHECK-NEXT: | | | y[16*i : min(16, 40 - 16*i)] = j0'3
// CHECK-NEXT: | if rows == 2
// CHECK-NEXT: | | for i = from to 2*((to - from)/2) + from step 2
// CHECK-NEXT: | | | for j = 0 to 10, 4 from 0
// CHECK-NEXT: | | | | n5 := select(j + 4 > 9, 160, 0)
// CHECK-NEXT: | | | | prefetch w[n5 + 160*i + 16*j + 64]
// CHECK-NEXT: | | | | prefetch w[n5 + 160*i + 16*j + 224]
// CHECK-NEXT: | | | | j0'4 <- fma(x[j], w[160*i + 16*j : 16], j0'4)
// CHECK-NEXT: | | | | j1'4 <- fma(x[j], w[160*i + 16*j + 160 : 16], j1'4)
// CHECK-NEXT: | | | | j2'4 <- fma(x[j + 10], w[160*i + 16*j : 16], j2'4)
// CHECK-NEXT: | | | | j3'4 <- fma(x[j + 10], w[160*i + 16*j + 160 : 16], j3'4)
// CHECK-NEXT: | | | y[16*i : min(16, 40 - 16*i)] = j0'4
// CHECK-NEXT: | | | y[16*i + 16 : min(16, 24 - 16*i)] = j1'4
// CHECK-NEXT: | | | y[16*i + 40 : min(16, 40 - 16*i)] = j2'4
// CHECK-NEXT: | | | y[16*i + 56 : min(16, 24 - 16*i)] = j3'4
// CHECK-NEXT: | | for i = 2*((to - from)/2) + from to to
// CHECK-NEXT: | | | for j = 0 to 10, 2 from 0
// CHECK-NEXT: | | | | prefetch w[160*i + 16*j + 64]
// CHECK-NEXT: | | | | j0'5 <- fma(x[j], w[160*i + 16*j : 16], j0'5)
// CHECK-NEXT: | | | | j1'5 <- fma(x[j + 10], w[160*i + 16*j : 16], j1'5)
// CHECK-NEXT: | | | y[16*i : min(16, 40 - 16*i)] = j0'5
// CHECK-NEXT: | | | y[16*i + 40 : min(16, 40 - 16*i)] = j1'5
// CHECK-NEXT: | if rows == 3
// CHECK-NEXT: | | for i = from to to
// CHECK-NEXT: | | | for j = 0 to 10, 3 from 0
// CHECK-NEXT: | | | | prefetch w[160*i + 16*j + 64]
// CHECK-NEXT: | | | | j0'6 <- fma(x[j], w[160*i + 16*j : 16], j0'6)
// CHECK-NEXT: | | | | j1'6 <- fma(x[j + 10], w[160*i + 16*j : 16], j1'6)
// CHECK-NEXT: | | | | j2'6 <- fma(x[j + 20], w[160*i + 16*j : 16], j2'6)
// CHECK-NEXT: | | | y[16*i : min(16, 40 - 16*i)] = j0'6
// CHECK-NEXT: | | | y[16*i + 40 : min(16, 40 - 16*i)] = j1'6
// CHECK-NEXT: | | | y[16*i + 80 : min(16, 40 - 16*i)] = j2'6
// CHECK-NEXT: | if rows == 4
// CHECK-NEXT: | | for i = from to to
// CHECK-NEXT: | | | for j = 0 to 10, 4 from 0
// CHECK-NEXT: | | | | prefetch w[160*i + 16*j + 64]
// CHECK-NEXT: | | | | j0'7 <- fma(x[j], w[160*i + 16*j : 16], j0'7)
// CHECK-NEXT: | | | | j1'7 <- fma(x[j + 10], w[160*i + 16*j : 16], j1'7)
// CHECK-NEXT: | | | | j2'7 <- fma(x[j + 20], w[160*i + 16*j : 16], j2'7)
// CHECK-NEXT: | | | | j3'7 <- fma(x[j + 30], w[160*i + 16*j : 16], j3'7)
// CHECK-NEXT: | | | y[16*i : min(16, 40 - 16*i)] = j0'7
// CHECK-NEXT: | | | y[16*i + 40 : min(16, 40 - 16*i)] = j1'7
// CHECK-NEXT: | | | y[16*i + 80 : min(16, 40 - 16*i)] = j2'7
// CHECK-NEXT: | | | y[16*i + 120 : min(16, 40 - 16*i)] = j3'7
func.func @few(%x: !x2 {model.name = "x"}) -> (!y2 {model.name = "y"}) {
  %w = model.param "w" : !w
  %y = model.linear %x, %w {model.schedule = #model.schedule<panel = 16, rows = 2, block = 256, ahead = 4, small = 0>} : (!x2, !w) -> !y2
  return %y : !y2
}

// Where nothing is fetched ahead (a processor that follows one stretch of memory by itself) panels come one by one, and
// one tile of rows is not told of the next panel.
// CHECK-LABEL: heddle_entry_stream:
// CHECK: heddle_linear_10_40:
// CHECK: | | | | | | n3 := select(n2 < 2, 0, 160)
// CHECK-NEXT: | | | | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + n3 + l*max((16/n2), 1)]
// CHECK: {{^}}else
// CHECK-NEXT: | if rows == 1
// CHECK-NEXT: | | for i = from to to
// CHECK-NEXT: | | | for j = 0 to 10, 1 from 0
// CHECK-NEXT: | | | | j0' <- fma(x[j], w[160*i + 16*j : 16], j0')
// CHECK-NEXT: | | | y[16*i : min(16, 40 - 16*i)] = j0'
// CHECK-NEXT: | if rows == 2
// CHECK-NEXT: | | for i = from to to
// CHECK-NEXT: | | | for j = 0 to 10, 2 from 0
// CHECK-NEXT: | | | | j0'3 <- fma(x[j], w[160*i + 16*j : 16], j0'3)
// CHECK-NEXT: | | | | j1'3 <- fma(x[j + 10], w[160*i + 16*j : 16], j1'3)
func.func @stream(%x: !x2 {model.name = "x"}) -> (!y2 {model.name = "y"}) {
  %w = model.param "w" : !w
  %y = model.linear %x, %w {model.schedule = #model.schedule<panel = 16, rows = 2, block = 256, ahead = 0, small = 0>} : (!x2, !w) -> !y2
  return %y : !y2
}

// What rides along is computed on the sums before they are stored: the residual is read where the result goes.
// CHECK-LABEL: heddle_entry_epilogue:
// CHECK-NEXT: heddle_linear_10_40(x, weights, null, y, r, B, dealt(3*((B + 255)/256) of select(B > 4, 3*((B + 255)/256), nth)))
// CHECK-NEXT: barrier
// CHECK-LABEL: heddle_linear_10_40:
// CHECK-NEXT: for i = from to to
// CHECK-NEXT: | n0 := min(256*(i/3) + 256, rows)
// CHECK-NEXT: | n1 := ((n0 - 256*(i/3))/2)
// CHECK-NEXT: | for j = 256*(i/3) to 256*(i/3) + 2*n1 step 2
// CHECK-NEXT: | | for k = 0 to 10, 2 from 0
// CHECK-NEXT: | | | n2 := max((2*n1/2), 1)
// CHECK-NEXT: | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + k*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | k0 <- fma(x[10*j + k], w[160*(i%3) + 16*k : 16], k0)
// CHECK-NEXT: | | | k1 <- fma(x[10*j + k + 10], w[160*(i%3) + 16*k : 16], k1)
// CHECK-NEXT: | | y[16*(i%3) + 40*j : min(16, 40 - 16*(i%3))] = r[16*(i%3) + 40*j : min(16, 40 - 16*(i%3))] - k0
// CHECK-NEXT: | | y[16*(i%3) + 40*j + 40 : min(16, 40 - 16*(i%3))] = r[16*(i%3) + 40*j + 40 : min(16, 40 - 16*(i%3))] - k1
// CHECK-NEXT: | for j = 256*(i/3) + 2*n1 to n0
// CHECK-NEXT: | | for k = 0 to 10, 1 from 0
// CHECK-NEXT: | | | prefetch w[10*((j%256)/2)*max((16/n2), 1) + 160*(i%3) + k*max((16/n2), 1) + 160]
// CHECK-NEXT: | | | k0' <- fma(x[10*j + k], w[160*(i%3) + 16*k : 16], k0')
// CHECK-NEXT: | | y[16*(i%3) + 40*j : min(16, 40 - 16*(i%3))] = r[16*(i%3) + 40*j : min(16, 40 - 16*(i%3))] - k0'
func.func @epilogue(%x: !x {model.name = "x"}, %r: !y {model.name = "r"}) -> (!y {model.name = "y"}) {
  %w = model.param "w" : !w
  %y = model.linear %x, %w with %r {model.schedule = #model.schedule<panel = 16, rows = 2, block = 256, ahead = 64, small = 32768>} : (!x, !w, !y) -> !y {
  ^bb0(%sum: f32, %extra: f32):
    %s = arith.subf %extra, %sum : f32
    model.yield %s : f32
  }
  return %y : !y
}

// A weight that is no parameter is packed first, into working memory, behind a barrier of its own; lanes past N are 0.
// CHECK-LABEL: heddle_entry_computed:
// CHECK-NEXT: for i = share(30)
// CHECK-NEXT: | for j = 0 to 16
// CHECK-NEXT: | | n0 := select(16*(i/10) + j < 40, 16*(i/10) + j, 0)
// CHECK-NEXT: | | arena[16*i + j] = select(16*(i/10) + j < 40, w[(i%10) + 10*n0], 0)
// CHECK-NEXT: barrier
// CHECK-NEXT: heddle_linear_10_40(x, arena, null, y, B, dealt(3*((B + 255)/256) of select(B > 4, 3*((B + 255)/256), nth)))
// CHECK-NEXT: barrier
func.func @computed(%x: !x {model.name = "x"}, %w: !w {model.name = "w"}) -> (!y {model.name = "y"}) {
  %y = model.linear %x, %w {model.schedule = #model.schedule<panel = 16, rows = 2, block = 256, ahead = 64, small = 32768>} : (!x, !w) -> !y
  return %y : !y
}
