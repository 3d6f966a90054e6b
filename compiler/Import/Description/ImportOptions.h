// What an import is asked for: the model, and what the command line says of it.
#ifndef HEDDLE_COMPILER_IMPORT_DESCRIPTION_IMPORTOPTIONS_H
#define HEDDLE_COMPILER_IMPORT_DESCRIPTION_IMPORTOPTIONS_H

#include "compiler/Folder/ModelFolder.h"
#include "compiler/Import/Description/Library.h"
#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

class WeightTable;

/// What a model from standard input is called in messages (Defaults.h).
constexpr llvm::StringLiteral kStandardInput = "<stdin>";

/// A weight that a model needs, for `heddle weights`.
struct NeededWeight {
  std::string name;           ///< in the files, or as the model asks for it, without the prefix
  std::vector<int64_t> shape; ///< -1: a length that the description leaves to the file
  std::string dtype;          ///< as safetensors calls it: that of the file, or F32
  bool stored = false;        ///< it is in the files
  bool optional = false;      ///< without it an output is left out
  bool assumed = false;       ///< parts of the shape are not said, but the width of the model
};

struct ImportOptions {
  std::string modules; ///< the folder of modules.json, where it is not that of the model (sentence-transformers)
  /// --pool: kinds of pooling joined by `+`, instead of modules.json; `none`: no vectors; "": what modules.json says.
  std::string pool;
  bool bodyAlone = false; ///< of a family the class without a head, whichever config.json names: for vectors
  /// The path of a description, of a Hugging Face directory, of a config.json under any name, or of a GGUF file.
  std::string path;
  /// What a GGUF file says in the place of a directory's files; the driver makes it (compiler/Gguf).
  std::optional<ModelFolder> made;
  /// The files of the model: those that were made, those of the directory, or those next to the file.
  ModelFolder folder() const;
  /// --set NAME=VALUE: VALUE is JSON, or else a string.
  std::vector<std::pair<std::string, std::string>> sets;
  /// --weights: replaces the file that the description names.
  std::string weightsPath;
  /// --lora: adapters that are merged into the weights, in this order.
  std::vector<AdapterChoice> adapters;
  /// --target-tokenizer: the tokenizer of what the model writes, a file or a folder.
  std::string targetTokenizer;
  /// --bound DIM=MAX, in addition to the description's `dims`.
  std::vector<std::pair<std::string, int64_t>> bounds;
  bool outputsAll = false;
  /// --masked-rows: zero, nan or mean.
  std::string maskedRows = "zero";
  /// Without weights, go on as far as shapes are known (heddle mask).
  bool weightsOptional = false;
  /// Then also invent shapes that the description leaves to the file (heddle mask).
  bool weightsInvented = false;
  /// A config.json alone may lack weights, but weights that a description names must exist (heddle check).
  bool configAlone = false;
  /// Read headers of weights only: tied copies are not compared byte by byte (heddle check).
  bool headersOnly = false;
  /// --ignore-config: keys of config.json to treat as absent.
  std::vector<std::string> ignoreConfig;
  /// --force: of those also keys that carry meaning.
  bool force = false;
  /// --ignore-weights: patterns of tensors that need not be read.
  std::vector<std::string> ignoreWeights;
  /// Family files in addition to those that are compiled in.
  FamilyLibrary families;

  /// Not null: what weights the model needs is written here, whether there are any or not, and none is missed.
  std::vector<NeededWeight> *needed = nullptr;

  // Instead of files, for tests and fuzzing: the texts, and a table of the weights.
  std::optional<std::string> text, configText;
  const WeightTable *weights = nullptr;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_DESCRIPTION_IMPORTOPTIONS_H
