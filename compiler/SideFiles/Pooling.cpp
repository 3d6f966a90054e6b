//===- Pooling.cpp - modules.json of sentence-transformers ----------------===//
//
// modules.json: what the library of a checkpoint that makes vectors of texts does after the model, one module after
// the other. A pooling (1_Pooling/config.json) of one kind becomes the default of `/v1/embeddings`; normalising is what
// that does anyway. Anything else is named in a remark, and the default stays that of the model alone.
//
//===----------------------------------------------------------------------===//
#include "compiler/SideFiles/SideFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;
using Kind = JsonValue::Kind;

namespace {
/// A kind of pooling, by its key in older files and its word in newer ones; `card` is empty for those not computed.
struct Pooling {
  StringRef key, word, card;
};
} // namespace

static constexpr Pooling kPoolings[] = {{"pooling_mode_mean_tokens", "mean", "mean"},
                                        {"pooling_mode_cls_token", "cls", "cls"},
                                        {"pooling_mode_max_tokens", "max", "max"},
                                        {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", ""},
                                        {"pooling_mode_weightedmean_tokens", "weightedmean", ""},
                                        {"pooling_mode_lasttoken", "lasttoken", ""}};

/// Says what the vectors will not be.
static void notTheirs(DiagnosticSink &sink, const JsonValue &at, const Twine &path, const Twine &what) {
  sink.say(heddle::Diagnostic::Kind::Remark, at.loc, path,
           what + ": vectors are the model's own, not those of sentence-transformers; `pooling` of a request chooses");
}

/// The word of the card, "" where there is none for it.
static StringRef readPoolingConfig(const JsonValue &root, StringRef name, DiagnosticSink &sink) {
  SideFileReader file(root, name, sink);
  std::vector<Pooling> chosen;
  std::optional<std::string> word = file.text("pooling_mode");
  for (const Pooling &one : kPoolings) {
    // Without any key the library takes the mean.
    bool usual = !word && one.word == "mean";
    if (file.boolean(one.key).value_or(usual) || (word && *word == one.word))
      chosen.push_back(one);
  }
  // Ignored: the width (the model has it) and prompts (requests have none).
  file.ignore({"word_embedding_dimension", "embedding_dimension", "include_prompt"});
  SmallVector<StringRef> known = {"pooling_mode"};
  for (const Pooling &one : kPoolings)
    known.push_back(one.key);
  file.finish(known);
  if (chosen.size() == 1 && !chosen.front().card.empty())
    return chosen.front().card;
  std::string words;
  for (const Pooling &one : chosen)
    words += (words.empty() ? "`" : " and `") + one.word.str() + "`";
  if (words.empty())
    words = word ? "`" + *word + "`" : "none";
  notTheirs(sink, root, name, "pooling " + words + " is not computed, only one of `mean`, `cls` and `max`");
  return "";
}

/// Whether a path of modules.json is a folder of the checkpoint's own.
static bool isInside(StringRef folder) {
  return !folder.empty() && llvm::sys::path::is_relative(folder) &&
         llvm::none_of(llvm::make_range(llvm::sys::path::begin(folder), llvm::sys::path::end(folder)),
                       [](StringRef part) { return part == ".."; });
}

/// The text that is in front of every text unless a request chooses another, where there is one.
static std::string defaultPrompt(const ModelFolder &folder, DiagnosticSink &sink) {
  std::optional<JsonValue> file = readSideFile(folder, "config_sentence_transformers.json", Kind::Object, sink);
  const JsonValue *name = file ? file->find("default_prompt_name") : nullptr;
  const JsonValue *prompts = file ? file->find("prompts") : nullptr;
  const JsonValue *prompt =
      name && name->isString() && prompts && prompts->isObject() ? prompts->find(name->string) : nullptr;
  return prompt && prompt->isString() ? prompt->string : "";
}

std::string heddle::transformerFolder(StringRef directory) {
  llvm::SmallString<256> config(directory), inside(directory);
  llvm::sys::path::append(config, "config.json");
  if (llvm::sys::fs::exists(config))
    return "";
  DiagnosticSink quiet; // the reader of poolings reports errors of modules.json
  std::optional<JsonValue> modules = readSideFile(directory.str(), "modules.json", Kind::Array, quiet);
  const JsonValue *path = modules && !modules->items.empty() && modules->items.front().isObject()
                              ? modules->items.front().find("path")
                              : nullptr;
  if (!path || !path->isString() || !isInside(path->string))
    return "";
  llvm::sys::path::append(inside, path->string);
  config = inside;
  llvm::sys::path::append(config, "config.json");
  return llvm::sys::fs::exists(config) ? std::string(inside) : "";
}

SentenceVectors heddle::readPooling(const ModelFolder &files, DiagnosticSink &sink) {
  std::optional<JsonValue> modules = readSideFile(files, "modules.json", Kind::Array, sink);
  SentenceVectors out;
  std::string &pooling = out.pooling;
  if (!modules)
    return out;
  if (std::string prompt = defaultPrompt(files, sink); !prompt.empty())
    out.missing.push_back("the default prompt \"" + prompt + "\" in front of a text");
  for (auto [i, module] : llvm::enumerate(modules->items)) {
    std::string path = "modules.json[" + std::to_string(i) + "]";
    const JsonValue *type = module.isObject() ? module.find("type") : nullptr;
    const JsonValue *folder = module.isObject() ? module.find("path") : nullptr;
    if (!type || !type->isString() || !folder || !folder->isString()) {
      sink.error(Error::CompanionValue, module.loc, path, "a module with the texts `type` and `path` expected");
      return {};
    }
    StringRef name = StringRef(type->string).rsplit('.').second;
    if (name.empty())
      name = type->string;
    if (name == "Pooling" && pooling.empty() && isInside(folder->string)) {
      std::string config = folder->string + "/config.json";
      std::optional<JsonValue> root = readSideFile(files, config, Kind::Object, sink);
      if (!root)
        notTheirs(sink, *folder, path + ".path", config + " is not there");
      if (!root || (pooling = readPoolingConfig(*root, config, sink).str()).empty())
        out.missing.push_back("the pooling of " + folder->string);
    } else if (!(name == "Transformer" && i == 0) && name != "Normalize" && name != "Dropout") {
      notTheirs(sink, *type, path + ".type", "the module " + name + " is not computed");
      out.missing.push_back("the module " + name.str() + " (" + folder->string + ")");
    }
  }
  if (!out.missing.empty())
    pooling.clear();
  return out;
}
