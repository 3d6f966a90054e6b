//===- TextFilter.cpp - functions by name, ops by place -------------------===//

#include "compiler/IRText/TextFilter.h"
#include "compiler/IRText/UnifiedDiff.h"
#include "dialects/Model/IR/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;

std::optional<TextFilter> TextFilter::parse(std::vector<std::string> functions, StringRef at, std::string &error) {
  TextFilter out;
  for (std::string &name : functions)
    out.functions.push_back(StringRef(name).ltrim('@').str());
  out.at = at.str();
  if (at.empty())
    return out;
  if (at.starts_with("$")) {
    out.path = at.str();
    return out;
  }
  auto [file, number] = at.rsplit(':');
  if (file.empty() || number.getAsInteger(10, out.line) || !out.line) {
    error = "expected a path of the description, as $.body[3], or FILE:LINE, found '" + at.str() + "'";
    return std::nullopt;
  }
  out.file = file.str();
  return out;
}

/// Whether `name` is `file`, or ends in it after a slash.
static bool isFile(StringRef name, StringRef file) {
  return name.consume_back(file) && (name.empty() || name.ends_with("/"));
}

void TextFilter::resolve(ModuleOp module) {
  unsigned nearest = 0;
  auto look = [&](Location where) {
    where->walk([&](Location l) {
      if (auto place = dyn_cast<FileLineColLoc>(l); place && isFile(place.getFilename().getValue(), file))
        if (unsigned there = place.getLine(); there <= line)
          nearest = std::max(nearest, there);
      return WalkResult::advance();
    });
  };
  if (line)
    module->walk([&](Operation *op) { look(op->getLoc()); });
  if (nearest)
    line = nearest;
}

bool TextFilter::keeps(StringRef function) {
  seen.insert(function.str());
  return functions.empty() || llvm::is_contained(functions, function);
}

bool TextFilter::keeps(LocationAttr where) {
  if (at.empty())
    return true;
  if (!where)
    return false;
  bool found = false;
  where.walk([&](Location l) {
    if (auto place = dyn_cast<FileLineColLoc>(l))
      found |= line && place.getLine() == line && isFile(place.getFilename().getValue(), file);
    else if (auto fused = dyn_cast<FusedLoc>(l); fused && !path.empty())
      if (auto text = dyn_cast_if_present<StringAttr>(fused.getMetadata())) {
        StringRef rest = text.getValue();
        // $.body[3] has everything inside of it, and nothing of $.body[30].
        found |= rest.consume_front(path) && (rest.empty() || StringRef(".[ ").contains(rest.front()));
      }
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  seenPlace |= found;
  return found;
}

bool TextFilter::print(llvm::raw_ostream &os, const ModuleText &text) {
  bool any = false;
  for (const FunctionText &function : text.functions) {
    if (!keeps(function.name))
      continue;
    std::vector<bool> kept;
    for (const TextLine &l : function.lines)
      kept.push_back(keeps(l.where));
    if (!llvm::is_contained(kept, true))
      continue;
    any = true;
    kept.front() = kept.back() = true;
    bool gap = false;
    for (auto [l, keep] : llvm::zip_equal(function.lines, kept)) {
      if (keep)
        os << l.text << "\n";
      else if (!gap)
        os << "    ...\n";
      gap = !keep;
    }
  }
  return any;
}

void TextFilter::keep(std::vector<NamedChange> &changes) {
  if (isAll())
    return;
  auto isKept = [&](const TextLine &l) { return keeps(l.where); };
  llvm::erase_if(changes, [&](const NamedChange &one) {
    if (!one.isCode || !keeps(one.function))
      return true;
    ArrayRef<TextLine> before = one.change.before;
    return llvm::none_of(one.change.edits, [&](const Edit &edit) {
      ArrayRef<TextLine> dropped = before.slice(edit.kept, edit.dropped);
      before = before.drop_front(edit.kept + edit.dropped);
      return llvm::any_of(dropped, isKept) || llvm::any_of(edit.added, isKept);
    });
  });
}

void TextFilter::print(llvm::raw_ostream &os, ArrayRef<NamedChange> changes) {
  for (const NamedChange &change : changes)
    printUnified(os, change, [&](LocationAttr where) { return keeps(where); });
}

std::string TextFilter::words() const {
  std::string all;
  for (const std::string &name : functions)
    all += (all.empty() ? "@" : ", @") + name;
  return all + (all.empty() || at.empty() ? "" : ", ") + at;
}

std::string TextFilter::missed(std::vector<std::string> &known) const {
  for (const std::string &name : functions)
    if (!seen.count(name)) {
      known.assign(seen.begin(), seen.end());
      return "--function=" + name;
    }
  return at.empty() || seenPlace ? "" : "--at=" + at;
}
