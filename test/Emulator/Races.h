//===- Races.h - Who touched which byte -------------------------*- C++ -*-===//
//
// Every byte of device memory has a shadow: who wrote it last in this launch and
// who has read it since, with the count of synchronisations each had passed. The
// bytes of a word share one until somebody touches a part of that word. Two
// threads on a byte, one of them writing, are ordered by bar.warp.sync if they
// are of one warp, by a barrier if of one block, and by nothing else in a launch.
// Lanes of a warp may store to one place: they store the same (rule L2 of
// compiler/Conversion/Lowering).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_RACES_H
#define HEDDLE_TEST_EMULATOR_RACES_H

#include <cstdint>
#include <string>

namespace heddle::emulator {

/// A thread at a moment. `thread` counts from 0 over the grid, and `first` is the first thread of its block.
struct Moment {
  uint32_t thread, first;
  uint16_t warpSyncs, blockSyncs; ///< passed so far
};

class Races {
public:
  Races() = default;
  Races(const Races &) = delete;
  Races &operator=(const Races &) = delete;
  ~Races();

  /// Watches so many bytes; false without memory.
  bool watch(uint64_t range);
  /// What came before is ordered before all that follows.
  void begin(uint32_t threadsOfBlock) {
    ++launch;
    blockThreads = threadsOfBlock;
  }
  /// Notes an access; false if it races, and `other` is the other access.
  bool load(uint64_t offset, uint64_t size, Moment now, uint32_t &other);
  bool store(uint64_t offset, uint64_t size, Moment now, uint32_t &other);
  /// Whoever goes on knows of these bytes by other means.
  void forget(uint64_t offset, uint64_t size);

private:
  /// How far apart those are that read a byte: they agree down to this.
  enum Level : uint8_t { Thread, Warp, Block, Grid };
  struct Shadow {
    uint32_t launch = 0;
    uint32_t writer = 0, reader = 0; ///< thread + 1, 0: none
    uint16_t writerWarp = 0, writerBlock = 0, readerWarp = 0, readerBlock = 0;
    Level level = Thread; ///< of all readers together
    bool parted = false;  ///< of a word: its bytes have shadows of their own
  };
  Level apart(uint32_t other, Moment now) const;
  Shadow &ofWord(uint64_t word);
  template <typename Each> bool forShadows(uint64_t offset, uint64_t size, Each each);

  Shadow *words = nullptr, *bytes = nullptr; ///< `count` and 4 * `count` in one mapping
  uint64_t count = 0;                        ///< words
  uint32_t launch = 0, blockThreads = 32;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_RACES_H
