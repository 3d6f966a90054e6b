//===- KernelTest.cpp - interpreter = dense -inf softmax = kernel ---------===//
//
// attn.sdpa with random masks, score modifiers, widths and sizes, through the real lowering;
// the plain loops of AttentionCases.h and the interpreter say what must come out. Keys and
// values that nobody sees are full of NaN and infinities.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Pipelines/Stages.h"
#include "dialects/Attn/IR/Attn.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "test/Mask/Campaign.h"
#include "test/Mask/RandomAttention.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace heddle::test;
using heddle::Tensor;

static const double inf = std::numeric_limits<double>::infinity();

namespace {
struct Totals {
  std::atomic<int64_t> expressions{0}, calls{0}, interpreted{0}, rows{0}, deadRows{0}, poisoned{0};
};

} // namespace

/// NaN and infinities where no row looks; where some do, now and then, so that they must be hit
/// and the others must not.
static int64_t poison(std::mt19937_64 &random, const RandomAttention &d, Call &call) {
  const float poisons[] = {std::numeric_limits<float>::quiet_NaN(), float(inf), -float(inf)};
  const Case &c = d.test;
  const Sizes &n = call.n;
  int64_t elements = c.sharedKeys ? 1 : n.B, group = c.heads / c.kvHeads, spoiled = 0;
  std::vector<char> seen(elements * n.S * c.kvHeads, 0);
  for (int64_t b = 0; b < n.B; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t r = 0; r < n.T; ++r)
        for (int64_t k = 0; k < n.S; ++k)
          if (c.count({n, call.extras, b, h, r, k}))
            seen[((c.sharedKeys ? 0 : b) * n.S + k) * c.kvHeads + h / group] = 1;
  for (size_t at = 0; at < seen.size(); ++at) {
    bool values = !seen[at] || (d.small && random() % 64 == 0), keys = !seen[at];
    spoiled += values;
    for (int64_t i = 0; values && i < c.valueWidth; ++i)
      call.v[at * c.valueWidth + i] = poisons[random() % 3];
    for (int64_t i = 0; keys && i < c.width; ++i)
      call.k[at * c.width + i] = poisons[random() % 3];
  }
  return spoiled;
}

/// The largest difference of the interpreter to `expected`.
static double interpreterError(mlir::func::FuncOp f, const RandomAttention &d, const Call &call,
                               const std::vector<double> &expected) {
  const Case &c = d.test;
  const Sizes &n = call.n;
  auto reals = [](std::vector<int64_t> shape, const auto &values) {
    Tensor t = Tensor::zeros(Tensor::Kind::Real, shape);
    for (int64_t i = 0; i < t.count(); ++i)
      t.reals[i] = values[i];
    return t;
  };
  heddle::Tensors in;
  int64_t elements = c.sharedKeys ? 1 : n.B;
  in["q"] = reals({n.B, n.T, c.heads * c.width}, call.q);
  in["k"] = reals({elements, n.S, c.kvHeads * c.width}, call.k);
  in["v"] = reals({elements, n.S, c.kvHeads * c.valueWidth}, call.v);
  for (size_t e = 0; e < c.extras.size(); ++e) {
    std::vector<int64_t> shape;
    for (const std::string &axis : axesOf(c.extras[e].axes))
      shape.push_back(MaskSpec::extent(axis, sizesOf(n)));
    const std::string &element = c.extras[e].element;
    if (element == "f32") {
      in[c.extras[e].name] = reals(shape, call.extras[e]);
      continue;
    }
    Tensor t = Tensor::zeros(element == "i64" ? Tensor::Kind::Int : Tensor::Kind::Bool, shape);
    for (int64_t i = 0; i < t.count(); ++i)
      t.ints[i] = element == "i64" ? int64_t(call.extras[e][i]) : call.extras[e][i] != 0;
    in[c.extras[e].name] = t;
  }
  auto none = [](llvm::StringRef) -> mlir::FailureOr<Tensor> { return mlir::failure(); };
  auto out = heddle::interpret(f, in, {{"B", n.B}, {"T", n.T}, {"S", n.S}, {"P", n.P}, {"K", n.K}}, nullptr, none);
  if (mlir::failed(out))
    return inf;
  double worst = 0;
  const Tensor &y = (*out)["y"];
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isfinite(expected[i]) != std::isfinite(y.reals[i]))
      return inf;
    if (std::isfinite(expected[i]))
      worst = std::max(worst, std::fabs(expected[i] - y.reals[i]));
  }
  return worst;
}

static double kernelError(const Call &call, const std::vector<double> &expected, Totals &totals) {
  const Case &c = call.test;
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isfinite(expected[i]) != std::isfinite(call.y[i]))
      return inf;
    if (std::isfinite(expected[i]))
      worst = std::max(worst, std::fabs(expected[i] - double(call.y[i])));
  }
  // Rows that see nothing are exactly 0.
  const Sizes &n = call.n;
  for (int64_t b = 0; b < n.B; ++b)
    for (int64_t r = 0; r < n.T; ++r)
      for (int64_t h = 0; h < c.heads; ++h) {
        bool sees = false;
        for (int64_t k = 0; k < n.S && !sees; ++k)
          sees = c.count({n, call.extras, b, h, r, k}) > 0;
        ++totals.rows;
        if (sees)
          continue;
        ++totals.deadRows;
        for (int64_t i = 0; c.masked == Case::Zero && i < c.valueWidth; ++i)
          if (call.y[((b * n.T + r) * c.heads + h) * c.valueWidth + i] != 0)
            return inf;
      }
  return worst;
}

static void checkCall(Campaign &run, Totals &totals, std::mt19937_64 &random, const RandomAttention &d,
                      Program &program, mlir::func::FuncOp f, const std::string &where, bool small) {
  const int64_t most = small ? 60 : 600;
  MaskSizes m = d.spec.sizes(random, most);
  Sizes n{m.B, m.T, m.S, m.P, m.K};
  Call call(d.test, n, random() >> 8);
  d.counts->fill(d.spec, call);
  if (random() % 2)
    totals.poisoned += poison(random, d, call);
  std::string at = where + "\n  " + d.str() + "\n  " + m.str();
  run.enter(at);
  call.run(program);
  run.leave();
  std::vector<double> expected = call.expected().y;
  double most32 = 1;
  for (double v : expected)
    if (std::isfinite(v))
      most32 = std::max(most32, std::fabs(v));
  double off = kernelError(call, expected, totals);
  if (!(off <= (d.small ? 4e-6 : 3e-5) * most32))
    run.fail(at + "\n  the kernel is off by " + std::to_string(off));
  if (random() % 4 == 0) {
    Call again(d.test, n, 0);
    again.q = call.q;
    again.k = call.k;
    again.v = call.v;
    again.extras = call.extras;
    again.run(program, 2);
    if (std::memcmp(again.y.data(), call.y.data(), call.y.size() * sizeof(float)))
      run.fail(at + "\n  two threads give other bits");
  }
  if (small) {
    ++totals.interpreted;
    double apart = interpreterError(f, d, call, expected);
    if (!(apart <= 1e-9 * most32))
      run.fail(at + "\n  the interpreter is off by " + std::to_string(apart));
  }
  ++totals.calls;
}

static MaskSpec draw(std::mt19937_64 &random, int64_t most) {
  int64_t kind = random() % 12;
  return kind == 0  ? drawCounted(random, 3, most)
         : kind < 3 ? drawDilated(random, 3, most)
                    : MaskSpec::draw(random, 3, most);
}

TEST(MaskedAttention, RandomExpressions) {
  const int64_t perBatch = 8, most = 600;
  int64_t expressions = campaign.expressions ? campaign.expressions : 160;
  Campaign run("MaskedAttention", (expressions + perBatch - 1) / perBatch);
  Totals totals;
  std::vector<std::string> messages = run.run([&](int64_t batch) {
    std::mt19937_64 random(mix(campaign.seed, batch));
    std::vector<RandomAttention> drawn;
    std::string compiled, plain;
    for (int64_t i = 0; i < perBatch; ++i) {
      drawn.push_back(drawAttention(random, draw(random, most)));
      Case &c = drawn.back().test;
      c.function = "run" + std::to_string(i);
      compiled += c.functionText();
      plain += c.functionText(/*dims=*/false);
    }
    std::string where = "--seed=" + std::to_string(campaign.seed) + " --batch=" + std::to_string(batch);
    mlir::DialectRegistry registry;
    registry.insert<heddle::model::ModelDialect, heddle::mask::MaskDialect, heddle::attn::AttnDialect,
                    mlir::func::FuncDialect>();
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    // The interpreter is asked for masks as written, and as they are simplified.
    auto module = mlir::parseSourceString<mlir::ModuleOp>(plain, mlir::ParserConfig(&context));
    auto less = mlir::parseSourceString<mlir::ModuleOp>(plain, mlir::ParserConfig(&context));
    auto program = Program::compile(compiled, 16, false, JitLevel::Quick);
    mlir::PassManager passes(&context);
    heddle::addPasses(passes, "fused", {}, [](llvm::StringRef flag) { return flag == "mask-simplify"; });
    if (!module || !less || !program || failed(passes.run(*less)))
      return run.fail(where + " does not compile");
    for (size_t i = 0; i < drawn.size(); ++i) {
      const RandomAttention &d = drawn[i];
      auto f = (i % 2 ? *less : *module).lookupSymbol<mlir::func::FuncOp>(d.test.function);
      checkCall(run, totals, random, d, *program, f, where, true);
      checkCall(run, totals, random, d, *program, f, where, false);
      ++totals.expressions;
    }
  });
  for (const std::string &m : messages)
    ADD_FAILURE() << m;
  std::printf(
      "%ld expressions, %ld calls, %ld of them interpreted, %ld rows, %ld of them see nothing, %ld rows of keys and values spoiled\n",
      long(totals.expressions), long(totals.calls), long(totals.interpreted), long(totals.rows), long(totals.deadRows),
      long(totals.poisoned));
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!campaign.parse(argc, argv)) {
    std::fprintf(stderr,
                 "usage: %s [--expressions=N] [--seed=N] [--batch=N] [--threads=N] [--limit=N] [--failures=N]\n",
                 argv[0]);
    return 2;
  }
  return RUN_ALL_TESTS();
}
