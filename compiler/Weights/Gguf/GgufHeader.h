// The header of one GGUF file (llama.cpp's container), versions 2 and 3, as a checked table: values by key, and tensors
// that lie inside of the file without overlap. Under the rules for hostile files: counts and sizes are compared with
// the bytes that are left before memory is taken.
//
//   "GGUF"  u32 version  u64 tensors  u64 values
//   values:  text key, u32 kind, value        text: u64 bytes, then UTF-8; array: u32 kind, u64 count, elements
//   tensors: text name, u32 rank, u64 dimensions (the fastest first), u32 type, u64 offset
//   padding to general.alignment (32 if absent), then data, from which offsets count
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFHEADER_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFHEADER_H

#include "absl/status/statusor.h"
#include "compiler/Weights/Files/InputFile.h"
#include "compiler/Weights/Gguf/GgufType.h"
#include "compiler/Weights/Gguf/GgufValue.h"
#include <map>

namespace heddle {

struct GgufTensor {
  std::string name;
  std::vector<int64_t> shape; ///< the slowest dimension first
  GgufType type = GgufType::F32;
  unsigned part = 0;            ///< which file of a split one
  uint64_t byte = 0, bytes = 0; ///< in that file
  uint64_t headerByte = 0;      ///< of its name
};

struct GgufHeader {
  std::map<std::string, GgufValue, std::less<>> values;
  std::vector<GgufTensor> tensors; ///< in the order of the header
};

bool beginsAsGguf(llvm::StringRef firstBytes);

/// Fails with H0244 for a damaged file, with H0507 for one that is of another version or has types of elements that are
/// not read; names the byte, and the key or the tensor.
absl::StatusOr<GgufHeader> readGgufHeader(const InputFile &file);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFHEADER_H
