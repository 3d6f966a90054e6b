//===- input_file.h - How a file of somebody else is opened -----*- C++ -*-===//
//
// How the compiler and compiled models open a file that somebody else wrote.
// Opening never blocks (a FIFO without a writer, a device); what was opened
// says what it is, not a second look at the path; and no more is read than the
// caller allows. A file that exists and cannot be used is an error, never an
// absence. The only pipe that is read is one that was handed to the program
// open: /dev/stdin, /dev/fd/63.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_INPUT_FILE_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_INPUT_FILE_H

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle {

/// The number of an open descriptor that the path means (/dev/stdin,
/// /dev/fd/N), else -1.
inline int handedOver(const char *path) {
  if (strcmp(path, "/dev/stdin") == 0)
    return 0;
  for (const char *folder : {"/dev/fd/", "/proc/self/fd/"})
    if (size_t n = strlen(folder); strncmp(path, folder, n) == 0) {
      char *end = nullptr;
      long number = strtol(path + n, &end, 10);
      return end != path + n && *end == 0 && number >= 0 && number < 1 << 20 ? int(number) : -1;
    }
  return -1;
}

/// An open regular file, which this owns, or the reason why there is none.
class OpenedFile {
public:
  /// Opens for reading; a relative `path` starts in `directory`.
  explicit OpenedFile(const char *path, int directory = AT_FDCWD) {
    int given = handedOver(path);
    fd = given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, 0)
                    : ::openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    look();
    stream = found && given >= 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  }
  OpenedFile(const OpenedFile &) = delete;
  OpenedFile &operator=(const OpenedFile &) = delete;
  ~OpenedFile() {
    if (fd >= 0)
      ::close(fd);
  }

  bool ok() const { return error == 0 && !found; }
  /// A regular file, or a pipe that can be read from the front.
  bool isReadable() const { return ok() || stream; }
  /// The system's reason, 0 if it gave none.
  int systemError() const { return error; }
  /// "a directory", "a pipe": what is there instead of a regular file.
  const char *foundInstead() const { return found; }
  const struct stat &info() const { return status; }
  uint64_t size() const { return uint64_t(status.st_size); }
  int descriptor() const { return fd; }
  /// Gives the descriptor to the caller, which has to close it.
  int release() {
    int mine = fd;
    fd = -1;
    return mine;
  }

private:
  void look() {
    if (fd < 0 || fstat(fd, &status) != 0) {
      error = errno;
      // openat gives ENXIO for a socket.
      if (error == ENXIO) {
        error = 0;
        found = "a socket or a device";
      }
    } else if (!S_ISREG(status.st_mode)) {
      found = S_ISDIR(status.st_mode) ? "a directory" : S_ISFIFO(status.st_mode) ? "a pipe" : "a device";
    }
  }

  int fd = -1, error = 0;
  const char *found = nullptr;
  bool stream = false;
  struct stat status = {};
};

/// Whether the directory has an entry of this name, even an unusable one: a
/// dangling link, a FIFO, a file without permission.
inline bool isThere(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/// The contents of a file, or why they could not be read.
struct ReadFile {
  std::string bytes;   ///< of a file that is too large the first 1024
  std::string why;     ///< "cannot read it: ...", empty if all is well
  int systemError = 0; ///< errno, where the system is the reason

  bool ok() const { return why.empty(); }
};

/// Reads a whole file or pipe of at most `most` bytes.
inline ReadFile readInputFile(const char *path, uint64_t most) {
  ReadFile result;
  auto failed = [&](int error) {
    result.systemError = error;
    result.why = std::string("cannot read it: ") + strerror(error);
    result.bytes.clear();
  };
  OpenedFile file(path);
  if (file.systemError()) {
    failed(file.systemError());
    return result;
  }
  if (!file.isReadable()) {
    result.why = std::string("a regular file expected, found ") + file.foundInstead();
    return result;
  }
  if (file.ok() && file.size() > most) {
    result.why =
        "the file has " + std::to_string(file.size()) + " bytes; at most " + std::to_string(most) + " are read";
    result.bytes.resize(1024);
    ssize_t n = ::pread(file.descriptor(), &result.bytes[0], 1024, 0);
    result.bytes.resize(n > 0 ? size_t(n) : 0);
    return result;
  }
  // Files of /proc have size 0 and contents: read to the end.
  result.bytes.resize(size_t(file.size()) + 1);
  for (size_t at = 0;;) {
    ssize_t n = ::read(file.descriptor(), &result.bytes[at], result.bytes.size() - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      failed(errno);
      return result;
    }
    at += size_t(n);
    if (n == 0) {
      result.bytes.resize(at);
      return result;
    }
    if (at > most) {
      result.why = "more than " + std::to_string(most) + " bytes";
      result.bytes.clear();
      return result;
    }
    if (at == result.bytes.size())
      result.bytes.resize(at + (at < (1 << 20) ? 1 << 16 : at / 2));
  }
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_INPUT_FILE_H
