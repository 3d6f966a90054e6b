//===- CardPrinter.h - lines of a card --------------------------*- C++ -*-===//
#ifndef HEDDLE_TARGETS_CARD_CARDPRINTER_H
#define HEDDLE_TARGETS_CARD_CARDPRINTER_H

#include "dialects/Card/IR/Card.h"
#include "llvm/ADT/Twine.h"

namespace heddle {

/// The lines that there are: the rows of card.def.
enum class CardLine : uint8_t {
#define HEDDLE_CARD_LINE(section, Name, ...) Name,
#include "heddle/card.def"
};

class CardPrinter {
public:
  CardPrinter() : text("heddle-card 1\n") {}

  /// Adds a line: its word, and after it `rest`, which is as its row says.
  void line(CardLine which, const llvm::Twine &rest = "");
  /// A line that is one text; none for an empty one.
  void textLine(CardLine which, llvm::StringRef text);

  /// The lines of an entry, but for its launches.
  void entry(card::EntryAttr entry);

  std::string text;
};

/// A text as one word of the card.
std::string wordOf(llvm::StringRef text);
/// Texts as words.
std::string wordsOf(mlir::ArrayAttr texts);

} // namespace heddle

#endif
