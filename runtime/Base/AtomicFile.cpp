//===- AtomicFile.cpp - Files that appear whole or not at all -------------===//
//
// The temporary's name has the process id; the contents never do.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace heddle::base {

/// Path of the temporary file that a signal handler has to remove; "" for none.
static char pendingTemporary[PATH_MAX];

static void removePending(int signal) {
  if (pendingTemporary[0])
    unlink(pendingTemporary);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

static void notePending(const char *path) {
  static bool watched = false;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old;
    if (!watched && sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
      signal(number, removePending);
  }
  watched = true;
  if (strlen(path) < sizeof pendingTemporary)
    strcpy(pendingTemporary, path);
}

TemporaryWatch ownHandlers() {
  return {notePending, [](const char *) { pendingTemporary[0] = 0; }};
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : watch(other.watch), target(std::move(other.target)), temporary(std::exchange(other.temporary, {})),
      written(other.written), file(std::exchange(other.file, -1)), direct(other.direct), unnamed(other.unnamed) {}

AtomicFile::~AtomicFile() {
  if (file >= 0)
    close(file);
  if (temporary.empty())
    return;
  unlink(temporary.c_str());
  forgetTemporary();
}

void AtomicFile::forgetTemporary() {
  watch.gone(temporary.c_str());
  temporary.clear();
}

/// Tries names next to the target until `make` has made one; after an error errno says which.
template <typename Make> bool AtomicFile::makeTemporary(Make make) {
  for (int attempt = 0; attempt <= 100; ++attempt) {
    temporary = target + "." + std::to_string(getpid()) + "-" + std::to_string(attempt) + ".part";
    watch.appears(temporary.c_str());
    if (make(temporary.c_str()))
      return true;
    int error = errno;
    forgetTemporary();
    errno = error;
    if (error != EEXIST)
      return false;
  }
  return false;
}

AtomicFile::Result AtomicFile::open(const std::string &path, const Manner &manner) {
  target = path;
  auto opened = [&](int descriptor) -> Result {
    file = descriptor;
    return file < 0 ? Result({"cannot create the output", errno}) : Result();
  };
  direct = manner.special && path == "-";
  if (direct)
    return opened(dup(1));
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  direct = exists && manner.special && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
  if (direct)
    return opened(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (exists && !S_ISREG(info.st_mode)) // renaming over a device would replace the device
    return Failure{"the output must be a regular file", S_ISDIR(info.st_mode) ? EISDIR : EINVAL};
  if (exists && access(path.c_str(), W_OK) != 0)
    return Failure{"cannot create the output", errno};
  char resolved[PATH_MAX];
  if (exists && realpath(path.c_str(), resolved))
    target = resolved;
  mode_t mask = umask(0);
  umask(mask);
  mode_t mode = exists ? info.st_mode & 07777 : 0666 & ~mask;
#ifdef O_TMPFILE
  // A file without a name; it gets one in `commit` by way of /proc.
  if (manner.nameless && access("/proc/self/fd", F_OK) == 0) {
    size_t slash = target.rfind('/');
    std::string directory = slash == std::string::npos ? "." : target.substr(0, std::max<size_t>(slash, 1));
    file = ::open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    unnamed = file >= 0;
  }
#endif
  if (!unnamed && !makeTemporary([&](const char *name) {
        file = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        return file >= 0;
      }))
    return Failure{"cannot create the output", errno};
  fchmod(file, mode);
  int error = manner.bytes ? posix_fallocate(file, 0, off_t(manner.bytes)) : 0;
  if (error && error != EOPNOTSUPP && error != EINVAL)
    return Failure{"cannot reserve " + std::to_string(manner.bytes) + " bytes", error};
  return {};
}

AtomicFile::Result AtomicFile::write(const void *data, uint64_t bytes) {
  written += bytes;
  auto *at = static_cast<const char *>(data);
  while (bytes) {
    ssize_t n = ::write(file, at, std::min<uint64_t>(bytes, 1 << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return Failure{"cannot write the output", n < 0 ? errno : EIO};
    at += n;
    bytes -= uint64_t(n);
  }
  return {};
}

AtomicFile::Result AtomicFile::commit(bool durable) {
  if (!direct && (ftruncate(file, off_t(written)) != 0 || (durable && fsync(file) != 0)))
    return Failure{"cannot finish the output", errno};
  if (unnamed) {
    // linkat cannot replace an existing file: link to a temporary name, then rename that.
    std::string self = "/proc/self/fd/" + std::to_string(file);
    if (!makeTemporary(
            [&](const char *name) { return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0; }))
      return Failure{"cannot finish the output", errno};
  }
  int closed = close(std::exchange(file, -1));
  if (closed != 0)
    return Failure{"cannot finish the output", errno};
  if (direct)
    return {};
  if (rename(temporary.c_str(), target.c_str()) != 0)
    return Failure{"cannot put the output in place", errno};
  forgetTemporary();
  return {};
}

} // namespace heddle::base
