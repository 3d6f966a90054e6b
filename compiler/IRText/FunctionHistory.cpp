//===- FunctionHistory.cpp - lasting names of values, and edits -----------===//

#include "compiler/IRText/FunctionHistory.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace heddle;
using llvm::ArrayRef, llvm::StringRef;

/// Names of values and labels of blocks.
static constexpr StringRef kSigils = "%^";

/// "%x" of "%x_12"; "%" of "%12"; "^bb" of "^bb3".
static StringRef stemOf(StringRef name) {
  StringRef stem = name.rtrim("0123456789");
  if (stem.size() == name.size())
    return name;
  if (stem.ends_with("_"))
    return stem.drop_back();
  return stem == "%" || stem == "^bb" ? stem : name;
}

static llvm::SmallVector<StringRef> namesIn(StringRef text) {
  llvm::SmallVector<StringRef> names;
  forEachName(text, kSigils, [&](size_t begin, size_t end) { names.push_back(text.slice(begin, end)); });
  return names;
}

static std::vector<uint64_t> withPlaces(ArrayRef<uint64_t> said, ArrayRef<TextLine> lines) {
  std::vector<uint64_t> all;
  for (auto [hash, line] : llvm::zip_equal(said, lines))
    all.push_back(llvm::hash_combine(hash, line.where.getAsOpaquePointer()));
  return all;
}

/// By what they say and where they come from; between such pairs by what they say alone, since passes join places.
std::vector<LinePair> FunctionHistory::align(ArrayRef<TextLine> text, ArrayRef<uint64_t> newSaid) const {
  std::vector<LinePair> sure = alignLines(withPlaces(said, now), withPlaces(newSaid, text)), pairs;
  sure.push_back({unsigned(now.size()), unsigned(text.size())});
  unsigned i = 0, j = 0;
  for (auto [nextI, nextJ] : sure) {
    if (nextI > i && nextJ > j)
      for (auto [x, y] : alignLines(ArrayRef(said).slice(i, nextI - i), newSaid.slice(j, nextJ - j)))
        pairs.push_back({i + x, j + y});
    if (nextI < now.size() || nextJ < text.size())
      pairs.push_back({nextI, nextJ});
    i = nextI + 1;
    j = nextJ + 1;
  }
  return pairs;
}

/// Values of paired lines get the names of the old ones, all others names that no value has had.
void FunctionHistory::rename(std::vector<TextLine> &text, ArrayRef<LinePair> pairs) {
  llvm::StringMap<std::string> lasting;
  llvm::StringSet<> taken;
  for (auto [i, j] : pairs)
    for (auto [have, want] : llvm::zip(namesIn(text[j].text), namesIn(now[i].text)))
      if (!lasting.count(have) && taken.insert(want).second)
        lasting[have] = want.str();
  for (const TextLine &line : text)
    for (StringRef have : namesIn(line.text)) {
      auto [at, isNew] = lasting.try_emplace(have);
      if (!isNew)
        continue;
      StringRef stem = stemOf(have);
      std::string want = have.str();
      while (used.contains(want) || taken.contains(want))
        want = (stem + (stem == "%" || stem == "^bb" ? "" : "_") + llvm::Twine(++next[stem])).str();
      taken.insert(want);
      at->second = want;
    }
  for (TextLine &line : text)
    line.text = withNames(line.text, kSigils, [&](StringRef have) { return StringRef(lasting[have]); });
  for (const auto &name : taken)
    used.insert(name.getKey());
}

FunctionChange FunctionHistory::step(std::vector<TextLine> text) {
  std::vector<uint64_t> newSaid;
  for (const TextLine &line : text)
    newSaid.push_back(llvm::xxh3_64bits(withNames(line.text, kSigils, stemOf)));
  std::vector<LinePair> pairs = align(text, newSaid);
  rename(text, pairs);

  FunctionChange change;
  unsigned i = 0, j = 0, kept = 0; // the first lines that no edit has
  auto changeUpTo = [&](size_t toI, size_t toJ) {
    if (i < toI || j < toJ) {
      change.edits.push_back({kept, unsigned(toI) - i, std::vector<TextLine>(text.begin() + j, text.begin() + toJ)});
      kept = 0;
    }
    i = unsigned(toI);
    j = unsigned(toJ);
  };
  for (auto [x, y] : pairs) {
    const TextLine &before = now[x], &after = text[y];
    if (before.text != after.text || (places && before.where != after.where))
      continue;
    changeUpTo(x, y);
    ++kept, ++i, ++j;
  }
  changeUpTo(now.size(), text.size());
  change.before = std::exchange(now, std::move(text));
  said = std::move(newSaid);
  return change;
}
