// LoRA adapters: names and expressions as peft has them, the merged numbers against those of ../shared/lora-cases where
// they are there, and refusals of what does not fit.
#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "compiler/Weights/Adapter/AdapterConfig.h"
#include "compiler/Weights/Adapter/AdapterNames.h"
#include "test/Weights/Support.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {

const std::string loraCases = HEDDLE_LORA_CASES;

//===--- expressions and names -------------------------------------------------===//

ModulePattern pattern(const std::string &text) {
  std::string error;
  std::optional<ModulePattern> made = ModulePattern::compile(text, error);
  EXPECT_TRUE(made) << text << ": " << error;
  return made ? std::move(*made) : *ModulePattern::compile("", error);
}

TEST(ModulePattern, MatchesAsPython) {
  struct Row {
    const char *expression, *module;
    bool whole, end, part;
  };
  const Row rows[] = {
      {"q_proj", "model.layers.0.self_attn.q_proj", false, true, true},
      {"q_proj", "model.layers.0.self_attn.xq_proj", false, false, false},
      {"q_proj", "model.q_proj.base", false, false, true},
      {".*\\.(attn|mlp)\\.(c_attn|c_proj)", "transformer.h.0.attn.c_proj", true, true, true},
      {".*\\.(attn|mlp)\\.(c_attn|c_proj)", "transformer.h.0.mlp.c_fc", false, false, false},
      {"(?:.*?(?:language|text).*?(?:q_proj|v_proj))|(?:\\bmodel\\.layers\\.[\\d]{1,}\\.q_proj)",
       "model.layers.12.q_proj", true, true, true},
      {"mlp\\..*", "model.layers.1.mlp.up_proj", false, true, true},
      {"^model.layers.1.q", "model.layers.1.q", true, true, true},
      {"^layers.1.q", "model.layers.1.q", false, false, false},
      {"(?!.*vision).*q", "model.layers.q", true, true, true},
      {"(?!.*vision).*q", "model.vision.q", false, true, true},
      {"a{2,3}", "aaaa", false, false, false},
      {"a{2,3}", "aaa", true, true, true},
      {"(a|aa){3}b?", "aaaaab", true, true, true},
      {"[^.]*", "model.q", false, true, true},
      {"", "x", false, false, false},
  };
  for (const Row &row : rows) {
    ModulePattern p = pattern(row.expression);
    EXPECT_EQ(p.matches(row.module), row.whole) << row.expression << " " << row.module;
    EXPECT_EQ(p.matchesEnd(row.module), row.end) << row.expression << " " << row.module;
    EXPECT_EQ(p.matchesPart(row.module), row.part) << row.expression << " " << row.module;
    EXPECT_FALSE(p.gaveUp());
  }
  EXPECT_EQ(pattern("layers").layerOf("model.layers.12.q"), 12);
  EXPECT_EQ(pattern("[^.]*").layerOf("model.layers.1.experts.7.w"), 1);
  EXPECT_EQ(pattern("experts").layerOf("model.layers.1.experts.7.w"), 7);
  EXPECT_EQ(pattern("layers").layerOf("layers.12.q"), std::nullopt);
  EXPECT_EQ(pattern("layers").layerOf("model.layers.12"), std::nullopt);
}

TEST(ModulePattern, GivesUp) {
  std::string error, deep = "a";
  for (int i = 0; i < 8; ++i)
    deep = "(?:" + deep + "{1,60}){1,60}";
  std::optional<ModulePattern> made = ModulePattern::compile(deep, error, /*budget=*/1'000'000);
  ASSERT_TRUE(made) << error;
  EXPECT_FALSE(made->matches(std::string(1000, 'a') + "b"));
  EXPECT_TRUE(made->gaveUp());
  for (const char *refused : {"(", "(?>a)", "a++", "\\q", "[a"}) {
    EXPECT_FALSE(ModulePattern::compile(refused, error)) << refused;
    EXPECT_FALSE(error.empty());
  }
  EXPECT_FALSE(ModulePattern::compile(std::string(9000, 'a'), error));
  EXPECT_FALSE(pattern("a*").matches(std::string(5000, 'a')));
}

TEST(AdapterName, OfTensors) {
  struct Row {
    const char *tensor;
    AdapterPart part;
    const char *module;
    unsigned wrappers;
  };
  const Row rows[] = {
      {"base_model.model.model.layers.0.q.lora_A.weight", AdapterPart::A, "model.layers.0.q", 0},
      {"base_model.model.q.lora_B.default.weight", AdapterPart::B, "q", 0},
      {"base_model.model.q.lora_B.bias", AdapterPart::BiasB, "q", 0},
      {"base_model.model.e.lora_embedding_A", AdapterPart::EmbeddingA, "e", 0},
      {"base_model.model.e.lora_embedding_B.default", AdapterPart::EmbeddingB, "e", 0},
      {"base_model.model.q.lora_magnitude_vector.weight", AdapterPart::Magnitude, "q", 0},
      {"base_model.model.q.lora_magnitude_vector.default.weight", AdapterPart::Magnitude, "q", 0},
      {"base_model.model.e.token_adapter.trainable_tokens_delta", AdapterPart::Tokens, "e", 0},
      {"base_model.model.mlp.experts.base_layer.lora_A.weight", AdapterPart::A, "mlp.experts", 1},
      {"base_model.model.lm_head.base_layer.weight", AdapterPart::Whole, "lm_head.weight", 0},
      {"base_model.model.query.base_layer.bias", AdapterPart::Whole, "query.bias", 0},
      {"base_model.model.classifier.modules_to_save.default.weight", AdapterPart::Whole, "classifier.weight", 0},
      {"base_model.model.q.lora_A.other.weight", AdapterPart::Whole, "q.lora_A.other.weight", 0},
      {"classifier.weight", AdapterPart::Whole, "classifier.weight", 0},
  };
  for (const Row &row : rows) {
    AdapterName name = AdapterName::of(row.tensor);
    EXPECT_EQ(int(name.part), int(row.part)) << row.tensor;
    EXPECT_EQ(name.module, row.module) << row.tensor;
    EXPECT_EQ(name.wrappers, row.wrappers) << row.tensor;
  }
}

TEST(AdapterChoice, Texts) {
  std::string error;
  for (const char *text : {"a:1", "a/b:0.25", "a:b:-2", "a:1e+30"}) {
    std::optional<AdapterChoice> choice = AdapterChoice::parse(text, error);
    ASSERT_TRUE(choice) << text << error;
    EXPECT_EQ(choice->text(), text);
  }
  EXPECT_EQ(AdapterChoice::parse("a", error)->text(), "a:1");
  EXPECT_EQ(AdapterChoice::parse("a:.5", error)->scale, 0.5);
  for (const char *text : {"", ":1", "a:", "a:x", "a:nan", "a:inf", "a:1e999"})
    EXPECT_FALSE(AdapterChoice::parse(text, error)) << text;
}

//===--- numbers ----------------------------------------------------------------===//

std::vector<float> numbersOf(const WeightStore &store, const StoredTensor &tensor) {
  std::vector<float> all(tensor.elements());
  absl::Status status = store.readF32(tensor, 0, all);
  EXPECT_TRUE(status.ok()) << text(status);
  return all;
}

/// The adapters that a case's meta.json names.
std::vector<AdapterChoice> adaptersOf(const std::string &folder) {
  std::vector<AdapterChoice> choices;
  llvm::Expected<llvm::json::Value> meta = llvm::json::parse(slurp(folder + "/meta.json"));
  if (!meta)
    return choices;
  for (const llvm::json::Value &one : *meta->getAsObject()->getArray("adapters"))
    choices.push_back(
        {folder + "/" + one.getAsObject()->getString("folder")->str(), *one.getAsObject()->getNumber("scale")});
  return choices;
}

TEST(Adapter, MergesTheSharedCases) {
  if (!std::filesystem::exists(loraCases))
    GTEST_SKIP() << "there is no " << loraCases;
  size_t compared = 0;
  for (const auto &entry : std::filesystem::directory_iterator(loraCases)) {
    std::string folder = entry.path();
    if (!std::filesystem::exists(folder + "/meta.json"))
      continue;
    std::vector<std::string> base = {folder + "/base/model.safetensors"};
    absl::StatusOr<WeightStore> plain = WeightStore::openFiles(base);
    absl::StatusOr<WeightStore> store = WeightStore::openCoded(base, "", adaptersOf(folder));
    absl::StatusOr<WeightStore> merged = WeightStore::openFiles({folder + "/merged.safetensors"});
    ASSERT_OK(plain.status());
    ASSERT_OK(store.status());
    ASSERT_OK(merged.status());
    EXPECT_EQ(store->files(), plain->files());
    for (const StoredTensor &tensor : store->tensors()) {
      const StoredTensor *want = merged->find(tensor.name());
      std::vector<float> got = numbersOf(*store, tensor);
      std::vector<float> right = want ? numbersOf(*merged, *want) : numbersOf(*plain, *plain->find(tensor.name()));
      ASSERT_EQ(got.size(), right.size());
      double worst = 0, largest = 0;
      for (size_t i = 0; i < got.size(); ++i) {
        worst = std::max(worst, std::fabs(double(got[i]) - double(right[i])));
        largest = std::max(largest, std::fabs(double(right[i])));
      }
      EXPECT_LE(worst, want ? 1e-6 * largest : 0) << folder << " " << tensor.name().str();
      compared += want != nullptr;
      // In pieces that begin and end anywhere.
      for (uint64_t at = 0; at < got.size(); at += 37) {
        std::vector<float> some(std::min<uint64_t>(37, got.size() - at));
        ASSERT_OK(store->readF32(tensor, at, some));
        EXPECT_EQ(some, std::vector<float>(got.begin() + at, got.begin() + at + some.size()));
      }
    }
    EXPECT_OK(store->recheck());
  }
  EXPECT_GT(compared, 60u);
}

//===--- what does not fit ------------------------------------------------------===//

std::vector<float> ramp(size_t count, float first = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = first + float(i % 7) / 8;
  return values;
}

Tensor tensor(const std::string &name, std::vector<int64_t> shape, float first = 1) {
  size_t count = 1;
  for (int64_t n : shape)
    count *= size_t(n);
  return {name, "F32", shape, bytesOf(ramp(count, first))};
}

/// A base with a matrix, a table, a vector and a convolution.
std::string makeBase(const Directory &folder) {
  return folder.write("base.safetensors",
                      goodFile({tensor("conv.weight", {2, 3, 3}), tensor("model.e.weight", {5, 3}),
                                tensor("model.norm.weight", {3}), tensor("model.q.weight", {4, 3})}));
}

const std::string a = "base_model.model.model.q.lora_A.weight", b = "base_model.model.model.q.lora_B.weight";

/// The problem of merging one adapter; none where it is merged and read.
absl::Status tryAdapter(const std::string &config, const std::vector<Tensor> &tensors, double scale = 1) {
  Directory folder;
  std::string base = makeBase(folder);
  folder.write("adapter_config.json", config);
  folder.write("adapter_model.safetensors", goodFile(tensors));
  absl::StatusOr<WeightStore> store = WeightStore::openCoded({base}, "", AdapterChoice{folder.path, scale});
  if (!store.ok())
    return store.status();
  for (const StoredTensor &one : store->tensors()) {
    std::vector<float> all(one.elements());
    if (absl::Status status = store->readF32(one, 0, all); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

const std::string plain =
    R"({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q", "e", "conv", "norm"]})";

TEST(Adapter, IsMerged) {
  EXPECT_OK(tryAdapter(plain, {tensor(a, {2, 3}), tensor(b, {4, 2})}));
  EXPECT_OK(tryAdapter(plain, {tensor("q.lora_A.weight", {2, 3}), tensor("q.lora_B.default.weight", {4, 2})}));
  // A tied head that peft wrote next to the table.
  EXPECT_OK(tryAdapter(plain, {tensor("base_model.model.lm_head.weight", {5, 3}),
                               tensor("base_model.model.model.e.base_layer.weight", {5, 3})}));
}

TEST(Adapter, IsRefused) {
  Tensor nan = tensor(a, {2, 3});
  float bad = NAN;
  nan.bytes.replace(4, 4, std::string(reinterpret_cast<const char *>(&bad), 4));
  Tensor huge = tensor(a, {2, 3}, 3e38f), huge2 = tensor(b, {4, 2}, 3e38f);
  auto with = [](const std::string &more) { return plain.substr(0, plain.size() - 1) + ", " + more + "}"; };
  struct Row {
    std::string config;
    std::vector<Tensor> tensors;
    const char *says;
    double scale = 1;
  };
  std::vector<Tensor> pair = {tensor(a, {2, 3}), tensor(b, {4, 2})};
  const Row rows[] = {
      {plain, {tensor(a, {2, 3})}, "half of a pair: lora_B is missing"},
      {plain, {tensor(b, {4, 2})}, "half of a pair: lora_A is missing"},
      {plain, {nan, tensor(b, {4, 2})}, "element 1 of the adapter's tensor is NaN"},
      {plain, {huge, huge2}, "of the merged tensor is no finite number"},
      {plain, {tensor(a, {3, 3}), tensor(b, {4, 3})}, "has the rank 3, and adapter_config.json says 2"},
      {plain, {tensor(a, {2, 3}), tensor(b, {4, 3})}, "does not fit `model.q.weight` of the base, which is [4, 3]"},
      {plain, {tensor(a, {2, 4}), tensor(b, {3, 2})}, "B A [3, 4] does not fit"},
      {plain, {tensor(a, {0, 3}), tensor(b, {4, 0})}, "has the rank 0"},
      {plain, {tensor(a, {2, 3, 1}), tensor(b, {4, 2, 1})}, "is a convolution"},
      {plain,
       {tensor("base_model.model.norm.lora_A.weight", {2, 3}), tensor("base_model.model.norm.lora_B.weight", {3, 2})},
       "does not fit `model.norm.weight`"},
      {plain,
       {pair[0], pair[1], tensor("base_model.model.model.q.lora_A.default.weight", {2, 3})},
       "in another spelling"},
      {plain,
       {tensor("base_model.model.other.q.lora_A.weight", {2, 3}),
        tensor("base_model.model.other.q.lora_B.weight", {4, 2})},
       "`other.q` is nothing of the base"},
      {plain,
       {tensor("base_model.model.k.lora_A.weight", {2, 3}), tensor("base_model.model.k.lora_B.weight", {4, 2})},
       "`k` is not among the targets"},
      {plain,
       {tensor("base_model.model.model.e.base_layer.weight", {7, 3})},
       "has 7 rows for `model.e.weight`, and the base has 5"},
      {plain, {tensor("base_model.model.score.weight", {5, 3})}, "`score.weight` is nothing of the base"},
      {plain, {tensor("base_model.model.model.e.lora_embedding_A", {2, 5})}, "half of a pair"},
      {plain,
       {pair[0], pair[1], tensor("base_model.model.model.q.lora_magnitude_vector", {4})},
       "does not say use_dora"},
      {with("\"use_dora\": true"), pair, "has no magnitude"},
      {with("\"use_dora\": true"),
       {pair[0], pair[1], tensor("base_model.model.model.q.lora_magnitude_vector", {3})},
       "a magnitude [3]"},
      {plain, {pair[0], pair[1], tensor("base_model.model.model.q.lora_B.bias", {4})}, "of the base has none"},
      {plain, {pair[0], pair[1], tensor("base_model.model.model.q.lora_A.bias", {2})}, "lora_A has a bias"},
      {with("\"trainable_token_indices\": [1, 9]"),
       {tensor("base_model.model.model.e.token_adapter.trainable_tokens_delta", {2, 3})},
       "has the row 9"},
      {with("\"trainable_token_indices\": {\"e\": [1, 1]}"),
       {tensor("base_model.model.model.e.token_adapter.trainable_tokens_delta", {2, 3})},
       "has the row 1 twice"},
      {with("\"trainable_token_indices\": [1]"),
       {tensor("base_model.model.model.e.token_adapter.trainable_tokens_delta", {2, 3})},
       "it has 2 rows, and trainable_token_indices 1"},
      {plain,
       {tensor("base_model.model.model.e.token_adapter.trainable_tokens_delta", {2, 3})},
       "does not name this module"},
      {with("\"modules_to_save\": [\"e\"]"), pair, "`modules_to_save`: the adapter replaces whole tensors", 0.5},
      {plain, {}, "the adapter has no tensors"},
      {plain, {{a, "I64", {2, 3}, std::string(48, '\0')}, pair[1]}, "expected real numbers, got I64"},
      {"[]", pair, "expected an object, got a list"},
      {"{\"r\": 2, \"r\": 2}", pair, "the key `r` occurs twice"},
      {"{\"r\": 2", pair, "this is not JSON from here on"},
      {"{\"r\": 2} x", pair, "something follows the object"},
      {"{\"r\": 1e999}", pair, "a number is too large"},
      {"{\"r\": 2.5}", pair, "`r`: expected a whole number from 1 on"},
      {"{\"r\": 0}", pair, "`r`: expected a whole number from 1 on"},
      {"{\"use_dora\": 1}", pair, "`use_dora`: expected true or false, got a number"},
      {"{\"target_modules\": [1]}", pair, "`target_modules`: expected a name, got a number"},
      {"{\"target_modules\": \"(\"}", pair, "`target_modules`: the expression `(` is not read"},
      {"{\"rank_pattern\": {\"q\": \"x\"}}", pair, "`rank_pattern`: expected a whole number"},
      {"{\"peft_type\": \"IA3\", \"target_modules\": 3}", pair, "kind `IA3`"},
      {"{\"megatron_config\": {\"a\": 1}}", pair, "`megatron_config`: it is used"},
      {"{\"init_lora_weights\": \"pissa_niter_4\"}", pair,
       "`init_lora_weights`: `pissa_niter_4` changes the base's weights"},
      {"{\"a_new_key\": false}", pair, "`a_new_key`: this key is not known"},
  };
  for (const Row &row : rows) {
    WeightProblem problem = refusal(tryAdapter(row.config, row.tensors, row.scale));
    EXPECT_NE(problem.message.find(row.says), std::string::npos) << row.says << "\n" << problem.message;
    EXPECT_TRUE(problem.code == Error::BadAdapter || problem.code == Error::AdapterUnsupported) << problem.message;
  }
}

TEST(Adapter, NeedsItsFiles) {
  Directory folder;
  std::string base = makeBase(folder);
  auto open = [&](const std::string &path) {
    return refusal(WeightStore::openCoded({base}, "", AdapterChoice{path, 1}).status()).message;
  };
  EXPECT_EQ(open(folder / "none"), "expected the folder of a LoRA adapter");
  EXPECT_EQ(open(base), "expected the folder of a LoRA adapter");
  EXPECT_EQ(open(folder.path), "the folder of a LoRA adapter has no adapter_config.json");
  folder.write("adapter_config.json", plain);
  EXPECT_NE(open(folder.path).find("No such file"), std::string::npos) << open(folder.path);
  folder.write("adapter_model.bin", "x");
  EXPECT_EQ(open(folder.path), "the adapter is a pickle, which is never read: it can run code");
}

} // namespace
