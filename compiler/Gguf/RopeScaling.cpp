//===- RopeScaling.cpp - How rotary positions are stretched ---------------===//

#include "compiler/Gguf/KeyExpressions.h"
#include "compiler/Weights/Gguf/GgufTensors.h"
#include "heddle/printable.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace heddle {

using Value = ConfigValue;

/// The double nearest to the shortest decimal that reads back as the f32.
static double shortest(float x) {
  for (int digits = 6; digits < 10; ++digits) {
    char text[32];
    snprintf(text, sizeof text, "%.*g", digits, double(x));
    if (strtof(text, nullptr) == x)
      return strtod(text, nullptr);
  }
  return x;
}

/// The numbers of a tensor of one dimension.
static absl::StatusOr<std::vector<float>> numbersOf(const GgufFile &file, const GgufTensor &tensor) {
  if (isWhole(tensor.type) || tensor.shape.size() != 1)
    return file.damaged(tensor, "a list of numbers is needed");
  std::vector<float> numbers(size_t(tensor.shape[0]));
  GgufSource source(file, tensor);
  if (absl::Status status = source.readRows(0, numbers); !status.ok())
    return status;
  return numbers;
}

/// From what each frequency is divided by: Llama 3's parameters, if the divisors are theirs, as in the config.json of
/// the checkpoint; else the divisors themselves.
static absl::StatusOr<Value> fromDivisors(const GgufFile &file, const GgufTensor &tensor, double theta, int64_t width) {
  absl::StatusOr<std::vector<float>> divisors = numbersOf(file, tensor);
  if (!divisors.ok())
    return divisors.status();
  if (int64_t(divisors->size()) * 2 != width)
    return file.damaged(tensor, "it has " + std::to_string(divisors->size()) + " divisors, heads turn in " +
                                    std::to_string(width / 2) + " pairs");
  if (std::all_of(divisors->begin(), divisors->end(), [](float x) { return x == 1; }))
    return Value();
  constexpr double low = 1, high = 4;
  for (int64_t factor = 2; factor <= 64; factor *= 2)
    for (int64_t trained = 16; trained <= 1 << 17; trained *= 2) {
      auto fits = [&](size_t i) {
        double wave = 2 * M_PI * std::pow(theta, double(2 * i) / double(width));
        double smooth = (double(trained) / wave - low) / (high - low);
        double want = wave < double(trained) / high  ? 1
                      : wave > double(trained) / low ? double(factor)
                                                     : 1 / ((1 - smooth) / double(factor) + smooth);
        return std::fabs(want - (*divisors)[i]) <= 1e-8 + 2e-5 * std::fabs((*divisors)[i]);
      };
      size_t i = 0;
      while (i < divisors->size() && fits(i))
        ++i;
      if (i == divisors->size())
        return Value{{"rope_type", "llama3"},
                     {"factor", double(factor)},
                     {"low_freq_factor", low},
                     {"high_freq_factor", high},
                     {"original_max_position_embeddings", trained}};
    }
  Value out = {{"rope_type", "divisors"}};
  for (auto [i, x] : llvm::enumerate(*divisors)) {
    if (x <= 0)
      return file.damaged(tensor, "a divisor of a frequency is more than 0, number " + std::to_string(i) + " is not");
    out["divisors"].push_back(shortest(x));
  }
  return out;
}

absl::StatusOr<Value> ropeScaling(const GgufFile &file, llvm::StringRef architecture, KeyExpressions &keys) {
  absl::Status failed;
  auto get = [&](llvm::StringRef name) {
    absl::StatusOr<Value> found = keys.key(name);
    if (!found.ok() && failed.ok())
      failed = found.status();
    return found.ok() ? *found : Value();
  };
  auto number = [&](const Value &v, double otherwise) { return v.is_number() ? v.get<double>() : otherwise; };
  Value kind = get("rope.scaling.type"), factor = get("rope.scaling.factor");
  if (factor.is_null())
    factor = get("rope.scale_linear");
  Value attention = get("rope.scaling.attn_factor"), original = get("rope.scaling.original_context_length");
  Value theta = get("rope.freq_base"), context = get("context_length");
  if (!failed.ok())
    return failed;
  if (const GgufTensor *far = file.tensor("rope_factors_long.weight")) {
    Value out = {{"rope_type", "longrope"}};
    const GgufTensor *near = file.tensor("rope_factors_short.weight");
    if (!near)
      return file.damaged(*far, "the tensor `rope_factors_short.weight` is missing");
    for (auto [name, tensor] : {std::pair("long_factor", far), std::pair("short_factor", near)}) {
      absl::StatusOr<std::vector<float>> numbers = numbersOf(file, *tensor);
      if (!numbers.ok())
        return numbers.status();
      for (float x : *numbers)
        out[name].push_back(shortest(x));
    }
    if (!attention.is_null())
      out["attention_factor"] = attention;
    return out;
  }
  if (const GgufTensor *tensor = file.tensor("rope_freqs.weight")) {
    std::optional<int64_t> width = ggufInteger(file, architecture, "rope.dimension_count");
    width = width && *width > 0 ? width : ggufInteger(file, architecture, "attention.key_length");
    std::optional<int64_t> all = ggufInteger(file, architecture, "embedding_length"),
                           heads = ggufInteger(file, architecture, "attention.head_count");
    if (!width && all && heads && *heads > 0)
      width = *all / *heads;
    return fromDivisors(file, *tensor, number(theta, 10000), width.value_or(0));
  }
  std::string word = kind.is_string() ? kind.get<std::string>() : "";
  double times = number(factor, 0);
  if ((word.empty() || word == "linear") && times != 0 && times != 1)
    return Value{{"rope_type", "linear"}, {"factor", factor}};
  if (word == "yarn") {
    Value out = {{"rope_type", "yarn"}};
    if (!factor.is_null())
      out["factor"] = factor;
    out["original_max_position_embeddings"] = number(original, 0) != 0 ? original : context;
    for (auto [name, key] : {std::pair("beta_fast", "yarn_beta_fast"),
                             {"beta_slow", "yarn_beta_slow"},
                             {"attention_factor", "yarn_attn_factor"}})
      if (Value found = get(std::string("rope.scaling.") + key); !found.is_null())
        out[name] = found;
    Value many = get("rope.scaling.yarn_log_multiplier");
    if (!failed.ok())
      return failed;
    double m = number(many, 0);
    if (!many.is_null() &&
        architecture == "deepseek2") // a tenth of mscale_all_dim; published models have mscale so too
      out["mscale"] = out["mscale_all_dim"] = shortest(float(m / 0.1));
    else if (m != 0 && times > 0) // the amplitude
      out["attention_factor"] = (0.1 * std::log(times) + 1) / (0.1 * m * std::log(times) + 1);
    if (architecture == "gpt-oss") // of every published one
      out["truncate"] = false;
    return out;
  }
  if (word.empty() || word == "none" || word == "linear" || word == "longrope")
    return Value();
  return file.unsupported(keys.whole("rope.scaling.type"),
                          "it is `" + printable(word) + "`, which is not read; none, linear, yarn and longrope are");
}

} // namespace heddle
