// The text of a scheme is words between spaces, each of them there at most as often as it makes sense; a word that is
// not known is an error, since the text may have been written by hand.
#include "compiler/Weights/Coded/CodedScheme.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace heddle {

/// Of a group or a block; sums of sizes fit then.
static constexpr int64_t most = 1 << 24;

int64_t CodedScheme::groupOf(int64_t k, int64_t count) const {
  if (k <= 0 || count <= 0)
    return 0;
  for (int64_t named : groups) {
    int64_t group = named < 0 ? k : named;
    if (group > 0 && llvm::divideCeil(uint64_t(k), uint64_t(group)) == uint64_t(count))
      return group;
  }
  return k % count ? 0 : k / count;
}

std::string CodedScheme::text() const {
  std::string out = method;
  if (bits)
    out += " bits=" + std::to_string(bits);
  for (int64_t group : groups)
    out += " group=" + std::to_string(group);
  for (auto [rows, features] : blocks)
    out += " block=" + std::to_string(rows) + "x" + std::to_string(features);
  if (symmetric)
    out += " symmetric";
  if (version != 1)
    out += " version=" + std::to_string(version);
  return out;
}

absl::StatusOr<CodedScheme> CodedScheme::parse(llvm::StringRef text) {
  CodedScheme scheme;
  llvm::SmallVector<llvm::StringRef, 8> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.empty())
    return scheme;
  scheme.method = words.front().str();
  for (llvm::StringRef word : llvm::drop_begin(words)) {
    auto [key, value] = word.split('=');
    auto [first, second] = value.split('x');
    int64_t a = 0, b = 0;
    bool one = !value.getAsInteger(10, a), two = !first.getAsInteger(10, a) && !second.getAsInteger(10, b);
    bool fits = a <= most && b <= most;
    if (key == "bits" && one && a > 0 && a <= 32)
      scheme.bits = a;
    else if (key == "group" && one && fits && (a > 0 || a == -1))
      scheme.groups.push_back(a);
    else if (key == "block" && two && fits && a > 0 && b > 0)
      scheme.blocks.push_back({a, b});
    else if (word == "symmetric")
      scheme.symmetric = true;
    else if (key == "version" && one && (a == 1 || a == 2))
      scheme.version = a;
    else
      return toStatus(WeightProblem{Error::BadStage, "", "`" + printable(word) + "` says nothing of quantised weights",
                                    "model.quantised", std::nullopt, "", "make the text again: --emit=STAGE"});
  }
  return scheme;
}

} // namespace heddle
