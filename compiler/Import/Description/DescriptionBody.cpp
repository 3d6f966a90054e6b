// Reads statements, calls and blocks from JSON and checks their form: which keys there are, of which kind, spelled how.
// Nothing is evaluated. A call is an object with exactly one key that names an op or a block; its other keys are
// attributes, which is unambiguous because no op is named like an attribute.
#include "compiler/Import/Description/DescriptionReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;
using Kind = JsonValue::Kind;

//===--- the description as others see it -------------------------------------===//

const BlockSpec *Description::block(StringRef name) const {
  auto it = blocks.find(std::string_view(name));
  return it == blocks.end() ? nullptr : &it->second;
}

std::vector<std::string> Description::callable() const {
  std::vector<std::string> out;
  for (const OpInfo &op : allOps())
    out.push_back(op.name.str());
  for (auto &b : blocks)
    if (isIdentifier(b.first)) // else it is hidden
      out.push_back(b.first);
  return out;
}

const AttrSpec *CallSpec::attribute(StringRef wanted) const {
  for (const AttrSpec &a : attributes)
    if (a.name == wanted)
      return &a;
  return nullptr;
}

const BlockParameter *BlockSpec::parameter(StringRef wanted) const {
  for (const BlockParameter &p : parameters)
    if (p.name == wanted)
      return &p;
  return nullptr;
}

void heddle::forEachStatement(const std::vector<Statement> &body, llvm::function_ref<void(const Statement &)> visit) {
  for (const Statement &s : body) {
    visit(s);
    forEachStatement(s.body, visit);
    forEachStatement(s.otherwise, visit);
  }
}

void heddle::wordsIn(StringRef text, llvm::function_ref<void(StringRef)> found) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '_'))
      ++end;
    if (end > i)
      found(text.slice(i, end));
    i = end + 1;
  }
}

std::vector<NameSpec> heddle::splitNames(const std::string &text, Loc loc) {
  std::vector<NameSpec> out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      depth += (text[i] == '{') - (text[i] == '}');
      if (text[i] != ',' || depth > 0)
        continue;
    }
    StringRef piece = StringRef(text).slice(begin, i);
    size_t start = begin + (piece.size() - piece.ltrim().size());
    out.push_back({piece.trim().str(), insideString(loc, start), &text, start, loc});
    begin = i + 1;
  }
  return out;
}

std::string heddle::starred(StringRef name) {
  std::string out;
  size_t at = 0;
  for (auto [begin, end] : bracesIn(name)) {
    out += name.slice(at, begin - 1).str() + "*";
    at = end + 1;
  }
  return out + name.drop_front(at).str();
}

bool heddle::globMatch(StringRef text, StringRef pattern) {
  size_t t = 0, p = 0, star = StringRef::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != StringRef::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

bool heddle::matches(StringRef a, StringRef b) { return a == b || globMatch(a, b) || globMatch(b, a); }

//===--- expressions anywhere -------------------------------------------------===//

/// Parses each {expression} in a name, and reports a brace without its partner.
void DescriptionReader::checkBraces(const std::string &text, Loc loc, const JsonValue &context) {
  StringRef rest = text;
  for (size_t at = rest.find_first_of("{}"); at != StringRef::npos;) {
    size_t end = rest[at] == '{' ? rest.find_first_of("{}", at + 1) : StringRef::npos;
    if (end == StringRef::npos || rest[end] != '}') {
      sink.error(Error::BadExpression, insideString(loc, at), context.path(), "this brace has no partner");
      tear(context);
      return;
    }
    expressions.ofPart(text, loc, at + 1, end, &context);
    at = rest.find_first_of("{}", end + 1);
  }
}

void DescriptionReader::checkExpressions(const JsonValue &value) {
  if (value.isExpression())
    expressions.ofValue(value);
  else if (value.isString())
    checkBraces(value.string, value.loc, value);
  for (const JsonValue &v : value.items)
    checkExpressions(v);
  for (const JsonMember &m : value.members)
    if (m.key != "about")
      checkExpressions(m.value);
}

//===--- blocks ---------------------------------------------------------------===//

/// Declares blocks with their names, operands and parameters, before any body is read: a call is checked against these,
/// wherever the block is in the file. The file's own blocks are declared first and hide the library's.
void DescriptionReader::declareBlocks(const JsonValue &blocks, bool isLibrary) {
  for (const JsonMember &m : blocks.members) {
    if (!isIdentifier(m.key)) {
      errorAtKey(Error::NotAName, blocks, m, quote(m.key) + " is no name: " + kIdentifierExpected);
      continue;
    }
    // One of the file's own hides the library's, except from the library.
    std::string name = isLibrary && doc.block(m.key) ? hidden(m.key) : m.key;
    auto [it, isNew] = doc.blocks.try_emplace(name);
    if (!isNew)
      continue;
    it->second.name = name;
    it->second.loc = m.keyLoc;
    it->second.json = &m.value;
    it->second.isLibrary = isLibrary;
    // Parameters are needed by calls that are read before the block's own body.
    if (!expect(m.value, Kind::Object, "an object"))
      continue;
    if (const JsonValue *attributes = m.value.find("attributes");
        attributes && expect(*attributes, Kind::Object, "an object"))
      for (const JsonMember &a : attributes->members) {
        BlockParameter p{a.key, &a.value, a.value.isNull(), {}};
        if (a.value.isObject()) {
          const JsonValue *of = a.value.find("one_of");
          if (!of || !of->isArray() || of->items.empty() || a.value.members.size() != 1)
            error(Error::WrongJson, a.value, "a default or {\"one_of\": [...]} expected");
          else
            for (const JsonValue &v : of->items)
              p.oneOf.push_back(&v);
        }
        it->second.parameters.push_back(std::move(p));
      }
    if (const JsonValue *operands = m.value.find("operands");
        operands && expect(*operands, Kind::Array, "a list of names"))
      for (const JsonValue &o : operands->items)
        if (expect(o, Kind::String, "a name"))
          it->second.operands.push_back(o.string);
  }
}

/// Reads the body and the results of a block that is declared.
void DescriptionReader::readBlock(BlockSpec &block) {
  const JsonValue &json = *block.json;
  if (!json.isObject())
    return;
  llvm::SaveAndRestore here(inside, static_cast<const BlockSpec *>(&block));
  knownKeys(json, {"about", "operands", "attributes", "body", "result"});
  for (StringRef key : {"operands", "body", "result"})
    if (!json.find(key))
      sink.error(Error::MissingKey, block.loc, json.path(), "needs the key " + quote(key));
  if (const JsonValue *attributes = json.find("attributes"))
    checkExpressions(*attributes);
  if (const JsonValue *body = json.find("body"))
    if (expect(*body, Kind::Array, "a list of statements"))
      block.body = readBody(*body);
  if (const JsonValue *result = json.find("result"))
    if (expect(*result, Kind::String, "one name or several"))
      for (NameSpec &n : splitNames(result->string, result->loc))
        block.results.push_back(n.text);
}

/// What a call of the name means: a block of the file before an op and before the library's block; in the blocks of the
/// library what the library means, in the block of an op's name the op.
std::pair<const OpInfo *, const BlockSpec *> DescriptionReader::called(StringRef name) const {
  const OpInfo *op = findOp(name);
  const BlockSpec *block = inside && inside->isLibrary ? doc.block(hidden(name)) : nullptr;
  if (!block)
    block = doc.block(name);
  bool meansOp = op && (!block || (inside && (inside == block || inside->isLibrary)));
  return {meansOp ? op : nullptr, meansOp ? nullptr : block};
}

/// Checks an object of `defaults`: known ops and blocks, and attributes that they have.
void DescriptionReader::checkDefaults(const JsonValue &defaults) {
  for (const JsonMember &m : defaults.members) {
    auto [op, block] = called(m.key);
    if (!op && !block) {
      errorAtKey(Error::UnknownName, defaults, m, "no op or block " + quote(m.key) + nearest(m.key, doc.callable()));
      continue;
    }
    if (!expect(m.value, Kind::Object, "an object: attribute → value"))
      continue;
    std::vector<StringRef> known;
    if (op)
      for (const AttrInfo &a : op->attributes)
        known.push_back(a.name);
    else
      for (const BlockParameter &p : block->parameters)
        known.push_back(p.name);
    for (const JsonMember &a : m.value.members)
      if (!llvm::is_contained(known, a.key))
        errorAtKey(Error::UnknownAttribute, m.value, a,
                   quote(m.key) + " has no attribute " + quote(a.key) + nearest(a.key, known));
      else
        checkExpressions(a.value);
  }
}

//===--- statements -----------------------------------------------------------===//

std::vector<Statement> DescriptionReader::readBody(const JsonValue &list) {
  std::vector<Statement> out;
  for (const JsonValue &s : list.items)
    if (expect(s, Kind::Object, "a statement"))
      out.push_back(readStatement(s));
  return out;
}

Statement DescriptionReader::readStatement(const JsonValue &s) {
  Statement out;
  out.json = &s;
  out.condition = s.find("if");
  if (out.condition)
    checkExpressions(*out.condition);
  if (const JsonValue *about = s.find("about"))
    expect(*about, Kind::String, "a string");
  if (s.find("body") || s.find("repeat"))
    readGroup(s, out);
  else
    readBinding(s, out);
  return out;
}

/// A repeat (with the key `repeat`) or a group (without).
void DescriptionReader::readGroup(const JsonValue &s, Statement &out) {
  out.count = s.find("repeat");
  out.kind = out.count ? Statement::Kind::Repeat : Statement::Kind::Group;
  if (out.count)
    knownKeys(s, {"repeat", "index", "weights", "defaults", "body", "if", "about"});
  else
    knownKeys(s, {"if", "weights", "defaults", "body", "else", "about"});
  if (out.count)
    checkExpressions(*out.count);
  if (const JsonValue *index = s.find("index"))
    if (expect(*index, Kind::String, "a name")) {
      if (!isIdentifier(index->string))
        error(Error::NotAName, *index, "the name of an index expected, found " + quote(index->string));
      out.index = index->string;
    }
  if ((out.weights = s.find("weights"))) {
    if (!expect(*out.weights, Kind::String, "a scope of weights"))
      out.weights = nullptr;
    else
      checkBraces(out.weights->string, out.weights->loc, *out.weights);
  }
  if ((out.defaults = s.find("defaults"))) {
    if (!expect(*out.defaults, Kind::Object, "an object: op or block → attributes"))
      out.defaults = nullptr;
    else
      checkDefaults(*out.defaults);
  }
  if (const JsonValue *body = s.find("body")) {
    if (expect(*body, Kind::Array, "a list of statements"))
      out.body = readBody(*body);
  } else {
    error(Error::MissingKey, s, "a repeat needs a body");
  }
  if (const JsonValue *otherwise = s.find("else"); otherwise && !out.count) {
    if (!out.condition)
      error(Error::Misplaced, *otherwise, "else without if");
    if (expect(*otherwise, Kind::Array, "a list of statements"))
      out.otherwise = readBody(*otherwise);
  }
}

/// A statement with one key next to `if` and `about`: the names, and as its value a call or an expression.
void DescriptionReader::readBinding(const JsonValue &s, Statement &out) {
  std::vector<const JsonMember *> bound;
  for (const JsonMember &m : s.members)
    if (m.key != "if" && m.key != "about")
      bound.push_back(&m);
  if (bound.size() != 1) {
    std::string found;
    for (const JsonMember *m : bound)
      found += (found.empty() ? "" : ", ") + quote(m->key);
    error(Error::WrongJson, s,
          "a statement binds one name or one list of names, found " + Twine(found.empty() ? "none" : found));
    // Whatever it was to be, its names are not missing elsewhere.
    for (const JsonMember *m : bound)
      for (NameSpec &n : splitNames(m->key, m->keyLoc))
        out.names.push_back(std::move(n));
    return;
  }
  const JsonMember &m = *bound[0];
  out.names = splitNames(m.key, m.keyLoc);
  checkNames(out.names, m.value);
  if (m.value.isExpression()) {
    out.expression = &m.value;
    expressions.ofValue(m.value);
  } else if (m.value.isString()) {
    error(Error::WrongJson, m.value, "an expression begins with '=', found " + quote(m.value.string));
  } else if (m.value.isObject()) {
    out.call = readCall(m.value);
  } else {
    error(Error::WrongJson, m.value, "a call or an expression expected, found " + Twine(describe(m.value.kind)));
  }
}

void DescriptionReader::checkNames(const std::vector<NameSpec> &names, const JsonValue &context) {
  for (const NameSpec &n : names) {
    std::string plain = starred(n.text); // {expression} counts as one character
    llvm::SmallVector<StringRef, 4> parts;
    StringRef(plain).split(parts, '.');
    bool good = n.text == "_" || (!parts.empty() && isIdentifier(parts[0]));
    for (StringRef part : llvm::ArrayRef<StringRef>(parts).drop_front())
      good &= part == "*" || isIdentifier(part) || (!part.empty() && llvm::all_of(part, llvm::isDigit));
    if (!good)
      sink.error(Error::NotAName, n.loc, context.path(),
                 quote(n.text) + " is no name: an identifier expected, "
                                 "then .identifier, .number or .{expression}");
  }
  if (!names.empty())
    checkBraces(*names[0].whole, names[0].wholeLoc, context);
}

//===--- calls ----------------------------------------------------------------===//

/// Reads a call: finds the one key that names an op or a block, takes its value as the operands (a list, or one
/// operand), and the other keys as attributes, which must be known. Null where there is no such key, or more than one.
std::unique_ptr<CallSpec> DescriptionReader::readCall(const JsonValue &what) {
  auto call = std::make_unique<CallSpec>();
  call->json = &what;
  std::vector<const JsonMember *> hits;
  for (const JsonMember &m : what.members)
    if (findOp(m.key) || doc.block(m.key))
      hits.push_back(&m);
  if (hits.size() != 1) {
    std::string found, names;
    for (const JsonMember *m : hits)
      found += (found.empty() ? "" : ", ") + quote(m->key);
    for (const JsonMember &m : what.members)
      names += (names.empty() ? "" : ", ") + quote(m.key);
    if (!hits.empty()) {
      error(Error::UnknownOp, what, "exactly one op expected, found " + Twine(found));
      return nullptr;
    }
    // A key that is nearly an op is meant to be one.
    for (const JsonMember &m : what.members)
      if (std::string near = nearest(m.key, doc.callable()); !near.empty()) {
        errorAtKey(Error::UnknownOp, what, m, "exactly one op expected, found none among " + Twine(names) + near);
        return nullptr;
      }
    if (what.members.empty())
      error(Error::UnknownOp, what, "exactly one op expected, found none");
    else
      errorAtKey(Error::UnknownOp, what, what.members.front(),
                 "exactly one op expected, found none among " + Twine(names));
    return nullptr;
  }
  const JsonMember &head = *hits[0];
  call->name = head.key;
  call->loc = head.keyLoc;
  std::tie(call->op, call->block) = called(head.key);

  if (head.value.isArray())
    for (const JsonValue &v : head.value.items)
      call->operands.push_back(&v);
  else
    call->operands.push_back(&head.value);
  for (const JsonValue *v : call->operands) {
    checkExpressions(*v);
    if (v->isObject()) {
      error(Error::WrongJson, *v,
            "an operand is the name of a value or an expression; a call is a separate statement before this one, "
            "which names its result, as in {\"y\": {\"" +
                Twine(v->members.empty() ? "linear" : escaped(v->members.front().key)) +
                "\": ...}}, and here is \"y\"");
      return nullptr;
    }
  }
  size_t wanted = call->op ? call->op->operands.size() : call->block->operands.size();
  bool countFits = call->op && call->op->isVariadic ? !call->operands.empty() : call->operands.size() == wanted;
  if (!countFits) {
    std::string names;
    if (call->op)
      names = llvm::join(call->op->operands, ", ");
    else
      names = llvm::join(call->block->operands, ", ");
    sink.error(Error::WrongCount, head.value.loc, what.path(),
               quote(call->name) + " takes " + Twine(wanted) + " operands" + (names.empty() ? "" : " (" + names + ")") +
                   ", found " + Twine(call->operands.size()));
  }

  std::vector<StringRef> known;
  if (call->op)
    for (const AttrInfo &a : call->op->attributes)
      known.push_back(a.name);
  else
    for (const BlockParameter &p : call->block->parameters)
      known.push_back(p.name);
  for (const JsonMember &m : what.members) {
    if (&m == &head)
      continue;
    // Whether a block reads weights is known only when all blocks are read: Lint.
    bool isKnown = llvm::is_contained(known, m.key) || (call->block && m.key == "weights");
    if (!isKnown) {
      errorAtKey(Error::UnknownAttribute, what, m,
                 m.key == "weights" ? Twine(call->name) + " reads no weights"
                                    : Twine(call->name) + " has no attribute " + quote(m.key) + nearest(m.key, known));
      continue;
    }
    call->attributes.push_back({m.key, m.keyLoc, &m.value});
    checkAttribute(*call, call->attributes.back());
  }
  if (call->op && call->name == "linear")
    if (const AttrSpec *groups = call->attribute("groups"); groups && !call->attribute("split"))
      sink.error(Error::Misplaced, groups->loc, what.path(), "groups without split");
  return call;
}

/// What can be said of an attribute without its value: spelling of enumerations, form of
/// weight names.
void DescriptionReader::checkAttribute(const CallSpec &call, const AttrSpec &attr) {
  checkExpressions(*attr.value);
  if (attr.name == "weights") {
    expect(*attr.value, Kind::String, "the name that the weights have in common");
    return;
  }
  if (attr.value->isExpression() || attr.value->isNull())
    return;
  auto wrong = [&](llvm::ArrayRef<StringRef> choices) {
    error(Error::WrongAttribute, *attr.value,
          Twine(call.name) + ": " + attr.name + " is " + llvm::join(choices, " or ") + ", found " +
              (attr.value->isString() ? quote(attr.value->string) : attr.value->text()) +
              nearest(attr.value->string, choices));
  };
  if (call.op) {
    const AttrInfo *info = call.op->attribute(attr.name);
    if (info->type == AttrType::Choice &&
        !(attr.value->isString() && llvm::is_contained(info->choices, attr.value->string)))
      wrong(info->choices);
    if (info->type == AttrType::Weight)
      expect(*attr.value, Kind::String, "the name of a weight or an expression");
  } else if (const BlockParameter *p = call.block->parameter(attr.name); p && !p->oneOf.empty()) {
    if (llvm::none_of(p->oneOf, [&](const JsonValue *v) { return equalJson(*v, *attr.value); })) {
      std::vector<StringRef> choices;
      for (const JsonValue *v : p->oneOf)
        choices.push_back(v->string);
      wrong(choices);
    }
  }
}
