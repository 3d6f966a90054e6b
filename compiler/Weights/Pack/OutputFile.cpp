// The temporary has a name from the beginning: LLVM's signal handlers remove it
// if the process is interrupted.
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
  bool lacking = error == EMFILE || error == ENFILE || error == ENOMEM;
  WeightProblem problem{full      ? Error::DiskFull
                        : lacking ? Error::NoResources
                                  : Error::CannotWrite,
                        "",
                        std::string(what) + ": " + std::strerror(error),
                        printable(path, 4096),
                        std::nullopt,
                        "",
                        full      ? "make room on the disk (or raise the quota), then run "
                                    "again; an earlier output is untouched"
                        : lacking ? "raise the limit (ulimit -n, ulimit -v); an earlier output is untouched"
                                  : "choose another output with -o; an earlier output is "
                                    "untouched"};
  return toStatus(problem);
}

/// LLVM's handlers know any number of files.
static base::TemporaryWatch llvmHandlers() {
  return {[](const char *file) { llvm::sys::RemoveFileOnSignal(file); },
          [](const char *file) { llvm::sys::DontRemoveFileOnSignal(file); }};
}

OutputFile::OutputFile(llvm::StringRef path) : path(path.str()), file(llvmHandlers()) { buffer.reserve(kHugePage); }

absl::Status OutputFile::said(const base::AtomicFile::Result &failure) const {
  return failure ? cannotWrite(path, failure->what.c_str(), failure->error) : absl::OkStatus();
}

absl::StatusOr<OutputFile> OutputFile::create(llvm::StringRef path, uint64_t bytes) {
  OutputFile output(path);
  base::AtomicFile::Manner manner;
  manner.bytes = bytes;
  if (absl::Status status = output.said(output.file.open(output.path, manner)); !status.ok())
    return status;
  return output;
}

absl::Status OutputFile::flush() {
  absl::Status status = said(file.write(buffer.data(), buffer.size()));
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
  return said(file.commit(durable));
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
  if (fchmod(file->file.descriptor(), source.info().st_mode & 07777) != 0)
    return cannotWrite(to, "cannot set the permissions", errno);
  return file->commit(/*durable=*/false);
}

} // namespace heddle
