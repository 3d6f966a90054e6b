//===- Ptxas.cpp - machine code by the ptxas that is there ------------------===//
//
// ptxas is no part of Heddle and never asked for by itself: equal inputs give equal bytes on every machine. It reads
// and writes files, which lie in a folder of their own and are gone afterwards.
//
//===----------------------------------------------------------------------===//

#include "targets/GPU/Ptxas.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

std::string heddle::gpu::findAssembler() {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  return found ? *found : "";
}

static std::string contentsOf(StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  return text ? (*text)->getBuffer().str() : "";
}

std::optional<std::string> heddle::gpu::assemble(StringRef assembler, StringRef ptx, StringRef chip,
                                                 std::string &error) {
  llvm::SmallString<128> folder;
  if (std::error_code ec = llvm::sys::fs::createUniqueDirectory("heddle-ptxas", folder)) {
    error = "no folder for ptxas: " + ec.message();
    return std::nullopt;
  }
  auto leave = llvm::make_scope_exit([&] { (void)llvm::sys::fs::remove_directories(folder); });
  std::string source = (folder + "/kernels.ptx").str(), result = (folder + "/kernels.cubin").str(),
              log = (folder + "/log").str();
  std::error_code ec;
  llvm::raw_fd_ostream os(source, ec);
  os << ptx;
  os.close();
  if (ec || os.has_error()) {
    error = "PTX could not be written for ptxas: " + (ec ? ec : os.error()).message();
    os.clear_error();
    return std::nullopt;
  }
  std::string arch = ("-arch=" + chip).str(), why;
  StringRef arguments[] = {assembler, arch, source, "-o", result};
  int rc = llvm::sys::ExecuteAndWait(assembler, arguments, std::nullopt,
                                     {StringRef(""), StringRef(log), StringRef(log)}, 0, 0, &why);
  std::string bytes = rc == 0 ? contentsOf(result) : "";
  if (!bytes.empty())
    return bytes;
  error = assembler.str() + " made no code for " + chip.str() + ": " +
          (why.empty() ? StringRef(contentsOf(log)).take_front(400).str() : why);
  return std::nullopt;
}
