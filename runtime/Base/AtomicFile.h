//===- AtomicFile.h - Files that appear whole or not at all -----*- C++ -*-===//
//
// Writes a file that appears complete or not at all. The bytes go to a temporary
// in the target's directory, space is reserved first, and only after fsync is it
// renamed to the target. A failure before that leaves the old file as it was and
// nothing next to it; signals remove the temporary.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_ATOMICFILE_H
#define HEDDLE_RUNTIME_BASE_ATOMICFILE_H

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::base {

/// Who removes temporaries when a signal ends the program: told before one appears, and when it has gone.
struct TemporaryWatch {
  void (*appears)(const char *path);
  void (*gone)(const char *path);
};
/// Handlers of SIGINT, SIGTERM and SIGHUP, for a program that writes one file at a time. They unlink the temporary and
/// then act as they would have; a signal that was ignored when the program began stays ignored.
TemporaryWatch ownHandlers();

class AtomicFile {
public:
  struct Failure {
    std::string what; ///< "cannot create the output"
    int error;        ///< of errno
  };
  using Result = std::optional<Failure>; ///< none: it went well

  struct Manner {
    uint64_t bytes = 0;    ///< to come, for which space is reserved; 0: unknown
    bool special = false;  ///< `-`, a device or a pipe is written directly, not refused
    bool nameless = false; ///< until the end the temporary has no name (O_TMPFILE), where the file system can
  };

  explicit AtomicFile(TemporaryWatch watch) : watch(watch) {}
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  /// Begins to write `path`. A file that is there keeps its permissions, and a link to it stays a link.
  Result open(const std::string &path, const Manner &manner);
  Result write(const void *data, uint64_t bytes);
  /// Gives the file its name. With `durable` false there is no sync, for files that the same command reads again.
  Result commit(bool durable = true);
  int descriptor() const { return file; }

private:
  template <typename Make> bool makeTemporary(Make make);
  void forgetTemporary();

  TemporaryWatch watch;
  std::string target, temporary;
  uint64_t written = 0;
  int file = -1;
  bool direct = false;  ///< a device or pipe: nothing to rename
  bool unnamed = false; ///< made with O_TMPFILE
};

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_ATOMICFILE_H
