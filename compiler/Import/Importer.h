// Internal to the importer: the state of one import. Its methods are spread over files by
// what they deal with; each section below names its file.
#ifndef HEDDLE_COMPILER_IMPORT_IMPORTER_H
#define HEDDLE_COMPILER_IMPORT_IMPORTER_H

#include "compiler/Import/Description.h"
#include "compiler/Import/Evaluator.h"
#include "compiler/Import/Import.h"
#include "compiler/Import/WeightNames.h"
#include "mlir/IR/OwningOpRef.h"
#include <set>

namespace heddle {

class Importer {
public:
  Importer(mlir::MLIRContext &context, const ImportOptions &options, DiagnosticSink &sink);
  ~Importer();

  mlir::OwningOpRef<mlir::ModuleOp> run();

  //===--- Importer.cpp: the order of things ------------------------------------===//
  void dropDeadValues();

  //===--- Files.cpp: what stands at the path -----------------------------------===//
  bool open();
  bool openDirectory(const std::string &directory, std::string configText);
  std::optional<std::string> readText(const std::string &path);
  void openWeights();
  void reportMissing();
  bool readWeightSpec(WeightNames::Spec &spec, std::string &file);

  using Element = Emitter::Element;

  //===--- Inputs.cpp: the signature -------------------------------------------===//
  void readInputs(Environment &env);
  void collectDims(const InputSpec &input, llvm::StringRef type);
  mlir::Type readType(const InputSpec &input, llvm::StringRef type);
  void runDefault(const InputSpec &input, mlir::Value argument, Environment &env);
  void writeOutputs(Environment &env);
  void writeModuleAttributes();

  //===--- Body.cpp: statements, groups, repeats -------------------------------===//
  void runBody(const std::vector<Statement> &body, const Scope &scope, const std::string &weights);
  void runStatement(const Statement &s, const Scope &scope, const std::string &weights);
  void runBinding(const Statement &s, const Scope &scope, const std::string &weights);
  void runRepeat(const Statement &s, const Scope &scope, const std::string &weights);
  std::string into(const std::string &weights, const Statement &s, const Scope &scope);

  //===--- Calls.cpp: blocks, attributes, defaults -----------------------------===//
  std::vector<Value> runCall(const CallSpec &call, const Scope &scope, const std::string &weights);
  std::vector<Value> runBlock(const BlockSpec &block, std::vector<Value> operands,
                              const CallSpec *call, const Scope &scope,
                              const std::string &weights, At at);
  struct Defaults { // op or block -> attribute -> value
    std::map<std::string, std::map<std::string, Value, std::less<>>, std::less<>> of;
  };
  void pushDefaults(const JsonValue *defaults, const Scope &scope);
  void popDefaults();
  Value defaultOf(llvm::StringRef op, llvm::StringRef attribute) const;

  //===--- Roll.cpp: alike iterations become one body --------------------------===//
  /// A repeat as it was written out: a marker in front of every iteration and one behind
  /// the last. Rolled when all is imported, since only then all uses are known.
  struct Unrolled {
    llvm::SmallVector<mlir::Operation *> markers;
    mlir::Location location;
  };
  mlir::Operation *marker(At at);
  void rollRepeats();
  std::vector<Unrolled> unrolled;

  // State
  const ImportOptions &options;
  DiagnosticSink &sink;
  FamilyLibrary families;
  Expressions expressions;
  Places places;
  Emitter in;
  Evaluator evaluator;
  std::unique_ptr<Description> doc;
  bool isFamily = false;
  ConfigFile config;

  std::string directory; // of the description or of the model
  std::string weightsFile;
  bool weightsComplained = false;
  std::unique_ptr<WeightTable> ownWeights;
  const WeightTable *table = nullptr;
  std::unique_ptr<WeightNames> weightNames;

  std::vector<std::unique_ptr<Defaults>> defaults;
  /// Weights that an op asks for and the files do not have: told together (WeightShapes.cpp).
  struct Missing {
    Loc shown, asked; ///< in the user's file; of the op itself
    std::string path, block, name, why;
    std::string expected; ///< its shape as far as the op knows it
  };
  std::vector<Missing> missing;
  std::optional<int64_t> width; // that the model, or a tower of it, last named, where shapes are made up
  bool incomplete = false; // an output is unknown, since no weights were there to look at

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *function = nullptr;
  std::vector<std::string> activeInputs, boundOutputs;
};

std::string joinName(llvm::StringRef scope, llvm::StringRef name);

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_IMPORTER_H
