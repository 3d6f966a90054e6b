// The JSON Schema of descriptions, made from the table of ops and the library of blocks.
// The grammar of expressions is beyond it: a string that begins with '=' is one.
#include "compiler/Import/Import.h"
#include "compiler/Import/Description.h"
#include "llvm/Support/JSON.h"

using namespace heddle;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;

static Object refTo(StringRef name) { return Object{{"$ref", ("#/$defs/" + name).str()}}; }
static Object type(StringRef name) { return Object{{"type", name}}; }
static Object mapOf(Object value) {
  return Object{{"type", "object"}, {"additionalProperties", std::move(value)}};
}
static Object listOf(Object value) { return Object{{"type", "array"}, {"items", std::move(value)}}; }
static Object closed(Object properties, Array required = {}) {
  Object o{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty())
    o["required"] = std::move(required);
  return o;
}
/// The value itself, an expression for it, or null for "not given".
static Object given(Object value) {
  return Object{{"anyOf", Array{std::move(value), refTo("expression"), type("null")}}};
}

static Object attributeSchema(const AttrInfo &a) {
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
  case AttrType::Split: return given(Object{{"anyOf", Array{type("integer"), listOf(refTo("number"))}}});
  case AttrType::Padding: return given(Object{{"anyOf", Array{type("integer"), type("array")}}});
  case AttrType::Text:
  case AttrType::Name:
  case AttrType::Weight: return given(type("string"));
  case AttrType::WeightOrOff: return given(Object{{"type", Array{"string", "boolean"}}});
  case AttrType::SizeMap: return given(mapOf(refTo("number")));
  case AttrType::Tensor:
  case AttrType::Mask:
  case AttrType::Bias: return given(type("string"));
  }
  return Object();
}

static Object opSchema(const OpInfo &op) {
  Object properties{{op.name, refTo("operands")}};
  for (const AttrInfo &a : op.attributes)
    properties[a.name] = attributeSchema(a);
  Object o = closed(std::move(properties), Array{op.name});
  o["description"] = op.formula;
  return o;
}

static Object blockSchema(StringRef name, const JsonValue &block) {
  Object properties{{name, refTo("operands")}, {"weights", type("string")}};
  if (const JsonValue *attributes = block.find("attributes"))
    for (const JsonMember &m : attributes->members)
      properties[m.key] = Object();
  Object o = closed(std::move(properties), Array{name});
  if (const JsonValue *about = block.find("about"))
    o["description"] = about->string;
  return o;
}

void heddle::printSchema(llvm::raw_ostream &os) {
  DiagnosticSink quiet;
  SourceFile file("stdlib.json", standardLibrary().str());
  std::optional<JsonValue> library = parseJson(file, quiet);

  Object defs;
  defs["expression"] = Object{{"type", "string"}, {"pattern", "^="}};
  defs["number"] = Object{{"anyOf", Array{type("integer"), refTo("expression")}}};
  defs["operands"] = Object{{"anyOf", Array{type("string"), type("number"), type("array")}}};
  defs["constant"] = Object();
  defs["defaults"] = mapOf(mapOf(Object()));
  Array calls;
  for (const OpInfo &op : allOps()) {
    defs[("op_" + op.name).str()] = opSchema(op);
    calls.push_back(refTo(("op_" + op.name).str()));
  }
  if (library)
    if (const JsonValue *blocks = library->find("blocks"))
      for (const JsonMember &m : blocks->members) {
        defs["block_" + m.key] = blockSchema(m.key, m.value);
        calls.push_back(refTo("block_" + m.key));
      }
  // A file's own blocks have names of their own.
  calls.push_back(Object{{"type", "object"}, {"minProperties", 1}, {"description", "a call of a block of this file"}});
  defs["call"] = Object{{"anyOf", std::move(calls)}};
  defs["body"] = listOf(refTo("statement"));
  auto about = [] { return type("string"); };
  defs["repeat"] = closed(
      Object{{"repeat", refTo("number")}, {"index", type("string")}, {"weights", type("string")},
             {"defaults", refTo("defaults")}, {"body", refTo("body")}, {"if", Object()}, {"about", about()}},
      Array{"repeat", "body"});
  defs["group"] = closed(
      Object{{"if", Object()}, {"weights", type("string")}, {"defaults", refTo("defaults")},
             {"body", refTo("body")}, {"else", refTo("body")}, {"about", about()}},
      Array{"body"});
  defs["binding"] = Object{
      {"type", "object"},
      {"properties", Object{{"if", Object()}, {"about", about()}}},
      {"patternProperties",
       Object{{"^(?!if$|about$)[A-Za-z_].*$", Object{{"anyOf", Array{refTo("expression"), refTo("call")}}}}}},
      {"additionalProperties", false},
      {"not", Object{{"anyOf", Array{Object{{"required", Array{"body"}}}, Object{{"required", Array{"repeat"}}}}}}}};
  defs["statement"] = Object{{"oneOf", Array{refTo("repeat"), refTo("group"), refTo("binding")}}};
  defs["block"] = closed(Object{{"about", about()}, {"operands", listOf(type("string"))},
                                {"attributes", type("object")}, {"body", refTo("body")}, {"result", type("string")}},
                         Array{"operands", "body", "result"});
  defs["input"] = Object{
      {"anyOf", Array{type("string"),
                      closed(Object{{"type", type("string")},
                                    {"default", Object{{"anyOf", Array{refTo("expression"), refTo("call"), type("number"), type("boolean")}}}},
                                    {"repeat", refTo("number")}, {"if", Object()}, {"about", about()}},
                             Array{"type"})}}};
  defs["weights"] = Object{
      {"anyOf", Array{type("string"),
                      closed(Object{{"file", type("string")}, {"prefix", type("string")},
                                    {"names", mapOf(type("string"))}, {"tied", mapOf(type("string"))},
                                    {"renamed", mapOf(type("string"))}, {"ignored", mapOf(listOf(type("string")))}})}}};
  defs["family"] = closed(
      Object{{"model_type", Object{{"anyOf", Array{type("string"), listOf(type("string"))}}}},
             {"architectures", mapOf(type("object"))}, {"require", type("object")},
             {"ignored", mapOf(listOf(type("string")))}},
      Array{"model_type", "architectures"});
  defs["generate"] = closed(
      Object{{"tokens", type("string")}, {"logits", type("string")}, {"mask", type("string")},
             {"positions", type("string")}, {"extend", mapOf(refTo("number"))}, {"source", type("string")},
             {"start", refTo("number")}, {"eos", refTo("number")}, {"pad", refTo("number")}, {"if", refTo("number")}},
      Array{"tokens", "logits"});

  Object top{{"heddle", Object{{"const", 1}}}, {"like", type("string")}, {"name", type("string")},
             {"about", about()}, {"family", refTo("family")}, {"config", type("object")},
             {"dims", mapOf(refTo("number"))}, {"inputs", mapOf(refTo("input"))}, {"weights", refTo("weights")},
             {"defaults", refTo("defaults")}, {"blocks", mapOf(refTo("block"))}, {"body", refTo("body")},
             {"outputs", listOf(type("string"))}, {"generate", refTo("generate")}};
  Object schema = closed(std::move(top), Array{"heddle"});
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Heddle description, version 1";
  // A patch on a family may leave out what the family says.
  schema["anyOf"] = Array{Object{{"required", Array{"like"}}}, Object{{"required", Array{"body", "outputs"}}}};
  schema["$defs"] = std::move(defs);
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(schema))) << '\n';
}
