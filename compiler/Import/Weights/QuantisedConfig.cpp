// One function a method takes its keys; whatever the method cannot do is refused at its place. Which modules are
// quantised is read off the tensors, so lists of modules are kept for messages only.
#include "compiler/Import/Weights/QuantisedConfig.h"
#include "compiler/Import/Evaluate/Session.h"

#include "compiler/Weights/Coded/CodedMethods.h"
#include "heddle/input_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

using namespace heddle;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// Reads one object, and says what is wrong at its places.
class Reader {
public:
  Reader(DiagnosticSink &sink, std::string path, const JsonValue &json, QuantisedConfig &out)
      : sink(sink), path(std::move(path)), json(json), out(out), scheme(out.scheme) {}

  bool run(StringRef methodUnlessSaid);

private:
  void readGptq();
  void readAwq();
  void readAutoRound(StringRef method);
  void readCompressedTensors();
  void readGroup(const JsonMember &group, StringRef format);
  void readFp8();

  /// Refuses what `v` says: another thing is not read.
  void refuse(const JsonValue &v, const std::string &key, const Twine &message) {
    sink.error(Error::QuantisationUnsupported, v.loc, path + (key.empty() ? "" : "." + key), message);
    good = false;
  }
  void wrong(const JsonValue &v, StringRef key, StringRef expected) {
    sink.error(Error::ConfigValue, v.loc, path + "." + key, expected + " expected, found " + v.text());
    good = false;
  }
  /// The value of one of the keys, null where all are absent or null.
  const JsonValue *find(const JsonValue &object, std::initializer_list<StringRef> keys) const {
    for (StringRef key : keys)
      if (const JsonValue *v = object.find(key); v && !v->isNull())
        return v;
    return nullptr;
  }
  /// A whole number in a range; none where the key is absent.
  std::optional<int64_t> number(const JsonValue &object, std::initializer_list<StringRef> keys, int64_t least,
                                int64_t most);
  bool flag(std::initializer_list<StringRef> keys, bool unlessSaid);
  std::string word(const JsonValue &object, std::initializer_list<StringRef> keys);
  void addGroup(int64_t group) {
    if (!llvm::is_contained(scheme.groups, group))
      scheme.groups.push_back(group);
  }
  void readGroupSize(const JsonValue &object, std::initializer_list<StringRef> keys) {
    if (std::optional<int64_t> size = number(object, keys, -1, 1 << 24))
      addGroup(*size > 0 ? *size : -1);
  }
  void readBits(const JsonValue &object, std::initializer_list<StringRef> keys, llvm::ArrayRef<int64_t> known);
  void readBlock(const JsonValue &v, StringRef key);
  void exclude(StringRef key);

  DiagnosticSink &sink;
  std::string path;
  const JsonValue &json;
  QuantisedConfig &out;
  CodedScheme &scheme;
  bool good = true;
};
} // namespace

static constexpr llvm::StringLiteral takeTheOther =
    "take the checkpoint that it was made from, or one that is quantised in another way";

std::optional<int64_t> Reader::number(const JsonValue &object, std::initializer_list<StringRef> keys, int64_t least,
                                      int64_t most) {
  const JsonValue *v = find(object, keys);
  if (!v)
    return std::nullopt;
  if (v->kind == JsonValue::Kind::Integer && v->integer >= least && v->integer <= most)
    return v->integer;
  wrong(*v, *keys.begin(), ("a whole number from " + Twine(least) + " to " + Twine(most)).str());
  return std::nullopt;
}

bool Reader::flag(std::initializer_list<StringRef> keys, bool unlessSaid) {
  const JsonValue *v = find(json, keys);
  if (v && v->kind != JsonValue::Kind::Bool)
    wrong(*v, *keys.begin(), "true or false");
  return v ? v->boolean : unlessSaid;
}

/// In small letters.
std::string Reader::word(const JsonValue &object, std::initializer_list<StringRef> keys) {
  const JsonValue *v = find(object, keys);
  if (v && !v->isString())
    wrong(*v, *keys.begin(), "a word");
  return v ? StringRef(v->string).lower() : "";
}

/// Several widths, in groups or in exceptions, leave it to the tensors which one a matrix has.
void Reader::readBits(const JsonValue &object, std::initializer_list<StringRef> keys, llvm::ArrayRef<int64_t> known) {
  std::optional<int64_t> bits = number(object, keys, 1, 32);
  if (!bits)
    return;
  if (!llvm::is_contained(known, *bits)) {
    std::string some;
    for (int64_t b : known)
      some += (some.empty() ? "" : ", ") + std::to_string(b);
    return refuse(*find(object, keys), keys.begin()->str(),
                  "codes of " + Twine(*bits) + " bits are not read, those of " + some + " are; " + takeTheOther);
  }
  scheme.bits = *bits;
}

/// [128, 128], or "128x128".
void Reader::readBlock(const JsonValue &v, StringRef key) {
  int64_t sizes[2] = {0, 0};
  if (v.isArray() && v.items.size() == 2)
    for (unsigned i = 0; i < 2; ++i)
      sizes[i] = v.items[i].kind == JsonValue::Kind::Integer ? v.items[i].integer : 0;
  auto [first, second] = StringRef(v.string).split('x');
  if (v.isString() && (first.getAsInteger(10, sizes[0]) || second.getAsInteger(10, sizes[1])))
    sizes[0] = 0;
  if (sizes[0] < 1 || sizes[1] < 1 || sizes[0] > (1 << 24) || sizes[1] > (1 << 24))
    return wrong(v, key, "the rows and features of a block, as in [128, 128],");
  scheme.blocks.push_back({sizes[0], sizes[1]});
}

void Reader::exclude(StringRef key) {
  if (const JsonValue *list = json.find(key))
    for (const JsonValue &v : list->items)
      if (v.isString() && !v.string.empty() && v.string.size() <= 500)
        out.excluded.push_back({key.str(), v.string});
}

//===--- methods --------------------------------------------------------------===//

void Reader::readGptq() {
  readBits(json, {"bits"}, {2, 3, 4, 8});
  readGroupSize(json, {"group_size"});
  scheme.symmetric = flag({"sym"}, true);
  if (flag({"is_marlin_format"}, false))
    refuse(*json.find("is_marlin_format"), "is_marlin_format",
           "GPTQ in the format marlin is not read, gptq and gptq_v2 are; " + Twine(takeTheOther));
  std::string format = word(json, {"checkpoint_format", "format"});
  if (format == "gptq_v2")
    scheme.version = 2;
  else if (!format.empty() && format != "gptq")
    refuse(*find(json, {"checkpoint_format", "format"}), "checkpoint_format",
           "GPTQ in the format " + quote(format) + " is not read, gptq and gptq_v2 are; " + takeTheOther);
  // Patterns of modules with settings of their own; "-:" excludes.
  const JsonValue *dynamic = json.find("dynamic");
  if (dynamic && dynamic->isObject())
    for (const JsonMember &m : dynamic->members) {
      if (StringRef(m.key).starts_with("-:"))
        out.excluded.push_back({"dynamic", "re:" + m.key.substr(2)});
      int64_t bits = scheme.bits;
      readBits(m.value, {"bits"}, {2, 3, 4, 8});
      readGroupSize(m.value, {"group_size"});
      if (bits != scheme.bits || (m.value.isObject() && m.value.find("bits")))
        scheme.bits = 0;
    }
}

void Reader::readAwq() {
  readBits(json, {"bits", "w_bit"}, {4});
  readGroupSize(json, {"group_size", "q_group_size"});
  scheme.symmetric = !flag({"zero_point"}, true);
  std::string version = word(json, {"version"}), backend = word(json, {"backend"});
  if (!version.empty() && version != "gemm")
    refuse(*json.find("version"), "version",
           "AWQ in the version " + quote(version) + " is not read, gemm is; " + takeTheOther);
  else if (backend == "llm-awq")
    refuse(*json.find("backend"), "backend", "AWQ as llm-awq packs it is not read, gemm is; " + Twine(takeTheOther));
  exclude("modules_to_not_convert");
}

/// GPTQ or AWQ under another name.
void Reader::readAutoRound(StringRef method) {
  std::string packing = word(json, {"packing_format", "backend"});
  if (const JsonValue *type = json.find("data_type"); type && type->isString() && type->string != "int")
    return refuse(*type, "data_type",
                  "auto-round with the data type " + quote(type->string) + " is not read, int is; " + takeTheOther);
  bool gptq = packing.empty() || packing == "auto_round:auto_gptq" || packing == "auto_round:gptq";
  if (!gptq && packing != "auto_round:auto_awq" && packing != "auto_round:awq")
    return refuse(*find(json, {"packing_format", "backend"}), "packing_format",
                  "auto-round in the packing " + quote(packing) +
                      " is not read, auto_round:auto_gptq and auto_round:auto_awq are; " + takeTheOther);
  scheme.method = gptq ? "gptq" : "awq";
  readBits(json, {"bits"}, gptq ? llvm::ArrayRef<int64_t>({2, 3, 4, 8}) : llvm::ArrayRef<int64_t>({4}));
  readGroupSize(json, {"group_size"});
  scheme.symmetric = gptq && flag({"sym"}, true);
  // Layers with settings of their own; those of 16 bits stand as they are.
  const JsonValue *extra = json.find("extra_config");
  if (extra && extra->isObject())
    for (const JsonMember &m : extra->members) {
      const JsonValue *bits = m.value.isObject() ? m.value.find("bits") : nullptr;
      if (bits && bits->kind == JsonValue::Kind::Integer && bits->integer >= 16) {
        out.excluded.push_back({"extra_config", m.key});
        continue;
      }
      readGroupSize(m.value, {"group_size"});
      if (bits)
        scheme.bits = 0;
    }
}

/// One group of modules that are quantised alike.
void Reader::readGroup(const JsonMember &group, StringRef format) {
  std::string key = "config_groups." + group.key;
  const JsonValue *weights = group.value.find("weights");
  if (!weights || !weights->isObject())
    return;
  const JsonValue *own = find(group.value, {"format"});
  if (own && own->isString())
    format = own->string;
  static constexpr llvm::StringLiteral known[] = {"pack-quantized", "int-quantized", "naive-quantized",
                                                  "float-quantized", "nvfp4-pack-quantized"};
  if (!llvm::is_contained(known, format)) {
    const JsonValue *said = own ? own : find(json, {"format"});
    std::string which = format.empty() ? "compressed-tensors without a format"
                                       : "the format " + quote(format) + " of compressed-tensors";
    return refuse(said ? *said : group.value, own || !said ? key + ".format" : "format",
                  which + " is not read, " + llvm::join(llvm::ArrayRef<llvm::StringLiteral>(known), ", ") + " are; " +
                      takeTheOther);
  }
  if (format == "pack-quantized") {
    int64_t before = scheme.bits;
    readBits(*weights, {"num_bits"}, {2, 4, 8});
    if (before && before != scheme.bits)
      scheme.bits = -1;
  }
  readGroupSize(*weights, {"group_size"});
  if (const JsonValue *block = find(*weights, {"block_structure"}))
    readBlock(*block, key + ".weights.block_structure");
}

void Reader::readCompressedTensors() {
  std::string format = word(json, {"format"});
  if (const JsonValue *sparse = find(json, {"sparsity_config"}); sparse && sparse->isObject()) {
    std::string kind = word(*sparse, {"format"});
    if (!kind.empty() && kind != "dense")
      refuse(*sparse->find("format"), "sparsity_config.format",
             "weights that are sparse in the format " + quote(kind) + " are not read, dense ones are; " + takeTheOther);
  }
  if (const JsonValue *turned = find(json, {"transform_config"});
      turned && turned->isObject() && !turned->members.empty() &&
      llvm::any_of(turned->members, [](const JsonMember &m) { return !m.value.members.empty(); }))
    refuse(*turned, "transform_config",
           "weights that are to be turned by a transform (SpinQuant, QuIP) are not read; " + Twine(takeTheOther));
  const JsonValue *groups = find(json, {"config_groups"});
  if (groups && !groups->isObject())
    return wrong(*groups, "config_groups", "an object");
  if (groups)
    for (const JsonMember &group : groups->members)
      if (good)
        readGroup(group, format);
  if (!groups || groups->members.empty())
    readGroup({"none", {}, JsonValue()}, format);
  scheme.bits = std::max<int64_t>(scheme.bits, 0);
  exclude("ignore");
}

void Reader::readFp8() {
  if (const JsonValue *block = find(json, {"weight_block_size"}))
    readBlock(*block, "weight_block_size");
  exclude("modules_to_not_convert");
  exclude("ignored_layers");
}

bool Reader::run(StringRef methodUnlessSaid) {
  if (!json.isObject()) {
    sink.error(Error::ConfigValue, json.loc, path, "an object expected, found " + Twine(describe(json.kind)));
    return false;
  }
  std::string method = word(json, {"quant_method"});
  if (!good)
    return false;
  if (method.empty() && (json.find("load_in_4bit") || json.find("load_in_8bit")))
    method = "bitsandbytes";
  if (method.empty())
    method = methodUnlessSaid.str();
  scheme.method = method;
  if (method == "gptq")
    readGptq();
  else if (method == "awq")
    readAwq();
  else if (method == "auto-round" || method == "intel/auto-round")
    readAutoRound(method);
  else if (method == "compressed-tensors")
    readCompressedTensors();
  else if (method == "fp8")
    readFp8();
  else if (method == "bitsandbytes")
    exclude("llm_int8_skip_modules");
  else if (method == "mxfp4")
    exclude("modules_to_not_convert");
  else
    refuse(method.empty() ? json : *json.find("quant_method"), method.empty() ? "" : "quant_method",
           "the weights are quantised by " + (method.empty() ? std::string("a method without a name") : quote(method)) +
               ", which is not read; " + codedMethods() + " and auto-round are: " + takeTheOther +
               " (in Python: model.dequantize(), model.save_pretrained())");
  return good;
}

//===--- where it stands ------------------------------------------------------===//

std::optional<QuantisedConfig> heddle::readQuantisedConfig(Session &session, const Source &source) {
  QuantisedConfig out;
  if (!source.config || session.options.made) // a GGUF file says it with each tensor
    return out;
  for (StringRef key : {"quantization_config", "compression_config"})
    if (const JsonMember *m = source.config->json.findMember(key); m && !m->value.isNull()) {
      out.loc = m->keyLoc;
      out.path = ("config.json." + key).str();
      StringRef method = key == "compression_config" ? "compressed-tensors" : "";
      bool good = Reader(session.sink, out.path, m->value, out).run(method);
      return good ? std::optional(std::move(out)) : std::nullopt;
    }
  // Older repositories have a file of their own.
  if (session.options.configText)
    return out;
  for (auto [name, method] : {std::pair("quantize_config.json", "gptq"), std::pair("quant_config.json", "awq")}) {
    llvm::SmallString<256> file(source.directory);
    llvm::sys::path::append(file, name);
    if (!isThere(file.c_str()))
      continue;
    ReadFile read = readInputFile(file.c_str(), JsonLimits().bytes);
    if (!read.ok()) {
      session.sink.errorInFile(read.systemError ? Error::CannotRead : Error::NotItsFormat, file, "", read.why);
      return std::nullopt;
    }
    std::optional<JsonValue> json =
        parseJson(session.sink.addFile(file.str().str(), std::move(read.bytes)), session.sink);
    if (!json)
      return std::nullopt;
    out.loc = json->loc;
    out.path = name;
    bool good = Reader(session.sink, out.path, *json, out).run(method);
    return good ? std::optional(std::move(out)) : std::nullopt;
  }
  return out;
}

/// Patterns after `re:` fit from the beginning on, as in the library that writes them; other entries are names of
/// modules or parts of names. Names here may lack the prefix that a family allows, such as `model.`.
const QuantisedConfig::Excluded *QuantisedConfig::exclusionOf(StringRef weight) const {
  StringRef module = weight;
  module.consume_back(".weight");
  auto fits = [&](const Excluded &e) {
    StringRef pattern = e.pattern;
    if (!pattern.consume_front("re:"))
      return module.contains(pattern) || pattern.ends_with(("." + module).str());
    llvm::Regex regex(("^(" + pattern + ")").str());
    return regex.isValid() && (regex.match(module) || regex.match(("model." + module).str()));
  };
  auto found = llvm::find_if(excluded, fits);
  return found == excluded.end() ? nullptr : &*found;
}
