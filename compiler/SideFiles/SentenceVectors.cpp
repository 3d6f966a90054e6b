//===- SentenceVectors.cpp - modules.json of sentence-transformers --------===//
//
// modules.json lists what follows the model, one module after the other. What is not computed is refused by its name:
// other vectors than those of the library would fit no index that it made.
//
//===----------------------------------------------------------------------===//
#include "compiler/SideFiles/SentenceVectors.h"
#include "compiler/SideFiles/SideFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace heddle;
using Kind = JsonValue::Kind;

static constexpr llvm::StringLiteral kModules = "modules.json", kVectorConfig = "config_sentence_transformers.json",
                                     kWayRound = "; --pool=MODE chooses a pooling without modules.json, and "
                                                 "--pool=none compiles the model alone";

namespace {
/// A kind of pooling: its word, and its key in older files.
struct Pooling {
  StringRef word, key;
};
} // namespace

/// In the order in which their results are put next to each other.
static constexpr Pooling kPoolings[] = {{"cls", "pooling_mode_cls_token"},
                                        {"max", "pooling_mode_max_tokens"},
                                        {"mean", "pooling_mode_mean_tokens"},
                                        {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
                                        {"weightedmean", "pooling_mode_weightedmean_tokens"},
                                        {"lasttoken", "pooling_mode_lasttoken"}};

/// Activations of Dense, as descriptions call them.
static constexpr std::pair<StringRef, StringRef> kActivations[] = {
    {"Identity", ""}, {"Tanh", "tanh"}, {"ReLU", "relu"}, {"Sigmoid", "sigmoid"}, {"GELU", "gelu"}, {"SiLU", "silu"}};

/// Older versions of the library had a class for each model instead of Transformer.
static constexpr StringRef kTransformers[] = {"Transformer", "BERT",       "RoBERTa", "DistilBERT", "ALBERT",
                                              "CamemBERT",   "XLMRoBERTa", "XLNet",   "T5"};

std::vector<std::string> heddle::poolingKinds(StringRef text) {
  std::vector<std::string> kinds;
  SmallVector<StringRef> words;
  text.split(words, '+');
  for (StringRef word : words) {
    const Pooling *known =
        llvm::find_if(kPoolings, [&](const Pooling &one) { return one.word == (word == "last" ? "lasttoken" : word); });
    if (known == std::end(kPoolings))
      return {};
    kinds.push_back(known->word.str());
  }
  return kinds;
}

//===--- one module -----------------------------------------------------------===//

namespace {
/// An entry of modules.json.
struct ModuleLine {
  StringRef kind; ///< "Pooling"
  StringRef path; ///< "1_Pooling"
  const JsonValue *at = nullptr, *typeAt = nullptr;
};
} // namespace

/// Whether a path of modules.json is a folder of the checkpoint's own.
static bool isInside(StringRef folder) {
  return !folder.empty() && llvm::sys::path::is_relative(folder) &&
         llvm::none_of(llvm::make_range(llvm::sys::path::begin(folder), llvm::sys::path::end(folder)),
                       [](StringRef part) { return part == ".."; });
}

static std::optional<std::vector<ModuleLine>> linesOf(const JsonValue &modules, DiagnosticSink &sink) {
  std::vector<ModuleLine> lines;
  for (auto [i, module] : llvm::enumerate(modules.items)) {
    std::string path = (kModules + "[" + Twine(i) + "]").str();
    const JsonValue *type = module.isObject() ? module.find("type") : nullptr;
    const JsonValue *folder = module.isObject() ? module.find("path") : nullptr;
    if (!type || !type->isString() || !folder || !folder->isString()) {
      sink.error(Error::CompanionValue, module.loc, path, "a module with the texts `type` and `path` expected");
      return std::nullopt;
    }
    StringRef kind = StringRef(type->string).rsplit('.').second;
    lines.push_back({kind.empty() ? StringRef(type->string) : kind, folder->string, folder, type});
    if (i && !folder->string.empty() && !isInside(folder->string)) {
      sink.error(Error::CompanionValue, folder->loc, path + ".path",
                 "a folder in that of modules.json expected, found " + folder->text());
      return std::nullopt;
    }
  }
  return lines;
}

static bool isTransformer(const std::vector<ModuleLine> &lines) {
  return !lines.empty() && llvm::is_contained(kTransformers, lines.front().kind);
}

static void readPooling(const ModelFolder &files, const ModuleLine &line, SentenceVectors &out, DiagnosticSink &sink) {
  std::string name = line.path.str() + "/config.json";
  std::optional<JsonValue> root = readSideFile(files, name, Kind::Object, sink);
  if (!root) {
    if (!sink.hasErrors())
      sink.error(Error::PartMissing, line.at->loc, kModules, name + " is not there" + kWayRound);
    return;
  }
  SideFileReader file(*root, name, sink);
  const JsonValue *word = file.take("pooling_mode");
  std::vector<std::string> words;
  if (word && word->isString())
    words = poolingKinds(word->string);
  else if (word && word->isArray()) {
    std::string joined;
    for (const JsonValue &one : word->items)
      joined += (joined.empty() ? "" : "+") + (one.isString() ? one.string : one.text());
    words = poolingKinds(joined);
  }
  for (const Pooling &one : kPoolings)
    // Without any key the library takes the mean.
    if (file.boolean(one.key).value_or(one.word == "mean") && !word)
      out.pooling.push_back(one.word.str());
  if (word)
    out.pooling = std::move(words);
  out.includePrompt = file.boolean("include_prompt").value_or(true);
  file.ignore({"word_embedding_dimension", "embedding_dimension"}); // the model has it
  SmallVector<StringRef> known = {"pooling_mode", "include_prompt"};
  for (const Pooling &one : kPoolings)
    known.push_back(one.key);
  file.finish(known);
  if (out.pooling.empty() && !sink.hasErrors())
    sink.error(Error::CompanionUnsupported, word ? word->loc : root->loc, name,
               (word ? "the pooling " + word->text() + " is not computed" : std::string("no kind of pooling is true")) +
                   "; the kinds are cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken" + kWayRound);
}

/// The activation of a Dense: a name of torch.nn without parameters.
static std::string activationOf(SideFileReader &file) {
  const JsonValue *said = file.take("activation_function");
  StringRef path = !said              ? StringRef("torch.nn.modules.activation.Tanh")
                   : said->isString() ? StringRef(said->string)
                                      : StringRef();
  auto known = llvm::find_if(kActivations, [&](auto &one) { return one.first == path.rsplit('.').second; });
  if (path.starts_with("torch.nn.") && known != std::end(kActivations))
    return known->second.str();
  file.error(Error::CompanionUnsupported, *said, "activation_function",
             "one of torch.nn's Identity, Tanh, ReLU, Sigmoid, GELU and SiLU expected, found " + said->text());
  return "";
}

static void readDense(const ModelFolder &files, const ModuleLine &line, VectorModule &module, DiagnosticSink &sink) {
  std::string name = line.path.str() + "/config.json";
  std::optional<JsonValue> root = readSideFile(files, name, Kind::Object, sink);
  if (!root) {
    if (!sink.hasErrors())
      sink.error(Error::PartMissing, line.at->loc, kModules, name + " is not there");
    return;
  }
  SideFileReader file(*root, name, sink);
  module.activation = activationOf(file);
  for (StringRef key : {"module_input_name", "module_output_name"})
    file.only(key, {"\"sentence_embedding\""}, "a Dense of vectors is computed, not one of tokens");
  file.ignore({"in_features", "out_features", "bias", "init_weight", "init_bias"}); // the weights have them
  file.finish({"activation_function", "in_features", "out_features", "bias"}, heddle::Diagnostic::Kind::Remark);
}

/// A name that may stand before those of tensors: of a folder with an unusual one its place.
static std::string tensorPrefix(StringRef path, size_t place) {
  bool plain = llvm::all_of(path, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
  return plain ? path.str() : "module_" + std::to_string(place);
}

/// Reads what comes after the Transformer.
static void readModules(const ModelFolder &files, const std::vector<ModuleLine> &lines, SentenceVectors &out,
                        DiagnosticSink &sink) {
  auto refuse = [&](size_t i, const Twine &what) {
    sink.error(Error::CompanionUnsupported, lines[i].typeAt->loc, kModules + "[" + Twine(i) + "].type",
               what + kWayRound);
  };
  size_t kept = 0; // modules of the head that stay: those up to the last that is no Normalize
  for (size_t i = 1; i < lines.size(); ++i) {
    const ModuleLine &line = lines[i];
    if (line.kind == "Dropout") // does nothing
      continue;
    if (line.kind == "Pooling") {
      if (!out.pooling.empty())
        return refuse(i, "a second Pooling is not computed");
      readPooling(files, line, out, sink);
      if (out.pooling.empty())
        return;
      continue;
    }
    bool known = line.kind == "Dense" || line.kind == "LayerNorm" || line.kind == "Normalize";
    if (!known || out.pooling.empty())
      return refuse(i, "the module " + escaped(line.kind) +
                           (known ? " before the Pooling is not computed" : " is not computed"));
    VectorModule module;
    module.folder = files.path(line.path.str());
    module.name = tensorPrefix(line.path, i);
    module.loc = line.at->loc;
    module.kind = line.kind == "Dense"       ? VectorModule::Kind::Dense
                  : line.kind == "LayerNorm" ? VectorModule::Kind::LayerNorm
                                             : VectorModule::Kind::Normalize;
    if (line.kind == "Dense")
      readDense(files, line, module, sink);
    out.head.push_back(std::move(module));
    if (line.kind != "Normalize")
      kept = out.head.size();
  }
  out.normalize = out.head.size() > kept;
  out.head.resize(kept);
}

//===--- the other files ------------------------------------------------------===//

/// Prompts, similarity.
static void readVectorConfig(const ModelFolder &files, SentenceVectors &out, DiagnosticSink &sink) {
  std::optional<JsonValue> root = readSideFile(files, kVectorConfig, Kind::Object, sink);
  if (!root)
    return;
  SideFileReader file(*root, kVectorConfig, sink);
  if (const JsonValue *prompts = file.take("prompts")) {
    if (!prompts->isObject() || llvm::any_of(prompts->members, [](auto &m) { return !m.value.isString(); }))
      file.error(Error::CompanionValue, *prompts, "prompts", "an object of names and texts expected");
    else
      for (const JsonMember &m : prompts->members)
        out.prompts.push_back({m.key, m.value.string});
  }
  std::vector<std::string> names;
  for (const auto &[name, text] : out.prompts)
    names.push_back(name);
  if (const JsonValue *name = file.take("default_prompt_name")) {
    out.defaultPrompt = name->isString() ? name->string : "";
    if (!llvm::is_contained(names, out.defaultPrompt))
      file.error(Error::CompanionValue, *name, "default_prompt_name",
                 "a name of `prompts` expected, found " + name->text() + nearest(out.defaultPrompt, names));
  }
  if (const JsonValue *name = file.take("similarity_fn_name")) {
    out.similarity = name->isString() ? name->string : "";
    if (!llvm::is_contained({"cosine", "dot", "euclidean", "manhattan"}, out.similarity))
      file.error(Error::CompanionUnsupported, *name, "similarity_fn_name",
                 "cosine, dot, euclidean or manhattan expected, found " + name->text());
  }
  // Versions and the kind of model are for the library; dimensions are the caller's (--dimensions).
  file.ignore({"__version__", "model_type", "truncate_dim"});
  file.finish({"prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim"},
              heddle::Diagnostic::Kind::Remark);
}

namespace {
struct TransformerConfig {
  std::optional<int64_t> length;
  bool lower = false;
};
} // namespace

/// sentence_bert_config.json under the first of its names that is there.
static TransformerConfig readTransformerConfig(const ModelFolder &folder, DiagnosticSink &sink) {
  TransformerConfig out;
  for (StringRef model : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
    std::string name = ("sentence_" + model + "_config.json").str();
    std::optional<JsonValue> root = readSideFile(folder, name, Kind::Object, sink);
    if (!root)
      continue;
    SideFileReader file(*root, name, sink);
    out.length = file.integer("max_seq_length", 1, int64_t(1) << 30);
    out.lower = file.boolean("do_lower_case").value_or(false);
    return out;
  }
  return out;
}

std::optional<int64_t> heddle::maxSequenceLength(const ModelFolder &folder, DiagnosticSink &sink) {
  return readTransformerConfig(folder, sink).length;
}

//===--- all of it ------------------------------------------------------------===//

std::string heddle::transformerFolder(StringRef directory) {
  llvm::SmallString<256> config(directory), inside(directory);
  llvm::sys::path::append(config, "config.json");
  if (llvm::sys::fs::exists(config))
    return "";
  DiagnosticSink quiet; // readSentenceVectors reports errors of modules.json
  std::optional<JsonValue> modules = readSideFile(directory.str(), kModules, Kind::Array, quiet);
  std::optional<std::vector<ModuleLine>> lines = modules ? linesOf(*modules, quiet) : std::nullopt;
  if (!lines || lines->empty() || !isInside(lines->front().path))
    return "";
  llvm::sys::path::append(inside, lines->front().path);
  config = inside;
  llvm::sys::path::append(config, "config.json");
  return llvm::sys::fs::exists(config) ? std::string(inside) : "";
}

bool heddle::makesSentenceVectors(const ModelFolder &files, StringRef pool) {
  if (!pool.empty())
    return pool != "none";
  DiagnosticSink quiet;
  std::optional<JsonValue> modules = readSideFile(files, kModules, Kind::Array, quiet);
  std::optional<std::vector<ModuleLine>> lines = modules ? linesOf(*modules, quiet) : std::nullopt;
  return lines && isTransformer(*lines) && llvm::any_of(*lines, [](auto &line) { return line.kind == "Pooling"; });
}

SentenceVectors heddle::readSentenceVectors(const ModelFolder &files, StringRef pool, DiagnosticSink &sink) {
  SentenceVectors out;
  if (pool == "none")
    return out;
  ModelFolder transformer = files;
  if (!pool.empty()) {
    out.pooling = poolingKinds(pool);
  } else {
    std::optional<JsonValue> modules = readSideFile(files, kModules, Kind::Array, sink);
    std::optional<std::vector<ModuleLine>> lines = modules ? linesOf(*modules, sink) : std::nullopt;
    if (!lines || lines->empty())
      return out;
    if (!isTransformer(*lines)) {
      sink.error(Error::CompanionUnsupported, lines->front().typeAt->loc, kModules + "[0].type",
                 "the module " + escaped(lines->front().kind) + " is not computed" + kWayRound);
      return out;
    }
    if (isInside(lines->front().path) && !files.isMade())
      transformer = ModelFolder(files.path(lines->front().path.str()));
    readModules(files, *lines, out, sink);
  }
  if (out.pooling.empty())
    return out;
  readVectorConfig(files, out, sink);
  TransformerConfig config = readTransformerConfig(transformer, sink);
  out.length = config.length;
  out.lower = config.lower;
  return out;
}
