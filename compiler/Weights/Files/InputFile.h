// A regular file opened for reading, which this owns. Bytes are read by pread
// only: a file that shrinks meanwhile gives an error where a mapping would give
// SIGBUS. Its identity (device, inode, size, modification time) is taken at
// opening and can be compared later.
#ifndef HEDDLE_COMPILER_WEIGHTS_FILES_INPUTFILE_H
#define HEDDLE_COMPILER_WEIGHTS_FILES_INPUTFILE_H

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace heddle {

class OpenedFile;

class InputFile {
public:
  /// `path` may be a symbolic link; what it leads to must be a regular file.
  static absl::StatusOr<InputFile> open(llvm::StringRef path);
  /// `name` is a plain file name inside the open directory `directoryFd`;
  /// `shown` is its name in messages.
  static absl::StatusOr<InputFile> openAt(int directoryFd, llvm::StringRef name, llvm::StringRef shown);
  InputFile(InputFile &&other);
  InputFile &operator=(InputFile &&other);
  ~InputFile();

  /// As it was given, to open the file again.
  const std::string &name() const { return given; }
  /// As messages show it.
  const std::string &path() const { return shown; }
  uint64_t size() const { return bytes; }

  /// Reads exactly `to.size()` bytes from `offset`; the error names the place.
  absl::Status read(uint64_t offset, llvm::MutableArrayRef<uint8_t> to) const;
  /// Reads up to `to.size()` bytes; returns how many there were.
  absl::StatusOr<size_t> readSome(uint64_t offset, llvm::MutableArrayRef<uint8_t> to) const;
  /// An error if the file has changed since it was opened.
  absl::Status recheck() const;

private:
  InputFile(int fd, std::string given, std::string shown) : fd(fd), given(std::move(given)), shown(std::move(shown)) {}
  static absl::StatusOr<InputFile> take(OpenedFile &&opened, llvm::StringRef shown);

  int fd = -1;
  std::string given, shown;
  uint64_t bytes = 0;
  uint64_t device = 0, inode = 0;
  int64_t seconds = 0, nanoseconds = 0;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_FILES_INPUTFILE_H
