//===- ModuleHistory.h - a module through all passes ------------*- C++ -*-===//
//
// What each pass changed of a module, function by function. The fingerprint of every function is taken, and only those
// that changed are printed and compared with what they were.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_IRTEXT_MODULEHISTORY_H
#define HEDDLE_COMPILER_IRTEXT_MODULEHISTORY_H

#include "compiler/IRText/FunctionHistory.h"
#include "mlir/IR/OperationSupport.h"
#include <map>

namespace heddle {

/// A change of one function. Besides those of the module there are two: "attributes", those of the module, one a line,
/// and "aliases", the types and attributes that got a name, which are only ever added.
struct NamedChange {
  std::string function;
  bool isCode = true; ///< false: attributes or aliases
  FunctionChange change;

  unsigned dropped() const;
  unsigned added() const;
};

class ModuleHistory {
public:
  /// `places`: as FunctionHistory.
  explicit ModuleHistory(bool places = false) : places(places) {}

  /// Takes the module after one more pass. Functions that are gone come first, then the others in order, then
  /// attributes, then aliases; empty: the pass changed nothing.
  std::vector<NamedChange> step(mlir::ModuleOp module);

private:
  /// What is known of a function that there is.
  struct Known {
    mlir::OperationFingerPrint print;
    FunctionHistory history;
  };

  bool places;
  AliasNames aliases;
  size_t knownAliases = 0;
  std::vector<std::string> order; ///< names of the functions that there are
  std::map<std::string, Known, std::less<>> functions;
  mlir::DictionaryAttr attributes; ///< of the module, but for its stage
  FunctionHistory attributeText;
};

} // namespace heddle

#endif
