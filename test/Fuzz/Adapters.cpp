// LoRA adapters that a stranger wrote.
//   heddle_fuzz_adapters [--runs=N] [--seed=S]
// An adapter of one small base is made of parts that fit, then damaged: a tensor dropped, renamed, of another shape or
// type, with odd numbers, a config with other values or with bytes changed. What is merged is read whole and in parts,
// which must agree; what is refused must say where and why. Counts by part show that both happen. A crash or a report
// of a sanitizer is the finding.
#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/WeightStore.h"
#include "test/Fuzz/WeightFiles.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

using namespace heddle;
using namespace heddle::fuzz;

namespace {

struct Piece {
  std::string name, type;
  std::vector<int64_t> shape;
};

std::string fileOf(const std::vector<Piece> &pieces, Random &r, bool odd) {
  std::string header = "{", data;
  for (const Piece &piece : pieces) {
    int64_t count = 1;
    for (int64_t n : piece.shape)
      count *= n;
    size_t begin = data.size();
    for (int64_t i = 0; i < count; ++i) {
      float x =
          odd && r.oneIn(40) ? r.pick<float>({NAN, INFINITY, 3e38f, 0, -0.f, 1e-45f}) : float(r.below(65) - 32) / 16;
      uint32_t bits;
      std::memcpy(&bits, &x, 4);
      double wide = x;
      if (piece.type == "F64")
        data.append(reinterpret_cast<char *>(&wide), 8);
      else if (piece.type == "F32")
        data.append(reinterpret_cast<char *>(&bits), 4);
      else if (piece.type == "I64")
        data.append(8, '\1');
      else // BF16, and bits of F16
        data.append(reinterpret_cast<char *>(&bits) + 2, 2);
    }
    header += (header.size() > 1 ? ",\"" : "\"") + piece.name + "\":{\"dtype\":\"" + piece.type + "\",\"shape\":[";
    for (size_t i = 0; i < piece.shape.size(); ++i)
      header += (i ? "," : "") + std::to_string(piece.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i)
    length[i] = char(header.size() >> (8 * i));
  return length + header + data;
}

const std::vector<Piece> baseTensors = {
    {"model.q.weight", "F32", {4, 3}},
    {"model.q.bias", "F32", {4}},
    {"model.c.weight", "BF16", {3, 4}},
    {"model.e.weight", "F32", {5, 3}},
    {"model.norm.weight", "F32", {3}},
    {"model.block_sparse_moe.experts.0.w1.weight", "F32", {2, 3}},
    {"model.block_sparse_moe.experts.0.w2.weight", "F32", {3, 2}},
    {"model.block_sparse_moe.experts.0.w3.weight", "F32", {2, 3}},
    {"model.block_sparse_moe.experts.1.w1.weight", "F32", {2, 3}},
    {"model.block_sparse_moe.experts.1.w2.weight", "F32", {3, 2}},
    {"model.block_sparse_moe.experts.1.w3.weight", "F32", {2, 3}},
    {"stack.experts.gate_up_proj", "F32", {2, 4, 3}},
    {"stack.experts.down_proj", "F32", {2, 3, 2}},
};

/// An adapter, its config, and the part of it that counts are by.
struct Adapter {
  std::string part, config;
  std::vector<Piece> pieces;
};

Adapter make(Random &r) {
  Adapter a;
  int64_t rank = 1 + r.below(3);
  std::string more, p = r.oneIn(4) ? "" : "base_model.model.";
  auto add = [&](const std::string &name, std::vector<int64_t> shape) {
    a.pieces.push_back({p + name, r.pick<std::string>({"F32", "F32", "BF16", "F16", "F64"}), std::move(shape)});
  };
  auto pair = [&](const std::string &module, int64_t in, int64_t out) {
    add(module + ".lora_A.weight", {rank, in});
    add(module + (r.oneIn(4) ? ".lora_B.default.weight" : ".lora_B.weight"), {out, rank});
  };
  bool dora = r.oneIn(4);
  switch (r.below(7)) {
  case 0:
    a.part = "linear";
    pair("model.q", 3, 4);
    if (dora)
      add("model.q.lora_magnitude_vector", {4});
    else if (r.oneIn(3))
      add("model.q.lora_B.bias", {4});
    break;
  case 1:
    a.part = "Conv1D";
    pair("c", 3, 4);
    more += ", \"fan_in_fan_out\": true";
    if (dora)
      add("c.lora_magnitude_vector.weight", {4});
    break;
  case 2:
    a.part = "table";
    add("model.e.lora_embedding_A", {rank, 5});
    add("model.e.lora_embedding_B", {3, rank});
    if (dora)
      add("model.e.lora_magnitude_vector", {1, 3});
    break;
  case 3:
    a.part = "rows";
    dora = false;
    add("model.e.token_adapter.trainable_tokens_delta", {2, 3});
    more += r.oneIn(2) ? ", \"trainable_token_indices\": [1, 4]" : ", \"trainable_token_indices\": {\"e\": [0, 3]}";
    break;
  case 4:
    a.part = "whole";
    dora = false;
    add("model.norm.modules_to_save.weight", {3});
    add("model.e.base_layer.weight", {5, 3});
    more += ", \"modules_to_save\": [\"norm\"]";
    break;
  default: {
    dora = false;
    bool stack = r.oneIn(2);
    a.part = stack ? "stack" : "experts";
    std::string m = stack ? "stack.experts" : "model.mlp.experts";
    add(m + ".base_layer.lora_A.weight", {2 * rank, 3});
    add(m + ".base_layer.lora_B.weight", {4, 2 * rank});
    add(m + ".lora_A.weight", {2 * rank, 2});
    add(m + ".lora_B.weight", {3, 2 * rank});
    more += ", \"target_parameters\": [\"experts.down_proj\", \"experts.gate_up_proj\"]";
  }
  }
  const std::string targets[] = {"[\"q\", \"c\", \"e\"]", "\".*\"", "\"(?:model\\\\.)?[qce]\"", "\"all-linear\"",
                                 "[\"model.q\", \"c\", \"model.e\"]"};
  a.config = "{\"peft_type\": \"LORA\", \"r\": " + std::to_string(r.oneIn(3) ? 1 + r.below(3) : rank) +
             ", \"rank_pattern\": {\"[qce]\": " + std::to_string(rank) +
             ", \"experts\\\\..*\": " + std::to_string(rank) +
             "}, \"lora_alpha\": 2, \"target_modules\": " + r.pick(targets) + (dora ? ", \"use_dora\": true" : "") +
             more + "}";
  return a;
}

void damage(Adapter &a, Random &r) {
  const char *words[] = {"null",      "true", "-1", "1e400", "[]", "{}", "\"(\"", "\"a*\"", "[[1]]", "9007199254740993",
                         "\"pissa\"", "0.5"};
  const char *keys[] = {
      "exclude_modules",   "layers_to_transform", "layers_pattern", "alpha_pattern", "use_rslora",     "bias",
      "init_lora_weights", "use_qalora",          "lora_bias",      "new_key",       "megatron_config"};
  if (a.config.empty()) // by the damage before this one
    a.config = "{}";
  Piece *piece = a.pieces.empty() ? nullptr : &a.pieces[r.below(int64_t(a.pieces.size()))];
  switch (r.below(piece ? 9 : 3)) {
  case 0: a.config.insert(a.config.size() - 1, std::string(", \"") + r.pick(keys) + "\": " + r.pick(words)); break;
  case 1: {
    size_t at = r.below(int64_t(a.config.size()));
    a.config[at] = char(r.oneIn(2) ? 0x20 + r.below(95) : r.next());
    break;
  }
  case 2: a.config.resize(r.below(int64_t(a.config.size()))); break;
  case 3: a.pieces.erase(a.pieces.begin() + (piece - a.pieces.data())); break;
  case 4:
    if (!piece->shape.empty())
      piece->shape[r.below(int64_t(piece->shape.size()))] = r.below(7);
    break;
  case 5:
    r.oneIn(2) ? piece->shape.push_back(r.below(3))
               : (void)(piece->shape.size() > 1 ? piece->shape.pop_back() : void());
    break;
  case 6: piece->type = r.pick<std::string>({"I64", "F64", "BF16"}); break;
  case 7: a.pieces.push_back({"base_model." + piece->name, piece->type, piece->shape}); break;
  default: {
    const std::string parts[] = {"lora_A", "lora_B", "lora_magnitude_vector", "base_layer", "token_adapter", "experts",
                                 "model",  ""};
    size_t at = piece->name.find('.');
    piece->name =
        piece->name.substr(0, at) + "." + r.pick(parts) + piece->name.substr(at == std::string::npos ? 0 : at);
  }
  }
}

/// A refusal of an adapter says how to mend it, too.
std::string refusedWithHelp(const absl::Status &status) {
  std::string code = refused(status);
  require(!problemOf(status)->help.empty(), "a refusal without help");
  return code;
}

std::string verdict(const std::string &file, llvm::ArrayRef<AdapterChoice> adapters, Random &r) {
  absl::StatusOr<WeightStore> store = WeightStore::openCoded({file}, "", adapters);
  if (!store.ok())
    return refusedWithHelp(store.status());
  std::string what = "unchanged";
  for (const StoredTensor &tensor : store->tensors()) {
    if (!tensor.coded)
      continue;
    std::vector<float> all(tensor.elements());
    if (absl::Status status = store->readF32(tensor, 0, all); !status.ok())
      return refusedWithHelp(status);
    for (float x : all)
      require(std::isfinite(x), "a merged number that is not finite");
    uint64_t from = r.below(int64_t(all.size())), count = 1 + r.below(int64_t(all.size() - from));
    std::vector<float> some(count);
    require(store->readF32(tensor, from, some).ok(), "a part that cannot be read");
    require(!std::memcmp(some.data(), all.data() + from, count * 4), "a part that is not the whole's");
    what = "merged";
  }
  return what;
}

void write(const std::string &path, const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }

} // namespace

int main(int argc, char **argv) {
  uint64_t runs = 20000, seed = 1;
  if (!readArguments(argc, argv, runs, seed))
    return 2;
  Random random(seed);
  std::string folder = (std::filesystem::temp_directory_path() / "heddle-adapters-XXXXXX").string();
  require(mkdtemp(folder.data()), "no folder");
  std::string file = folder + "/base.safetensors";
  write(file, fileOf(baseTensors, random, /*odd=*/false));
  std::map<std::string, std::map<std::string, uint64_t>> counts;
  auto start = std::chrono::steady_clock::now();
  for (uint64_t run = 0; run < runs; ++run) {
    Adapter adapter = make(random);
    for (int64_t times = random.below(3); times > 0; --times)
      damage(adapter, random);
    std::string bytes = fileOf(adapter.pieces, random, random.oneIn(4));
    if (random.oneIn(10))
      bytes[random.below(int64_t(bytes.size()))] ^= char(1 << random.below(8));
    write(folder + "/adapter_config.json", adapter.config);
    write(folder + "/adapter_model.safetensors", bytes);
    std::vector<AdapterChoice> choices(1 + random.below(2), AdapterChoice{folder, random.pick({1., 1., .5, -2.})});
    ++counts[adapter.part][verdict(file, choices, random)];
  }
  std::filesystem::remove_all(folder);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (auto &[part, verdicts] : counts) {
    std::printf("%s:", part.c_str());
    for (auto &[what, count] : verdicts)
      std::printf(" %s %llu;", what.c_str(), (unsigned long long)count);
    std::printf("\n");
  }
  std::printf("%llu adapters, seed %llu, %.1f s, 0 findings\n", (unsigned long long)runs, (unsigned long long)seed,
              seconds);
  return 0;
}
