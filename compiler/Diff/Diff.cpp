//===- Diff.cpp - heddle diff ---------------------------------------------===//
//
// Each side becomes a list of facts. A model is compiled and its report read; a program has its card alone, which knows
// entries, lengths and phases, but no passes and no machine code.
//
//===----------------------------------------------------------------------===//

#include "compiler/Diff/Diff.h"
#include "compiler/Diff/Facts.h"
#include "compiler/Driver/Load.h"
#include "compiler/Report/ReportCommand.h"
#include "heddle/input_file.h"
#include "llvm/Support/raw_ostream.h"

using namespace heddle;
using namespace heddle::diff;
using llvm::StringRef;

/// The largest report that is read, and lines of a section that are shown as text.
static constexpr uint64_t kLargestReport = uint64_t(1) << 30;
static constexpr size_t kShown = 40;

static constexpr StringRef kProgram = "\x7f"
                                      "ELF";

namespace {
/// One of two compilations that are compared.
struct Side {
  std::string path;
  std::string shown;                   ///< how it is called in what is printed
  std::optional<CompileOptions> model; ///< of a model, which is compiled with these
};
} // namespace

/// Whether the file is one that can be compared as it is: a program, or a report.json. Others are models.
static bool isCompilation(const std::string &path) {
  ReadFile file = readInputFile(path.c_str(), 0); // keeps the first bytes alone
  StringRef bytes(file.bytes);
  return bytes.starts_with(kProgram) || bytes.contains("\"heddle-report/");
}

/// What `heddle report --json` would write.
static int reportOf(const Console &console, const CompileOptions &options, std::string &text) {
  llvm::raw_string_ostream os(text);
  Console inner{os, console.err};
  ReportRequest request;
  request.page.clear();
  request.json = "-";
  request.detail = "kernels";
  request.words = {"heddle", "report", options.import.path};
  return writeReport(inner, options, InspectOptions(), request);
}

static int factsOf(const Console &console, const Side &side, Facts &facts) {
  std::string text, why;
  if (side.model) {
    if (int failed = reportOf(console, *side.model, text))
      return failed;
  } else {
    ReadFile start = readInputFile(side.path.c_str(), 0);
    if (StringRef(start.bytes).starts_with(kProgram))
      return addCardFacts(side.path, facts, why) ? int(Ok)
                                                 : console.complain(Error::NotItsFormat, side.path + ": " + why);
    ReadFile file = readInputFile(side.path.c_str(), kLargestReport);
    if (!file.ok())
      return console.complain(file.systemError ? Error::CannotRead : Error::NotItsFormat, side.path + ": " + file.why);
    text = std::move(file.bytes);
  }
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(text);
  if (!report)
    return console.complain(Error::NotJson, side.path + ": " + llvm::toString(report.takeError()));
  return addReportFacts(*report, facts, why) ? int(Ok) : console.complain(Error::NotItsFormat, side.path + ": " + why);
}

/// "bytes 4*T -> 2*T" for each word that differs; the only word of a fact has no name.
static std::string changeText(const Difference &difference) {
  std::string text;
  for (const auto &[word, value] : difference.a->words) {
    StringRef other;
    for (const auto &[name, there] : difference.b->words)
      if (name == word)
        other = there;
    if (other == value)
      continue;
    text += (text.empty() ? "" : "; ") + (word == "is" ? "" : word + " ") + (value.empty() ? "nothing" : value) +
            " -> " + (other.empty() ? "nothing" : other.str());
  }
  for (const auto &[word, value] : difference.b->words)
    if (llvm::none_of(difference.a->words, [&, &word = word](const auto &one) { return one.first == word; }))
      text += (text.empty() ? "" : "; ") + word + " nothing -> " + value;
  return text;
}

static void printText(llvm::ArrayRef<Difference> differences, const Side &a, const Side &b, llvm::raw_ostream &os) {
  os << a.shown << " -> " << b.shown << "\n";
  StringRef section;
  size_t inSection = 0;
  auto close = [&] {
    if (inSection > kShown)
      os << "  and " << inSection - kShown << " more; --json has all\n";
  };
  for (const Difference &difference : differences) {
    const Fact &fact = difference.any();
    if (fact.section != section) {
      close();
      section = fact.section;
      inSection = 0;
      os << section << "\n";
    }
    if (++inSection > kShown)
      continue;
    if (difference.a && difference.b) {
      os << "  " << fact.name << ": " << changeText(difference) << "\n";
      continue;
    }
    os << (difference.a ? "  - " : "  + ") << fact.name;
    for (const auto &[word, value] : fact.words)
      os << (word == "is" ? ": " + value : "");
    os << "\n";
  }
  close();
}

static void printJson(llvm::ArrayRef<Difference> differences, const Side &a, const Side &b, size_t compared,
                      llvm::raw_ostream &os) {
  llvm::json::OStream json(os);
  auto side = [&](StringRef name, const Fact *fact) {
    if (!fact) {
      json.attribute(name, nullptr);
      return;
    }
    json.attributeObject(name, [&] {
      for (const auto &[word, value] : fact->words)
        json.attribute(word, llvm::json::fixUTF8(value));
    });
  };
  json.object([&] {
    json.attribute("a", llvm::json::fixUTF8(a.shown));
    json.attribute("b", llvm::json::fixUTF8(b.shown));
    json.attribute("compared", int64_t(compared));
    json.attributeArray("differences", [&] {
      for (const Difference &difference : differences)
        json.object([&] {
          json.attribute("section", difference.any().section);
          json.attribute("name", llvm::json::fixUTF8(difference.any().name));
          side("a", difference.a);
          side("b", difference.b);
        });
    });
  });
  os << "\n";
}

static int readSide(const Console &console, const std::string &path, const std::string &options, ReadModel readModel,
                    Side &side) {
  side.path = side.shown = path;
  if (int missing = canRead(console, path))
    return missing;
  if (options.empty() && isCompilation(path))
    return Ok;
  side.shown += options.empty() ? "" : " " + options;
  return readModel(path, options, side.model.emplace());
}

int heddle::diffCompilations(const Console &console, const DiffRequest &request, bool json, ReadModel readModel) {
  if (request.second.empty() && request.with.empty())
    return console.complain(Error::BadUsage, "diff compares two things: name the second one, or say --with OPTIONS");
  std::string more = request.base + (request.base.empty() || request.with.empty() ? "" : " ") + request.with;
  Side a, b;
  if (int failed = readSide(console, request.first, request.base, readModel, a))
    return failed;
  if (int failed = readSide(console, request.second.empty() ? request.first : request.second, more, readModel, b))
    return failed;
  Facts ofA, ofB;
  for (auto [side, facts] : {std::pair(&a, &ofA), {&b, &ofB}})
    if (int failed = factsOf(console, *side, *facts))
      return failed;
  std::vector<Difference> differences = compare(ofA, ofB);
  if (json)
    printJson(differences, a, b, ofA.all().size(), console.out);
  else if (differences.empty())
    console.out << a.shown << " and " << b.shown << " are the same: " << ofA.all().size() << " facts compared\n";
  else
    printText(differences, a, b, console.out);
  return differences.empty() ? 0 : 1;
}
