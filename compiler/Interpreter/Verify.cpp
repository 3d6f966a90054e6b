//===- Verify.cpp - which pass changed a result ---------------------------===//

#include "compiler/Interpreter/Verify.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

std::string heddle::difference(const Tensor &expected, const Tensor &actual, double tolerance, double &worst) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (expected.kind != actual.kind)
    return "has another element type";
  if (expected.shape != actual.shape) {
    os << "is " << showShape(actual.shape) << " instead of " << showShape(expected.shape);
    return text;
  }
  double largest = 1e-30;
  for (int64_t i = 0; i < expected.count(); ++i)
    if (std::isfinite(expected.real(i)))
      largest = std::max(largest, std::fabs(expected.real(i)));
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < expected.count(); ++i) {
    double x = expected.real(i), y = actual.real(i);
    bool same = x == y || (std::isnan(x) && std::isnan(y));
    if (!same && expected.kind == Tensor::Kind::Real && std::isfinite(x) && std::isfinite(y)) {
      worst = std::max(worst, std::fabs(x - y) / largest);
      same = std::fabs(x - y) <= tolerance * largest;
    }
    if (same)
      continue;
    ++wrong;
    first = first < 0 ? i : first;
  }
  if (wrong)
    os << "differs in " << wrong << " of " << expected.count() << " elements; element " << first << " is "
       << actual.real(first) << " instead of " << expected.real(first);
  return text;
}

FailureOr<Tensors> VerifyInstrumentation::compute(ModuleOp module) {
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (!run)
    return emitError(module.getLoc(), "has no function @run");
  FailureOr<Tensors> results = interpret(run, options.inputs, {}, nullptr, readParameter);
  if (failed(results) || options.newTokens <= 0 || !module->hasAttr("model.generate"))
    return results;
  // The reference is @run (recomputing); as soon as a pass has made @step, the cached
  // generation is compared with it.
  bool cached = module.lookupSymbol<func::FuncOp>("step") != nullptr;
  GenerateOptions generate{options.newTokens, true, {}};
  FailureOr<Generated> text = cached ? generateCached(module, options.inputs, readParameter, generate)
                                     : generateRecomputing(module, options.inputs, readParameter, generate);
  if (failed(text))
    return failure();
  (*results)["generated ids"] = std::move(text->ids);
  for (auto [i, logits] : llvm::enumerate(text->logits))
    (*results)["logits of step " + std::to_string(i)] = std::move(logits);
  return results;
}

Tensor heddle::withoutPadding(ModuleOp module, StringRef name, Tensor expected, const Tensor &actual, int64_t &padded) {
  auto run = module.lookupSymbol<func::FuncOp>("run");
  bool marked = false;
  for (unsigned i = 0; i < run.getNumResults(); ++i) {
    auto own = run.getResultAttrOfType<StringAttr>(i, "model.name");
    marked |= own && own.getValue() == name && run.getResultAttr(i, "model.padded_rows");
  }
  if (!marked || expected.shape != actual.shape || expected.kind != Tensor::Kind::Real)
    return expected;
  int64_t width = std::max<int64_t>(1, product(ArrayRef(actual.shape).drop_front(2)));
  auto isZero = [&](const Tensor &t, int64_t i) {
    return std::all_of(&t.reals[i], &t.reals[i] + width, [](double x) { return x == 0; });
  };
  for (int64_t i = 0; i + width <= actual.count(); i += width)
    if (isZero(actual, i) && !isZero(expected, i)) {
      std::fill_n(expected.reals.begin() + i, width, 0.0);
      ++padded;
    }
  return expected;
}

static ModuleOp moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

static bool isInterpretable(ModuleOp module) {
  for (func::FuncOp f : module.getOps<func::FuncOp>())
    if (!heddle::isInterpretable(f))
      return false;
  return true;
}

void VerifyInstrumentation::runBeforePass(Pass *pass, Operation *op) {
  ModuleOp module = moduleOf(op);
  if (expected || !report || !module || !::isInterpretable(module))
    return;
  FailureOr<Tensors> results = compute(module);
  if (succeeded(results))
    expected = std::move(*results);
  else
    report = {"(before the first pass)", "the module cannot be interpreted", 0, 0, 0};
}

void VerifyInstrumentation::runAfterPass(Pass *pass, Operation *op) {
  ModuleOp module = moduleOf(op);
  if (!module || !expected || !report)
    return;
  if (!::isInterpretable(module)) {
    ++report.skipped;
    return;
  }
  auto blame = [&](const Twine &what) {
    report.pass = (pass->getArgument().empty() ? pass->getName() : pass->getArgument()).str();
    report.what = what.str();
  };
  FailureOr<Tensors> results = compute(module);
  if (failed(results))
    return blame("the module can no longer be interpreted");
  int64_t padded = 0;
  for (const auto &[name, tensor] : *expected) {
    auto got = results->find(name);
    if (got == results->end())
      return blame("'" + name + "' is no result any more");
    std::string how = difference(withoutPadding(module, name, tensor, got->second, padded), got->second,
                                 options.tolerance, report.worst);
    if (!how.empty())
      return blame("'" + name + "' " + how);
  }
  report.padded = std::max(report.padded, padded);
  ++report.compared;
}

void heddle::compareAfterEachPass(PassManager &pm, VerifyOptions options,
                                  std::function<FailureOr<Tensor>(llvm::StringRef)> readParameter,
                                  VerifyReport &report) {
  pm.addInstrumentation(std::make_unique<VerifyInstrumentation>(std::move(options), std::move(readParameter), report));
}
