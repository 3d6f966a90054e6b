// Translates names that ops ask for into names in the file, and keeps account of what was read.
#include "compiler/Import/Weights/WeightNames.h"

#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

/// What the one '*' of a pattern stands for in `name`; none when it does not match.
static std::optional<StringRef> starOf(StringRef name, StringRef pattern) {
  auto [head, tail] = pattern.split('*');
  if (head.size() == pattern.size())
    return name == pattern ? std::optional<StringRef>("") : std::nullopt;
  if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail))
    return std::nullopt;
  return name.slice(head.size(), name.size() - tail.size());
}

/// Renames older spellings once for all (`renamed`), so that look-ups see the newer ones only. Both in one file is an
/// error.
WeightNames::WeightNames(const WeightTable &table, Spec given, StringRef file, DiagnosticSink &sink)
    : table(table), spec(std::move(given)), file(file.str()), sink(sink) {
  std::vector<std::string> names = table.names();
  std::set<std::string> present(names.begin(), names.end());
  for (const std::string &name : names)
    inFile[name] = name;
  for (auto &[older, newer, json] : spec.renamed)
    for (const std::string &name : names) {
      std::optional<StringRef> star = starOf(name, older);
      if (!star)
        continue;
      auto [head, tail] = StringRef(newer).split('*');
      bool hasStar = head.size() != newer.size();
      std::string to = hasStar ? (head + *star + tail).str() : newer;
      if (present.count(to)) {
        sink.error(Error::WeightTwice, json ? json->loc : Loc(), "$.weights.renamed",
                   escaped(to) + " and its older spelling " + escaped(name) + " are both in the file");
        continue;
      }
      inFile.erase(name);
      inFile[to] = name;
    }
  for (auto &[name, to] : spec.names)
    longest = std::max(longest, StringRef(name).count('.') + 1);
}

/// The name with or without the prefix, whichever the file has; both is an error in `why`.
std::optional<std::string> WeightNames::find(StringRef name, std::string *why) {
  std::string prefixed = spec.prefix + name.str();
  bool plain = inFile.count(name.str()), other = !spec.prefix.empty() && inFile.count(prefixed);
  if (plain && other) {
    if (why)
      *why = escaped(name) + " and " + escaped(prefixed) + " are both in the file";
    return std::nullopt;
  }
  if (plain)
    return name.str();
  if (other)
    return prefixed;
  return std::nullopt;
}

/// Segments between dots and bars.
static void pieces(StringRef text, llvm::SmallVectorImpl<StringRef> &out) {
  llvm::SmallVector<StringRef, 16> all;
  text.split(all, '.');
  for (StringRef piece : all) {
    llvm::SmallVector<StringRef, 4> bars;
    piece.split(bars, '|');
    for (StringRef b : bars)
      if (!b.empty())
        out.push_back(b);
  }
}

/// Replaces words of blocks by the model's own (`names`): at each segment the longest entry that matches and ends
/// after the first bar, that is in a part which a block asked for.
std::string WeightNames::translate(StringRef asked) const {
  // An entry must end on a segment that a block asked for: one after the first bar.
  llvm::SmallVector<StringRef, 16> segments, outer;
  pieces(asked, segments);
  pieces(asked.split('|').first, outer);
  if (!asked.contains('|'))
    return llvm::join(segments, ".");
  std::string out;
  for (size_t i = 0; i < segments.size();) {
    size_t taken = 0;
    std::string word = segments[i].str();
    for (size_t n = std::min(longest, segments.size() - i); n > 0; --n) {
      if (i + n <= outer.size())
        break;
      auto it = spec.names.find(llvm::join(llvm::ArrayRef(segments).slice(i, n), "."));
      if (it != spec.names.end()) {
        word = it->second;
        taken = n;
        break;
      }
    }
    out += (out.empty() ? "" : ".") + word;
    i += taken ? taken : 1;
  }
  return out;
}

/// Whether the file has a copy of its own that is not the original, and the description takes it as it is.
bool WeightNames::standsAlone(const Tie &tie) {
  if (!spec.own)
    return false;
  std::optional<std::string> copy = find(tie.copy, nullptr), of = find(tie.of, nullptr);
  return copy && of && *copy != *of && !table.equal(inFile[*copy], inFile[*of]).value_or(true);
}

/// Translates the name, follows a tie, and looks it up.
std::optional<WeightNames::Found> WeightNames::get(StringRef asked, std::string &why, Loc reader, std::string *absent) {
  llvm::SmallVector<StringRef, 16> segments;
  pieces(asked, segments);
  std::string plain = llvm::join(segments, "."), want = translate(asked), target = want;
  for (const Tie &t : spec.tied)
    if (t.copy == want && !standsAlone(t))
      target = t.of;
  std::optional<std::string> at = find(target, &why);
  if (!at) {
    if (why.empty()) {
      std::vector<std::string> known;
      for (auto &e : inFile)
        known.push_back(e.first);
      if (absent)
        *absent = target;
      std::string called = table.nameInFile(target);
      why = "no weight " + quote(called) + " in the file";
      if (called == target) {
        if (plain != target)
          why += " (asked for as " + quote(plain) + ")";
        why += nearest(target, known);
      }
    }
    return std::nullopt;
  }
  used.try_emplace(*at, reader);
  const std::string &name = inFile.find(*at)->second;
  return Found{name, *table.find(name)};
}

std::string WeightNames::outputWithout(StringRef name) const {
  for (auto &[output, pattern] : spec.optional)
    if (globMatch(name, pattern) && llvm::none_of(inFile, [&, &pattern = pattern](auto &stored) {
          StringRef plain = stored.first;
          plain.consume_front(spec.prefix);
          return globMatch(plain, pattern) || globMatch(stored.first, pattern);
        }))
      return output;
  return "";
}

/// A tied copy that is in the file too must be equal to the original. Tensors that are left over are one error with a
/// table.
void WeightNames::finish() {
  for (const Tie &t : spec.tied) {
    std::optional<std::string> a = find(t.copy, nullptr), b = find(t.of, nullptr);
    if (!a || !b || *a == *b)
      continue;
    std::optional<bool> same = table.equal(inFile[*a], inFile[*b]);
    if (same && !*same && !spec.own)
      sink.error(Error::WeightTwice, t.json ? t.json->loc : Loc(), "$.weights.tied",
                 escaped(table.nameInFile(inFile[*a])) + " is in the file and differs from " +
                     escaped(table.nameInFile(inFile[*b])) + " (" + escaped(file) + ")" +
                     (spec.hasConfig ? "; --ignore-config tie_word_embeddings reads both" : ""));
    used.try_emplace(*a, Loc());
  }
  std::vector<std::string> left = unread();
  if (left.empty())
    return;
  std::string some;
  for (size_t i = 0; i < left.size() && i < 6; ++i)
    some += (i ? ", " : "") + escaped(table.nameInFile(inFile[left[i]]));
  Diagnostic &d =
      sink.errorInFile(Error::WeightUnread, file, "weights",
                       Twine(left.size()) + (left.size() == 1 ? " tensor is" : " tensors are") +
                           " not used by the description: " + some + (left.size() > 6 ? ", ..." : "") +
                           "; --ignore-weights " + (left.size() > 1 ? "PATTERN" : escaped(left[0])) +
                           " reads the file as if " + (left.size() > 1 ? "they were" : "it were") + " not there");
  d.table.push_back({"tensor", "is", "found in", "what reads it would be at"});
  for (const std::string &name : left) {
    const std::string &stored = inFile[name];
    WeightTable::Storage s = table.storage(stored);
    d.table.push_back({escaped(table.nameInFile(stored)), s.type, s.place, readerNear(name)});
  }
}

std::vector<std::string> WeightNames::unread() const {
  std::vector<std::string> left;
  for (auto &[name, stored] : inFile)
    if (!used.count(name) &&
        llvm::none_of(spec.ignored,
                      [&, &name = name](const std::string &p) { return !p.empty() && globMatch(name, p); }) &&
        !table.changesNothing(stored))
      left.push_back(name);
  return left;
}

/// How much of two names agrees, up to a dot: "h.0." of "h.0.a" and "h.0.b".
static size_t sharedScope(StringRef a, StringRef b) {
  size_t shared = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
    if (a[i] == '.')
      shared = i + 1;
  return shared;
}

/// A name with `#` for every segment that is a number: what layers have in common.
static std::string withoutNumbers(StringRef name) {
  std::string out;
  for (StringRef segment : llvm::split(name, '.'))
    out += (llvm::all_of(segment, llvm::isDigit) ? "#" : segment.str()) + ".";
  return out;
}

/// The reader of the tensor of this name in another layer, else the readers of those next to `name`; neighbours in the
/// alphabet share most of it.
std::string WeightNames::readerNear(StringRef name) const {
  std::string alike = withoutNumbers(name);
  auto best = llvm::find_if(used, [&](const auto &u) { return u.second && withoutNumbers(u.first) == alike; });
  auto next = used.lower_bound(name);
  size_t shared = 0;
  auto look = [&](decltype(next) it) {
    if (size_t s = sharedScope(it->first, name); s > shared && it->second) {
      best = it;
      shared = s;
    }
  };
  if (best == used.end() && next != used.begin())
    look(std::prev(next));
  if (best == used.end() && next != used.end())
    look(next);
  if (best != used.end())
    return placeText(best->second) + ", where " + escaped(best->first) + " is read";
  return "nothing reads " + escaped(name.take_until([](char c) { return c == '.'; })) +
         (name.contains('.') ? ".*" : "");
}

/// One is the other in a scope: `attn.q.bias` and `cross.attn.q.bias`.
static bool isInScope(StringRef a, StringRef b) {
  StringRef longer = a.size() > b.size() ? a : b, shorter = a.size() > b.size() ? b : a;
  return longer.consume_back(shorter) && longer.ends_with(".");
}

std::optional<WeightNames::Found> WeightNames::nearestStored(StringRef name,
                                                             const std::vector<std::string> &among) const {
  auto moved = llvm::find_if(among, [&](const std::string &other) { return isInScope(name, other); });
  std::vector<StringRef> refs(among.begin(), among.end());
  auto at = inFile.find(moved != among.end() ? *moved : nearestOf(name, refs));
  std::optional<WeightTable::Tensor> t = at == inFile.end() ? std::nullopt : table.find(at->second);
  return t ? std::optional<Found>(Found{at->second, *t}) : std::nullopt;
}

//===--- a plain table --------------------------------------------------------===//

std::string heddle::shapeText(llvm::ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t d) { return std::to_string(d); }), ", ") + "]";
}

WeightTable::Storage WeightTable::storage(StringRef name) const {
  std::optional<Tensor> t = find(name);
  return {t ? shapeText(t->shape) : "", files().empty() ? "" : files().front()};
}

std::vector<std::string> PlainWeightTable::names() const {
  std::vector<std::string> out;
  for (auto &t : tensors)
    out.push_back(t.first);
  return out;
}

std::optional<WeightTable::Tensor> PlainWeightTable::find(StringRef name) const {
  auto it = tensors.find(std::string_view(name));
  return it == tensors.end() ? std::nullopt : std::optional<Tensor>(it->second);
}

std::optional<bool> PlainWeightTable::equal(StringRef a, StringRef b) const {
  for (auto &pair : different)
    if ((pair.first == a && pair.second == b) || (pair.first == b && pair.second == a))
      return false;
  auto x = find(a), y = find(b);
  return x && y && x->shape == y->shape;
}
