//===- CursorBench.cpp - what a cursor costs ------------------------------===//
//
// The whole walk of every query tile, at -O3: nanoseconds a query tile and a run, and the runs
// and key tiles that it visits. Best of many rounds; the bar is 60 ns a query tile.
//
//===----------------------------------------------------------------------===//

#include "test/Mask/CursorProgram.h"
#include "test/Mask/TypicalMasks.h"
#include <cstdio>

using namespace heddle::test;

int main() {
  const int64_t length = 65536, rows = 32, keys = 128, tiles = length / rows;
  std::vector<TypicalMask> masks = costlyMasks();
  std::vector<CursorCase> cases;
  for (TypicalMask &m : masks)
    cases.push_back({m.spec, keys, 16, /*built=*/true});
  auto program = CursorProgram::compile(cases, JitLevel::Optimized, CursorProgram::Parts::WalkOnly);
  if (!program)
    return 1;
  std::printf("| mask (L %ld, tiles %ld x %ld) | ns a query tile | runs a query tile | ns a run |\n|---|---|---|---|\n",
              long(length), long(rows), long(keys));
  bool good = true;
  for (size_t i = 0; i < masks.size(); ++i) {
    MaskSizes n{1, length, length, 0, 0};
    CursorProgram::Memory memory = program->memory(int(i), cases[i].spec, n, cases[i].spec.make(n, 0));
    auto [runs, best] = program->walkAll(int(i), n, rows, 60, memory);
    std::printf("| %s | %.0f | %.1f | %.1f |\n", masks[i].name.c_str(), best / tiles, double(runs) / tiles,
                best / std::max<int64_t>(runs, 1));
    good &= best / tiles <= 60;
  }
  return !good;
}
