//===- Defaults.cpp - what a command line leaves unsaid -------------------===//

#include "compiler/Driver/Defaults.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/Import/Weights/OtherKinds.h"
#include "compiler/Weights/Adapter/AdapterBase.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace heddle;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using llvm::StringRef;

int heddle::readStream(const Console &console, ImportOptions &options) {
  StringRef name = options.path;
  bool standard = name == "-" || name == "/dev/stdin";
  if (!standard && !name.starts_with("/dev/fd/") && !name.starts_with("/proc/self/fd/"))
    return Ok;
  int file = standard ? 0 : ::open(options.path.c_str(), O_RDONLY | O_CLOEXEC);
  llvm::scope_exit close([&] {
    if (file > 0)
      ::close(file);
  });
  std::string text;
  for (char buffer[1 << 16];;) {
    ssize_t n = file < 0 ? -1 : ::read(file, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return console.complain(Error::CannotRead, "cannot read " + name + ": " + std::strerror(errno));
    if (n == 0)
      break;
    text.append(buffer, n);
    if (text.size() > JsonLimits().bytes)
      return console.complain(Error::TooLarge,
                              "at most " + llvm::Twine(JsonLimits().bytes) + " bytes are read of " + name);
  }
  options.path = kStandardInput.str();
  if (DiagnosticSink sink; refuseOtherKind(options.path, StringRef(text).take_front(1024), sink)) {
    console.print(sink);
    return sink.exitCode();
  }
  options.text = std::move(text);
  return Ok;
}

void heddle::takeBase(const Console &console, ImportOptions &options) {
  if (options.text || !fs::is_directory(options.path) || !isAdapterAlone(options.path))
    return;
  absl::StatusOr<std::string> base = baseOfAdapter(options.path);
  if (!base.ok()) // the importer says it
    return;
  AdapterChoice own;
  own.folder = std::exchange(options.path, *base);
  console.note(own.folder + " is a LoRA adapter; it is merged into " + options.path +
               ", which its adapter_config.json names");
  options.adapters.insert(options.adapters.begin(), std::move(own));
}

/// The name of a model by its path: that of its folder if the file has the same name in every folder, else the file's,
/// without its ending.
static std::string nameOf(StringRef model) {
  llvm::SmallString<256> file(model);
  if (fs::make_absolute(file))
    return "";
  path::remove_dots(file, /*remove_dot_dot=*/true);
  if (fs::is_directory(file))
    return path::filename(file).str();
  // These have the same name in every directory.
  if (path::filename(file) == "model.json" || path::filename(file) == "config.json")
    return path::filename(path::parent_path(file)).str();
  return path::stem(file).str();
}

/// Without -o the output is ./NAME (or NAME.o); it replaces only what a compiler made.
int heddle::chooseOutput(const Console &console, CompileOptions &options) {
  std::string name = options.import.text ? "" : nameOf(options.import.path);
  if (name.empty() || name == "/")
    return console.complain(Error::BadUsage, "this model has no name to call the output by; -o FILE gives one");
  std::string output = "./" + name + (options.emit == "obj" ? ".o" : "");
  // Most often that is the directory of the model itself.
  if (fs::is_directory(output))
    output += ".out";
  llvm::file_magic magic;
  if (fs::exists(output) && (llvm::identify_magic(output, magic) || !magic.is_object()))
    return console.complain(Error::WouldReplace,
                            output + " is there already and was not made by a compiler; -o FILE gives another name");
  options.output = output;
  return Ok;
}
