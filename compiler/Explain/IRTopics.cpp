//===- IRTopics.cpp - a topic for each op, attribute and type of the IR ---===//
//
// mlir-tblgen writes a page a dialect: a section a definition, with its summary in italics, its syntax, its
// description, and tables. The tables become lists here, because a terminal shows no HTML.
//
//===----------------------------------------------------------------------===//

#include "compiler/Explain/Texts.h"
#include "compiler/Explain/Topic.h"
#include "llvm/ADT/STLExtras.h"

using namespace heddle;
using llvm::StringRef;

/// Text of HTML without its tags; `<` alone is written as an entity there.
static std::string withoutTags(StringRef html) {
  std::string text;
  for (size_t i = 0; i < html.size();)
    if (html[i] == '<')
      i = std::min(html.find('>', i), html.size() - 1) + 1;
    else
      text += html[i++];
  return StringRef(text).trim().str();
}

/// The rows of a table, of Markdown or of HTML, as a list: the first cell and the last one.
static std::string listOf(StringRef table) {
  std::string list;
  auto add = [&](StringRef name, StringRef about) {
    list += "- `" + name.str() + "`" + (about.empty() ? "" : ": " + about.str()) + "\n";
  };
  while (true) {
    auto [before, rest] = table.split("<tr><td>");
    if (rest.empty())
      break;
    auto [row, after] = rest.split("</td></tr>");
    llvm::SmallVector<StringRef, 3> cells;
    row.split(cells, "</td><td>");
    add(withoutTags(cells.front()), withoutTags(cells.back()));
    table = after;
  }
  llvm::SmallVector<StringRef, 16> lines;
  table.split(lines, '\n');
  for (StringRef line : lines) {
    llvm::SmallVector<StringRef, 4> cells;
    line.trim().trim('|').split(cells, '|');
    if (!line.starts_with("|") || cells.size() < 2 || cells.front().contains(":-") ||
        llvm::is_contained<StringRef>({"Operand", "Result", "Parameter"}, cells.front().trim()))
      continue;
    StringRef about = cells.back().trim();
    add(cells.front().trim().trim('`'), about.empty() ? cells[1].trim().trim('`') : about);
  }
  return list;
}

/// The body of a definition: without the lines about traits, tables as lists.
static std::string described(StringRef body) {
  std::string text;
  auto [main, tables] = body.split("\n#### ");
  bool fenced = false;
  for (StringRef rest = main; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    fenced ^= line.starts_with("```");
    if (fenced ||
        (!line.starts_with("Traits: ") && !line.starts_with("Interfaces: ") && !line.starts_with("Effects: ")))
      text += line.str() + "\n";
  }
  text = StringRef(text).rtrim('\n').str() + "\n";
  while (!tables.empty()) {
    auto [table, rest] = tables.split("\n#### ");
    auto [title, rows] = table.split('\n');
    text += "\n" + title.str() + "\n\n" + listOf(rows);
    tables = rest;
  }
  return text;
}

/// The name of a definition: that of its title, or of its syntax ("#model.coded").
static std::string nameOf(const Section &section) {
  if (section.title.starts_with("`"))
    return section.title.drop_front().split('`').first.str();
  for (StringRef mark : {"\n#", "\n!"}) {
    size_t at = section.body.find(mark);
    if (at != StringRef::npos && section.body.substr(at + 2).split('.').first.find_first_of(" \n#") == StringRef::npos)
      return section.body.drop_front(at + 1).take_while([](char c) { return c != '<' && c != '\n' && c != ' '; }).str();
  }
  return "";
}

void heddle::addIRTopics(Topics &topics) {
  for (const Page &page : explainedPages()) {
    if (page.name.starts_with("H0") || page.name.starts_with("passes") || page.name == "stages")
      continue;
    for (const Section &section : sectionsOf(page.text, 3)) {
      std::string name = nameOf(section);
      if (name.empty()) // an enumeration; the definitions that have it list its words
        continue;
      auto [summary, body] = section.body.split('\n');
      StringRef kind = name[0] == '#' ? "attribute" : name[0] == '!' ? "type" : "op";
      topics.push_back(
          {kind, name, summary.trim('_').str(), {{"dialect", page.name.str()}}, described(body.trim('\n'))});
    }
  }
}
