//===- LinearBench.cpp - a linear's share of the core's peak --------------===//
//
// heddle_linear_bench [K N [gelu]]: for several numbers of rows, flops a cycle of the core (counted
// by the core itself, so that other work on the machine hardly matters) against two fused
// multiply-adds of a vector a cycle, and bytes of weights a cycle.
//
//===----------------------------------------------------------------------===//

#include "test/Numerics/KernelCases.h"
#include "test/Numerics/Kernels.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace heddle::test;

static int openCycles() {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  attr.exclude_kernel = 1;
  return int(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

int main(int argc, char **argv) {
  std::string k = argc > 2 ? argv[1] : "768", n = argc > 2 ? argv[2] : "768";
  bool gelu = argc > 3;
  std::string x = "f[B, " + k + "]", y = "f[B, " + n + "]", w = "f[" + n + ", " + k + "]";
  std::string body = "%w = model.param \"w\" : " + w + "\n%b = model.param \"b\" : f[" + n + "]\n%z = model.linear %x, %w bias %b : (" + x +
                     ", " + w + ", f[" + n + "]) -> " + y;
  body += gelu ? "\n%y = model.unary gelu %z : (" + y + ") -> " + y : "";
  Kernels kernels(functionText("x: " + x + " -> " + (gelu ? "y: " : "z: ") + y, body));
  int counter = openCycles();
  if (!kernels.good() || counter < 0) {
    std::fprintf(stderr, "no module, or no cycle counter\n");
    return 1;
  }
  std::printf("%6s %14s %10s %14s\n", "rows", "flops/cycle", "of peak", "weights B/cycle");
  for (int64_t m : {1, 2, 3, 4, 5, 8, 16, 64, 128, 256, 512}) {
    heddle::Dims dims{{"B", m}};
    Kernels::Bytes in = kernels.inputs(dims, 1);
    double best = 1e300, flops = 2.0 * double(m) * std::atof(k.c_str()) * std::atof(n.c_str());
    for (int round = 0; round < 15; ++round) {
      uint64_t before = 0, after = 0;
      if (read(counter, &before, 8) != 8)
        return 1;
      kernels.again(dims, in, 4);
      if (read(counter, &after, 8) != 8)
        return 1;
      best = std::min(best, double(after - before) / 4);
    }
    std::printf("%6ld %14.1f %9.1f%% %14.1f\n", long(m), flops / best, flops / best / 64 * 100, flops / double(m) * 2 / best);
  }
  return 0;
}
