//===- CharacterTables.h - What the runtime knows of characters -*- C++ -*-===//
#ifndef HEDDLE_COMPILER_TEMPLATE_CHARACTERTABLES_H
#define HEDDLE_COMPILER_TEMPLATE_CHARACTERTABLES_H

#include "compiler/Tokenizer/Words.h"

namespace heddle::tpl {

/// The sections of the blob about characters (heddle/template_format.h).
const tok::Words &hiddenCharacters();
const tok::Words &characterKinds();
const tok::Words &upperCase();
const tok::Words &lowerCase();
const tok::Words &titleCase();

} // namespace heddle::tpl

#endif // HEDDLE_COMPILER_TEMPLATE_CHARACTERTABLES_H
