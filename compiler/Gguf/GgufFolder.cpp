//===- GgufFolder.cpp - A GGUF file as the folder of a model --------------===//

#include "compiler/Gguf/GgufFolder.h"
#include "compiler/Gguf/TokenizerTexts.h"

namespace heddle {

bool isGgufFile(llvm::StringRef path) {
  absl::StatusOr<InputFile> file = InputFile::open(path);
  uint8_t first[4] = {};
  absl::StatusOr<size_t> got = file.ok() ? file->readSome(0, first) : absl::StatusOr<size_t>(0);
  return got.ok() && beginsAsGguf({reinterpret_cast<const char *>(first), *got});
}

absl::StatusOr<ModelFolder> openTexts(llvm::StringRef path, std::vector<std::string> &warnings) {
  if (!isGgufFile(path))
    return ModelFolder(path.str());
  absl::StatusOr<GgufFile> file = GgufFile::open(path);
  if (!file.ok())
    return file.status();
  ModelFolder::Texts texts;
  GgufTokenIds ids;
  if (absl::Status status = makeTokenizerTexts(*file, texts, ids, warnings); !status.ok())
    return status;
  return ModelFolder(path.str(), std::move(texts));
}

} // namespace heddle
