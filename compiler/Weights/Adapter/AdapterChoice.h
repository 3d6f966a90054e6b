// Which adapter is merged, and by how much: `--lora DIR[:SCALE]`, and the attribute `model.adapters`.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERCHOICE_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERCHOICE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct AdapterChoice {
  std::string folder;
  double scale = 1; ///< factor of the adapter's products; finite

  /// "DIR:SCALE", always with a scale. `parse` gives the same choice back.
  std::string text() const;
  /// "DIR" or "DIR:SCALE". A folder that has this whole name is meant without a scale. None with `error`.
  static std::optional<AdapterChoice> parse(llvm::StringRef text, std::string &error);

  /// A file of its folder.
  std::string file(llvm::StringRef name) const;
  static constexpr llvm::StringLiteral configName = "adapter_config.json", weightsName = "adapter_model.safetensors";
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERCHOICE_H
