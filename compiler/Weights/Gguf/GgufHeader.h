// The beginning of a GGUF file (llama.cpp's container), versions 2 and 3, as a checked table: the few values that say
// which model it is, and where its tensors are. Strings and arrays that are not needed, such as the vocabulary, are
// passed over. Under the rules for hostile files: nothing is reserved that the file does not have.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFHEADER_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFHEADER_H

#include "absl/status/statusor.h"
#include "compiler/Weights/Files/InputFile.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// How the elements of a tensor are stored. Q8_0: blocks of an f16 scale and 32 signed bytes. Q4_0: an f16 scale and 16
/// bytes, the low nibbles elements 0 to 15, the high ones 16 to 31, each 8 too large.
enum class GgufType : uint8_t { F32, F16, BF16, Q8_0, Q4_0 };

struct GgufTensor {
  std::string name;
  std::vector<int64_t> shape; ///< the slowest dimension first
  GgufType type = GgufType::F32;
  uint64_t byte = 0, bytes = 0; ///< in the file
  uint64_t headerByte = 0;      ///< of its name
};

/// A number among the values, and the byte where it is.
struct GgufNumber {
  double value = 0;
  uint64_t byte = 0;
  bool whole = false; ///< stored as an integer or a bool

  /// The number where it is stored as an integer that a double holds exactly.
  std::optional<int64_t> integer() const;
};

struct GgufHeader {
  /// `general.architecture`.
  std::string architecture;
  /// By key.
  std::map<std::string, GgufNumber> numbers;
  std::vector<GgufTensor> tensors;
};

bool beginsAsGguf(llvm::StringRef firstBytes);

absl::StatusOr<GgufHeader> readGgufHeader(const InputFile &file);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFHEADER_H
