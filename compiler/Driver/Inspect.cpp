//===- Inspect.cpp - heddle check, interpret and verify -------------------===//

#include "compiler/Driver/Inspect.h"
#include "compiler/Conversion/ToLoops/Support.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Import/LocatedJson.h"
#include "compiler/Interpreter/Files.h"
#include "compiler/Interpreter/Verify.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "heddle/input_file.h"
#include "targets/CPU/CPUTarget.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace heddle;

/// What `compile` would compute here: with the arithmetic of this machine.
static int setArithmeticOfHost(const Console &console, ModuleOp module, const CompileOptions &options) {
  std::string error;
  std::optional<cpu::CPUTarget> host = cpu::CPUTarget::resolve("native", error);
  return host ? setArithmetic(console, module, options, host->processor) : console.complain(UsageError, error);
}

int heddle::checkInput(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  CompileOptions knobs = options;
  knobs.import.headersOnly = true;
  knobs.import.configAlone = !llvm::sys::fs::is_directory(options.import.path);
  std::unique_ptr<MLIRContext> context = makeContext();
  DiagnosticSink sink;
  Words words;
  int code = Ok;
  OwningOpRef<ModuleOp> module = readModel(*context, knobs.import, &words, sink, code);
  if (module)
    code = setArithmeticOfHost(console, *module, knobs);
  // What an op does not allow shows in the stages; what the target does not is asked, since making code takes long.
  if (module && code == Ok)
    code = runStages(console, *module, "buffers", knobs, sink);
  if (module && code == Ok) {
    PassMessages messages(*context, sink);
    bool good = true;
    module->walk([&](Operation *op) { good &= succeeded(loops::checkSupport(op)); });
    code = good ? int(Ok) : sink.exitCode();
  }
  if (look.json)
    sink.printJson(console.out);
  else if (sink.hasErrors())
    sink.print(console.err);
  if (code != Ok || look.json)
    return code;
  console.out << options.import.path << ": accepted" << (module ? "" : "; there are no weights beside it to compare with") << "\n";
  if (!words.note.empty())
    console.out << "without a tokenizer: " << words.note << "\n";
  return Ok;
}

int heddle::showSchema(const Console &console, const std::string &file, const FamilyLibrary &families) {
  if (file.empty()) {
    printSchema(console.out);
    return Ok;
  }
  if (int missing = canRead(console, file))
    return missing;
  ReadFile text = readInputFile(file.c_str(), JsonLimits().bytes);
  if (!text.ok())
    return console.complain(text.systemError ? IOError : InputError, file + ": " + text.why);
  DiagnosticSink sink;
  if (printSchemaOf(console.out, file, std::move(text.bytes), families, sink))
    return Ok;
  sink.print(console.err);
  return InputError;
}

int heddle::interpretModel(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  if (int missing = canRead(console, look.input))
    return missing;
  std::unique_ptr<MLIRContext> context = makeContext();
  int code = Ok;
  OwningOpRef<ModuleOp> module = load(console, *context, options.import, code);
  if (!module)
    return code;
  if (int failed = setArithmeticOfHost(console, *module, options))
    return failed;
  if (look.stage != "model")
    if (int failed = runStages(console, *module, look.stage, options))
      return failed;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, context.get(), console.err);
  InterpretFileOptions file;
  file.input = look.input;
  file.output = look.output;
  file.newTokens = look.newTokens;
  file.cached = look.stage != "model" && module->lookupSymbol("step");
  return failed(interpretFile(*module, file)) ? InputError : Ok;
}

int heddle::verifyModel(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  if (int missing = canRead(console, look.input))
    return missing;
  std::unique_ptr<MLIRContext> context = makeContext();
  int code = Ok;
  OwningOpRef<ModuleOp> module = load(console, *context, options.import, code);
  if (!module)
    return code;
  if (int failed = setArithmeticOfHost(console, *module, options))
    return failed;
  absl::StatusOr<ParameterFiles> parameters = ParameterFiles::open(*module);
  absl::StatusOr<Tensors> inputs = readTensors(look.input);
  for (const absl::Status &status : {parameters.status(), inputs.status()})
    if (!status.ok())
      return console.complain(InputError, std::string(status.message()));
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, context.get(), console.err);

  // One pass manager for all stages that the interpreter knows: the first result is that of
  // the stage `model`, and every later one is held against it.
  PassManager pm(context.get(), ModuleOp::getOperationName());
  for (const Stage &stage : stages()) {
    if (stage.name == "buffers")
      break;
    addStage(pm, stage, options.pipeline);
  }
  VerifyOptions verify;
  verify.inputs = std::move(*inputs);
  verify.newTokens = look.newTokens;
  // A constant that a pass writes as f32 may push a number over the edge between two that are stored.
  if (model::Stored stored = model::arithmeticOf(*module).stored; stored != model::Stored::f32)
    verify.tolerance = stored == model::Stored::bf16 ? 4e-3 : 5e-4;
  VerifyReport report;
  compareAfterEachPass(pm, std::move(verify), parameters->reader(), report);
  if (failed(pm.run(*module)))
    return InputError;
  if (!report)
    return console.complain(Internal, "the pass " + report.pass + " changes a result: " + report.what);
  console.out << report.compared << " passes compared, all equal; largest relative difference " << report.worst << "\n";
  return Ok;
}
