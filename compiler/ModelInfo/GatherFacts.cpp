//===- GatherFacts.cpp - what a model is before it is compiled ------------===//
// Three readings: config.json as it stands, for what a model of no family has, too; the headers of weights; and the
// model as `heddle check` reads it, for what Heddle makes of it. None needs another to succeed.

#include "compiler/Driver/Compile.h"
#include "compiler/Driver/Load.h"
#include "compiler/Import/Import.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/ModelInfo/ModelFacts.h"
#include "compiler/SideFiles/ChatTemplate.h"
#include "compiler/SideFiles/Licence.h"
#include "compiler/SideFiles/TextBlobs.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/WeightStore.h"
#include "heddle/input_file.h"
#include "heddle/tokenizer.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

uint64_t TensorFact::numbers() const {
  uint64_t count = 1;
  for (int64_t length : shape)
    count *= uint64_t(length);
  return count;
}

bool ModelFacts::compiles() const {
  return known && missing.empty() && llvm::none_of(problems, [](const ProblemFact &p) { return p.isError; });
}

namespace {

class Gatherer {
public:
  explicit Gatherer(const CompileOptions &options)
      : options(options), path(options.import.path), isDirectory(!options.import.text && fs::is_directory(path)) {}

  ModelFacts run();

private:
  std::string inFolder(StringRef name) const;
  void readConfig(const std::string &file);
  void readSizes(const JsonValue &config);
  void readWeights();
  void addTensors(const WeightStore &store);
  void readAsModel();
  void readTexts(const TextBlobs &words);
  void listMissing(ArrayRef<NeededWeight> needed);

  const CompileOptions &options;
  const std::string &path;
  bool isDirectory;
  bool isObject = false; ///< it is a text of JSON with members
  std::string folder;    ///< where the files of the model are
  ModelFacts facts;
};

} // namespace

std::string Gatherer::inFolder(StringRef name) const {
  llvm::SmallString<256> whole(folder);
  path::append(whole, name);
  return std::string(whole);
}

//===--- config.json ----------------------------------------------------------===//

/// What models call the same sizes; the first that is there counts.
static const std::pair<const char *, std::vector<StringRef>> kSizes[] = {
    {"layers", {"num_hidden_layers", "n_layer", "num_layers", "n_layers"}},
    {"width", {"hidden_size", "d_model", "n_embd", "dim"}},
    {"heads", {"num_attention_heads", "n_head", "num_heads", "n_heads"}},
    {"heads of keys", {"num_key_value_heads"}},
    {"inner", {"intermediate_size", "d_ff", "n_inner", "ffn_dim"}},
    {"experts", {"num_local_experts", "num_experts", "n_routed_experts"}},
    {"vocabulary", {"vocab_size"}}};
static constexpr StringRef kContext[] = {"max_position_embeddings", "n_positions", "n_ctx",
                                         "max_sequence_length",     "max_seq_len", "seq_length"};

static std::optional<int64_t> positive(const JsonValue &config, StringRef key) {
  const JsonValue *value = config.find(key);
  return value && value->kind == JsonValue::Kind::Integer && value->integer > 0 ? std::optional(value->integer)
                                                                                : std::nullopt;
}

void Gatherer::readSizes(const JsonValue &config) {
  for (const auto &[name, keys] : kSizes)
    for (StringRef key : keys)
      if (std::optional<int64_t> n = positive(config, key)) {
        if (llvm::none_of(facts.sizes, [&, name = name](auto &size) { return size.first == name; }))
          facts.sizes.push_back({name, *n});
        break;
      }
  for (StringRef key : kContext)
    if (std::optional<int64_t> n = positive(config, key); n && !facts.context)
      facts.context = n;
}

void Gatherer::readConfig(const std::string &file) {
  ReadFile read = readInputFile(file.c_str(), JsonLimits().bytes);
  if (!read.ok())
    return; // the reading as a model says why
  DiagnosticSink quiet;
  SourceFile source(file, std::move(read.bytes));
  std::optional<JsonValue> config = parseJson(source, quiet);
  isObject = config && config->isObject();
  if (!isObject || config->find("heddle"))
    return;
  if (const JsonValue *type = config->find("model_type"); type && type->isString()) {
    facts.modelType = type->string;
    facts.family = familyFor(type->string, options.import.families).value_or("");
  }
  if (const JsonValue *classes = config->find("architectures"))
    for (const JsonValue &one : classes->items)
      if (one.isString())
        facts.classes.push_back(one.string);
  readSizes(*config);
  for (StringRef part : {"text_config", "decoder", "encoder", "vision_config", "audio_config"})
    if (const JsonValue *inner = config->find(part); inner && inner->isObject())
      readSizes(*inner);
  if (const JsonValue *how = config->find("quantization_config"); how && how->isObject()) {
    const JsonValue *method = how->find("quant_method"), *bits = how->find("bits");
    facts.quantisation = method && method->isString() ? method->string : "yes";
    if (bits && bits->kind == JsonValue::Kind::Integer)
      facts.quantisation += ", " + std::to_string(bits->integer) + " bits";
  }
}

//===--- weights --------------------------------------------------------------===//

void Gatherer::addTensors(const WeightStore &store) {
  std::map<const SafetensorsFile *, size_t> numbers;
  for (const StoredTensor &tensor : store.tensors()) {
    auto [at, fresh] = numbers.insert({tensor.file, facts.files.size()});
    if (fresh)
      facts.files.push_back({tensor.file->path(), 0});
    TensorFact fact;
    fact.name = tensor.name().str();
    fact.type = tensor.coded ? tensor.coded->kind() : spelling(tensor.type()).str();
    fact.shape = tensor.shape().vec();
    fact.bytes = tensor.record->bytes;
    fact.file = at->second;
    facts.files[fact.file].bytes += fact.bytes;
    facts.tensors.push_back(std::move(fact));
  }
}

/// The tensors as they are stored; of a directory without any nothing, of which the reading as a model complains.
void Gatherer::readWeights() {
  bool named = !options.import.weightsPath.empty();
  absl::StatusOr<WeightStore> store = WeightStore::open(named ? options.import.weightsPath : path);
  if (store.ok())
    addTensors(*store);
  else if (!isDirectory || named)
    facts.problems.push_back({true, errorOf(store.status()), textOf(store.status())});
}

//===--- as a model -------------------------------------------------------------===//

/// Whether weights are missing, and which.
void Gatherer::listMissing(ArrayRef<NeededWeight> needed) {
  llvm::StringSet<> seen;
  size_t absent = 0, all = 0;
  std::string first;
  for (const NeededWeight &weight : needed) {
    if (!seen.insert(weight.name).second || weight.optional)
      continue;
    ++all;
    if (!weight.stored && absent++ == 0)
      first = weight.name;
  }
  if (absent)
    facts.missing.push_back((absent == all ? "weights: " + std::to_string(all) + " tensors"
                                           : "weights: " + std::to_string(absent) + " of " + std::to_string(all) +
                                                 " tensors, such as " + escaped(first)) +
                            "; heddle weights " + path + " lists them");
}

void Gatherer::readTexts(const TextBlobs &words) {
  facts.whyNoTokenizer = words.note;
  std::string error;
  bool inFile = facts.kind == "a GGUF file";
  if (std::unique_ptr<rt::TextCodec> codec = words.blob.empty() ? nullptr : rt::TextCodec::open(words.blob, error)) {
    facts.ids = codec->size();
    facts.tokenizer = inFile ? "in the file" : "yes";
    for (StringRef name : {"tokenizer.json", "vocab.json", "vocab.txt", "source.spm"})
      if (facts.tokenizer == "yes" && isThere(inFolder(name).c_str()))
        facts.tokenizer = name.str();
  }
  if (words.templates.empty() || inFile) {
    facts.chatTemplate = words.templates.empty() ? "" : "in the file";
    return;
  }
  DiagnosticSink quiet;
  ChatTemplates templates;
  readChatTemplates(folder, options.chatTemplate, quiet, templates);
  facts.chatTemplate = templates.from;
}

void Gatherer::readAsModel() {
  ImportOptions import = options.import;
  import.headersOnly = true;
  import.configAlone = !isDirectory;
  std::vector<NeededWeight> needed;
  std::unique_ptr<MLIRContext> context = makeContext();
  DiagnosticSink sink;
  TextBlobs words;
  words.chatTemplate = options.chatTemplate;
  int code = 0;
  OwningOpRef<ModuleOp> module = readModel(*context, import, &words, sink, code);
  for (const heddle::Diagnostic *d : sink.sorted())
    if (d->kind != heddle::Diagnostic::Kind::Remark)
      facts.problems.push_back({d->isError(), d->code, d->message});
  facts.known = true;
  readTexts(words);
  if (!module) {
    // Which weights it needs can often be said all the same.
    import.needed = &needed;
    import.weightsOptional = import.weightsInvented = true;
    DiagnosticSink guesses;
    std::unique_ptr<MLIRContext> again = makeContext();
    if (findModel(import, guesses))
      importModel(*again, import, guesses);
    if (!guesses.hasErrors())
      listMissing(needed);
    return;
  }
  ModuleOp m = *module;
  if (facts.name.empty())
    facts.name = m.getName().value_or("").str();
  if (auto pooling = m->getAttrOfType<StringAttr>("model.pooling"))
    facts.pooling = pooling.str();
  if (auto roles = m->getAttrOfType<DictionaryAttr>("model.generate")) {
    facts.takesTexts = true;
    if (auto positions = roles.getAs<IntegerAttr>("context"))
      facts.context = positions.getInt();
  }
  // A description names its files.
  std::vector<std::string> files;
  if (auto list = facts.tensors.empty() ? m->getAttrOfType<ArrayAttr>("model.weights") : ArrayAttr())
    for (StringAttr file : list.getAsRange<StringAttr>())
      files.push_back(file.str());
  if (absl::StatusOr<WeightStore> store = WeightStore::openFiles(files); !files.empty() && store.ok())
    addTensors(*store);
  addCosts(options, m, facts);
}

ModelFacts Gatherer::run() {
  facts.path = path;
  for (const AdapterChoice &adapter : options.import.adapters)
    facts.adapters.push_back(adapter.text());
  bool inputIsText = options.import.text.has_value();
  folder = isDirectory ? path : path::parent_path(path).str();
  folder = folder.empty() ? "." : folder;
  StringRef file = path::filename(path);
  bool tensorsAlone =
      !isDirectory && !inputIsText && (file.ends_with(".safetensors") || file.ends_with(".safetensors.index.json"));
  if (!isDirectory && !inputIsText && file.ends_with(".gguf")) {
    if (!addGgufFacts(path, options.import.families, facts))
      return std::move(facts);
    facts.kind = "a GGUF file";
    readAsModel();
    return std::move(facts);
  }
  if (tensorsAlone) {
    readWeights();
    if (facts.tensors.empty() && !facts.problems.empty())
      return facts;
    facts.kind = "tensors (safetensors)";
    bool configured = isThere(inFolder("config.json").c_str());
    facts.missing.push_back(configured
                                ? "nothing but the name of its directory: heddle info " + folder
                                : "what is computed: a config.json next to it, or a description (model.json) that "
                                  "reads these tensors; heddle reference explains the language");
  } else {
    bool described =
        isDirectory ? isThere(inFolder("model.json").c_str()) && !isThere(inFolder("config.json").c_str()) : true;
    if (isDirectory)
      readConfig(inFolder("config.json"));
    else if (!inputIsText)
      readConfig(path);
    described &= facts.modelType.empty();
    if (isDirectory || !options.import.weightsPath.empty())
      readWeights();
    readAsModel();
    bool isStage = file.ends_with(".mlir");
    bool nothing = facts.modelType.empty() && facts.tensors.empty() && !facts.compiles() &&
                   (isDirectory ? !isThere(inFolder("model.json").c_str()) : !isObject && !isStage && !inputIsText);
    if (nothing)
      return facts;
    facts.kind = isStage       ? "the text of a stage"
                 : described   ? "a description in Heddle's language"
                 : isDirectory ? "a Hugging Face directory"
                               : "a config.json";
    if (!described && facts.family.empty() && !facts.modelType.empty())
      facts.missing.push_back("a description: no family is known for '" + escaped(facts.modelType) +
                              "'; compiler/Families/new-family.md adds one, heddle reference explains the language");
  }
  facts.licence = inputIsText ? "" : statedLicence(folder);
  if (!facts.licence.empty())
    facts.licenceFrom = "README.md";
  for (StringRef name : {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE"})
    if (facts.licenceFrom.empty() && !inputIsText && isDirectory && isThere(inFolder(name).c_str())) {
      facts.licence = "see the file";
      facts.licenceFrom = name.str();
    }
  return std::move(facts);
}

ModelFacts heddle::gatherFacts(const CompileOptions &options) { return Gatherer(options).run(); }
