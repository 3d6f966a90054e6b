//===- Progress.h - What a person at a terminal sees of waiting -*- C++ -*-===//
//
// A line of progress on stderr that is erased again; only where stderr is a
// terminal, and only while nothing else is printed: a long prompt, a search.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_PROGRESS_H
#define HEDDLE_RUNTIME_GENERATE_PROGRESS_H

#include <cstdint>

namespace heddle::rt {

class Progress {
public:
  /// `prompt`: tokens that prefill reads. `steps`: steps of which nothing is
  /// printed before the last (beam search); 0 if tokens are printed as they
  /// come.
  Progress(int64_t prompt, int64_t steps);
  ~Progress() { clear(); }
  /// Redraws the line after `done` steps; 0: prefill begins.
  void at(int64_t done);
  void clear();

private:
  int64_t prompt, steps;
  bool terminal, shown = false;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_PROGRESS_H
