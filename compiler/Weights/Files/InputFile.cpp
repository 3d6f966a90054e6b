// Opening is heddle/input_file.h's; here its answers become errors of weights
// files.
#include "compiler/Weights/Files/InputFile.h"
#include "compiler/Weights/Files/Problem.h"
#include "heddle/input_file.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle {

static absl::Status cannotOpen(llvm::StringRef shown, int error) {
  WeightProblem problem;
  problem.code = Error::PartMissing;
  problem.file = printable(shown, 4096);
  problem.message = std::string("cannot open the file: ") + std::strerror(error);
  switch (error) {
  case ENOENT: problem.help = "check the path, or name the file with --weights=FILE"; break;
  case EACCES: problem.help = "make the file readable for this user"; break;
  case ELOOP: problem.help = "the symbolic links lead in a circle; point them at a file"; break;
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    problem.help = "raise the limit of open files (ulimit -n)";
    problem.code = Error::NoResources;
    break;
  default: problem.help = "check the path and the disk it is on"; problem.code = Error::CannotRead;
  }
  return toStatus(problem);
}

absl::StatusOr<InputFile> InputFile::take(OpenedFile &&opened, llvm::StringRef shown) {
  if (opened.systemError())
    return cannotOpen(shown, opened.systemError());
  const struct stat &info = opened.info();
  InputFile file(opened.release(), shown.str(), printable(shown, 4096));
  if (!opened.ok())
    return toStatus(brokenRule(Error::S01,
                               S_ISDIR(info.st_mode) ? "expected a file, got a directory"
                                                     : "expected a regular file, got a device or a pipe",
                               file.shown, 0, "", "name the .safetensors file itself"));
  file.bytes = uint64_t(info.st_size);
  file.device = info.st_dev;
  file.inode = info.st_ino;
  file.seconds = info.st_mtim.tv_sec;
  file.nanoseconds = info.st_mtim.tv_nsec;
  return file;
}

absl::StatusOr<InputFile> InputFile::open(llvm::StringRef path) {
  // The system would cut the path at a NUL.
  if (path.contains('\0'))
    return cannotOpen(path, ENOENT);
  return take(OpenedFile(path.str().c_str()), path);
}

absl::StatusOr<InputFile> InputFile::openAt(int directoryFd, llvm::StringRef name, llvm::StringRef shown) {
  if (name.contains('\0') || name.contains('/'))
    return cannotOpen(shown, ENOENT);
  return take(OpenedFile(name.str().c_str(), directoryFd), shown);
}

InputFile::InputFile(InputFile &&other) { *this = std::move(other); }

InputFile &InputFile::operator=(InputFile &&other) {
  std::swap(fd, other.fd);
  given = std::move(other.given);
  shown = std::move(other.shown);
  bytes = other.bytes;
  device = other.device;
  inode = other.inode;
  seconds = other.seconds;
  nanoseconds = other.nanoseconds;
  return *this;
}

InputFile::~InputFile() {
  if (fd >= 0)
    ::close(fd);
}

absl::StatusOr<size_t> InputFile::readSome(uint64_t offset, llvm::MutableArrayRef<uint8_t> to) const {
  size_t done = 0;
  while (done < to.size()) {
    // Linux transfers at most 2^31 - 4096 bytes at once.
    size_t chunk = std::min<size_t>(to.size() - done, 1u << 30);
    ssize_t got = ::pread(fd, to.data() + done, chunk, off_t(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      WeightProblem problem{Error::CannotRead,
                            "",
                            std::string("cannot read the file: ") + std::strerror(errno),
                            shown,
                            offset + done,
                            "",
                            "check the disk, then run the command again"};
      return toStatus(problem);
    }
    if (got == 0)
      break;
    done += size_t(got);
  }
  return done;
}

absl::Status InputFile::read(uint64_t offset, llvm::MutableArrayRef<uint8_t> to) const {
  absl::StatusOr<size_t> got = readSome(offset, to);
  if (!got.ok())
    return got.status();
  if (*got == to.size())
    return absl::OkStatus();
  WeightProblem problem{Error::FileShrank, "", "the file became shorter while it was being read",      shown,
                        offset + *got,     "", "let the program that writes it finish, then run again"};
  return toStatus(problem);
}

absl::Status InputFile::recheck() const {
  struct stat info;
  bool same = fstat(fd, &info) == 0 && uint64_t(info.st_size) == bytes && uint64_t(info.st_dev) == device &&
              uint64_t(info.st_ino) == inode && info.st_mtim.tv_sec == seconds && info.st_mtim.tv_nsec == nanoseconds;
  if (same)
    return absl::OkStatus();
  WeightProblem problem{Error::FileChanged,
                        "",
                        "the file changed while it was being read",
                        shown,
                        std::nullopt,
                        "",
                        "let the program that writes it finish, then run again"};
  return toStatus(problem);
}

} // namespace heddle
