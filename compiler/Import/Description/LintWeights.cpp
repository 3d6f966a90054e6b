// Reports entries of the description's `weights.names` and `weights.tied` that no block and no op can ask for.
#include "compiler/Import/Description/Lint.h"

#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

namespace {
using Names = std::set<std::string, std::less<>>;
} // namespace

static void wordsOfText(StringRef text, Names &out) {
  wordsIn(text, [&](StringRef w) { out.insert(w.str()); });
}

/// The words of all strings in a value that are not expressions.
static void wordsOf(const JsonValue *v, Names &out) {
  if (!v)
    return;
  if (v->isString() && !v->isExpression())
    wordsOfText(v->string, out);
  for (const JsonValue &x : v->items)
    wordsOf(&x, out);
  for (const JsonMember &m : v->members)
    wordsOf(&m.value, out);
}

/// An entry of `names` must be made of words of the file and end in one that a block asks for (in its body, its
/// attributes, what calls give it, or `defaults`); one of `tied` must have a side that is made of words of the file.
void Lint::checkWeights(const std::vector<Reached> &calls) {
  if (!doc.weights || !doc.weights->isObject())
    return;
  Names inBlocks, toBlocks, everywhere, inDefaults;
  std::set<StringRef> done;
  for (const Reached &r : calls) {
    const BlockSpec *b = r.call ? r.call->block : doc.block(r.name);
    if (!b)
      continue;
    if (done.insert(b->name).second) {
      wordsOf(b->json->find("body"), inBlocks);
      wordsOf(b->json->find("attributes"), inBlocks);
    }
    if (r.call)
      for (const AttrSpec &a : r.call->attributes)
        wordsOf(a.value, toBlocks);
  }
  wordsOf(doc.defaults, inDefaults);
  everywhere = inBlocks;
  everywhere.insert(inDefaults.begin(), inDefaults.end());
  wordsOf(doc.root.find("body"), everywhere);
  everywhere.insert(torn.begin(), torn.end());

  const JsonValue *names = doc.weights->find("names");
  if (names)
    for (const JsonMember &m : names->members) {
      llvm::SmallVector<StringRef, 4> segments;
      StringRef(m.key).split(segments, '.');
      StringRef last = segments.back();
      bool asked = llvm::all_of(segments, [&](StringRef s) { return everywhere.count(s); }) &&
                   (inBlocks.count(last) || toBlocks.count(last) || inDefaults.count(last) || torn.count(last));
      if (!asked)
        sink.error(Error::UnknownName, m.keyLoc, names->path() + "." + m.key,
                   "no block that this file reaches asks for a weight " + quote(m.key) +
                       nearest(last, std::vector<std::string>(inBlocks.begin(), inBlocks.end())));
    }

  Names said = everywhere;
  wordsOf(names, said);
  said.insert({"weight", "bias"});
  if (const JsonValue *tied = doc.weights->find("tied"))
    for (const JsonMember &m : tied->members) {
      std::vector<std::string> pair = {m.key};
      if (m.value.isExpression())
        stringsIn(expressions.ofValue(m.value), [&](StringRef s) { pair.push_back(s.str()); });
      else
        pair.push_back(m.value.string);
      auto isRead = [&](const std::string &name) {
        Names parts;
        wordsOfText(name, parts);
        return llvm::all_of(parts, [&](const std::string &p) { return llvm::isDigit(p[0]) || said.count(p); });
      };
      if (llvm::none_of(pair, isRead))
        sink.error(Error::NoEffect, m.keyLoc, tied->path() + "." + m.key,
                   "nothing reads " + quote(llvm::join(pair, " or ")));
    }
}
