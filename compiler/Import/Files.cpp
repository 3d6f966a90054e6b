// Opens what is imported: a description, or a Hugging Face directory whose config.json names a family; and the weights.
#include "compiler/Import/Import.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/Weights/OtherKinds.h"

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

/// The bytes of a file that should be JSON; none after an error.
static std::optional<std::string> readText(const std::string &file, DiagnosticSink &sink) {
  ReadFile read = readInputFile(file.c_str(), JsonLimits().bytes);
  // The kind of file comes first: for a file of another kind its size is not what is wrong.
  if (refuseOtherKind(file, StringRef(read.bytes).take_front(1024), sink))
    return std::nullopt;
  if (!read.ok()) {
    sink.errorInFile(read.systemError ? Error::CannotRead : Error::NotItsFormat, file, "", read.why);
    return std::nullopt;
  }
  return std::move(read.bytes);
}

std::optional<std::string> heddle::familyFor(StringRef type, const FamilyLibrary &families) {
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

/// The five families with the nearest names, for the message.
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

/// Reads a config.json, and the family file for it.
static std::optional<Source> openConfig(Session &session, std::string directory, const SourceFile &file) {
  DiagnosticSink &sink = session.sink;
  const FamilyLibrary &families = session.options.families;
  std::optional<JsonValue> read = parseJson(file, sink);
  if (!read)
    return std::nullopt;
  if (!read->isObject()) {
    sink.error(Error::WrongJson, read->loc, "config.json", "an object expected, found " + Twine(describe(read->kind)));
    return std::nullopt;
  }
  auto config = std::make_unique<ConfigFile>();
  config->name = file.name().str();
  config->json = std::move(*read);
  config->ignore(session.options.ignoreConfig, sink);
  config->json.link();
  const JsonValue *type = config->json.find("model_type");
  if (!type || !type->isString()) {
    sink.error(Error::ConfigValue, type ? type->loc : config->json.loc, "config.json.model_type",
               "the name of a model type expected" +
                   Twine(type ? ", found " + type->text()
                              : std::string(", there is none; add one, as in \"model_type\": \"bert\"")));
    return std::nullopt;
  }
  std::optional<std::string> family = familyFor(type->string, families);
  if (!family) {
    sink.error(Error::UnknownFamily, type->loc, "config.json.model_type",
               "no family file for the model type " + quote(type->string) + nearest(type->string, families.names()))
        .note({}, "the families nearest to it by name are " + neighbours(type->string, families) +
                      "; --families=FOLDER adds family files of your own");
    return std::nullopt;
  }
  std::unique_ptr<Description> doc = readDescription("families/" + *family + ".json", families.find(*family)->str(),
                                                     families, session.expressions, sink);
  if (doc && !doc->family)
    sink.error(Error::MissingKey, doc->root.loc, "$.family", "a family file says which model_type it is for");
  if (!doc || !doc->family)
    return std::nullopt;
  return Source{std::move(doc), std::move(config), std::move(directory)};
}

/// Recognises files by their contents: a config.json under any name has a model_type, a description the version of the
/// language.
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

/// Whether a model.json is one of ours: other tools write files of this name, too.
static bool isDescription(StringRef file) {
  ReadFile read = readInputFile(file.str().c_str(), JsonLimits().bytes);
  return read.ok() && StringRef(read.bytes).contains("\"heddle\"");
}

/// Opens the path of the options: a directory stands for its model.json, else its config.json; a file is a config.json
/// or a description by its contents. Tests give the texts instead (options.text, options.configText).
std::optional<Source> heddle::openSource(Session &session) {
  const ImportOptions &options = session.options;
  DiagnosticSink &sink = session.sink;
  if (options.configText)
    return openConfig(session, path::parent_path(options.path).str(),
                      sink.addFile(options.path.empty() ? "config.json" : options.path, *options.configText));
  if (options.made) {
    ReadFile config = options.made->read("config.json", JsonLimits().bytes);
    if (config.ok())
      return openConfig(session, options.path, sink.addFile(*options.made, "config.json", std::move(config.bytes)));
    sink.errorInFile(Error::CodedPiece, options.path, "", config.why);
    return std::nullopt;
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
      if (isThere(model.c_str()) && (!hasConfig || isDescription(model))) {
        file = std::string(model);
        if (hasConfig)
          sink.say(
                  Diagnostic::Kind::Remark, Loc(), "",
                  "the model is that of model.json; of config.json in the same folder only the names of classes and the settings "
                  "of generation are read")
              .file = std::string(model);
      } else if (!hasConfig) {
        refuseDirectory(file, sink);
        return std::nullopt;
      } else {
        file = std::string(config);
      }
    }
    std::optional<std::string> read = readText(file, sink);
    if (!read)
      return std::nullopt;
    text = std::move(*read);
  }
  std::string directory = path::parent_path(file).str();
  // By its contents: a config.json leads to its family file, anything else is the user's own description.
  if (isConfigFile(path::filename(file), text))
    return openConfig(session, std::move(directory), sink.addFile(file, std::move(text)));
  if (llvm::any_of(options.ignoreConfig, [](StringRef key) { return !key.contains(':'); }))
    sink.errorInFile(Error::NothingNamed, "--ignore-config", "", "a description has no config.json");
  std::unique_ptr<Description> doc =
      readDescription(file.empty() ? "model.json" : file, std::move(text), options.families, session.expressions, sink);
  if (doc && doc->family) {
    sink.error(Error::Misplaced, doc->family->loc, "$.family",
               "a family file is read through a directory with a config.json, not by itself");
    return std::nullopt;
  }
  if (!doc)
    return std::nullopt;
  return Source{std::move(doc), nullptr, std::move(directory)};
}
