//===- template_format.h - Chat templates inside a binary -------*- C++ -*-===//
//
// The blob of the chat templates. The compiler parses and resolves them; what
// is left is code for a machine with a stack, in post-order, with its names as
// numbers of slots and its texts in a table. The runtime checks every index
// once and runs it in place. All numbers are little-endian 32-bit words:
//
//   magic, version, section count, then (kind, offset in bytes, words) a
//   section.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEMPLATE_FORMAT_H
#define HEDDLE_RUNTIME_TEMPLATE_FORMAT_H

#include <cstdint>

namespace heddle::tpl {

constexpr uint32_t kMagic = 0x6c707468, kVersion = 1; // "htpl"

enum Section : uint32_t {
  kTexts = 1,     ///< count, offsets[count + 1], then the bytes
  kNumbers = 2,   ///< 64 bits each: integers and doubles
  kFunctions = 3, ///< FunctionWord each
  kCode = 4,      ///< InstructionWord each
  kTemplates = 5, ///< (name, function) each, texts and functions by number
  kVariables = 6, ///< (name, value): the special tokens, as texts
  kNames = 7,     ///< lists of names: count, then texts
  kHidden = 8,    ///< (first, last) ascending: characters that repr escapes
  kUpper = 9,     ///< the content of a stage kMapCharacters of the tokenizer
  kLower = 10,    ///< the same
  kTitle = 11,    ///< the same
  kKinds = 12,    ///< (first, last, CharacterKind) ascending
};
constexpr uint32_t kSections = 13;

enum CharacterKind : uint32_t {
  kAlpha = 1,
  kDigit = 2,
  kNumeric = 4,
  kUpperLetter = 8,
  kLowerLetter = 16,
  kTitleLetter = 32
};

/// A template's own body is a function, and so are macros and `call` blocks.
enum FunctionWord : uint32_t {
  kBegin = 0,          ///< first instruction
  kEnd = 1,            ///< one past the last
  kSlots = 2,          ///< how many variables it has
  kParameters = 3,     ///< the first slots, so many of them
  kParameterNames = 4, ///< in kNames
  kFlags = 5,          ///< FunctionFlags; their slots follow the parameters in this order
  kName = 6,
  kFunctionWords = 7,
};
enum FunctionFlags : uint32_t { kTakesCaller = 1, kTakesKeywords = 2, kTakesRest = 4, kNamesCaller = 8 };

/// op | line << 8, then a, b, c.
constexpr uint32_t kInstructionWords = 4;

/// What an instruction does. `pops -> pushes`; no text is ever on two lines.
enum Op : uint32_t {
  kText = 0, ///< a: writes a text
  kPrint,    ///< x ->: writes str(x)
  kConst,    ///< a: -> a text
  kInteger,  ///< a: -> a number of kNumbers
  kFloat,    ///< a: -> the same as a double
  kTrue,
  kFalse,
  kNone,
  kNothing,       ///< -> undefined, of an inline `if` without `else`; a: its source
  kLoad,          ///< a: slot, b: so many functions outwards, c: name
  kStore,         ///< x ->: a: slot
  kCopy,          ///< a: slot := the one of b functions outwards and slot c
  kForget,        ///< a: slot is not set
  kResolve,       ///< a: slot := the variable c that the caller gave, or a function
  kDefault,       ///< a: slot, b: jump there if it is set; c: name
  kNotGiven,      ///< a: slot := undefined, c: name
  kAttribute,     ///< x -> its attribute c
  kItem,          ///< x i -> x[i]; c: source
  kSlice,         ///< x from to step -> x[from:to:step]
  kCall,          ///< f args.. -> f(args); a: how many by position | CallFlags, b: names in kNames, c: source
  kFilter,        ///< x args.. -> ; like kCall, c: FilterId
  kTest,          ///< x args.. -> ; like kCall, c: TestId
  kUnknownFilter, ///< fails; c: name
  kUnknownTest,   ///< fails; c: name
  kNegate,        ///< c: source, as of all that follow up to kCompare
  kPlus,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kCompare,      ///< x y -> x OP y; a: Comparison
  kCompareChain, ///< x y -> y, or false and a jump to b; a: Comparison
  kNot,
  kConcat,      ///< a texts -> their concatenation, each printed
  kJump,        ///< a
  kJumpIfFalse, ///< x ->; a
  kAnd,         ///< x -> x and a jump to a if it is false, else nothing
  kOr,          ///< the same if it is true
  kList,        ///< a items ->
  kTuple,
  kDict,         ///< a pairs of key and value ->
  kUnpack,       ///< x -> a items, the first on top
  kSetAttribute, ///< value ->: a: slot, b: functions outwards, c: name
  kLoopBegin,    ///< iterable ->; a: slot of `loop` + 1, or 0
  kLoopNext,     ///< -> the next item, or a jump to a; b: an item that may be left out
  kLoopEnter,    ///< -> the item that was not left out
  kLoopKeep,     ///< the item is kept
  kLoopCollect,  ///< -> an iterator over what was kept; ends the loop
  kLoopDone,     ///< one turn is complete
  kLoopEnd,      ///< ends the loop; jumps to a if a turn was completed
  kCaptureBegin, ///< what is written from here ..
  kCaptureEnd,   ///< -> .. becomes a text
  kCaptureDrop,  ///< .. is dropped
  kMacro,        ///< -> a: function
  kReturn,       ///< ends the function
  kOps,
};
enum CallFlags : uint32_t { kStar = 1u << 30, kDoubleStar = 1u << 31, kCountMask = 0xffff };

enum Comparison : uint32_t { kEqual = 0, kUnequal, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kIn, kNotIn };

enum FilterId : uint32_t {
#define HEDDLE_FILTER(name, id, ...) kFilter_##id,
#include "heddle/template_names.def"
  kFilters
};
enum TestId : uint32_t {
#define HEDDLE_TEST(name, id, ...) kTest_##id,
#include "heddle/template_names.def"
  kTests
};

constexpr uint32_t kMostSource = 256 << 10, kMostNesting = 64, kMostNodes = 65536;

} // namespace heddle::tpl

#endif // HEDDLE_RUNTIME_TEMPLATE_FORMAT_H
