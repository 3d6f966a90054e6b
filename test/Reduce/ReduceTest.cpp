//===- ReduceTest.cpp - a wrong fold, from a whole model to a few ops -------===//
//
// A pass with a planted mistake runs on a real model: verify names it, the reducer leaves a few ops, and those show the
// mistake again.
//
//===----------------------------------------------------------------------===//

#include "compiler/Reduce/Reduce.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Load.h"
#include "compiler/Interpreter/ParameterFiles.h"
#include "compiler/Interpreter/Verify.h"
#include "compiler/Reduce/PassFault.h"
#include "compiler/Reduce/ReduceCommand.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "targets/Registration.h"
#include <gtest/gtest.h>

using namespace heddle;
using mlir::ModuleOp, mlir::OwningOpRef;

namespace {
/// x * c becomes x: wrong, but for c = 1.
struct WrongFold : mlir::PassWrapper<WrongFold, mlir::OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WrongFold)
  llvm::StringRef getArgument() const override { return "test-wrong-fold"; }
  void runOnOperation() override {
    getOperation().walk([](model::BinaryOp op) {
      auto *constant = op.getRhs().getDefiningOp();
      if (op.getKind() == model::BinaryKind::mul && llvm::isa_and_nonnull<model::ConstantOp>(constant) &&
          op.getLhs().getType() == op.getType())
        op.replaceAllUsesWith(op.getLhs());
    });
  }
};

/// Fails where an attention is left.
struct NoAttention : mlir::PassWrapper<NoAttention, mlir::OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NoAttention)
  llvm::StringRef getArgument() const override { return "test-no-attention"; }
  void runOnOperation() override {
    getOperation().walk([&](mlir::Operation *op) {
      if (op->getName().getStringRef() == "attn.sdpa") {
        op->emitError("is an attention, number ") << 7;
        signalPassFailure();
      }
    });
  }
};

class ReduceTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    registerPasses();
    mlir::PassRegistration<WrongFold>();
    mlir::PassRegistration<NoAttention>();
  }
  std::unique_ptr<mlir::MLIRContext> context = makeContext();

  OwningOpRef<ModuleOp> dates() {
    CompileOptions options;
    options.import.path = EXAMPLES "/dates/model.json";
    options.import.headersOnly = true;
    int code = Ok;
    return load({llvm::outs(), llvm::errs()}, *context, options.import, code);
  }
  std::optional<PassFault> fault(const char *pass, ModuleOp module) {
    return faultOf(pass, module, inventedValues(module), VerifyOptions().tolerance);
  }
  Reduction reduce(OwningOpRef<ModuleOp> &module, const char *pass, const PassFault &first) {
    return reduceModule(module, [&](ModuleOp smaller) { return fault(pass, smaller)->isLike(first); });
  }
};
} // namespace

TEST_F(ReduceTest, wrongFold) {
  OwningOpRef<ModuleOp> module = dates();
  ASSERT_TRUE(module);
  // verify names the pass among others
  VerifyReport report;
  OwningOpRef<ModuleOp> copy(module->clone());
  auto pm = mlir::PassManager::on<ModuleOp>(context.get());
  ASSERT_TRUE(mlir::succeeded(mlir::parsePassPipeline("cse,test-wrong-fold,canonicalize", pm)));
  GivenValues values = inventedValues(*module);
  compareAfterEachPass(pm, {values.inputs}, values.parameter, report);
  ASSERT_TRUE(mlir::succeeded(pm.run(*copy)));
  EXPECT_EQ(report.pass, "test-wrong-fold");
  EXPECT_EQ(report.compared, 1u);

  std::optional<PassFault> first = fault("test-wrong-fold", *module);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->kind, PassFault::Kind::Differs);
  Reduction reduction = reduce(module, "test-wrong-fold", *first);
  EXPECT_GT(reduction.before, 100);
  EXPECT_LE(reduction.after, 10);
  EXPECT_EQ(reduction.after, opsOf(*module));

  // Read back, what is left shows the mistake, and is all that there is.
  std::string text;
  llvm::raw_string_ostream os(text);
  (*module)->print(os);
  OwningOpRef<ModuleOp> again = mlir::parseSourceString<ModuleOp>(text, context.get());
  ASSERT_TRUE(again);
  EXPECT_EQ(fault("test-wrong-fold", *again)->kind, PassFault::Kind::Differs) << text;
  EXPECT_EQ(reduce(again, "test-wrong-fold", *first).after, reduction.after);
  bool multiplies = false;
  again->walk([&](model::BinaryOp op) { multiplies |= op.getKind() == model::BinaryKind::mul; });
  EXPECT_TRUE(multiplies) << text;
}

// On the model's own weights: the statement is named with its place, and values that became inputs keep their numbers.
TEST_F(ReduceTest, bisect) {
  std::string file = ::testing::TempDir() + "reduce-test-dates.safetensors";
  Tensors inputs = {{"source_ids", Tensor::ofInts({1, 4}, {3, 5, 7, 9})},
                    {"target_ids", Tensor::ofInts({1, 3}, {1, 4, 6})}};
  ASSERT_TRUE(writeTensors(file, inputs).ok());
  CompileOptions options;
  options.import.path = EXAMPLES "/dates/model.json";
  InspectOptions look;
  look.inputs = {file};
  std::string out, err;
  llvm::raw_string_ostream outStream(out), errStream(err);
  int code = bisectModel({outStream, errStream}, options, look, [](mlir::PassManager &pm) {
    ASSERT_TRUE(mlir::succeeded(mlir::parsePassPipeline("cse,test-wrong-fold,canonicalize", pm)));
  });
  EXPECT_EQ(code, int(exitOf(Error::OurMistake)));
  EXPECT_NE(err.find("the pass test-wrong-fold changes a result"), std::string::npos) << err;
  EXPECT_NE(err.find("dates/model.json:"), std::string::npos) << err;
  EXPECT_NE(err.find("binary: one of the statements with which the pass test-wrong-fold changes a result"),
            std::string::npos)
      << err;
  EXPECT_NE(out.find("model.binary mul"), std::string::npos) << out;
  EXPECT_LE(llvm::StringRef(out).count(" = model."), 3u) << out;
  EXPECT_EQ(bisectModel({outStream, errStream}, options, look,
                        [](mlir::PassManager &pm) { (void)mlir::parsePassPipeline("cse", pm); }),
            Ok);
}

TEST_F(ReduceTest, failure) {
  OwningOpRef<ModuleOp> module = dates();
  ASSERT_TRUE(module);
  std::optional<PassFault> first = fault("test-no-attention", *module);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->kind, PassFault::Kind::Fails);
  EXPECT_LE(reduce(module, "test-no-attention", *first).after, 5); // with its mask
}

TEST_F(ReduceTest, nothing) {
  OwningOpRef<ModuleOp> module = dates();
  ASSERT_TRUE(module);
  EXPECT_EQ(fault("cse", *module)->kind, PassFault::Kind::None);
  EXPECT_FALSE(fault("no-such-pass", *module));
}
