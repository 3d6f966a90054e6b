//===- Archives.cpp - the archives that a program is linked with ----------===//

#include "compiler/Driver/Archives.h"
#include "compiler/Driver/Abilities.h"
#include "targets/CPU/Link.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;

static std::string runtimeOf(const CompileOptions &options, const cpu::Architecture &architecture) {
  if (!options.runtimeArchive.empty())
    return options.runtimeArchive;
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  llvm::SmallString<256> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)));
  llvm::sys::path::append(path, "lib");
  if (!architecture.isHost())
    llvm::sys::path::append(path, architecture.name);
  llvm::sys::path::append(path, "libheddle_rt.a");
  return std::string(path);
}

namespace {
/// Which archives a model with a tokenizer is linked with.
struct Talking {
  bool serve, chat;
};
} // namespace

/// The archives of the server and of conversations.
static std::vector<std::string> talking(Talking parts, const TextBlobs &words, StringRef runtime) {
  std::vector<std::string> files;
  SmallVector<StringRef> archives;
  if (parts.serve) {
    llvm::append_range(
        files, ArrayRef<StringRef>{"--undefined=heddle_serve_command", "--undefined=heddle_notices_of_serving"});
    archives.push_back("libheddle_serve.a");
  }
  if (parts.chat)
    llvm::append_range(files, ArrayRef<StringRef>{"--undefined=heddle_chat_command", "--undefined=heddle_chat_turn"});
  if (!words.templates.empty()) {
    files.push_back("--undefined=heddle_chat_render");
    archives.push_back("libheddle_chat.a");
  }
  archives.push_back("libheddle_json.a");
  for (StringRef name : archives)
    files.push_back(cpu::runtimeFile(runtime, name));
  return files;
}

std::optional<Archives> heddle::archivesOf(const Console &console, ModuleOp module, const CompileOptions &options,
                                           const TextBlobs &words, const cpu::Architecture &architecture, int &failed) {
  Archives all{runtimeOf(options, architecture), {}};
  std::string name = architecture.name.str();
  auto has = [&](StringRef file) { return llvm::sys::fs::exists(cpu::runtimeFile(all.runtime, file)); };
  if (!llvm::sys::fs::exists(all.runtime)) {
    failed = console.complain(Error::TargetUnsupported,
                              all.runtime + " is not there, and a program for " + name + " is linked with it; " +
                                  (architecture.isHost() ? "it comes with Heddle's build"
                                                         : "`ninja runtime-" + name +
                                                               "` in Heddle's build makes it, with what "
                                                               "`compiler/bootstrap.sh --cross` installs; --emit=asm "
                                                               "and --emit=obj do without"));
    return std::nullopt;
  }
  Abilities can = abilitiesOf(module);
  if (can.sees) { // others contain no reader of PNG and JPEG
    if (!has("libheddle_pictures.a")) {
      failed = console.complain(Error::TargetUnsupported,
                                "this model takes pictures, and the runtime for " + name +
                                    " was built without libpng, libjpeg and zlib of that architecture");
      return std::nullopt;
    }
    all.parts = {"--undefined=heddle_decode_picture", cpu::runtimeFile(all.runtime, "libheddle_pictures.a")};
  }
  Talking parts = {options.serve && can.canServe(), options.chat && can.makesTexts() && !words.templates.empty()};
  if (parts.serve && !has("libheddle_serve.a")) {
    parts.serve = false;
    console.err << "heddle: note: the program has no server: the runtime for " << name
                << " was built without libevent of that architecture\n";
  }
  if (parts.serve || parts.chat)
    llvm::append_range(all.parts, talking(parts, words, all.runtime));
  if (options.forTarget.emulate) { // a program that emulates its own device
    if (!has("libheddle_emulator.a")) {
      failed = console.complain(Error::TargetUnsupported, "there is no emulated device for " + name);
      return std::nullopt;
    }
    all.parts.insert(all.parts.end(),
                     {"--undefined=heddle_emulator", cpu::runtimeFile(all.runtime, "libheddle_emulator.a")});
  }
  return all;
}
