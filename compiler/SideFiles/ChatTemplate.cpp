//===- ChatTemplate.cpp - chat templates of a model -----------------------===//

#include "compiler/SideFiles/ChatTemplate.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "compiler/Template/TemplateBlob.h"
#include "compiler/Template/TemplateTraits.h"
#include "heddle/input_file.h"
#include "heddle/template.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstdio>

using namespace heddle;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace {

/// A template and where its text begins: a separate file, or a string of JSON.
struct TemplateSource {
  TemplateText text;
  Loc loc;
  bool isJson;
};

class Finder {
public:
  /// `wanted`: the name of one of the templates, which is the only one then; "": all of them.
  Finder(StringRef wanted, DiagnosticSink &sink, ChatTemplates &out) : wanted(wanted), sink(sink), out(out) {}

  void folder(const ModelFolder &folder);
  void choose();
  void file(StringRef name);
  void tokens(const ModelFolder &folder);
  void compile();
  bool isEmpty() const { return found.empty(); }

private:
  /// Reads a file that exists; null after an error.
  const SourceFile *read(const ModelFolder &folder, StringRef name);
  std::optional<JsonValue> readJson(const ModelFolder &folder, StringRef name, bool quiet);
  bool templatesOf(const JsonValue &root, StringRef name);
  void add(StringRef name, const JsonValue &text);
  void addFile(StringRef name, const ModelFolder &folder, StringRef file);
  void tokensOf(const JsonValue &root);
  size_t byteOf(StringRef text, unsigned line, unsigned column) const;

  StringRef wanted;
  DiagnosticSink &sink;
  ChatTemplates &out;
  std::vector<TemplateSource> found;
  std::vector<std::pair<std::string, std::string>> variables;
};

/// The largest file with a template; a tokenizer_config.json lists every token that was added.
constexpr uint64_t mostBytes = uint64_t(64) << 20;
constexpr const char *tokenizerConfig = "tokenizer_config.json";

} // namespace

const SourceFile *Finder::read(const ModelFolder &folder, StringRef name) {
  ReadFile file = folder.read(name.str(), mostBytes);
  if (file.ok())
    return &sink.addFile(folder, name.str(), std::move(file.bytes));
  sink.errorInFile(file.systemError ? Error::CannotRead : Error::NotItsFormat, folder.path(name.str()), "", file.why);
  return nullptr;
}

/// Null if there is none, or it is no object. `quiet`: another reader reports a file that is no JSON, unless it
/// has a template.
std::optional<JsonValue> Finder::readJson(const ModelFolder &folder, StringRef name, bool quiet) {
  const SourceFile *file = read(folder, name);
  if (!file)
    return std::nullopt;
  DiagnosticSink unheard;
  bool silent = quiet && !file->text().contains("chat_template");
  std::optional<JsonValue> root = parseJson(*file, silent ? unheard : sink, {mostBytes, 64});
  if (root && !root->isObject())
    root.reset();
  return root;
}

void Finder::add(StringRef name, const JsonValue &text) {
  if (out.from.empty() || name == "default")
    out.from = text.loc.file->name().str();
  found.push_back({{name.str(), text.string}, text.loc, true});
}

void Finder::addFile(StringRef name, const ModelFolder &folder, StringRef where) {
  const SourceFile *file = read(folder, where);
  if (!file)
    return;
  if (out.from.empty() || name == "default")
    out.from = file->name().str();
  found.push_back({{name.str(), file->text().str()}, {file, 0}, false});
}

/// `chat_template` of an object: a text, or a list of {name, template}. False if it has none.
bool Finder::templatesOf(const JsonValue &root, StringRef name) {
  const JsonValue *value = root.find("chat_template");
  if (!value || value->isNull())
    return false;
  std::string at = name.str() + ".chat_template";
  if (value->isString()) {
    add("default", *value);
    return true;
  }
  bool hasDefault = false;
  for (const JsonValue &one : value->items) {
    const JsonValue *named = one.find("name"), *text = one.find("template");
    if (!named || !text || !named->isString() || !text->isString()) {
      sink.error(Error::WrongJson, one.loc, at, "expected {\"name\": a text, \"template\": a text}");
      return true;
    }
    hasDefault |= named->string == "default";
    add(named->string, *text);
  }
  if (!value->isArray())
    sink.error(Error::WrongJson, value->loc, at,
               "a text or a list of {name, template} expected, found " + llvm::Twine(describe(value->kind)));
  else if (!hasDefault && wanted.empty())
    sink.error(Error::BadTemplate, value->loc, at, "none of its templates has the name \"default\"");
  return true;
}

/// The special tokens: keys that end in _token; and all texts that are special, for the probe.
void Finder::tokensOf(const JsonValue &root) {
  auto contentOf = [](const JsonValue &v) -> const std::string * {
    const JsonValue *content = v.isObject() ? v.find("content") : &v;
    return content && content->isString() && !content->string.empty() ? &content->string : nullptr;
  };
  for (const JsonMember &m : root.members)
    if (StringRef(m.key).ends_with("_token"))
      if (const std::string *content = contentOf(m.value)) {
        variables.push_back({m.key, *content});
        out.specials.push_back(*content);
      }
  if (const JsonValue *added = root.find("added_tokens_decoder"))
    for (const JsonMember &m : added->members) {
      const JsonValue *special = m.value.find("special");
      if (const std::string *content = contentOf(m.value); content && special && special->boolean)
        out.specials.push_back(*content);
    }
  if (const JsonValue *more = root.find("additional_special_tokens"))
    for (const JsonValue &item : more->items)
      if (const std::string *content = contentOf(item))
        out.specials.push_back(*content);
}

void Finder::tokens(const ModelFolder &folder) {
  if (!folder.has(tokenizerConfig))
    return;
  if (std::optional<JsonValue> root = readJson(folder, tokenizerConfig, true))
    tokensOf(*root);
}

void Finder::folder(const ModelFolder &folder) {
  std::optional<JsonValue> root;
  if (folder.has(tokenizerConfig))
    root = readJson(folder, tokenizerConfig, true);
  if (root)
    tokensOf(*root);
  bool own = folder.has("chat_template.jinja");
  if (own)
    addFile("default", folder, "chat_template.jinja");
  if (own || folder.isMade())
    for (const std::string &name : folder.list("additional_chat_templates"))
      if (path::extension(name) == ".jinja")
        addFile(path::stem(name), folder, "additional_chat_templates/" + name);
  if (own || folder.isMade())
    return;
  if (!(root && templatesOf(*root, tokenizerConfig)) && folder.has("chat_template.json")) {
    if (std::optional<JsonValue> processor = readJson(folder, "chat_template.json", false))
      templatesOf(*processor, "chat_template.json");
  }
}

/// Of the templates that were found, keeps the one that is wanted, as the default one. One of them must be that.
void Finder::choose() {
  if (found.empty() || sink.hasErrors())
    return;
  std::vector<std::string> names;
  for (const TemplateSource &source : found)
    names.push_back(source.text.name);
  StringRef name = wanted.empty() ? "default" : wanted;
  auto one = llvm::find_if(found, [&](const TemplateSource &source) { return source.text.name == name; });
  if (one == found.end()) {
    std::string all = llvm::join(names, ", ");
    if (wanted.empty())
      sink.errorInFile(Error::BadTemplate, out.from, "",
                       "none of its chat templates is the default one; --template=NAME takes one of " + all);
    else
      sink.errorInFile(Error::CannotRead, wanted, "",
                       "there is no such file, and the model has no chat template of this name; it has " + all);
  } else if (!wanted.empty()) {
    TemplateSource kept = std::move(*one);
    kept.text.name = "default";
    out.from = kept.loc.file->name().str();
    found.clear();
    found.push_back(std::move(kept));
  }
}

void Finder::file(StringRef name) {
  ModelFolder here(path::parent_path(name).str());
  if (path::extension(name) != ".json")
    return addFile("default", here, path::filename(name));
  std::optional<JsonValue> root = readJson(here, path::filename(name), false);
  if (!root)
    return;
  tokensOf(*root);
  if (!templatesOf(*root, path::filename(name)))
    sink.error(Error::BadTemplate, root->loc, path::filename(name), "there is no `chat_template` in it");
}

/// Byte offset of (line, column); any line ending.
size_t Finder::byteOf(StringRef text, unsigned line, unsigned column) const {
  size_t at = 0;
  for (; line > 1 && at < text.size(); --line) {
    at = text.find_first_of("\r\n", at);
    if (at == StringRef::npos)
      return text.size();
    at += text.substr(at).starts_with("\r\n") ? 2 : 1;
  }
  return std::min(text.size(), at + column - 1);
}

void Finder::compile() {
  if (found.empty() || sink.hasErrors())
    return;
  std::vector<TemplateText> texts;
  for (const TemplateSource &source : found)
    texts.push_back(source.text);
  for (const TemplateMistake &m : compileTemplates(texts, variables, out.blob)) {
    const TemplateSource &source = found[m.which];
    size_t byte = byteOf(source.text.text, m.line, m.column);
    Loc loc = source.isJson ? insideString(source.loc, byte) : source.loc.plus(byte);
    bool made = loc.file->madeFrom != nullptr;
    std::string where = made ? loc.file->keyOf("") : source.isJson ? "chat_template" : "";
    if (!made && source.text.name != "default")
      where += (where.empty() ? "" : " ") + source.text.name;
    std::string line = made || source.isJson ? "line " + std::to_string(m.line) + " of the template: " : "";
    sink.error(Error::BadTemplate, loc, where, line + m.message);
  }
  std::string error;
  if (!sink.hasErrors() && !rt::TemplateRunner::open(out.blob, error))
    sink.errorInFile(Error::OurMistake, out.from, "", "the compiled template cannot be opened: " + error);
}

void heddle::readChatTemplates(const std::optional<ModelFolder> &folder, StringRef file, DiagnosticSink &sink,
                               ChatTemplates &out) {
  bool isName = folder && !file.empty() && !file.contains('/') && !isThere(file.str().c_str());
  Finder finder(isName ? file : "", sink, out);
  if (folder && (isName || file.empty()))
    finder.folder(*folder);
  else if (folder)
    finder.tokens(*folder);
  if (!file.empty() && (!isName || finder.isEmpty()))
    finder.file(file);
  else
    finder.choose();
  finder.compile();
}

std::string ChatTemplates::firstSpecial(StringRef text) const {
  size_t first = StringRef::npos;
  StringRef best;
  for (const std::string &token : specials)
    if (size_t at = text.find(token);
        at != StringRef::npos && (at < first || (at == first && token.size() > best.size()))) {
      first = at;
      best = token;
    }
  return best.str();
}
