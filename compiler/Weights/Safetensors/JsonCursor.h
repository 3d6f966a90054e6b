// nlohmann's SAX parser with positions: it reads through an iterator that
// records how far it got, so every event knows the offset of its token. No
// document is built.
#ifndef HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_JSONCURSOR_H
#define HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_JSONCURSOR_H

#include "llvm/ADT/StringRef.h"
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle {

class JsonCursor {
public:
  using Json = nlohmann::json;

protected:
  explicit JsonCursor(llvm::StringRef text) : text(text) {}

  /// Parses one value at the beginning of the text; false if the reader or the
  /// parser refused. The caller checks what follows the value.
  template <typename Reader> bool parse(Reader &reader) {
    Iterator first{text.begin(), &mark}, last{text.end(), nullptr};
    return Json::sax_parse(first, last, &reader, Json::input_format_t::json,
                           /*strict=*/false);
  }

  /// Offset of this event's token: between the last event's token and this one
  /// there is only space and punctuation.
  size_t tokenStart() const {
    size_t at = text.find_first_not_of(" \t\r\n,:", before);
    return at == llvm::StringRef::npos ? text.size() : at;
  }
  /// Ends an event. (Behind a number the parser has read one more byte, which
  /// is punctuation.)
  void advance() { before = end(); }
  size_t end() const { return mark ? size_t(mark - text.begin()) : 0; }

  /// Whether the parse ended at a number too large for a double: the parser
  /// calls it a syntax error, but it is JSON.
  static bool isNumberTooLarge(const Json::exception &error) { return error.id == 406; }
  llvm::StringRef numberAt(size_t at) const {
    return text.substr(at).take_while([](char c) { return llvm::StringRef("0123456789+-.eE").contains(c); });
  }

  llvm::StringRef text;

private:
  struct Iterator {
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    const char *at;
    const char **mark;

    reference operator*() const { return *at; }
    Iterator &operator++() {
      *mark = ++at;
      return *this;
    }
    bool operator==(const Iterator &other) const { return at == other.at; }
    bool operator!=(const Iterator &other) const { return at != other.at; }
  };

  const char *mark = nullptr;
  size_t before = 0;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_SAFETENSORS_JSONCURSOR_H
