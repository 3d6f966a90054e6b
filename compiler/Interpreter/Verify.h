//===- Verify.h - every pass judged by the interpreter ----------*- C++ -*-===//
//
// Verification of passes: no pass may change what a module computes. The instrumentation
// interprets the module before the first pass and again after every one, and names the
// first pass after which a result differs.
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
  /// Tokens to generate with @step (if there is one) and to compare with @run's; 0: none.
  int64_t newTokens = 0;
  /// The largest difference of reals, relative to the largest magnitude of their tensor.
  /// Constants that a pass writes as f32 differ by about 1e-8.
  double tolerance = 1e-5;
};

/// The result; `pass` is empty if nothing differs.
struct VerifyReport {
  std::string pass;      ///< the first pass after which a result differs
  std::string what;      ///< which result, and how
  unsigned compared = 0; ///< passes after which everything was equal
  unsigned skipped = 0;  ///< passes after which the IR could not be interpreted any more
  int64_t padded = 0;    ///< rows of padding that a pass leaves out, whose results are 0
  double worst = 0;      ///< the largest relative difference so far
  explicit operator bool() const { return pass.empty(); }
};

/// A text about the first difference of two tensors; "" if they agree within `tolerance`.
/// `worst` is raised to the largest relative difference.
std::string difference(const Tensor &expected, const Tensor &actual, double tolerance, double &worst);

/// `expected`, with 0 where `actual` has a row of zeros, for a result of @run that is marked as having
/// rows of padding that are not computed (`model.padded_rows`). Adds to `padded` how many rows became 0 so.
Tensor withoutPadding(mlir::ModuleOp module, llvm::StringRef name, Tensor expected, const Tensor &actual,
                      int64_t &padded);

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

/// Adds the instrumentation to `pm`, whose context must not run passes in parallel.
void compareAfterEachPass(mlir::PassManager &pm, VerifyOptions options,
                          std::function<mlir::FailureOr<Tensor>(llvm::StringRef)> readParameter, VerifyReport &report);

} // namespace heddle

#endif
