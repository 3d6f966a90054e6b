// The header of a safetensors file as a checked table, which the reader that is
// shared with the runtime makes (runtime/Base/TensorHeader.h). The numbers are
// rules 2 to 24 (README).
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SAFETENSORSHEADER_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SAFETENSORSHEADER_H

#include "absl/status/statusor.h"
#include "compiler/Weights/Files/StoredType.h"
#include "runtime/Base/TensorHeader.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// One tensor of one file. Names and shapes live as long as the header.
struct TensorRecord {
  llvm::StringRef name;
  llvm::ArrayRef<int64_t> shape;
  StoredType type = StoredType::F32;
  /// Offset of its bytes from the beginning of the file (not of the data).
  uint64_t byte = 0;
  uint64_t bytes = 0;
  /// Offset of its name in the file, for messages.
  uint64_t headerByte = 0;

  uint64_t elements() const { return bytes / width(type); }
};

using base::HeaderLimits;

struct SafetensorsHeader {
  /// Ordered by name.
  std::vector<TensorRecord> tensors;
  /// `__metadata__`, in the file's order.
  std::vector<std::pair<std::string, std::string>> metadata;

  const TensorRecord *find(llvm::StringRef name) const;

  std::unique_ptr<llvm::BumpPtrAllocator> storage;
};

/// `header` is what follows the 8 bytes of the length; `fileBytes` the size of
/// the whole file; `file` is only printed. Rules 3 to 24.
absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(llvm::StringRef header, uint64_t fileBytes,
                                                         llvm::StringRef file, const HeaderLimits &limits = {});

/// Rules 1 and 2: the header's length out of the first bytes of a file.
absl::StatusOr<uint64_t> safetensorsHeaderLength(llvm::StringRef firstBytes, uint64_t fileBytes, llvm::StringRef file,
                                                 const HeaderLimits &limits = {});

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_SAFETENSORSHEADER_H
