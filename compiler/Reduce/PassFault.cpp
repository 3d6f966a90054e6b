//===- PassFault.cpp - what is wrong with a pass --------------------------===//

#include "compiler/Reduce/PassFault.h"
#include "compiler/Interpreter/Verify.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;

/// A message without the names in quotes and the numbers.
static std::string kindOf(StringRef message) {
  std::string kind;
  bool quoted = false;
  for (char c : message) {
    quoted ^= c == '\'';
    if (!quoted && !llvm::isDigit(c))
      kind += c;
  }
  return kind;
}

bool PassFault::isLike(const PassFault &other) const {
  return kind == other.kind && (kind != Kind::Fails || kindOf(what) == kindOf(other.what));
}

/// @run, if the interpreter knows all of the module.
static func::FuncOp interpretable(ModuleOp module) {
  for (func::FuncOp f : module.getOps<func::FuncOp>())
    if (!isInterpretable(f))
      return {};
  return module.lookupSymbol<func::FuncOp>("run");
}

std::optional<PassFault> heddle::faultOf(StringRef pipeline, ModuleOp module, const GivenValues &values,
                                         double tolerance) {
  using Kind = PassFault::Kind;
  std::string whole =
      pipeline.starts_with("builtin.module(") ? pipeline.str() : "builtin.module(" + pipeline.str() + ")";
  FailureOr<OpPassManager> parsed = parsePassPipeline(whole, llvm::nulls());
  if (failed(parsed))
    return std::nullopt;
  std::string said;
  ScopedDiagnosticHandler listen(module.getContext(), [&](mlir::Diagnostic &message) {
    if (said.empty() && message.getSeverity() == DiagnosticSeverity::Error)
      said = message.str();
    return success();
  });
  OwningOpRef<ModuleOp> after(module.clone());
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  static_cast<OpPassManager &>(pm) = std::move(*parsed);
  if (failed(pm.run(*after)))
    return PassFault{Kind::Fails, "it fails: " + (said.empty() ? "it says nothing" : said)};
  func::FuncOp before = interpretable(module), run = interpretable(*after);
  if (!before || !run)
    return PassFault();
  FailureOr<Tensors> expected = interpret(before, values.inputs, {}, nullptr, values.parameter);
  if (failed(expected))
    return PassFault();
  FailureOr<Tensors> actual = interpret(run, values.inputs, {}, nullptr, values.parameter);
  if (failed(actual))
    return PassFault{Kind::Broken, "what it makes cannot be interpreted: " + said};
  double worst = 0;
  int64_t padded = 0;
  for (const auto &[name, tensor] : *expected) {
    auto got = actual->find(name);
    if (got == actual->end())
      return PassFault{Kind::Differs, "'" + name + "' is no result any more"};
    Tensor wanted = withoutPadding(*after, name, tensor, got->second, padded);
    if (std::string how = difference(wanted, got->second, tolerance, worst); !how.empty())
      return PassFault{Kind::Differs, "'" + name + "' " + how};
  }
  return PassFault();
}
