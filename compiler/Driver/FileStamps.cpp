//===- FileStamps.cpp - whether files changed while they were read --------===//

#include "compiler/Driver/FileStamps.h"
#include "compiler/Driver/ModelFiles.h"
#include "compiler/Import/Json/Diagnostics.h"
#include <sys/stat.h>

using namespace mlir;
using namespace heddle;

std::map<std::string, FileStamps::Stamp> FileStamps::stamps(const ImportOptions &options) {
  std::map<std::string, Stamp> all;
  auto nanoseconds = [](const timespec &time) { return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec; };
  for (const std::string &file : modelFiles(options, ModuleOp()))
    if (struct stat info; stat(file.c_str(), &info) == 0)
      all[file] = {int64_t(info.st_dev), int64_t(info.st_ino), info.st_size, nanoseconds(info.st_mtim),
                   nanoseconds(info.st_ctim)};
  return all;
}

FileStamps::FileStamps(const ImportOptions &options) : options(options), before(stamps(options)) {}

int FileStamps::unchanged(const Console &console) const {
  std::map<std::string, Stamp> now = stamps(options);
  auto refuse = [&](StringRef file, const Twine &what) {
    return console.complain(Error::FileChanged, escaped(file, 4096) + Twine(": the file ") + what +
                                                    " while the model was compiled; let the program that writes it "
                                                    "finish, then compile again");
  };
  for (const auto &[file, stamp] : before) {
    auto found = now.find(file);
    if (found == now.end())
      return refuse(file, "was removed");
    if (found->second != stamp)
      return refuse(file, "changed");
  }
  for (const auto &[file, stamp] : now)
    if (!before.count(file))
      return refuse(file, "appeared");
  return Ok;
}
