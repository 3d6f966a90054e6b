//===- Facts.cpp - what two compilations are compared by ------------------===//

#include "compiler/Diff/Facts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle::diff;

void Facts::add(Fact fact) {
  std::string name = fact.name;
  for (unsigned count = 2; !places.emplace(std::pair(fact.section, fact.name), facts.size()).second; ++count)
    fact.name = name + " (" + std::to_string(count) + ")";
  facts.push_back(std::move(fact));
}

const Fact *Facts::find(const Fact &like) const {
  auto at = places.find({like.section, like.name});
  return at == places.end() ? nullptr : &facts[at->second];
}

std::string heddle::diff::withoutDigest(llvm::StringRef kernel) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  kernel.split(parts, '_');
  llvm::erase_if(parts, [](llvm::StringRef part) { return part.size() >= 12 && llvm::all_of(part, llvm::isHexDigit); });
  return llvm::join(parts, "_");
}

std::vector<Difference> heddle::diff::compare(const Facts &a, const Facts &b) {
  std::vector<Difference> found;
  for (const Fact &fact : a.all())
    if (const Fact *other = b.find(fact); !other || other->words != fact.words)
      found.push_back({&fact, other});
  for (const Fact &fact : b.all())
    if (!a.find(fact))
      found.push_back({nullptr, &fact});
  std::vector<llvm::StringRef> order;
  for (const Facts *side : {&a, &b})
    for (const Fact &fact : side->all())
      if (!llvm::is_contained(order, fact.section))
        order.push_back(fact.section);
  llvm::stable_sort(found, [&](const Difference &x, const Difference &y) {
    return llvm::find(order, x.any().section) < llvm::find(order, y.any().section);
  });
  return found;
}
