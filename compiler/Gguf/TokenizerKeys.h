//===- TokenizerKeys.h - Typed values of tokenizer keys ---------*- C++ -*-===//
//
// Reads keys of a GGUF file that are not always there. A value of another kind is an error that names the key.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_GGUF_TOKENIZERKEYS_H
#define HEDDLE_COMPILER_GGUF_TOKENIZERKEYS_H

#include "compiler/Weights/Gguf/GgufFile.h"

namespace heddle {

/// Every function returns none where the key is absent, and after an error, which `status` keeps (the first one).
class TokenizerKeys {
public:
  explicit TokenizerKeys(const GgufFile &file) : file(file) {}

  bool has(llvm::StringRef key) const { return file.find(key); }
  std::optional<int64_t> integer(llvm::StringRef key);
  /// A finite number.
  std::optional<double> number(llvm::StringRef key);
  /// A truth value, or a number that is or is not 0.
  std::optional<bool> flag(llvm::StringRef key);
  /// A text in UTF-8.
  std::optional<llvm::StringRef> text(llvm::StringRef key);
  /// An array of texts, which may be any bytes.
  std::optional<std::vector<llvm::StringRef>> texts(llvm::StringRef key);
  std::optional<std::vector<int64_t>> integers(llvm::StringRef key);
  std::optional<std::vector<double>> numbers(llvm::StringRef key);

  /// Keeps the first error; false, so that it can be returned.
  bool damaged(llvm::StringRef key, std::string message);
  bool unsupported(llvm::StringRef key, std::string message);
  bool ok() const { return status.ok(); }

  absl::Status status;

private:
  template <typename T> std::optional<T> expect(std::optional<T> value, llvm::StringRef key, const char *what);

  const GgufFile &file;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_GGUF_TOKENIZERKEYS_H
