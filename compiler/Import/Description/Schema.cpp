// The JSON Schema of descriptions, made from the table of ops and the library of blocks. It accepts what the importer
// accepts and refuses by key what the importer refuses by key. Three things depend on the file: a file that is `like`
// another is a patch, in which anything may be left out and null deletes; a file may call its own blocks, whose names
// are known only if the file is given (`heddle schema FILE`), otherwise any name is accepted; and a string that begins
// with '=' is an expression, whose grammar no schema can check.
#include "compiler/Import/Description/Description.h"
#include "compiler/Import/Description/Reference.h"
#include "llvm/Support/JSON.h"

using namespace heddle;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;

static constexpr const char *kIdentifier = "^[A-Za-z_][A-Za-z0-9_]*$";
// A pattern for the names that a statement binds, separated by commas; parts of a name are separated by dots.
static constexpr const char *kNames =
    "^\\s*(_|[A-Za-z_][A-Za-z0-9_]*(\\.([A-Za-z_][A-Za-z0-9_]*|[0-9]+|\\{[^{}]*\\}))*)"
    "(\\s*,\\s*(_|[A-Za-z_][A-Za-z0-9_]*(\\.([A-Za-z_][A-Za-z0-9_]*|[0-9]+|\\{[^{}]*\\}))*))*\\s*$";

// Words of JSON Schema: a reference, a type, a pattern, alternatives, lists and maps, an object with exactly these
// keys.
static Object refTo(const llvm::Twine &name) { return Object{{"$ref", ("#/$defs/" + name).str()}}; }
static Object type(StringRef name) { return Object{{"type", name}}; }
static Object pattern(StringRef text) { return Object{{"type", "string"}, {"pattern", text}}; }
static Object anyOf(Array choices) { return Object{{"anyOf", std::move(choices)}}; }
static Object listOf(Object value) { return Object{{"type", "array"}, {"items", std::move(value)}}; }
static Object mapOf(Object value) { return Object{{"type", "object"}, {"additionalProperties", std::move(value)}}; }
static Object named(Object map) {
  map["propertyNames"] = Object{{"pattern", kIdentifier}};
  return map;
}
static Object closed(Object properties, Array required = {}) {
  Object o{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty())
    o["required"] = std::move(required);
  return o;
}
static Object has(StringRef key) { return Object{{"required", Array{key.str()}}}; }
static Object no(Object what) { return Object{{"not", std::move(what)}}; }
/// A value, an expression for it, or null for "not given".
static Object given(Object value) { return anyOf(Array{std::move(value), refTo("expression"), type("null")}); }

//===--- calls ----------------------------------------------------------------===//

namespace {
/// An op or a block, as something that can be called.
struct Callable {
  std::string name, about;
  size_t operands = 0;
  bool variadic = false;
  Object attributes; ///< name → schema
};
} // namespace

/// What an attribute may be, by its type in the table.
static Object ofType(const AttrInfo &a) {
  switch (a.type) {
  case AttrType::Integer:
  case AttrType::Size: return given(type("integer"));
  case AttrType::Real:
  case AttrType::Number: return given(type("number"));
  case AttrType::Bool: return given(type("boolean"));
  case AttrType::Choice: {
    Array words;
    for (StringRef c : a.choices)
      words.push_back(c);
    return given(Object{{"enum", std::move(words)}});
  }
  case AttrType::Integers:
  case AttrType::Sizes:
  case AttrType::Split: return given(anyOf(Array{type("number"), type("array")}));
  case AttrType::Padding: return given(anyOf(Array{type("integer"), type("array")}));
  case AttrType::Text:
  case AttrType::Name:
  case AttrType::Weight: return given(type("string"));
  case AttrType::WeightOrOff: return given(Object{{"type", Array{"string", "boolean"}}});
  case AttrType::SizeMap: return given(mapOf(refTo("number")));
  case AttrType::Tensor:
  case AttrType::Mask:
  case AttrType::Bias: return given(Object{{"type", Array{"string", "number"}}});
  }
  return Object();
}

static Callable ofOp(const OpInfo &op) {
  Callable c{op.name.str(), op.formula.str(), op.operands.size(), op.isVariadic, {}};
  for (const AttrInfo &a : op.attributes)
    c.attributes[a.name] = ofType(a);
  return c;
}

/// A value of our parser as one of llvm::json.
static llvm::json::Value plain(const JsonValue &v) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(v.text());
  return parsed ? std::move(*parsed) : (llvm::consumeError(parsed.takeError()), llvm::json::Value(nullptr));
}

static Callable ofBlock(StringRef name, const JsonValue &block) {
  Callable c{name.str(), "", 0, false, {}};
  if (const JsonValue *about = block.find("about"))
    c.about = about->string;
  if (const JsonValue *operands = block.find("operands"))
    c.operands = operands->items.size();
  c.attributes["weights"] = type("string");
  if (const JsonValue *attributes = block.find("attributes"))
    for (const JsonMember &m : attributes->members) {
      Object any;
      if (const JsonValue *of = m.value.isObject() ? m.value.find("one_of") : nullptr) {
        Array words;
        for (const JsonValue &v : of->items)
          words.push_back(plain(v));
        any = given(Object{{"enum", std::move(words)}});
      }
      c.attributes[m.key] = std::move(any);
    }
  return c;
}

/// The value of the key that names the op: a list of its operands.
static Object operandsOf(const Callable &c) {
  auto n = int64_t(c.operands);
  if (c.variadic)
    return Object{{"minItems", 1}};
  // A single operand need not be in a list.
  Object o{{"minItems", n}, {"maxItems", n}};
  if (n != 1)
    o["type"] = "array";
  return o;
}

/// A call; with `own` also of blocks in the file, about which nothing is known.
static Object callSchema(llvm::ArrayRef<Callable> callables, bool own) {
  Array one, each, none;
  for (const Callable &c : callables) {
    one.push_back(has(c.name));
    none.push_back(has(c.name));
    each.push_back(Object{{"if", has(c.name)}, {"then", refTo("call_" + c.name)}});
  }
  if (own)
    one.push_back(Object{{"minProperties", 1}, {"not", anyOf(std::move(none))}});
  return Object{{"type", "object"}, {"oneOf", std::move(one)}, {"allOf", std::move(each)}};
}

/// The object `defaults`; in a patch entries may be null.
static Object defaultsSchema(llvm::ArrayRef<Callable> callables, bool own, bool patch) {
  Object entries;
  for (const Callable &c : callables) {
    Object attributes;
    for (auto &[name, schema] : c.attributes)
      if (StringRef(name) != "weights" || findOp(c.name))
        attributes[name] = Object();
    Object entry = closed(std::move(attributes));
    entries[c.name] = patch ? anyOf(Array{std::move(entry), type("null")}) : std::move(entry);
  }
  Object o = closed(std::move(entries));
  if (own)
    o["additionalProperties"] = Object{{"type", Array{"object", "null"}}};
  return o;
}

//===--- statements -----------------------------------------------------------===//

/// The definitions that depend on what can be called; their names end in `end`.
static void bodySchemas(Object &defs, StringRef end, llvm::ArrayRef<Callable> callables, bool own) {
  auto ref = [&](StringRef name) { return refTo(name + end); };
  auto define = [&](StringRef name, Object schema) { defs[(name + end).str()] = std::move(schema); };
  define("call", callSchema(callables, own));
  define("defaults", defaultsSchema(callables, own, /*patch=*/false));
  define("patched_defaults", defaultsSchema(callables, own, /*patch=*/true));
  define("body", listOf(ref("statement")));
  define("statement", Object{{"type", "object"},
                             {"if", has("repeat")},
                             {"then", ref("repeat")},
                             {"else", Object{{"if", has("body")}, {"then", ref("group")}, {"else", ref("binding")}}}});
  define("repeat", closed(Object{{"repeat", refTo("number")},
                                 {"index", pattern(kIdentifier)},
                                 {"weights", type("string")},
                                 {"defaults", ref("defaults")},
                                 {"body", ref("body")},
                                 {"if", Object()},
                                 {"about", type("string")}},
                          Array{"repeat", "body"}));
  Object group = closed(Object{{"if", Object()},
                               {"weights", type("string")},
                               {"defaults", ref("defaults")},
                               {"body", ref("body")},
                               {"else", ref("body")},
                               {"about", type("string")}},
                        Array{"body"});
  group["dependentRequired"] = Object{{"else", Array{"if"}}};
  define("group", std::move(group));
  // Exactly one key binds something; `if` and `about` may be next to it.
  auto count = [](int64_t n, Array rest) {
    rest.push_back(Object{{"minProperties", n}, {"maxProperties", n}});
    return Object{{"allOf", std::move(rest)}};
  };
  define("binding",
         Object{{"type", "object"},
                {"properties", Object{{"if", Object()}, {"about", type("string")}}},
                {"patternProperties",
                 Object{{(StringRef("^(?!(if|about)$)") + StringRef(kNames).drop_front()).str(),
                         Object{{"if", type("object")}, {"then", ref("call")}, {"else", refTo("expression")}}}}},
                {"additionalProperties", false},
                {"anyOf",
                 Array{count(1, Array{no(has("if")), no(has("about"))}), count(2, Array{has("if"), no(has("about"))}),
                       count(2, Array{has("about"), no(has("if"))}), count(3, Array{has("if"), has("about")})}}});
}

//===--- the file -------------------------------------------------------------===//

namespace {
/// The top level of a complete file (nothing is null, some keys are required) or of a patch, with the statements whose
/// definitions end in `end`.
struct Top {
  bool patch;
  StringRef end;

  Object body(StringRef name) const { return refTo(name + end); }
  Object value(Object schema) const {
    return patch ? anyOf(Array{std::move(schema), type("null")}) : std::move(schema);
  }
  Object map(Object schema) const { return mapOf(value(std::move(schema))); }
  Object object(Object properties, Array required = {}) const {
    Object all;
    for (auto &[key, schema] : properties)
      all[key] = value(std::move(*schema.getAsObject()));
    return closed(std::move(all), patch ? Array() : std::move(required));
  }

  Object schema() const {
    auto text = [] { return type("string"); };
    auto filled = [&](Object o) {
      if (!patch)
        o["minProperties"] = 1;
      return o;
    };
    Object input =
        object(Object{{"type", text()},
                      {"default", Object{{"if", type("object")},
                                         {"then", body("call")},
                                         {"else", Object{{"if", type("string")}, {"then", refTo("expression")}}}}},
                      {"repeat", refTo("number")},
                      {"if", Object()},
                      {"about", text()}},
               Array{"type"});
    Object weights = object(Object{{"file", text()},
                                   {"prefix", text()},
                                   {"names", map(text())},
                                   {"tied", map(text())},
                                   {"renamed", map(text())},
                                   {"own", Object()},
                                   {"optional", map(listOf(text()))},
                                   {"ignored", map(listOf(text()))}});
    Object family = object(
        Object{{"model_type", anyOf(Array{text(), Object{{"type", "array"}, {"items", text()}, {"minItems", 1}}})},
               {"architectures", filled(map(type("object")))},
               {"require", type("object")},
               {"null", type("object")},
               {"meaning", listOf(text())},
               {"partial", map(text())},
               {"ignored", map(listOf(text()))}},
        Array{"model_type", "architectures"});
    Object block = object(Object{{"about", text()},
                                 {"operands", listOf(text())},
                                 {"attributes", type("object")},
                                 {"body", body("body")},
                                 {"result", text()}},
                          Array{"operands", "body", "result"});
    Object generate = object(Object{{"tokens", text()},
                                    {"logits", text()},
                                    {"mask", text()},
                                    {"positions", text()},
                                    {"extend", map(refTo("number"))},
                                    {"source", text()},
                                    {"start", refTo("id")},
                                    {"eos", refTo("id")},
                                    {"pad", refTo("id")},
                                    {"context", refTo("number")},
                                    {"if", Object()}},
                             Array{"tokens", "logits"});
    Object defaults = body(patch ? "patched_defaults" : "defaults");
    Object outputs = listOf(text());
    outputs["minItems"] = 1;
    Object o = object(Object{{"heddle", Object{{"const", 1}}},
                             {"like", text()},
                             {"name", text()},
                             {"about", text()},
                             {"family", std::move(family)},
                             {"config", named(type("object"))},
                             {"dims", map(refTo("number"))},
                             {"inputs", named(map(anyOf(Array{text(), std::move(input)})))},
                             {"weights", anyOf(Array{text(), std::move(weights)})},
                             {"defaults", std::move(defaults)},
                             {"blocks", named(map(std::move(block)))},
                             {"body", body("body")},
                             {"outputs", std::move(outputs)},
                             {"generate", std::move(generate)}});
    // The library consists of blocks only.
    if (!patch)
      o["if"] = Object{{"anyOf", Array{has("body"), has("outputs"), has("inputs"), no(has("blocks"))}}},
      o["then"] = Object{{"required", Array{"body", "outputs"}}};
    return o;
  }
};
} // namespace

/// The schema of a file; `blocks` are all that it can call, or the library's if they are unknown.
static Object fileSchema(llvm::ArrayRef<Callable> blocks, bool known) {
  std::vector<Callable> ops, all;
  auto isBlock = [&](StringRef name) {
    return llvm::any_of(blocks, [&](const Callable &b) { return b.name == name; });
  };
  for (const OpInfo &op : allOps())
    if (!isBlock(op.name)) // a block of the file shadows it
      ops.push_back(ofOp(op));
  all = ops;
  all.insert(all.end(), blocks.begin(), blocks.end());

  Object defs;
  defs["expression"] = pattern("^=");
  defs["number"] = anyOf(Array{type("integer"), refTo("expression")});
  defs["id"] = anyOf(Array{type("integer"), refTo("expression"), type("array"), type("null")});
  for (const Callable &c : all) {
    Object properties = c.attributes;
    properties[c.name] = operandsOf(c);
    Object call = closed(std::move(properties));
    if (c.name == "linear")
      call["dependentRequired"] = Object{{"groups", Array{"split"}}};
    if (!c.about.empty())
      call["description"] = c.about;
    defs["call_" + c.name] = std::move(call);
  }
  bodySchemas(defs, "", all, false);
  Object schema;
  if (known) {
    schema = Object{{"if", has("like")}, {"then", Top{true, ""}.schema()}, {"else", Top{false, ""}.schema()}};
  } else {
    // A block in the file may replace one of the library, with other attributes.
    bodySchemas(defs, "_own", ops, true);
    schema = Object{
        {"if", has("like")},
        {"then", Top{true, "_own"}.schema()},
        {"else",
         Object{{"if", has("blocks")}, {"then", Top{false, "_own"}.schema()}, {"else", Top{false, ""}.schema()}}}};
  }
  schema["type"] = "object";
  schema["required"] = Array{"heddle"};
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Heddle description, version 1";
  schema["$defs"] = std::move(defs);
  return schema;
}

static void print(llvm::raw_ostream &os, Object schema) {
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(schema))) << '\n';
}

void heddle::printSchema(llvm::raw_ostream &os) {
  DiagnosticSink quiet;
  SourceFile file("stdlib.json", standardLibrary().str());
  std::vector<Callable> blocks;
  if (std::optional<JsonValue> library = parseJson(file, quiet))
    if (const JsonValue *all = library->find("blocks"))
      for (const JsonMember &m : all->members)
        blocks.push_back(ofBlock(m.key, m.value));
  print(os, fileSchema(blocks, /*known=*/false));
}

bool heddle::printSchemaOf(llvm::raw_ostream &os, std::string name, std::string text, const FamilyLibrary &families,
                           DiagnosticSink &sink) {
  // Other errors in the file are what the schema is for, so they are not reported.
  DiagnosticSink quiet;
  Expressions expressions(quiet);
  std::unique_ptr<Description> doc = readDescription(name, text, families, expressions, quiet);
  if (!doc) {
    Expressions loud(sink);
    readDescription(std::move(name), std::move(text), families, loud, sink);
    return false;
  }
  std::vector<Callable> blocks;
  for (auto &[blockName, block] : doc->blocks)
    if (blockName.front() != '/') // else a block of the file hides it
      blocks.push_back(ofBlock(blockName, *block.json));
  print(os, fileSchema(blocks, /*known=*/true));
  return true;
}
