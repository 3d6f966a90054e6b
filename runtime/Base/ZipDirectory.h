//===- ZipDirectory.h - The members of a zip file ---------------*- C++ -*-===//
//
// Reads the directory of a zip file, and writes zip files without compression.
// The reader takes what numpy.savez and savez_compressed write, large files
// (zip64) too. Members may not overlap, so no small file is a large one.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_ZIPDIRECTORY_H
#define HEDDLE_RUNTIME_BASE_ZIPDIRECTORY_H

#include "runtime/Base/ByteSource.h"

#include <vector>

namespace heddle::base {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t sum = 0;    ///< CRC-32 of the contents
  uint64_t packed = 0; ///< bytes in the file
  uint64_t bytes = 0;  ///< of the contents
  uint64_t start = 0;  ///< where they begin in the file
};

/// Reads the directory, in its order, and where each member's bytes are.
ArrayResult readZipDirectory(const ByteSource &file, std::vector<ZipMember> &members);

/// Makes the bytes around the contents of members. Equal members give equal bytes: the time is that of 1980.
class ZipWriter {
public:
  /// The bytes in front of the contents of the next member.
  std::string member(const std::string &name, uint32_t sum, uint64_t bytes);
  /// The bytes behind the last member.
  std::string directory() const;

private:
  std::string entries; ///< of the directory
  uint64_t at = 0, count = 0;
};

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_ZIPDIRECTORY_H
