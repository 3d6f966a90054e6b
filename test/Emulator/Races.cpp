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

static constexpr uint64_t kWord = 4; // bytes

Races::~Races() {
  if (words)
    munmap(words, count * (1 + kWord) * sizeof(Shadow));
}

bool Races::watch(uint64_t range) {
  count = (range + kWord - 1) / kWord;
  void *mapped = mmap(nullptr, count * (1 + kWord) * sizeof(Shadow), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return false;
  words = static_cast<Shadow *>(mapped);
  bytes = words + count;
  return true;
}

Races::Level Races::apart(uint32_t other, Moment now) const {
  return other == now.thread                ? Thread
         : other / 32 == now.thread / 32    ? Warp
         : other - now.first < blockThreads ? Block
                                            : Grid;
}

Races::Shadow &Races::ofWord(uint64_t word) {
  Shadow &shadow = words[word];
  if (shadow.launch != launch) {
    shadow = Shadow();
    shadow.launch = launch;
  }
  return shadow;
}

/// Calls `each` with the shadows of these bytes, until it is false.
template <typename Each> bool Races::forShadows(uint64_t offset, uint64_t size, Each each) {
  for (uint64_t i = offset, end = offset + size; i < end;) {
    uint64_t word = i / kWord, next = std::min((word + 1) * kWord, end);
    Shadow &whole = ofWord(word);
    if (next - i < kWord && !whole.parted) {
      std::fill_n(bytes + word * kWord, kWord, whole);
      whole.parted = true;
    }
    if (!whole.parted) {
      if (!each(whole))
        return false;
      i = next;
    }
    for (; i < next; ++i)
      if (!each(bytes[i]))
        return false;
  }
  return true;
}

/// Whether something that passed `warp` and `block` synchronisations may happen
/// at the same time as `now`, which is `level` away from it.
static bool together(int level, uint16_t warp, uint16_t block, Moment now) {
  return level == 1 ? warp == now.warpSyncs : level == 2 ? block == now.blockSyncs : level == 3;
}

bool Races::load(uint64_t offset, uint64_t size, Moment now, uint32_t &other) {
  return forShadows(offset, size, [&](Shadow &s) {
    if (s.writer) {
      other = s.writer - 1;
      if (together(apart(other, now), s.writerWarp, s.writerBlock, now))
        return false;
    }
    Level level = s.reader ? apart(s.reader - 1, now) : Thread;
    level = std::max(level, s.level);
    // Readers that a synchronisation is behind are forgotten.
    bool fresh = !s.reader || (level < Grid && !together(level, s.readerWarp, s.readerBlock, now));
    s.level = fresh ? Thread : level;
    s.reader = now.thread + 1;
    s.readerWarp = now.warpSyncs;
    s.readerBlock = now.blockSyncs;
    return true;
  });
}

void Races::forget(uint64_t offset, uint64_t size) {
  forShadows(offset, size, [&](Shadow &s) {
    s = Shadow(); // never a word that is parted, for whose bytes this is called
    s.launch = launch;
    return true;
  });
}

bool Races::store(uint64_t offset, uint64_t size, Moment now, uint32_t &other) {
  return forShadows(offset, size, [&](Shadow &s) {
    if (s.writer) {
      other = s.writer - 1;
      Level level = apart(other, now);
      if (level != Warp && together(level, s.writerWarp, s.writerBlock, now))
        return false;
    }
    if (s.reader) {
      other = s.reader - 1;
      Level level = std::max(apart(other, now), s.level);
      if (together(level, s.readerWarp, s.readerBlock, now))
        return false;
    }
    s.writer = now.thread + 1;
    s.writerWarp = now.warpSyncs;
    s.writerBlock = now.blockSyncs;
    return true;
  });
}

} // namespace heddle::emulator
