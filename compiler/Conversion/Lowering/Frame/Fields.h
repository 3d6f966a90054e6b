//===- Fields.h - numbers and forms in a dictionary -------------*- C++ -*-===//
//
// What passes note for later ones stands in dictionaries (`heddle.costs`, `heddle.launch`), and a file that was saved
// between two stages may hold anything there. Whoever reads one says what is missing or is no form.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_FIELDS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_FIELDS_H

#include "dialects/Model/IR/Size.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Twine.h"

namespace heddle::loops {

using ErrorOf = llvm::function_ref<void(const llvm::Twine &)>;

class Fields {
public:
  /// Of `attribute`, which should be a dictionary; `name` is what errors call it.
  Fields(mlir::Attribute attribute, llvm::StringRef name, ErrorOf error);

  /// Whether all that was asked for was there.
  bool whole() const { return good; }
  bool has(llvm::StringRef key) const { return all && all.get(key); }
  std::string text(llvm::StringRef key);
  int64_t number(llvm::StringRef key, int64_t least);
  bool flag(llvm::StringRef key);
  model::Size form(llvm::StringRef key);
  /// The elements of an array.
  llvm::ArrayRef<mlir::Attribute> elements(llvm::StringRef key);
  std::vector<std::string> texts(llvm::StringRef key);
  std::vector<int64_t> numbers(llvm::StringRef key);

private:
  void miss(llvm::StringRef key, llvm::StringRef what);
  template <typename T> T get(llvm::StringRef key, llvm::StringRef what) {
    T value = all ? all.getAs<T>(key) : T();
    if (!value)
      miss(key, what);
    return value;
  }

  mlir::DictionaryAttr all;
  llvm::StringRef name;
  ErrorOf error;
  bool good = true;
};

} // namespace heddle::loops

#endif
