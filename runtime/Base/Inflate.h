//===- Inflate.h - Compressed members of zip files --------------*- C++ -*-===//
//
// Deflate, by zlib. The archive that has it (libheddle_inflate.a) registers
// itself by a weak symbol, which is null where a runtime was built without zlib:
// ask `&heddle_inflate` before use.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_INFLATE_H
#define HEDDLE_RUNTIME_BASE_INFLATE_H

namespace heddle::base {

/// Where bytes come from and go to.
class InflateEnds {
public:
  virtual ~InflateEnds() = default;
  /// Lends the next compressed bytes and returns how many; 0: there are no more.
  virtual unsigned pull(const unsigned char *&bytes) = 0;
  /// Takes the next bytes of the contents; false ends the work.
  virtual bool push(const unsigned char *bytes, unsigned count) = 0;
};

enum class Inflated {
  Done,    ///< to the end of the stream, which is the end of what was pulled
  Stopped, ///< by `push`
  Damaged,
  NoMemory,
};

using Inflate = Inflated (*)(InflateEnds &ends);

} // namespace heddle::base

extern "C" const heddle::base::Inflate heddle_inflate __attribute__((weak));
/// What zlib's licence asks to be said.
extern "C" const char *const heddle_notices_of_inflate __attribute__((weak));

#endif // HEDDLE_RUNTIME_BASE_INFLATE_H
