//===- ByteSource.h - Bytes of a file, by their place -----------*- C++ -*-===//
//
// What the readers of arrays read from: a file, or memory in tests.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_BYTESOURCE_H
#define HEDDLE_RUNTIME_BASE_BYTESOURCE_H

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::base {

/// Why an array, or an archive of arrays, is refused.
struct ArrayProblem {
  std::string message;
  uint64_t byte = 0; ///< of the file; in an array that is compressed, of the array
  std::string array; ///< printable; empty where the file is one array, or no array is at fault
  std::string help;
  int systemError = 0; ///< errno: reading failed, and `message` alone counts
};

using ArrayResult = std::optional<ArrayProblem>; ///< none: it went well

class ByteSource {
public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  /// Reads `bytes` bytes from the place `at` on; they must be there.
  virtual ArrayResult read(void *out, uint64_t bytes, uint64_t at) const = 0;
};

/// An open file, which its opener closes. It is read, never mapped: a file that shrinks meanwhile is a problem and not
/// a signal.
class FileSource final : public ByteSource {
public:
  FileSource(int descriptor, uint64_t bytes) : descriptor(descriptor), bytes(bytes) {}
  uint64_t size() const override { return bytes; }
  ArrayResult read(void *out, uint64_t bytes, uint64_t at) const override;

private:
  int descriptor;
  uint64_t bytes;
};

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_BYTESOURCE_H
