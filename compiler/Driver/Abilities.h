//===- Abilities.h - what a program of a model can do -----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_ABILITIES_H
#define HEDDLE_COMPILER_DRIVER_ABILITIES_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// What a model takes and makes. It is asked in every stage with the same answers: before the stages for the entries
/// that a server needs, after them for what the program is linked with.
struct Abilities {
  bool generates = false;   ///< tokens, one after the other
  bool readsTokens = false; ///< it takes `input_ids`
  bool sees = false;        ///< it takes the file of a picture
  bool hears = false;       ///< or of a sound
  bool spells = false;      ///< it has a tokenizer
  bool embeds = false;      ///< its outputs are hidden states or vectors, and nothing that answers in words

  bool makesTexts() const { return spells && generates; }
  bool readsTexts() const { return spells && readsTokens && !sees && !hears; }
  /// Whether a server has something to answer with.
  bool canServe() const { return makesTexts() || readsTexts(); }
  /// Whether it makes texts out of texts alone, so that several may share a call.
  bool canShareCalls() const { return makesTexts() && !sees && !hears; }
};

Abilities abilitiesOf(mlir::ModuleOp module);

} // namespace heddle

#endif
