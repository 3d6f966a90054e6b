// RUN: heddle-opt %s --heddle-tile-to-nvvm --verify-diagnostics

// All threads of a tile go the same way, through control flow whose parts are blocks that hand on no fragments.
func.func @carried(%count: index, %condition: i1) {
  tile.launch %count threads 256 {
  ^bb0(%tile: index):
    %none = tile.zero : !tile.frag<128x128, block 16x16>
    // expected-error @below {{internal error: ops of tiles are in control flow that is not structured}}
    %some = scf.while (%now = %none) : (!tile.frag<128x128, block 16x16>) -> !tile.frag<128x128, block 16x16> {
      scf.condition(%condition) %now : !tile.frag<128x128, block 16x16>
    } do {
    ^bb0(%now: !tile.frag<128x128, block 16x16>):
      %next = tile.zero : !tile.frag<128x128, block 16x16>
      scf.yield %next : !tile.frag<128x128, block 16x16>
    }
    tile.yield
  }
  return
}
