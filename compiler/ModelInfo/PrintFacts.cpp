//===- PrintFacts.cpp - the facts of a model as text and as JSON ----------===//

#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/ModelInfo/ModelFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <algorithm>

using namespace heddle;
using llvm::StringRef;

namespace {
/// Tensors of one type, together.
struct Total {
  uint64_t tensors = 0, numbers = 0, bytes = 0;
};

/// Tensors whose names differ in numbers alone.
struct Like {
  const TensorFact *first = nullptr;
  uint64_t count = 0, bytes = 0;
};
} // namespace

static std::map<std::string, Total> totals(const ModelFacts &facts) {
  std::map<std::string, Total> types;
  for (const TensorFact &tensor : facts.tensors) {
    Total &type = types[tensor.type];
    ++type.tensors;
    type.numbers += tensor.numbers();
    type.bytes += tensor.bytes;
  }
  return types;
}

static std::string sizeText(uint64_t bytes) {
  double value = double(bytes);
  for (const char *unit : {"B", "KiB", "MiB", "GiB"}) {
    if (value < 1024 || StringRef(unit) == "GiB")
      return llvm::formatv(unit[1] ? "{0:F1} {1}" : "{0:F0} {1}", value, unit).str();
    value /= 1024;
  }
  return "";
}

/// "1.94 G": three digits.
static std::string countText(int64_t count) {
  double value = double(count);
  for (const char *unit : {"", " k", " M", " G", " T"}) {
    if (value < 1000 || StringRef(unit) == " T")
      return llvm::formatv(!*unit          ? "{0:F0}{1}"
                           : value >= 99.5 ? "{0:F0}{1}"
                           : value >= 9.95 ? "{0:F1}{1}"
                                           : "{0:F2}{1}",
                           value, unit)
          .str();
    value /= 1000;
  }
  return "";
}

/// What calls take, a line each. Lengths that the words do not say come after them.
static std::string costText(const CostFact &cost) {
  std::string lengths;
  for (const auto &[dim, length] : cost.dims)
    if (!llvm::is_contained<StringRef>({"B", "new", "past", "capacity"}, dim) || (dim == "B" && length != 1))
      lengths += (lengths.empty() ? "" : ", ") + dim + "=" + std::to_string(length);
  return cost.what + (lengths.empty() ? "" : " (" + lengths + ")") + ": " + countText(cost.operations) +
         " operations, " + sizeText(uint64_t(cost.bytes)) + " read";
}

static std::string printedShape(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t length : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(length);
  return "[" + text + "]";
}

/// "model.layers.7.mlp" as "model.layers.*.mlp".
static std::string withoutNumbers(StringRef name) {
  std::string out;
  llvm::SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef part : parts) {
    bool number = !part.empty() && llvm::all_of(part, llvm::isDigit);
    out += (out.empty() ? "" : ".") + (number ? std::string("*") : part.str());
  }
  return out;
}

static std::string plural(uint64_t count, const char *word) {
  return llvm::formatv("{0:N0} {1}{2}", count, word, count == 1 ? "" : "s").str();
}

static void printTensors(const ModelFacts &facts, bool every, llvm::raw_ostream &os) {
  std::vector<std::pair<std::string, Like>> rows; // in the order of names
  std::map<std::string, size_t> known;
  for (const TensorFact &tensor : facts.tensors) {
    std::string name = escaped(every ? tensor.name : withoutNumbers(tensor.name), 4096);
    std::string key = name + printedShape(tensor.shape) + tensor.type;
    auto [at, fresh] = known.insert({every ? std::to_string(rows.size()) : key, rows.size()});
    if (fresh)
      rows.push_back({name, {&tensor, 0, 0}});
    Like &like = rows[at->second].second;
    ++like.count;
    like.bytes += tensor.bytes;
  }
  size_t names = 6, shapes = 5, types = 4;
  for (const auto &[name, like] : rows) {
    names = std::max(names, name.size());
    shapes = std::max(shapes, printedShape(like.first->shape).size());
    types = std::max(types, like.first->type.size());
  }
  auto cell = [](StringRef text, size_t width) { return llvm::left_justify(text, unsigned(width + 2)); };
  os << "\n" << cell("tensor", names) << cell("shape", shapes) << cell("type", types) << "bytes\n";
  for (const auto &[name, like] : rows)
    os << cell(name, names) << cell(printedShape(like.first->shape), shapes) << cell(like.first->type, types)
       << sizeText(like.bytes) << (like.count > 1 ? "  in " + std::to_string(like.count) : "") << "\n";
}

void heddle::printFacts(const ModelFacts &facts, bool everyTensor, llvm::raw_ostream &os) {
  auto line = [&](const char *what, const std::string &text) {
    if (!text.empty())
      os << llvm::left_justify(what, 12) << escaped(text, 4096) << "\n";
  };
  os << escaped(facts.path, 4096) << ": " << facts.kind << "\n";
  bool isGguf = facts.kind == "a GGUF file";
  if (!facts.modelType.empty())
    line("family", (facts.family.empty() ? "none known" : facts.family) +
                       (isGguf ? " (architecture " : " (model type ") + facts.modelType +
                       (facts.classes.empty() ? "" : ", " + llvm::join(facts.classes, ", ")) + ")");
  if (isGguf || facts.modelType.empty())
    line("name", facts.name);
  for (const std::string &adapter : facts.adapters)
    line("adapter", adapter);
  std::map<std::string, Total> types = totals(facts);
  Total all;
  for (const auto &[name, type] : types) {
    all.tensors += type.tensors;
    all.numbers += type.numbers;
    all.bytes += type.bytes;
  }
  if (all.tensors)
    line("parameters",
         llvm::formatv("{0:N0} in {1}, {2}", all.numbers, plural(all.tensors, "tensor"), sizeText(all.bytes)).str());
  for (const auto &[name, type] : types)
    line(name == types.begin()->first ? "types" : "",
         llvm::formatv("{0}: {1:N0} in {2}, {3}", name, type.numbers, plural(type.tensors, "tensor"),
                       sizeText(type.bytes))
             .str());
  line("quantised", facts.quantisation);
  if (!facts.files.empty())
    line("files", facts.files.front().path +
                      (facts.files.size() > 1 ? " and " + plural(facts.files.size() - 1, "other") : std::string()));
  line("license", facts.licence.empty() ? "not stated" : facts.licence + " (" + facts.licenceFrom + ")");
  std::string sizes;
  for (const auto &[name, n] : facts.sizes)
    sizes += (sizes.empty() ? "" : ", ") + name + " " + std::to_string(n);
  line("sizes", sizes);
  if (facts.context)
    line("context", std::to_string(*facts.context) + " positions");
  if (!facts.tokenizer.empty())
    line("tokenizer", facts.tokenizer + ", " + plural(facts.ids, "id"));
  else if (facts.known)
    line("tokenizer", facts.whyNoTokenizer.empty() ? "none" : "none: " + facts.whyNoTokenizer);
  line("template", facts.chatTemplate);
  line("vectors", facts.pooling.empty() ? "" : facts.pooling + " of hidden states");
  size_t errors = llvm::count_if(facts.problems, [](const ProblemFact &p) { return p.isError; });
  if (facts.known)
    line("compiles", facts.compiles() ? "yes: heddle compile " + facts.path
                     : errors         ? "no, for " + plural(errors, "reason") + "; heddle check " + facts.path +
                                            " says where, and what helps"
                                      : "no");
  for (const CostFact &cost : facts.costs)
    line(&cost == facts.costs.data() ? "cost" : "", costText(cost));
  if (facts.compiles())
    line("report", "heddle report " + facts.path + " shows its cost, memory, masks and passes as a page");
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < facts.problems.size() && i < kShown; ++i)
    line(facts.problems[i].isError ? "" : "warning", StringRef(facts.problems[i].message).split('\n').first.str());
  for (const std::string &what : facts.missing)
    line("needs", what);
  if (!facts.tensors.empty())
    printTensors(facts, everyTensor, os);
}

void heddle::printFactsJson(const ModelFacts &facts, llvm::raw_ostream &os) {
  auto text = [](StringRef s) { return llvm::json::Value(llvm::json::fixUTF8(s)); };
  auto orNull = [&](StringRef s) { return s.empty() ? llvm::json::Value(nullptr) : text(s); };
  uint64_t numbers = 0, bytes = 0;
  for (const TensorFact &tensor : facts.tensors) {
    numbers += tensor.numbers();
    bytes += tensor.bytes;
  }
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("path", text(facts.path));
    json.attribute("kind", facts.kind);
    json.attribute("name", orNull(facts.name));
    json.attribute("model_type", orNull(facts.modelType));
    json.attributeArray("architectures", [&] {
      for (const std::string &one : facts.classes)
        json.value(text(one));
    });
    json.attribute("family", orNull(facts.family));
    json.attributeArray("adapters", [&] {
      for (const std::string &adapter : facts.adapters)
        json.value(text(adapter));
    });
    json.attribute("license", orNull(facts.licence));
    json.attribute("license_from", orNull(facts.licenceFrom));
    json.attribute("parameters", int64_t(numbers));
    json.attribute("bytes", int64_t(bytes));
    json.attributeObject("types", [&] {
      for (const auto &[name, type] : totals(facts))
        json.attributeObject(name, [&, &type = type] {
          json.attribute("tensors", int64_t(type.tensors));
          json.attribute("numbers", int64_t(type.numbers));
          json.attribute("bytes", int64_t(type.bytes));
        });
    });
    json.attribute("quantisation", orNull(facts.quantisation));
    json.attributeArray("files", [&] {
      for (const FileFact &file : facts.files)
        json.object([&] {
          json.attribute("path", text(file.path));
          json.attribute("bytes", int64_t(file.bytes));
        });
    });
    json.attributeObject("sizes", [&] {
      for (const auto &[name, n] : facts.sizes) {
        std::string key = name;
        std::replace(key.begin(), key.end(), ' ', '_');
        json.attribute(key, n);
      }
    });
    json.attribute("context", facts.context ? llvm::json::Value(*facts.context) : llvm::json::Value(nullptr));
    json.attribute("tokenizer", orNull(facts.tokenizer));
    json.attribute("ids", int64_t(facts.ids));
    json.attribute("chat_template", orNull(facts.chatTemplate));
    json.attribute("pooling", orNull(facts.pooling));
    json.attribute("compiles", facts.compiles());
    json.attributeArray("problems", [&] {
      for (const ProblemFact &problem : facts.problems)
        json.object([&] {
          json.attribute("kind", problem.isError ? "error" : "warning");
          json.attribute("code", problem.isError ? llvm::json::Value(codeOf(problem.code)) : nullptr);
          json.attribute("message", text(problem.message));
        });
    });
    json.attributeArray("costs", [&] {
      for (const CostFact &cost : facts.costs)
        json.object([&] {
          json.attribute("entry", cost.entry);
          json.attribute("what", cost.what);
          json.attributeObject("dims", [&] {
            for (const auto &[dim, length] : cost.dims)
              json.attribute(dim, length);
          });
          json.attribute("operations", cost.operations);
          json.attribute("bytes", cost.bytes);
          json.attribute("operations_form", cost.operationsForm);
          json.attribute("bytes_form", cost.bytesForm);
        });
    });
    json.attributeArray("needs", [&] {
      for (const std::string &what : facts.missing)
        json.value(text(what));
    });
    json.attributeArray("tensors", [&] {
      for (const TensorFact &tensor : facts.tensors)
        json.object([&] {
          json.attribute("name", text(tensor.name));
          json.attribute("type", tensor.type);
          json.attributeArray("shape", [&] {
            for (int64_t length : tensor.shape)
              json.value(length);
          });
          json.attribute("bytes", int64_t(tensor.bytes));
          json.attribute("file", int64_t(tensor.file));
        });
    });
  });
  os << "\n";
}
