//===- Block.h - The threads of a block -------------------------*- C++ -*-===//
//
// Runs one block of a launch: a fiber a thread, one at a time. A thread goes on
// until it meets others (a shuffle, bar.warp.sync, a barrier) or ends; who is
// next follows the order of the options. Threads that wait for one that ended,
// lanes that meet at different places and waits in a ring fail the launch.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_BLOCK_H
#define HEDDLE_TEST_EMULATOR_BLOCK_H

#include "heddle/abi.h"
#include "test/Emulator/Fibers.h"
#include "test/Emulator/Groups.h"
#include "test/Emulator/Memory.h"
#include "test/Emulator/Options.h"
#include "test/Emulator/Phases.h"
#include "test/Emulator/Races.h"

#include <array>
#include <memory>
#include <vector>

namespace heddle::emulator {

/// What cuLaunchKernel is given.
struct Launch {
  const char *name;
  heddle_kernel_fn function;
  uint32_t grid, threads; ///< blocks, threads of a block
  uint64_t shared;        ///< bytes of a block
  heddle_failure *fail;
  const int64_t *dims;
  void *const *tensors;
  char *arena;
  const char *weights;
  int64_t i, j;
  std::vector<int64_t> numbers;
};

/// Where lanes of a warp wait for each other.
enum class Meeting : uint8_t { Shuffle, Sync, Rows, Product };

/// What the lanes of a warp bring to a meeting, by lane.
using Brought = std::array<std::array<uint32_t, 6>, 32>;

class Block {
public:
  /// `memory`: whose allocations the races are watched in.
  Block(const Options &options, const Memory &memory);

  /// Runs all blocks of a launch; "" or why it failed.
  std::string run(const Launch &launch);
  uint64_t switches() const { return switched; }

  // For the thread that runs now.
  const Launch &launch() const { return *job; }
  uint32_t thread() const { return current; }
  uint32_t number() const { return block; }
  char *shared() { return sharedBegin; }
  /// Waits for the lanes of `mask`; what lane `from` brought.
  uint32_t meet(Meeting meeting, uint32_t mask, uint32_t value, uint32_t from);
  /// Waits for the lanes of `mask`, which bring words each.
  const Brought &gather(Meeting meeting, uint32_t mask, const Brought::value_type &words);
  /// Waits for all threads of the block.
  void barrier();
  /// The same; whether a thread said yes there.
  bool barrierOr(bool mine);
  /// Asks for a copy of `bytes` bytes into shared memory, zeros up to `size`:
  /// done at once or when it is waited for, as the options say.
  void copyAsync(char *to, const char *from, uint32_t bytes, uint32_t size);
  /// What was asked for since the last group is a group.
  void endGroup();
  /// Waits for all groups but the last `pending`.
  void waitGroups(uint32_t pending);
  bool chops() const { return options.chop; }
  /// The threads of the four warps of the thread that runs.
  Group &group() { return groups[current / Group::kThreads]; }

  // For what waits and goes on by itself.
  /// Lets others go on until somebody wakes the thread that runs.
  void sleep();
  void wake(uint32_t thread) { warps[thread / 32].ready |= 1u << thread % 32; }
  uint32_t random(uint32_t below);
  /// Whether what may be done now or later is done now.
  bool isNow(Moments moments) { return moments == Moments::Early || (moments == Moments::Random && random(2)); }
  uint64_t sharedBytes() const { return job->shared; }
  /// Of `bytes` bytes in shared memory.
  uint64_t sharedOffset(const char *at, uint64_t bytes);
  /// Bytes of shared memory will come from elsewhere, and whoever needs them is told.
  void fillInBulk(char *to, uint64_t bytes);
  /// Whether a thread, or what it asked for, wrote there and not what a unit sees.
  bool isWrittenByThreads(uint64_t offset) const;
  /// What the thread that runs has stored, and copies that it has waited for, are what a unit sees.
  void showUnits();

  /// An access to memory, before it happens.
  void touch(const void *address, uint64_t bytes, bool stores);
  [[noreturn]] void fail(const std::string &what);

  const Options &options;
  Phases phases{*this};

private:
  struct Warp {
    uint32_t ready = ~0u, ended = 0; ///< lanes that can go on; that are done
    uint32_t arrived = 0, mask = 0;  ///< at the meeting; whom it waits for
    Meeting meeting = Meeting::Shuffle;
    Brought brought[2]; ///< of this meeting and the last one
    uint32_t meetings = 0;
    uint16_t syncs = 0;
  };

  /// A copy that is under way, and the groups of a thread that came before it.
  struct Copy {
    char *to;
    const char *from;
    uint32_t bytes, size, group;
  };
  struct Copies {
    std::vector<Copy> open;
    uint32_t groups = 0, waited = 0;
    uint32_t shown = 0, fences = 0; ///< groups that units see; how often the thread has shown what it did
  };
  /// Who wrote a word of shared memory last: 1 + a thread, or 0; and behind which of its fences, or in which group.
  struct Writer {
    uint32_t thread = 0, number = 0;
    bool copies = false;
  };

  void note(uint64_t offset, uint64_t bytes, const Writer &writer);
  static void body();
  static void perform(const Copy &copy);
  bool runBlock();
  /// Goes on with the next thread that can, or with run() if all have ended.
  void next();
  void go(uint32_t thread);
  std::string place(uint32_t thread) const;
  Moment now() const;

  const Memory &memory;
  Races races, sharedRaces;
  Stacks stacks;
  const Launch *job = nullptr;
  uint32_t block = 0, current = 0;
  std::vector<Warp> warps;
  std::vector<Copies> copies;  ///< by thread
  std::vector<void *> stopped; ///< where each thread's fiber goes on
  void *outside = nullptr;     ///< where run() goes on
  uint32_t waiting = 0, ended = 0;
  uint16_t barriers = 0;
  bool said[2] = {}; ///< whether some thread says yes at this barrier; at the one before
  std::vector<char> sharedMemory;
  char *sharedBegin = nullptr; ///< within it
  std::vector<Writer> writers; ///< of its words
  std::vector<Group> groups;
  uint64_t state = 1, switched = 0;
  std::string error;
};

/// The block whose kernel runs; the functions hdemu_* have no other way to it.
Block &runningBlock();

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_BLOCK_H
