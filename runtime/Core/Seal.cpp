//===- Seal.cpp - Whether a program is what was compiled ------------------===//
//
// Each thread checks a range of neighbouring blocks, so that it reads the file
// from front to back. Blocks are read into a buffer that stays in the cache
// instead of being touched where they are mapped: faulting in 2 GB of pages
// costs ten times as much as digesting them.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Seal.h"

#include "heddle/input_file.h"
#include "runtime/Core/TerminalProgress.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <link.h>
#include <unistd.h>

namespace heddle::rt {

static Status damaged(const std::string &what) {
  return Status(Error::Damaged, what)
      .withHelp("copy the program again from where it came from, or compile "
                "the model again");
}

Status checkSeal(const Image &image) {
  const Seal *seal = image.seal;
  if (!seal)
    return {};
  if (seal->magic != Seal::kMagic || seal->self != seal->ofItself())
    return damaged("this program is damaged: its seal is broken");
  if (seal->weightsBytes != image.weightsSize || seal->tokenizerBytes != image.tokenizerSize ||
      seal->targetTokenizerBytes != image.targetTokenizerSize)
    return damaged("this program is damaged: its weights or its tokenizer have "
                   "another size than was compiled");
  if (!image.card || digestOf(image.card, seal->cardBytes) != seal->card || strlen(image.card) + 1 != seal->cardBytes)
    return damaged("this program is damaged: its card is not what was compiled");
  if (!image.index || digestOf(image.index, seal->indexBytes) != seal->index)
    return damaged("this program is damaged: the index of its weights is not "
                   "what was compiled");
  if (bool(image.weightsFile) != bool(seal->fileBytes) ||
      (image.weightsFile && digestOf(image.weightsFile, seal->fileBytes) != seal->file))
    return damaged("this program is damaged: the name of its file of weights "
                   "is not what was compiled");
  return {};
}

Status checkTexts(const Image &image, const Card &card) {
  if (!image.seal || !image.seal->texts)
    return {};
  Digest digest;
  for (const std::string &text : card.texts())
    digest.update(text.c_str(), text.size() + 1);
  return digest.finish() == image.seal->texts
             ? Status()
             : damaged("this program is damaged: the texts of its card are not those of the model");
}

Status checkTokenizer(const Image &image) {
  const Seal *seal = image.seal;
  if (seal && image.tokenizerSize && digestOf(image.tokenizer, image.tokenizerSize) != seal->tokenizer)
    return damaged("this program is damaged: its tokenizer is not what was "
                   "compiled");
  if (seal && image.targetTokenizerSize &&
      digestOf(image.targetTokenizer, image.targetTokenizerSize) != seal->targetTokenizer)
    return damaged("this program is damaged: its target tokenizer is not what was compiled");
  return {};
}

namespace {

struct Block {
  uint64_t begin, end, digest;
  const char *tensor;
  uint64_t number; ///< index among the blocks of its tensor
};

struct Check {
  std::vector<Block> blocks;
  const char *weights;
  int file = -1; ///< holds the same bytes from `offset` on; -1: no such file
  uint64_t offset = 0;
  std::vector<uint8_t> bad; ///< 1 for each damaged block
};

} // namespace

/// The blocks that the index lists. Its digest has been checked already, so it
/// is what the compiler wrote; offsets are still checked against its size.
static bool readIndex(const Image &image, std::vector<Block> &blocks) {
  std::vector<uint64_t> words(image.seal->indexBytes / 8);
  memcpy(words.data(), image.index, 8 * words.size());
  if (words.size() < 3 || words[0] == 0 || words[2] != image.weightsSize)
    return false;
  uint64_t piece = words[0], tensors = words[1];
  if (tensors > (words.size() - 3) / 2)
    return false;
  size_t digest = 3 + 2 * tensors;
  for (uint64_t t = 0; t < tensors; ++t) {
    uint64_t begin = words[3 + 2 * t], name = words[4 + 2 * t];
    uint64_t end = t + 1 < tensors ? words[5 + 2 * t] : words[2];
    if (name >= image.seal->indexBytes || end < begin || end > words[2] || (t == 0 && begin != 0))
      return false;
    for (uint64_t at = begin, number = 0; at < end; at += piece, ++number) {
      if (digest == words.size())
        return false;
      blocks.push_back(
          {at, std::min(at + piece, end), words[digest++], reinterpret_cast<const char *>(image.index) + name, number});
    }
  }
  return !words[2] || tensors;
}

/// The offset in this program's file of an address of its read-only data.
static bool offsetInProgram(const void *address, uint64_t &offset) {
  struct Search {
    uintptr_t address;
    uint64_t offset;
  } search = {reinterpret_cast<uintptr_t>(address), 0};
  // The first object is the program itself; 1: found, -1: not in it.
  int found = dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *argument) {
        auto &search = *static_cast<Search *>(argument);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto &part = info->dlpi_phdr[i];
          uint64_t at = search.address - info->dlpi_addr - part.p_vaddr;
          if (part.p_type == PT_LOAD && !(part.p_flags & PF_W) && at < part.p_filesz) {
            search.offset = part.p_offset + at;
            return 1;
          }
        }
        return -1;
      },
      &search);
  offset = search.offset;
  return found == 1;
}

static bool readWhole(int file, char *to, uint64_t bytes, uint64_t at) {
  while (bytes) {
    ssize_t n = pread(file, to, bytes, off_t(at));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    to += n;
    at += uint64_t(n);
    bytes -= uint64_t(n);
  }
  return true;
}

/// Checks this thread's share of the blocks; one that cannot be read is
/// damaged.
static void checkStretch(void *argument, int64_t tid, int64_t nth) {
  Check &check = *static_cast<Check *>(argument);
  size_t count = check.blocks.size(), first = count * tid / nth, last = count * (tid + 1) / nth;
  std::vector<char> buffer;
  for (size_t i = first; i < last; ++i) {
    if (tid == 0) // the others have as much to do
      TerminalProgress::say("checking the weights, %d %%", int(100 * (i - first) / (last - first)));
    const Block &block = check.blocks[i];
    const char *bytes = check.weights + block.begin;
    uint64_t size = block.end - block.begin;
    if (check.file >= 0) {
      buffer.resize(std::max<size_t>(buffer.size(), size));
      bytes = buffer.data();
      if (!readWhole(check.file, buffer.data(), size, check.offset + block.begin)) {
        check.bad[i] = 1;
        continue;
      }
    }
    check.bad[i] = digestOf(bytes, size) != block.digest;
  }
}

Status checkWeights(const Image &image, const void *weights, Pool &pool, const std::string &path, uint64_t &blocks) {
  blocks = 0;
  if (!image.seal || !image.weightsSize)
    return {};
  Check check;
  if (!readIndex(image, check.blocks))
    return internalError("the index of the weights contradicts itself");
  blocks = check.blocks.size();
  check.weights = static_cast<const char *>(weights);
  check.bad.resize(blocks);
  OpenedFile file(path.empty() ? "/proc/self/exe" : path.c_str());
  if (file.ok() && (!path.empty() || offsetInProgram(weights, check.offset)))
    check.file = file.descriptor();
  pool.run(checkStretch, &check);
  auto count = size_t(std::count(check.bad.begin(), check.bad.end(), 1));
  if (!count)
    return {};
  // Every block differs: it is the file of another model.
  if (!path.empty() && count == blocks)
    return badFile(quote(path) + " is not the file this program was compiled with")
        .withHelp("compile the model again, or copy both files together");
  Status status = damaged(format("%s damaged: %zu of %zu blocks %s not what was compiled",
                                 path.empty() ? "the weights in this program are" : (quote(path) + " is").c_str(),
                                 count, size_t(blocks), count == 1 ? "is" : "are"));
  size_t named = 0;
  for (size_t i = 0; i < blocks && named < 8; ++i)
    if (const Block &block = check.blocks[i]; check.bad[i]) {
      ++named;
      status = std::move(status).withHelp(
          format("block %llu of %s: bytes %llu to %llu of the weights", static_cast<unsigned long long>(block.number),
                 quote(block.tensor).c_str(), static_cast<unsigned long long>(block.begin),
                 static_cast<unsigned long long>(block.end - 1)));
    }
  if (named < count)
    status = std::move(status).withHelp(format("and %zu blocks more", count - named));
  return status;
}

} // namespace heddle::rt
