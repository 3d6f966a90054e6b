//===- ConfigText.cpp - The config.json of a GGUF file --------------------===//

#include "compiler/Gguf/ConfigText.h"
#include "compiler/Gguf/KeyExpressions.h"

namespace heddle {

using Value = ConfigValue;

/// Adds the members of a part of a row: the name of a set, a list of parts, or members; later ones replace earlier.
static void addMembers(const Value &sets, const Value &part, Value &to) {
  if (part.is_string())
    return addMembers(sets, sets.at(part.get<std::string>()), to);
  if (part.is_array()) {
    for (const Value &one : part)
      addMembers(sets, one, to);
    return;
  }
  for (const auto &[name, text] : part.items())
    to[name] = text;
}

/// Fails for numbers that no model has, before anything is made of them.
static absl::Status checkSizes(const GgufFile &file, llvm::StringRef architecture) {
  auto check = [&](llvm::StringRef key, int64_t most) -> absl::Status {
    std::string whole = (architecture + "." + key).str();
    const GgufValue *value = file.find(whole);
    if (!value)
      return file.damaged(whole, "the key is missing");
    if (value->isArray())
      return absl::OkStatus(); // of unequal numbers: the row says whether it reads them
    std::optional<int64_t> number = value->integer();
    if (!number || *number < 1 || *number > most)
      return file.damaged(whole, value->text()
                                     ? "the key is a text, a number is needed"
                                     : "it is " + value->what() + ", from 1 to " + std::to_string(most) + " can be");
    return absl::OkStatus();
  };
  for (auto [key, most] : {std::pair<llvm::StringRef, int64_t>("block_count", 10'000),
                           {"attention.head_count", 1 << 20},
                           {"context_length", INT32_MAX},
                           {"embedding_length", 1 << 24}})
    if (absl::Status status = check(key, most); !status.ok())
      return status;
  std::optional<int64_t> width = ggufInteger(file, architecture, "embedding_length"),
                         heads = ggufInteger(file, architecture, "attention.head_count"),
                         keys = ggufInteger(file, architecture, "attention.head_count_kv");
  std::string whole = (architecture + ".attention.head_count").str();
  if (width && heads && *width % *heads && !file.find((architecture + ".attention.key_length").str()))
    return file.damaged(whole, std::to_string(*heads) + " heads do not divide the width " + std::to_string(*width));
  if (heads && keys && (*keys < 1 || *heads % *keys))
    return file.damaged(whole + "_kv",
                        std::to_string(*keys) + " heads of keys do not divide " + std::to_string(*heads) + " heads");
  return absl::OkStatus();
}

/// The tokens of config.json, where the row has not said them.
static void addTokens(const GgufTokenIds &ids, Value &config, std::map<std::string, std::string> &keys) {
  if (config.contains("pad_token_id"))
    return;
  auto set = [&](const char *name, Value value) {
    config[name] = std::move(value);
    keys[name] = std::string("tokenizer.ggml.") + name;
  };
  if (!ids.eos.empty())
    set("eos_token_id", ids.eos.size() == 1 ? Value(ids.eos.front()) : Value(ids.eos));
  if (ids.pad)
    set("pad_token_id", *ids.pad);
  if (ids.bos)
    set("bos_token_id", *ids.bos);
}

absl::StatusOr<MadeText> makeConfig(const GgufFile &file, const GgufArchitecture &architecture,
                                    const GgufTokenIds &ids) {
  if (absl::Status status = checkSizes(file, architecture.name); !status.ok())
    return status;
  Value table = Value::parse(architectureTable().begin(), architectureTable().end());
  const Value &row = table["architectures"][architecture.name];
  KeyExpressions keys(file, architecture.name);
  if (row.contains("refuse"))
    for (const auto &[reason, condition] : row["refuse"].items()) {
      absl::StatusOr<Value> met = keys.value(condition);
      if (!met.ok())
        return met.status();
      bool is = met->is_boolean() ? met->get<bool>() : met->is_number() ? met->get<double>() != 0 : !met->is_null();
      if (is)
        return file.unsupported("general.architecture", architecture.name + " with " + reason + " is not read");
    }
  Value members = {{"model_type", row["family"]}, {"architectures", row["class"]}}, config = Value::object();
  addMembers(table["config"], row["config"], members);
  MadeText out;
  for (const auto &[name, text] : members.items()) {
    absl::StatusOr<Value> value = keys.value(text);
    if (!value.ok())
      return value.status();
    if (value->is_null())
      continue;
    config[name] = name == "architectures" ? Value::array({*value}) : *std::move(value);
    if (!keys.lastKey().empty())
      out.keys[name] = keys.lastKey();
  }
  addTokens(ids, config, out.keys);
  out.text = config.dump();
  return out;
}

} // namespace heddle
