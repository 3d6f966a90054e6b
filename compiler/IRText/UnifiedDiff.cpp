//===- UnifiedDiff.cpp - hunks --------------------------------------------===//

#include "compiler/IRText/UnifiedDiff.h"
#include "dialects/Model/IR/Names.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace heddle;

static constexpr unsigned kContext = 3;

std::string heddle::placeText(LocationAttr where) {
  if (!where)
    return "";
  std::string text = model::pathOf(Location(where)).str();
  if (auto at = where.findInstanceOf<FileLineColLoc>())
    text += (Twine(text.empty() ? "" : " ") + at.getFilename().getValue() + ":" + Twine(at.getLine()) + ":" +
             Twine(at.getColumn()))
                .str();
  return text;
}

namespace {
/// Lines of the text before, which are walked once, in order.
class Hunks {
public:
  Hunks(llvm::raw_ostream &os, ArrayRef<TextLine> before, llvm::function_ref<bool(LocationAttr)> isWanted)
      : os(os), before(before), isWanted(isWanted) {}

  /// One hunk of `edits`, whose first keeps so many lines.
  void print(ArrayRef<Edit> edits, unsigned kept);

private:
  void line(char sign, StringRef text) { ((body += sign) += text) += '\n'; }
  void context(unsigned lines) {
    for (const TextLine &l : before.slice(old, lines))
      line(' ', l.text);
    old += lines;
    now += lines;
  }
  void changed(char sign, const TextLine &l) {
    line(sign, l.text);
    wanted = wanted || isWanted(l.where);
    if (place.empty())
      place = placeText(l.where);
  }

  llvm::raw_ostream &os;
  ArrayRef<TextLine> before;
  llvm::function_ref<bool(LocationAttr)> isWanted;
  unsigned old = 0, now = 0; ///< lines that are done
  // Of the present hunk:
  std::string body, place;
  bool wanted = false;
};
} // namespace

void Hunks::print(ArrayRef<Edit> edits, unsigned kept) {
  body.clear();
  place.clear();
  wanted = false;
  unsigned skipped = kept - std::min(kept, kContext);
  old += skipped;
  now += skipped;
  unsigned firstOld = old, firstNow = now;
  bool isFirst = true;
  for (const Edit &edit : edits) {
    context(isFirst ? kept - skipped : edit.kept);
    isFirst = false;
    for (const TextLine &l : before.slice(old, edit.dropped))
      changed('-', l);
    for (const TextLine &l : edit.added)
      changed('+', l);
    old += edit.dropped;
    now += unsigned(edit.added.size());
  }
  context(std::min<unsigned>(kContext, unsigned(before.size()) - old));
  if (!wanted)
    return;
  // An empty range begins at the line before it.
  auto range = [](unsigned first, unsigned count) {
    return llvm::utostr(count ? first + 1 : first) + "," + llvm::utostr(count);
  };
  os << "@@ -" << range(firstOld, old - firstOld) << " +" << range(firstNow, now - firstNow) << " @@";
  if (!place.empty())
    os << " " << place;
  os << "\n" << body;
}

void heddle::printUnified(llvm::raw_ostream &os, const NamedChange &change,
                          llvm::function_ref<bool(LocationAttr)> isWanted) {
  const auto &[before, edits] = change.change;
  if (edits.empty())
    return;
  bool gone = edits.size() == 1 && edits[0].kept == 0 && edits[0].dropped == before.size() && edits[0].added.empty();
  std::string name = (change.isCode ? "@" : "") + change.function;
  os << "--- " << (before.empty() && change.isCode ? "/dev/null" : "a/" + name) << "\n";
  os << "+++ " << (gone ? "/dev/null" : "b/" + name) << "\n";
  Hunks hunks(os, before, isWanted);
  unsigned shown = 0; // lines kept by the next edit that the hunk before has printed
  for (size_t i = 0, end; i < edits.size(); i = end) {
    for (end = i + 1; end < edits.size() && edits[end].kept <= 2 * kContext; ++end)
      ;
    hunks.print(ArrayRef(edits).slice(i, end - i), edits[i].kept - shown);
    shown = kContext;
  }
}
