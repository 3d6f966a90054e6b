//===- CardParser.h - What each line of a card says -------------*- C++ -*-===//
//
// A row of heddle/card.def is a line; `readNAME` reads what is after its
// first word, and is false where that is not what the row asks for. A card that
// is wrong is a mistake of the compiler, since it is linked into this program.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_CARDPARSER_H
#define HEDDLE_RUNTIME_CORE_CARDPARSER_H

#include "runtime/Core/Card.h"
#include "runtime/Core/CardReader.h"

namespace heddle::rt {

class CardParser : CardReader {
public:
  CardParser(const char *text, Card &card) : CardReader(text), card(card) {}
  /// Reads up to the line `end`; `unread` is what is left.
  Status parse();
  using CardReader::unread;

private:
  /// A row of card.def.
  struct Row {
    std::string_view word;
    const char *grammar;
    bool (CardParser::*read)();
    bool ofEntry; ///< whether the line belongs to the entry above it
  };
  static const Row kLines[], kRoles[];

  bool statement(const Row &row);
  bool setting(const Setting *known, size_t count, Settings &settings);
  bool finish();

  // Of an entry (CardEntries.cpp).
  Entry &entry() { return card.entries.back(); }
  bool formOf(Form &to) { return form(remaining(), entry().dims, to); }
  bool value(std::vector<Value> &values, std::string_view flag, bool Value::*marked);
  bool axes(std::string_view list, Value &value);
  bool pieces(State &state);
  bool launchLine(std::string_view key);
  bool closeEntry();

#define HEDDLE_CARD_LINE(section, Name, ...) bool read##Name();
#define HEDDLE_CARD_ROLE(Name, ...) bool readRole##Name();
#include "heddle/card.def"

  Card &card;
  const Row *role = nullptr; ///< of the line, if it is `generate` with a role
  bool sawDims = false;      ///< in the last entry
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_CARDPARSER_H
