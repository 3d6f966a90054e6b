//===- Phases.h - Copies in bulk and what they tell -------------*- C++ -*-===//
//
// A barrier in shared memory (mbarrier) goes from phase to phase: one is over
// when as many threads have arrived as it was made for and all bytes that they
// announced have come. Copies in bulk are done at once, or when no thread of the
// block can go on without one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_PHASES_H
#define HEDDLE_TEST_EMULATOR_PHASES_H

#include <cstdint>
#include <map>
#include <vector>

namespace heddle::emulator {

class Block;

/// Those of one block; `block` acts for the thread that runs.
class Phases {
public:
  explicit Phases(Block &block) : block(block) {}
  void begin();

  void make(char *at, uint32_t arrivals);
  /// Copies know the barriers that this thread has made so far.
  void fence();
  void arrive(char *at, uint32_t bytes);
  /// Waits until the last phase of this parity is over.
  void wait(char *at, uint32_t parity);
  void copy(char *to, char *at, const char *from, uint32_t bytes);

  /// Does a copy that is still to be done; false if there is none.
  bool progress();
  bool idle() const { return open.empty(); }

private:
  struct Phase {
    uint32_t arrivals = 0, missing = 0, maker = 0;
    int64_t bytes = 0; ///< announced and not yet there
    int64_t free = 0;  ///< announced, and no copy is asked for that brings them
    uint32_t number = 0;
    bool known = false; ///< to copies
    std::vector<uint32_t> sleepers;
  };
  struct Copy {
    char *to, *at;
    const char *from;
    uint32_t bytes;
  };
  Phase &find(char *at);
  void perform(const Copy &copy);
  void check(Phase &phase);

  Block &block;
  std::map<char *, Phase> phases;
  std::vector<Copy> open;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_PHASES_H
