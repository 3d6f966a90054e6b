//===- CodeCache.cpp - machine code of earlier compilations ---------------===//

#include "targets/Host/CodeCache.h"
#include "targets/Host/HostMachine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace heddle::host;

/// 32 bytes; an entry ends with that of what it begins with.
static llvm::BLAKE3Result<> digestOf(llvm::ArrayRef<char> bytes) {
  return llvm::BLAKE3::hash(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

/// What tells one build of this compiler from another: size and time of its file. Empty if the system does not say.
static std::string buildOf() {
  static char anchor;
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(llvm::sys::fs::getMainExecutable(nullptr, &anchor), status))
    return "";
  return (llvm::Twine(status.getSize()) + " " +
          llvm::Twine(status.getLastModificationTime().time_since_epoch().count()))
      .str();
}

CodeCache::CodeCache(llvm::StringRef folder, llvm::StringRef what) {
  std::string build = folder.empty() || what.empty() ? "" : buildOf();
  if (build.empty())
    return;
  this->folder = folder;
  compiler = build + "\n" + what.str() + "\n";
}

/// The processor in words; empty without a cache, or where LLVM does not know it.
static std::string wordsOf(llvm::StringRef folder, const Machine &target, llvm::StringRef how) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = folder.empty() ? nullptr : target.machine(error);
  if (!machine)
    return "";
  return target.triple + "\n" + machine->getTargetCPU().str() + "\n" + machine->getTargetFeatureString().str() + "\n" +
         how.str();
}

CodeCache::CodeCache(llvm::StringRef folder, const Machine &target, llvm::StringRef how)
    : CodeCache(folder, wordsOf(folder, target, how)) {}

std::string CodeCache::fileOf(llvm::ArrayRef<char> bitcode) const {
  if (folder.empty())
    return "";
  llvm::BLAKE3 digest;
  digest.update(compiler);
  digest.update(llvm::StringRef(bitcode.data(), bitcode.size()));
  llvm::SmallString<128> file(folder);
  llvm::sys::path::append(file, llvm::toHex(digest.final(), /*LowerCase=*/true) + ".o");
  return file.str().str();
}

bool CodeCache::find(const std::string &file, llvm::SmallVectorImpl<char> &object) {
  if (file.empty())
    return false;
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return false;
  llvm::ArrayRef<char> bytes((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  llvm::BLAKE3Result<> expected;
  if (bytes.size() < expected.size())
    return false;
  llvm::ArrayRef<char> kept = bytes.drop_back(expected.size());
  llvm::copy(bytes.take_back(expected.size()), expected.begin());
  if (digestOf(kept) != expected)
    return false;
  object.assign(kept.begin(), kept.end());
  return true;
}

void CodeCache::keep(const std::string &file, llvm::ArrayRef<char> object) const {
  if (file.empty() || llvm::sys::fs::create_directories(folder))
    return;
  llvm::consumeError(llvm::writeToOutput(file, [&](llvm::raw_ostream &os) {
    os.write(object.data(), object.size());
    llvm::BLAKE3Result<> digest = digestOf(object);
    os.write(reinterpret_cast<const char *>(digest.data()), digest.size());
    return llvm::Error::success();
  }));
}
