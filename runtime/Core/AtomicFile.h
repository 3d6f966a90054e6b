//===- AtomicFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Writes a file that appears complete or not at all. The bytes go to a file
// without a name in the target's directory (O_TMPFILE; where the file system
// has none, to a temporary one), space is reserved first, and only after fsync
// is it renamed to the target. A failure before that leaves the old file as it
// was and nothing beside it; signals remove the temporary.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_ATOMICFILE_H
#define HEDDLE_RUNTIME_CORE_ATOMICFILE_H

#include "runtime/Core/Status.h"

namespace heddle::rt {

class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  /// Begins to write `path`; `-` is standard output. `size` is the number of
  /// bytes to come, for which space is reserved; 0: unknown. A device or a pipe
  /// is written directly.
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

#endif // HEDDLE_RUNTIME_CORE_ATOMICFILE_H
