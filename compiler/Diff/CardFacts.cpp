//===- CardFacts.cpp - the facts of a program's card ----------------------===//

#include "compiler/Diff/Facts.h"
#include "targets/Card/CardFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace heddle;
using namespace heddle::diff;
using llvm::StringRef;

/// Lines of which an entry or a model has several, told apart by their first word.
static bool hasName(StringRef word) {
  return llvm::is_contained<StringRef>(
      {"input", "output", "state", "dim", "generate", "picture", "sound", "chat", "vector"}, word);
}

/// "linear turns 2 operations 2*T bytes 4*T at PLACE of NODE by KERNEL..": the ops, perhaps a unit, then pairs of a
/// word and its text, and the kernels.
static Fact phaseFact(const CardFileLine &line, StringRef entry) {
  static constexpr StringRef pairs[] = {"turns", "operations", "bytes", "at", "in", "of"};
  llvm::StringMap<std::string> texts;
  std::vector<std::string> kernels;
  for (size_t i = 1; i < line.rest.size(); ++i) {
    const std::string &word = line.rest[i];
    if (word == "by") {
      for (StringRef kernel : llvm::ArrayRef(line.rest).drop_front(i + 1))
        kernels.push_back(withoutDigest(kernel));
      break;
    }
    bool pair = llvm::is_contained(pairs, word) && i + 1 < line.rest.size();
    texts[pair ? StringRef(word) : "unit"] = pair ? line.rest[++i] : word;
  }
  Fact fact{"statements", ("@" + entry).str(), {}};
  for (const std::string &part : {texts["at"], line.rest.front(), line.comment})
    fact.name += part.empty() ? "" : " " + part;
  for (StringRef word : {"unit", "turns", "operations", "bytes", "in"})
    if (!texts[word].empty())
      fact.words.push_back({word.str(), texts[word]});
  if (!kernels.empty())
    fact.words.push_back({"kernels", llvm::join(kernels, " ")});
  return fact;
}

bool heddle::diff::addCardFacts(const std::string &path, Facts &facts, std::string &why) {
  std::vector<CardFileLine> lines = cardOfProgram(path, why);
  std::string entry;
  for (const CardFileLine &line : lines) {
    if (line.word == "heddle-card" || line.word == "end") {
      entry.clear();
    } else if (line.word == "entry" && !line.rest.empty()) {
      entry = line.rest.front();
      facts.add({"entries", "@" + entry, {}});
    } else if (line.word == "phase" && !line.rest.empty()) {
      facts.add(phaseFact(line, entry));
    } else {
      llvm::ArrayRef<std::string> rest = line.rest;
      std::string name = entry.empty() ? line.word : "@" + entry + " " + line.word;
      if (line.word == "launch" && !rest.empty()) // kernels are called by their content
        name += line.comment.empty() ? "" : " " + line.comment;
      else if (hasName(line.word) && !rest.empty())
        name += " " + rest.front();
      if (hasName(line.word) && !rest.empty())
        rest = rest.drop_front();
      StringRef section = line.word == "launch" ? "statements" : entry.empty() ? "model" : "entries";
      facts.add({section.str(), name, {{"is", llvm::join(rest, " ")}}});
    }
  }
  return !lines.empty();
}
