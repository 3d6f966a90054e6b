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
