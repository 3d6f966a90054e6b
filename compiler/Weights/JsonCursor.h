// nlohmann's SAX parser with positions: it reads through an iterator that
// leaves a mark, so every event knows where its token began. Only the events a
// reader asks for are heard; nothing is stored.
#ifndef HEDDLE_COMPILER_WEIGHTS_JSONCURSOR_H
#define HEDDLE_COMPILER_WEIGHTS_JSONCURSOR_H

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

  /// One value from the beginning of the text; false when the reader or the
  /// parser refused. What follows the value is the caller's business.
  template <typename Reader> bool parse(Reader &reader) {
    Iterator first{text.begin(), &mark}, last{text.end(), nullptr};
    return Json::sax_parse(first, last, &reader, Json::input_format_t::json,
                           /*strict=*/false);
  }

  /// Where the token of this event begins: what lies between the last event's
  /// token and this one is only space and punctuation.
  size_t tokenStart() const {
    size_t at = text.find_first_not_of(" \t\r\n,:", before);
    return at == llvm::StringRef::npos ? text.size() : at;
  }
  /// The event is dealt with. (Behind a number the parser has read one byte
  /// more, which is punctuation.)
  void advance() { before = end(); }
  size_t end() const { return mark ? size_t(mark - text.begin()) : 0; }

  /// A number that fits no double ends the parse like a syntax error, but it is
  /// JSON.
  static bool isNumberTooLarge(const Json::exception &error) {
    return error.id == 406;
  }
  llvm::StringRef numberAt(size_t at) const {
    return text.substr(at).take_while(
        [](char c) { return llvm::StringRef("0123456789+-.eE").contains(c); });
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

#endif // HEDDLE_COMPILER_WEIGHTS_JSONCURSOR_H
