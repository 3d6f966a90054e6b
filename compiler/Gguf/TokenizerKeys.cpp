//===- TokenizerKeys.cpp - Typed values of tokenizer keys -----------------===//

#include "compiler/Gguf/TokenizerKeys.h"
#include "heddle/utf8.h"
#include <cmath>

namespace heddle {

using llvm::StringRef;

bool TokenizerKeys::damaged(StringRef key, std::string message) {
  status.Update(file.damaged(key, std::move(message)));
  return false;
}

bool TokenizerKeys::unsupported(StringRef key, std::string message) {
  status.Update(file.unsupported(key, std::move(message)));
  return false;
}

template <typename T> std::optional<T> TokenizerKeys::expect(std::optional<T> value, StringRef key, const char *what) {
  if (const GgufValue *found = file.find(key); found && !value)
    damaged(key, std::string("expected ") + what + ", found " + found->what());
  return value;
}

std::optional<int64_t> TokenizerKeys::integer(StringRef key) {
  const GgufValue *value = file.find(key);
  return expect(value ? value->integer() : std::nullopt, key, "a whole number");
}

std::optional<double> TokenizerKeys::number(StringRef key) {
  const GgufValue *value = file.find(key);
  std::optional<double> number = value ? value->number() : std::nullopt;
  return expect(number && std::isfinite(*number) ? number : std::nullopt, key, "a finite number");
}

std::optional<bool> TokenizerKeys::flag(StringRef key) {
  const GgufValue *value = file.find(key);
  std::optional<bool> flag = value ? value->boolean() : std::nullopt;
  if (std::optional<int64_t> number = value ? value->integer() : std::nullopt)
    flag = *number != 0;
  return expect(flag, key, "true or false");
}

std::optional<StringRef> TokenizerKeys::text(StringRef key) {
  const GgufValue *value = file.find(key);
  std::optional<StringRef> text = value ? value->text() : std::nullopt;
  return expect(text && isUtf8(*text) ? text : std::nullopt, key, "a text in UTF-8");
}

std::optional<std::vector<StringRef>> TokenizerKeys::texts(StringRef key) {
  const GgufValue *value = file.find(key);
  return expect(value ? value->texts() : std::nullopt, key, "a list of texts");
}

std::optional<std::vector<int64_t>> TokenizerKeys::integers(StringRef key) {
  const GgufValue *value = file.find(key);
  return expect(value ? value->integers() : std::nullopt, key, "a list of whole numbers");
}

std::optional<std::vector<double>> TokenizerKeys::numbers(StringRef key) {
  const GgufValue *value = file.find(key);
  return expect(value ? value->numbers() : std::nullopt, key, "a list of numbers");
}

} // namespace heddle
