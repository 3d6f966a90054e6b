//===- Phases.cpp - Copies in bulk and what they tell ---------------------===//
#include "test/Emulator/Phases.h"

#include "test/Emulator/Block.h"
#include "test/Emulator/Kernel.h"

#include <cstring>

namespace heddle::emulator {

void Phases::begin() {
  phases.clear();
  open.clear();
}

Phases::Phase &Phases::find(char *at) {
  auto found = phases.find(at);
  if (found == phases.end())
    block.fail("uses a barrier that nobody made");
  return found->second;
}

void Phases::make(char *at, uint32_t arrivals) {
  if (block.sharedOffset(at, 8) % 8 || arrivals == 0)
    block.fail("makes a barrier for nobody, or not at 8 bytes");
  if (phases.count(at))
    block.fail("makes a barrier where one is");
  block.touch(at, 8, true);
  Phase &phase = phases[at];
  phase.arrivals = phase.missing = arrivals;
  phase.maker = block.thread();
}

void Phases::fence() {
  for (auto &[at, phase] : phases)
    phase.known |= phase.maker == block.thread();
}

void Phases::check(Phase &phase) {
  if (phase.missing || phase.bytes)
    return;
  ++phase.number;
  phase.missing = phase.arrivals;
  for (uint32_t thread : phase.sleepers)
    block.wake(thread);
  phase.sleepers.clear();
}

void Phases::arrive(char *at, uint32_t bytes) {
  Phase &phase = find(at);
  phase.bytes += bytes;
  phase.free += bytes;
  --phase.missing;
  check(phase);
}

void Phases::wait(char *at, uint32_t parity) {
  Phase &phase = find(at);
  block.touch(at, 8, false);
  while (phase.number % 2 == parity % 2) {
    phase.sleepers.push_back(block.thread());
    block.sleep();
  }
}

void Phases::copy(char *to, char *at, const char *from, uint32_t bytes) {
  if (block.sharedOffset(to, bytes) % 16 || reinterpret_cast<uintptr_t>(from) % 16 || bytes % 16 || bytes == 0)
    block.fail("copies " + std::to_string(bytes) + " bytes in bulk to or from where they do not fit");
  Phase &phase = find(at);
  if (!phase.known)
    block.fail("tells a barrier of a copy, and no fence is behind its making");
  if (phase.free < bytes)
    block.fail("copies more bytes in bulk than are announced so far");
  phase.free -= bytes;
  block.touch(from, bytes, false);
  block.fillInBulk(to, bytes);
  Copy copy{to, at, from, bytes};
  if (block.isNow(block.options.copies))
    perform(copy);
  else
    open.push_back(copy);
}

void Phases::perform(const Copy &copy) {
  memcpy(copy.to, copy.from, copy.bytes);
  Phase &phase = find(copy.at);
  phase.bytes -= copy.bytes;
  check(phase);
}

bool Phases::progress() {
  if (open.empty())
    return false;
  size_t which = block.options.order == Order::Random ? block.random(uint32_t(open.size())) : 0;
  Copy copy = open[which];
  open.erase(open.begin() + ptrdiff_t(which));
  perform(copy);
  return true;
}

} // namespace heddle::emulator

using namespace heddle::emulator;

void hdemu_mbarrier_init_shared(char *at, int arrivals) { runningBlock().phases.make(at, uint32_t(arrivals)); }

void hdemu_fence_mbarrier_init_release_cluster(void) { runningBlock().phases.fence(); }

int64_t hdemu_mbarrier_arrive_expect_tx_scope_cta_space_cta(char *at, int bytes) {
  runningBlock().phases.arrive(at, uint32_t(bytes));
  return 0;
}

void hdemu_mbarrier_wait(int64_t at, int parity) {
  runningBlock().phases.wait(reinterpret_cast<char *>(at), uint32_t(parity));
}

void hdemu_cp_async_bulk_global_to_shared_cluster(char *to, char *at, const char *from, int bytes, short, int64_t, bool,
                                                  bool) {
  runningBlock().phases.copy(to, at, from, uint32_t(bytes));
}
