// The good models, and running the importer on them. The only file here that knows MLIR.
#include "test/ImportUnit/Support.h"

#include "compiler/Import/Import.h"
#include "mlir/IR/MLIRContext.h"
#include <chrono>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

Case Case::edit(const std::string &from, const std::string &to) const {
  Case c = *this;
  std::string &where = c.text.find(from) != std::string::npos ? c.text : c.config;
  size_t at = where.find(from);
  EXPECT_NE(at, std::string::npos) << "nothing to edit: " << from;
  if (at == std::string::npos)
    return c;
  EXPECT_EQ(where.find(from, at + 1), std::string::npos) << "occurs twice: " << from;
  where.replace(at, from.size(), to);
  return c;
}
Case Case::tensor(const std::string &name, std::vector<int64_t> shape) const {
  Case c = *this;
  c.tensors[name] = std::move(shape);
  return c;
}
Case Case::without(const std::string &name) const {
  Case c = *this;
  EXPECT_EQ(c.tensors.erase(name), 1u) << name;
  return c;
}

Outcome heddle::test::import(const Case &c) {
  ImportOptions options;
  if (c.config.empty()) {
    options.path = "model.json";
    options.text = c.text;
  } else {
    options.path = "config.json";
    options.configText = c.config;
  }
  options.sets = c.sets;
  options.families.own = c.families;
  options.outputsAll = c.outputsAll;
  options.weightsOptional = c.withoutWeights;
  PlainWeightTable table;
  for (auto &[name, shape] : c.tensors)
    table.tensors[name] = {shape, WeightTable::Element::Real};
  table.different = c.different;
  if (!c.withoutWeights)
    options.weights = &table;

  DiagnosticSink sink;
  Outcome out;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto start = std::chrono::steady_clock::now();
  mlir::OwningOpRef<mlir::ModuleOp> module = importModel(context, options, sink);
  out.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  out.ok = static_cast<bool>(module);
  out.exitCode = sink.exitCode();
  llvm::raw_string_ostream messages(out.messages), ir(out.ir);
  sink.print(messages);
  if (module)
    module->print(ir);
  return out;
}

size_t heddle::test::count(const std::string &text, const std::string &part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

Case heddle::test::encoder() {
  Case c;
  c.text = R"json({
  "heddle": 1, "name": "encoder",
  "config": {"vocab": 11, "width": 8, "layers": 2, "heads": 2, "inner": 16, "pad": 0},
  "dims": {"T": 32},
  "inputs": {"ids": "i64[B,T]"},
  "weights": {
    "file": "model.safetensors",
    "names": {"q": "wq", "k": "wk", "v": "wv", "o": "wo", "up": "lin1", "down": "lin2"},
    "tied": {"head.weight": "embed.weight"},
    "ignored": {"positions kept as a buffer": ["pos.pe"]}
  },
  "defaults": {"encoder_layer": {"heads": "=heads", "inner": "=inner"}},
  "body": [
    {"real": "=keys(ids != pad)"},
    {"words": {"embedding": "ids", "rows": "=vocab", "width": "=width", "weights": "embed"}},
    {"places": {"sinusoidal": "=range(T)", "width": "=width"}},
    {"x": "=words * sqrt(width) + places"},
    {"repeat": "=layers", "index": "i", "weights": "layers.{i}", "body": [
      {"hidden_states.{i}": "=x"},
      {"x": {"encoder_layer": "x", "mask": "=real"}}]},
    {"memory": "=x"},
    {"logits": {"linear": "memory", "out": "=vocab", "bias": false, "weights": "head"}}
  ],
  "outputs": ["logits", "hidden_states.*"]
})json";
  c.tensors["embed.weight"] = {11, 8};
  for (int i = 0; i < 2; ++i) {
    std::string layer = "layers." + std::to_string(i) + ".";
    for (const char *w : {"wq", "wk", "wv", "wo"}) {
      c.tensors[layer + "self_attn." + w + ".weight"] = {8, 8};
      c.tensors[layer + "self_attn." + w + ".bias"] = {8};
    }
    c.tensors[layer + "ff.lin1.weight"] = {16, 8};
    c.tensors[layer + "ff.lin1.bias"] = {16};
    c.tensors[layer + "ff.lin2.weight"] = {8, 16};
    c.tensors[layer + "ff.lin2.bias"] = {8};
    for (const char *n : {"norm1", "norm2"})
      for (const char *kind : {".weight", ".bias"})
        c.tensors[layer + n + kind] = {8};
  }
  return c;
}

Case heddle::test::gpt2(int64_t layers, int64_t width, int64_t heads, int64_t vocab, int64_t positions) {
  Case c;
  auto n = [](int64_t v) { return std::to_string(v); };
  c.config = R"json({
  "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "activation_function": "gelu_new",
  "eos_token_id": 0, "layer_norm_epsilon": 1e-05, "is_encoder_decoder": false,
  "n_embd": )json" +
             n(width) + ",\n  \"n_head\": " + n(heads) + ",\n  \"n_layer\": " + n(layers) +
             ",\n  \"n_positions\": " + n(positions) + ",\n  \"vocab_size\": " + n(vocab) + "\n}";
  std::string p = "transformer.";
  c.tensors[p + "wte.weight"] = {vocab, width};
  c.tensors[p + "wpe.weight"] = {positions, width};
  auto linear = [&](const std::string &name, int64_t in, int64_t out) {
    c.tensors[name + ".weight"] = {in, out};
    c.tensors[name + ".bias"] = {out};
  };
  auto norm = [&](const std::string &name) {
    c.tensors[name + ".weight"] = {width};
    c.tensors[name + ".bias"] = {width};
  };
  for (int64_t i = 0; i < layers; ++i) {
    std::string h = p + "h." + n(i) + ".";
    norm(h + "ln_1");
    norm(h + "ln_2");
    linear(h + "attn.c_attn", width, 3 * width);
    linear(h + "attn.c_proj", width, width);
    linear(h + "mlp.c_fc", width, 4 * width);
    linear(h + "mlp.c_proj", 4 * width, width);
  }
  norm(p + "ln_f");
  return c;
}
