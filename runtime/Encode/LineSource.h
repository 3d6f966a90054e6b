//===- LineSource.h - Lines of a file, as they come -------------*- C++ -*-===//
//
// Lines of a file or of standard input. A reader that makes batches asks whether
// one more is there already: it waits for nobody who waits for an answer.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ENCODE_LINESOURCE_H
#define HEDDLE_RUNTIME_ENCODE_LINESOURCE_H

#include "runtime/Core/Status.h"

namespace heddle::rt {

class LineSource {
public:
  LineSource() = default;
  LineSource(const LineSource &) = delete;
  LineSource &operator=(const LineSource &) = delete;
  ~LineSource();

  /// `-` is standard input.
  Status open(const std::string &path);
  /// The next line, without its line feed; `more` becomes false at the end. Errors: a line of more than 64 MiB, a file
  /// that cannot be read.
  Status next(std::string &line, bool &more);
  /// Whether `next` returns without waiting.
  bool isReady() const;

private:
  std::string path, buffer; ///< what was read and not given out is buffer[begin..]
  size_t begin = 0, searched = 0;
  int file = -1;
  bool ended = false;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ENCODE_LINESOURCE_H
