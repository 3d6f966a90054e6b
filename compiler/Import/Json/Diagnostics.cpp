// Collects errors and warnings, sorts them by place and prints them as text or JSON; and the suggestion of a name that
// is known and nearly the one that was written.
#include "compiler/Import/Json/Diagnostics.h"
#include "heddle/nearest.h"
#include "heddle/printable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

/// More than anyone reads; a hostile file must not fill the memory with complaints.
static constexpr size_t maxKept = 10000;

/// Records a message unless one of the same words is at the same place. `shape` is the message with every run of
/// digits as '#': layers 0 to 11 of a repeat complain with different numbers and count as one.
Diagnostic &DiagnosticSink::say(Diagnostic::Kind kind, Loc loc, const Twine &path, const Twine &message) {
  // Another turn of a repeat says the same about another number.
  std::string text = message.str(), shape;
  for (char c : text)
    if (!llvm::isDigit(c))
      shape += c;
    else if (shape.empty() || shape.back() != '#')
      shape += '#';
  if (loc) {
    auto it = byPlace.find({loc.file, loc.offset, shape});
    if (it != byPlace.end()) {
      if (it->second->message != text)
        ++it->second->more;
      return echo = Diagnostic();
    }
  }
  if (all.size() >= maxKept)
    return echo = Diagnostic();
  auto d = std::make_unique<Diagnostic>();
  d->kind = kind;
  d->loc = loc;
  d->path = path.str();
  d->message = std::move(text);
  all.push_back(std::move(d));
  if (loc)
    byPlace[{loc.file, loc.offset, shape}] = all.back().get();
  return *all.back();
}

Diagnostic &DiagnosticSink::error(Error code, Loc loc, const Twine &path, const Twine &message) {
  Diagnostic &d = say(Diagnostic::Kind::Error, loc, path, message);
  d.code = code;
  return d;
}

Diagnostic &DiagnosticSink::errorInFile(Error code, StringRef file, const Twine &path, const Twine &message) {
  Diagnostic &d = error(code, Loc(), path, message);
  d.file = file.str();
  return d;
}

Diagnostic &DiagnosticSink::sayInFile(Diagnostic::Kind kind, StringRef file, const Twine &message) {
  Diagnostic &d = say(kind, Loc(), "", message);
  d.file = file.str();
  return d;
}

SourceFile &DiagnosticSink::addFile(std::string name, std::string text) {
  files.push_back(std::make_unique<SourceFile>(std::move(name), std::move(text)));
  return *files.back();
}

SourceFile &DiagnosticSink::addFile(const ModelFolder &folder, const std::string &name, std::string text) {
  SourceFile &file = addFile(folder.path(name), std::move(text));
  if (folder.isMade())
    file.madeFrom = std::make_shared<const std::map<std::string, std::string>>(
        folder.made(name) ? folder.made(name)->keys : std::map<std::string, std::string>());
  return file;
}

const SourceFile *DiagnosticSink::file(StringRef name) const {
  auto found = llvm::find_if(files, [&](const auto &f) { return f->name() == name; });
  return found == files.end() ? nullptr : found->get();
}

bool DiagnosticSink::hasErrors() const {
  return llvm::any_of(all, [](const auto &d) { return d->isError(); });
}

std::vector<const Diagnostic *> DiagnosticSink::sorted() const {
  std::vector<const Diagnostic *> out;
  for (auto &d : all)
    out.push_back(d.get());
  auto fileOf = [](const Diagnostic *d) { return d->loc ? d->loc.file->name() : StringRef(d->file); };
  std::stable_sort(out.begin(), out.end(), [&](const Diagnostic *a, const Diagnostic *b) {
    if (bool(a->loc) != bool(b->loc))
      return bool(a->loc);
    if (fileOf(a) != fileOf(b))
      return fileOf(a) < fileOf(b);
    return a->loc.offset < b->loc.offset;
  });
  return out;
}

int DiagnosticSink::exitCode() const {
  for (Exit gravest : {Exit::Internal, Exit::Resources, Exit::InputOutput, Exit::Input, Exit::Unsupported})
    if (llvm::any_of(all, [&](const auto &d) { return d->isError() && exitOf(d->code) == gravest; }))
      return int(gravest);
  return int(Exit::Ok);
}

/// The line with a caret under the place; of a very long line only the part around it.
static void printExcerpt(llvm::raw_ostream &os, Loc loc) {
  auto [line, column] = loc.file->lineAndColumn(loc.offset);
  StringRef text = loc.file->lineText(line);
  size_t at = std::min<size_t>(column - 1, text.size());
  size_t begin = at > 100 ? at - 80 : 0;
  StringRef shown = text.substr(begin, 140);
  os << "  " << (begin ? "..." : "") << escaped(shown, 400) << (begin + shown.size() < text.size() ? "..." : "")
     << '\n';
  std::string before = escaped(text.slice(begin, at), 400);
  os << "  " << (begin ? "   " : "");
  for (unsigned char c : before)
    if ((c & 0xC0) != 0x80)
      os << ' ';
  os << "^\n";
}

std::string heddle::placeText(Loc loc) {
  if (!loc)
    return "";
  if (loc.file->madeFrom)
    return escaped(loc.file->name());
  auto [line, column] = loc.file->lineAndColumn(loc.offset);
  return (escaped(loc.file->name()) + ":" + Twine(line) + ":" + Twine(column)).str();
}

static void printPlace(llvm::raw_ostream &os, Loc loc, StringRef file) {
  if (loc) {
    os << placeText(loc) << ": ";
  } else if (!file.empty()) {
    os << escaped(file) << ": ";
  }
}

/// Rows of a table in a message for people; in JSON it is whole.
static constexpr size_t mostRows = 20;

/// Rows of cells in columns as wide as their widest cell; a row of one cell is a remark and widens nothing.
static void printTable(llvm::raw_ostream &os, std::vector<std::vector<std::string>> rows) {
  if (size_t whole = mostRows + 1; rows.size() > whole) { // the first has the heads of the columns
    std::string more = "and " + std::to_string(rows.size() - whole) + " more";
    rows.resize(whole);
    rows.push_back({std::move(more)});
  }
  for (auto &row : rows)
    for (std::string &cell : row)
      cell = escaped(cell, cell.size());
  std::vector<size_t> widths;
  for (auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), row.size()));
      widths[i] = std::max(widths[i], row.size() == 1 ? 0 : row[i].size());
    }
  for (auto &row : rows) {
    os << "  ";
    for (size_t i = 0; i < row.size(); ++i) {
      os << row[i];
      if (i + 1 < row.size())
        os.indent(widths[i] - row[i].size() + 2);
    }
    os << '\n';
  }
}

/// The path in the JSON, the message, and how many more there were at its place.
static std::string fullMessage(const Diagnostic &d) {
  std::string out;
  if (d.isUnsupported())
    out += "unsupported: ";
  if (!d.path.empty())
    out += escaped(d.loc ? d.loc.file->keyOf(d.path) : d.path) + ": ";
  out += escapedLines(d.message);
  if (d.more)
    out += " (and " + std::to_string(d.more) + " more here)";
  return out;
}

/// What a message begins with.
static StringRef severityOf(const Diagnostic &d) {
  return d.kind == Diagnostic::Kind::Warning ? "warning" : d.kind == Diagnostic::Kind::Remark ? "remark" : "error";
}

void DiagnosticSink::print(llvm::raw_ostream &os, unsigned limit) const {
  unsigned shown = 0;
  for (const Diagnostic *d : sorted()) {
    if (shown++ == limit) {
      os << "note: " << all.size() - limit << " more messages are not shown\n";
      return;
    }
    printPlace(os, d->loc, d->file);
    os << severityOf(*d);
    if (d->isError())
      os << '[' << codeOf(d->code) << ']';
    os << ": " << fullMessage(*d) << '\n';
    if (d->loc && !d->loc.file->madeFrom)
      printExcerpt(os, d->loc);
    printTable(os, d->table);
    for (auto &n : d->notes) {
      printPlace(os, n.loc, "");
      os << "note: " << escapedLines(n.text) << '\n';
    }
  }
}

std::string heddle::nearestOf(StringRef name, llvm::ArrayRef<StringRef> known) {
  std::vector<StringRef> names; // patterns are no names
  llvm::copy_if(known, std::back_inserter(names), [](StringRef k) { return !k.contains('*'); });
  // Tables of tens of thousands of names come from hostile files.
  return names.size() > 20000 ? "" : nearestName(name, names);
}

std::string heddle::nearest(StringRef name, llvm::ArrayRef<StringRef> known) {
  std::string near = nearestOf(name, known);
  return near.empty() ? "" : "; did you mean " + quote(near) + "?";
}

std::string heddle::nearest(StringRef name, const std::vector<std::string> &known) {
  std::vector<StringRef> refs(known.begin(), known.end());
  return nearest(name, refs);
}

std::string heddle::escaped(StringRef text, size_t limit) {
  std::string out;
  bool cut = text.size() > limit;
  text = text.take_front(limit);
  while (!text.empty()) {
    unsigned char c = text[0];
    size_t n = shownCharacter(text);
    if (c == '\t') { // a blank: the caret below counts columns
      out += ' ';
    } else if (n == 0) {
      out += "\\x";
      out += llvm::hexdigit(c >> 4, /*LowerCase=*/true);
      out += llvm::hexdigit(c & 15, /*LowerCase=*/true);
    } else {
      out += text.take_front(n);
    }
    text = text.drop_front(n ? n : 1);
  }
  if (cut)
    out += "...";
  return out;
}

std::string heddle::escapedLines(StringRef text) {
  std::string out;
  for (bool first = true; first || !text.empty(); first = false) {
    auto [line, rest] = text.split('\n');
    out += (first ? "" : "\n") + escaped(line, line.size());
    text = rest;
  }
  return out;
}
