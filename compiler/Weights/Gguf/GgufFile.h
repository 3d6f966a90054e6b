// A GGUF file, or all files of one that is split (NAME-00001-of-00003.gguf): the metadata of the first, the tensors of
// all. Opening reads headers only.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFFILE_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFFILE_H

#include "compiler/Weights/Gguf/GgufHeader.h"
#include "compiler/Weights/Safetensors/StoredTensor.h"
#include "llvm/ADT/StringMap.h"

namespace heddle {

class GgufFile {
public:
  /// The command names the first part of a split file; the others are beside it. Fails as readGgufHeader does, and for
  /// parts that are missing or of another splitting.
  static absl::StatusOr<GgufFile> open(llvm::StringRef path);
  static absl::StatusOr<GgufFile> open(InputFile first);

  /// As messages show it.
  const std::string &path() const { return parts.front()->path(); }
  /// `general.architecture`: an error where it is absent, empty or no text.
  absl::StatusOr<llvm::StringRef> architecture() const;
  /// Null where the key is absent. The whole key: `llama.block_count`.
  const GgufValue *find(llvm::StringRef key) const;
  const std::map<std::string, GgufValue, std::less<>> &values() const { return metadata; }

  /// In the order of the headers.
  llvm::ArrayRef<GgufTensor> tensors() const { return table; }
  /// Null where there is none.
  const GgufTensor *tensor(llvm::StringRef name) const;
  /// The tensor with its file, to read bytes from; blocks are listed as rows of bytes.
  StoredTensor stored(const GgufTensor &tensor) const;

  llvm::ArrayRef<std::unique_ptr<SafetensorsFile>> files() const { return parts; }
  /// Gives the files away; tensors that `stored` gave stay valid as long as they live.
  std::vector<std::unique_ptr<SafetensorsFile>> takeFiles() { return std::move(parts); }

  /// Refusals that name the file with the byte, and the key (which begins the message) or the tensor. `damaged` is
  /// H0244, `unsupported` H0507. An empty `help` becomes a general one.
  absl::Status damaged(llvm::StringRef key, std::string message, std::string help = "") const;
  absl::Status unsupported(llvm::StringRef key, std::string message, std::string help = "") const;
  absl::Status damaged(const GgufTensor &tensor, std::string message, std::string help = "") const;
  absl::Status unsupported(const GgufTensor &tensor, std::string message, std::string help = "") const;

private:
  absl::Status add(InputFile file, GgufHeader header);
  absl::Status refuse(Error code, llvm::StringRef key, std::string message, std::string help) const;
  absl::Status refuse(Error code, const GgufTensor &tensor, std::string message, std::string help) const;

  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> table;
  std::vector<const TensorRecord *> records; ///< of `table`
  llvm::StringMap<size_t> byName;
  std::vector<std::unique_ptr<SafetensorsFile>> parts;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFFILE_H
