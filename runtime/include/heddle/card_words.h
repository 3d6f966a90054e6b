//===- card_words.h - Texts inside the card ---------------------*- C++ -*-===//
//
// Every text of the card is one word, so that no name, label or path can end its
// line or begin another: the compiler writes it by `cardWord`, the runtime reads
// it by `textOfCardWord`, and each text has exactly one spelling.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_CARD_WORDS_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_CARD_WORDS_H

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace heddle {

/// `text` as a word: letters, digits and some marks stand for themselves, every
/// other byte is %41 and so on; the empty text is a lone %.
inline std::string cardWord(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string word(text.empty() ? "%" : "");
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        (c && std::strchr("-_.,:;!?()[]{}<>|/+*=&'", c)))
      word += c;
    else
      (word += '%').append({kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return word;
}

/// The text that `word` stands for; none where `cardWord` would not have written
/// it so.
inline std::optional<std::string> textOfCardWord(std::string_view word) {
  auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  std::string text;
  for (size_t i = 0; i < word.size() && word != "%"; ++i) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    int high = i + 2 < word.size() ? digit(word[i + 1]) : -1, low = high < 0 ? -1 : digit(word[i + 2]);
    if (low < 0)
      return std::nullopt;
    text += char(high * 16 + low);
    i += 2;
  }
  return cardWord(text) == word ? std::optional(text) : std::nullopt;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_CARD_WORDS_H
