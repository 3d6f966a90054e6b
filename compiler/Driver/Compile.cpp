//===- Compile.cpp - import and stages ------------------------------------===//

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/DumpIR.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/ModelFiles.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Driver/Phase.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "dialects/Model/IR/Plan.h"
#include "heddle/input_file.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace heddle;

int Console::complain(ExitCode code, const llvm::Twine &text) const {
  err << "heddle: error: " << text << "\n";
  return code;
}

std::unique_ptr<MLIRContext> heddle::makeContext() {
  DialectRegistry registry;
  registerDialects(registry);
  // A model is compiled by one thread: the order of everything is the order of the source.
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// What would keep the output from being written is said before the work, not after it.
static int canWrite(const Console &console, StringRef output) {
  namespace fs = llvm::sys::fs;
  if (output.empty() || output == "-")
    return Ok;
  // Renaming over a device would replace the device.
  fs::file_status there;
  if (!fs::status(output, there) && there.type() != fs::file_type::regular_file)
    return console.complain(IOError, output + ": the output must be a regular file");
  StringRef parent = llvm::sys::path::parent_path(output);
  std::string folder = parent.empty() ? "." : parent.str();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return console.complain(IOError, output + ": cannot write into '" + folder + "': " + std::strerror(errno));
  return Ok;
}

/// An output may replace an older output, never what the model is made of.
static bool isInput(const ImportOptions &options, ModuleOp module, StringRef output) {
  return llvm::any_of(modelFiles(options, module), [&](const std::string &file) { return llvm::sys::fs::equivalent(file, output); });
}

int heddle::setArithmetic(const Console &console, ModuleOp module, const CompileOptions &options, const cpu::Processor &target) {
  using model::Stored;
  model::Arithmetic had = model::arithmeticOf(module), want{options.dtype.empty() ? had.stored : *model::storedOf(options.dtype)};
  bool said = options.dtype.empty() && options.math == "auto" && module->hasAttr("model.math");
  want.dots = said ? had.dots : want.stored == Stored::bf16 && (options.math == "dots" || (options.math == "auto" && target.dots));
  if (want.stored != Stored::bf16 && options.math != "auto")
    return console.complain(UsageError, "--math says how stored bf16 is multiplied; it needs --dtype=bf16");
  if (want.dots && !target.dots)
    return console.complain(Unsupported, "products of pairs of bf16 need a processor with avx512bf16 and avx512vbmi; --math=wide does without");
  if (want.stored == Stored::f16 && !target.f16)
    return console.complain(Unsupported, "numbers stored as f16 need a processor with f16c (x86-64-v3 and later have it); --dtype=bf16 --math=wide does without");
  if (had.stored == want.stored && had.dots == want.dots)
    return Ok;
  if (model::hasBlob(module))
    return console.complain(UsageError, "the weights of this file are laid out already; --dtype and --math come before the stage 'tiled'");
  OpBuilder b(module.getContext());
  module->removeAttr("model.dtype");
  module->removeAttr("model.math");
  if (want.halves())
    module->setAttr("model.dtype", b.getStringAttr(model::wordOf(want.stored)));
  if (want.stored == Stored::bf16)
    module->setAttr("model.math", b.getStringAttr(want.dots ? "dots" : "wide"));
  return Ok;
}

int heddle::runStages(const Console &console, ModuleOp module, StringRef last, const CompileOptions &options, DiagnosticSink &sink) {
  StringRef have = stageOf(module);
  bool started = false;
  IRDump dump;
  dump.folder = options.dumpDir;
  PassMessages messages(*module.getContext(), sink);
  for (const Stage &stage : stages()) {
    if (started || (stage.name == "model" && !module->hasAttr("heddle.stage"))) {
      Phase phase(stage.name, options.time ? &console.err : nullptr);
      PassManager pm(module.getContext(), ModuleOp::getOperationName());
      if (!options.dumpDir.empty())
        dump.watch(pm);
      addStage(pm, stage, options.pipeline);
      if (failed(pm.run(module)))
        return messages.internalError() || !sink.hasErrors() ? int(Internal) : sink.exitCode();
      if (!dump.error.empty())
        return console.complain(dump.code, dump.error);
      started = true;
    }
    started |= stage.name == have;
    if (stage.name == last)
      return Ok;
  }
  return Ok;
}

int heddle::runStages(const Console &console, ModuleOp module, StringRef last, const CompileOptions &options) {
  // A remark of a pass is a note to the user, at the line of the description.
  llvm::SourceMgr sources;
  sources.setIncludeDirs({"."});
  SourceMgrDiagnosticHandler remarks(sources, module.getContext(), console.err);
  DiagnosticSink sink;
  int code = runStages(console, module, last, options, sink);
  sink.print(console.err);
  return code;
}

int heddle::compile(const Console &console, const CompileOptions &options) {
  setLimits(options.timeout, options.maxMemory);
  std::unique_ptr<MLIRContext> context = makeContext();
  std::string error;
  if (!cpu::isProcessor(options.mcpu))
    return console.complain(UsageError, "there is no processor " + quote(options.mcpu) + nearest(options.mcpu, cpu::processorNames()) +
                                            "\nheddle compile --mcpu=help lists all of them.");
  std::optional<cpu::CPUTarget> target = cpu::CPUTarget::resolve(options.mcpu, error);
  if (!target)
    return console.complain(Unsupported, error);
  int code = Ok;
  for (const std::string &file : {options.output, options.depfile})
    if (code = canWrite(console, file); code != Ok)
      return code;
  OwningOpRef<ModuleOp> module;
  Words words;
  {
    Phase phase("import", options.time ? &console.err : nullptr);
    module = load(console, *context, options.import, code, &words);
  }
  if (!module)
    return code;
  std::vector<std::string> written;
  if (!options.output.empty() && options.output != "-")
    written.push_back(options.output);
  if (!written.empty() && !options.embed && options.emit == "exe")
    written.push_back(options.output + ".weights");
  for (const std::string &output : written)
    if (isInput(options.import, *module, output))
      return console.complain(UsageError, "-o " + options.output + " would replace a file of the model itself");
  if (!options.depfile.empty() && isInput(options.import, *module, options.depfile))
    return console.complain(UsageError, "--depfile " + options.depfile + " would replace a file of the model itself");
  if (!options.dumpDir.empty())
    if (std::error_code ec = llvm::sys::fs::create_directories(options.dumpDir))
      return console.complain(exitCodeOf(ec), options.dumpDir + ": " + ec.message());

  if (int failed = setArithmetic(console, *module, options, target->processor))
    return failed;
  CompileOptions knobs = options;
  knobs.pipeline.vectorWidth = target->processor.vectorWidth;
  knobs.pipeline.registers = target->processor.registers;
  std::string needs = target->processor.needsText();
  model::setTarget(*module, model::TargetAttr::get(context.get(), "cpu", target->processor.cpu, target->processor.vectorWidth,
                                                   target->processor.registers,
                                                   needs.empty() ? StringAttr() : StringAttr::get(context.get(), needs)));
  bool isIR = findStage(options.emit);
  if (int failed = runStages(console, *module, isIR ? StringRef(options.emit) : StringRef("llvm"), knobs))
    return failed;
  if (isIR)
    code = writeAtomically(console, options.output, [&](llvm::raw_pwrite_stream &os) {
      // Locations stay in the text: the file can be compiled on, and errors still point at the JSON.
      OpPrintingFlags flags;
      flags.enableDebugInfo(true, false);
      module->print(os, flags);
      os << "\n";
      return true;
    });
  if (!isIR) {
    if (options.emit == "exe" && !words.note.empty())
      console.err << "heddle: note: compiled without a tokenizer: " << words.note << "\n";
    code = writeOutput(console, *module, knobs, *target, words.blob);
  }
  if (code != Ok || options.depfile.empty())
    return code;
  return writeDepfile(console, knobs, modelFiles(options.import, *module));
}
