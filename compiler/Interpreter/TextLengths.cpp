//===- TextLengths.cpp - rows of different lengths in a generation --------===//
//
// Inputs whose first axis is the batch give their rows, those whose last axis is the text their
// columns; any other is shared.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpreter/TextLengths.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace heddle;
using heddle::model::ModelTensorType;

namespace {
/// The columns [begin, end) of a row.
struct Span {
  int64_t begin, end;
  int64_t length() const { return end - begin; }
};

/// The roles that say what is padding.
struct Padding {
  std::string tokens, mask;
  std::optional<int64_t> pad, start;
};

std::optional<Padding> paddingOf(ModuleOp module) {
  auto roles = module->getAttrOfType<DictionaryAttr>("model.generate");
  auto pad = roles ? roles.getAs<IntegerAttr>("pad") : IntegerAttr();
  auto tokens = roles ? roles.getAs<StringAttr>("tokens") : StringAttr();
  if (!pad || !tokens)
    return std::nullopt;
  Attribute eos = roles.get("eos");
  auto several = dyn_cast_or_null<ArrayAttr>(eos);
  for (Attribute one : several ? several.getValue() : ArrayRef(eos))
    if (auto id = dyn_cast_or_null<IntegerAttr>(one); id && id.getInt() == pad.getInt())
      return std::nullopt;
  auto mask = roles.getAs<StringAttr>("mask");
  auto start = roles.getAs<IntegerAttr>("start");
  return Padding{tokens.str(), mask ? mask.str() : "", pad.getInt(),
                 start ? std::optional<int64_t>(start.getInt()) : std::nullopt};
}

/// What of a row is no padding. A start token is none, also where it has the id of padding; a row of nothing but
/// padding is left as it is.
Span spanOf(const Padding &p, ArrayRef<int64_t> ids) {
  auto length = int64_t(ids.size());
  Span span = {0, length};
  while (span.begin < length && ids[span.begin] == *p.pad)
    ++span.begin;
  bool starts = p.start == p.pad && span.begin > 0;
  if (span.begin == length)
    return starts ? Span{0, 1} : Span{0, length};
  span.begin -= starts;
  while (ids[span.end - 1] == *p.pad)
    --span.end;
  return span;
}

/// The rows `rows` of `t` where it has them, and of each the columns of its span where it has those.
Tensor taken(const Tensor &t, bool byRow, bool byColumn, ArrayRef<int64_t> rows, ArrayRef<Span> spans) {
  std::vector<int64_t> shape = t.shape;
  int64_t length = spans[rows[0]].length();
  if (byRow)
    shape[0] = rows.size();
  if (byColumn)
    shape.back() = length;
  Tensor out = Tensor::zeros(t.kind, shape);
  int64_t block = t.count() / (byRow ? t.shape[0] : 1), line = byColumn ? t.shape.back() : block, to = 0;
  for (int64_t row : byRow ? rows : rows.take_front(1))
    for (int64_t at = 0; at < block; at += line)
      for (int64_t i = 0; i < (byColumn ? length : line); ++i, ++to) {
        int64_t from = (byRow ? row * block : 0) + at + (byColumn ? spans[row].begin : 0) + i;
        if (t.kind == Tensor::Kind::Real)
          out.reals[to] = t.reals[from];
        else
          out.ints[to] = t.ints[from];
      }
  return out;
}

/// The declared type of an input of @run; null if there is none of this name.
ModelTensorType typeOf(func::FuncOp run, StringRef input) {
  for (BlockArgument a : run.getArguments())
    if (run.getArgAttrOfType<StringAttr>(a.getArgNumber(), "model.name") == input)
      return dyn_cast<ModelTensorType>(a.getType());
  return {};
}
} // namespace

FailureOr<std::vector<RowGroup>> heddle::groupsByLength(ModuleOp module, const Tensors &inputs) {
  std::optional<Padding> p = paddingOf(module);
  auto run = module.lookupSymbol<func::FuncOp>("run");
  auto tokens = p ? inputs.find(p->tokens) : inputs.end();
  std::vector<RowGroup> groups = {{{}, inputs}};
  if (tokens == inputs.end() || !run || tokens->second.rank() != 2 || tokens->second.kind != Tensor::Kind::Int ||
      (!p->mask.empty() && inputs.count(p->mask)))
    return groups;
  const Tensor &ids = tokens->second;
  int64_t batches = ids.shape[0], length = ids.shape[1];
  std::vector<Span> spans;
  std::map<int64_t, std::vector<int64_t>> rows;
  for (int64_t row = 0; row < batches; ++row) {
    spans.push_back(spanOf(*p, ArrayRef(ids.ints).slice(row * length, length)));
    rows[spans.back().length()].push_back(row);
  }
  if (rows.size() == 1 && rows.begin()->first == length)
    return groups;
  if (!p->mask.empty()) {
    Tensor mask = Tensor::zeros(Tensor::Kind::Int, ids.shape);
    for (int64_t row = 0; row < batches; ++row)
      std::fill(&mask.ints[row * length + spans[row].begin], &mask.ints[row * length] + spans[row].end, 1);
    groups[0].inputs[p->mask] = std::move(mask);
    return groups;
  }
  groups.clear();
  ModelTensorType text = typeOf(run, p->tokens);
  auto isAxis = [](ModelTensorType type, int64_t axis, model::Size size) { return type.getSize(axis) == size; };
  for (auto &[count, own] : rows) {
    RowGroup group{own, {}};
    for (const auto &[name, tensor] : inputs) {
      ModelTensorType type = typeOf(run, name);
      if (!type || !text || text.getRank() != 2)
        return emitError(run.getLoc()) << "no input '" << name << "' that can be cut to texts of different lengths";
      int64_t missing = type.getRank() - tensor.rank(); // leading axes that are not given
      bool byRow = tensor.rank() > 0 && missing == 0 && isAxis(type, 0, text.getSize(0));
      bool byColumn = tensor.rank() > 0 && isAxis(type, type.getRank() - 1, text.getSize(1));
      group.inputs[name] = taken(tensor, byRow, byColumn, own, spans);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

Generated heddle::mergedGroups(ArrayRef<RowGroup> groups, ArrayRef<Generated> made, const Tensor &prompt,
                               int64_t newTokens) {
  Generated out;
  int64_t batches = prompt.shape[0], length = prompt.shape[1], steps = 0;
  out.ids = Tensor::zeros(Tensor::Kind::Int, {batches, length + newTokens});
  for (const Generated &one : made)
    steps = std::max<int64_t>(steps, one.logits.size());
  for (int64_t row = 0; row < batches; ++row)
    std::copy_n(&prompt.ints[row * length], length, &out.ids.ints[row * (length + newTokens)]);
  for (int64_t step = 0; step < steps; ++step)
    out.logits.push_back(Tensor::zeros(Tensor::Kind::Real, {batches, made[0].logits[0].shape[1]}));
  for (auto [group, one] : llvm::zip_equal(groups, made))
    for (auto [i, row] : llvm::enumerate(group.rows)) {
      int64_t width = one.ids.shape[1];
      std::copy_n(&one.ids.ints[int64_t(i + 1) * width - newTokens], newTokens,
                  &out.ids.ints[(row + 1) * (length + newTokens) - newTokens]);
      for (auto [step, logits] : llvm::enumerate(one.logits)) {
        int64_t words = logits.shape[1];
        std::copy_n(&logits.reals[int64_t(i) * words], words, &out.logits[step].reals[row * words]);
      }
    }
  return out;
}
