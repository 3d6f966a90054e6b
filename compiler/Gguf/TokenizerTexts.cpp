//===- TokenizerTexts.cpp - tokenizer.* as the files of a folder ----------===//

#include "compiler/Gguf/TokenizerTexts.h"
#include "compiler/Gguf/TokenizerJson.h"
#include "heddle/printable.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <nlohmann/json.hpp>

namespace heddle {

using Json = nlohmann::json;
using llvm::StringRef;

namespace {

/// One reading of a file.
class TextMaker {
public:
  TextMaker(const GgufFile &file, std::map<std::string, MadeText> &texts, std::vector<std::string> &warnings)
      : file(file), keys(file), texts(texts), warnings(warnings) {}

  absl::Status run(GgufTokenIds &ids);

private:
  void templates();
  void generation(const GgufTokenIds &ids);

  const GgufFile &file;
  TokenizerKeys keys;
  std::map<std::string, MadeText> &texts;
  std::vector<std::string> &warnings;
};

} // namespace

/// A template, and others by name. Old converters wrote the name of a template inside of llama.cpp instead of a text.
void TextMaker::templates() {
  const std::string key = "tokenizer.chat_template", names = "tokenizer.chat_templates";
  auto add = [&](const std::string &name, StringRef text, const std::string &from) {
    texts[name] = {text.str(), {{"", from}}};
  };
  if (std::optional<StringRef> text = keys.text(key)) {
    if (text->contains('{'))
      add("chat_template.jinja", *text, key);
    else
      warnings.push_back(key + " is `" + printable(*text) +
                         "`, the name of a template inside of llama.cpp, and no template: it is not used");
  }
  std::optional<std::vector<StringRef>> named = keys.texts(names);
  for (StringRef name : named.value_or(std::vector<StringRef>())) {
    std::string its = (key + "." + name).str();
    std::optional<StringRef> text = keys.text(its);
    if (!text || text->empty() || !isUtf8(name) || name.empty())
      continue;
    if (name != "default")
      add(("additional_chat_templates/" + name + ".jinja").str(), *text, its);
    else if (!texts.count("chat_template.jinja"))
      add("chat_template.jinja", *text, its);
  }
}

/// generation_config.json: what ends a text, and how its tokens are chosen by default.
void TextMaker::generation(const GgufTokenIds &ids) {
  Json config = Json::object();
  std::map<std::string, std::string> from;
  auto set = [&](const char *name, Json value, const std::string &key) {
    config[name] = std::move(value);
    from[name] = key;
  };
  if (!ids.eos.empty())
    set("eos_token_id", ids.eos, ggmlKey("eos_token_id"));
  if (ids.bos)
    set("bos_token_id", *ids.bos, ggmlKey("bos_token_id"));
  for (auto [key, name] : {std::pair("temp", "temperature"),
                           {"top_k", "top_k"},
                           {"top_p", "top_p"},
                           {"min_p", "min_p"},
                           {"penalty_repeat", "repetition_penalty"}}) {
    std::string whole = std::string("general.sampling.") + key;
    std::optional<double> number = keys.number(whole);
    if (!number)
      continue;
    bool isWhole = std::fabs(*number) < 1e15 && *number == std::floor(*number);
    set(name, isWhole ? Json(int64_t(*number)) : Json(*number), whole);
  }
  std::string suppressed = ggmlKey("suppress_tokens");
  if (std::optional<std::vector<int64_t>> list = keys.integers(suppressed); list && !list->empty())
    set("suppress_tokens", *list, suppressed);
  if (!config.empty())
    texts["generation_config.json"] = {config.dump(), std::move(from)};
}

absl::Status TextMaker::run(GgufTokenIds &ids) {
  std::optional<GgufVocabulary> vocabulary = GgufVocabulary::read(keys);
  if (vocabulary) {
    const GgufValue *name = file.find("general.name");
    if (std::optional<TokenizerFiles> files =
            writeTokenizer(*vocabulary, name ? name->text().value_or("") : "", keys, warnings)) {
      texts["tokenizer.json"] = {std::move(files->tokenizer), {}};
      texts[WordTables::kName] = {files->words.bytes(), {}};
      texts["tokenizer_config.json"] = {std::move(files->config), {}};
    }
    ids.eos = endsOf(*vocabulary);
    ids.bos = vocabulary->bos;
    ids.pad = vocabulary->pad;
    if (!ids.pad && !ids.eos.empty()) // padding needs some id, and the mask hides which
      ids.pad = vocabulary->eos ? int64_t(*vocabulary->eos) : ids.eos.front();
    templates();
  }
  generation(ids);
  return keys.status;
}

absl::Status makeTokenizerTexts(const GgufFile &file, std::map<std::string, MadeText> &texts, GgufTokenIds &ids,
                                std::vector<std::string> &warnings) {
  return TextMaker(file, texts, warnings).run(ids);
}

} // namespace heddle
