// adapter_config.json of a LoRA adapter, as peft writes it: which modules, and by which factor. Read strictly: a key
// that changes what is computed and that is not merged here is refused by its name, as is a key that nobody knows.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERCONFIG_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERCONFIG_H

#include "compiler/Weights/Adapter/ConfigTree.h"
#include "compiler/Weights/Adapter/ModulePattern.h"
#include "compiler/Weights/Files/Problem.h"
#include <map>

namespace heddle {

/// What to do with an adapter that is not merged here.
inline constexpr llvm::StringLiteral mergeInPython =
    "merge it in Python (model.merge_and_unload(), model.save_pretrained(DIR)) and compile DIR";

class AdapterConfig {
public:
  /// Reads the file at `path`.
  static absl::StatusOr<AdapterConfig> read(llvm::StringRef path);

  /// `base_model_name_or_path`; empty where it is null or absent.
  std::string base;
  bool dora = false, rootScale = false; ///< use_dora; use_rslora
  bool inOut = false;                   ///< fan_in_fan_out
  std::vector<std::string> saved;       ///< modules_to_save
  bool replacesBiases = false;          ///< bias: all or lora_only
  /// target_parameters: names of parameters, such as mlp.experts.gate_up_proj.
  std::vector<std::string> parameters;
  /// trainable_token_indices: the end of a module's name (empty: any), and rows of its table.
  struct Tokens {
    std::string module;
    std::vector<int64_t> rows;
  };
  std::vector<Tokens> tokens;
  /// Keys that are null and that nobody knows.
  std::vector<std::string> unknown;

  /// Whether target_modules, less exclude_modules and within layers_to_transform, names a module; the rules are those
  /// of peft's check_target_module_exists.
  bool targets(llvm::StringRef module) const;
  /// Whether it names modules one by one, or by an expression: not all-linear.
  bool listsTargets() const { return !allLinear; }
  /// The rank that rank_pattern or r gives to a module.
  int64_t rankOf(llvm::StringRef module) const;
  /// alpha of the module over `rank`, or over its root.
  double scaleOf(llvm::StringRef module, int64_t rank) const;
  /// An error if an expression takes too long for the names of this model.
  absl::Status checkEffort() const;

  /// A refusal at the value of a key, or at the file where the key is absent.
  WeightProblem problemAt(llvm::StringRef key, std::string message, std::string help, Error code) const;

private:
  class Reader;

  /// A list of names, or an expression.
  struct Choice {
    std::vector<std::string> names;
    std::optional<ModulePattern> pattern;
    bool given = false;
    bool has(llvm::StringRef module) const;
  };
  template <typename T> struct ByPattern {
    ModulePattern pattern;
    T value;
  };

  std::string file;
  std::map<std::string, uint64_t> places; ///< where the value of a key stands
  Choice target, excluded;
  bool allLinear = false;
  std::vector<ModulePattern> savedPatterns, layerPatterns;
  std::vector<int64_t> layers;
  int64_t rank = 8;
  double alpha = 8;
  std::vector<ByPattern<int64_t>> ranks;
  std::vector<ByPattern<double>> alphas;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_ADAPTERCONFIG_H
