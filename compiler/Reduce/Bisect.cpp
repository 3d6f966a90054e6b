//===- Bisect.cpp - heddle verify --bisect --------------------------------===//

#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Interpreted.h"
#include "compiler/Driver/PassMessages.h"
#include "compiler/Driver/PrintIR.h"
#include "compiler/Interpreter/Verify.h"
#include "compiler/Pipelines/PassText.h"
#include "compiler/Reduce/PassFault.h"
#include "compiler/Reduce/Reduce.h"
#include "compiler/Reduce/ReduceCommand.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassInstrumentation.h"

using namespace mlir;
using namespace heddle;

namespace {
/// Keeps the module as it was before the pass that the report blames.
class KeepBefore : public PassInstrumentation {
public:
  KeepBefore(const VerifyReport &report, OwningOpRef<ModuleOp> &before, std::string &pass)
      : report(report), before(before), pass(pass) {}
  void runBeforePass(Pass *next, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module || !report)
      return;
    before = OwningOpRef<ModuleOp>(module.clone());
    pass = textOf(*next).pipeline();
  }

private:
  const VerifyReport &report;
  OwningOpRef<ModuleOp> &before;
  std::string &pass;
};

/// Numbers of the inputs that a reduced module has: those of the user, and those of values that became inputs.
class KnownValues {
public:
  KnownValues(Tensors inputs, ParameterFiles &files) : all(std::move(inputs)), files(files) {}

  GivenValues of(ModuleOp module) {
    GivenValues given;
    given.parameter = [this](StringRef name) { return files.read(name); };
    if (auto run = module.lookupSymbol<func::FuncOp>("run"))
      for (unsigned i = 0; i < run.getNumArguments(); ++i)
        if (auto name = run.getArgAttrOfType<StringAttr>(i, "model.name"))
          if (auto known = all.find(name.str()); known != all.end())
            given.inputs.insert(*known);
    return given;
  }

  /// Computes `value`, which is in @run, as what the input `name` will be.
  void keep(Value value, StringRef name) {
    Operation *top = value.getParentBlock()->getParentOp();
    auto f = dyn_cast<func::FuncOp>(top);
    auto module = f ? f->getParentOfType<ModuleOp>() : ModuleOp();
    if (!module || f.getName() != "run" || !isa<model::ModelTensorType>(value.getType()))
      return;
    IRMapping map;
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone(map)));
    auto run = copy->lookupSymbol<func::FuncOp>("run");
    Builder b(run.getContext());
    Value wanted = map.lookup(value);
    run.getBody().front().getTerminator()->setOperands(wanted);
    run.setResAttrsAttr(ArrayAttr());
    run.setType(FunctionType::get(run.getContext(), run.getArgumentTypes(), value.getType()));
    run.setResultAttr(0, "model.name", b.getStringAttr("value"));
    GivenValues given = of(*copy);
    FailureOr<Tensors> results = interpret(run, given.inputs, {}, nullptr, given.parameter);
    if (succeeded(results))
      all[name.str()] = results->at("value");
  }

private:
  Tensors all;
  ParameterFiles &files;
};
} // namespace

/// Remarks at what is left of the model's statements.
static void nameStatements(const Console &console, ModuleOp module, StringRef pass) {
  DiagnosticSink sink;
  {
    PassMessages messages(*module.getContext(), sink);
    module->walk([&](Operation *op) {
      if (!isa<ModuleOp, func::FuncOp, func::ReturnOp, model::YieldOp, model::ParamOp, model::ConstantOp>(op))
        op->emitRemark() << "'" << op->getName() << "' op one of the statements with which the pass " << pass
                         << " changes a result";
    });
  }
  sink.print(console.err);
}

int heddle::bisectModel(const Console &console, const CompileOptions &options, const InspectOptions &look) {
  return bisectModel(console, options, look, [&](PassManager &pm) {
    for (const Stage &stage : sharedStages().drop_back())
      addStage(pm, stage, options.pipeline);
  });
}

int heddle::bisectModel(const Console &console, const CompileOptions &options, const InspectOptions &look,
                        llvm::function_ref<void(PassManager &)> addPasses) {
  Interpreted model;
  VerifyOptions verify;
  if (int failed = model.read(console, options, look))
    return failed;
  if (int failed = readInputs(console, look.inputs.front(), verify.inputs))
    return failed;
  Tensors inputs = verify.inputs;
  double tolerance = verify.tolerance = toleranceOf(*model.module);
  VerifyReport report;
  OwningOpRef<ModuleOp> before;
  std::string pass;
  PassManager pm(model.context.get(), ModuleOp::getOperationName());
  addPasses(pm);
  pm.addInstrumentation(std::make_unique<KeepBefore>(report, before, pass));
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
  if (report) {
    console.out << report.compared << " passes compared, all equal\n";
    return Ok;
  }
  KnownValues values(std::move(inputs), *model.parameters);
  auto fault = [&](ModuleOp module) { return *faultOf(pass, module, values.of(module), tolerance); };
  PassFault first = fault(*before);
  int code = console.complain(Error::OurMistake, "the pass " + pass + " changes a result: " + report.what);
  if (first.kind == PassFault::Kind::None)
    return code; // not of @run
  Reduction reduction = reduceModule(
      before, [&](ModuleOp smaller) { return fault(smaller).isLike(first); },
      [&](Value value, StringRef name) { values.keep(value, name); });
  console.err << "heddle: note: " << reduction.before << " ops before it became " << reduction.after << " in "
              << reduction.tried << " tries: " << escapedLines(fault(*before).what) << "\n";
  nameStatements(console, *before, pass);
  std::string after = "reduced; before the pass " + pass + ", which changes a result";
  printIR(*before, console.out, {/*locations=*/true, after});
  return code;
}
