//===- Unicode.h - Tables about characters ----------------------*- C++ -*-===//
//
// Tables about characters, computed with utf8proc while a model is compiled;
// the binary contains the tables and needs no Unicode library.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_UNICODE_H
#define HEDDLE_COMPILER_TOKENIZER_UNICODE_H

#include "compiler/Tokenizer/Words.h"

#include <functional>

namespace heddle::tok {

/// The section kClasses: general category and properties of every character.
Words classTable();
/// One character's entry in it.
uint8_t characterClass(uint32_t c);

/// The content of a stage kMapCharacters. `map` is called for every character
/// and fills what it becomes; it returns false if the character stays.
Words characterMap(const std::function<bool(uint32_t, std::vector<uint32_t> &)> &map);

/// Lower case of a single character, as Rust's to_lowercase: U+0130 becomes
/// two.
bool lowercase(uint32_t c, std::vector<uint32_t> &out);

/// Decomposition without nonspacing marks.
bool stripAccents(uint32_t c, std::vector<uint32_t> &out);

/// The full decomposition of `c`; not for Hangul, which the runtime computes.
bool decompose(uint32_t c, bool compatibility, std::vector<uint32_t> &out);

/// (character, combining class) of all characters whose class is not 0.
Words combiningClasses();

/// (first, second, composed) of all canonical compositions.
Words compositions();

/// The simple case variants of `c`, including `c`.
std::vector<uint32_t> caseVariants(uint32_t c);

/// The mask of general categories that `name` ("L", "Nd") means; 0 if there is
/// no such name.
uint32_t categoryMask(const std::string &name);

/// Decodes the character at `at` and advances it; false at the end or on
/// invalid UTF-8.
bool nextCharacter(const std::string &text, size_t &at, uint32_t &c);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_UNICODE_H
