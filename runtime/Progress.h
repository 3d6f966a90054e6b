//===- Progress.h - What a person at a terminal sees of waiting ---*- C++
//-*-===//
//
// One line on stderr that goes away again, only where stderr is a terminal and
// only where there is something to wait for: a long prompt, a search.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_PROGRESS_H
#define HEDDLE_RUNTIME_PROGRESS_H

#include <cstdint>

namespace heddle::rt {

class Progress {
public:
  /// `prompt` tokens are read first; `steps` follow of which nothing is shown
  /// before the last (0: they are shown as they come).
  Progress(int64_t prompt, int64_t steps);
  ~Progress() { clear(); }
  /// After `done` steps; 0 before the first, which reads the prompt.
  void at(int64_t done);
  void clear();

private:
  int64_t prompt, steps;
  bool terminal, shown = false;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_PROGRESS_H
