// Every key is read, ignored because it is of training only, or refused if it is used. Null means that a key is not
// used; so an unknown key that is null, as later versions of peft write them, is only noted.
#include "compiler/Weights/Adapter/AdapterConfig.h"
#include "compiler/Weights/Files/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace heddle {

using Kind = ConfigValue::Kind;
static constexpr uint64_t mostConfigBytes = 16 << 20;
static constexpr llvm::StringLiteral dependsOnText =
    "what it adds depends on the text, so there are no merged weights; compile the base without it";
static constexpr llvm::StringLiteral convertInit =
    "the adapter belongs to a base that its initialisation changed; save it in Python with "
    "save_pretrained(DIR, path_initial_model_for_weight_conversion=FOLDER_OF_THE_FIRST_STATE) and give that one";

/// Keys that change what is computed and are not merged; unused they are null, false or empty.
struct RefusedKey {
  llvm::StringLiteral key, why, help;
};
static constexpr RefusedKey refusedKeys[] = {
    {"alora_invocation_tokens", "the adapter works only from certain tokens on", dependsOnText},
    {"arrow_config", "adapters are chosen token by token", dependsOnText},
    {"use_bdlora", "its matrices are block-diagonal", mergeInPython},
    {"kasa_config", "its products have separate singular values", mergeInPython},
    {"monteclora_config", "its matrices are drawn at random", dependsOnText},
    {"layer_replication", "the adapter repeats layers of its base", mergeInPython},
    {"use_qalora", "its inputs are pooled", mergeInPython},
    {"megatron_config", "its base is a Megatron model", mergeInPython},
    {"enable_lora", "only parts of a matrix have an adapter", mergeInPython},
};

/// Keys of training, of how the numbers began, or of the model around.
static constexpr llvm::StringLiteral ignoredKeys[] = {
    "auto_mapping",    "revision",           "task_type",     "inference_mode",    "lora_dropout",
    "peft_version",    "runtime_config",     "eva_config",    "corda_config",      "loftq_config",
    "lora_ga_config",  "velora_config",      "megatron_core", "qalora_group_size", "ensure_weight_tying",
    "_custom_modules", "num_virtual_tokens", "merge_weights"};

/// Keys that are read below.
static constexpr llvm::StringLiteral ownKeys[] = {"peft_type",
                                                  "base_model_name_or_path",
                                                  "r",
                                                  "lora_alpha",
                                                  "target_modules",
                                                  "exclude_modules",
                                                  "fan_in_fan_out",
                                                  "use_rslora",
                                                  "use_dora",
                                                  "lora_bias",
                                                  "bias",
                                                  "modules_to_save",
                                                  "init_lora_weights",
                                                  "layers_to_transform",
                                                  "layers_pattern",
                                                  "rank_pattern",
                                                  "alpha_pattern",
                                                  "trainable_token_indices",
                                                  "target_parameters"};

/// Whether Python takes the value for true.
static bool isUsed(const ConfigValue &v) {
  switch (v.kind) {
  case Kind::Null: return false;
  case Kind::Bool: return v.boolean;
  case Kind::Number: return v.number != 0;
  case Kind::Text: return !v.text.empty();
  case Kind::List: return !v.items.empty();
  case Kind::Object: return !v.members.empty();
  }
  return false;
}

/// Takes the members of the object one by one.
class AdapterConfig::Reader {
public:
  explicit Reader(AdapterConfig &config) : config(config) {}

  absl::Status run(const ConfigValue &root);

private:
  absl::Status read(const ConfigMember &member);
  void readOwn(llvm::StringRef key, const ConfigValue &v);
  void readInit(const ConfigValue &v);
  void readTokens(const ConfigValue &v);

  bool fail(const ConfigValue &at, const std::string &message,
            llvm::StringRef help = "take the adapter_config.json that peft wrote", Error code = Error::BadAdapter) {
    if (!problem) {
      problem = WeightProblem{code, "", "`" + printable(key) + "`: " + message, config.file, at.byte, "", help.str()};
    }
    return false;
  }
  bool expected(const ConfigValue &at, const char *what) {
    return fail(at, std::string("expected ") + what + ", got " + at.describe().str());
  }
  void flag(const ConfigValue &v, bool &to) {
    if (v.is(Kind::Bool))
      to = v.boolean;
    else
      expected(v, "true or false");
  }
  bool whole(const ConfigValue &v, int64_t least, int64_t &to) {
    if (!v.isWhole() || v.number < double(least))
      return expected(v, least > 0 ? "a whole number from 1 on" : "a whole number from 0 on");
    to = int64_t(v.number);
    return true;
  }
  bool names(const ConfigValue &v, std::vector<std::string> &to) {
    if (!v.is(Kind::List))
      return expected(v, "a list of names");
    for (const ConfigValue &item : v.items) {
      if (!item.is(Kind::Text))
        return expected(item, "a name");
      to.push_back(item.text);
    }
    return true;
  }
  bool wholes(const ConfigValue &v, std::vector<int64_t> &to) {
    if (!v.is(Kind::List))
      return expected(v, "a list of whole numbers");
    for (const ConfigValue &item : v.items)
      if (!whole(item, 0, to.emplace_back()))
        return false;
    return true;
  }
  std::optional<ModulePattern> pattern(const ConfigValue &at, llvm::StringRef text) {
    std::string error;
    std::optional<ModulePattern> made = ModulePattern::compile(text, error);
    if (!made)
      fail(at, "the expression `" + printable(text) + "` is not read: " + printable(error),
           "write it without what is named, or as a list of names");
    return made;
  }
  void choice(const ConfigValue &v, Choice &to) {
    to.given = true;
    if (v.is(Kind::Text))
      to.pattern = pattern(v, v.text);
    else
      names(v, to.names);
  }
  void patterns(const ConfigValue &v, llvm::ArrayRef<std::string> texts, std::vector<ModulePattern> &to) {
    for (const std::string &text : texts)
      if (std::optional<ModulePattern> made = pattern(v, text))
        to.push_back(std::move(*made));
  }
  template <typename T> void byPattern(const ConfigValue &v, std::vector<ByPattern<T>> &to) {
    if (!v.is(Kind::Object))
      return void(expected(v, "an object of expressions and numbers"));
    for (const ConfigMember &m : v.members) {
      T value{};
      if constexpr (std::is_same_v<T, int64_t>)
        whole(m.value, 1, value);
      else if (m.value.is(Kind::Number))
        value = m.value.number;
      else
        expected(m.value, "a number");
      if (std::optional<ModulePattern> made = pattern(m.value, m.key))
        to.push_back({std::move(*made), value});
    }
  }

  AdapterConfig &config;
  std::string key;
  std::optional<WeightProblem> problem;
};

/// Initialisations that take something off the base's weights, or quantise them, are refused.
void AdapterConfig::Reader::readInit(const ConfigValue &v) {
  if (v.is(Kind::Bool))
    return;
  if (!v.is(Kind::Text))
    return void(expected(v, "true, false or a name"));
  std::string word = llvm::StringRef(v.text).lower();
  for (llvm::StringRef harmless : {"true", "false", "gaussian", "eva", "orthogonal", "mica"})
    if (word == harmless)
      return;
  for (llvm::StringRef changing : {"pissa", "olora", "corda", "lora_ga", "loftq"})
    if (llvm::StringRef(word).starts_with(changing))
      return void(fail(v, "`" + printable(v.text) + "` changes the base's weights before training", convertInit,
                       Error::AdapterUnsupported));
  fail(v, "`" + printable(v.text) + "` is not known; it may have changed the base's weights", mergeInPython,
       Error::AdapterUnsupported);
}

void AdapterConfig::Reader::readTokens(const ConfigValue &v) {
  if (!v.is(Kind::Object)) {
    wholes(v, config.tokens.emplace_back().rows);
    return;
  }
  for (const ConfigMember &m : v.members) {
    Tokens &tokens = config.tokens.emplace_back();
    tokens.module = m.key;
    wholes(m.value, tokens.rows);
  }
}

/// One of `ownKeys` that has a value.
void AdapterConfig::Reader::readOwn(llvm::StringRef name, const ConfigValue &v) {
  std::vector<std::string> texts;
  if (name == "peft_type") {
    if (!v.is(Kind::Text))
      expected(v, "a name");
    else if (llvm::StringRef(v.text).upper() != "LORA")
      fail(v, "adapters of the kind `" + printable(v.text) + "` are not merged, only LORA is", mergeInPython,
           Error::AdapterUnsupported);
  } else if (name == "base_model_name_or_path") {
    v.is(Kind::Text) ? void(config.base = v.text) : void(expected(v, "a name"));
  } else if (name == "r") {
    whole(v, 1, config.rank);
  } else if (name == "lora_alpha") {
    v.is(Kind::Number) ? void(config.alpha = v.number) : void(expected(v, "a number"));
  } else if (name == "target_modules") {
    config.allLinear = v.is(Kind::Text) && llvm::StringRef(v.text).equals_insensitive("all-linear");
    if (!config.allLinear)
      choice(v, config.target);
  } else if (name == "exclude_modules") {
    if (isUsed(v))
      choice(v, config.excluded);
  } else if (name == "fan_in_fan_out") {
    flag(v, config.inOut);
  } else if (name == "use_rslora") {
    flag(v, config.rootScale);
  } else if (name == "use_dora") {
    flag(v, config.dora);
  } else if (name == "lora_bias") {
    bool said = false; // the tensors say it
    flag(v, said);
  } else if (name == "bias") {
    config.replacesBiases = v.is(Kind::Text) && (v.text == "all" || v.text == "lora_only");
    if (!config.replacesBiases && !(v.is(Kind::Text) && v.text == "none"))
      fail(v, "expected none, all or lora_only, got " +
                  (v.is(Kind::Text) ? "`" + printable(v.text) + "`" : v.describe().str()));
  } else if (name == "modules_to_save") {
    if (names(v, config.saved))
      patterns(v, config.saved, config.savedPatterns);
  } else if (name == "init_lora_weights") {
    readInit(v);
  } else if (name == "layers_to_transform") {
    if (v.is(Kind::List))
      wholes(v, config.layers);
    else
      whole(v, 0, config.layers.emplace_back());
  } else if (name == "layers_pattern") {
    if (v.is(Kind::Text) && !v.text.empty())
      texts = {v.text};
    if (v.is(Kind::Text) || names(v, texts))
      patterns(v, texts, config.layerPatterns);
  } else if (name == "rank_pattern") {
    byPattern(v, config.ranks);
  } else if (name == "alpha_pattern") {
    byPattern(v, config.alphas);
  } else if (name == "trainable_token_indices") {
    readTokens(v);
  } else {
    names(v, config.parameters); // target_parameters
  }
}

absl::Status AdapterConfig::Reader::read(const ConfigMember &member) {
  const ConfigValue &v = member.value;
  key = member.key;
  config.places[key] = v.byte;
  const RefusedKey *refused = llvm::find_if(refusedKeys, [&](const RefusedKey &r) { return r.key == key; });
  if (refused != std::end(refusedKeys)) {
    if (isUsed(v))
      fail(v, "it is used: " + refused->why.str() + ", which is not merged", refused->help, Error::AdapterUnsupported);
  } else if (v.is(Kind::Null)) {
    if (!llvm::is_contained(ignoredKeys, key) && !llvm::is_contained(ownKeys, key))
      config.unknown.push_back(key);
  } else if (llvm::is_contained(ownKeys, key)) {
    readOwn(key, v);
  } else if (!llvm::is_contained(ignoredKeys, key)) {
    fail(v, "this key is not known, so what it changes is not either",
         "take it out of adapter_config.json if it is of training only; else " + mergeInPython.str(),
         Error::AdapterUnsupported);
  }
  return problem ? toStatus(*problem) : absl::OkStatus();
}

absl::Status AdapterConfig::Reader::run(const ConfigValue &root) {
  // The kind of adapter first: another kind has other keys.
  for (const ConfigMember &member : root.members)
    if (member.key == "peft_type")
      if (absl::Status status = read(member); !status.ok())
        return status;
  for (const ConfigMember &member : root.members)
    if (absl::Status status = read(member); !status.ok())
      return status;
  return absl::OkStatus();
}

absl::StatusOr<AdapterConfig> AdapterConfig::read(llvm::StringRef path) {
  absl::StatusOr<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.status();
  AdapterConfig config;
  config.file = file->path();
  if (file->size() > mostConfigBytes)
    return toStatus(WeightProblem{Error::BadAdapter, "", "the file is larger than 16 MiB", config.file, std::nullopt,
                                  "", "take the adapter_config.json that peft wrote"});
  std::string text(file->size(), '\0');
  if (absl::Status status = file->read(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()}); !status.ok())
    return status;
  absl::StatusOr<ConfigValue> root = parseConfig(text, config.file);
  if (!root.ok())
    return root.status();
  if (absl::Status status = Reader(config).run(*root); !status.ok())
    return status;
  return config;
}

WeightProblem AdapterConfig::problemAt(llvm::StringRef key, std::string message, std::string help, Error code) const {
  auto it = places.find(key.str());
  return {code, "", std::move(message), file, it == places.end() ? 0 : it->second, "", std::move(help)};
}

//===--- which modules, and how much --------------------------------------------===//

bool AdapterConfig::Choice::has(llvm::StringRef module) const {
  if (pattern)
    return pattern->matches(module);
  return llvm::any_of(names, [&](llvm::StringRef name) {
    llvm::StringRef rest = module;
    return rest.consume_back(name) && (rest.empty() || rest.ends_with("."));
  });
}

bool AdapterConfig::targets(llvm::StringRef module) const {
  if (excluded.has(module))
    return false;
  if (llvm::any_of(savedPatterns, [&](const ModulePattern &saved) { return saved.matchesPart(module); }))
    return false;
  if (allLinear) {
    llvm::StringRef last = module.substr(module.rfind('.') + 1);
    return !llvm::is_contained({"lm_head", "embed_out", "score", "classifier"}, last);
  }
  if (!target.given || !target.has(module))
    return false;
  if (target.pattern || llvm::is_contained(target.names, module) || layers.empty())
    return true;
  for (const ModulePattern &pattern : layerPatterns)
    if (std::optional<int64_t> layer = pattern.layerOf(module))
      return llvm::is_contained(layers, *layer);
  if (!layerPatterns.empty())
    return false;
  // Without a pattern the first segment that is a number counts, if two or more segments stand before it.
  llvm::SmallVector<llvm::StringRef, 16> segments;
  module.split(segments, '.');
  for (size_t i = 2; i + 1 < segments.size(); ++i)
    if (int64_t layer = 0; llvm::all_of(segments[i], llvm::isDigit) && !segments[i].getAsInteger(10, layer))
      return llvm::is_contained(layers, layer);
  return false;
}

int64_t AdapterConfig::rankOf(llvm::StringRef module) const {
  for (const ByPattern<int64_t> &one : ranks)
    if (one.pattern.matchesEnd(module))
      return one.value;
  return rank;
}

double AdapterConfig::scaleOf(llvm::StringRef module, int64_t tensorRank) const {
  double value = alpha;
  for (const ByPattern<double> &one : alphas)
    if (one.pattern.matchesEnd(module)) {
      value = one.value;
      break;
    }
  return value / (rootScale ? std::sqrt(double(tensorRank)) : double(tensorRank));
}

absl::Status AdapterConfig::checkEffort() const {
  auto tooLong = [&](llvm::StringRef key, llvm::StringRef help) {
    return toStatus(problemAt(key, "`" + key.str() + "`: an expression takes too long for the names of this model",
                              help.str(), Error::AdapterUnsupported));
  };
  static constexpr llvm::StringLiteral shorter = "write a simpler expression, or a list of names";
  if (target.pattern && target.pattern->gaveUp())
    return tooLong("target_modules", shorter);
  if (excluded.pattern && excluded.pattern->gaveUp())
    return tooLong("exclude_modules", shorter);
  if (llvm::any_of(savedPatterns, [](const ModulePattern &p) { return p.gaveUp(); }))
    return tooLong("modules_to_save", shorter);
  if (llvm::any_of(layerPatterns, [](const ModulePattern &p) { return p.gaveUp(); }))
    return tooLong("layers_pattern", shorter);
  if (llvm::any_of(ranks, [](const auto &one) { return one.pattern.gaveUp(); }))
    return tooLong("rank_pattern", shorter);
  if (llvm::any_of(alphas, [](const auto &one) { return one.pattern.gaveUp(); }))
    return tooLong("alpha_pattern", shorter);
  return absl::OkStatus();
}

} // namespace heddle
