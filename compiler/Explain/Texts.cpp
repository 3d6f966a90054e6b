//===- Texts.cpp - the pages that are compiled in -------------------------===//
// A table of name and text in Texts.inc, which EmbedText.cmake writes at build time.

#include "compiler/Explain/Texts.h"

using namespace heddle;
using llvm::StringRef;

static const Page kPages[] = {
#include "compiler/Explain/Texts.inc"
};

llvm::ArrayRef<Page> heddle::explainedPages() { return kPages; }

StringRef heddle::pageOf(StringRef name) {
  for (const Page &page : kPages)
    if (page.name == name)
      return page.text;
  return "";
}

std::vector<Section> heddle::sectionsOf(StringRef page, unsigned level) {
  std::vector<Section> found;
  const char *begin = nullptr; // of the body of the last section that is open
  auto close = [&](const char *end) {
    if (begin)
      found.back().body = StringRef(begin, size_t(end - begin)).trim('\n');
    begin = nullptr;
  };
  bool fenced = false;
  for (StringRef rest = page; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    fenced ^= line.starts_with("```");
    size_t marks = fenced ? 0 : line.find_first_not_of('#');
    if (marks != StringRef::npos && marks > 0 && marks <= level && line[marks] == ' ') {
      close(line.begin());
      if (marks == level) {
        found.push_back({line.drop_front(marks + 1), ""});
        begin = next.begin();
      }
    }
    rest = next;
  }
  close(page.end());
  return found;
}
