// A LoRA adapter as peft saves it, merged into the tensors of a store: what changes is offered under the names of the
// base, and computed when it is read.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERVIEW_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERVIEW_H

#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "compiler/Weights/Adapter/MergedTensor.h"

namespace heddle {

struct AdapterView {
  std::unique_ptr<SafetensorsFile> file;
  /// Each stands for the tensor of the base that has its name.
  std::vector<std::unique_ptr<MergedTensor>> merged;
  /// Tensors of the adapter that replace one of the base, under its name.
  std::vector<std::unique_ptr<TensorRecord>> replaced;
  /// What a user may want to know, in words.
  std::vector<std::string> remarks;
};

/// Reads the config and the header of an adapter and plans the merge into `tensors`, all of a store. Numbers are read
/// later, and only then is one found that is not finite.
absl::StatusOr<AdapterView> viewAdapter(const AdapterChoice &choice, llvm::ArrayRef<StoredTensor> tensors);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERVIEW_H
