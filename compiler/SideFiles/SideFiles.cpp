//===- SideFiles.cpp - files next to config.json --------------------------===//

#include "compiler/SideFiles/SideFiles.h"
#include "compiler/Import/Weights/OtherKinds.h"
#include "compiler/SideFiles/Licence.h"
#include "compiler/SideFiles/SentenceVectors.h"
#include "dialects/Model/IR/Model.h"
#include "heddle/input_file.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using Kind = JsonValue::Kind;

//===--- one file -------------------------------------------------------------===//

const JsonValue *SideFileReader::take(StringRef key) {
  seen.push_back(key.str());
  const JsonValue *value = root.find(key);
  return value && !value->isNull() ? value : nullptr;
}

heddle::Diagnostic &SideFileReader::error(Error code, const JsonValue &at, StringRef key, const Twine &message) {
  return sink.error(code, at.loc, name + "." + key, message + orIgnore(key));
}

std::string SideFileReader::orIgnore(StringRef key) const {
  auto [file, part] = name.split(".json"); // a part of processor_config.json has a separate name
  std::string inside = part.empty() ? "" : (part.drop_front() + ".").str();
  return ("; --ignore-config " + (name == "config.json" ? "" : file + ".json:") + inside + escaped(key) +
          " reads the file as if it were not there")
      .str();
}

std::optional<double> SideFileReader::number(StringRef key, double least, double most) {
  const JsonValue *v = take(key);
  if (!v)
    return std::nullopt;
  double n = v->kind == Kind::Integer ? double(v->integer) : v->real;
  if ((v->kind == Kind::Integer || v->kind == Kind::Real) && n >= least && n <= most)
    return n;
  error(Error::CompanionValue, *v, key,
        llvm::formatv("a number from {0} to {1} expected, found ", least, most).str() + v->text());
  return std::nullopt;
}

std::optional<int64_t> SideFileReader::integer(StringRef key, int64_t least, int64_t most) {
  const JsonValue *v = take(key);
  if (!v)
    return std::nullopt;
  // Some files have 3.0 for 3.
  std::optional<int64_t> n;
  if (v->kind == Kind::Integer)
    n = v->integer;
  else if (v->kind == Kind::Real && v->real == std::floor(v->real) && std::fabs(v->real) < 1e15)
    n = int64_t(v->real);
  if (n && *n >= least && *n <= most)
    return n;
  error(Error::CompanionValue, *v, key,
        "an integer from " + Twine(least) + " to " + Twine(most) + " expected, found " + v->text());
  return std::nullopt;
}

std::optional<bool> SideFileReader::boolean(StringRef key) {
  const JsonValue *v = take(key);
  if (!v)
    return std::nullopt;
  if (v->kind == Kind::Bool)
    return v->boolean;
  error(Error::CompanionValue, *v, key, "true or false expected, found " + v->text());
  return std::nullopt;
}

std::optional<std::string> SideFileReader::text(StringRef key) {
  const JsonValue *v = take(key);
  if (!v)
    return std::nullopt;
  if (v->isString())
    return v->string;
  error(Error::CompanionValue, *v, key, "a string expected, found " + v->text());
  return std::nullopt;
}

std::optional<std::vector<int64_t>> SideFileReader::ids(StringRef key) {
  const JsonValue *v = take(key);
  if (!v)
    return std::nullopt;
  std::vector<int64_t> list;
  llvm::ArrayRef<JsonValue> items = v->isArray() ? llvm::ArrayRef<JsonValue>(v->items) : llvm::ArrayRef<JsonValue>(*v);
  for (const JsonValue &item : items) {
    if (item.kind != Kind::Integer) {
      error(Error::CompanionValue, item, key, "a token id expected, found " + item.text());
      return std::nullopt;
    }
    list.push_back(item.integer);
  }
  return list;
}

std::optional<std::vector<double>> SideFileReader::numbers(StringRef key, llvm::ArrayRef<size_t> counts) {
  const JsonValue *v = take(key);
  if (!v)
    return std::nullopt;
  std::vector<double> list;
  llvm::ArrayRef<JsonValue> items = v->isArray() ? llvm::ArrayRef<JsonValue>(v->items) : llvm::ArrayRef<JsonValue>(*v);
  for (const JsonValue &item : items) {
    bool isNumber = item.kind == Kind::Integer || item.kind == Kind::Real;
    if (isNumber)
      list.push_back(item.kind == Kind::Integer ? double(item.integer) : item.real);
  }
  if (list.size() == items.size() && (llvm::is_contained(counts, list.size()) || (list.size() == 1 && !v->isArray())))
    return list;
  std::vector<std::string> expected;
  for (size_t count : counts)
    expected.push_back(std::to_string(count));
  error(Error::CompanionValue, *v, key, llvm::join(expected, " or ") + " numbers expected, found " + v->text());
  return std::nullopt;
}

void SideFileReader::only(StringRef key, llvm::ArrayRef<StringRef> values, StringRef reason) {
  const JsonValue *v = take(key);
  if (!v || llvm::is_contained(values, v->text()))
    return;
  bool number = v->kind == Kind::Integer || v->kind == Kind::Real;
  for (StringRef value : values) {
    double wanted = 0;
    if (number && !value.getAsDouble(wanted) && wanted == (v->kind == Kind::Integer ? double(v->integer) : v->real))
      return;
  }
  heddle::Diagnostic &d = error(Error::CompanionUnsupported, *v, key, reason + "; found " + v->text());
  if (!values.empty())
    d.note(v->loc, "a model without it says " + values.front());
}

void SideFileReader::ignore(llvm::ArrayRef<StringRef> keys) {
  for (StringRef key : keys)
    for (const JsonMember &m : root.members)
      if (m.key == key || (key.ends_with("*") && StringRef(m.key).starts_with(key.drop_back())))
        seen.push_back(m.key);
}

void SideFileReader::finish(llvm::ArrayRef<StringRef> known, heddle::Diagnostic::Kind kind) {
  for (const JsonMember &m : root.members)
    if (!llvm::is_contained(seen, m.key) && !m.value.isNull()) {
      if (kind == heddle::Diagnostic::Kind::Error)
        sink.error(Error::CompanionKey, m.keyLoc, name + "." + m.key,
                   "unknown key" + nearest(m.key, known) + orIgnore(m.key));
      else
        sink.say(kind, m.keyLoc, name + "." + m.key,
                 "nothing is known of this key, and it is not used" + nearest(m.key, known));
    }
}

//===--- finding them ---------------------------------------------------------===//

std::optional<JsonValue> heddle::readSideFile(const ModelFolder &folder, StringRef name, Kind kind,
                                              DiagnosticSink &sink) {
  if (!folder.has(name.str()))
    return std::nullopt;
  ReadFile file = folder.read(name.str(), JsonLimits().bytes);
  std::string path = folder.path(name.str());
  if (!file.ok()) {
    sink.errorInFile(Error::PartMissing, path, "", file.why);
    return std::nullopt;
  }
  if (refuseOtherKind(path, StringRef(file.bytes).take_front(1024), sink))
    return std::nullopt;
  std::optional<JsonValue> root = parseJson(sink.addFile(folder, name.str(), std::move(file.bytes)), sink);
  if (root && root->kind != kind) {
    sink.error(Error::WrongJson, root->loc, name, describe(kind) + " expected, found " + Twine(describe(root->kind)));
    return std::nullopt;
  }
  if (root)
    root->link();
  return root;
}

/// The key that one --ignore-config takes out of a file: FILE:KEY, or of config.json KEY alone; else "".
static StringRef keyOf(StringRef flag, StringRef file) {
  auto [before, after] = flag.split(':');
  if (after.empty() && !flag.ends_with(":"))
    return file == "config.json" ? flag : StringRef();
  return before == file || (before + ".json").str() == file ? after : StringRef();
}

/// Reads a file without the keys that --ignore-config names.
static std::optional<JsonValue> readJson(const ModelFolder &folder, StringRef name, const ImportOptions &options,
                                         DiagnosticSink &sink) {
  std::optional<JsonValue> root = readSideFile(folder, name, Kind::Object, sink);
  if (!root)
    return root;
  for (const std::string &flag : options.ignoreConfig) {
    StringRef key = keyOf(flag, name);
    if (key.empty())
      continue;
    JsonValue *object = &*root;
    if (auto [first, rest] = key.split('.'); !rest.empty())
      for (JsonMember &m : root->members)
        if (m.key == first && m.value.isObject()) {
          object = &m.value;
          key = rest;
          break;
        }
    std::vector<std::string> known;
    for (const JsonMember &m : object->members)
      known.push_back(m.key);
    if (!llvm::is_contained(known, key) && name != "config.json") // there the importer says it
      sink.errorInFile(Error::NothingNamed, "--ignore-config", "",
                       name + " has no key " + quote(key) + nearest(key, known));
    llvm::erase_if(object->members, [&](const JsonMember &m) { return m.key == key; });
  }
  root->link();
  return root;
}

/// An error for each --ignore-config FILE:KEY whose file was not read.
static void checkFlags(const ImportOptions &options, llvm::ArrayRef<StringRef> files, DiagnosticSink &sink) {
  for (const std::string &flag : options.ignoreConfig)
    if (StringRef(flag).contains(':') && llvm::none_of(files, [&](StringRef f) { return !keyOf(flag, f).empty(); }))
      sink.errorInFile(Error::NothingNamed, "--ignore-config", "",
                       quote(StringRef(flag).split(':').first) + " is no file of the model's directory that was read");
}

namespace {
/// Everything that was read, before it is known whether a module needs it.
struct Companions {
  Attributes roles, picture, sound;
  std::vector<std::string> labels;
  std::string kind;
  SentenceVectors vectors;
  std::string licence;   ///< as the model card states it
  std::string scoreKind; ///< what a cross-encoder's activation makes of its scores, as `kind`; "" if none is named
  bool softmax = false;  ///< and it is a softmax
  const JsonValue *size = nullptr;
  std::optional<JsonValue> config, generation, processor, preprocessorFile;
  const JsonValue *preprocessor = nullptr; ///< what says how a picture or a sound is read: a file, or a member of one
  std::string preprocessorName;
};
} // namespace

/// The names of classes from id2label, if its ids are 0, 1, 2, ...
static void readLabels(const JsonValue &config, Companions &out) {
  auto text = [&](StringRef key) {
    const JsonValue *v = config.find(key);
    return v && v->isString() ? StringRef(v->string) : StringRef();
  };
  if (const JsonValue *names = config.find("id2label"); names && names->isObject()) {
    std::vector<std::string> labels(names->members.size());
    size_t named = 0;
    for (const JsonMember &m : names->members) {
      size_t id;
      if (!StringRef(m.key).getAsInteger(10, id) && id < labels.size() && m.value.isString() &&
          !m.value.string.empty()) {
        labels[id] = m.value.string;
        ++named;
      }
    }
    if (named == labels.size())
      out.labels = std::move(labels);
  }
  const JsonValue *architectures = config.find("architectures");
  StringRef architecture = architectures && architectures->isArray() && !architectures->items.empty()
                               ? StringRef(architectures->items.front().string)
                               : StringRef();
  if (architecture.ends_with("ForCTC"))
    out.kind = "ctc";
  // A classifier of this kind judges each class by itself, as the library's pipeline does.
  else if (architecture.ends_with("QuestionAnswering"))
    out.kind = "multi_label";
  else if (text("problem_type") == "multi_label_classification")
    out.kind = "multi_label";
  else if (text("problem_type") == "regression")
    out.kind = "regression";
}

/// The activation of a cross-encoder of sentence-transformers, by its newer key or its older one.
static void readScoreActivation(const JsonValue &config, Companions &out, DiagnosticSink &sink) {
  const JsonValue *section = config.find("sentence_transformers");
  const JsonValue *named = section && section->isObject() ? section->find("activation_fn") : nullptr;
  std::string key = "sentence_transformers.activation_fn";
  if (!named || named->isNull()) {
    named = config.find("sbert_ce_default_activation_function");
    key = "sbert_ce_default_activation_function";
  }
  if (!named || named->isNull())
    return;
  StringRef path = named->isString() ? StringRef(named->string) : StringRef();
  StringRef word = path.starts_with("torch.nn.") ? path.rsplit('.').second : StringRef();
  out.softmax = word == "Softmax";
  out.scoreKind = word == "Identity" ? "regression" : word == "Sigmoid" ? "multi_label" : "";
  if (out.scoreKind.empty() && !out.softmax)
    sink.error(Error::CompanionUnsupported, named->loc, "config.json." + key,
               "one of torch.nn's Identity, Sigmoid and Softmax expected, found " + named->text() +
                   "; --ignore-config " + StringRef(key).split('.').first + " reads the file as if it were not there");
}

/// Reads how pictures and sounds become inputs: from the members of processor_config.json, where release 5 of the
/// library keeps them (older files at their top), else from preprocessor_config.json.
static void readPreprocessors(const ModelFolder &folder, StringRef type, const ImportOptions &options, Builder &b,
                              DiagnosticSink &sink, Companions &out) {
  auto take = [&](const JsonValue &from, const std::string &name) {
    if (!out.preprocessor) {
      out.preprocessor = &from;
      out.preprocessorName = name;
    }
    SideFileReader file(from, name, sink);
    readPreprocessor(file, type, b, out.picture, out.sound);
  };
  if ((out.processor = readJson(folder, "processor_config.json", options, sink))) {
    for (StringRef part : {"image_processor", "feature_extractor"}) {
      const JsonValue *member = out.processor->find(part);
      if (member && member->isObject())
        take(*member, ("processor_config.json." + part).str());
      else if (const JsonValue *name = out.processor->find((part + "_type").str()); name && name->isString())
        take(*out.processor, "processor_config.json");
    }
    if (out.preprocessor)
      return;
  }
  if ((out.preprocessorFile = readJson(folder, "preprocessor_config.json", options, sink)))
    take(*out.preprocessorFile, "preprocessor_config.json");
}

static void read(const ImportOptions &options, Builder &b, DiagnosticSink &sink, Companions &out) {
  bool invented = (options.text && options.path != kStandardInput) || options.configText;
  if (invented || StringRef(options.path).ends_with(".mlir"))
    return;
  ModelFolder folder = options.folder();
  // That of sentence-transformers is where its modules.json is.
  ModelFolder top = options.modules.empty() ? folder : ModelFolder(options.modules);
  out.licence = statedLicence(top);
  // The importer has reported errors in config.json; where it found none, the file cannot be read once more.
  DiagnosticSink quiet;
  if (out.config = readJson(folder, "config.json", options, sink.hasErrors() ? quiet : sink); out.config) {
    std::string place = folder.place().empty() ? "." : folder.place();
    bool asked = llvm::any_of(options.adapters, [&](const AdapterChoice &adapter) {
      return llvm::sys::fs::equivalent(adapter.folder, place);
    });
    if (!folder.isMade() && !asked && refuseAdapter(place, sink))
      return;
    readLabels(*out.config, out);
    readScoreActivation(*out.config, out, sink);
  }
  if ((out.generation = readJson(folder, "generation_config.json", options, sink))) {
    SideFileReader file(*out.generation, "generation_config.json", sink);
    readGenerationConfig(file, /*legacy=*/false, b, out.roles);
  } else if (out.config && (out.config = readJson(folder, "config.json", options, sink))) {
    SideFileReader file(*out.config, "config.json", sink);
    readGenerationConfig(file, /*legacy=*/true, b, out.roles);
  }
  out.vectors = readSentenceVectors(top, options.pool, sink);
  const JsonValue *type = out.config ? out.config->find("model_type") : nullptr;
  readPreprocessors(folder, type && type->isString() ? StringRef(type->string) : StringRef(), options, b, sink, out);
  SmallVector<StringRef> files = {"config.json"};
  if (out.generation)
    files.push_back("generation_config.json");
  if (out.processor)
    files.push_back("processor_config.json");
  if (out.preprocessorFile)
    files.push_back("preprocessor_config.json");
  checkFlags(options, files, sink);
}

//===--- what a module wants of them ------------------------------------------===//

static std::optional<model::ModelTensorType> inputType(func::FuncOp run, StringRef name) {
  for (BlockArgument arg : run.getArguments())
    if (auto s = run.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name"); s && s.getValue() == name)
      if (auto type = dyn_cast<model::ModelTensorType>(arg.getType()))
        return type;
  return std::nullopt;
}

static std::optional<model::ModelTensorType> outputType(func::FuncOp run, StringRef name) {
  for (auto [i, type] : llvm::enumerate(run.getResultTypes()))
    if (auto s = run.getResultAttrOfType<StringAttr>(i, "model.name"); s && s.getValue() == name)
      if (auto t = dyn_cast<model::ModelTensorType>(type))
        return t;
  return std::nullopt;
}

/// The last axis of the output `logits`, if it is a number.
static std::optional<int64_t> classes(func::FuncOp run) {
  std::optional<model::ModelTensorType> type = outputType(run, "logits");
  return type && type->getRank() > 0 ? type->getSize(type->getRank() - 1).constant() : std::nullopt;
}

/// The rows of the tables in which `run` looks up the ids of the inputs `names`; the fewest where there are several.
static std::optional<int64_t> rowsFor(func::FuncOp run, ArrayRef<StringRef> names) {
  std::optional<int64_t> least;
  for (BlockArgument arg : run.getArguments()) {
    auto name = run.getArgAttrOfType<StringAttr>(arg.getArgNumber(), "model.name");
    if (!name || !llvm::is_contained(names, name.getValue()))
      continue;
    for (Operation *user : arg.getUsers())
      if (auto look = dyn_cast<model::EmbeddingOp>(user); look && look.getIds() == arg)
        if (std::optional<int64_t> rows = cast<model::ModelTensorType>(look.getTable().getType()).getSize(0).constant())
          least = std::min(least.value_or(*rows), *rows);
  }
  return least;
}

/// Writes how many ids the model knows: `model.vocabulary`, the rows of its table of tokens or the letters of a CTC
/// model. A model that reads one text and writes another has `model.target_vocabulary` too, the rows of the decoder's
/// table, and `model.target_logits`.
static void addVocabularies(ModuleOp module, func::FuncOp run, bool letters, Builder &b) {
  auto set = [&](StringRef attribute, std::optional<int64_t> ids) {
    if (ids)
      module->setAttr(attribute, b.getI64IntegerAttr(*ids));
  };
  auto generate = module->getAttrOfType<DictionaryAttr>("model.generate");
  auto roleOf = [&](StringRef role) {
    auto name = generate ? generate.getAs<StringAttr>(role) : StringAttr();
    return name ? name.getValue() : StringRef("input_ids");
  };
  if (letters)
    return set("model.vocabulary", classes(run));
  std::optional<model::ModelTensorType> source;
  if (generate && generate.contains("source"))
    source = inputType(run, roleOf("source"));
  if (!source || !source->getElementType().isInteger(64))
    return set("model.vocabulary", rowsFor(run, {"input_ids", roleOf("tokens")}));
  set("model.vocabulary", rowsFor(run, {roleOf("source")}));
  set("model.target_vocabulary", rowsFor(run, {roleOf("tokens")}));
  if (std::optional<model::ModelTensorType> logits = outputType(run, roleOf("logits")); logits && logits->getRank() > 0)
    set("model.target_logits", logits->getSize(logits->getRank() - 1).constant());
}

/// An error if the model's pictures have channels that no file has, or other ones than image_mean and image_std. Models
/// of grey pictures get the setting `channels`.
static void checkChannels(Companions &found, model::ModelTensorType input, Builder &b, DiagnosticSink &sink) {
  std::optional<int64_t> channels = input.getRank() == 4 ? input.getSize(1).constant() : std::nullopt;
  if (!channels)
    return;
  if (*channels != 1 && *channels != 3) {
    sink.error(Error::CompanionUnsupported, found.preprocessor->loc, found.preprocessorName,
               "the model's pixel_values have " + Twine(*channels) + " channels, a picture has 1 or 3")
        .note(found.preprocessor->loc, "without this file the model takes its tensors by `run --input FILE`");
    return;
  }
  for (auto [setting, key] : {std::pair(picture::mean.name, "image_mean"), std::pair(picture::std.name, "image_std")}) {
    auto numbers = dyn_cast_or_null<ArrayAttr>(found.picture.get(setting));
    const JsonValue *stated = found.preprocessor->find(key);
    bool forAll = stated && !stated->isArray() && !stated->isNull(); // one number without a list
    bool equal = *channels == 1 && numbers && llvm::all_equal(numbers);
    if (!numbers || int64_t(numbers.size()) == *channels || forAll || equal)
      continue;
    sink.error(Error::CompanionValue, stated ? stated->loc : found.preprocessor->loc,
               Twine(found.preprocessorName) + "." + key,
               "the model's pixel_values have " + Twine(*channels) + (*channels == 1 ? " channel" : " channels") +
                   ", expected as many numbers, found " + Twine(numbers.size()));
    return;
  }
  if (*channels == 1)
    found.picture.set(picture::channels.name, b.getI64IntegerAttr(1));
}

/// An error if preprocessor_config.json makes pictures of a size that the model does not take.
static void checkPicture(const Companions &found, model::ModelTensorType input, DiagnosticSink &sink) {
  auto size = dyn_cast_or_null<ArrayAttr>(found.picture.get(picture::crop.name));
  StringRef key = size ? "crop_size" : "size";
  if (!size)
    size = dyn_cast_or_null<ArrayAttr>(found.picture.get(picture::size.name));
  if (!size || input.getRank() != 4)
    return;
  for (unsigned i = 0; i < 2; ++i) {
    std::optional<int64_t> takes = input.getSize(2 + i).constant();
    int64_t made = cast<IntegerAttr>(size[i]).getInt();
    const JsonValue *at = found.preprocessor->find(key);
    if (takes && *takes != made) {
      sink.error(Error::CompanionValue, at ? at->loc : found.preprocessor->loc,
                 Twine(found.preprocessorName) + "." + key,
                 "a picture becomes " + Twine(made) + (i ? " wide" : " high") + ", the model's pixel_values are " +
                     Twine(*takes));
      return;
    }
  }
}

/// Reads the files next to config.json (generation_config.json, preprocessor_config.json, ..) and writes what they say
/// as attributes of the module: roles of generation, settings for pictures and sound, labels, the licence. Without a
/// module the files are only checked.
void heddle::addSideFiles(const ImportOptions &options, ModuleOp module, DiagnosticSink &sink) {
  MLIRContext unused(MLIRContext::Threading::DISABLED);
  Builder b(module ? module.getContext() : &unused);
  Companions found;
  read(options, b, sink, found);
  auto run = module ? module.lookupSymbol<func::FuncOp>("run") : func::FuncOp();
  if (!run)
    return;
  if (!found.licence.empty())
    module->setAttr("model.license", b.getStringAttr(found.licence));
  if (auto generate = module->getAttrOfType<DictionaryAttr>("model.generate")) {
    Attributes roles(generate);
    for (NamedAttribute role : found.roles) {
      // A start token only concerns models that answer; others continue the text.
      bool starts = role.getName() == "start";
      if (!starts || generate.contains("start") || generate.contains("source"))
        roles.set(role.getName(), role.getValue());
    }
    if (auto eos = dyn_cast_or_null<ArrayAttr>(roles.get("eos")); eos && eos.empty())
      roles.erase("eos");
    module->setAttr("model.generate", roles.getDictionary(module.getContext()));
  }
  if (std::optional<model::ModelTensorType> pixels = inputType(run, "pixel_values"); pixels && !found.picture.empty()) {
    checkPicture(found, *pixels, sink);
    checkChannels(found, *pixels, b, sink);
    module->setAttr("model.picture", found.picture.getDictionary(module.getContext()));
  }
  bool hears = inputType(run, "input_features") || inputType(run, "input_values");
  if (hears && !found.sound.empty()) {
    const JsonValue *blank = found.config ? found.config->find("pad_token_id") : nullptr;
    if (found.kind == "ctc" && blank && blank->kind == Kind::Integer)
      found.sound.set(sound::blank.name, b.getI64IntegerAttr(blank->integer));
    module->setAttr("model.sound", found.sound.getDictionary(module.getContext()));
  }
  addVocabularies(module, run, found.kind == "ctc", b);
  addSentenceVectors(found.vectors, module, options, sink);
  std::optional<int64_t> count = classes(run);
  if (!count || module->hasAttr("model.generate"))
    return;
  if (!found.labels.empty() && int64_t(found.labels.size()) == *count && found.kind != "ctc") {
    SmallVector<StringRef> labels(found.labels.begin(), found.labels.end());
    module->setAttr("model.labels", b.getStrArrayAttr(labels));
  }
  // A score of one class is between 0 and 1, as in the library's pipeline and in sentence-transformers, unless the
  // config names another activation.
  if (!found.scoreKind.empty())
    found.kind = found.scoreKind;
  else if (found.softmax)
    found.kind.clear();
  else if (*count == 1 && found.kind.empty())
    found.kind = "multi_label";
  if (!found.kind.empty())
    module->setAttr("model.kind", b.getStringAttr(found.kind));
}
