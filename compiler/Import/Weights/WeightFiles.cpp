// The WeightTable over files (compiler/Weights/WeightStore), whose errors become diagnostics; and messages about files
// that are no JSON, by their first bytes.
#include "compiler/Import/Weights/WeightTable.h"

#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/Import/Weights/OtherKinds.h"
#include "compiler/Weights/Adapter/AdapterBase.h"
#include "compiler/Weights/Adapter/AdapterChoice.h"
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/KnownFiles.h"
#include "compiler/Weights/WeightStore.h"
#include "heddle/input_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace heddle;
using llvm::StringRef;

/// Turns a status of WeightStore into a diagnostic.
static void refuse(DiagnosticSink &sink, StringRef path, const absl::Status &status) {
  sink.errorInFile(errorOf(status), path, "", textOf(status));
}

void heddle::reportWeights(DiagnosticSink &sink, StringRef path, const absl::Status &status) {
  std::optional<WeightProblem> problem = problemOf(status);
  bool ofPart =
      problem && llvm::is_contained({Error::CodedPiece, Error::BadAdapter, Error::AdapterUnsupported}, problem->code);
  if (!ofPart || !StringRef(problem->file).ends_with(AdapterChoice::configName) || !problem->byte)
    return refuse(sink, ofPart ? StringRef(problem->file) : path, status);
  // A text for people: its line, with a caret.
  ReadFile text = readInputFile(problem->file.c_str(), JsonLimits().bytes);
  if (!text.ok())
    return refuse(sink, problem->file, status);
  SourceFile &file = sink.addFile(problem->file, std::move(text.bytes));
  sink.error(problem->code, Loc{&file, size_t(*problem->byte)}, AdapterChoice::configName, problem->message)
      .note({}, problem->help);
}

namespace {
/// Names, shapes and bytes as the headers of the files say. With `headersOnly` bytes are not compared.
class StoredTable final : public WeightTable {
public:
  StoredTable(WeightStore store, bool headersOnly, DiagnosticSink &sink)
      : store(std::move(store)), headersOnly(headersOnly), sink(sink) {}

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (StringRef n : store.names())
      out.push_back(n.str());
    return out;
  }
  std::optional<Tensor> find(StringRef name) const override {
    const StoredTensor *t = store.find(name);
    if (!t)
      return std::nullopt;
    Element e = t->type() == StoredType::Bool ? Element::Bool : isReal(t->type()) ? Element::Real : Element::Integer;
    return Tensor{std::vector<int64_t>(t->shape().begin(), t->shape().end()), e,
                  t->coded && t->coded->rowsAreOutputs()};
  }
  Storage storage(StringRef name) const override {
    const StoredTensor *t = store.find(name);
    if (!t)
      return {};
    if (t->coded)
      return {t->coded->kind() + " " + shapeText(t->shape()), llvm::sys::path::filename(t->file->path()).str()};
    uint64_t begin = t->record->byte, end = begin + t->record->bytes;
    return {(spelling(t->type()) + " " + shapeText(t->shape())).str(),
            (llvm::sys::path::filename(t->file->path()) + ", bytes " + llvm::Twine(begin) + " to " + llvm::Twine(end))
                .str()};
  }
  std::string nameInFile(StringRef name) const override { return store.nameInFile(name); }
  std::optional<bool> equal(StringRef a, StringRef b) const override {
    const StoredTensor *x = store.find(a), *y = store.find(b);
    if (!x || !y)
      return std::nullopt;
    if (headersOnly && x->type() == y->type() && x->shape() == y->shape())
      return std::nullopt;
    absl::StatusOr<bool> same = store.equal(*x, *y);
    if (same.ok())
      return *same;
    refuse(sink, x->file->path(), same.status());
    return std::nullopt;
  }
  bool changesNothing(StringRef name) const override {
    if (store.isUnlisted(name)) // was remarked on
      return true;
    const StoredTensor *bias = store.find(name);
    const StoredTensor *matrix = name.consume_back(".bias") ? store.find(name.str() + ".weight") : nullptr;
    if (!bias || !matrix || !matrix->coded || !matrix->coded->rowsAreOutputs() || !isReal(bias->type()) ||
        bias->elements() > (1 << 24))
      return false;
    std::vector<float> values(bias->elements());
    return store.readF32(*bias, 0, values).ok() && llvm::all_of(values, [](float x) { return x == 0; });
  }
  std::vector<Statement> statements() const override {
    std::vector<Statement> out;
    for (const StatedNumber &n : store.stated())
      out.push_back(
          {n.common().str(), n.value, (quote(n.key) + " of " + quote(n.file) + ", byte " + llvm::Twine(n.byte)).str()});
    return out;
  }
  std::vector<std::string> files() const override { return store.files(); }

private:
  WeightStore store;
  bool headersOnly;
  DiagnosticSink &sink;
};
} // namespace

std::unique_ptr<WeightTable> heddle::openWeights(StringRef path, const CodedScheme &scheme,
                                                 llvm::ArrayRef<AdapterChoice> adapters, bool headersOnly,
                                                 DiagnosticSink &sink) {
  absl::StatusOr<WeightStore> store = WeightStore::open(path);
  absl::Status status = store.ok() ? store->decode(scheme) : store.status();
  if (status.ok())
    status = store->adapt(adapters);
  if (!status.ok()) {
    reportWeights(sink, path, status);
    return nullptr;
  }
  for (const std::string &remark : store->remarks())
    sink.say(Diagnostic::Kind::Remark, Loc(), "weights", remark).file = path.str();
  return std::make_unique<StoredTable>(*std::move(store), headersOnly, sink);
}

/// Safetensors, other known formats, UTF-16 and binary data, each with what the user can name instead.
bool heddle::refuseOtherKind(StringRef file, StringRef firstBytes, DiagnosticSink &sink) {
  WeightProblem problem;
  problem.file = printable(file, 4096);
  problem.byte = 0;
  if (beginsAsSafetensors(firstBytes)) {
    llvm::SmallString<256> folder = llvm::sys::path::parent_path(file);
    llvm::SmallString<256> config = folder;
    llvm::sys::path::append(config, "config.json");
    problem.code = Error::OtherJson;
    problem.message = "this is a safetensors file: weights, without the model they belong to";
    problem.help = llvm::sys::fs::exists(config)
                       ? "name its directory: " + printable(folder.empty() ? "." : StringRef(folder), 4096)
                       : "name a directory that holds the model's config.json too, or a description with --weights=" +
                             problem.file;
  } else if (std::optional<KnownFile> kind = recognise(firstBytes)) {
    problem.code = kind->code;
    problem.message = "this is " + kind->what + ", not JSON";
    // An array is data for a model that exists already.
    problem.help =
        StringRef(kind->what).contains("NumPy") ? "name a description in JSON or a Hugging Face directory" : kind->help;
  } else if (firstBytes.starts_with("\xff\xfe") || firstBytes.starts_with("\xfe\xff")) {
    problem.code = Error::OtherJson;
    problem.message = "this is text in UTF-16; JSON is UTF-8";
    problem.help = "convert it: iconv -f UTF-16 -t UTF-8 FILE";
  } else if (size_t at = firstBytes.find('\0'); at != StringRef::npos) {
    problem.code = Error::OtherJson;
    problem.message = "this is no text, so it cannot be JSON";
    problem.byte = at;
    problem.help = "name a description in JSON or a Hugging Face directory";
  } else {
    return false;
  }
  refuse(sink, file, toStatus(problem));
  return true;
}

bool heddle::refuseAdapter(StringRef directory, DiagnosticSink &sink) {
  std::optional<WeightProblem> adapter = adapterIn(directory);
  if (adapter)
    refuse(sink, adapter->file, toStatus(*adapter));
  return adapter.has_value();
}

void heddle::refuseDirectory(StringRef directory, DiagnosticSink &sink) {
  if (isAdapterAlone(directory))
    if (absl::StatusOr<std::string> base = baseOfAdapter(directory); !base.ok())
      return reportWeights(sink, directory, base.status());
  refuse(sink, directory, toStatus(noModelIn(directory)));
}
