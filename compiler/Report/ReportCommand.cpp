//===- ReportCommand.cpp - heddle report ----------------------------------===//
//
// Compiles the model while a Collector watches, adds masks, complaints and measurements, and writes the page and
// report.json.
//
//===----------------------------------------------------------------------===//

#include "compiler/Report/ReportCommand.h"
#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Exit.h"
#include "compiler/Driver/Load.h"
#include "compiler/Driver/Output.h"
#include "compiler/Driver/TimeReport.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/MaskReport/MaskReport.h"
#include "compiler/Report/Collector.h"
#include "compiler/Report/ReportPage.h"
#include "heddle/input_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::report;

/// The longest measurement that is read.
static constexpr size_t kMostMeasured = size_t(64) << 20;

void heddle::printReportSchema(llvm::raw_ostream &os) { os << schemaText(); }

static llvm::json::Value parsed(StringRef text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (value)
    return std::move(*value);
  llvm::consumeError(value.takeError());
  return nullptr;
}

/// Calls files as the report does, in an object that names one.
static void showFile(llvm::json::Value &value, const Places &places) {
  if (llvm::json::Object *object = value.getAsObject())
    if (std::optional<StringRef> file = object->getString("file"))
      (*object)["file"] = places.shown(*file);
}

/// What `heddle mask --json` prints of one entry; null where it has no masks that can be drawn.
static llvm::json::Value masksOf(const CompileOptions &options, const InspectOptions &asked, const Entry &entry,
                                 const Places &places) {
  std::string text;
  llvm::raw_string_ostream os(text);
  MaskReport masks;
  InspectOptions look = asked;
  look.entry = entry.name;
  for (const auto &dim : asked.dims)
    if (!llvm::is_contained(entry.dims, dim.first))
      look.dims.erase(dim.first);
  Console quiet{os, llvm::nulls()};
  if (gatherMasks(quiet, options, look, masks) != Ok)
    return nullptr;
  writeMaskJson(masks, os);
  llvm::json::Value value = parsed(text);
  if (llvm::json::Object *object = value.getAsObject()) {
    object->erase("model");
    if (llvm::json::Array *attentions = object->getArray("attentions"))
      for (llvm::json::Value &attention : *attentions)
        if (llvm::json::Object *one = attention.getAsObject()) {
          (*one)["entry"] = entry.name;
          (*one)["dims"] = llvm::json::Object(*object->getObject("dims"));
          if (llvm::json::Array *list = one->getArray("places"))
            for (llvm::json::Value &place : *list)
              showFile(place, places);
        }
  }
  return value;
}

/// What `heddle check --json` prints.
static llvm::json::Value complaintsOf(const CompileOptions &options, const Places &places) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Console quiet{os, llvm::nulls()};
  InspectOptions look;
  look.json = true;
  checkInput(quiet, options, look);
  llvm::json::Value value = parsed(text);
  if (!value.getAsArray())
    return llvm::json::Array();
  for (llvm::json::Value &complaint : *value.getAsArray())
    showFile(complaint, places);
  return value;
}

/// Reads what `MODEL bench --profile --json` printed into `measured`.
static int readMeasured(const Console &console, const std::string &file, llvm::json::Value &measured) {
  ReadFile read = readInputFile(file.c_str(), kMostMeasured);
  if (!read.ok())
    return console.complain(read.systemError ? Error::CannotRead : Error::NotItsFormat, file + ": " + read.why);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(read.bytes);
  if (value && value->getAsObject()) {
    measured = std::move(*value);
    return Ok;
  }
  std::string why = "expected one object, as MODEL bench --profile --json prints it";
  if (!value)
    why = llvm::toString(value.takeError());
  return console.complain(Error::NotItsFormat, file + ": " + why);
}

/// Runs the program's own measurement, which writes beside it.
static int measure(const Console &console, const std::string &program, const std::map<std::string, int64_t> &dims,
                   llvm::json::Value &measured) {
  std::string out = program + ".json", log = program + ".log", why;
  std::vector<std::string> words = {program, "bench", "--json", "--profile", "--threads", "1"};
  if (auto tokens = dims.find("T"); tokens != dims.end())
    words.insert(words.end(), {"--prompt-tokens", std::to_string(tokens->second)});
  std::vector<StringRef> args(words.begin(), words.end());
  std::optional<StringRef> streams[] = {StringRef(""), StringRef(out), StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(program, args, std::nullopt, streams, 0, 0, &why);
  if (status == 0)
    return readMeasured(console, out, measured);
  ReadFile said = readInputFile(log.c_str(), 1 << 20);
  if (why.empty() && said.ok())
    why = said.bytes;
  return console.complain(Error::CannotRead, "the program cannot measure itself: " + StringRef(why).trim());
}

/// The folder whose files a report calls by their names in it; "" with --paths.
static std::string strippedFolder(const CompileOptions &options, const ReportRequest &request) {
  if (request.paths)
    return "";
  const std::string &path = options.import.path;
  if (llvm::sys::fs::is_directory(path))
    return path;
  std::string parent = llvm::sys::path::parent_path(path).str();
  return parent.empty() ? "." : parent;
}

/// Compiles the model into a program in a folder beside the page, lets it measure itself, and removes the folder.
static int compileAndMeasure(const Console &console, const CompileOptions &options, const ReportRequest &request,
                             Report &report) {
  llvm::SmallString<128> prefix(request.page), folder;
  llvm::sys::fs::make_absolute(prefix);
  llvm::sys::path::remove_filename(prefix);
  llvm::sys::path::append(prefix, ".heddle-report");
  if (std::error_code ec = llvm::sys::fs::createUniqueDirectory(prefix, folder))
    return console.complain(errorOf(ec, Error::CannotWrite), "a folder to measure in: " + ec.message());
  CompileOptions knobs = options;
  knobs.output = (folder + "/program").str();
  int code = compile(console, knobs);
  if (code == Ok)
    code = measure(console, knobs.output, report.given, report.measured);
  llvm::sys::fs::remove_directories(folder);
  return code;
}

/// The command line; without --paths files are called as the report calls them.
static std::string commandText(const ReportRequest &request, const Places &places) {
  std::string text;
  for (StringRef word : request.words) {
    auto [name, value] = word.split('=');
    bool option = name.starts_with("-") && !value.empty();
    std::string shown = option ? (name + "=" + places.shown(value)).str() : places.shown(word);
    bool plain = StringRef(shown).find_first_of(" \t'\"*?$;&|<>()") == StringRef::npos;
    text += (text.empty() ? "" : " ") + (plain ? shown : "'" + shown + "'");
  }
  return text;
}

/// The phases of the compilation, as --time=json says them.
static void addPhases(TimeReport &times, Report &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  times.finish(os);
  llvm::json::Value value = parsed(text);
  if (llvm::json::Object *object = value.getAsObject())
    if (llvm::json::Array *phases = object->getArray("phases"))
      report.phases = std::move(*phases);
}

/// Every length of --dims must be one of the model's.
static int checkDims(const Console &console, const Report &report) {
  std::vector<std::string> known;
  for (const Entry &entry : report.entries)
    known.insert(known.end(), entry.dims.begin(), entry.dims.end());
  for (const auto &dim : report.given)
    if (!llvm::is_contained(known, dim.first))
      return console.complain(Error::BadInput,
                              "--dims: the model has no dim " + quote(dim.first) + nearest(dim.first, known));
  return Ok;
}

static int writeText(const Console &console, const std::string &file,
                     llvm::function_ref<void(llvm::raw_ostream &)> text) {
  return writeAtomically(console, file, [&](llvm::raw_pwrite_stream &os) {
    text(os);
    return true;
  });
}

int heddle::writeReport(const Console &console, const CompileOptions &asked, const InspectOptions &look,
                        const ReportRequest &request) {
  if (StringRef(asked.target).contains(','))
    return console.complain(Error::BadUsage, "a report shows one target: say which with --target");
  bool here = asked.target.empty() || asked.target == targetKinds().front().name;
  if (request.bench && request.bench->empty() && !here)
    return console.complain(Error::BadUsage, "--bench measures on this machine's processor; --bench=FILE.json reads "
                                             "what `MODEL bench --profile --json` printed on another one");
  Places places(strippedFolder(asked, request));
  Report report(places);
  report.version = request.version;
  report.command = commandText(request, places);
  report.modelPath = places.shown(asked.import.path);
  report.given = look.dims;
  if (request.bench && !request.bench->empty())
    if (int failed = readMeasured(console, *request.bench, report.measured))
      return failed;
  Sources sources(asked.import.families);
  Collector collector(report, sources);
  CompileOptions options = asked;
  options.emit = "exe";
  options.output.clear();
  options.watchers.push_back(&collector);
  TimeReport times(/*lines=*/nullptr);
  if (options.time.empty()) {
    options.times = &times;
    options.watchers.push_back(&times);
  }
  bool measures = request.bench && request.bench->empty();
  if (int failed = measures ? compileAndMeasure(console, options, request, report) : compile(console, options))
    return failed;
  addPhases(times, report);
  if (int failed = checkDims(console, report))
    return failed;
  llvm::json::Array attentions;
  for (const Entry &entry : report.entries)
    if (llvm::json::Value masks = masksOf(asked, look, entry, places); llvm::json::Object *object = masks.getAsObject())
      llvm::append_range(attentions, *object->getArray("attentions"));
  report.masks = llvm::json::Object{{"attentions", std::move(attentions)}};
  report.complaints = complaintsOf(asked, places);
  thin(report, request.detail == "all" ? Detail::All : request.detail == "entries" ? Detail::Entries : Detail::Kernels);
  if (!request.json.empty())
    if (int failed = writeText(console, request.json, [&](llvm::raw_ostream &os) { writeJson(report, os); }))
      return failed;
  if (request.page.empty())
    return Ok;
  return writeText(console, request.page, [&](llvm::raw_ostream &os) { os << pageOf(report); });
}
