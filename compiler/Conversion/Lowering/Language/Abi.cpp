//===- Abi.cpp - types of MLIR for the rows of abi.def ----------------------===//
//
// Expands the rows of abi.def to types of MLIR: the signature of entries and of the functions they may call.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/Language/Abi.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace heddle;
using llvm::StringRef;

namespace {
/// The words of abi.def. Pointers carry the name of what they point to.
enum Word { none, i32, i64, f32, f64, ctx, dims, tensors, arena, weights };
} // namespace

#define HEDDLE_WORDS(name, ...) static constexpr Word name[] = {__VA_ARGS__};
#define HEDDLE_ENTRY(...) HEDDLE_WORDS(kEntry, __VA_ARGS__)
#define HEDDLE_FN(symbol, ...) HEDDLE_WORDS(words_##symbol, __VA_ARGS__)
#include "runtime/include/heddle/abi.def"

/// The functions that generated code may call, each with the words of its result and arguments.
static constexpr std::pair<StringRef, llvm::ArrayRef<Word>> kFunctions[] = {
#define HEDDLE_FN(symbol, ...) {#symbol, words_##symbol},
#include "runtime/include/heddle/abi.def"
};

/// The type that words stand for; the first word is the result.
static FunctionType typeOf(llvm::ArrayRef<Word> words, MLIRContext *context) {
  auto type = [&](Word word) -> Type {
    switch (word) {
    case i32: return IntegerType::get(context, 32);
    case i64: return IntegerType::get(context, 64);
    case f32: return Float32Type::get(context);
    case f64: return Float64Type::get(context);
    default: return LLVM::LLVMPointerType::get(context);
    }
  };
  llvm::SmallVector<Type> results, arguments;
  if (words.front() != none)
    results.push_back(type(words.front()));
  for (Word word : words.drop_front())
    arguments.push_back(type(word));
  return FunctionType::get(context, arguments, results);
}

FunctionType heddle::abi::entryType(MLIRContext *context) { return typeOf(kEntry, context); }

std::optional<FunctionType> heddle::abi::functionType(StringRef symbol, MLIRContext *context) {
  for (auto &[name, words] : kFunctions)
    if (name == symbol)
      return typeOf(words, context);
  return std::nullopt;
}
