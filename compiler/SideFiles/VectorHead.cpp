//===- VectorHead.cpp - modules after the pooling as an entry -------------===//
//
// The modules become a description, f32[B, width] -> f32[B, D], which the importer makes a function of. Tensors of
// several modules have one name in their files, so the name of their folder comes in front: 2_Dense.linear.weight.
//
//===----------------------------------------------------------------------===//
#include "dialects/Model/IR/VectorHead.h"
#include "compiler/SideFiles/SentenceVectors.h"
#include "compiler/Weights/Coded/CodedScheme.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace heddle;
using ModuleKind = VectorModule::Kind;

//===--- weights --------------------------------------------------------------===//

namespace {
/// The tensors of all modules, those of a module under NAME.TENSOR.
class ModuleTable final : public WeightTable {
public:
  /// False after an error.
  bool open(const VectorModule &module, bool headersOnly, DiagnosticSink &sink) {
    std::unique_ptr<WeightTable> one = openWeights(module.folder, CodedScheme(), {}, headersOnly, sink);
    bool good = one != nullptr;
    tables.push_back({module.name, std::move(one)});
    return good;
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto &[name, table] : tables)
      for (const std::string &tensor : table->names())
        all.push_back(name + "." + tensor);
    return all;
  }
  std::optional<Tensor> find(StringRef name) const override {
    auto [table, tensor] = split(name);
    return table ? table->find(tensor) : std::nullopt;
  }
  Storage storage(StringRef name) const override {
    auto [table, tensor] = split(name);
    return table ? table->storage(tensor) : Storage{};
  }
  std::optional<bool> equal(StringRef a, StringRef b) const override { return std::nullopt; }
  std::vector<std::string> files() const override { return {}; }

  /// Pairs of a module's name and a file of its.
  SmallVector<Attribute> modules(Builder &b) const {
    SmallVector<Attribute> all;
    for (const auto &[name, table] : tables)
      for (const std::string &file : table->files())
        all.push_back(b.getStrArrayAttr({name, file}));
    return all;
  }

private:
  std::pair<const WeightTable *, StringRef> split(StringRef name) const {
    for (const auto &[prefix, table] : tables) {
      StringRef rest = name;
      if (rest.consume_front(prefix) && rest.consume_front("."))
        return {table.get(), rest};
    }
    return {nullptr, ""};
  }
  std::vector<std::pair<std::string, std::unique_ptr<WeightTable>>> tables;
};
} // namespace

//===--- the description ------------------------------------------------------===//

namespace {
/// Writes the body, and holds the shapes of weights against each other.
class HeadWriter {
public:
  HeadWriter(const ModuleTable &table, int64_t width, DiagnosticSink &sink) : table(table), width(width), sink(sink) {}

  /// False after an error.
  bool add(const VectorModule &module) {
    switch (module.kind) {
    case ModuleKind::Dense: return addDense(module);
    case ModuleKind::LayerNorm: return addLayerNorm(module);
    case ModuleKind::Normalize: body += R"({"x": {"l2_norm": "x"}}, )"; return true;
    }
    return false;
  }
  std::string body;

private:
  bool fits(const VectorModule &module, const std::string &name, ArrayRef<int64_t> shape) {
    std::optional<WeightTable::Tensor> tensor = table.find(module.name + "." + name);
    if (tensor && ArrayRef<int64_t>(tensor->shape) == shape)
      return true;
    sink.error(Error::CompanionValue, module.loc, "modules.json",
               "a tensor " + name + " " + shapeText(shape) + " expected in " + escaped(module.folder) + ", found " +
                   (tensor ? shapeText(tensor->shape) : std::string("none")));
    return false;
  }

  bool addDense(const VectorModule &module) {
    std::optional<WeightTable::Tensor> weight = table.find(module.name + ".linear.weight");
    int64_t out = weight && weight->shape.size() == 2 ? weight->shape[0] : width;
    bool bias = table.find(module.name + ".linear.bias").has_value();
    if (!fits(module, "linear.weight", {out, width}) || (bias && !fits(module, "linear.bias", {out})))
      return false;
    width = out;
    body += R"({"x": {"linear": "x", "weights": ")" + module.name + R"(.linear", "bias": )" +
            (bias ? "true" : "false") + "}}, ";
    if (!module.activation.empty())
      body += R"({"x": "=)" + module.activation + "(x)\"}, ";
    return true;
  }

  bool addLayerNorm(const VectorModule &module) {
    body += R"({"x": {"layer_norm": "x", "eps": 1e-5, "weights": ")" + module.name + R"(.norm"}}, )";
    return fits(module, "norm.weight", {width}) && fits(module, "norm.bias", {width});
  }

  const ModuleTable &table;
  int64_t width;
  DiagnosticSink &sink;
};
} // namespace

/// Adds @head, from vectors of `width` numbers.
static void addHead(const SentenceVectors &vectors, int64_t width, ModuleOp module, const ImportOptions &given,
                    DiagnosticSink &sink) {
  ModuleTable table;
  for (const VectorModule &one : vectors.head)
    if (one.kind != ModuleKind::Normalize && !table.open(one, given.headersOnly, sink))
      return;
  HeadWriter writer(table, width, sink);
  for (const VectorModule &one : vectors.head)
    if (!writer.add(one))
      return;
  ImportOptions options;
  options.weights = &table;
  options.text = R"({"heddle": 1, "name": "head", "inputs": {"pooled": "f32[B,)" + std::to_string(width) +
                 R"(]"}, "body": [{"x": "=pooled"}, )" + writer.body + R"({"vector": "=x"}], "outputs": ["vector"]})";
  OwningOpRef<ModuleOp> head = importModel(*module.getContext(), options, sink);
  auto function = head ? head->lookupSymbol<func::FuncOp>("run") : func::FuncOp();
  if (!function)
    return;
  function->remove();
  function.setName(model::kHeadEntry);
  module.push_back(function);
  Builder b(module.getContext());
  if (SmallVector<Attribute> files = table.modules(b); !files.empty())
    module->setAttr(model::kModuleWeights, b.getArrayAttr(files));
}

//===--- all of it ------------------------------------------------------------===//

/// The width of the output last_hidden_state f32[B, T, width] of @run.
static std::optional<int64_t> hiddenWidth(ModuleOp module) {
  auto run = module.lookupSymbol<func::FuncOp>("run");
  for (unsigned i = 0; run && i < run.getNumResults(); ++i)
    if (auto name = run.getResultAttrOfType<StringAttr>(i, "model.name");
        name && name.getValue() == "last_hidden_state")
      if (auto type = dyn_cast<model::ModelTensorType>(run.getResultTypes()[i]); type && type.getRank() == 3)
        return type.getSize(2).constant();
  return std::nullopt;
}

void heddle::addSentenceVectors(const SentenceVectors &vectors, ModuleOp module, const ImportOptions &options,
                                DiagnosticSink &sink) {
  if (vectors.pooling.empty() || sink.hasErrors())
    return;
  std::optional<int64_t> width = hiddenWidth(module);
  if (!width || module->hasAttr("model.generate")) {
    sink.errorInFile(Error::CompanionUnsupported, options.path, "",
                     "vectors are made of the output last_hidden_state [B, T, width], which this model " +
                         Twine(width ? "gives to make texts" : "does not have") +
                         "; --pool=none compiles it without vectors");
    return;
  }
  Builder b(module.getContext());
  auto strings = [&](const std::vector<std::string> &list) {
    SmallVector<StringRef> refs(list.begin(), list.end());
    return b.getStrArrayAttr(refs);
  };
  auto yes = [&](bool value) { return b.getStringAttr(value ? "yes" : "no"); };
  NamedAttrList all;
  all.set("pooling", strings(vectors.pooling));
  all.set("normalize", yes(vectors.normalize));
  all.set("include_prompt", yes(vectors.includePrompt));
  all.set("lower", yes(vectors.lower));
  all.set("similarity", b.getStringAttr(vectors.similarity));
  if (vectors.length)
    all.set("length", b.getI64IntegerAttr(*vectors.length));
  SmallVector<Attribute> prompts;
  for (const auto &[name, text] : vectors.prompts)
    prompts.push_back(b.getStrArrayAttr({name, text}));
  if (!prompts.empty())
    all.set("prompt", b.getArrayAttr(prompts));
  if (!vectors.defaultPrompt.empty())
    all.set("default_prompt", b.getStringAttr(vectors.defaultPrompt));
  module->setAttr(model::kVectors, all.getDictionary(module.getContext()));
  if (!vectors.head.empty())
    addHead(vectors, *width * int64_t(vectors.pooling.size()), module, options, sink);
}
