//===- AtomicFile.cpp - Files that appear whole or not at all -------------===//
//
// SIGINT, SIGTERM and SIGHUP unlink the temporary and then act as they would
// have; a signal that was ignored when the program began stays ignored.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::rt {

/// Path of the temporary file that a signal handler has to remove; "" for none.
static char pendingTemporary[PATH_MAX];

static void removePending(int signal) {
  if (pendingTemporary[0])
    unlink(pendingTemporary);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

static void watchSignals() {
  static bool done = false;
  if (done)
    return;
  done = true;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old;
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_DFL)
      signal(number, removePending);
  }
}

AtomicFile::~AtomicFile() {
  if (file >= 0)
    close(file);
  if (!temporary.empty())
    unlink(temporary.c_str());
  if (!temporary.empty())
    pendingTemporary[0] = 0;
}

Status AtomicFile::fail(const char *what, int error) { return outputError(what, target, error); }

/// A regular file is written beside its target and renamed when it is complete. "-", pipes and devices are written
/// directly.
Status AtomicFile::open(const std::string &path, uint64_t size) {
  target = path;
  if (path == "-") {
    direct = true;
    file = dup(1);
    return file < 0 ? fail("cannot write", errno) : Status();
  }
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return fail("cannot write", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    direct = true;
    file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return file < 0 ? fail("cannot write", errno) : Status();
  }
  if (exists && access(path.c_str(), W_OK) != 0)
    return fail("cannot write", errno);
  // Write to where a symbolic link points, so that the link itself stays.
  char resolved[PATH_MAX];
  if (exists && realpath(path.c_str(), resolved))
    target = resolved;
  size_t slash = target.rfind('/');
  std::string directory = slash == std::string::npos ? "." : slash ? target.substr(0, slash) : "/";
  watchSignals();
  mode_t mask = umask(0);
  umask(mask);
  mode_t mode = exists ? info.st_mode & 07777 : 0666 & ~mask;
#ifdef O_TMPFILE
  // A file without a name; it gets one in `commit` by way of /proc.
  if (access("/proc/self/fd", F_OK) == 0)
    file = ::open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  unnamed = file >= 0;
#endif
  for (int attempt = 0; file < 0 && attempt < 100; ++attempt) {
    temporary = directory + format("/.heddle-%ld-%d.tmp", long(getpid()), attempt);
    file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0) {
      temporary.clear();
      if (errno != EEXIST)
        return fail("cannot write", errno);
      continue;
    }
    if (temporary.size() < sizeof pendingTemporary)
      strcpy(pendingTemporary, temporary.c_str());
  }
  if (file < 0)
    return fail("cannot write", EEXIST);
  fchmod(file, mode);
  int error = size ? posix_fallocate(file, 0, size) : 0;
  if (error && error != EOPNOTSUPP && error != EINVAL)
    return fail("cannot write", error);
  return {};
}

Status AtomicFile::write(const void *data, uint64_t bytes) {
  auto *at = static_cast<const char *>(data);
  while (bytes) {
    ssize_t n = ::write(file, at, std::min<uint64_t>(bytes, 1 << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail("cannot write", n < 0 ? errno : EIO);
    at += n;
    bytes -= n;
  }
  return {};
}

Status AtomicFile::commit() {
  if (direct) {
    int failed = close(file);
    file = -1;
    return failed ? fail("cannot write", errno) : Status();
  }
  if (fsync(file) != 0)
    return fail("cannot write", errno);
  if (unnamed) {
    // linkat cannot replace an existing file: link to a temporary name, then
    // rename that.
    size_t slash = target.rfind('/');
    std::string directory = slash == std::string::npos ? "" : target.substr(0, slash + 1);
    std::string self = format("/proc/self/fd/%d", file);
    for (int attempt = 0;; ++attempt) {
      temporary = directory + format(".heddle-%ld-%d.tmp", long(getpid()), attempt);
      if (temporary.size() < sizeof pendingTemporary)
        strcpy(pendingTemporary, temporary.c_str());
      if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0)
        break;
      int error = errno;
      temporary.clear();
      pendingTemporary[0] = 0;
      if (error != EEXIST || attempt == 100)
        return fail("cannot write", error);
    }
  }
  int failed = close(file);
  file = -1;
  if (failed)
    return fail("cannot write", errno);
  if (rename(temporary.c_str(), target.c_str()) != 0)
    return fail("cannot write", errno);
  temporary.clear();
  pendingTemporary[0] = 0;
  return {};
}

} // namespace heddle::rt
