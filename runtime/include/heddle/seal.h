//===- seal.h - How damage to a program is found ----------------*- C++ -*-===//
//
// How damage to a program is found: a tree of digests. The weights are cut into
// blocks that never cross from one tensor to the next; the index has the
// tensors' names and the digest of every block; the seal has sizes and digests
// of all parts of a program except its code, and its own digest. Every start
// checks seal, card and index, which takes microseconds; `--verify` checks
// everything.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_SEAL_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_SEAL_H

#include "heddle/digest.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct Seal {
  static constexpr uint64_t kMagic = 0x33'6c61'6573'6468; // "hdseal3"

  uint64_t magic = kMagic;
  uint64_t cardBytes = 0, card = 0; ///< sizes and digests; the card's with NUL
  uint64_t indexBytes = 0, index = 0;
  uint64_t weightsBytes = 0, weights = 0; ///< digest of the blocks' digests
  uint64_t tokenizerBytes = 0, tokenizer = 0;
  uint64_t targetTokenizerBytes = 0, targetTokenizer = 0; ///< of what is written, where that has its own
  uint64_t fileBytes = 0, file = 0;                       ///< the side file's name with its NUL
  uint64_t texts = 0; ///< digest of the model's own texts (`Card::texts`), each with a NUL; 0: not known
  uint64_t self = 0;  ///< digest of all words above

  uint64_t ofItself() const { return digestOf(this, offsetof(Seal, self)); }
};

/// Bytes of a block; the last block of a tensor may be shorter.
constexpr uint64_t kSealBlock = 256 << 10;

/// The index: words, little-endian, then names that end in NUL.
///   kSealBlock, tensors, bytes of the weights
///   for every tensor: where it begins, where its name begins in the index
///   for every block, in order: its digest
/// A tensor reaches to the next one, padding included.
class IndexWriter {
public:
  /// The bytes that follow belong to this tensor.
  void tensor(std::string_view name) {
    endBlock();
    starts.push_back(length);
    names.push_back(std::string(name));
  }

  /// Appends bytes of the weights, padding included.
  void update(const void *data, size_t bytes) {
    auto *from = static_cast<const unsigned char *>(data);
    while (bytes) {
      size_t room = size_t(kSealBlock - inBlock);
      size_t n = room < bytes ? room : bytes;
      block.update(from, n);
      inBlock += n;
      length += n;
      from += n;
      bytes -= n;
      if (inBlock == kSealBlock)
        endBlock();
    }
  }

  uint64_t bytes() const { return length; }

  /// The finished index; `root` becomes the digest of the weights.
  std::string finish(uint64_t &root) {
    endBlock();
    std::vector<uint64_t> words = {kSealBlock, starts.size(), length};
    uint64_t nameAt = 8 * (words.size() + 2 * starts.size() + digests.size());
    for (size_t i = 0; i < starts.size(); ++i) {
      words.insert(words.end(), {starts[i], nameAt});
      nameAt += names[i].size() + 1;
    }
    root = digestOf(digests.data(), 8 * digests.size());
    words.insert(words.end(), digests.begin(), digests.end());
    std::string text(reinterpret_cast<const char *>(words.data()), 8 * words.size());
    for (const std::string &name : names)
      text.append(name).push_back('\0');
    return text;
  }

private:
  void endBlock() {
    if (inBlock)
      digests.push_back(block.finish());
    block = Digest();
    inBlock = 0;
  }

  Digest block;
  uint64_t inBlock = 0, length = 0;
  std::vector<uint64_t> starts, digests;
  std::vector<std::string> names;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_SEAL_H
