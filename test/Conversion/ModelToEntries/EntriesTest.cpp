//===- EntriesTest.cpp - the derived step against recomputation ------------===//
//
// Every model is run whole on each prefix of a text, and step by step: a prompt, then chunks
// of 1 to 4 rows. The last rows must agree to the rounding of f64, without padding and with
// padding on the left. What cannot be cached must say why.
//
//===----------------------------------------------------------------------===//

#include "compiler/Import/Import.h"
#include "compiler/Interpreter/Interpreter.h"
#include "compiler/Pipelines/Stages.h"
#include "dialects/Attn/IR/Attn.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "test/Conversion/ModelToEntries/Models.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <random>

using namespace heddle;
using namespace heddle::testing;

namespace {

/// Weights by name: what a layer reads has the same shape in every layer.
class Weights : public WeightTable {
public:
  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const char *prefix : {"", "layers.0.", "layers.1.", "layers.2.", "e.0.", "e.1."})
      for (auto &[name, shape] : shapes())
        out.push_back(prefix + name);
    return out;
  }
  std::optional<Tensor> find(llvm::StringRef name) const override {
    for (llvm::StringRef prefix : {"layers.0.", "layers.1.", "layers.2.", "e.0.", "e.1."})
      if (name.consume_front(prefix))
        break;
    auto it = shapes().find(name.str());
    return it == shapes().end() ? std::nullopt : std::optional(Tensor{it->second});
  }
  std::optional<bool> equal(llvm::StringRef a, llvm::StringRef b) const override { return a == b; }
  std::vector<std::string> files() const override { return {"weights.safetensors"}; }

  /// Random, but for ever the same for a name.
  heddle::Tensor values(llvm::StringRef name) const {
    std::mt19937 engine(std::hash<std::string>()(name.str()));
    std::normal_distribution<double> normal(0, 0.7);
    heddle::Tensor t = heddle::Tensor::zeros(heddle::Tensor::Kind::Real, find(name)->shape);
    for (double &x : t.reals)
      x = normal(engine);
    return t;
  }

private:
  static const std::map<std::string, std::vector<int64_t>> &shapes() {
    // clang-format off
    static const std::map<std::string, std::vector<int64_t>> all = {
        {"e.weight", {13, 8}}, {"head.weight", {13, 8}}, {"q.weight", {8, 8}}, {"k.weight", {8, 8}}, {"v.weight", {8, 8}},
        {"l.weight", {8, 8}}, {"n.weight", {8}}, {"n.bias", {8}}, {"c.weight", {8, 8, 3}}, {"c.bias", {8}}, {"table.weight", {64, 8}},
        {"latent", {1, 3, 8}}, {"row", {1, 1, 8}}, {"memory", {1, 4, 8}}};
    // clang-format on
    return all;
  }
};

struct Compiled {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string said;
  mlir::ScopedDiagnosticHandler listen;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Weights weights;

  explicit Compiled(const heddle::testing::Model &m, std::string cache = "auto")
      : listen(&context, [this](mlir::Diagnostic &d) {
          said += d.str() + "\n";
          for (mlir::Diagnostic &note : d.getNotes())
            said += note.str() + "\n";
          return mlir::success();
        }) {
    auto has = [&](const char *word) { return m.body.find(word) != std::string::npos; };
    bool mask = has("(mask)") || has("mask\", \"axis");
    std::string inputs = R"("ids": "i64[B,T]")", roles = R"("tokens": "ids", "logits": "logits")";
    if (mask) {
      inputs += R"(, "mask": {"type": "i64[B,T]", "default": "=1"})";
      roles += R"(, "mask": "mask")";
    }
    if (!m.inputs.empty())
      inputs += ", " + m.inputs;
    if (m.inputs.find("kinds") != std::string::npos)
      roles += R"(, "extend": {"kinds": 2})";
    std::string head = has("\"logits\"") ? "" : R"({"logits": {"linear": "x", "weights": "head"}},)";
    std::string body = m.body + head;
    body.pop_back();
    std::string doc =
        R"({"heddle": 1, "name": "tiny", "inputs": {)" + inputs +
        R"(}, "weights": {"file": "weights.safetensors", "ignored": {"one file for all models": ["*"]}}, "defaults": {"linear": {"bias": false})" +
        (has("attention") ? R"(, "attention": {"heads": 2})" : "") +
        R"(}, "body": [{"x": {"embedding": "ids", "weights": "e"}}, )" + body +
        R"(], "outputs": ["logits"], "generate": {)" + roles + "}}";
    ImportOptions options;
    options.path = "tiny.json";
    options.text = doc;
    options.weights = &weights;
    DiagnosticSink sink;
    module = importModel(context, options, sink);
    if (!module) {
      llvm::raw_string_ostream os(said);
      sink.print(os);
      return;
    }
    mlir::PassManager pm(&context);
    PipelineOptions pipeline;
    pipeline.cache = cache;
    addPasses(pm, "entries", pipeline, [](llvm::StringRef flag) { return flag == "model-derive-entries"; });
    if (failed(pm.run(*module)))
      module = nullptr;
  }
  mlir::func::FuncOp entry(const char *name) { return module->lookupSymbol<mlir::func::FuncOp>(name); }
};

Tensor columns(const Tensor &t, int64_t from, int64_t to) {
  Tensor out = Tensor::zeros(t.kind, {t.shape[0], to - from});
  for (int64_t b = 0; b < t.shape[0]; ++b)
    for (int64_t i = from; i < to; ++i)
      out.ints[b * (to - from) + i - from] = t.ints[b * t.shape[1] + i];
  return out;
}

class Steps : public ::testing::TestWithParam<heddle::testing::Model> {};

/// The logits of the last row of every prefix, whole and by chunks.
void compare(Compiled &c, const heddle::testing::Model &m, bool left, const std::vector<int64_t> &chunks) {
  auto read = [&](llvm::StringRef name) -> mlir::FailureOr<Tensor> { return c.weights.values(name); };
  const int64_t B = 2, n = 18;
  Tensor ids = Tensor::zeros(Tensor::Kind::Int, {B, n}), mask = Tensor::zeros(Tensor::Kind::Int, {B, n}), kinds = mask;
  std::mt19937 engine(5);
  for (int64_t i = 0; i < B * n; ++i) {
    ids.ints[i] = i % n == 2 ? 3 : 4 + engine() % 9;
    mask.ints[i] = !(left && i >= n && i < n + 3);
    kinds.ints[i] = 2;
  }
  Tensors fixed;
  if (m.inputs.find("far") != std::string::npos)
    fixed["far"] = Tensor::ofInts({B, 5}, {4, 5, 6, 1, 1, 7, 8, 9, 10, 11});
  auto feed = [&](mlir::func::FuncOp f, int64_t from, int64_t to) {
    Tensors out;
    for (unsigned i = 0; i < f.getNumArguments(); ++i) {
      auto name = f.getArgAttrOfType<mlir::StringAttr>(i, "model.name");
      if (!name)
        continue;
      std::string s = name.str();
      if (fixed.count(s))
        out[s] = fixed[s];
      else
        out[s] = columns(s == "ids" ? ids : s == "mask" ? mask : kinds, from, to);
    }
    return out;
  };
  States states;
  Dims dims{{"capacity", n}};
  if (mlir::func::FuncOp once = c.entry("once")) {
    mlir::FailureOr<Dims> bound = bindDims(once, feed(once, 0, n), dims);
    ASSERT_TRUE(succeeded(bound)) << c.said;
    dims = *bound;
    ASSERT_TRUE(succeeded(interpret(once, feed(once, 0, n), dims, &states, read))) << c.said;
  }
  mlir::func::FuncOp step = c.entry("step"), run = c.entry("run");
  int64_t past = 0, again = 0;
  for (int64_t chunk : chunks) {
    int64_t now = past + chunk;
    auto advance = [&](int64_t from) {
      Dims d = dims;
      d["past"] = from;
      d["new"] = now - from;
      return interpret(step, feed(step, from, now), d, &states, read);
    };
    mlir::FailureOr<Tensors> got = advance(past);
    ASSERT_TRUE(succeeded(got)) << c.said;
    if (auto refill = got->find("refill"); refill != got->end() && refill->second.real(0) != 0) {
      ++again;
      got = advance(0);
      ASSERT_TRUE(succeeded(got)) << c.said;
      EXPECT_EQ(got->find("refill")->second.real(0), 0);
    }
    mlir::FailureOr<Tensors> whole = interpret(run, feed(run, 0, now), {}, nullptr, read);
    ASSERT_TRUE(succeeded(whole)) << c.said;
    const Tensor &want = (*whole)["logits"], &have = (*got)["logits"];
    int64_t V = want.shape.back(), rows = want.rank() == 3 ? now : 1;
    ASSERT_EQ(have.shape, (std::vector<int64_t>{B, V}));
    double worst = 0, largest = 0;
    for (int64_t b = 0; b < B; ++b)
      for (int64_t v = 0; v < V; ++v) {
        double w = want.reals[(b * rows + rows - 1) * V + v], h = have.reals[b * V + v];
        worst = std::max(worst, std::abs(w - h));
        largest = std::max(largest, std::abs(w));
      }
    EXPECT_LE(worst, 1e-12 * largest) << "rows " << past << " to " << now << (left ? ", padded" : "");
    past = now;
  }
  if (m.guard) {
    EXPECT_GT(again, 0);
  } else {
    EXPECT_EQ(again, 0);
  }
}

TEST_P(Steps, AsRecomputed) {
  const heddle::testing::Model &m = GetParam();
  Compiled c(m);
  ASSERT_TRUE(bool(c.module)) << c.said;
  if (!m.why.empty()) {
    EXPECT_FALSE(c.entry("step"));
    EXPECT_NE(c.said.find(m.why), std::string::npos) << c.said;
    std::string report;
    for (mlir::Attribute a : (*c.module)->getAttrOfType<mlir::ArrayAttr>("model.step_report"))
      report += mlir::cast<mlir::StringAttr>(a).str() + "\n";
    EXPECT_NE(report.find(m.why), std::string::npos) << report;
    // At its statement; an input that has no role stands in none.
    EXPECT_NE(report.find(m.inputs.find("seen") == std::string::npos ? "$.body[" : "'seen'"), std::string::npos)
        << report;
    EXPECT_FALSE(bool(Compiled(m, "require").module));
    return;
  }
  ASSERT_TRUE(c.entry("step")) << c.said;
  for (bool left : {false, true}) {
    compare(c, m, left, {6, 1, 3, 1, 2, 4, 1});
    compare(c, m, left, {2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  }
}
TEST(Cache, NoneIsAsked) {
  Compiled c(models()[0], "none");
  ASSERT_TRUE(bool(c.module)) << c.said;
  EXPECT_FALSE(c.entry("step"));
}

[[maybe_unused]] void PrintTo(const heddle::testing::Model &m, std::ostream *os) { *os << m.name; }

INSTANTIATE_TEST_SUITE_P(Models, Steps, ::testing::ValuesIn(models()), [](const auto &p) { return p.param.name; });

} // namespace
