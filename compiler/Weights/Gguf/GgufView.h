// The tensors of a GGUF file as those of the Hugging Face checkpoint that it was made from: under their names, with
// what llama.cpp's converter did to them undone.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFVIEW_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFVIEW_H

#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/StatedNumber.h"
#include "compiler/Weights/Gguf/GgufArchitectures.h"
#include "llvm/ADT/StringMap.h"

namespace heddle {

struct GgufView {
  /// The parts of the file, whose tables list the tensors as they are stored.
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  std::vector<std::unique_ptr<CodedTensor>> matrices;
  std::vector<std::string> unneeded;
  /// What the file says of its model in numbers.
  std::vector<StatedNumber> stated;
  GgufArchitecture architecture;
  /// The stored tensor that a tensor of the checkpoint is made of (the first, if several), by its name.
  llvm::StringMap<std::string> origins;
};

absl::StatusOr<GgufView> openGguf(InputFile file);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFVIEW_H
