//===- HeaderCursor.h - JSON token by token ---------------------*- C++ -*-===//
//
// The grammar of JSON over a text in UTF-8, with the place of every token. No
// document is built.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_HEADERCURSOR_H
#define HEDDLE_RUNTIME_BASE_HEADERCURSOR_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::base {

class HeaderCursor {
protected:
  explicit HeaderCursor(std::string_view header) : header(header) {}
  virtual ~HeaderCursor() = default;

  /// Says that the text is not JSON from `place` on; returns false, as all that finds this does.
  virtual bool notJson(size_t place) = 0;

  bool sees(char c) const { return at < header.size() && header[at] == c; }
  bool seesNumber() const { return sees('-') || (at < header.size() && header[at] >= '0' && header[at] <= '9'); }
  void skipSpace();
  /// Takes `c` behind space, if it is there.
  bool take(char c);
  bool expect(char c) { return take(c) || notJson(at); }
  bool string(std::string &out);
  /// `spelled` becomes the number's text.
  bool number(std::string_view &spelled);
  bool word(std::string_view expected);
  /// What follows `{`: `key` is called for each name and its place, before `member` reads the value.
  template <typename Key, typename Member> bool members(Key key, Member member) {
    if (take('}'))
      return true;
    std::string name;
    do {
      skipSpace();
      size_t place = at;
      if (!string(name) || !key(name, place) || !expect(':') || !member())
        return false;
    } while (take(','));
    return expect('}');
  }
  /// What follows `[`.
  template <typename Item> bool items(Item item) {
    if (take(']'))
      return true;
    do
      if (!item())
        return false;
    while (take(','));
    return expect(']');
  }

  std::string_view header;
  size_t at = 0;

private:
  bool escape(std::string &out);
  bool hex4(uint32_t &value);
  bool digits();
};

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_HEADERCURSOR_H
