// The temporary's name contains the process id (the contents never do); LLVM's
// signal handlers remove it if the process is interrupted.
#include "compiler/Weights/Pack/OutputFile.h"
#include "compiler/Weights/Files/Problem.h"
#include "heddle/input_file.h"
#include "llvm/Support/Signals.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle {

static absl::Status cannotWrite(llvm::StringRef path, const char *what, int error) {
  bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  WeightProblem problem{full ? Error::DiskFull : Error::CannotWrite,
                        "",
                        std::string(what) + ": " + std::strerror(error),
                        printable(path, 4096),
                        std::nullopt,
                        "",
                        full ? "make room on the disk (or raise the quota), then run "
                               "again; an earlier output is untouched"
                             : "choose another output with -o; an earlier output is "
                               "untouched"};
  return toStatus(problem);
}

absl::StatusOr<OutputFile> OutputFile::create(llvm::StringRef path, uint64_t bytes) {
  OutputFile file;
  file.path = path.str();
  struct stat info;
  // Renaming over a device would replace the device.
  if (stat(file.path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return cannotWrite(path, "the output must be a regular file", S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
  for (int attempt = 0; file.fd < 0; ++attempt) {
    file.temporary = file.path + "." + std::to_string(getpid()) + "-" + std::to_string(attempt) + ".part";
    file.fd = ::open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd < 0 && (errno != EEXIST || attempt == 100)) {
      int error = errno;
      file.temporary.clear();
      return cannotWrite(path, "cannot create the output", error);
    }
  }
  llvm::sys::RemoveFileOnSignal(file.temporary);
  if (bytes) {
    int error = posix_fallocate(file.fd, 0, off_t(bytes));
    if (error && error != EINVAL && error != EOPNOTSUPP)
      return cannotWrite(path, ("cannot reserve " + std::to_string(bytes) + " bytes").c_str(), error);
  }
  file.buffer.reserve(kHugePage);
  return file;
}

OutputFile::OutputFile(OutputFile &&other)
    : fd(other.fd), path(std::move(other.path)), temporary(std::move(other.temporary)), written(other.written),
      buffer(std::move(other.buffer)) {
  other.fd = -1;
  other.temporary.clear();
}

OutputFile::~OutputFile() {
  if (fd >= 0)
    ::close(fd);
  if (!temporary.empty()) {
    ::unlink(temporary.c_str());
    llvm::sys::DontRemoveFileOnSignal(temporary);
  }
}

absl::Status OutputFile::writeOut(llvm::ArrayRef<uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t done = ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return cannotWrite(path, "cannot write the output", errno);
    bytes = bytes.drop_front(size_t(done));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::flush() {
  absl::Status status = writeOut(buffer);
  buffer.clear();
  return status;
}

absl::Status OutputFile::append(llvm::ArrayRef<uint8_t> bytes) {
  written += bytes.size();
  while (!bytes.empty()) {
    llvm::ArrayRef<uint8_t> part = bytes.take_front(kHugePage - buffer.size());
    buffer.insert(buffer.end(), part.begin(), part.end());
    bytes = bytes.drop_front(part.size());
    if (buffer.size() == kHugePage)
      if (absl::Status status = flush(); !status.ok())
        return status;
  }
  return absl::OkStatus();
}

absl::Status OutputFile::commit(bool durable) {
  if (absl::Status status = flush(); !status.ok())
    return status;
  if (ftruncate(fd, off_t(written)) != 0 || (durable && fsync(fd) != 0))
    return cannotWrite(path, "cannot finish the output", errno);
  int closed = ::close(fd);
  fd = -1;
  if (closed != 0)
    return cannotWrite(path, "cannot finish the output", errno);
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    return cannotWrite(path, "cannot put the output in place", errno);
  llvm::sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return absl::OkStatus();
}

absl::Status OutputFile::copy(llvm::StringRef from, llvm::StringRef to) {
  OpenedFile source(from.str().c_str());
  if (!source.ok())
    return cannotWrite(to, "cannot read what is copied", source.systemError() ? source.systemError() : EINVAL);
  absl::StatusOr<OutputFile> file = create(to, source.size());
  if (!file.ok())
    return file.status();
  std::vector<uint8_t> piece(kHugePage);
  while (ssize_t got = ::read(source.descriptor(), piece.data(), piece.size())) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return cannotWrite(to, "cannot read what is copied", errno);
    if (absl::Status status = file->append({piece.data(), size_t(got)}); !status.ok())
      return status;
  }
  if (fchmod(file->fd, source.info().st_mode & 07777) != 0)
    return cannotWrite(to, "cannot set the permissions", errno);
  return file->commit(/*durable=*/false);
}

} // namespace heddle
