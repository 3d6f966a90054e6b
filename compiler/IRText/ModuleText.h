//===- ModuleText.h - a printed module, line by line ------------*- C++ -*-===//
//
// The text of a module as people compare it: without locations, one line an op, and beside each line where it comes
// from. Aliases of types and attributes keep the names that they had first, whatever the printer calls them today.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_IRTEXT_MODULETEXT_H
#define HEDDLE_COMPILER_IRTEXT_MODULETEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// One line, without its location.
struct TextLine {
  std::string text;
  /// Of the op that the line prints, or that it is a brace or a label of; null: of an attribute.
  mlir::LocationAttr where;
};

/// An op at the top of a module: a function, a table, a kernel's module.
struct FunctionText {
  std::string name;
  std::vector<TextLine> lines;
};

/// Names of aliases (`#arena4`, `!B_T_f`) that mean the same in every text of a compilation.
class AliasNames {
public:
  /// The lasting name of what the printer calls `name` here. `definition`: with lasting names inside.
  std::string lasting(llvm::StringRef name, llvm::StringRef definition);
  /// All of them, in the order of their first use: name and definition.
  const std::vector<std::pair<std::string, std::string>> &all() const { return order; }

private:
  llvm::StringMap<std::string> known; ///< by definition
  llvm::StringSet<> taken;
  std::vector<std::pair<std::string, std::string>> order;
};

struct ModuleText {
  std::string head;                    ///< the line of the module, with its attributes but for `heddle.stage`
  std::vector<FunctionText> functions; ///< in order

  static ModuleText of(mlir::ModuleOp module);
  /// Of these functions of the module alone. Aliases get their lasting names, and `names` takes new ones in. Constants
  /// of many numbers are shortened.
  static ModuleText of(mlir::ModuleOp module, llvm::ArrayRef<mlir::Operation *> functions, AliasNames &names);
};

/// The name of an op at the top of a module: its symbol; that of its kind where it has none.
std::string functionName(mlir::Operation &op);

/// The attributes of a module's line, one a line.
std::vector<TextLine> attributeLines(llvm::StringRef head);

/// Calls `found(begin, end)` for each name in `text` that begins with one of `sigils` ("%x_1", "^bb3", "#arena"),
/// outside of strings; in order.
void forEachName(llvm::StringRef text, llvm::StringRef sigils,
                 llvm::function_ref<void(size_t begin, size_t end)> found);

/// `text` with other names in the place of these.
std::string withNames(llvm::StringRef text, llvm::StringRef sigils,
                      llvm::function_ref<llvm::StringRef(llvm::StringRef)> newName);

} // namespace heddle

#endif
