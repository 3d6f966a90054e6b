//===- WordTables.h - A vocabulary outside of its JSON ----------*- C++ -*-===//
//
// What `vocab` and `merges` of a tokenizer.json say, as tables. A GGUF file has them so, and half a million entries
// take longer as JSON than all else.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TOKENIZER_WORDTABLES_H
#define HEDDLE_COMPILER_TOKENIZER_WORDTABLES_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct WordTables {
  /// The name of these tables in a folder of made texts, next to a tokenizer.json without `vocab` and `merges`.
  static constexpr const char *kName = "tokenizer.words";

  std::vector<std::string> pieces; ///< by id, all different; "": an id without a token
  std::vector<double> scores;      ///< Unigram: one a piece, finite
  /// BPE, by rank: ids of the left part, the right part, and their whole.
  std::vector<std::array<uint32_t, 3>> merges;

  /// All of it as the contents of a file.
  std::string bytes() const;
  /// False for bytes that `bytes` did not make.
  bool read(std::string_view bytes);
};

} // namespace heddle

#endif // HEDDLE_COMPILER_TOKENIZER_WORDTABLES_H
