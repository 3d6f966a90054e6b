// Constants of a description, and for a family the checks of config.json: `require`, `architectures`, and that every
// key is either read by some expression of the family file or known to be of no concern.
#include "compiler/Import/Evaluate/ConfigReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using K = Value::Kind;

/// One entry of the family's `require`: `allowed` is an expression that must be true, a value, or a list of values (an
/// empty one: the key must be absent). Absence of the key is always allowed unless an expression says otherwise.
void ConfigReader::checkRequire(StringRef key, const JsonValue &allowed) {
  auto [m, name] = file->member(key);
  const JsonValue *found = m ? &m->value : nullptr;
  Loc loc = m ? m->value.loc : file->json.loc;
  std::string path = "config.json." + name;
  if (allowed.isExpression()) {
    Value v = evaluator.evaluate(evaluator.expressions.ofValue(allowed), evaluator.configScope, &allowed);
    if (v.is(K::Poison))
      return;
    if (!v.is(K::Bool) || !v.asBool())
      refusedKeys.insert(key.split('.').first.str());
    if (!v.is(K::Bool) || !v.asBool())
      sink.error(Error::ConfigUnsupported, loc, path,
                 escaped(StringRef(allowed.string).drop_front()) + " is what this family file implements, found " +
                     (found ? found->text() + file->orIgnore(name) : "null"))
          .note(allowed.loc, "required here");
    return;
  }
  if (!found || found->isNull()) {
    // Absence means the published default, which is among the values.
    if (const JsonMember *null = file->nullMember(key))
      checkNull(key, allowed, *null);
    return;
  }
  bool good = allowed.isArray() ? llvm::any_of(allowed.items, [&](const JsonValue &a) { return equalJson(a, *found); })
                                : equalJson(allowed, *found);
  if (!good)
    refusedKeys.insert(key.split('.').first.str());
  if (!good)
    sink.error(Error::ConfigUnsupported, loc, path,
               (allowed.isArray() && allowed.items.empty() ? std::string("must be absent")
                                                           : "only " + allowed.text() + " is supported") +
                   ", found " + found->text() + file->orIgnore(name))
        .note(allowed.loc, "required here");
}

/// A required key that is null: None to a published class, false where the class asks for a switch.
void ConfigReader::checkNull(StringRef key, const JsonValue &allowed, const JsonMember &null) {
  auto fits = [&](const JsonValue &a) { return a.isNull() || (a.kind == JsonValue::Kind::Bool && !a.boolean); };
  if (allowed.isArray() ? allowed.items.empty() || llvm::any_of(allowed.items, fits) : fits(allowed))
    return;
  if (const JsonValue *meaning = file->meaningOfNull(key)) {
    auto same = [&](const JsonValue &a) { return equalJson(a, *meaning); };
    if ((meaning->isArray() && meaning->items.empty()) ||
        (allowed.isArray() ? llvm::any_of(allowed.items, same) : same(allowed)))
      return;
  }
  refusedKeys.insert(key.split('.').first.str());
  sink.error(Error::ConfigUnsupported, null.value.loc, ("config.json." + key).str(),
             "only " + allowed.text() + " is supported, found null" + file->orIgnore(key))
      .note(allowed.loc, "required here");
}

/// An entry of the family's `null` speaks of a key that the family reads.
void ConfigReader::checkNulls(const std::set<std::string> &used) {
  if (!file->familyNulls)
    return;
  for (const JsonMember &m : file->familyNulls->members)
    if (llvm::none_of(used, [&](const std::string &u) { return u == m.key || StringRef(u).starts_with(m.key + "."); }))
      sink.error(Error::NoEffect, m.keyLoc, "$.family.null." + m.key, "the family does not read this key");
}

/// Whether a pattern of the family's `ignored` names the key, under any of its spellings.
bool ConfigReader::isIgnored(const std::string &full, const std::vector<std::string> &ignored) const {
  std::vector<std::string> names = file->spellingsOf(full);
  names.push_back(full);
  return llvm::any_of(names,
                      [&](auto &name) { return llvm::any_of(ignored, [&](auto &p) { return globMatch(name, p); }); });
}

/// Reports each key that is neither `used` nor matches a pattern of `ignored` (the family's, of whole chains "a.b") or
/// of `shared` (those of all families, of the last word). Goes into an object if only some of its members are used.
void ConfigReader::checkKeys(const JsonValue &object, const std::string &prefix, const std::set<std::string> &used,
                             const std::vector<std::string> &ignored, const std::vector<std::string> &shared) {
  auto leadsInto = [](const std::string &name, const std::string &full) {
    return StringRef(name).starts_with(full + ".");
  };
  auto leadsIntoSpelling = [&](const std::string &name, const std::string &full) {
    return llvm::any_of(file->spellingsOf(full), [&](const std::string &other) { return leadsInto(name, other); });
  };
  for (const JsonMember &m : object.members) {
    std::string full = prefix + m.key;
    bool inside = llvm::any_of(used, [&](auto &u) { return leadsInto(u, full); });
    if (m.value.isNull() || used.count(full) || // null says no more than absence
        isIgnored(full, ignored) || llvm::any_of(shared, [&](auto &p) { return globMatch(m.key, p); }))
      continue;
    inside |= llvm::any_of(ignored, [&](auto &u) { return leadsInto(u, full) || leadsIntoSpelling(u, full); });
    if (m.value.isObject() && inside) {
      checkKeys(m.value, full + ".", used, ignored, shared);
      continue;
    }
    const JsonValue *advice = file->listOf("refused");
    if (const JsonValue *text = advice ? advice->find(full) : nullptr) {
      sink.error(Error::ConfigUnsupported, m.keyLoc, "config.json." + full, text->string + file->orIgnore(full));
      continue;
    }
    sink.error(Error::ConfigUnsupported, m.keyLoc, "config.json." + full,
               "this key is neither used nor on the ignore list of family " +
                   (doc.family->find("model_type") ? doc.family->find("model_type")->text() : "") +
                   nearest(full, std::vector<std::string>(used.begin(), used.end())) + file->orIgnore(full));
  }
}

/// Collects the patterns of an object reason → patterns.
static void addPatterns(const JsonValue *reasons, std::vector<std::string> &out) {
  if (reasons)
    for (const JsonMember &reason : reasons->members)
      for (const JsonValue &p : reason.value.items)
        if (p.isString())
          out.push_back(p.string);
}

/// The class whose output are hidden states: the encoder alone, else the one without a head; `named` where it is one of
/// these, or where the family has none. That of the library which vectors are made with, whatever class a checkpoint
/// names.
static const JsonMember *withoutHead(const JsonValue &known, const JsonMember *named) {
  auto headOf = [](const JsonMember &m) {
    const JsonValue *head = m.value.find("head");
    return head && head->isString() ? StringRef(head->string) : StringRef();
  };
  for (StringRef head : {"encoder", "none"}) {
    if (named && headOf(*named) == head)
      return named;
    for (const JsonMember &m : known.members)
      if (headOf(m) == head)
        return &m;
  }
  return named;
}

/// Finds the family's entry for the first class in `architectures` (without one: the family's first entry) and binds
/// the constants that it sets, such as which head there is.
void ConfigReader::readArchitecture() {
  const JsonValue *known = doc.family->find("architectures");
  // Which class, and what it sets.
  const JsonValue *classes = file->json.find("architectures");
  const JsonMember *fits = nullptr;
  if (known && known->isObject() && !known->members.empty()) {
    const JsonValue *first = classes && classes->isArray() && !classes->items.empty() ? &classes->items[0] : nullptr;
    if (!first || !first->isString()) {
      fits = &known->members.front();
    } else {
      std::vector<std::string> names;
      for (const JsonMember &m : known->members) {
        names.push_back(m.key);
        if (!fits && globMatch(first->string, m.key))
          fits = &m;
      }
      if (!fits)
        sink.error(Error::ConfigUnsupported, first->loc, "config.json.architectures",
                   quote(first->string) + " is not one of " + escaped(llvm::join(names, ", ")) +
                       nearest(first->string, names) + "; --ignore-config architectures takes " +
                       escaped(names.front()));
    }
  }
  if (bodyAlone && known && known->isObject())
    fits = withoutHead(*known, fits);
  const JsonValue *partial = fits ? doc.family->find("partial") : nullptr;
  if (const JsonValue *what = partial ? partial->find(fits->key) : nullptr; what && what->isString() && classes)
    sink.say(Diagnostic::Kind::Remark, classes->loc, "config.json.architectures",
             "part of " + fits->key + " is left out: " + what->string);
  if (fits)
    for (const JsonMember &m : fits->value.members)
      constants.bind(m.key, evaluator.literal(m.value));
  else if (known) // the constants exist all the same
    for (const JsonMember &a : known->members)
      for (const JsonMember &m : a.value.members)
        constants.bind(m.key, Value::poison());
}

/// All checks of config.json against the family file. A key is used if a constant or `require` mentions it, under any
/// of its spellings.
void ConfigReader::readFamily() {
  file->readTable(sink);
  file->familyNulls = doc.family->find("null");
  const JsonValue *require = doc.family->find("require");

  // What the expressions of the file mention.
  std::set<std::string> used = {"architectures", "model_type"};
  auto mention = [&](const JsonValue &v) {
    if (v.isExpression())
      namesIn(evaluator.expressions.ofValue(v), [&](StringRef n, Loc) { used.insert(n.str()); });
  };
  if (doc.config)
    for (const JsonMember &m : doc.config->members)
      mention(m.value);
  if (require)
    for (const JsonMember &m : require->members) {
      used.insert(m.key);
      mention(m.value);
    }
  for (const std::string &key : std::set<std::string>(used))
    for (const std::string &other : file->spellingsOf(key))
      used.insert(other);
  if (const JsonValue *meaning = doc.family->find("meaning"))
    for (const JsonValue &key : meaning->items)
      file->known.insert(key.string);
  file->known.insert(used.begin(), used.end());
  file->known.erase("architectures");
  file->checkIgnored(force, sink);

  readArchitecture();
  if (require)
    for (const JsonMember &m : require->members)
      checkRequire(m.key, m.value);
  checkNulls(used);
  std::vector<std::string> ignored, shared = {"model_type"};
  addPatterns(doc.family->find("ignored"), ignored);
  addPatterns(file->listOf("ignored"), shared);
  file->checkSpellings(used, ignored, sink);
  checkKeys(file->json, "", used, ignored, shared);
}

/// The values of --set: JSON if it parses, else the text itself.
std::map<std::string, Value> ConfigReader::readSets(const std::vector<std::pair<std::string, std::string>> &sets) {
  std::map<std::string, Value> out;
  for (auto &[name, text] : sets) {
    // A value that is no JSON is itself: --set kind=bool.
    DiagnosticSink quiet;
    std::optional<JsonValue> parsed = parseJson(sink.addFile("--set " + name, text), quiet);
    out[name] = parsed ? evaluator.literal(*parsed) : Value::string(text);
  }
  return out;
}

/// The value of one member of `config`; for a family its expression looks names up in config.json.
Value ConfigReader::constant(const JsonMember &m) {
  if (!m.value.isExpression())
    return evaluator.literal(m.value);
  const Expr *e = evaluator.expressions.ofValue(m.value);
  // What depends on a value that is refused would only be refused once more.
  bool refused = false;
  if (!refusedKeys.empty())
    namesIn(e, [&](StringRef n, Loc) { refused |= refusedKeys.count(n.split('.').first.str()) > 0; });
  if (refused)
    return Value::poison();
  Value v = evaluator.evaluate(e, evaluator.configScope, &m.value);
  if (!v.is(K::Absent) || !file)
    return evaluator.caught(v, {m.value.loc, &m.value});
  sink.error(Error::ConfigValue, file->json.loc, "config.json",
             "config.json has no key " + quote(v.asString()) + " and there is no default (write ?? DEFAULT)")
      .note(m.value.loc, "the constant " + quote(m.key) + " needs it");
  return Value::poison();
}

/// Binds constants in order, so that each may use those before it; --set replaces a constant before it is evaluated.
void ConfigReader::run(const std::vector<std::pair<std::string, std::string>> &given) {
  std::map<std::string, Value> sets = readSets(given);
  if (file)
    readFamily();
  for (auto &[name, v] : sets)
    if (const Value *known = constants.find(name); known && !known->isBad())
      constants.bind(name, v);

  std::vector<std::string> known = constants.names();
  if (doc.config)
    for (const JsonMember &m : doc.config->members) {
      known.push_back(m.key);
      auto it = sets.find(m.key);
      constants.bind(m.key, it != sets.end() ? it->second : constant(m));
    }
  for (auto &[name, v] : sets)
    if (!llvm::is_contained(known, name))
      sink.errorInFile(Error::NothingNamed, "--set", "", "no constant " + quote(name) + nearest(name, known));
}
