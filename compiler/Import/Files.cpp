// The two front doors: a description, or a Hugging Face directory whose config.json names
// a family; and the weights beside them.
#include "compiler/Import/Importer.h"
#include "compiler/Import/OtherKinds.h"

#include "heddle/input_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::optional<std::string> Importer::readText(const std::string &file) {
  ReadFile read = readInputFile(file.c_str(), JsonLimits().bytes);
  // First what it is: the size of a file of another kind is not what is wrong with it.
  if (refuseOtherKind(file, StringRef(read.bytes).take_front(1024), sink))
    return std::nullopt;
  if (!read.ok()) {
    sink.errorInFile(file, "", read.why);
    return std::nullopt;
  }
  return std::move(read.bytes);
}

/// The family file for a model_type: the one of that name, else one that lists it.
static std::optional<std::string> familyFor(StringRef type, const FamilyLibrary &families) {
  auto lists = [&](StringRef name) {
    std::optional<StringRef> text = families.find(name);
    if (!text)
      return false;
    DiagnosticSink quiet;
    SourceFile file(name.str(), text->str());
    std::optional<JsonValue> doc = parseJson(file, quiet);
    if (!doc) // broken: to be complained about when it is the one that is meant
      return name == type;
    const JsonValue *family = doc->find("family");
    const JsonValue *known = family ? family->find("model_type") : nullptr;
    if (!known) // an heir says it in its base; of any other it is a mistake, to be told in its file
      return name == type;
    return known->string == type || llvm::any_of(known->items, [&](const JsonValue &v) { return v.string == type; });
  };
  if (lists(type))
    return type.str();
  for (const std::string &name : families.names())
    if (name != type && lists(name))
      return name;
  return std::nullopt;
}

/// The five families whose names are nearest, so that somebody sees what there is.
static std::string neighbours(StringRef type, const FamilyLibrary &families) {
  std::vector<std::string> names = families.names();
  StringRef asked = type.take_front(100); // the distance is quadratic
  auto distance = [&](StringRef name) {
    size_t shared = 0;
    while (shared < std::min(name.size(), asked.size()) && name[shared] == asked[shared])
      ++shared;
    return int(asked.edit_distance(name)) - int(2 * shared);
  };
  std::stable_sort(names.begin(), names.end(), [&](StringRef a, StringRef b) { return distance(a) < distance(b); });
  names.resize(std::min<size_t>(names.size(), 5));
  return llvm::join(names, ", ");
}

bool Importer::openDirectory(const std::string &where, std::string configText) {
  isFamily = true;
  directory = where;
  std::optional<JsonValue> read = parseJson(sink.addFile(config.name, std::move(configText)), sink);
  if (!read)
    return false;
  if (!read->isObject()) {
    sink.error(read->loc, "config.json", "an object expected, found " + Twine(describe(read->kind)));
    return false;
  }
  config.json = std::move(*read);
  config.ignore(options.ignoreConfig, sink);
  config.json.link();
  const JsonValue *type = config.json.find("model_type");
  if (!type || !type->isString()) {
    sink.error(type ? type->loc : config.json.loc, "config.json.model_type",
               "the name of a model type expected" +
                   Twine(type ? ", found " + type->text() : std::string(", there is none; add one, as in \"model_type\": \"bert\"")));
    return false;
  }
  std::optional<std::string> family = familyFor(type->string, families);
  if (!family) {
    sink.error(type->loc, "config.json.model_type",
               "no family file for the model type " + quote(type->string) +
                   nearest(type->string, families.names()))
        .unsupported()
        .note({}, "the families nearest to it by name are " + neighbours(type->string, families) +
                      "; --families=FOLDER adds family files of your own");
    return false;
  }
  doc = readDescription("families/" + *family + ".json", families.find(*family)->str(), families,
                        expressions, sink);
  if (doc && !doc->family)
    sink.error(doc->root.loc, "$.family", "a family file says which model_type it is for");
  return doc && doc->family;
}

/// Published files are known by what is in them: a config.json under any name says which
/// model_type it is for, a description which version of the language.
static bool isConfigFile(StringRef name, const std::string &text) {
  if (!StringRef(text).contains("\"heddle\"") && name == "config.json")
    return true;
  if (!StringRef(text).contains("\"model_type\""))
    return false;
  DiagnosticSink quiet;
  SourceFile file(name.str(), text);
  std::optional<JsonValue> read = parseJson(file, quiet);
  return read && read->isObject() && read->find("model_type") && !read->find("heddle");
}

bool Importer::open() {
  if (options.configText) {
    config.name = options.path.empty() ? "config.json" : options.path;
    return openDirectory(path::parent_path(options.path).str(), *options.configText);
  }
  std::string file = options.path;
  std::string text;
  if (options.text) {
    text = *options.text;
  } else {
    bool isDirectory = fs::is_directory(file);
    if (isDirectory) {
      llvm::SmallString<128> config(file), model(file);
      path::append(config, "config.json");
      path::append(model, "model.json");
      bool hasConfig = isThere(config.c_str());
      if (!hasConfig && isThere(model.c_str())) {
        file = std::string(model);
      } else if (!hasConfig) {
        refuseDirectory(file, sink);
        return false;
      } else {
        file = std::string(config);
      }
    }
    std::optional<std::string> read = readText(file);
    if (!read)
      return false;
    text = std::move(*read);
  }
  directory = path::parent_path(file).str();
  if (isConfigFile(path::filename(file), text)) {
    config.name = file;
    return openDirectory(directory, std::move(text));
  }
  if (!options.ignoreConfig.empty())
    sink.errorInFile("--ignore-config", "", "a description has no config.json");
  doc = readDescription(file.empty() ? "model.json" : file, std::move(text), families, expressions, sink);
  if (doc && doc->family) {
    sink.error(doc->family->loc, "$.family",
               "a family file is read through a directory with a config.json, not by itself");
    return false;
  }
  return doc != nullptr;
}

//===--- weights --------------------------------------------------------------===//

bool Importer::readWeightSpec(WeightNames::Spec &spec, std::string &file) {
  const JsonValue *w = doc->weights;
  if (!w)
    return true;
  if (w->isString()) {
    file = w->string;
    return true;
  }
  if (!w->isObject())
    return false;
  auto text = [&](StringRef key) {
    const JsonValue *v = w->find(key);
    return v && v->isString() ? v->string : std::string();
  };
  file = text("file");
  spec.prefix = text("prefix");
  if (const JsonValue *names = w->find("names"))
    for (const JsonMember &m : names->members)
      spec.names[m.key] = m.value.string;
  if (const JsonValue *renamed = w->find("renamed")) {
    spec.renamedJson = renamed;
    for (const JsonMember &m : renamed->members)
      spec.renamed.push_back({m.key, m.value.string});
  }
  auto constant = [&](const JsonValue &v) -> std::optional<std::string> {
    Value c = evaluator.value(v, evaluator.fileScope);
    if (c.is(Value::Kind::String))
      return c.asString();
    if (!c.isBad() && !c.isNull())
      in.error({v.loc, &v}, "a name or null expected, found " + Twine(c.show()));
    return std::nullopt;
  };
  if (const JsonValue *tied = w->find("tied"))
    for (const JsonMember &m : tied->members)
      if (std::optional<std::string> of = constant(m.value))
        spec.tied.push_back({m.key, *of, &m.value});
  if (const JsonValue *ignored = w->find("ignored"))
    for (const JsonMember &m : ignored->members)
      for (const JsonValue &p : m.value.items)
        if (std::optional<std::string> pattern = constant(p))
          spec.ignored.push_back(*pattern);
  return true;
}

void Importer::openWeights() {
  WeightNames::Spec spec;
  std::string named;
  if (!readWeightSpec(spec, named))
    return;
  table = options.weights;
  if (!table) {
    llvm::SmallString<128> file;
    if (!options.weightsPath.empty()) {
      file = options.weightsPath;
    } else if (!named.empty()) {
      if (path::is_absolute(named)) {
        file = named;
      } else {
        file = directory;
        path::append(file, named);
      }
    } else if (isFamily) {
      file = directory.empty() ? "." : directory;
    }
    weightsFile = std::string(file);
    bool anything = !file.empty() && isThere(file.c_str());
    if (anything && fs::is_directory(file)) {
      std::error_code ec;
      anything = false;
      for (fs::directory_iterator it(file, ec), end; it != end && !ec; it.increment(ec))
        anything |= StringRef(it->path()).contains(".safetensors") || StringRef(it->path()).ends_with(".bin");
    }
    if (!anything && (options.weightsOptional || (isFamily && options.configAlone)) && options.weightsPath.empty()) {
      weightsComplained = true; // nothing to complain about
      return;
    }
    if (!anything && !named.empty() && options.weightsPath.empty() && !isThere(file.c_str())) {
      const JsonValue *where = doc->weights->isObject() ? doc->weights->find("file") : doc->weights;
      in.error({where->loc, where}, "no file " + quote(named) + " beside the description; --weights=FILE names another");
      weightsComplained = true;
      return;
    }
    if (file.empty())
      return; // an op that wants one complains
    ownWeights = heddle::openWeights(file, options.headersOnly, sink);
    table = ownWeights.get();
    weightsComplained = !table;
  }
  if (table)
    for (const std::string &pattern : options.ignoreWeights) {
      std::vector<std::string> known = table->names();
      if (llvm::none_of(known, [&](const std::string &name) { return globMatch(name, pattern); }))
        sink.errorInFile("--ignore-weights", "", "the file has no tensor " + quote(pattern) + nearest(pattern, known));
      spec.ignored.push_back(pattern);
    }
  if (table)
    weightNames = std::make_unique<WeightNames>(*table, std::move(spec),
                                                weightsFile.empty() ? "weights" : weightsFile, sink);
}
