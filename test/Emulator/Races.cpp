//===- Races.cpp - Who touched which byte ---------------------------------===//
//
// Shadows are mapped and not filled: pages nobody touches cost nothing, and a
// shadow of an older launch counts as empty.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Races.h"

#include <algorithm>
#include <sys/mman.h>

namespace heddle::emulator {

Races::~Races() {
  if (shadows)
    munmap(shadows, count * sizeof(Shadow));
}

bool Races::watch(uint64_t bytes) {
  void *range =
      mmap(nullptr, bytes * sizeof(Shadow), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    return false;
  shadows = static_cast<Shadow *>(range);
  count = bytes;
  return true;
}

Races::Level Races::apart(uint32_t a, uint32_t b) const {
  return a == b ? Thread : a / 32 == b / 32 ? Warp : a / blockThreads == b / blockThreads ? Block : Grid;
}

Races::Shadow &Races::at(uint64_t offset) {
  Shadow &shadow = shadows[offset];
  if (shadow.launch != launch) {
    shadow = Shadow();
    shadow.launch = launch;
  }
  return shadow;
}

/// Whether something that passed `warp` and `block` synchronisations may happen
/// at the same time as `now`, which is `level` away from it.
static bool together(int level, uint16_t warp, uint16_t block, Moment now) {
  return level == 1 ? warp == now.warpSyncs : level == 2 ? block == now.blockSyncs : level == 3;
}

bool Races::load(uint64_t offset, uint64_t bytes, Moment now, uint32_t &other) {
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    Shadow &s = at(i);
    if (s.writer) {
      other = s.writer - 1;
      if (together(apart(other, now.thread), s.writerWarp, s.writerBlock, now))
        return false;
    }
    Level level = s.reader ? apart(s.reader - 1, now.thread) : Thread;
    level = std::max(level, s.level);
    // Readers that a synchronisation lies behind are forgotten.
    bool fresh = !s.reader || (level < Grid && !together(level, s.readerWarp, s.readerBlock, now));
    s.level = fresh ? Thread : level;
    s.reader = now.thread + 1;
    s.readerWarp = now.warpSyncs;
    s.readerBlock = now.blockSyncs;
  }
  return true;
}

void Races::forget(uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i)
    shadows[i] = Shadow();
}

bool Races::store(uint64_t offset, uint64_t bytes, Moment now, uint32_t &other) {
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    Shadow &s = at(i);
    if (s.writer) {
      other = s.writer - 1;
      Level level = apart(other, now.thread);
      if (level != Warp && together(level, s.writerWarp, s.writerBlock, now))
        return false;
    }
    if (s.reader) {
      other = s.reader - 1;
      Level level = std::max(apart(other, now.thread), s.level);
      if (together(level, s.readerWarp, s.readerBlock, now))
        return false;
    }
    s.writer = now.thread + 1;
    s.writerWarp = now.warpSyncs;
    s.writerBlock = now.blockSyncs;
  }
  return true;
}

} // namespace heddle::emulator
