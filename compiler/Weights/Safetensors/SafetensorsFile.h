// One safetensors file: its checked header, and its bytes on demand. Opening
// reads the header only.
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SAFETENSORSFILE_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SAFETENSORSFILE_H

#include "compiler/Weights/Files/InputFile.h"
#include "compiler/Weights/Safetensors/SafetensorsHeader.h"

namespace heddle {

class SafetensorsFile {
public:
  static absl::StatusOr<SafetensorsFile> open(llvm::StringRef path, const HeaderLimits &limits = {});
  /// The same for a file that is open already.
  static absl::StatusOr<SafetensorsFile> read(InputFile file, const HeaderLimits &limits = {});

  /// A file of another container, whose tensors are where `table` says: it is inside of the file.
  static SafetensorsFile of(InputFile file, SafetensorsHeader table) {
    return SafetensorsFile(std::move(file), std::move(table));
  }

  const std::string &name() const { return file.name(); }
  const std::string &path() const { return file.path(); }
  const SafetensorsHeader &header() const { return table; }
  const TensorRecord *find(llvm::StringRef name) const { return table.find(name); }

  /// Reads the elements [first, first + to.size()) of `tensor`, one of this
  /// file, and widens them.
  absl::Status readF32(const TensorRecord &tensor, uint64_t first, llvm::MutableArrayRef<float> to) const;
  absl::Status readI64(const TensorRecord &tensor, uint64_t first, llvm::MutableArrayRef<int64_t> to) const;
  /// Reads bytes [first, first + to.size()) of `tensor` as they are in the
  /// file.
  absl::Status readBytes(const TensorRecord &tensor, uint64_t first, llvm::MutableArrayRef<uint8_t> to) const;
  absl::Status recheck() const { return file.recheck(); }

private:
  SafetensorsFile(InputFile file, SafetensorsHeader table) : file(std::move(file)), table(std::move(table)) {}

  InputFile file;
  SafetensorsHeader table;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SAFETENSORSFILE_H
