//===- GgufFacts.cpp - what a GGUF file says of its model -----------------===//
// The metadata as they stand: also of architectures that no family describes.

#include "compiler/Gguf/ConfigText.h"
#include "compiler/Gguf/GgufFolder.h"
#include "compiler/Import/Import.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/ModelInfo/ModelFacts.h"
#include "compiler/SideFiles/Licence.h"
#include "compiler/Weights/Files/Problem.h"
#include <algorithm>

using namespace heddle;
using llvm::StringRef;

static std::string textOfKey(const GgufFile &file, StringRef key) {
  const GgufValue *value = file.find(key);
  std::optional<StringRef> text = value ? value->text() : std::nullopt;
  return text ? escaped(*text) : "";
}

/// A number, or the largest of an array: layers may have heads of their own.
static std::optional<int64_t> numberOfKey(const GgufFile &file, StringRef key) {
  const GgufValue *value = file.find(key);
  if (!value)
    return std::nullopt;
  if (std::optional<std::vector<int64_t>> all = value->integers(); all && !all->empty())
    return *std::max_element(all->begin(), all->end());
  return value->integer();
}

/// The family whose description is taken, by the row of the architecture; "" where there is no row, or the family is
/// none that is known.
static std::string familyOf(const GgufFile &file, const FamilyLibrary &families) {
  absl::StatusOr<GgufArchitecture> architecture = architectureOf(file);
  if (!architecture.ok())
    return "";
  absl::StatusOr<MadeText> config = makeConfig(file, *architecture, GgufTokenIds());
  if (!config.ok())
    return "";
  DiagnosticSink quiet;
  SourceFile source("config.json", config->text);
  std::optional<JsonValue> made = parseJson(source, quiet);
  const JsonValue *type = made ? made->find("model_type") : nullptr;
  return type && type->isString() ? familyFor(type->string, families).value_or("") : "";
}

bool heddle::addGgufFacts(const std::string &path, const FamilyLibrary &families, ModelFacts &facts) {
  absl::StatusOr<GgufFile> file = GgufFile::open(path);
  if (!file.ok()) {
    facts.problems.push_back({true, errorOf(file.status()), textOf(file.status())});
    return false;
  }
  for (const auto &part : file->files())
    facts.files.push_back({part->path(), 0});
  for (const GgufTensor &tensor : file->tensors()) {
    facts.tensors.push_back({tensor.name, rowOf(tensor.type).name, tensor.shape, tensor.bytes, tensor.part});
    facts.files[tensor.part].bytes += tensor.bytes;
  }
  facts.modelType = textOfKey(*file, "general.architecture");
  facts.name = textOfKey(*file, "general.name");
  facts.family = familyOf(*file, families);
  facts.licence = licenceOfCard(makeCard(*file));
  if (!facts.licence.empty())
    facts.licenceFrom = "general.license";
  static constexpr std::pair<const char *, StringRef> kSizes[] = {
      {"layers", "block_count"},         {"width", "embedding_length"},
      {"heads", "attention.head_count"}, {"heads of keys", "attention.head_count_kv"},
      {"inner", "feed_forward_length"},  {"experts", "expert_count"}};
  for (auto [name, key] : kSizes)
    if (std::optional<int64_t> n = numberOfKey(*file, facts.modelType + "." + key.str()); n && *n > 0)
      facts.sizes.push_back({name, *n});
  facts.context = numberOfKey(*file, facts.modelType + ".context_length");
  if (const GgufValue *tokens = file->find("tokenizer.ggml.tokens"); tokens && tokens->isArray())
    facts.sizes.push_back({"vocabulary", int64_t(tokens->size())});
  return true;
}
