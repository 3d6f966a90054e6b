// `quantization_config` of config.json, or an older file of its own next to it (that of AutoGPTQ, that of AutoAWQ): the
// method and what the tensors do not say of it. Keys that say how the codes were found are of no concern.
#ifndef HEDDLE_COMPILER_IMPORT_WEIGHTS_QUANTISEDCONFIG_H
#define HEDDLE_COMPILER_IMPORT_WEIGHTS_QUANTISEDCONFIG_H

#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/Weights/Coded/CodedScheme.h"

namespace heddle {
struct Session;
struct Source;

struct QuantisedConfig {
  CodedScheme scheme;
  /// Where the config is, and the file that it is in.
  Loc loc;
  std::string path;
  /// What the lists exclude: names, parts of names or, behind `re:`, patterns; with the key of the list.
  struct Excluded {
    std::string key, pattern;
  };
  std::vector<Excluded> excluded;

  /// The entry that keeps the module of a weight from being quantised; null if there is none.
  const Excluded *exclusionOf(llvm::StringRef weight) const;
};

/// None after an error; without a method where nothing is quantised.
std::optional<QuantisedConfig> readQuantisedConfig(Session &session, const Source &source);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_WEIGHTS_QUANTISEDCONFIG_H
