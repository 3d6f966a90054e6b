//===- ModelFacts.h - what a model is before it is compiled -----*- C++ -*-===//
//
// The facts of `heddle info`, gathered from headers and small files alone. What a model's files do not say is absent;
// what is wrong with them is a problem in the list, and no reason to say nothing else.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_MODELINFO_MODELFACTS_H
#define HEDDLE_COMPILER_MODELINFO_MODELFACTS_H

#include "compiler/Driver/Options.h"
#include "heddle/errors.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A tensor as it is stored.
struct TensorFact {
  std::string name, type; ///< "BF16", "Q4_K"
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  size_t file = 0; ///< in `files`

  uint64_t numbers() const;
};

struct FileFact {
  std::string path;
  uint64_t bytes = 0; ///< of its tensors
};

/// Why it cannot be compiled, or a warning.
struct ProblemFact {
  bool isError = true;
  Error code = Error::OurMistake;
  std::string message;
};

/// What one call of an entry takes, with every row that may be padding counted as a row.
struct CostFact {
  std::string entry;                   ///< "step"
  std::string what;                    ///< for people: "a prompt of 256 tokens"
  std::map<std::string, int64_t> dims; ///< the lengths of that call
  int64_t operations = 0;              ///< multiplications and additions of products
  int64_t bytes = 0;                   ///< of weights and caches that are read, each once
  std::string operationsForm, bytesForm;
};

struct ModelFacts {
  std::string path;
  std::string kind;                  ///< "a Hugging Face directory"
  std::string modelType;             ///< of config.json, or the architecture of a GGUF file
  std::vector<std::string> classes;  ///< `architectures` of config.json
  std::string family;                ///< the family file that describes it; "" if there is none
  std::string name;                  ///< as the model calls itself
  std::vector<std::string> adapters; ///< that are merged into it
  std::string licence, licenceFrom;
  std::vector<std::pair<std::string, int64_t>> sizes; ///< "layers", 32
  std::optional<int64_t> context;                     ///< positions that it was made for
  std::string quantisation;                           ///< "gptq, 4 bits", as config.json says it
  std::vector<TensorFact> tensors;
  std::vector<FileFact> files;
  std::string tokenizer; ///< where it is read from; "" if there is none
  uint32_t ids = 0;      ///< of the tokenizer
  std::string whyNoTokenizer;
  std::string chatTemplate;         ///< the file
  std::string pooling;              ///< how hidden states become a vector
  bool takesTexts = false;          ///< without a tokenizer it takes ids
  bool known = false;               ///< it was read as a model, not as a table of tensors alone
  std::vector<std::string> missing; ///< what must be added before it can be compiled
  std::vector<ProblemFact> problems;
  std::vector<CostFact> costs; ///< empty where it cannot be compiled
  std::string wrongDims;       ///< what is wrong with --dims

  bool compiles() const;
};

/// Gathers the facts of the model at `options.path`.
ModelFacts gatherFacts(const CompileOptions &options);

/// Adds what calls of the model take: one new token and a prompt, or a call at the lengths of `options.dims`, declared
/// bounds otherwise. The stages up to `tiled` change the module.
void addCosts(const CompileOptions &options, mlir::ModuleOp module, ModelFacts &facts);

/// Adds what the metadata and the headers of a GGUF file say; false if it cannot be read, which is then a problem.
bool addGgufFacts(const std::string &path, const FamilyLibrary &families, ModelFacts &facts);

/// As a page for people; every tensor by itself, or those that differ in numbers alone in one line.
void printFacts(const ModelFacts &facts, bool everyTensor, llvm::raw_ostream &os);
/// As one JSON object with all tensors.
void printFactsJson(const ModelFacts &facts, llvm::raw_ostream &os);

} // namespace heddle

#endif // HEDDLE_COMPILER_MODELINFO_MODELFACTS_H
