//===- Link.cpp - the link line -------------------------------------------===//

#include "targets/Host/Link.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using llvm::StringRef;

/// The path of a start file or library, in `dirs`.
static std::string fileOf(llvm::ArrayRef<StringRef> dirs, StringRef name) {
  for (StringRef dir : dirs)
    if (llvm::sys::fs::exists(dir + "/" + name))
      return (dir + "/" + name).str();
  return name.str();
}

std::string heddle::host::runtimeFile(StringRef folder, StringRef name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return std::string(path);
}

/// The link line: a position-independent executable of the C library's start files, the objects, the
/// runtime and the static C++ library, with libc and libm as shared libraries.
std::vector<std::string> heddle::host::linkLine(const Architecture &architecture, llvm::ArrayRef<std::string> objects,
                                                StringRef folder, StringRef output, bool keepSymbols,
                                                std::string &error) {
  std::string table = runtimeFile(folder, kLinkDirs);
  auto said = llvm::MemoryBuffer::getFile(table);
  if (!said) {
    error = table +
            ", which the build of the runtime leaves in the same folder, cannot be read: " + said.getError().message();
    return {};
  }
  llvm::SmallVector<StringRef> dirs;
  (*said)->getBuffer().trim().split(dirs, '\n');
  llvm::SmallVector<StringRef> sanitizers;
  auto extra = llvm::MemoryBuffer::getFile(runtimeFile(folder, kLinkSanitizers));
  if (extra)
    (*extra)->getBuffer().trim().split(sanitizers, '\n');
  std::vector<std::string> args = {
      "ld.lld",           "-pie", "--build-id=none", "--gc-sections", "-z", "relro", "-z", "now",
      "--hash-style=gnu", "-o",   output.str()};
  args.insert(args.end(), {"--dynamic-linker", architecture.loader.str()});
  if (sanitizers.empty() && !keepSymbols)
    args.push_back("--strip-all");
  for (StringRef dir : dirs)
    args.push_back(("-L" + dir).str());
  for (StringRef file : {"Scrt1.o", "crti.o", "crtbeginS.o"})
    args.push_back(fileOf(dirs, file));
  args.insert(args.end(), sanitizers.begin(), sanitizers.end());
  args.insert(args.end(), objects.begin(), objects.end());
  args.insert(args.end(), {fileOf(dirs, "libstdc++.a"), "-lm", fileOf(dirs, "libgcc.a")});
  if (!sanitizers.empty()) // others unwind nothing (runtime/Program/NoUnwinder.c)
    args.push_back(fileOf(dirs, "libgcc_eh.a"));
  args.insert(args.end(), {"-lc", fileOf(dirs, "libgcc.a"), fileOf(dirs, "crtendS.o"), fileOf(dirs, "crtn.o")});
  return args;
}

StringRef heddle::host::linkerPath() { return HEDDLE_LLD; }

heddle::host::Linked heddle::host::link(llvm::ArrayRef<std::string> line, StringRef log,
                                        llvm::function_ref<void(int)> child, std::string &error) {
  if (line.empty())
    return Linked::Unreadable;
  llvm::SmallVector<StringRef> refs(line.begin(), line.end());
  std::string why;
  bool failed = false;
  llvm::sys::ProcessInfo process =
      llvm::sys::ExecuteNoWait(HEDDLE_LLD, refs, std::nullopt, {StringRef(""), log, log}, 0, &why, &failed);
  if (failed) {
    error = "cannot run the linker " HEDDLE_LLD ": " + why;
    return Linked::Stopped;
  }
  child(int(process.Pid));
  int rc = llvm::sys::Wait(process, std::nullopt, &why).ReturnCode;
  child(0);
  if (rc == 0)
    return Linked::Yes;
  auto text = llvm::MemoryBuffer::getFile(log);
  StringRef told = text ? (*text)->getBuffer() : StringRef();
  // lld's own handler may catch the signal that ends it, and write where it was.
  size_t trace = told.find("PLEASE submit a bug report");
  bool stopped = rc < 0 || trace != StringRef::npos;
  error = stopped ? "the linker did not finish" : "the linker failed";
  if (!why.empty())
    error += " (" + why + ")";
  told = told.substr(0, trace).take_front(4000).trim();
  if (!told.empty())
    error += ":\n" + told.str();
  return stopped ? Linked::Stopped : told.contains("cannot open") ? Linked::Unreadable : Linked::Refused;
}
