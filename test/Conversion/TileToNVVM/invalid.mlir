// RUN: heddle-opt %s --heddle-tile-to-nvvm --verify-diagnostics

// Which ops of tiles a block does is the same for all of its threads, so none of them stands under a condition.
func.func @conditional(%count: index, %condition: i1) {
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    // expected-error @below {{internal error: an op of tiles stands under a condition or in a loop}}
    scf.if %condition {
      %none = tile.zero : !tile.frag<128x128, block 16x16>
    }
    tile.yield
  }
  return
}
