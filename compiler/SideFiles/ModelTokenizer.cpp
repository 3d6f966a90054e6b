//===- ModelTokenizer.cpp - the tokenizers of a model ---------------------===//

#include "compiler/SideFiles/ModelTokenizer.h"
#include "compiler/Gguf/GgufFolder.h"
#include "compiler/SideFiles/SentenceVectors.h"
#include "compiler/SideFiles/SideFiles.h"
#include "compiler/Tokenizer/FolderSettings.h"
#include "compiler/Tokenizer/TokenizerBlob.h"
#include "compiler/Tokenizer/Vocabulary.h"
#include "compiler/Weights/Files/Problem.h"
#include "dialects/Model/IR/Model.h"
#include "dialects/Model/IR/VectorHead.h"
#include "heddle/tokenizer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral kTwoVocabularies =
    "where the model reads one vocabulary and writes another, target_tokenizer.json next to tokenizer.json, or "
    "--target-tokenizer FILE, is the tokenizer of what it writes";

//===--- reading --------------------------------------------------------------===//

/// The positions that an encoder has for a text, where the module knows them.
static std::optional<int64_t> positionsOf(ModuleOp module) {
  auto run = module.lookupSymbol<func::FuncOp>("run");
  auto bounds = module->getAttrOfType<DictionaryAttr>("model.dims");
  if (!run || !bounds)
    return std::nullopt;
  for (BlockArgument arg : run.getArguments()) {
    auto name = run.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name");
    auto type = dyn_cast<model::ModelTensorType>(arg.getType());
    if (!name || name.getValue() != "input_ids" || !type || type.getRank() != 2)
      continue;
    if (std::optional<int64_t> fixed = type.getSize(1).constant())
      return fixed;
    if (auto bound = bounds.getAs<IntegerAttr>(type.getSize(1).str()))
      return bound.getInt();
  }
  return std::nullopt;
}

/// What sentence-transformers does to texts before it reads them.
static void readVectorRules(ModuleOp module, TokenizerUse &use) {
  auto vectors = module->getAttrOfType<DictionaryAttr>(model::kVectors);
  auto lower = vectors ? vectors.getAs<StringAttr>("lower") : StringAttr();
  auto length = vectors ? vectors.getAs<IntegerAttr>("length") : IntegerAttr();
  use.lowers = lower && lower.getValue() == "yes";
  if (length)
    use.most = length.getInt();
}

/// How the tokenizer is read for `module`, which may be null. A text that generates is never cut, whatever `truncation`
/// of tokenizer.json says (transformers takes it out, too); one of an encoder ends where its vectors were trained to.
static TokenizerUse useFor(ModuleOp module, const std::optional<ModelFolder> &folder, DiagnosticSink &sink) {
  TokenizerUse use;
  use.folder = folder;
  use.keepsTruncation = false;
  if (!module || module->hasAttr("model.generate"))
    return use;
  readVectorRules(module, use);
  FolderSettings settings;
  std::string error;
  if (folder && settings.read(*folder, error)) { // what is wrong is said when the tokenizer is compiled
    if (!use.most)
      use.most = maxSequenceLength(*folder, sink);
    use.most = use.most ? use.most : settings.modelMaxLength();
    use.cutsLeft = settings.truncatesLeft();
  }
  std::optional<int64_t> positions = positionsOf(module);
  use.most = std::min(use.most ? use.most : positions, positions ? positions : use.most);
  return use;
}

namespace {
/// A tokenizer that was found: the text of its tokenizer.json, the name of its file or files in messages, and the
/// folder whose other files count.
struct Source {
  std::string text, name;
  std::optional<ModelFolder> folder;
};

/// What is known of a tokenizer that was compiled.
struct Compiled {
  std::string name;
  std::optional<ModelFolder> folder;
  TokenizerFacts facts;
  std::unique_ptr<rt::TextCodec> codec;
};

/// One reading of the tokenizers of a model.
class TokenizerReader {
public:
  TokenizerReader(const ImportOptions &options, ModuleOp module, bool parsed, TextBlobs &words, DiagnosticSink &sink)
      : options(options), module(module), parsed(parsed), words(words), sink(sink) {}

  void read();

private:
  void refuse(StringRef from, StringRef said);
  ModelFolder folder() const;
  std::optional<ModelFolder> opened(StringRef path);
  std::optional<int64_t> number(StringRef attribute) const;
  bool readsAndWrites();
  std::optional<Source> find(const ModelFolder &in, StringRef attribute, std::string *note);
  std::optional<Compiled> compile(const Source &source, std::string &blob);
  std::string targetPath() const;
  std::optional<Compiled> target(bool hasSource);
  void checkIds(const Compiled &one, int64_t rows, StringRef kind);
  void checkShared(const Compiled &one);
  void checkEnd(const Compiled &one);

  const ImportOptions &options;
  ModuleOp module;
  bool parsed;
  TextBlobs &words;
  DiagnosticSink &sink;
};
} // namespace

/// Reports "FILE: what is wrong", or what is wrong with `from`.
void TokenizerReader::refuse(StringRef from, StringRef said) {
  auto [file, why] = said.split(": ");
  sink.errorInFile(Error::BadTokenizer, why.empty() ? from : file, "", why.empty() ? said : why);
}

/// The folder that the model is in.
ModelFolder TokenizerReader::folder() const {
  ModelFolder folder = options.folder();
  return folder.place().empty() ? ModelFolder(".") : folder;
}

/// A file or a folder that is named; none after an error.
std::optional<ModelFolder> TokenizerReader::opened(StringRef path) {
  std::vector<std::string> unheard;
  absl::StatusOr<ModelFolder> folder = openTexts(path, unheard);
  if (folder.ok())
    return *std::move(folder);
  sink.errorInFile(errorOf(folder.status()), path, "", textOf(folder.status()));
  return std::nullopt;
}

std::optional<int64_t> TokenizerReader::number(StringRef attribute) const {
  auto value = module ? module->getAttrOfType<IntegerAttr>(attribute) : IntegerAttr();
  return value ? std::optional(value.getInt()) : std::nullopt;
}

/// Whether the model makes one text out of another: the prompt is an input of ids of its own.
bool TokenizerReader::readsAndWrites() {
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  auto source = roles ? roles.getAs<StringAttr>("source") : StringAttr();
  auto run = module.lookupSymbol<func::FuncOp>("run");
  if (!source || !run)
    return false;
  for (BlockArgument arg : run.getArguments())
    if (run.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name") == source) {
      auto type = dyn_cast<model::ModelTensorType>(arg.getType());
      return type && type.getElementType().isInteger(64);
    }
  return false;
}

/// The tokenizer in `from`, a file or a folder; then `attribute` of the module says where. None where there is none,
/// or after an error. `note`: receives why one cannot be used; null: that is an error.
std::optional<Source> TokenizerReader::find(const ModelFolder &in, StringRef attribute, std::string *note) {
  Source source;
  const std::string &from = in.place();
  TokenizerFound found = findTokenizer(in, source.text, source.name);
  if (found == TokenizerFound::Broken || (found == TokenizerFound::Elsewhere && !note)) {
    refuse(from, source.name);
    return std::nullopt;
  }
  if (found == TokenizerFound::No) {
    if (parsed)
      refuse(from, from + ": the tokenizer that this module was made with is gone");
    else if (!note)
      refuse(from, from + ": expected a tokenizer.json, or a folder with the files of a tokenizer");
    return std::nullopt;
  }
  bool one = found == TokenizerFound::Yes && fs::is_regular_file(source.name);
  if (module)
    module->setAttr(attribute, StringAttr::get(module.getContext(), one ? source.name : from));
  if (in.isMade())
    source.folder = in;
  else if (path::filename(source.name) == "tokenizer.json")
    source.folder = ModelFolder(path::parent_path(source.name).str());
  if (found == TokenizerFound::Yes)
    return source;
  *note = source.name;
  return std::nullopt;
}

std::optional<Compiled> TokenizerReader::compile(const Source &source, std::string &blob) {
  Compiled one;
  std::string error;
  TokenizerUse use = useFor(module, source.folder, sink);
  if (tokenizerBlobFromText(source.text, source.name, blob, error, use, &one.facts))
    one.codec = rt::TextCodec::open(blob, error);
  if (!one.codec) {
    refuse(source.name, error);
    return std::nullopt;
  }
  one.name = source.name;
  one.folder = source.folder;
  return one;
}

/// Where the tokenizer of what the model writes is; "" if it is that of what it reads.
std::string TokenizerReader::targetPath() const {
  if (!options.targetTokenizer.empty())
    return options.targetTokenizer;
  if (parsed) {
    auto named = module->getAttrOfType<StringAttr>("model.target_tokenizer");
    return named ? named.str() : "";
  }
  ModelFolder beside = folder();
  if (beside.has("target_tokenizer.json"))
    return beside.path("target_tokenizer.json");
  bool apart = beside.has("target_vocab.json") && beside.has("target.spm"); // Marian's files
  return apart ? beside.path("target.spm") : "";
}

/// The tokenizer of what the model writes, where it has one of its own.
std::optional<Compiled> TokenizerReader::target(bool hasSource) {
  std::string from = targetPath();
  if (from.empty())
    return std::nullopt;
  if (module && !readsAndWrites()) {
    StringRef why = "this model does not make one text out of another (`source` of `generate`)";
    if (options.targetTokenizer.empty())
      sink.sayInFile(heddle::Diagnostic::Kind::Remark, from, "it is not read: " + why);
    else
      refuse(from, from + ": --target-tokenizer has no use: " + why.str());
    return std::nullopt;
  }
  if (!hasSource) {
    if (words.note.empty() && !sink.hasErrors())
      refuse(from, from + ": a tokenizer of what the model writes, and none of what it reads; expected tokenizer.json "
                          "in the folder of the model");
    return std::nullopt;
  }
  std::optional<ModelFolder> in = opened(from);
  std::optional<Source> source = in ? find(*in, "model.target_tokenizer", nullptr) : std::nullopt;
  return source ? compile(*source, words.target) : std::nullopt;
}

//===--- checks ---------------------------------------------------------------===//

/// Whether the ids of a tokenizer are rows of the model's table. One of the vocabulary that is none is an error; an
/// added token without a row (the [PAD] of many fine-tuned models) is a remark, since few texts contain it. `kind`:
/// "source " or "target " where the model has both.
void TokenizerReader::checkIds(const Compiled &one, int64_t rows, StringRef kind) {
  std::string its = (" and the model has " + Twine(rows) + " " + kind + "tokens").str();
  if (int64_t(one.facts.vocabulary) > rows) {
    heddle::Diagnostic &d =
        sink.errorInFile(Error::BadTokenizer, one.name, "",
                         "its largest id is " + Twine(one.facts.vocabulary - 1) + "," + its +
                             "; this tokenizer is not the " + (kind.empty() ? "model" : kind.rtrim()) + "'s");
    if (!kind.empty() && words.target.empty())
      d.note({}, kTwoVocabularies.str());
    return;
  }
  for (const auto &[id, text] : one.facts.added)
    if (int64_t(id) >= rows)
      sink.sayInFile(heddle::Diagnostic::Kind::Remark, one.name,
                     "the added token " + quote(text) + " has the id " + Twine(id) + "," + its +
                         ": a text that contains it is refused");
  // Most ids of a table stand for something; a tokenizer of another model often has far fewer.
  if (int64_t(one.codec->size()) * 2 < rows)
    sink.sayInFile(heddle::Diagnostic::Kind::Remark, one.name,
                   "it has " + Twine(one.codec->size()) + " ids," + its + ": is this tokenizer the " +
                       (kind.empty() ? "model" : kind.rtrim()) + "'s?");
}

/// One tokenizer reads and writes: its ids must be rows of both tables. A remark where it does not have what the model
/// writes.
void TokenizerReader::checkShared(const Compiled &one) {
  FolderSettings settings;
  std::string error;
  ModelFolder folder = one.folder.value_or(ModelFolder(path::parent_path(one.name).str()));
  if (readsAndWrites() && settings.read(folder, error) && settings.hasTwoVocabularies())
    sink.sayInFile(heddle::Diagnostic::Kind::Remark, one.name,
                   "it reads and writes, and tokenizer_config.json says `separate_vocabs`: " + kTwoVocabularies);
  std::optional<int64_t> source = number("model.vocabulary"), target = number("model.target_vocabulary");
  if (!source || !target || *source == *target) {
    if (std::optional<int64_t> rows = source ? source : target)
      checkIds(one, *rows, "");
    return;
  }
  checkIds(one, std::min(*source, *target), *source < *target ? "source " : "target ");
  if (int64_t(one.codec->size()) < std::max(*source, *target) &&
      int64_t(one.facts.vocabulary) <= std::min(*source, *target))
    sink.sayInFile(heddle::Diagnostic::Kind::Remark, one.name,
                   "it has " + Twine(one.codec->size()) + " ids, and the model has " + Twine(*source) +
                       " source tokens and " + Twine(*target) + " target tokens: " + kTwoVocabularies);
}

/// A remark where a token that ends a text is none of the tokenizer's: it is then no token that anybody trained.
void TokenizerReader::checkEnd(const Compiled &one) {
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  Attribute eos = roles ? roles.get("eos") : Attribute();
  auto several = dyn_cast_or_null<ArrayAttr>(eos);
  for (Attribute id : several ? several.getValue() : ArrayRef(eos))
    if (auto end = dyn_cast_or_null<IntegerAttr>(id); end && one.codec->decode({end.getInt()}, false).empty())
      sink.sayInFile(heddle::Diagnostic::Kind::Remark, one.name,
                     "it has no token of the id " + Twine(end.getInt()) + ", which ends a text (eos_token_id)");
}

void TokenizerReader::read() {
  auto named = parsed ? module->getAttrOfType<StringAttr>("model.tokenizer") : StringAttr();
  std::optional<Source> found;
  if (std::optional<ModelFolder> in = !parsed ? folder() : named ? opened(named.getValue()) : std::nullopt)
    found = find(*in, "model.tokenizer", &words.note);
  std::optional<Compiled> source = found ? compile(*found, words.blob) : std::nullopt;
  std::optional<Compiled> writes = target(source.has_value());
  if (!module || !source)
    return;
  checkEnd(writes ? *writes : *source);
  if (!writes)
    return checkShared(*source);
  if (std::optional<int64_t> rows = number("model.vocabulary"))
    checkIds(*source, *rows, "source ");
  std::optional<int64_t> table = number("model.target_vocabulary"), logits = number("model.target_logits");
  if (table || logits)
    checkIds(*writes, std::min(table.value_or(INT64_MAX), logits.value_or(INT64_MAX)), "target ");
}

void heddle::readTokenizers(const ImportOptions &options, ModuleOp module, bool parsed, TextBlobs &words,
                            DiagnosticSink &sink) {
  TokenizerReader(options, module, parsed, words, sink).read();
}
