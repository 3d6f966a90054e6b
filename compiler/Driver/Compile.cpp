//===- Compile.cpp - import and stages ------------------------------------===//

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Abilities.h"
#include "compiler/Driver/CompileWatcher.h"
#include "compiler/Driver/CrashFile.h"
#include "compiler/Driver/DumpIR.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/FileStamps.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/ModelFiles.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/PassClock.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Driver/Phase.h"
#include "compiler/Driver/PrintIR.h"
#include "compiler/Driver/RemarkOutput.h"
#include "compiler/Driver/Scratch.h"
#include "compiler/Driver/Watchers.h"
#include "compiler/Plan/Target.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "heddle/input_file.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "targets/Host/DebugInfo.h"
#include "targets/Registration.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace heddle;

std::unique_ptr<MLIRContext> heddle::makeContext() {
  DialectRegistry registry;
  registerDialects(registry);
  // A model is compiled by one thread: the order of everything is the order of the source.
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// Reports before the work what would prevent the output from being written.
static int canWrite(const Console &console, StringRef output) {
  namespace fs = llvm::sys::fs;
  if (output.empty() || output == "-")
    return Ok;
  // Renaming over a device would replace the device.
  fs::file_status there;
  if (!fs::status(output, there) && there.type() != fs::file_type::regular_file)
    return console.complain(Error::CannotWrite, output + ": the output must be a regular file");
  StringRef parent = llvm::sys::path::parent_path(output);
  std::string folder = parent.empty() ? "." : parent.str();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return console.complain(Error::CannotWrite,
                            output + ": cannot write into '" + folder + "': " + std::strerror(errno));
  return Ok;
}

/// Whether the output is one of the model's own files, which must not be replaced (an older output may be).
static bool isInput(const ImportOptions &options, ModuleOp module, StringRef output) {
  return llvm::any_of(modelFiles(options, module),
                      [&](const std::string &file) { return llvm::sys::fs::equivalent(file, output); });
}

/// Whether a program of this module has a server that makes texts out of texts, many at once.
static bool servesTexts(ModuleOp module, const CompileOptions &options) {
  const plan::Target *target = plan::targetOf(module);
  return options.serve && target && target->hasBatchEntry() && abilitiesOf(module).canShareCalls();
}

int heddle::runStages(const Console &console, ModuleOp module, ArrayRef<Stage> stages, StringRef last,
                      const CompileOptions &options, DiagnosticSink &sink) {
  StringRef have = stageOf(module);
  bool started = false;
  PipelineOptions pipeline = options.pipeline;
  if (pipeline.slots == kSlotsOfServer && !servesTexts(module, options))
    pipeline.slots = "none";
  IRDump dump;
  dump.folder = options.dumpDir;
  dump.locations = options.locations;
  dump.changedOnly = options.watch.changedOnly;
  dump.filter = options.watch.filter;
  std::vector<CompileWatcher *> watchers = options.watchers;
  bool dumps = !options.dumpDir.empty();
  if (dumps) {
    dump.begin(module);
    watchers.push_back(&*dump.index);
  }
  PassClock clock(watchers, module);
  auto leave = [&](int code) {
    if (dumps)
      dump.end(module);
    return code == Ok && !dump.error.empty() ? console.complain(dump.kind, dump.error) : code;
  };
  PassMessages messages(*module.getContext(), sink);
  for (const Stage &stage : stages) {
    if (started || (stage.name == "model" && !module->hasAttr(model::kStageAttr))) {
      Phase phase("stage", stage.name, options.times);
      PassManager pm(module.getContext(), ModuleOp::getOperationName());
      if (options.collector)
        options.collector->watch(pm);
      addStage(pm, stage, pipeline);
      if (dumps)
        dump.watch(pm);
      for (CompileWatcher *watcher : watchers)
        watcher->begins(stage, pm);
      // In `llvm` and `kernels` only the final IR is verified; after every pass costs a third of the stage.
      // heddle-opt and --dump-ir verify every pass.
      bool isCode = stage.name == "llvm" || stage.name == "kernels";
      pm.enableVerifier(!isCode || dumps);
      std::optional<CrashFile> crash;
      if (!options.output.empty())
        crash.emplace(module, stage, pipeline).watch(pm);
      clock.watch(pm, stage.name); // last: a pass is measured, and in the index, before others look at it
      if (failed(pm.run(module)) || (isCode && failed(verify(module)))) {
        int code = failedWith(sink);
        if (crash && code == int(Exit::Internal))
          crash->leave(options.output, sink);
        return leave(code);
      }
      if (!dump.error.empty())
        return leave(Ok);
      for (CompileWatcher *watcher : watchers)
        watcher->ended(stage, module);
      started = true;
    }
    started |= stage.name == have;
    if (stage.name == last)
      break;
  }
  return leave(Ok);
}

int heddle::runStages(const Console &console, ModuleOp module, ArrayRef<Stage> stages, StringRef last,
                      const CompileOptions &options) {
  DiagnosticSink sink;
  int code = runStages(console, module, stages, last, options, sink);
  console.print(sink);
  return code;
}

int heddle::takeTargetOf(const Console &console, ModuleOp module, CompileOptions &options) {
  model::TargetAttr own = model::targetOf(module);
  if (!own || !module->hasAttr(model::kStageAttr))
    return Ok;
  if (options.target.empty()) {
    options.target = own.getName().str();
    if (options.mcpu == "native" && own.getName() != targetKinds().front().name)
      options.mcpu = own.getChip().str();
    return Ok;
  }
  const Stage *here = findStage(stageOf(module), sharedStages()), *tiled = findStage("tiled", sharedStages());
  if (options.target == own.getName() || (here && here < tiled))
    return Ok;
  return console.complain(Error::BadUsage, "--target=" + options.target + ": the text is of the stage '" +
                                               stageOf(module) + "' and was made for --target=" + own.getName() +
                                               "; compile it for that, or make it again from the model");
}

std::vector<std::unique_ptr<Target>> heddle::targetsOf(const Console &console, const CompileOptions &options,
                                                       int &code) {
  Refusal why;
  StringRef names = options.target.empty() ? targetKinds().front().name : StringRef(options.target);
  std::vector<std::unique_ptr<Target>> targets = makeTargets(names, options.mcpu, options.forTarget, why);
  if (!why.unknown.empty())
    why.text = "there is no " + why.kind + " " + quote(why.unknown) + nearest(why.unknown, why.known) + why.help;
  if (targets.empty())
    code = console.complain(why.misuse ? Error::BadUsage : Error::TargetUnsupported, why.text);
  for (const std::unique_ptr<Target> &target : targets)
    if (!findStage(options.emit, target->stages()) &&
        llvm::none_of(target->outputs(), [&](auto &stage) { return stage.first == options.emit; })) {
      code = console.complain(Error::BadUsage, "--target=" + target->name() + " has no stage '" + options.emit +
                                                   "'; `heddle stages` lists them");
      return {};
    }
  if (targets.size() < 2 || options.emit == "exe" || options.emit == "obj")
    return targets;
  code = console.complain(Error::BadUsage, "--emit=" + options.emit + " shows one target: say which with --target");
  return {};
}

Formats heddle::commonFormats(ArrayRef<std::unique_ptr<Target>> targets) {
  Formats all = {true, true, true, true};
  for (const std::unique_ptr<Target> &target : targets)
    all = {all.dots && target->formats().dots, all.fast && target->formats().fast, all.f16 && target->formats().f16,
           all.codes && target->formats().codes};
  return all;
}

/// The processor that the runtime is for: that of the target, or this one.
static std::optional<host::Machine> hostOf(ArrayRef<std::unique_ptr<Target>> targets, std::string &error) {
  for (const std::unique_ptr<Target> &target : targets)
    if (const host::Machine *processor = target->processor())
      return *processor;
  return host::Machine::resolve("native", error);
}

/// What the kernels of the parts take, as --report wants it.
static int writeReport(const Console &console, ArrayRef<TargetPart> parts, const CompileOptions &options) {
  ReportOptions how{options.dims, !options.report->empty()};
  std::string error;
  int code = writeAtomically(console, how.json ? StringRef(*options.report) : "-", [&](llvm::raw_pwrite_stream &os) {
    return llvm::all_of(parts, [&](const TargetPart &part) {
      return (parts.size() > 1 && part.target->processor()) || part.target->report(part.module, how, os, error);
    });
  });
  return error.empty() ? code : console.complain(Error::BadUsage, error);
}

/// Runs the stages for each target and writes what they make.
static int compileFor(const Console &console, OwningOpRef<ModuleOp> module, ArrayRef<std::unique_ptr<Target>> targets,
                      const CompileOptions &options, const TextBlobs &words) {
  std::string error;
  std::optional<host::Machine> host = hostOf(targets, error);
  if (!host)
    return console.complain(Error::TargetUnsupported, error);
  bool isIR = findStage(options.emit, targets[0]->stages());
  SmallVector<OwningOpRef<ModuleOp>> modules;
  SmallVector<TargetPart> parts;
  CompileOptions all = options;
  if (targets.size() > 1) // one file of weights serves them, in panels of the widest vectors
    for (const std::unique_ptr<Target> &target : targets)
      all.pipeline.panel = std::max(all.pipeline.panel, target->describe(module->getContext()).getLanes());
  for (const std::unique_ptr<Target> &target : targets) {
    modules.push_back(target == targets.back() ? std::move(module) : OwningOpRef<ModuleOp>(module->clone()));
    ModuleOp own = *modules.back();
    model::setTarget(own, target->describe(own.getContext()));
    CompileOptions knobs = all;
    if (targets.size() > 1 && knobs.pipeline.slots == kSlotsOfServer) // the targets' cards have the same entries
      knobs.pipeline.slots = "none";
    if (targets.size() > 1 && !knobs.dumpDir.empty())
      knobs.dumpDir += "/" + target->name().str();
    if (!knobs.dumpDir.empty())
      if (std::error_code ec = llvm::sys::fs::create_directories(knobs.dumpDir))
        return console.complain(errorOf(ec, Error::CannotWrite), knobs.dumpDir + ": " + ec.message());
    for (CompileWatcher *watcher : knobs.watchers)
      watcher->imported(own, *target);
    if (int failed =
            runStages(console, own, target->stages(), isIR ? StringRef(options.emit) : StringRef("llvm"), knobs))
      return failed;
    if (options.debugInfo && !isIR)
      host::addDebugInfo(own, target->processor() ? host::DebugLines::Tables : host::DebugLines::Directives);
    parts.push_back({target.get(), own});
  }
  if (options.report)
    if (int failed = writeReport(console, parts, options); failed || options.output.empty())
      return failed;
  if (options.emit == "exe" && !words.note.empty())
    console.note("compiled without a tokenizer: " + words.note);
  if (options.emit != "exe") // a binary is asked when it is whole
    if (int changed = options.stamps->unchanged(console))
      return changed;
  if (!isIR)
    return writeOutput(console, parts, options, *host, words);
  return writeAtomically(console, options.output, [&](llvm::raw_pwrite_stream &os) {
    printIR(parts[0].module, os, {options.locations});
    return true;
  });
}

static int compileWatched(const Console &console, CompileOptions &options) {
  FileStamps stamps(options.import);
  options.stamps = &stamps;
  setLimits(options.timeout, options.maxMemory);
  std::unique_ptr<MLIRContext> context = makeContext();
  int code = Ok;
  std::vector<std::unique_ptr<Target>> targets;
  bool asText = isTextOfStage(options.import); // which names its target
  if (!asText && (targets = targetsOf(console, options, code)).empty())
    return code;
  for (const std::string &file : {options.output, options.depfile, options.watch.trace, options.remarksFile})
    if (code = canWrite(console, file); code != Ok)
      return code;
  OwningOpRef<ModuleOp> module;
  TextBlobs words;
  words.chatTemplate = options.chatTemplate;
  {
    Phase phase("import", options.times);
    module = load(console, *context, options.import, code, &words);
  }
  if (!module)
    return code;
  if (asText)
    if (code = takeTargetOf(console, *module, options); code != Ok)
      return code;
  if (asText && (targets = targetsOf(console, options, code)).empty())
    return code;
  std::vector<std::string> written;
  if (!options.output.empty() && options.output != "-")
    written.push_back(options.output);
  if (!written.empty() && !options.embed && options.emit == "exe")
    written.push_back(options.output + ".weights");
  for (const std::string &output : written)
    if (isInput(options.import, *module, output))
      return console.complain(Error::WouldReplace,
                              "-o " + options.output + " would replace a file of the model itself");
  if (!options.depfile.empty() && isInput(options.import, *module, options.depfile))
    return console.complain(Error::WouldReplace,
                            "--depfile " + options.depfile + " would replace a file of the model itself");
  if (!options.watch.trace.empty() && isInput(options.import, *module, options.watch.trace))
    return console.complain(Error::WouldReplace,
                            "--time-trace " + options.watch.trace + " would replace a file of the model itself");
  if (!options.remarksFile.empty() && isInput(options.import, *module, options.remarksFile))
    return console.complain(Error::WouldReplace,
                            "--remarks-file " + options.remarksFile + " would replace a file of the model itself");
  if (int failed = setArithmetic(console, *module, options, commonFormats(targets)))
    return failed;
  std::vector<std::string> files = modelFiles(options.import, *module);
  RemarkOutput remarks(*context, options);
  code = remarks.finish(console, compileFor(console, std::move(module), targets, options, words));
  if (code != Ok || options.depfile.empty())
    return code;
  return writeDepfile(console, options, files);
}

int heddle::compile(const Console &console, const CompileOptions &asked) {
  CompileOptions options = asked;
  Watchers watchers(console, options);
  if (int wrong = watchers.begin())
    return wrong;
  return watchers.end(compileWatched(console, options));
}
