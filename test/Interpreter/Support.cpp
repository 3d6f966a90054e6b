//===- Support.cpp - parse, interpret, collect what was said --------------===//

#include "test/Interpreter/Support.h"
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Interpreter/Passes.h"
#include "compiler/Interpreter/Verify.h"
#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;
using namespace heddle::check;
using mlir::failure;
using mlir::FailureOr;

Tensor check::fill(std::vector<int64_t> shape, int64_t seed) {
  Tensor t = Tensor::zeros(Tensor::Kind::Real, shape);
  for (int64_t i = 0; i < t.count(); ++i)
    t.reals[i] = double((i * 37 + seed * 11) % 23 - 11) / 8;
  return t;
}
Tensor check::reals(std::vector<int64_t> shape, std::vector<double> elements) {
  return Tensor::ofReals(shape, std::move(elements));
}
Tensor check::ints(std::vector<int64_t> shape, std::vector<int64_t> elements) {
  return Tensor::ofInts(shape, std::move(elements));
}
Tensor check::bools(std::vector<int64_t> shape, std::vector<int64_t> elements) {
  return Tensor::ofBools(shape, std::move(elements));
}

namespace {
/// A module, and everything that was said about it.
struct Session {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string said;
  mlir::ScopedDiagnosticHandler listen;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Session(const char *ir)
      : listen(&context, [this](mlir::Diagnostic &d) {
          said += d.str() + "\n";
          return mlir::success();
        }) {
    context.loadDialect<model::ModelDialect, mask::MaskDialect, attn::AttnDialect, mlir::func::FuncDialect,
                        mlir::arith::ArithDialect, mlir::math::MathDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(ir, mlir::ParserConfig(&context));
  }
  mlir::func::FuncOp entry(llvm::StringRef name) {
    return module ? module->lookupSymbol<mlir::func::FuncOp>(name) : mlir::func::FuncOp();
  }
};

auto readerOf(const Tensors &parameters) {
  return [&parameters](llvm::StringRef name) -> FailureOr<Tensor> {
    auto it = parameters.find(name.str());
    if (it == parameters.end())
      return failure();
    return it->second;
  };
}

/// Those of `tensors` that no parameter of the module names; a parameter of a repeat names all
/// that begin like it.
Tensors inputsOf(mlir::func::FuncOp entry, const Tensors &tensors) {
  Tensors inputs = tensors;
  entry->getParentOfType<mlir::ModuleOp>().walk([&](model::ParamOp op) {
    auto [head, hole] = op.getName().split('{');
    for (auto &[name, t] : tensors)
      if (hole.empty() ? name == head : llvm::StringRef(name).starts_with(head))
        inputs.erase(name);
  });
  return inputs;
}
} // namespace

Outcome check::run(const char *ir, const Tensors &tensors, bool declaredTypes) {
  Session session(ir);
  mlir::func::FuncOp entry = session.entry("run");
  if (!entry)
    return {false, {}, session.said + "no @run"};
  InterpretOptions options;
  options.declaredTypes = declaredTypes;
  auto reader = readerOf(tensors);
  FailureOr<Tensors> got = interpret(entry, inputsOf(entry, tensors), {}, nullptr, reader, options);
  if (mlir::failed(got))
    return {false, {}, session.said};
  return {true, std::move(*got), session.said};
}

std::vector<Outcome> check::runAll(const char *ir, const std::vector<Call> &calls, const Tensors &parameters) {
  Session session(ir);
  States states;
  std::vector<Outcome> outcomes;
  auto reader = readerOf(parameters);
  for (const Call &call : calls) {
    mlir::func::FuncOp entry = session.entry(call.entry);
    Outcome &outcome = outcomes.emplace_back();
    if (entry) {
      FailureOr<Tensors> got = interpret(entry, call.inputs, call.dims, &states, reader);
      outcome.good = mlir::succeeded(got);
      if (outcome.good)
        outcome.results = std::move(*got);
    }
    outcome.error = std::exchange(session.said, "");
  }
  return outcomes;
}

Text check::generate(const char *ir, const Tensors &tensors, int64_t newTokens, bool cached, bool ignoreEos) {
  Session session(ir);
  if (!session.entry("run"))
    return {false, {}, {}, session.said};
  auto reader = readerOf(tensors);
  GenerateOptions options{newTokens, ignoreEos, {}};
  Tensors inputs = inputsOf(session.entry("run"), tensors);
  FailureOr<Generated> got = cached ? generateCached(*session.module, inputs, reader, options)
                                    : generateRecomputing(*session.module, inputs, reader, options);
  if (mlir::failed(got))
    return {false, {}, {}, session.said};
  return {true, std::move(got->ids), std::move(got->logits), session.said};
}

Outcome check::weights(const char *lines, const char *signature, Tensors tensors, Sizes n) {
  // Queries of zero make every score 0, values of the k-th unit vector read the k-th weight.
  auto type = [](int64_t b, int64_t t, int64_t d) {
    return "!model.tensor<[" + std::to_string(b) + ", " + std::to_string(t) + ", " + std::to_string(d) + "], f32>";
  };
  std::string q = type(n.batches, n.rows, n.heads), k = type(n.batches, n.keys, n.heads),
              v = type(n.batches, n.keys, n.heads * n.keys), out = type(n.batches, n.rows, n.heads * n.keys);
  std::string heads = std::to_string(n.heads), comma = *signature ? ", " : "";
  std::string ir = "func.func @run(%query: " + q + " {model.name = \"query\"}, %key: " + k +
                   " {model.name = \"key\"}, %value: " + v + " {model.name = \"value\"}" + comma + signature +
                   ") -> (" + out + " {model.name = \"out\"}) {\n" + lines +
                   "  %out = attn.sdpa %query, %key, %value mask %m heads " + heads + " kv_heads " + heads +
                   " scale 1.0 key_start \"" + std::to_string(n.keyStart) + "\" : (" + q + ", " + k + ", " + v +
                   ") -> " + out + "\n  return %out : " + out + "\n}\n";
  tensors["query"] = Tensor::zeros(Tensor::Kind::Real, {n.batches, n.rows, n.heads});
  tensors["key"] = Tensor::zeros(Tensor::Kind::Real, {n.batches, n.keys, n.heads});
  Tensor value = Tensor::zeros(Tensor::Kind::Real, {n.batches, n.keys, n.heads * n.keys});
  for (int64_t row = 0; row < n.batches * n.keys; ++row)
    for (int64_t head = 0; head < n.heads; ++head)
      value.reals[(row * n.heads + head) * n.keys + row % n.keys] = 1;
  tensors["value"] = value;
  return run(ir.c_str(), tensors);
}

void check::expectClose(const Outcome &outcome, const char *name, const Tensor &expected, double tolerance) {
  ASSERT_TRUE(outcome.good) << outcome.error;
  auto it = outcome.results.find(name);
  ASSERT_NE(it, outcome.results.end()) << "no result " << name;
  const Tensor &got = it->second;
  ASSERT_EQ(got.shape, expected.shape);
  ASSERT_EQ(int(got.kind), int(expected.kind));
  for (int64_t i = 0; i < expected.count(); ++i) {
    double x = expected.real(i), y = got.real(i);
    if (std::isnan(x))
      EXPECT_TRUE(std::isnan(y)) << "element " << i << " is " << y;
    else if (std::isinf(x))
      EXPECT_EQ(x, y) << "element " << i;
    else
      EXPECT_NEAR(x, y, tolerance * (1 + std::fabs(x))) << "element " << i;
  }
}

void check::expectError(const Outcome &outcome, const char *part) {
  EXPECT_FALSE(outcome.good);
  EXPECT_NE(outcome.error.find(part), std::string::npos) << outcome.error;
}

namespace {
/// A pass that is wrong: every real constant becomes larger by one.
struct ShiftPass : mlir::PassWrapper<ShiftPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShiftPass)
  llvm::StringRef getArgument() const override { return "test-shift"; }
  void runOnOperation() override {
    getOperation().walk([](model::ConstantOp op) {
      auto dense = llvm::dyn_cast<mlir::DenseFPElementsAttr>(op.getValue());
      if (!dense)
        return;
      op.setValueAttr(dense.mapValues(dense.getElementType(), [](const llvm::APFloat &x) {
        return llvm::APFloat(x.convertToDouble() + 1).bitcastToAPInt();
      }));
    });
  }
};
} // namespace

std::string check::verify(const char *ir, const Tensors &tensors, const char *pipeline, int64_t newTokens) {
  static bool registered = [] {
    registerInterpreterPasses();
    mlir::PassRegistration<ShiftPass>();
    return true;
  }();
  (void)registered;
  Session session(ir);
  auto pm = mlir::PassManager::on<mlir::ModuleOp>(&session.context);
  if (!session.entry("run") || mlir::failed(mlir::parsePassPipeline(pipeline, pm)))
    return "error: " + session.said;
  VerifyOptions options;
  options.inputs = inputsOf(session.entry("run"), tensors);
  options.newTokens = newTokens;
  VerifyReport report;
  compareAfterEachPass(pm, options, readerOf(tensors), report);
  if (mlir::failed(pm.run(*session.module)))
    return "error: " + session.said;
  return report ? "" : report.pass + ": " + report.what;
}
