//===- GgufFolder.cpp - A GGUF file as the folder of a model --------------===//

#include "compiler/Gguf/GgufFolder.h"
#include "compiler/Gguf/ConfigText.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

namespace heddle {

bool isGgufFile(llvm::StringRef path) {
  absl::StatusOr<InputFile> file = InputFile::open(path);
  if (file.ok() && path.ends_with(".gguf")) // whose reader says what is wrong with its beginning
    return true;
  uint8_t first[4] = {};
  absl::StatusOr<size_t> got = file.ok() ? file->readSome(0, first) : absl::StatusOr<size_t>(0);
  return got.ok() && beginsAsGguf({reinterpret_cast<const char *>(first), *got});
}

std::vector<std::string> ggufParts(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 4> found;
  std::vector<std::string> parts;
  unsigned count = 0;
  if (!llvm::Regex("^(.*-)[0-9]{5}-of-([0-9]{5})\\.gguf$").match(path, &found) || found[2].getAsInteger(10, count))
    return parts;
  for (unsigned i = 1; i <= count; ++i)
    parts.push_back(llvm::formatv("{0}{1,0+5}-of-{2}.gguf", found[1], i, found[2]).str());
  return parts;
}

std::string makeCard(const GgufFile &file) {
  std::string text;
  for (auto [key, member] : {std::pair("general.license", "license"),
                             {"general.license.name", "license_name"},
                             {"general.license.link", "license_link"}}) {
    const GgufValue *value = file.find(key);
    std::optional<llvm::StringRef> words = value ? value->text() : std::nullopt;
    if (!words || words->trim().empty())
      continue;
    std::string line = words->trim().str();
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += std::string(member) + ": \"" + line + "\"\n";
  }
  return text.empty() ? "" : "---\n" + text + "---\n";
}

/// The files of sentence-transformers that `pooling_type` stands for: a pooling, and vectors of length 1, as llama.cpp
/// makes them where nobody asks for others. None for hidden states alone and for rerankers.
static absl::Status makeModules(const GgufFile &file, const GgufArchitecture &architecture, ModelFolder::Texts &texts) {
  std::string key = architecture.name + ".pooling_type";
  if (!file.find(key))
    return absl::OkStatus();
  std::optional<int64_t> kind = ggufInteger(file, architecture.name, "pooling_type");
  constexpr int64_t unspecified = -1, none = 0, rank = 4;
  const char *word = kind == 1 ? "mean" : kind == 2 ? "cls" : kind == 3 ? "lasttoken" : nullptr;
  if (kind == rank && architecture.name != "bert")
    return file.unsupported(key, architecture.name + " with a classifier of pairs (reranker) is not read");
  if (!word && kind != unspecified && kind != none && kind != rank)
    return file.damaged(key, "it is " + file.find(key)->what() + ", from 0 to 4 can be: none, mean, cls, last, rank");
  if (!word)
    return absl::OkStatus();
  texts["modules.json"] = {R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                               {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                               {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])",
                           {}};
  texts["1_Pooling/config.json"] = {std::string("{\"pooling_mode\": \"") + word + "\"}", {{"pooling_mode", key}}};
  return absl::OkStatus();
}

static absl::StatusOr<ModelFolder> open(llvm::StringRef path, bool withConfig, std::vector<std::string> &warnings) {
  if (!isGgufFile(path))
    return ModelFolder(path.str());
  absl::StatusOr<GgufFile> file = GgufFile::open(path);
  if (!file.ok())
    return file.status();
  absl::StatusOr<GgufArchitecture> architecture = withConfig ? architectureOf(*file) : GgufArchitecture();
  if (!architecture.ok())
    return architecture.status();
  ModelFolder::Texts texts;
  GgufTokenIds ids;
  if (absl::Status status = makeTokenizerTexts(*file, texts, ids, warnings); !status.ok())
    return status;
  if (withConfig) {
    absl::StatusOr<MadeText> config = makeConfig(*file, *architecture, ids);
    if (!config.ok())
      return config.status();
    texts["config.json"] = *std::move(config);
    if (absl::Status status = makeModules(*file, *architecture, texts); !status.ok())
      return status;
    if (std::string card = makeCard(*file); !card.empty())
      texts["README.md"].text = std::move(card);
  }
  return ModelFolder(path.str(), std::move(texts));
}

absl::StatusOr<ModelFolder> openModel(llvm::StringRef path, std::vector<std::string> &warnings) {
  return open(path, /*withConfig=*/true, warnings);
}

absl::StatusOr<ModelFolder> openTexts(llvm::StringRef path, std::vector<std::string> &warnings) {
  return open(path, /*withConfig=*/false, warnings);
}

} // namespace heddle
