//===- Archives.cpp - the archives that a program is linked with ----------===//

#include "compiler/Driver/Archives.h"
#include "compiler/Driver/Abilities.h"
#include "targets/Host/Link.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;

/// The folder with the archives of a program for `architecture`.
static std::string runtimeOf(const host::Architecture &architecture) {
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  llvm::SmallString<256> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)));
  llvm::sys::path::append(path, "lib");
  if (!architecture.isHost())
    llvm::sys::path::append(path, architecture.name);
  return std::string(path);
}

namespace {
/// What of the runtime a program has.
struct Needs {
  bool device;   ///< kernels for a GPU
  bool emulates; ///< and the GPU itself
  bool inflate;  ///< zlib, for compressed tensors
  bool serve, chat, bench;
  bool twoVocabularies;
  bool templates; ///< a chat template that something renders
};

/// An archive, and the symbols by which its parts register themselves (runtime/Core/Parts.h).
struct Part {
  StringRef archive, symbols;
  bool needed;
};
} // namespace

/// All archives of the runtime, each as often as it has something to register.
static SmallVector<Part> partsOf(const Abilities &can, const Needs &has) {
  bool files = can.sees || can.hears, answers = !can.generates && (can.spells || files);
  bool embeds = answers && can.embeds && !files;
  bool talks = has.serve || has.chat;
  return {{"main", "", true},
          {"program", "", true},
          {"core", "", true},
          {"base", "", true},
          {"inflate", "heddle_inflate heddle_notices_of_inflate", has.inflate},
          {"device", "heddle_open_device", has.device},
          {"emulator", "heddle_emulator", has.emulates},
          {"media", "heddle_read_media", files},
          {"media", "heddle_read_picture", can.sees},
          {"pictures", "heddle_decode_picture", can.sees},
          {"media", "heddle_read_sound", can.hears},
          {"tokenizer", "", can.generates || answers},
          {"tokenizer", "heddle_tokenizer_sizes", has.twoVocabularies},
          {"generate", "", has.serve},
          {"generate", "heddle_generate_command heddle_continue_command", can.generates},
          {"encode", "", has.serve},
          {"encode", "heddle_classify_command heddle_missing_word", answers && !embeds},
          {"encode", "heddle_vector_command", embeds},
          {"bench", "heddle_bench_command", has.bench},
          {"bench", "heddle_bench_generation", has.bench && can.generates},
          {"json", "", talks},
          {"serve", "heddle_serve_command heddle_notices_of_serving", has.serve},
          {"serve", "heddle_serve_texts", has.serve && can.generates},
          {"serve", "heddle_serve_encoder", has.serve && !can.generates},
          {"chat", "heddle_chat_command heddle_chat_turn", has.chat},
          {"chat", "heddle_chat_render", has.templates},
          {"template", "", has.templates}};
}

std::optional<Archives> heddle::archivesOf(const Console &console, ModuleOp module, const llvm::Module &code,
                                           const CompileOptions &options, const TextBlobs &words,
                                           const host::Architecture &architecture, int &failed) {
  Archives all{runtimeOf(architecture), {}};
  std::string name = architecture.name.str();
  auto file = [&](StringRef archive) { return host::runtimeFile(all.folder, ("libheddle_" + archive + ".a").str()); };
  auto has = [&](StringRef archive) { return llvm::sys::fs::exists(file(archive)); };
  auto complain = [&](const std::string &why) {
    failed = console.complain(Error::TargetUnsupported, why);
    return std::nullopt;
  };
  if (!has("core"))
    return complain(file("core") + " is not there, and a program for " + name + " is linked with it; " +
                    (architecture.isHost() ? "it comes with Heddle's build"
                                           : "`ninja runtime-" + name +
                                                 "` in Heddle's build makes it, with what "
                                                 "`compiler/bootstrap.sh --cross` installs; --emit=asm "
                                                 "and --emit=obj do without"));
  Abilities can = abilitiesOf(module);
  Needs needs{};
  needs.device = code.getNamedGlobal("heddle_device_images") != nullptr;
  needs.inflate = has("inflate");
  needs.emulates = options.forTarget.emulate;
  needs.serve = options.serve && can.canServe();
  needs.chat = options.chat && can.makesTexts() && !words.templates.empty();
  needs.bench = options.bench;
  needs.twoVocabularies = !words.target.empty();
  if (can.sees && !has("pictures")) // others contain no reader of PNG and JPEG
    return complain("this model takes pictures, and the runtime for " + name +
                    " was built without libpng, libjpeg and zlib of that architecture");
  if (needs.serve && !has("serve")) {
    needs.serve = false;
    console.note("the program has no server: the runtime for " + name +
                 " was built without libevent of that architecture");
  }
  if (needs.emulates && !has("emulator"))
    return complain("there is no emulated device for " + name);
  needs.templates = !words.templates.empty() && (needs.serve || needs.chat);
  for (const Part &part : partsOf(can, needs)) {
    if (!part.needed)
      continue;
    SmallVector<StringRef> symbols;
    part.symbols.split(symbols, ' ', -1, false);
    for (StringRef symbol : symbols)
      all.parts.push_back(("--undefined=" + symbol).str());
    if (std::string archive = file(part.archive); !llvm::is_contained(all.parts, archive))
      all.parts.push_back(archive);
  }
  return all;
}
