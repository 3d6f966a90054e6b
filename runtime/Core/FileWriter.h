//===- FileWriter.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// What a program writes: runtime/Base/AtomicFile.h with failures as a Status.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_FILEWRITER_H
#define HEDDLE_RUNTIME_CORE_FILEWRITER_H

#include "runtime/Base/AtomicFile.h"
#include "runtime/Core/Status.h"

namespace heddle::rt {

class FileWriter {
public:
  /// Begins to write `path`; `-` is standard output. `size` is the number of
  /// bytes to come, for which space is reserved; 0: unknown. A device or a pipe
  /// is written directly.
  Status open(const std::string &path, uint64_t size) {
    target = path;
    return said(file.open(path, {size, /*special=*/true, /*nameless=*/true}));
  }
  Status write(const void *data, uint64_t bytes) { return said(file.write(data, bytes)); }
  Status commit() { return said(file.commit()); }

private:
  Status said(const base::AtomicFile::Result &failure) const {
    return failure ? outputError("cannot write", target, failure->error) : Status();
  }

  std::string target;
  base::AtomicFile file{base::ownHandlers()};
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_FILEWRITER_H
