//===- CardFile.h - the card of a program that was compiled -----*- C++ -*-===//
#ifndef HEDDLE_TARGETS_CARD_CARDFILE_H
#define HEDDLE_TARGETS_CARD_CARDFILE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace heddle {

/// A line of a card: `phase linear turns 2 ... # h.*.mlp.weight`.
struct CardFileLine {
  std::string word;              ///< "phase"
  std::vector<std::string> rest; ///< its words, as texts
  std::string comment;           ///< after #, as a text; "" if there is none
};

/// Reads the lines of the cards in a program, those of several targets one after the other. The program is not run, so
/// it may be for another machine. Empty with `why`.
std::vector<CardFileLine> cardOfProgram(const std::string &path, std::string &why);

} // namespace heddle

#endif // HEDDLE_TARGETS_CARD_CARDFILE_H
