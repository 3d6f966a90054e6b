//===- ModuleText.cpp - a printed module, line by line --------------------===//

#include "compiler/IRText/ModuleText.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace heddle;

void heddle::forEachName(StringRef text, StringRef sigils, llvm::function_ref<void(size_t, size_t)> found) {
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (quoted && c == '\\') {
      ++at;
      continue;
    }
    if (c == '"')
      quoted = !quoted;
    if (quoted || !sigils.contains(c))
      continue;
    bool isValue = c == '%';
    size_t end = at + 1;
    while (end < text.size() &&
           (llvm::isAlnum(text[end]) || text[end] == '_' || (isValue && StringRef(".$-").contains(text[end]))))
      ++end;
    // "#1" is a number of a result.
    if (end > at + 1 && (isValue || !llvm::isDigit(text[at + 1])))
      found(at, end);
    at = end - 1;
  }
}

std::string heddle::withNames(StringRef text, StringRef sigils, llvm::function_ref<StringRef(StringRef)> newName) {
  std::string out;
  size_t done = 0;
  forEachName(text, sigils, [&](size_t begin, size_t end) {
    out += text.slice(done, begin);
    out += newName(text.slice(begin, end));
    done = end;
  });
  out += text.drop_front(done);
  return out;
}

//===-- aliases --------------------------------------------------------------------===//

std::string AliasNames::lasting(StringRef name, StringRef definition) {
  auto [at, isNew] = known.try_emplace(definition);
  if (isNew) {
    std::string want = name.str();
    for (unsigned n = 1; !taken.insert(want).second; ++n)
      want = (name + "_" + Twine(n)).str();
    at->second = want;
    order.push_back({want, definition.str()});
  }
  return at->second;
}

namespace {
/// What the aliases of one text are called in all texts.
class Renamed {
public:
  /// Takes the line "#arena4 = ..." in.
  void define(StringRef line, AliasNames &names) {
    auto [name, definition] = line.split(" = ");
    if (std::string lasting = names.lasting(name, in(definition)); lasting != name)
      here[name] = lasting;
  }

  std::string in(StringRef text) const {
    if (here.empty())
      return text.str();
    return withNames(text, "#!", [&](StringRef name) {
      auto at = here.find(name);
      return at == here.end() ? name : StringRef(at->second);
    });
  }

private:
  llvm::StringMap<std::string> here; ///< those that are called otherwise
};
} // namespace

//===-- lines ----------------------------------------------------------------------===//

/// The lines of a function with the ops that they print, null: none. Closing braces and labels of blocks belong to the
/// op around them, the rest of an op of several lines to that op.
static std::vector<TextLine> linesOf(ArrayRef<StringRef> lines, ArrayRef<Operation *> ops, const Renamed &names) {
  std::vector<TextLine> out;
  SmallVector<LocationAttr> open;
  LocationAttr last;
  for (auto [line, op] : llvm::zip_equal(lines, ops)) {
    StringRef said = line.trim();
    LocationAttr where;
    if (op) {
      where = last = op->getLoc();
    } else if (said.starts_with("}") && !open.empty()) {
      where = last = open.pop_back_val();
    } else {
      where = said.starts_with("^") && !open.empty() ? open.back() : last;
    }
    if (said.ends_with("{"))
      open.push_back(where);
    out.push_back({names.in(line), where});
  }
  return out;
}

std::string heddle::functionName(Operation &op) {
  auto symbol = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  return symbol ? symbol.str() : op.getName().getStringRef().str();
}

static ModuleText textOf(ModuleOp module, OpPrintingFlags flags, AliasNames *names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  AsmState::LocationMap lineOf; // counted from 1
  AsmState state(module, flags.printNameLocAsPrefix(), &lineOf);
  module->print(os, state);

  SmallVector<StringRef> lines;
  StringRef(text).rtrim().split(lines, '\n');
  std::vector<Operation *> ops(lines.size());
  for (auto [op, place] : lineOf)
    if (place.first >= 1 && place.first <= lines.size())
      ops[place.first - 1] = op;

  ModuleText out;
  Renamed renamed;
  size_t begin = 0;
  for (; begin < lines.size() && ops[begin] != module.getOperation(); ++begin)
    if (StringRef line = lines[begin]; names && (line.starts_with("#") || line.starts_with("!")))
      renamed.define(line, *names);
  if (begin == lines.size())
    return out;
  out.head = renamed.in(lines[begin]);
  for (Operation &op : *module.getBody()) {
    size_t first = lineOf.lookup(&op).first - 1, past = lines.size() - 1; // that of the module's brace
    if (Operation *next = op.getNextNode())
      past = lineOf.lookup(next).first - 1;
    out.functions.push_back({functionName(op), linesOf(ArrayRef(lines).slice(first, past - first),
                                                       ArrayRef(ops).slice(first, past - first), renamed)});
  }
  return out;
}

ModuleText ModuleText::of(ModuleOp module) { return textOf(module, OpPrintingFlags(), nullptr); }

ModuleText ModuleText::of(ModuleOp module, ArrayRef<Operation *> functions, AliasNames &names) {
  // Aliases are printed of a module alone: of one that has just these functions. What they call is not in it, so
  // nothing may ask whether it is right.
  OwningOpRef<ModuleOp> part = ModuleOp::create(module.getLoc());
  (*part)->setAttrs(module->getAttrDictionary());
  (*part)->removeAttr(model::kStageAttr);
  for (Operation *function : functions)
    part->push_back(function->clone());
  constexpr int64_t mostNumbers = 32;
  return textOf(*part, OpPrintingFlags().assumeVerified().elideLargeElementsAttrs(mostNumbers), &names);
}

std::vector<TextLine> heddle::attributeLines(StringRef head) {
  std::vector<TextLine> out;
  auto [front, inside] = head.split('{');
  StringRef attributes = inside.rsplit('}').first;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t at = 0; at <= attributes.size(); ++at) {
    char c = at < attributes.size() ? attributes[at] : ',';
    if (quoted && c == '\\')
      ++at;
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}").contains(c) || (c == '>' && at && attributes[at - 1] != '-'))
      --depth;
    else if (c == ',' && depth == 0) {
      if (StringRef one = attributes.slice(begin, at).trim(); !one.empty())
        out.push_back({one.str(), {}});
      begin = at + 1;
    }
  }
  return out;
}
