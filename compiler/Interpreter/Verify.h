//===- Verify.h - every pass judged by the interpreter ----------*- C++ -*-===//
//
// A pass must not change what a module computes. VerifyInstrumentation interprets the
// module before the first pass and again after every one, and names the first pass after
// which a result differs.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_INTERPRETER_VERIFY_H
#define HEDDLE_COMPILER_INTERPRETER_VERIFY_H

#include "compiler/Interpreter/Interpreter.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include <memory>

namespace heddle {

struct VerifyOptions {
  Tensors inputs;
  /// Tokens to generate with @step (where there is one) and to compare with @run's; 0: none.
  int64_t newTokens = 0;
  /// Differences of reals, relative to the largest magnitude of the tensor. Constants that a pass
  /// writes as f32 differ by about 1e-8.
  double tolerance = 1e-5;
};

/// What verification found. `pass` is empty as long as nothing differs.
struct VerifyReport {
  std::string pass;       ///< the first pass after which a result differs
  std::string what;       ///< which result, and how
  unsigned compared = 0;  ///< passes after which everything was equal
  unsigned skipped = 0;   ///< passes after which the IR was no longer the interpreter's
  double worst = 0;       ///< the largest relative difference met
  explicit operator bool() const { return pass.empty(); }
};

/// What two tensors differ by: empty where they agree within `tolerance`; `worst` grows to the
/// largest relative difference met.
std::string difference(const Tensor &expected, const Tensor &actual, double tolerance, double &worst);

class VerifyInstrumentation : public mlir::PassInstrumentation {
public:
  /// `report` and what `readParameter` refers to must outlive the pass manager's run.
  VerifyInstrumentation(VerifyOptions options, std::function<mlir::FailureOr<Tensor>(llvm::StringRef)> readParameter,
                        VerifyReport &report)
      : options(std::move(options)), readParameter(std::move(readParameter)), report(report) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;

private:
  mlir::FailureOr<Tensors> compute(mlir::ModuleOp module);

  VerifyOptions options;
  std::function<mlir::FailureOr<Tensor>(llvm::StringRef)> readParameter;
  VerifyReport &report;
  std::optional<Tensors> expected;
};

/// Adds the instrumentation to `pm` (whose context must not run passes in parallel).
void compareAfterEachPass(mlir::PassManager &pm, VerifyOptions options,
                          std::function<mlir::FailureOr<Tensor>(llvm::StringRef)> readParameter,
                          VerifyReport &report);

} // namespace heddle

#endif
