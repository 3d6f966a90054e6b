//===- EntriesTest.cpp - the derived step against recomputation ------------===//
//
// Every model is run whole on each prefix of a text, and step by step: a prompt, then chunks
// of 1 to 4 rows. The last rows must agree to the rounding of f64, without padding and with
// padding on the left. What cannot be cached must say why. Texts in slots of one state must agree
// as closely, in any company.
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
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
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

  explicit Compiled(const heddle::testing::Model &m, std::string cache = "auto", std::string slots = "none")
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
    pipeline.slots = slots;
    addPasses(pm, "entries", pipeline,
              [](llvm::StringRef flag) { return flag == "model-derive-entries" || flag == "model-derive-batch"; });
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
    // At its statement; an input that has no role is in none.
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
/// Why a model that has a step has no slots, a part of it; empty: it has.
std::string whyNoSlots(const std::string &name) {
  static const std::map<std::string, std::string> reasons = {
      {"MeanAtTheEnd", "rows of all positions are read by something else than one attention"},
      {"MeanAndMaxAfterTheLastLayer", "rows of all positions are read by something else than one attention"},
      {"LearnedRowsBeforeTheKeys", "rows of all positions are read by something else than one attention"},
      {"FirstTokenTellsAll", "a state is kept that is no rows of positions"},
      {"TokenShift", "a state is kept that is no rows of positions"},
      {"TokenShiftByPad", "a state is kept that is no rows of positions"},
      {"CausalConvolution", "a state is kept that is no rows of positions"},
      {"DilatedConvolution", "a state is kept that is no rows of positions"},
      {"LinearAttentionByCumsum", "a state is kept that is no rows of positions"},
      {"Documents", "a state is kept that is no rows of positions"},
      {"WindowOverLabels", "a state is kept that is no rows of positions"},
      {"LatentsThatReadTheText", "a state is kept that is no rows of positions"},
      {"Memory", "a state is kept that is no rows of positions"},
      {"MemoryInARepeat", "a state is kept that is no rows of positions"},
      {"BiasFromATableOfPositions", "the number of past positions is read"},
      {"OwnRelativeScores", "the number of past positions is read"},
      {"MaskChangesAtALength", "a step may order the text to be computed again"},
      {"DynamicPositions", "a step may order the text to be computed again"},
      {"BiasFromWhatBothTokensAre", "rows are kept that are no keys or values"}};
  auto it = reasons.find(name);
  return it == reasons.end() ? "" : it->second;
}

/// Texts of their own in slots of one state, continued in any company and order and begun again over what an older text
/// left, against each text whole and alone.
void compareSlots(Compiled &c, const heddle::testing::Model &m) {
  auto read = [&](llvm::StringRef name) -> mlir::FailureOr<Tensor> { return c.weights.values(name); };
  const int64_t slots = 5, n = 18;
  mlir::func::FuncOp batch = c.entry("batch"), run = c.entry("run");
  std::mt19937 engine(11);
  std::vector<std::vector<int64_t>> texts(slots);
  States states;
  for (int call = 0; call < 24; ++call) {
    // As many tokens of each text, one of each, or one a row and several rows of a text.
    int64_t each = call % 3 == 0 ? 1 + engine() % 5 : 1, most = call % 3 == 1 ? 4 : 1;
    std::vector<int64_t> ids, named, starts;
    for (int64_t slot = 0; slot < slots; ++slot) {
      int64_t rows = engine() % 2 || (named.empty() && slot + 1 == slots) ? 1 + engine() % most : 0;
      std::vector<int64_t> &text = texts[slot];
      if (int64_t(text.size()) + rows * each > n)
        text.clear();
      for (int64_t row = 0; row < rows; ++row) {
        named.push_back(slot);
        starts.push_back(text.size());
        for (int64_t i = 0; i < each; ++i)
          text.push_back(3 + engine() % 10);
      }
    }
    int64_t B = named.size(), past = *std::max_element(starts.begin(), starts.end());
    for (int64_t b = B - 1; b > 0; --b) { // in any order
      int64_t other = engine() % (b + 1);
      std::swap(named[b], named[other]);
      std::swap(starts[b], starts[other]);
    }
    for (int64_t b = 0; b < B; ++b)
      ids.insert(ids.end(), &texts[named[b]][starts[b]], &texts[named[b]][starts[b]] + each);
    Tensors feed{{"ids", Tensor::ofInts({B, each}, ids)},
                 {"slot", Tensor::ofInts({B}, named)},
                 {"start", Tensor::ofInts({B}, starts)}};
    if (m.inputs.find("kinds") != std::string::npos)
      feed["kinds"] = Tensor::ofInts({B, each}, std::vector<int64_t>(B * each, 2));
    // Logits of some of the rows, in any order.
    std::vector<int64_t> asked(B);
    std::iota(asked.begin(), asked.end(), 0);
    std::shuffle(asked.begin(), asked.end(), engine);
    asked.resize(1 + engine() % B);
    feed["asked"] = Tensor::ofInts({int64_t(asked.size())}, asked);
    Dims dims{{"capacity", n}, {"slots", slots}, {"past", past}, {"new", each}};
    mlir::FailureOr<Tensors> got = interpret(batch, feed, dims, &states, read);
    ASSERT_TRUE(succeeded(got)) << c.said;
    const Tensor &have = (*got)["logits"];
    ASSERT_EQ(have.shape[0], int64_t(asked.size()));
    for (size_t i = 0; i < asked.size(); ++i) {
      int64_t b = asked[i];
      int64_t length = starts[b] + each;
      std::vector<int64_t> text(texts[named[b]].begin(), texts[named[b]].begin() + length);
      Tensors alone{{"ids", Tensor::ofInts({1, length}, text)}};
      if (feed.count("kinds"))
        alone["kinds"] = Tensor::ofInts({1, length}, std::vector<int64_t>(length, 2));
      mlir::FailureOr<Tensors> whole = interpret(run, alone, {}, nullptr, read);
      ASSERT_TRUE(succeeded(whole)) << c.said;
      const Tensor &want = (*whole)["logits"];
      int64_t V = want.shape.back();
      double worst = 0, largest = 0;
      for (int64_t v = 0; v < V; ++v) {
        double w = want.reals[want.count() - V + v], h = have.reals[i * V + v];
        worst = std::isnan(h) ? INFINITY : std::max(worst, std::abs(w - h));
        largest = std::max(largest, std::abs(w));
      }
      EXPECT_LE(worst, 1e-12 * largest) << "call " << call << ", slot " << named[b] << ", text of " << length;
    }
  }
}

TEST_P(Steps, InSlots) {
  const heddle::testing::Model &m = GetParam();
  Compiled c(m, "auto", "auto");
  ASSERT_TRUE(bool(c.module)) << c.said;
  std::string why = m.why.empty() ? whyNoSlots(m.name) : "there is no cached step";
  auto said = (*c.module)->getAttrOfType<mlir::StringAttr>("model.slots_report");
  EXPECT_EQ(bool(said), !why.empty()) << (said ? said.str() : "");
  EXPECT_EQ(bool(c.entry("batch")), !said);
  if (said) {
    EXPECT_NE(said.getValue().find(why), llvm::StringRef::npos) << said.str();
    EXPECT_FALSE(bool(Compiled(m, "auto", "require").module));
    return;
  }
  compareSlots(c, m);
}

TEST(Slots, WhatNobodyMayName) {
  Compiled c(models()[0], "auto", "require");
  ASSERT_TRUE(bool(c.module)) << c.said;
  auto read = [&](llvm::StringRef name) -> mlir::FailureOr<Tensor> { return c.weights.values(name); };
  struct Way {
    std::vector<int64_t> slots, starts;
    const char *why;
  };
  for (const Way &way : {Way{{0, 3}, {0, 0}, "slot 3 is not part of the state's 3"},
                         {{-1, 1}, {0, 0}, "slot -1 is not part of"},
                         {{2, 2}, {0, 0}, "position 0 of slot 2 is written twice"},
                         {{0, 1}, {0, 5}, "a text of 5 positions is none of 0 to 4"}}) {
    States states;
    c.said.clear();
    Tensors feed{{"ids", Tensor::ofInts({2, 1}, {4, 5})},
                 {"slot", Tensor::ofInts({2}, way.slots)},
                 {"start", Tensor::ofInts({2}, way.starts)},
                 {"asked", Tensor::ofInts({1}, {1})}};
    Dims dims{{"capacity", 8}, {"slots", 3}, {"past", 4}, {"new", 1}};
    EXPECT_TRUE(failed(interpret(c.entry("batch"), feed, dims, &states, read)));
    EXPECT_NE(c.said.find(way.why), std::string::npos) << c.said;
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
