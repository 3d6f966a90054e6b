// Reads the table, and finds rows of it by a name in either spelling.
#include "compiler/Weights/Gguf/GgufArchitectures.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

namespace heddle {

using Json = nlohmann::json;

namespace {
struct Embedded {
  llvm::StringRef name, text;
};
} // namespace

static const Embedded embedded[] = {
#include "compiler/Weights/Gguf/Architectures.inc"
};

llvm::StringRef architectureTable() { return embedded[0].text; }

/// Adds what stands in `part`: the name of a set, a list of parts, or names; `false` takes one out.
static void addNames(const Json &sets, const Json &part, std::map<std::string, GgufName> &to) {
  if (part.is_string())
    return addNames(sets, sets.at(part.get<std::string>()), to);
  if (part.is_array()) {
    for (const Json &one : part)
      addNames(sets, one, to);
    return;
  }
  for (const auto &[from, text] : part.items()) {
    if (text.is_boolean()) {
      to.erase(from);
      continue;
    }
    GgufName &row = to[from] = {from, "", {}};
    if (text.is_null())
      continue;
    std::string all = text.get<std::string>();
    auto [name, changes] = llvm::StringRef(all).split(" ! ");
    row.to = name.str();
    for (llvm::StringRef word : llvm::split(changes, ' '))
      if (!word.empty())
        row.changes.push_back(word.str());
  }
}

/// What `#` stands for, if the name fits; empty where the pattern has none.
static std::optional<llvm::StringRef> layerOf(llvm::StringRef name, llvm::StringRef pattern) {
  bool open = pattern.ends_with(".");
  auto [head, tail] = pattern.split('#');
  if (head.size() == pattern.size())
    return name == pattern || (open && name.starts_with(pattern)) ? std::optional<llvm::StringRef>("") : std::nullopt;
  if (!name.consume_front(head))
    return std::nullopt;
  llvm::StringRef layer = name.take_while(llvm::isDigit);
  llvm::StringRef rest = name.drop_front(layer.size());
  bool fits = !layer.empty() && layer.size() < 10 && (open ? rest.starts_with(tail) : rest == tail);
  return fits ? std::optional(layer) : std::nullopt;
}

std::optional<GgufArchitecture::Match> GgufArchitecture::find(llvm::StringRef stem) const {
  for (const GgufName &row : names)
    if (std::optional<llvm::StringRef> layer = layerOf(stem, row.from))
      return Match{&row, layer->str()};
  return std::nullopt;
}

/// The alternatives that a name has: "a.[b,c].d" is a.b.d and a.c.d.
static std::vector<std::string> spellings(llvm::StringRef name) {
  auto [head, rest] = name.split('[');
  if (head.size() == name.size())
    return {name.str()};
  auto [words, tail] = rest.split(']');
  std::vector<std::string> all;
  for (size_t begin = 0; begin <= words.size();) {
    size_t end = std::min(words.find_first_of(",|", begin), words.size());
    all.push_back((head + words.slice(begin, end) + tail).str());
    begin = end + 1;
  }
  return all;
}

/// Whether `name` is `pattern` with numbers in the place of `#` and `@`; `layer` becomes the first of these.
static bool isNamed(llvm::StringRef name, llvm::StringRef pattern, std::string &layer) {
  while (!pattern.empty()) {
    if (pattern[0] == '#' || pattern[0] == '@') {
      llvm::StringRef digits = name.take_while(llvm::isDigit);
      if (digits.empty())
        return false;
      if (pattern[0] == '#')
        layer = digits.str();
      name = name.drop_front(digits.size());
    } else if (!name.empty() && name[0] == pattern[0]) {
      name = name.drop_front();
    } else {
      return false;
    }
    pattern = pattern.drop_front();
  }
  return name.empty();
}

std::string GgufArchitecture::nameInFile(llvm::StringRef name) const {
  llvm::StringRef stem = name, ending;
  for (llvm::StringRef kind : {".weight", ".bias"})
    if (stem.consume_back(kind))
      ending = kind;
  for (const GgufName &row : names)
    for (llvm::StringRef pattern : spellings(row.to)) {
      std::string layer;
      // Families leave out the first word, such as `model.`.
      if (row.to.empty() || (!isNamed(stem, pattern, layer) && !isNamed(stem, pattern.split('.').second, layer)))
        continue;
      auto [head, tail] = llvm::StringRef(row.from).split('#');
      std::string from = head.size() == row.from.size() ? row.from : (head + layer + tail).str();
      return from + (ending.empty() ? ".weight" : ending.str());
    }
  return "";
}

/// What a file holds whose `general.type` is no model; "" for a model.
static std::string otherKind(const GgufFile &file, llvm::StringRef architecture) {
  auto textOf = [&](llvm::StringRef key) {
    const GgufValue *value = file.find(key);
    return value && value->text() ? value->text()->str() : "";
  };
  std::string type = textOf("general.type");
  if (type == "mmproj" || architecture == "clip") {
    std::string projector = textOf("clip.projector_type");
    projector = projector.empty() ? textOf("clip.vision.projector_type") : projector;
    return "the file is a projector of pictures or sound (mmproj" +
           (projector.empty() ? "" : ", `" + printable(projector) + "`") +
           "), which belongs to a language model; take the model's own file";
  }
  if (type == "adapter")
    return "the file is an adapter (LoRA) without its base; merge it into the base model first (llama-export-lora)";
  return type == "imatrix" ? "the file holds statistics for quantising (imatrix), no model" : "";
}

absl::StatusOr<GgufArchitecture> architectureOf(const GgufFile &file) {
  absl::StatusOr<llvm::StringRef> name = file.architecture();
  std::string other = otherKind(file, name.ok() ? *name : "");
  if (!other.empty())
    return file.unsupported("general.type", other);
  if (!name.ok())
    return name.status();
  Json table = Json::parse(architectureTable().begin(), architectureTable().end());
  auto found = table["architectures"].find(name->str());
  if (found == table["architectures"].end()) {
    bool known = llvm::any_of(table["unknown"], [&](const Json &one) { return one.get<std::string>() == *name; });
    return file.unsupported("general.architecture",
                            "GGUF files of the architecture `" + printable(*name) + "` are not read" +
                                (known ? "" : ", which is not known"),
                            "take the safetensors files of the model it was made from");
  }
  GgufArchitecture architecture;
  architecture.name = name->str();
  std::map<std::string, GgufName> rows;
  addNames(table["names"], (*found)["names"], rows);
  for (auto &[from, row] : rows)
    architecture.names.push_back(std::move(row));
  for (const Json &key : found->value("unlike", Json::array()))
    architecture.unlike.push_back(key.get<std::string>());
  return architecture;
}

std::optional<int64_t> ggufInteger(const GgufFile &file, llvm::StringRef architecture, llvm::StringRef key) {
  const GgufValue *value = file.find((architecture + "." + key).str());
  if (!value)
    return std::nullopt;
  if (!value->isArray())
    return value->integer();
  std::optional<std::vector<int64_t>> all = value->integers();
  return all && !all->empty() && llvm::all_equal(*all) ? std::optional(all->front()) : std::nullopt;
}

} // namespace heddle
