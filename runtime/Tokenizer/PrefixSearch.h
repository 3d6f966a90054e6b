//===- PrefixSearch.h - Which texts of a list begin here --------*- C++ -*-===//
//
// Finds all texts of a sorted list that are prefixes of a given one: after each
// byte only those remain that begin with all bytes so far. The walk ends when
// none remains, however long the longest text of the list is.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TOKENIZER_PREFIXSEARCH_H
#define HEDDLE_RUNTIME_TOKENIZER_PREFIXSEARCH_H

#include <cstddef>
#include <string_view>
#include <vector>

namespace heddle::rt {

/// `textAt(i)` is the text at index i of the list, which is sorted by bytes.
template <typename TextAt> class PrefixSearch {
public:
  PrefixSearch(size_t count, TextAt textAt) : textAt(textAt), starts(257) {
    for (size_t byte = 0; byte <= 256; ++byte)
      starts[byte] = firstNotBelow(0, count, 0, int(byte));
  }

  /// Calls `found(index, size)` for every text of the list that is a prefix of
  /// `text`, the shortest first.
  template <typename Found> void walk(std::string_view text, Found &&found) const {
    if (text.empty())
      return;
    auto first = static_cast<unsigned char>(text[0]);
    size_t low = starts[first], high = starts[first + 1];
    for (size_t depth = 1; low < high; ++depth) {
      if (high - low == 1) {
        std::string_view only = textAt(low);
        if (text.substr(0, only.size()) == only)
          found(low, only.size());
        return;
      }
      // A text that ends here sorts before those that go on.
      if (textAt(low).size() == depth) {
        found(low, depth);
        ++low;
      }
      if (depth == text.size())
        return;
      auto byte = static_cast<unsigned char>(text[depth]);
      // All go on with this byte if the first and the last one do.
      if (byteAt(low, depth) == byte && byteAt(high - 1, depth) == byte)
        continue;
      low = firstNotBelow(low, high, depth, byte);
      high = firstNotBelow(low, high, depth, byte + 1);
    }
  }

private:
  /// -1 past the end.
  int byteAt(size_t place, size_t depth) const {
    std::string_view text = textAt(place);
    return depth < text.size() ? static_cast<unsigned char>(text[depth]) : -1;
  }

  /// The first place in [low, high) whose byte at `depth` is `byte` or more.
  size_t firstNotBelow(size_t low, size_t high, size_t depth, int byte) const {
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (byteAt(middle, depth) < byte)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  TextAt textAt;
  std::vector<size_t> starts; ///< by first byte
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TOKENIZER_PREFIXSEARCH_H
