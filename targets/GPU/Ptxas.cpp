//===- Ptxas.cpp - machine code by the ptxas that is there ------------------===//
//
// ptxas is no part of Heddle and never asked for by itself: equal inputs give equal bytes on every machine. It reads
// and writes files, which are in a folder of their own and are gone afterwards.
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

using heddle::gpu::Assembled, heddle::gpu::Resources;
using llvm::StringRef;

std::string heddle::gpu::findAssembler() {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  return found ? *found : "";
}

static std::string contentsOf(StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  return text ? (*text)->getBuffer().str() : "";
}

/// The number in front of `unit`; 0: there is none.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t end = line.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef text = line.take_front(end).rtrim();
  int64_t n = 0;
  (void)text.drop_front(text.find_last_not_of("0123456789") + 1).getAsInteger(10, n); // 0 if it is no number
  return n;
}

/// What `ptxas -v` says: of each function a line with its name, one of its stack, and of a kernel one of its registers.
static std::map<std::string, Resources> resourcesOf(StringRef log) {
  std::map<std::string, Resources> all;
  std::string name;
  while (!log.empty()) {
    StringRef line;
    std::tie(line, log) = log.split('\n');
    if (size_t at = line.find("Function properties for "); at != StringRef::npos)
      name = line.drop_front(at + 24).trim().str();
    if (name.empty())
      continue;
    if (line.contains("bytes stack frame")) {
      all[name].stack = numberBefore(line, "bytes stack");
      all[name].spills = numberBefore(line, "bytes spill stores") + numberBefore(line, "bytes spill loads");
    }
    if (line.contains(" registers")) {
      all[name].registers = numberBefore(line, "registers");
      all[name].shared = numberBefore(line, "bytes smem");
    }
  }
  return all;
}

std::optional<Assembled> heddle::gpu::assemble(StringRef assembler, StringRef ptx, StringRef chip, std::string &error) {
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
  StringRef arguments[] = {assembler, "-v", arch, source, "-o", result};
  int rc = llvm::sys::ExecuteAndWait(assembler, arguments, std::nullopt,
                                     {StringRef(""), StringRef(log), StringRef(log)}, 0, 0, &why);
  if (std::string bytes = rc == 0 ? contentsOf(result) : ""; !bytes.empty())
    return Assembled{bytes, resourcesOf(contentsOf(log))};
  error = assembler.str() + " made no code for " + chip.str() + ": " +
          (why.empty() ? StringRef(contentsOf(log)).take_front(400).str() : why);
  return std::nullopt;
}
