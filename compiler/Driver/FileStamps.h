//===- FileStamps.h - whether files changed while they were read *- C++ -*-===//
//
// What the system says of each of a model's files before the first is read, and again before the output is put in its
// place: a program is made of the old files or of the new ones, never of some of each.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_FILESTAMPS_H
#define HEDDLE_COMPILER_DRIVER_FILESTAMPS_H

#include "compiler/Driver/Console.h"
#include "compiler/Import/Description/ImportOptions.h"
#include <map>

namespace heddle {

class FileStamps {
public:
  /// Takes the stamps of the model's files (ModelFiles.h) as they are now.
  explicit FileStamps(const ImportOptions &options);

  /// Takes them again; Ok where nothing has changed, else the exit code of the error, which has been printed.
  int unchanged(const Console &console) const;

private:
  /// Device, inode, size, and the times of content and of state in nanoseconds.
  using Stamp = std::array<int64_t, 5>;
  static std::map<std::string, Stamp> stamps(const ImportOptions &options);

  const ImportOptions &options;
  std::map<std::string, Stamp> before;
};

} // namespace heddle

#endif
