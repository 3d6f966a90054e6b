//===- AtomicFile.h - Files that appear whole or not at all -------*- C++
//-*-===//
//
// The bytes go to a file without a name in the target's directory (or, where
// the file system has none, to a temporary one), space is reserved first, and
// only after fsync does it take the target's name. Whatever fails before that
// leaves the old file as it was and nothing beside it; signals remove the
// temporary.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ATOMICFILE_H
#define HEDDLE_RUNTIME_ATOMICFILE_H

#include "runtime/Status.h"

namespace heddle::rt {

class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  /// `size`: bytes that will be written. `-` is standard output.
  Status open(const std::string &path, uint64_t size);
  Status write(const void *data, uint64_t bytes);
  Status commit();

private:
  Status fail(const char *what, int error);

  std::string target, temporary;
  int file = -1;
  bool direct = false;  ///< a device or pipe: nothing to rename
  bool unnamed = false; ///< made with O_TMPFILE
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ATOMICFILE_H
