//===- Unicode.h - Tables about characters ------------------------*- C++
//-*-===//
//
// utf8proc is asked here, when the model is compiled; the binary carries the
// answers and needs no Unicode library.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_UNICODE_H
#define HEDDLE_COMPILER_TOKENIZER_UNICODE_H

#include "compiler/Tokenizer/Words.h"

#include <functional>

namespace heddle::tok {

/// The section kClasses.
Words classTable();
/// One character's entry in it.
uint8_t characterClass(uint32_t c);

/// The content of a stage kMapCharacters: what `map` makes of every character;
/// it returns false where a character stays what it is.
Words characterMap(
    const std::function<bool(uint32_t, std::vector<uint32_t> &)> &map);

/// Character by character, as Rust's to_lowercase does: U+0130 becomes two.
bool lowercase(uint32_t c, std::vector<uint32_t> &out);

/// Decomposes and drops what is a nonspacing mark.
bool stripAccents(uint32_t c, std::vector<uint32_t> &out);

/// The parts of `c`, taken apart as far as they go; not for Hangul, which
/// follows arithmetic.
bool decompose(uint32_t c, bool compatibility, std::vector<uint32_t> &out);

/// (character, combining class) where it is not 0.
Words combiningClasses();

/// (first, second, composed) of all canonical compositions.
Words compositions();

/// The simple case variants of `c`, `c` among them.
std::vector<uint32_t> caseVariants(uint32_t c);

/// The mask of general categories that `name` ("L", "Nd") stands for; 0 if
/// none.
uint32_t categoryMask(const std::string &name);

/// Decodes one character at `at`, moving it; false at the end or on bad UTF-8.
bool nextCharacter(const std::string &text, size_t &at, uint32_t &c);
void appendCharacter(std::string &text, uint32_t c);

} // namespace heddle::tok

#endif // HEDDLE_COMPILER_TOKENIZER_UNICODE_H
