// Look-ups in config.json by any of a key's spellings, the table of spellings (config_keys.json), two spellings that
// disagree, and --ignore-config, which takes keys away.
#include "compiler/Import/Evaluate/ConfigFile.h"
#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Description/Library.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

/// The member at "a.b.c", or null.
static const JsonMember *memberAt(const JsonValue &root, StringRef chain) {
  const JsonValue *v = &root;
  const JsonMember *m = nullptr;
  while (!chain.empty() && v && v->isObject()) {
    auto [first, rest] = chain.split('.');
    m = v->findMember(first);
    v = m ? &m->value : nullptr;
    chain = rest;
  }
  return chain.empty() ? m : nullptr;
}

void ConfigFile::readTable(DiagnosticSink &sink) {
  SourceFile &file = sink.addFile("config_keys.json", configKeyTable().str());
  file.isLibrary = true;
  std::optional<JsonValue> read = parseJson(file, sink);
  if (!read)
    return;
  table = std::make_unique<JsonValue>(std::move(*read));
  table->link();
  if (const JsonValue *groups = table->find("spellings"))
    for (const JsonValue &group : groups->items) {
      std::vector<std::string> names;
      for (const JsonValue &name : group.items)
        names.push_back(name.string);
      spellings.push_back(std::move(names));
    }
}

/// The other names of a key. A group may hold the name itself or what is before one of
/// its dots: where rope_scaling may be called rope_parameters, so may its members.
std::vector<std::string> ConfigFile::spellingsOf(StringRef chain) const {
  std::vector<std::string> out;
  for (const std::vector<std::string> &group : spellings)
    for (const std::string &name : group)
      if (chain == name || chain.starts_with(name + "."))
        for (const std::string &other : group)
          if (other != name)
            out.push_back(other + chain.drop_front(name.size()).str());
  return out;
}

/// The key's own spelling wins if it is not null, then the others in the order of the table.
std::pair<const JsonMember *, std::string> ConfigFile::member(StringRef chain) const {
  const JsonMember *own = memberAt(json, chain);
  if (own && !own->value.isNull())
    return {own, chain.str()};
  for (const std::string &other : spellingsOf(chain))
    if (const JsonMember *m = memberAt(json, other); m && !m->value.isNull())
      return {m, other};
  return {own, chain.str()};
}

const JsonValue *ConfigFile::find(StringRef chain) const {
  const JsonMember *m = member(chain).first;
  return m ? &m->value : nullptr;
}

/// Whether one of two chains is the other, or leads into it.
static bool onOneWay(StringRef a, StringRef b) {
  return a == b || a.starts_with((b + ".").str()) || b.starts_with((a + ".").str());
}

/// Null says nothing, what is left under another spelling counts, and what every file of the library dumps is judged by
/// a separate list.
bool ConfigFile::carriesMeaning(StringRef chain) const {
  auto in = [&](const char *list, StringRef word) {
    const JsonValue *found = listOf(list);
    return found && llvm::any_of(found->items, [&](const JsonValue &p) { return globMatch(word, p.string); });
  };
  StringRef last = chain.rsplit('.').second.empty() ? chain : chain.rsplit('.').second;
  if (in("meaning", last))
    return true;
  if (const JsonValue *shared = listOf("ignored"))
    for (const JsonMember &reason : shared->members)
      for (const JsonValue &p : reason.value.items)
        if (globMatch(last, p.string))
          return false;
  return llvm::any_of(known, [&](const std::string &k) { return onOneWay(chain, k); });
}

std::string ConfigFile::orIgnore(StringRef key) const {
  const JsonMember *m = memberAt(json, key);
  bool means = m && !m->value.isNull() && carriesMeaning(key);
  return "; --ignore-config " + escaped(key) + (means ? " --force" : "") + " reads the file as if it were not there" +
         (means ? ", and what the model computes may then be wrong" : "");
}

void ConfigFile::checkIgnored(bool force, DiagnosticSink &sink) const {
  for (const JsonMember &m : taken) {
    const JsonValue *left = find(m.key);
    if (force || m.value.isNull() || (left && !left->isNull()) || !carriesMeaning(m.key))
      continue;
    sink.error(Error::ConfigUnsupported, m.value.loc, "config.json." + m.key,
               quote(m.key) +
                   " means something to this family: without it the model may compute other numbers in silence; "
                   "--ignore-config " +
                   escaped(m.key) + " --force does it all the same");
  }
}

const JsonMember *ConfigFile::nullMember(StringRef chain) const {
  const JsonMember *m = member(chain).first;
  if (m)
    return m->value.isNull() ? m : nullptr;
  for (const std::string &other : spellingsOf(chain))
    if (const JsonMember *null = memberAt(json, other))
      return null;
  return nullptr;
}

const JsonValue *ConfigFile::meaningOfNull(StringRef chain) const {
  if (familyNulls) {
    if (const JsonValue *v = familyNulls->find(chain))
      return v;
    for (const std::string &other : spellingsOf(chain))
      if (const JsonValue *v = familyNulls->find(other))
        return v;
  }
  const JsonValue *shared = listOf("null");
  const JsonValue *whole = shared ? shared->find(chain) : nullptr;
  return whole || !shared ? whole : shared->find(chain.rsplit('.').second.empty() ? chain : chain.rsplit('.').second);
}

/// Compares the value of each used key with those under its other spellings; objects and ignored keys are left out.
void ConfigFile::checkSpellings(const std::set<std::string> &used, const std::vector<std::string> &ignored,
                                DiagnosticSink &sink) const {
  std::set<std::string> complained;
  for (const std::string &key : used) {
    auto [first, name] = member(key);
    if (!first || first->value.isNull())
      continue;
    for (const std::string &other : spellingsOf(name)) {
      const JsonMember *second = memberAt(json, other);
      if (!second || second->value.isNull() || equalJson(first->value, second->value) || first->value.isObject() ||
          second->value.isObject() ||
          llvm::any_of(ignored, [&, &name = name](auto &p) { return globMatch(other, p) || globMatch(name, p); }) ||
          !complained.insert(std::min(name, other) + " " + std::max(name, other)).second)
        continue;
      sink.error(Error::ConfigTwice, second->value.loc, "config.json." + other,
                 "another spelling of " + quote(name) + ", which is " + first->value.text() + ", and this is " +
                     second->value.text() + "; --ignore-config " + escaped(other) + " or --ignore-config " +
                     escaped(name) + " chooses")
          .note(first->value.loc, quote(name) + " is here");
    }
  }
}

void ConfigFile::ignore(const std::vector<std::string> &keys, DiagnosticSink &sink) {
  for (StringRef flag : keys) {
    // FILE:KEY of another file is the driver's.
    if (flag.contains(':') && !flag.consume_front("config.json:") && !flag.consume_front("config:"))
      continue;
    std::string key = flag.str();
    auto [parents, last] = StringRef(key).rsplit('.');
    if (last.empty())
      std::swap(parents, last);
    const JsonMember *inside = parents.empty() ? nullptr : memberAt(json, parents);
    JsonValue *object = parents.empty() ? &json : inside ? const_cast<JsonValue *>(&inside->value) : nullptr;
    auto named = [&last = last](const JsonMember &m) { return m.key == last; };
    if (key == "tie_word_embeddings") { // as if nothing were tied, whatever the class's default
      llvm::erase_if(json.members, named);
      JsonMember untied{key, json.loc, {}};
      untied.value.kind = JsonValue::Kind::Bool;
      untied.value.loc = json.loc;
      json.members.push_back(std::move(untied));
      continue;
    }
    if (!object || llvm::none_of(object->members, named)) {
      std::vector<std::string> known;
      for (const JsonMember &m : (object ? *object : json).members)
        known.push_back(m.key);
      sink.errorInFile(Error::NothingNamed, "--ignore-config", "",
                       "config.json has no key " + quote(key) + nearest(last, known));
      continue;
    }
    JsonMember copy = *llvm::find_if(object->members, named);
    copy.key = key;
    taken.push_back(std::move(copy));
    llvm::erase_if(object->members, named);
  }
}
