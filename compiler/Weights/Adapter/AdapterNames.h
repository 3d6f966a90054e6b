// Names: of a tensor of an adapter, which part of which module it is; of a module, which tensor of the base. Modules
// are called as in the library's class, `transformer.h.0..`, where a checkpoint may have `h.0..`, so names are matched
// at their ends, uniquely.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERNAMES_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERNAMES_H

#include "compiler/Weights/Safetensors/StoredTensor.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace heddle {

/// What a tensor of an adapter is. `Whole`: it replaces a tensor of the base.
enum class AdapterPart { A, B, BiasA, BiasB, EmbeddingA, EmbeddingB, Magnitude, Tokens, Whole };

struct AdapterName {
  AdapterPart part = AdapterPart::Whole;
  std::string module;    ///< without its wrappers; of `Whole` the name of the tensor
  unsigned wrappers = 0; ///< of `base_layer` after the module: each is a wrapper further in

  /// Reads a name such as `base_model.model.M.lora_A.weight`, and the spellings of older files.
  static AdapterName of(llvm::StringRef tensor);
};

/// The tensors of the base by the ends of their names.
class BaseNames {
public:
  explicit BaseNames(llvm::ArrayRef<StoredTensor> tensors);

  /// The tensor with this name; else the only one of which one name is the end of the other. Null: none, or several.
  const StoredTensor *find(llvm::StringRef name) const;
  /// The same for the weight of a module, or for a parameter of this name.
  const StoredTensor *weightOf(llvm::StringRef module) const;

private:
  const StoredTensor *search(llvm::StringRef name) const;

  llvm::StringMap<const StoredTensor *> whole;
  llvm::StringMap<const StoredTensor *> ends; ///< from after each dot on; null where several tensors end so
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERNAMES_H
