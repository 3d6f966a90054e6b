//===- Inspect.cpp - heddle check, interpret and verify -------------------===//

#include "compiler/Driver/Inspect.h"
#include "compiler/Conversion/Lowering/Frame/Support.h"
#include "compiler/Driver/CommandRecord.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Interpreted.h"
#include "compiler/Driver/Limits.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Driver/RemarkOutput.h"
#include "compiler/Driver/Watchers.h"
#include "compiler/Driver/WeightsSummary.h"
#include "compiler/Import/Description/Reference.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/Interpreter/ParameterFiles.h"
#include "compiler/Interpreter/Verify.h"
#include "dialects/Model/IR/Arithmetic.h"
#include "heddle/input_file.h"
#include "targets/Target.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace heddle;

/// Sets the arithmetic with which `compile` would compute on this machine.
static int setArithmeticOfHost(const Console &console, ModuleOp module, const CompileOptions &options) {
  std::string error;
  std::unique_ptr<Target> host = makeHostTarget(error);
  return host ? setArithmetic(console, module, options, host->formats()) : console.complain(Error::BadUsage, error);
}

/// Runs the stages that `compile` would run for `target`, up to where code would be generated, which takes long; then
/// asks what the target does not support.
static int checkFor(const Console &console, const Target &target, ModuleOp module, const CompileOptions &options,
                    DiagnosticSink &sink) {
  model::setTarget(module, target.describe(module.getContext()));
  for (CompileWatcher *watcher : options.watchers)
    watcher->imported(module, target);
  if (int failed = runStages(console, module, target.stages(), "buffers", options, sink))
    return failed;
  PassMessages messages(*module.getContext(), sink);
  bool good = true;
  module->walk([&](Operation *op) { good &= succeeded(loops::checkSupport(op)); });
  return good ? int(Ok) : sink.exitCode();
}

/// What `check` does; with --json the record has all that is said.
static int check(const Console &console, const CompileOptions &options, bool json) {
  CompileOptions knobs = options;
  Watchers watchers(console, knobs);
  if (int wrong = watchers.begin())
    return wrong;
  knobs.import.headersOnly = true;
  knobs.import.configAlone = !llvm::sys::fs::is_directory(options.import.path);
  std::unique_ptr<MLIRContext> context = makeContext();
  DiagnosticSink sink;
  TextBlobs words;
  words.chatTemplate = options.chatTemplate;
  int code = Ok;
  std::vector<std::unique_ptr<Target>> targets;
  bool asText = isTextOfStage(knobs.import); // which names its target
  if (!asText && (targets = targetsOf(console, knobs, code)).empty())
    return code;
  OwningOpRef<ModuleOp> module = readModel(*context, knobs.import, &words, sink, code);
  if (module && asText) {
    if (code = takeTargetOf(console, *module, knobs); code != Ok)
      return code;
    if ((targets = targetsOf(console, knobs, code)).empty())
      return code;
  }
  if (module)
    code = setArithmetic(console, *module, knobs, commonFormats(targets));
  RemarkOutput remarks(*context, knobs);
  for (const std::unique_ptr<Target> &target : targets)
    if (module && code == Ok) {
      OwningOpRef<ModuleOp> own(module->clone());
      code = checkFor(console, *target, *own, knobs, sink);
    }
  if (json) {
    code = remarks.finish(console, code, &sink);
    console.record->add(sink);
  } else {
    sink.print(console.err);
    code = remarks.finish(console, code);
  }
  code = watchers.end(code);
  if (code != Ok || json)
    return code;
  console.out << escaped(options.import.path, 4096) << ": accepted"
              << (module ? "" : "; there are no weights in its folder to compare with") << "\n";
  for (const AdapterChoice &adapter : options.import.adapters)
    console.out << "with the adapter " << escaped(adapter.text(), 4096) << "\n";
  if (module)
    if (std::optional<WeightStore> store = openWeights(console, *module, code))
      printWeightsSummary(*store, console.out);
  if (!words.note.empty())
    console.out << "without a tokenizer: " << words.note << "\n";
  return Ok;
}

int heddle::checkInput(const Console &given, const CompileOptions &options, const InspectOptions &look) {
  CommandRecord record;
  Console console = given;
  console.record = look.json ? &record : nullptr;
  int code = check(console, options, look.json);
  if (look.json)
    console.out << llvm::json::Value(std::move(record.messages)) << "\n";
  return code;
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
    return console.complain(text.systemError ? Error::CannotRead : Error::NotItsFormat, file + ": " + text.why);
  DiagnosticSink sink;
  if (printSchemaOf(console.out, file, std::move(text.bytes), families, sink))
    return Ok;
  sink.print(console.err);
  return failedWith(sink);
}

int Interpreted::read(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  for (const std::string &file : look.inputs)
    if (int missing = canRead(console, file))
      return missing;
  int code = Ok;
  module = load(console, *context, options.import, code);
  if (!module)
    return code;
  if (int failed = setArithmeticOfHost(console, *module, options))
    return failed;
  absl::StatusOr<ParameterFiles> files = ParameterFiles::open(*module);
  if (!files.ok())
    return complain(console, files.status());
  parameters = std::move(*files);
  return Ok;
}

int heddle::readInputs(const Console &console, StringRef file, Tensors &inputs) {
  absl::StatusOr<Tensors> given = readTensors(file);
  if (!given.ok())
    return complain(console, given.status());
  inputs = std::move(*given);
  if (inputs.count(""))
    return console.complain(Error::BadInput, file + " is an array without a name; numpy.savez gives it one: "
                                                    "numpy.savez('in.npz', NAME=array)");
  // A binary refuses axes of length 0, so this does too, although the interpreter can compute with them.
  for (const auto &[name, tensor] : inputs)
    if (llvm::is_contained(tensor.shape, 0))
      return console.complain(Error::BadInput,
                              "the input '" + name + "' is " + showShape(tensor.shape) + ": a length is at least 1");
  return Ok;
}

int heddle::interpretModel(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  Interpreted model;
  if (int failed = model.read(console, options, look))
    return failed;
  // Rows of padding are left out by a pass of the stage `fused`.
  StringRef stage =
      look.stage == "model" && options.pipeline.paddedRows == "skip" ? StringRef("fused") : StringRef(look.stage);
  if (stage != "model")
    if (int failed = runStages(console, *model.module, sharedStages(), stage, options))
      return failed;
  RunOptions run;
  run.newTokens = look.newTokens;
  run.cached = stage != "model" && model.module->lookupSymbol("step");
  for (const auto &[input, output] : llvm::zip_equal(look.inputs, look.outputs)) {
    nowDoing("interpreting " + input);
    Tensors inputs;
    if (int failed = readInputs(console, input, inputs))
      return failed;
    DiagnosticSink sink;
    FailureOr<Tensors> results = failure();
    {
      PassMessages messages(*model.context, sink, Error::BadInput);
      results = runModel(*model.module, inputs, model.parameters->reader(), run);
    }
    sink.print(console.err);
    if (failed(results))
      return failedWith(sink);
    if (absl::Status written = writeTensors(output, *results); !written.ok())
      return complain(console, written);
  }
  return Ok;
}

double heddle::toleranceOf(ModuleOp module) {
  model::Stored stored = model::arithmeticOf(module).stored;
  return stored == model::Stored::f32 ? VerifyOptions().tolerance : stored == model::Stored::bf16 ? 4e-3 : 5e-4;
}

int heddle::verifyModel(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  Interpreted model;
  VerifyOptions verify;
  if (int failed = model.read(console, options, look))
    return failed;
  if (int failed = readInputs(console, look.inputs.front(), verify.inputs))
    return failed;

  // One pass manager for all stages that the interpreter knows: the first result is that of the stage `model`, and
  // every later one is compared with it.
  PassManager pm(model.context.get(), ModuleOp::getOperationName());
  for (const Stage &stage : sharedStages().drop_back())
    addStage(pm, stage, options.pipeline);
  verify.newTokens = look.newTokens;
  verify.tolerance = toleranceOf(*model.module);
  VerifyReport report;
  nowDoing("interpreting after every pass");
  compareAfterEachPass(pm, std::move(verify), model.parameters->reader(), report);
  DiagnosticSink sink;
  bool good;
  {
    PassMessages messages(*model.context, sink);
    good = succeeded(pm.run(*model.module));
  }
  sink.print(console.err);
  if (!good)
    return failedWith(sink);
  if (look.json)
    console.out << llvm::json::Value(llvm::json::Object{{"equal", bool(report)},
                                                        {"passes", int64_t(report.compared)},
                                                        {"padded", int64_t(report.padded)},
                                                        {"worst", report.worst},
                                                        {"pass", report.pass},
                                                        {"what", report.what}})
                << "\n";
  if (!report)
    return console.complain(Error::OurMistake, "the pass " + report.pass + " changes a result: " + report.what +
                                                   "\nWith --bisect: the statements that this takes.");
  if (look.json)
    return Ok;
  console.out << report.compared << " passes compared, all equal";
  if (report.padded)
    console.out << " but for rows of padding, which are left out (" << report.padded
                << (report.padded == 1 ? " is" : " are") << " 0 so)";
  console.out << "; largest relative difference " << report.worst << "\n";
  return Ok;
}
