// Opens a description, merges it into the file that it is `like` (a JSON Merge Patch, RFC 7396), and reads the keys of
// the top level, each checked for its form.
#include "compiler/Import/Description/DeclaredNames.h"
#include "compiler/Import/Description/DescriptionReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using Kind = JsonValue::Kind;

//===--- small checks ---------------------------------------------------------===//

void DescriptionReader::error(Error code, const JsonValue &at, const Twine &message) {
  sink.error(code, at.loc, at.path(), message);
  tear(at);
}

void DescriptionReader::errorAtKey(Error code, const JsonValue &object, const JsonMember &member,
                                   const Twine &message) {
  sink.error(code, member.keyLoc, object.path() + "." + member.key, message);
  doc.torn.insert(member.key);
  tear(member.value);
}

void DescriptionReader::tear(const JsonValue &value) {
  auto word = [&](StringRef w) { doc.torn.insert(w.str()); };
  if (value.isString())
    wordsIn(value.string, word);
  for (const JsonValue &v : value.items)
    tear(v);
  for (const JsonMember &m : value.members) {
    wordsIn(m.key, word);
    tear(m.value);
  }
}

bool DescriptionReader::expect(const JsonValue &value, Kind kind, StringRef what) {
  if (value.kind == kind)
    return true;
  error(Error::WrongJson, value, what + " expected, found " + describe(value.kind));
  return false;
}

void DescriptionReader::knownKeys(const JsonValue &object, llvm::ArrayRef<StringRef> known) {
  for (const JsonMember &m : object.members)
    if (!llvm::is_contained(known, m.key))
      errorAtKey(Error::UnknownKey, object, m, "unknown key " + quote(m.key) + nearest(m.key, known));
}

bool heddle::isIdentifier(StringRef text) {
  return !text.empty() && text.size() <= kMostNameBytes && (llvm::isAlpha(text[0]) || text[0] == '_') &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

//===--- files and `like` -----------------------------------------------------===//

/// Parses a text and merges it into the family that its `like` names, which may be like another one. `heirs` are the
/// families on the way here, to find circles.
std::optional<JsonValue> DescriptionReader::open(std::string name, std::string text, bool isLibrary,
                                                 std::vector<std::string> &heirs) {
  SourceFile &file = sink.addFile(std::move(name), std::move(text));
  if (!doc.source)
    doc.source = &file;
  file.isLibrary = isLibrary;
  std::optional<JsonValue> read = parseJson(file, sink);
  if (!read)
    return std::nullopt;
  if (!read->isObject()) {
    sink.error(Error::WrongJson, read->loc, "$", "an object expected, found " + Twine(describe(read->kind)));
    return std::nullopt;
  }
  auto like = llvm::find_if(read->members, [](const JsonMember &m) { return m.key == "like"; });
  if (like == read->members.end())
    return read;
  JsonMember asked = std::move(*like);
  read->members.erase(like);
  if (!asked.value.isString()) {
    sink.error(Error::WrongJson, asked.value.loc, "$.like",
               "the name of a family expected, found " + Twine(describe(asked.value.kind)));
    return std::nullopt;
  }
  const std::string &base = asked.value.string;
  std::optional<StringRef> baseText = families.find(base);
  if (!baseText) {
    sink.error(Error::UnknownName, asked.value.loc, "$.like",
               "no family file " + quote(base) + nearest(base, families.names()));
    return std::nullopt;
  }
  if (llvm::is_contained(heirs, base)) {
    sink.error(Error::Circle, asked.value.loc, "$.like",
               "goes in a circle: " + escaped(llvm::join(heirs, " like ")) + " like " + escaped(base));
    return std::nullopt;
  }
  heirs.push_back(base);
  std::optional<JsonValue> below = open("families/" + base + ".json", baseText->str(), /*isLibrary=*/true, heirs);
  if (!below)
    return std::nullopt;
  return merge(std::move(*below), std::move(*read), "$");
}

/// Members merge one by one, everything else is replaced whole, null deletes.
JsonValue DescriptionReader::merge(JsonValue base, JsonValue patch, const std::string &at) {
  if (!patch.isObject())
    return patch;
  JsonValue out;
  if (base.isObject())
    out = std::move(base);
  else {
    out.kind = Kind::Object;
    out.loc = patch.loc;
  }
  for (JsonMember &m : patch.members) {
    auto old = llvm::find_if(out.members, [&](const JsonMember &o) { return o.key == m.key; });
    if (m.value.isNull()) {
      if (old == out.members.end()) {
        std::vector<StringRef> known;
        for (const JsonMember &o : out.members)
          known.push_back(o.key);
        sink.error(Error::NoEffect, m.keyLoc, at + "." + m.key,
                   "null deletes a member of the family this one is like, and there is none" + nearest(m.key, known));
        continue;
      }
      out.members.erase(old);
    } else if (old == out.members.end()) {
      out.members.push_back(std::move(m));
    } else {
      old->value = merge(std::move(old->value), std::move(m.value), at + "." + m.key);
      old->keyLoc = m.keyLoc;
    }
  }
  return out;
}

/// Reads the file, with everything it is like, and the library of blocks; false if nothing can be made of it.
bool DescriptionReader::load(std::string name, std::string text) {
  std::vector<std::string> heirs;
  bool isLibrary = StringRef(name).starts_with("families/");
  if (isLibrary) // a circle through the first file must be seen too
    heirs.push_back(StringRef(name).drop_front(9).drop_back(5).str());
  std::optional<JsonValue> read = open(std::move(name), std::move(text), isLibrary, heirs);
  if (!read)
    return false;
  doc.root = std::move(*read);
  doc.root.link();
  SourceFile &blocks = sink.addFile("stdlib.json", standardLibrary().str());
  blocks.isLibrary = true;
  if (std::optional<JsonValue> library = parseJson(blocks, sink))
    doc.library = std::move(*library);
  doc.library.link();
  return true;
}

//===--- the top level --------------------------------------------------------===//

/// Reads the keys of the top level in the order in which they depend on each other: blocks are declared before anything
/// that may call them. A key of the wrong kind is reported and left out.
void DescriptionReader::readTop() {
  const JsonValue &root = doc.root;
  knownKeys(root, {"heddle", "like", "name", "about", "family", "config", "dims", "inputs", "weights", "defaults",
                   "blocks", "body", "outputs", "generate"});
  const JsonValue *version = root.find("heddle");
  if (!version)
    sink.error(Error::MissingKey, root.loc, "$.heddle",
               "the key 'heddle' is missing: \"heddle\": 1 says that this is a description "
               "in version 1 of the language");
  else if (version->kind != Kind::Integer || version->integer != 1)
    error(Error::LanguageVersion, *version,
          "language version 1 expected, found " + Twine(version->text()) +
              (version->kind == Kind::Integer && version->integer > 1 ? "; a newer Heddle reads it" : ""));
  for (StringRef key : {"name", "about"})
    if (const JsonValue *v = root.find(key))
      expect(*v, Kind::String, "a string");
  if (const JsonValue *v = root.find("name"); v && v->isString()) {
    if (std::string why = whyNoName(v->string); why.empty())
      doc.name = v->string;
    else
      error(Error::NotAName, *v, "this cannot be the model's name: " + why);
  }

  auto object = [&](StringRef key) -> const JsonValue * {
    const JsonValue *v = root.find(key);
    return v && expect(*v, Kind::Object, "an object") ? v : nullptr;
  };
  if ((doc.family = object("family")))
    readFamily(*doc.family);
  if ((doc.config = object("config")))
    for (const JsonMember &m : doc.config->members) {
      if (!isIdentifier(m.key))
        errorAtKey(Error::NotAName, *doc.config, m, quote(m.key) + " is no name: " + kIdentifierExpected);
      checkExpressions(m.value);
    }
  if ((doc.dims = object("dims")))
    for (const JsonMember &m : doc.dims->members) {
      if (m.value.kind != Kind::Integer && !m.value.isExpression())
        error(Error::WrongJson, m.value,
              "an upper bound expected: an integer or an expression, found " + Twine(describe(m.value.kind)));
      checkExpressions(m.value);
    }
  if (const JsonValue *w = root.find("weights")) {
    if (w->isObject())
      readWeights(*w);
    else if (!w->isString())
      error(Error::WrongJson, *w, "the name of a file or an object expected, found " + Twine(describe(w->kind)));
    doc.weights = w;
  }

  if (const JsonValue *own = object("blocks"))
    declareBlocks(*own, /*isLibrary=*/false);
  if (const JsonValue *library = doc.library.find("blocks"))
    declareBlocks(*library, /*isLibrary=*/true);
  for (auto &[name, block] : doc.blocks)
    readBlock(block);

  if ((doc.defaults = object("defaults")))
    checkDefaults(*doc.defaults);
  if (const JsonValue *inputs = object("inputs"))
    readInputs(*inputs);
  if (const JsonValue *body = root.find("body")) {
    if (expect(*body, Kind::Array, "a list of statements"))
      doc.body = readBody(*body);
  } else {
    sink.error(Error::MissingKey, root.loc, "$.body", "missing: the statements of the model");
  }
  if (const JsonValue *outputs = root.find("outputs"))
    readOutputs(*outputs);
  else
    sink.error(Error::MissingKey, root.loc, "$.outputs", "missing: the names that the model hands out");
  if ((doc.generate = object("generate")))
    readGenerate(*doc.generate);
}

/// `family`: the model types it is for, its classes with their constants, what it requires and ignores of config.json.
void DescriptionReader::readFamily(const JsonValue &family) {
  knownKeys(family, {"model_type", "architectures", "require", "ignored", "null", "meaning", "partial"});
  const JsonValue *type = family.find("model_type");
  bool good =
      type && (type->isString() || (type->isArray() && !type->items.empty() &&
                                    llvm::all_of(type->items, [](const JsonValue &v) { return v.isString(); })));
  if (!good)
    error(Error::WrongJson, type ? *type : family, "model_type: a name or a list of names expected");
  const JsonValue *known = family.find("architectures");
  if (!known || !known->isObject() || known->members.empty())
    error(Error::WrongJson, known ? *known : family, "architectures: an object expected, class → constants");
  else
    for (const JsonMember &m : known->members)
      expect(m.value, Kind::Object, "an object of constants");
  if (const JsonValue *require = family.find("require"))
    if (expect(*require, Kind::Object, "an object"))
      checkExpressions(*require);
  if (const JsonValue *null = family.find("null"))
    if (expect(*null, Kind::Object, "an object: key → what its null means"))
      checkExpressions(*null);
  if (const JsonValue *meaning = family.find("meaning"))
    if (expect(*meaning, Kind::Array, "a list of keys"))
      for (const JsonValue &key : meaning->items)
        expect(key, Kind::String, "a key");
  if (const JsonValue *partial = family.find("partial"))
    if (expect(*partial, Kind::Object, "an object: class → what of it is left out"))
      for (const JsonMember &m : partial->members)
        if (expect(m.value, Kind::String, "a text") && known && !known->find(m.key))
          errorAtKey(Error::WrongJson, *partial, m, "a class of architectures expected");
  if (const JsonValue *ignored = family.find("ignored"))
    if (expect(*ignored, Kind::Object, "an object: reason → patterns"))
      for (const JsonMember &m : ignored->members)
        if (expect(m.value, Kind::Array, "a list of patterns"))
          for (const JsonValue &p : m.value.items)
            expect(p, Kind::String, "a pattern");
}

/// `weights` as an object: the file, a prefix, and how names are translated (language.md section 7).
void DescriptionReader::readWeights(const JsonValue &weights) {
  knownKeys(weights, {"file", "prefix", "names", "tied", "renamed", "own", "ignored", "optional"});
  if (const JsonValue *own = weights.find("own"))
    checkExpressions(*own);
  for (StringRef key : {"file", "prefix"})
    if (const JsonValue *v = weights.find(key))
      expect(*v, Kind::String, "a string");
  for (StringRef key : {"names", "tied", "renamed"})
    if (const JsonValue *v = weights.find(key))
      if (expect(*v, Kind::Object, "an object"))
        for (const JsonMember &m : v->members)
          if (expect(m.value, Kind::String, "a string"))
            checkExpressions(m.value);
  if (const JsonValue *renamed = weights.find("renamed"))
    for (const JsonMember &m : renamed->members)
      if (size_t stars = StringRef(m.key).count('*'); stars > 1 || stars != StringRef(m.value.string).count('*'))
        errorAtKey(Error::WrongJson, *renamed, m, "at most one * expected, and on both sides");
  if (const JsonValue *tied = weights.find("tied"))
    for (const JsonMember &m : tied->members)
      if (StringRef(m.key).find_first_of("*{}") != StringRef::npos)
        errorAtKey(Error::WrongJson, *tied, m, "a whole name expected, without * or {}");
  if (const JsonValue *optional = weights.find("optional"))
    if (expect(*optional, Kind::Object, "an object: output → patterns"))
      for (const JsonMember &m : optional->members)
        if (expect(m.value, Kind::Array, "a list of patterns"))
          for (const JsonValue &p : m.value.items)
            expect(p, Kind::String, "a pattern");
  if (const JsonValue *ignored = weights.find("ignored"))
    if (expect(*ignored, Kind::Object, "an object: reason → patterns"))
      for (const JsonMember &m : ignored->members)
        if (expect(m.value, Kind::Array, "a list of patterns"))
          for (const JsonValue &p : m.value.items)
            if (expect(p, Kind::String, "a pattern"))
              checkExpressions(p);
}

/// `inputs`: each a type, or an object with a type and perhaps a default, a count of copies and a condition.
void DescriptionReader::readInputs(const JsonValue &inputs) {
  for (const JsonMember &m : inputs.members) {
    InputSpec in;
    in.name = m.key;
    in.loc = m.keyLoc;
    in.json = &m.value;
    if (!isIdentifier(m.key))
      errorAtKey(Error::NotAName, inputs, m, quote(m.key) + " is no name: " + kIdentifierExpected);
    if (m.value.isString()) {
      in.type = &m.value;
    } else if (m.value.isObject()) {
      knownKeys(m.value, {"type", "default", "repeat", "if", "about"});
      in.type = m.value.find("type");
      in.fallback = m.value.find("default");
      in.repeat = m.value.find("repeat");
      in.condition = m.value.find("if");
      if (!in.type || !in.type->isString()) {
        error(Error::MissingKey, in.type ? *in.type : m.value, "a type expected, such as \"i64[B,T]\"");
        in.type = nullptr;
      }
      if (in.fallback && in.fallback->isObject()) {
        in.fallbackCall = readCall(*in.fallback);
      } else if (in.fallback) {
        if (in.fallback->isString() && !in.fallback->isExpression())
          error(Error::WrongJson, *in.fallback, "an expression begins with '=', found " + quote(in.fallback->string));
        checkExpressions(*in.fallback);
      }
      for (const JsonValue *v : {in.repeat, in.condition})
        if (v)
          checkExpressions(*v);
    } else {
      error(Error::WrongJson, m.value, "a type or an object expected, found " + Twine(describe(m.value.kind)));
    }
    if (in.type)
      checkExpressions(*in.type);
    doc.inputs.push_back(std::move(in));
  }
}

void DescriptionReader::readOutputs(const JsonValue &outputs) {
  if (!expect(outputs, Kind::Array, "a list of names"))
    return;
  if (outputs.items.empty())
    error(Error::NoOutput, outputs, "a model hands out at least one value");
  for (const JsonValue &o : outputs.items)
    expect(o, Kind::String, "a name");
  doc.outputs = &outputs;
}

/// `generate`: the roles of inputs and outputs when a text is continued.
void DescriptionReader::readGenerate(const JsonValue &generate) {
  knownKeys(generate,
            {"tokens", "logits", "mask", "positions", "extend", "source", "start", "eos", "pad", "context", "if"});
  for (StringRef key : {"tokens", "logits"})
    if (!generate.find(key))
      error(Error::MissingKey, generate, "needs the role " + quote(key));
  for (StringRef key : {"tokens", "logits", "mask", "positions", "source"})
    if (const JsonValue *v = generate.find(key))
      expect(*v, Kind::String, "the name of an input or output");
  if (const JsonValue *extend = generate.find("extend"))
    expect(*extend, Kind::Object, "an object: input → constant");
  checkExpressions(generate);
}

std::unique_ptr<Description> heddle::readDescription(std::string name, std::string text, const FamilyLibrary &families,
                                                     Expressions &expressions, DiagnosticSink &sink) {
  auto doc = std::make_unique<Description>();
  DescriptionReader reader(*doc, families, expressions, sink);
  if (!reader.load(std::move(name), std::move(text)))
    return nullptr;
  reader.readTop();
  return doc;
}
