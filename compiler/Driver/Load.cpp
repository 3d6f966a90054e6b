//===- Load.cpp - import, companions, chat template -----------------------===//

#include "compiler/Driver/Load.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Driver/StageNames.h"
#include "compiler/Gguf/GgufFolder.h"
#include "compiler/Import/Weights/OtherKinds.h"
#include "compiler/Interpreter/ParameterFiles.h"
#include "compiler/Pipelines/Stages.h"
#include "compiler/SideFiles/ChatTemplate.h"
#include "compiler/SideFiles/ModelTokenizer.h"
#include "compiler/SideFiles/SentenceVectors.h"
#include "compiler/SideFiles/SideFiles.h"
#include "compiler/Template/TemplateTraits.h"
#include "compiler/Weights/Files/Problem.h"
#include "heddle/input_file.h"
#include "heddle/template.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "targets/Target.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <cerrno>
#include <unistd.h>

using namespace mlir;
using namespace heddle;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The system's reason why a file cannot be read; none if it can.
static std::error_code whyUnreadable(StringRef file) {
  fs::file_status status;
  if (std::error_code ec = fs::status(file, status))
    return ec;
  return ::access(file.str().c_str(), R_OK) == 0 ? std::error_code() : std::error_code(errno, std::generic_category());
}

/// Whether `name` is no file here and looks like a repository of Hugging Face's hub, OWNER/NAME. A folder OWNER that is
/// here makes it a path with a slip of the pen.
static bool isHubName(StringRef name) {
  auto [owner, model] = name.split('/');
  auto word = [](StringRef text) {
    return !text.empty() &&
           llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; }) &&
           text.front() != '.';
  };
  StringRef extension = path::extension(model);
  bool isFile = extension == ".json" || extension == ".mlir" || extension == ".gguf" || extension == ".safetensors";
  return word(owner) && word(model) && !isFile && !fs::exists(owner);
}

/// How a model of the hub comes to this machine, and how it is compiled then. A repository of GGUF files has one file
/// for each way of rounding, of which one is enough.
static std::vector<std::string> fetching(StringRef name) {
  std::string folder = name.split('/').second.str();
  bool gguf = name.ends_with_insensitive("-gguf");
  return {"heddle reads files of this machine. A model of Hugging Face's hub is fetched by",
          "  hf download " + name.str() + (gguf ? " --include \"*Q4_K_M*.gguf\"" : "") + " --local-dir " + folder,
          gguf ? "and compiled by: heddle compile " + folder + "/FILE.gguf -o " +
                     StringRef(folder).drop_back(5).lower() + ", with the name of the file that was fetched"
               : "and compiled by: heddle compile " + folder};
}

int heddle::canFetch(const Console &console, StringRef file) {
  if (whyUnreadable(file) != std::errc::no_such_file_or_directory || !isHubName(file))
    return Ok;
  int code = canRead(console, file);
  for (const std::string &line : fetching(file))
    console.note(line);
  return code;
}

bool heddle::canRead(const ImportOptions &options, DiagnosticSink &sink) {
  bool all = true;
  for (StringRef file : {options.text ? StringRef() : StringRef(options.path), StringRef(options.weightsPath),
                         StringRef(options.targetTokenizer)})
    if (std::error_code ec = file.empty() ? std::error_code() : whyUnreadable(file)) {
      heddle::Diagnostic &d = sink.errorInFile(Error::CannotRead, file, "", "cannot read it: " + Twine(ec.message()));
      if (file == options.path && ec == std::errc::no_such_file_or_directory && isHubName(file))
        for (const std::string &line : fetching(file))
          d.note({}, line);
      all = false;
    }
  return all;
}

int heddle::canRead(const Console &console, StringRef file) {
  std::error_code ec = whyUnreadable(file);
  return ec ? console.complain(Error::CannotRead, file + ": cannot read it: " + ec.message()) : int(Ok);
}

//===--- a stage's text -------------------------------------------------------===//

/// The name of the stage after `llvm` that `text` is (LLVM IR, assembly), from which nothing can be compiled; "" for
/// any other text.
static StringRef stageBehindIR(StringRef text) {
  if (text.starts_with("; ModuleID") || text.contains("\nsource_filename = ") || text.starts_with("target datalayout"))
    return "llvmir";
  if (text.starts_with("\t.file") || text.starts_with("\t.text") || text.starts_with("\t.section"))
    return "asm";
  return "";
}

/// Whether `file` is such a text; then reports it.
static bool isBehindIR(StringRef file, StringRef text, DiagnosticSink &sink) {
  StringRef stage = stageBehindIR(text);
  if (!stage.empty())
    sink.errorInFile(
        Error::PastStages, file, "",
        "this is what --emit=" + stage + " writes, " + (stage == "asm" ? "assembly" : "LLVM IR") +
            ": nothing of the model is left in it to compile; the stages that can be compiled on are those up to "
            "--emit=llvm");
  return !stage.empty();
}

/// The same for a file whose name does not end in .mlir.
static bool isBehindIR(StringRef file, DiagnosticSink &sink) {
  uint64_t size = 0;
  if (!fs::is_regular_file(file) || fs::file_size(file, size))
    return false;
  auto begin = llvm::MemoryBuffer::getFileSlice(file, std::min<uint64_t>(size, 1024), 0, /*IsVolatile=*/true);
  return begin && isBehindIR(file, (*begin)->getBuffer(), sink);
}

/// The largest text of a stage.
static constexpr uint64_t mostTextBytes = uint64_t(1) << 30;

static OwningOpRef<ModuleOp> parseModule(MLIRContext &context, const ImportOptions &options, DiagnosticSink &sink) {
  StringRef file = options.path;
  ReadFile text;
  if (options.text)
    text.bytes = *options.text;
  else
    text = readInputFile(options.path.c_str(), mostTextBytes);
  if (!text.ok()) {
    Error why = text.systemError
                    ? errorOf(std::error_code(text.systemError, std::generic_category()), Error::CannotRead)
                    : Error::NotItsFormat;
    sink.errorInFile(why, file, "", text.why);
    return nullptr;
  }
  if (isBehindIR(file, text.bytes, sink))
    return nullptr;
  PassMessages messages(context, sink, Error::BadStage);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text.bytes, file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module || failed(checkNames(*module)))
    return nullptr;
  const TargetKind *target = targetKindOf(*module);
  if (!target || failed(checkClaim(*module, target->stages())))
    return nullptr;
  return module;
}

/// Reports files of weights that a parsed module names and that are missing or damaged; an import has checked them
/// already.
static void checkWeights(ModuleOp module, DiagnosticSink &sink) {
  absl::StatusOr<WeightStore> store = openWeightsOf(module);
  if (store.ok())
    return;
  std::optional<WeightProblem> problem = problemOf(store.status());
  reportWeights(sink, problem ? StringRef(problem->file) : "", store.status());
}

//===--- the chat template ----------------------------------------------------===//

/// Of a module: {folder, choice}, where its chat templates are and which --template has chosen.
static constexpr StringRef kTemplateAttr = "model.chat_template";

/// The folder of the templates that the text of a stage names, whose choice is taken unless `words` has one; none where
/// it names none, or after an error.
static std::optional<ModelFolder> namedTemplates(ModuleOp module, TextBlobs &words, DiagnosticSink &sink) {
  auto named = module->getAttrOfType<DictionaryAttr>(kTemplateAttr);
  auto folder = named ? named.getAs<StringAttr>("folder") : StringAttr();
  if (!folder)
    return std::nullopt;
  if (auto choice = named.getAs<StringAttr>("choice"); choice && words.chatTemplate.empty())
    words.chatTemplate = choice.str();
  std::vector<std::string> heard; // when it was imported
  absl::StatusOr<ModelFolder> opened = openTexts(folder.getValue(), heard);
  if (opened.ok())
    return *std::move(opened);
  sink.errorInFile(errorOf(opened.status()), folder.getValue(), "", textOf(opened.status()));
  return std::nullopt;
}

/// Compiles the chat template of a model that makes texts, and writes what it understands as `model.chat`, and where it
/// was found.
static void readTemplate(const ImportOptions &options, ModuleOp module, bool parsed, TextBlobs &words,
                         DiagnosticSink &sink) {
  if (words.chatTemplate == "none" || (module && !module->hasAttr("model.generate")))
    return;
  std::optional<ModelFolder> folder = parsed ? namedTemplates(module, words, sink) : options.folder();
  if (!folder)
    return;
  if (folder->place().empty())
    folder = ModelFolder(".");
  ChatTemplates templates;
  readChatTemplates(folder, words.chatTemplate, sink, templates);
  std::string error;
  std::unique_ptr<rt::TemplateRunner> runner;
  if (!templates.blob.empty() && !sink.hasErrors())
    runner = rt::TemplateRunner::open(templates.blob, error);
  if (!runner || !module)
    return;
  TemplateTraits traits = probeTemplate(*runner, [&](const std::string &text) { return templates.firstSpecial(text); });
  Builder b(module.getContext());
  auto yes = [&](bool value) { return b.getStringAttr(value ? "yes" : "no"); };
  NamedAttrList chat;
  chat.set("system", yes(traits.system));
  chat.set("parts", yes(traits.parts));
  chat.set("arguments", b.getStringAttr(traits.arguments));
  chat.set("tool_turn", yes(traits.toolTurn));
  if (!traits.turnEnd.empty())
    chat.set("turn_end", b.getStringAttr(traits.turnEnd));
  module->setAttr("model.chat", chat.getDictionary(module.getContext()));
  NamedAttrList from;
  from.set("folder", b.getStringAttr(folder->place()));
  if (!words.chatTemplate.empty())
    from.set("choice", b.getStringAttr(words.chatTemplate));
  module->setAttr(kTemplateAttr, from.getDictionary(module.getContext()));
  words.templates = std::move(templates.blob);
}

//===--- a GGUF file ----------------------------------------------------------===//

/// If the model is a GGUF file: makes the texts that it stands for. False after an error.
static bool openGgufModel(ImportOptions &options, DiagnosticSink &sink) {
  if (options.text || options.configText || !isGgufFile(options.path))
    return true;
  std::vector<std::string> warnings;
  absl::StatusOr<ModelFolder> made = openModel(options.path, warnings);
  if (!made.ok()) {
    sink.errorInFile(errorOf(made.status()), options.path, "", textOf(made.status()));
    return false;
  }
  for (const std::string &warning : warnings)
    sink.sayInFile(heddle::Diagnostic::Kind::Warning, options.path, warning);
  options.made = *std::move(made);
  return true;
}

bool heddle::isTextOfStage(const ImportOptions &options) {
  // A description begins with `{`.
  return options.text ? !StringRef(*options.text).ltrim().starts_with("{") : StringRef(options.path).ends_with(".mlir");
}

//===--- all of it ------------------------------------------------------------===//

bool heddle::findModel(ImportOptions &options, DiagnosticSink &sink) {
  if (!openGgufModel(options, sink))
    return false;
  if (options.text)
    return true;
  if (fs::is_directory(options.path))
    if (std::string folder = transformerFolder(options.path); !folder.empty())
      options.modules = std::exchange(options.path, folder);
  options.bodyAlone =
      makesSentenceVectors(options.modules.empty() ? options.folder() : ModelFolder(options.modules), options.pool);
  return true;
}

OwningOpRef<ModuleOp> heddle::readModel(MLIRContext &context, const ImportOptions &given, TextBlobs *words,
                                        DiagnosticSink &sink, int &code) {
  llvm::scope_exit leave([&] { code = sink.exitCode(); });
  if (!canRead(given, sink))
    return nullptr;
  ImportOptions options = given;
  if (!findModel(options, sink))
    return nullptr;
  OwningOpRef<ModuleOp> module;
  bool parsed = isTextOfStage(options);
  if (parsed && !options.adapters.empty()) {
    sink.errorInFile(Error::Misplaced, "--lora", "",
                     "the text of a stage names its adapters itself; make it again: --lora DIR --emit=STAGE");
    return nullptr;
  }
  if (parsed) {
    module = parseModule(context, options, sink);
    if (!module)
      return nullptr;
    if (words)
      checkWeights(*module, sink);
  } else if (!options.text && isBehindIR(options.path, sink)) {
    return nullptr;
  } else {
    module = importModel(context, options, sink);
    addSideFiles(options, module ? *module : ModuleOp(), sink);
  }
  if (words)
    readTokenizers(options, module ? *module : ModuleOp(), parsed, *words, sink);
  if (words && (parsed ? bool(module) : !options.text))
    readTemplate(options, module ? *module : ModuleOp(), parsed, *words, sink);
  return sink.hasErrors() ? OwningOpRef<ModuleOp>() : std::move(module);
}

OwningOpRef<ModuleOp> heddle::load(const Console &console, MLIRContext &context, const ImportOptions &options,
                                   int &code, TextBlobs *words) {
  DiagnosticSink sink;
  OwningOpRef<ModuleOp> module = readModel(context, options, words, sink, code);
  console.print(sink);
  if (module || code != Ok)
    return module;
  if (!options.weightsOptional) {
    code = int(Exit::Internal);
    return nullptr;
  }
  // Nothing is wrong, but nothing more is known without weights: try with shapes that follow from the rest.
  ImportOptions invented = options;
  invented.weightsInvented = true;
  DiagnosticSink guesses;
  if (findModel(invented, guesses))
    module = importModel(context, invented, guesses);
  if (!module) {
    code = console.complain(
        Error::WeightsUnknown,
        options.path +
            ": some of its shapes are known from its weights alone, and there are none; --weights=FILE names them");
    console.print(guesses, 1); // which
  }
  return module;
}
