//===- tokenizer_format.h - The tokenizer inside a binary -------*- C++ -*-===//
//
// The tokenizer's blob inside a binary. The compiler writes it and the runtime
// reads it in place: tables are laid out for look-up, so start-up parses
// nothing. A tokenizer is a pipeline: normalizer stages, splitter stages, one
// model, a template, decoder stages. A new component is a stage kind here, a
// case in the writer and one in the reader. All numbers are little-endian
// 32-bit words.
//
//   magic, version, section count, then (kind, offset in bytes, words) a
//   section. A stage list: (kind, words that follow) and those words, repeated.
//   A string in a stage: its length in bytes, then the bytes padded to words.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_FORMAT_H
#define HEDDLE_RUNTIME_TOKENIZER_FORMAT_H

#include <cstddef>
#include <cstdint>

namespace heddle::tok {

constexpr uint32_t kMagic = 0x6b746468, kVersion = 1; // "hdtk"

enum Section : uint32_t {
  kPieces = 1,     ///< offsets[ids + 1], then the bytes
  kPieceIndex = 2, ///< open addressing by hashBytes: id + 1, 0 is free
  kMerges = 3,     ///< open addressing by hashPair: left, right, rank, result
  kAdded = 4,      ///< (id, AddedFlags) an added token
  kNormalizer = 5,
  kSplitter = 6,
  kModel = 7,    ///< ModelKind and its parameters
  kTemplate = 8, ///< (id or kFirst or kSecond, type id)..., for one text
  kDecoder = 9,
  kClasses = 10,      ///< page of every block of 256 characters, then bytes
  kScores = 11,       ///< doubles, Unigram: one an id
  kTemplatePair = 12, ///< the same for two texts
  kTruncation = 13,   ///< most ids, TruncationStrategy, from the left?
  kPadding = 14,      ///< fixed length or 0, multiple or 0, left?, id, type id, string
  kSortedPieces = 15, ///< Unigram: ids in the order of their pieces' bytes
};

enum AddedFlags : uint32_t { kSingleWord = 1, kStripLeft = 2, kStripRight = 4, kNormalized = 8, kSpecial = 16 };

enum NormalizerStage : uint32_t {
  /// Entries n, then (from, first target, targets) n times in ascending order,
  /// then the targets: characters become others, or several, or none.
  kMapCharacters = 1,
  kReplaceText = 2,      ///< string from, string to
  kPrependText = 3,      ///< string, unless the text is empty
  kStripText = 4,        ///< left?, right?
  kReplaceMatch = 5,     ///< string to, program
  kSurround = 6,         ///< program; matches get a space on either side
  kOrderMarks = 7,       ///< (character, combining class), ascending; after Hangul is
                         ///< taken apart, where the first word is not 0
  kCompose = 8,          ///< (first, second, composed), ascending
  kCharsMap = 9,         ///< SentencePiece's trie and its strings, as two strings
  kLettersForBytes = 10, ///< GPT-2's letters
};

enum SplitterStage : uint32_t {
  kSplit = 1,       ///< Behavior, invert?, program
  kByteLevel = 2,   ///< add a space in front?; then bytes become letters
  kPrefixSpace = 4, ///< a space in front of a text that begins without one
  kMetaspace = 3,   ///< string replacement, prepend (0 never 1 first 2 always), split?
  kScripts = 5,     ///< (first, last, script) ascending; cut where the script changes
};

enum Behavior : uint32_t { kRemoved = 0, kIsolated = 1, kMergedWithPrevious = 2, kMergedWithNext = 3, kContiguous = 4 };

enum ModelKind : uint32_t {
  kBpe = 1,       ///< unk + 1, BpeFlags, string prefix, string suffix
  kWordLevel = 2, ///< unk + 1
  kWordPiece = 3, ///< unk + 1, most characters a word, longest piece in bytes,
                  ///< string prefix
  kUnigram = 4,   ///< unk + 1, byte fallback?, score of an unknown character as
                  ///< a double, first piece that has no id: it is the unknown
                  ///< token, and unknown text may be a piece that is not searched
};

enum BpeFlags : uint32_t {
  kFuseUnk = 1,
  kByteFallback = 2,
  kIgnoreMerges = 4,
  kNeedsUnknown = 8 ///< an unknown character is an error, as its token is missing
};

constexpr uint32_t kFirst = 0xffffffff, kSecond = 0xfffffffe;

/// The longest padding and the largest multiple of kPadding, in ids.
constexpr uint32_t kMaxPadding = 1 << 20;

enum TruncationStrategy : uint32_t { kLongestFirst = 0, kOnlyFirst = 1, kOnlySecond = 2 };

enum DecoderStage : uint32_t {
  kBytesFromLetters = 1,
  kFuse = 2,
  kSuffixToSpace = 3,     ///< string suffix
  kJoinPieces = 4,        ///< string prefix, clean up?
  kSpaceFromMeta = 5,     ///< string replacement, drop the first?
  kReplaceDecoded = 6,    ///< string from, string to
  kBytesFromPieces = 7,   ///< <0x0A>
  kStripDecoded = 8,      ///< string character, from the start, from the end
  kJoinWithSpaces = 9,    ///< what a file without a decoder means
  kReplaceInDecoded = 10, ///< string to, program
  kCollapse = 11,         ///< CTC: string padding, string delimiter, clean up?
};

/// A program of the matcher: words of code, then of sets. Code words:
enum Op : uint32_t {
  kChar = 1,   ///< character
  kSet = 2,    ///< offset of a set
  kRepeat = 3, ///< set offset, least, most, possessive?
  kFork = 4,   ///< try this offset first, then that
  kJump = 5,   ///< offset
  kAhead = 6,  ///< negative?, offset past the inner program, which ends in kMatch
  kLineStart = 7,
  kLineEnd = 8,
  kAtomic = 9, ///< offset past the inner program
  kMatch = 10,
  kBehind = 11, ///< negative?, offset past the inner program, which ends in
                ///< kMatch; fewest and most characters
  kTextStart = 12,
  kTextEnd = 13,  ///< before a last line feed too?
  kWordEdge = 14, ///< negative?
};
/// A set: negated?, number of ranges, (first, last)... ascending, number of classes,
/// (mask of general categories, PropertyFlags, negated?)...

/// kClasses: the low five bits are utf8proc's general category.
/// kJoins: it belongs to the character before it (Extend, SpacingMark, ZWJ).
enum PropertyFlags : uint32_t { kSpace = 32, kWord = 64, kJoins = 128 };
constexpr uint32_t kPages = 0x1100; ///< blocks of 256 characters

inline uint32_t hashBytes(const char *data, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<unsigned char>(data[i])) * 16777619u;
  return hash ^ hash >> 15;
}

inline uint32_t hashPair(uint32_t left, uint32_t right) {
  uint64_t hash = (uint64_t(left) << 32 | right) * 0x9e3779b97f4a7c15ull;
  return uint32_t(hash >> 32) ^ uint32_t(hash >> 17);
}

} // namespace heddle::tok

#endif // HEDDLE_RUNTIME_TOKENIZER_FORMAT_H
