// The plan is made from names and shapes. Whole tensors come first, then rows of tables, then products: DoRA's lengths
// are those of the result.
#include "compiler/Weights/Adapter/AdapterView.h"
#include "compiler/Weights/Adapter/AdapterConfig.h"
#include "compiler/Weights/Adapter/AdapterNames.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/KnownFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/FileSystem.h"
#include <map>

namespace heddle {
namespace {

constexpr llvm::StringLiteral otherBase =
    "the adapter belongs to another base, or the file is damaged: compile the base that it was trained on";
constexpr int64_t mostExperts = 4096;

/// The tensors of one module.
struct Parts {
  std::map<AdapterPart, const TensorRecord *> of;
  const TensorRecord *get(AdapterPart part) const {
    auto it = of.find(part);
    return it == of.end() ? nullptr : it->second;
  }
  const TensorRecord &any() const { return *of.begin()->second; }
};

/// A tensor of the base, and what becomes of it.
struct Target {
  const StoredTensor *base;
  StoredTensor source; ///< the base, or what replaces it
  std::vector<TensorChange> changes;
};

/// A module and the number of its wrappers.
using ModuleKey = std::pair<std::string, unsigned>;

class Planner {
public:
  Planner(const AdapterChoice &choice, const AdapterConfig &config, llvm::ArrayRef<StoredTensor> tensors,
          AdapterView &view)
      : choice(choice), config(config), tensors(tensors), names(tensors), view(view), file(*view.file) {}

  absl::Status run();

private:
  absl::Status sort();
  absl::Status replace(const TensorRecord &tensor, const AdapterName &name);
  absl::Status setRows(const std::string &module, const TensorRecord &values);
  absl::Status addModule(const std::string &module, const Parts &parts);
  absl::Status addEmbedding(Target &target, const std::string &module, const Parts &parts);
  absl::Status addLinear(Target &target, const std::string &module, const Parts &parts);
  absl::Status addLengths(Target &target, const std::string &module, const Parts &parts, bool ofColumns);
  absl::Status addExperts(const std::string &module);
  absl::Status addStack(const StoredTensor &stack, const Parts &parts, llvm::StringRef parameter,
                        const StoredTensor *sibling);
  absl::Status addEach(const std::string &module, llvm::StringRef what, const Parts &parts, llvm::StringRef parameter);
  absl::StatusOr<double> factor(llvm::StringRef module, const TensorRecord &a, int64_t rank);
  bool isTarget(llvm::StringRef module) const;
  void noteUntouched();
  void finish();

  absl::Status wrong(const TensorRecord &tensor, std::string message, llvm::StringRef help = otherBase,
                     Error code = Error::BadAdapter) const {
    return toStatus(WeightProblem{code, "", std::move(message), file.path(), tensor.headerByte, printable(tensor.name),
                                  help.str()});
  }
  absl::Status misfit(const TensorRecord &tensor, const std::string &what, const StoredTensor &base) const {
    return wrong(tensor, what + " does not fit `" + printable(base.name()) + "` of the base, which is " +
                             shapeOf(base.shape()));
  }
  Target &targetOf(const StoredTensor &base) {
    auto [it, fresh] = targets.try_emplace(base.name(), Target{&base, base, {}});
    return it->second;
  }

  const AdapterChoice &choice;
  const AdapterConfig &config;
  llvm::ArrayRef<StoredTensor> tensors;
  BaseNames names;
  AdapterView &view;
  const SafetensorsFile &file;
  std::map<llvm::StringRef, Target> targets; ///< by the name of the base's tensor
  std::map<ModuleKey, Parts> modules;
  std::vector<std::pair<AdapterName, const TensorRecord *>> whole;
};

bool Planner::isTarget(llvm::StringRef module) const {
  if (config.targets(module))
    return true;
  for (llvm::StringRef prefix : {"model.", "transformer."})
    if (config.targets((prefix + module).str()))
      return true;
  return llvm::any_of(config.parameters, [&](llvm::StringRef parameter) {
    std::string weight = (module + ".weight").str();
    return weight == parameter || llvm::StringRef(weight).ends_with(("." + parameter).str());
  });
}

/// alpha over the rank, times the scale of the command line; an error where the config says another rank.
absl::StatusOr<double> Planner::factor(llvm::StringRef module, const TensorRecord &a, int64_t rank) {
  if (int64_t said = config.rankOf(module); said != rank)
    return wrong(a,
                 "`" + printable(module) + "` has the rank " + std::to_string(rank) +
                     ", and adapter_config.json says " + std::to_string(said),
                 "take both files of one adapter");
  return choice.scale * config.scaleOf(module, rank);
}

//===--- tensors by module ------------------------------------------------------===//

absl::Status Planner::sort() {
  for (const TensorRecord &tensor : file.header().tensors) {
    if (!isReal(tensor.type) && AdapterName::of(tensor.name).part != AdapterPart::Whole)
      return wrong(tensor, "expected real numbers, got " + spelling(tensor.type).str());
    AdapterName name = AdapterName::of(tensor.name);
    if (name.part == AdapterPart::Whole) {
      whole.push_back({std::move(name), &tensor});
      continue;
    }
    auto [it, fresh] = modules[{name.module, name.wrappers}].of.try_emplace(name.part, &tensor);
    if (!fresh)
      return wrong(tensor, "it is the same as `" + printable(it->second->name) + "`, in another spelling",
                   "remove the one that is not meant");
  }
  if (modules.empty() && whole.empty())
    return toStatus(WeightProblem{Error::BadAdapter, "", "the adapter has no tensors", file.path(), 0, "",
                                  "take the adapter_model.safetensors that peft wrote"});
  return absl::OkStatus();
}

absl::Status Planner::replace(const TensorRecord &tensor, const AdapterName &name) {
  const StoredTensor *base = names.find(name.module);
  llvm::StringRef module = name.module;
  if (!base && !module.consume_back(".weight"))
    base = names.weightOf(module);
  if (!base) {
    // A head that is tied to the table: peft writes the table twice.
    for (const auto &[other, record] : whole)
      if (record != &tensor && record->shape == tensor.shape && record->type == tensor.type &&
          names.find(other.module)) {
        std::vector<uint8_t> one(size_t(1) << 20), two(one.size());
        bool same = true;
        for (uint64_t at = 0; same && at < tensor.bytes; at += one.size()) {
          size_t count = std::min<uint64_t>(one.size(), tensor.bytes - at);
          llvm::MutableArrayRef<uint8_t> x(one.data(), count), y(two.data(), count);
          if (absl::Status status = file.readBytes(tensor, at, x); !status.ok())
            return status;
          if (absl::Status status = file.readBytes(*record, at, y); !status.ok())
            return status;
          same = x == y;
        }
        if (same)
          return absl::OkStatus();
      }
    return wrong(tensor, "`" + printable(name.module) + "` is nothing of the base",
                 "if the adapter adds a head, or unties one, " + mergeInPython.str());
  }
  bool grown = base->shape().size() == 2 && tensor.shape.size() == 2 && base->shape()[1] == tensor.shape[1];
  if (base->shape() != tensor.shape && grown)
    return wrong(tensor,
                 "the adapter has " + std::to_string(tensor.shape[0]) + " rows for `" + printable(base->name()) +
                     "`, and the base has " + std::to_string(base->shape()[0]),
                 "tokens were added to the base before training; " + mergeInPython.str());
  if (base->shape() != tensor.shape)
    return misfit(tensor, "a tensor " + shapeOf(tensor.shape), *base);
  if (isReal(base->type()) != isReal(tensor.type))
    return wrong(tensor, "it is of " + spelling(tensor.type).str() + ", and `" + printable(base->name()) +
                             "` of the base of " + spelling(base->type()).str());
  Target &target = targetOf(*base);
  if (target.source.record != base->record)
    return wrong(tensor, "`" + printable(base->name()) + "` of the base is replaced twice",
                 "remove the one that is not meant");
  auto record = std::make_unique<TensorRecord>(tensor);
  record->name = base->name();
  target.source = {record.get(), &file};
  view.replaced.push_back(std::move(record));
  return absl::OkStatus();
}

absl::Status Planner::setRows(const std::string &module, const TensorRecord &values) {
  auto tokens = llvm::find_if(
      config.tokens, [&](const AdapterConfig::Tokens &t) { return llvm::StringRef(module).ends_with(t.module); });
  if (tokens == config.tokens.end())
    return wrong(values, "trainable_token_indices of adapter_config.json does not name this module",
                 "take both files of one adapter");
  const StoredTensor *base = names.weightOf(module);
  if (!base)
    return wrong(values, "`" + printable(module) + "` is nothing of the base");
  if (base->shape().size() != 2 || values.shape.size() != 2 || values.shape[1] != base->shape()[1] ||
      !isReal(base->type()))
    return misfit(values, "rows " + shapeOf(values.shape), *base);
  if (values.shape[0] != int64_t(tokens->rows.size()))
    return wrong(values,
                 "it has " + std::to_string(values.shape[0]) + " rows, and trainable_token_indices " +
                     std::to_string(tokens->rows.size()),
                 "take both files of one adapter");
  llvm::SmallSet<int64_t, 16> seen;
  for (int64_t row : tokens->rows) {
    if (row >= base->shape()[0])
      return wrong(values, "trainable_token_indices has the row " + std::to_string(row) + ", and `" +
                               printable(base->name()) + "` of the base has " + std::to_string(base->shape()[0]) +
                               " rows");
    if (!seen.insert(row).second)
      return wrong(values, "trainable_token_indices has the row " + std::to_string(row) + " twice",
                   "take the adapter_config.json that peft wrote");
  }
  targetOf(*base).changes.push_back(RowChange{&values, tokens->rows});
  return absl::OkStatus();
}

//===--- products ---------------------------------------------------------------===//

absl::Status Planner::addLengths(Target &target, const std::string &module, const Parts &parts, bool ofColumns) {
  const TensorRecord *lengths = parts.get(AdapterPart::Magnitude);
  if (config.dora != (lengths != nullptr))
    return wrong(parts.any(),
                 "`" + printable(module) +
                     (lengths ? "` has a magnitude, and adapter_config.json does not say use_dora"
                              : "` has no magnitude, and adapter_config.json says use_dora"),
                 "take both files of one adapter");
  if (!lengths)
    return absl::OkStatus();
  if (int64_t(lengths->elements()) != target.base->shape()[ofColumns ? 1 : 0])
    return misfit(*lengths, "a magnitude " + shapeOf(lengths->shape), *target.base);
  target.changes.push_back(LengthChange{lengths, ofColumns});
  return absl::OkStatus();
}

/// A table: A [rank, rows], B [width, rank].
absl::Status Planner::addEmbedding(Target &target, const std::string &module, const Parts &parts) {
  const TensorRecord *a = parts.get(AdapterPart::EmbeddingA), *b = parts.get(AdapterPart::EmbeddingB);
  if (!a || !b || parts.get(AdapterPart::A) || parts.get(AdapterPart::B))
    return wrong(parts.any(), "`" + printable(module) + "` has half of a pair: lora_embedding_A and _B are needed");
  const StoredTensor &base = *target.base;
  if (a->shape.size() != 2 || b->shape.size() != 2 || a->shape[0] != b->shape[1] || base.shape().size() != 2 ||
      a->shape[1] != base.shape()[0] || b->shape[0] != base.shape()[1])
    return misfit(*a, "A " + shapeOf(a->shape) + " with B " + shapeOf(b->shape), base);
  int64_t rank = a->shape[0], rows = a->shape[1];
  absl::StatusOr<double> scale = factor(module, *a, rank);
  if (!scale.ok())
    return scale.status();
  target.changes.push_back(ProductChange{{a, 0, 0, 1, rows}, {b, 0, 0, rank, 1}, rank, *scale, rows});
  return addLengths(target, module, parts, /*ofColumns=*/true);
}

/// A [rank, in], B [out, rank]; the weight is [out, in], or [in, out] of a Conv1D.
absl::Status Planner::addLinear(Target &target, const std::string &module, const Parts &parts) {
  const TensorRecord *a = parts.get(AdapterPart::A), *b = parts.get(AdapterPart::B);
  if (!a || !b)
    return wrong(parts.any(),
                 "`" + printable(module) + "` has half of a pair: lora_" + (a ? "B" : "A") + " is missing");
  if (a->shape.size() > 2)
    return wrong(*a, "`" + printable(module) + "` is a convolution, and products are merged into matrices only",
                 mergeInPython, Error::AdapterUnsupported);
  const StoredTensor &base = *target.base;
  if (a->shape.size() != 2 || b->shape.size() != 2 || a->shape[0] != b->shape[1] || base.shape().size() != 2)
    return misfit(*a, "A " + shapeOf(a->shape) + " with B " + shapeOf(b->shape), base);
  int64_t rank = a->shape[0], in = a->shape[1], out = b->shape[0];
  absl::StatusOr<double> scale = factor(module, *a, rank);
  if (!scale.ok())
    return scale.status();
  bool rowsAreOutputs = base.coded && base.coded->rowsAreOutputs();
  bool inOut = config.inOut && !rowsAreOutputs && base.shape()[0] == in && base.shape()[1] == out;
  if (!inOut && (base.shape()[0] != out || base.shape()[1] != in))
    return misfit(*a, "B A [" + std::to_string(out) + ", " + std::to_string(in) + "]", base);
  if (inOut)
    target.changes.push_back(ProductChange{{a, 0, 0, 1, in}, {b, 0, 0, rank, 1}, rank, *scale, in});
  else
    target.changes.push_back(ProductChange{{b, 0, 0, rank, 1}, {a, 0, 0, 1, in}, rank, *scale, out});
  if (absl::Status status = addLengths(target, module, parts, inOut); !status.ok())
    return status;
  const TensorRecord *bias = parts.get(AdapterPart::BiasB);
  if (!bias)
    return absl::OkStatus();
  llvm::StringRef weight = base.name();
  const StoredTensor *to = weight.consume_back(".weight") ? names.find((weight + ".bias").str()) : nullptr;
  if (!to)
    return wrong(*bias, "the adapter has a bias (lora_bias), and `" + printable(base.name()) + "` of the base has none",
                 mergeInPython, Error::AdapterUnsupported);
  if (to->shape() != llvm::ArrayRef<int64_t>(out) || bias->shape != llvm::ArrayRef<int64_t>(out) || !isReal(to->type()))
    return misfit(*bias, "a bias " + shapeOf(bias->shape), *to);
  targetOf(*to).changes.push_back(VectorChange{bias, *scale});
  return absl::OkStatus();
}

absl::Status Planner::addModule(const std::string &module, const Parts &parts) {
  if (const TensorRecord *bias = parts.get(AdapterPart::BiasA))
    return wrong(*bias, "lora_A has a bias, which no adapter of peft has");
  if (!isTarget(module))
    return wrong(parts.any(), "`" + printable(module) + "` is not among the targets of adapter_config.json",
                 "take both files of one adapter");
  const StoredTensor *base = names.weightOf(module);
  if (!base)
    return wrong(parts.any(), "`" + printable(module) + "` is nothing of the base",
                 "compile the base that the adapter was trained on; if its library's class is another one, " +
                     mergeInPython.str());
  if (!isReal(base->type()))
    return misfit(parts.any(), "an adapter", *base);
  if (base->shape().size() == 3 && parts.get(AdapterPart::A) && parts.get(AdapterPart::B) && !config.parameters.empty())
    return addStack(*base, parts, module, nullptr);
  Target &target = targetOf(*base);
  bool embedding = parts.get(AdapterPart::EmbeddingA) || parts.get(AdapterPart::EmbeddingB);
  return embedding ? addEmbedding(target, module, parts) : addLinear(target, module, parts);
}

//===--- experts ----------------------------------------------------------------===//

/// The parameters of all experts of a module: A [experts * rank, in], B [out, rank * experts] with the expert running
/// fastest. Wrappers lie in one another; the innermost is that of the parameter that stands first in the module.
absl::Status Planner::addExperts(const std::string &module) {
  std::vector<const Parts *> wrappers;
  for (auto it = modules.lower_bound({module, 0}); it != modules.end() && it->first.first == module; ++it)
    wrappers.insert(wrappers.begin(), &it->second);                // those with more wrappers come later
  std::vector<std::pair<std::string, llvm::StringRef>> parameters; // of the module, and as the config calls them
  for (llvm::StringRef what : {"gate_up_proj", "down_proj"})
    for (const std::string &parameter : config.parameters)
      if (llvm::StringRef(parameter).ends_with(what)) {
        parameters.push_back({what.str(), parameter});
        break;
      }
  if (parameters.size() != wrappers.size())
    return wrong(wrappers.front()->any(),
                 "`" + printable(module) + "` has products for " + std::to_string(wrappers.size()) +
                     " parameters, and target_parameters names " + std::to_string(parameters.size()) +
                     " of gate_up_proj and down_proj",
                 mergeInPython, Error::AdapterUnsupported);
  for (size_t i = 0; i < wrappers.size(); ++i) {
    const Parts &parts = *wrappers[i];
    const TensorRecord *a = parts.get(AdapterPart::A), *b = parts.get(AdapterPart::B);
    if (!a || !b)
      return wrong(parts.any(),
                   "`" + printable(module) + "` has half of a pair: lora_" + (a ? "B" : "A") + " is missing");
    if (parts.of.size() > 2)
      return wrong(parts.any(), "products of experts have neither magnitudes nor biases", mergeInPython,
                   Error::AdapterUnsupported);
    if (a->shape.size() != 2 || b->shape.size() != 2 || a->shape[0] != b->shape[1])
      return wrong(*a, "A " + shapeOf(a->shape) + " does not fit B " + shapeOf(b->shape));
    const auto &[what, parameter] = parameters[i];
    absl::Status status;
    if (const StoredTensor *stack = names.find(module + "." + what); stack && stack->shape().size() == 3)
      status = addStack(*stack, parts, parameter,
                        names.find(module + "." + (what == "down_proj" ? "gate_up_proj" : "down_proj")));
    else
      status = addEach(module, what, parts, parameter);
    if (!status.ok())
      return status;
  }
  return absl::OkStatus();
}

/// A stack [experts, out, in] or [experts, in, out]: which, the shapes say, or those of the module's other stack.
absl::Status Planner::addStack(const StoredTensor &stack, const Parts &parts, llvm::StringRef parameter,
                               const StoredTensor *sibling) {
  const TensorRecord &a = *parts.get(AdapterPart::A), &b = *parts.get(AdapterPart::B);
  if (a.shape.size() != 2 || b.shape.size() != 2 || a.shape[0] != b.shape[1])
    return misfit(a, "A " + shapeOf(a.shape) + " with B " + shapeOf(b.shape), stack);
  int64_t n = stack.shape()[0], rows = stack.shape()[1], columns = stack.shape()[2], in = a.shape[1], out = b.shape[0];
  bool outFirst = rows == out && columns == in;
  bool inFirst = rows == in && columns == out && !(stack.coded && stack.coded->rowsAreOutputs());
  if (outFirst && inFirst && sibling && sibling->shape().size() == 3) {
    // gate_up_proj is [2 * inner, width] or [width, 2 * inner].
    bool asOut = sibling->shape()[1] == 2 * in && sibling->shape()[2] == out;
    bool asIn = sibling->shape()[1] == out && sibling->shape()[2] == 2 * in;
    inFirst = !asOut || asIn;
    outFirst = !asIn || asOut;
  }
  if (n < 1 || n > mostExperts || a.shape[0] % n || (!outFirst && !inFirst))
    return misfit(a, "A " + shapeOf(a.shape) + " with B " + shapeOf(b.shape), stack);
  if (outFirst && inFirst)
    return wrong(a, "`" + printable(stack.name()) + "` of the base may be [experts, out, in] or [experts, in, out]",
                 mergeInPython, Error::AdapterUnsupported);
  int64_t rank = a.shape[0] / n;
  absl::StatusOr<double> scale = factor(parameter, a, rank);
  if (!scale.ok())
    return scale.status();
  ProductChange::Factor ofA{&a, 0, rank * in, 1, in}, ofB{&b, 0, 1, rank * n, n};
  targetOf(stack).changes.push_back(outFirst ? ProductChange{ofB, ofA, rank, *scale, rows}
                                             : ProductChange{ofA, ofB, rank, *scale, rows});
  return absl::OkStatus();
}

/// A matrix of its own for each expert, as checkpoints of transformers 4 have them; gate and up are two.
absl::Status Planner::addEach(const std::string &module, llvm::StringRef what, const Parts &parts,
                              llvm::StringRef parameter) {
  const TensorRecord &a = *parts.get(AdapterPart::A), &b = *parts.get(AdapterPart::B);
  using Names = std::vector<llvm::StringRef>;
  std::vector<Names> spellings = what == "down_proj" ? std::vector<Names>{{"w2"}, {"down_proj"}}
                                                     : std::vector<Names>{{"w1", "w3"}, {"gate_proj", "up_proj"}};
  auto matrix = [&](int64_t expert, llvm::StringRef name) {
    return names.find(module + "." + std::to_string(expert) + "." + name.str() + ".weight");
  };
  auto spelling = llvm::find_if(spellings, [&](const Names &one) { return matrix(0, one.front()) != nullptr; });
  if (spelling == spellings.end())
    return wrong(a,
                 "`" + printable(module) + "." + what.str() + "` is nothing of the base, nor are matrices of experts");
  int64_t n = 0;
  while (n < mostExperts && matrix(n, spelling->front()))
    ++n;
  int64_t in = a.shape[1], out = b.shape[0], rank = a.shape[0] / n;
  if (a.shape[0] % n)
    return wrong(a, "its " + std::to_string(a.shape[0]) + " rows are not the same rank for each of " +
                        std::to_string(n) + " experts");
  absl::StatusOr<double> scale = factor(parameter, a, rank);
  if (!scale.ok())
    return scale.status();
  for (int64_t e = 0; e < n; ++e) {
    int64_t at = 0;
    for (llvm::StringRef name : *spelling) {
      const StoredTensor *base = matrix(e, name);
      if (!base)
        return wrong(a, "expert " + std::to_string(e) + " of the base has no `" + name.str() + "`");
      if (base->shape().size() != 2 || base->shape()[1] != in || base->shape()[0] > out - at || !isReal(base->type()))
        return misfit(a, "A " + shapeOf(a.shape) + " with B " + shapeOf(b.shape), *base);
      int64_t rows = base->shape()[0];
      targetOf(*base).changes.push_back(ProductChange{{&b, at * rank * n + e, 0, rank * n, n},
                                                      {&a, e * rank * in, 0, 1, in},
                                                      rank,
                                                      *scale,
                                                      std::max<int64_t>(rows, 1)});
      at += rows;
    }
    if (at != out)
      return wrong(b, "it has " + std::to_string(out) + " outputs, and expert " + std::to_string(e) + " of the base " +
                          std::to_string(at));
  }
  return absl::OkStatus();
}

//===--- all of it --------------------------------------------------------------===//

/// Notes modules that the config names and that have no tensors: an adapter that was cut, or targets of other models.
void Planner::noteUntouched() {
  std::vector<llvm::StringRef> untouched;
  for (const StoredTensor &tensor : tensors) {
    llvm::StringRef module = tensor.name();
    if (tensor.shape().size() == 2 && module.consume_back(".weight") && !targets.count(tensor.name()) &&
        (config.targets(module) || config.targets(("model." + module).str()) ||
         config.targets(("transformer." + module).str())))
      untouched.push_back(module);
  }
  if (!untouched.empty())
    view.remarks.push_back("target_modules of " + printable(choice.folder, 4096) +
                           " names modules that it has no tensors for: " + printable(untouched.front()) +
                           (untouched.size() > 1 ? " and " + std::to_string(untouched.size() - 1) + " more" : ""));
}

/// Whether a tensor of the base stands as codes, not as floats of another container.
static bool isCoded(const StoredTensor &tensor) {
  if (!tensor.coded || tensor.coded->merged())
    return false;
  llvm::StringRef kind = tensor.coded->kind();
  return !kind.ends_with("F64") && !kind.ends_with("F32") && !kind.ends_with("F16");
}

void Planner::finish() {
  auto factors = std::make_shared<FactorReader>(file);
  std::map<std::string, size_t> decoded;
  for (auto &[name, target] : targets) {
    if (isCoded(target.source))
      ++decoded[target.source.coded->kind()];
    if (!target.changes.empty())
      view.merged.push_back(
          std::make_unique<MergedTensor>(name.str(), target.source, std::move(target.changes), factors));
  }
  for (const auto &[kind, count] : decoded)
    view.remarks.push_back((count == 1 ? "1 matrix that is" : std::to_string(count) + " matrices that are") +
                           " stored as " + kind + " and that " + printable(choice.folder, 4096) +
                           " changes: decoded, then stored as --dtype and --weights-dtype say");
  if (!config.unknown.empty())
    view.remarks.push_back("keys of " + printable(choice.file(AdapterChoice::configName), 4096) +
                           " that are not known, and null: " + printable(config.unknown.front()) +
                           (config.unknown.size() > 1 ? ", ..." : ""));
}

absl::Status Planner::run() {
  if (absl::Status status = sort(); !status.ok())
    return status;
  for (const auto &[name, tensor] : whole)
    if (absl::Status status = replace(*tensor, name); !status.ok())
      return status;
  for (const auto &[key, parts] : modules)
    if (const TensorRecord *rows = parts.get(AdapterPart::Tokens))
      if (absl::Status status = setRows(key.first, *rows); !status.ok())
        return status;
  std::string last;
  for (const auto &[key, parts] : modules) {
    const std::string &module = key.first;
    if (parts.get(AdapterPart::Tokens) && parts.of.size() == 1)
      continue;
    absl::Status status;
    if (llvm::StringRef(module).ends_with("experts") && !config.parameters.empty())
      status = module == last ? absl::OkStatus() : addExperts(module);
    else if (module == last)
      status = wrong(parts.any(), "`" + printable(module) + "` has two products, one in the other");
    else
      status = addModule(module, parts);
    if (!status.ok())
      return status;
    last = module;
  }
  if (config.listsTargets())
    noteUntouched();
  if (absl::Status status = config.checkEffort(); !status.ok())
    return status;
  finish();
  return absl::OkStatus();
}

/// Opens the weights of an adapter; other files that may be there are named with the step that helps.
absl::StatusOr<SafetensorsFile> openWeights(const AdapterChoice &choice) {
  std::string path = choice.file(AdapterChoice::weightsName), pickle = choice.file("adapter_model.bin");
  if (!llvm::sys::fs::exists(path) && llvm::sys::fs::exists(pickle))
    return toStatus(WeightProblem{Error::Pickle, "", "the adapter is a pickle, which is never read: it can run code",
                                  printable(pickle, 4096), std::nullopt, "",
                                  "load it where it is trusted and save it again with "
                                  "model.save_pretrained(DIR, safe_serialization=True)"});
  return SafetensorsFile::open(path);
}

} // namespace

absl::StatusOr<AdapterView> viewAdapter(const AdapterChoice &choice, llvm::ArrayRef<StoredTensor> tensors) {
  std::string shown = printable(choice.folder, 4096);
  if (llvm::StringRef(choice.folder).ends_with(".gguf"))
    return toStatus(WeightProblem{Error::AdapterUnsupported, "", "an adapter in a GGUF file (llama.cpp) is not merged",
                                  shown, std::nullopt, "", "name the folder of peft's that it was made from"});
  if (!llvm::sys::fs::is_directory(choice.folder))
    return toStatus(WeightProblem{Error::BadAdapter, "", "expected the folder of a LoRA adapter", shown, std::nullopt,
                                  "", "name the folder that holds adapter_config.json and adapter_model.safetensors"});
  if (!llvm::sys::fs::exists(choice.file(AdapterChoice::configName)))
    return toStatus(WeightProblem{Error::BadAdapter, "", "the folder of a LoRA adapter has no adapter_config.json",
                                  shown, std::nullopt, "", "name the folder that peft's save_pretrained wrote"});
  absl::StatusOr<AdapterConfig> config = AdapterConfig::read(choice.file(AdapterChoice::configName));
  if (!config.ok())
    return config.status();
  if (choice.scale != 1 && (!config->saved.empty() || config->replacesBiases || !config->tokens.empty())) {
    llvm::StringRef key = !config->saved.empty()   ? "modules_to_save"
                          : config->replacesBiases ? "bias"
                                                   : "trainable_token_indices";
    return toStatus(config->problemAt(
        key, "`" + key.str() + "`: the adapter replaces whole tensors, which no scale can do by halves",
        "give it without a scale: --lora " + shown, Error::AdapterUnsupported));
  }
  absl::StatusOr<SafetensorsFile> file = openWeights(choice);
  if (!file.ok())
    return file.status();
  AdapterView view;
  view.file = std::make_unique<SafetensorsFile>(*std::move(file));
  if (absl::Status status = Planner(choice, *config, tensors, view).run(); !status.ok())
    return status;
  return view;
}

} // namespace heddle
