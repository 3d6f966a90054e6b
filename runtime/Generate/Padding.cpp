//===- Padding.cpp - Rows of different lengths ----------------------------===//
//
// A row padded on the right is rotated to the right by its padding: in the
// tokens, the mask and every other input along the step axis.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Padding.h"
#include "runtime/Generate/Columns.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

/// Masked columns at the end of a row; 0 if the whole row is masked.
static int64_t trailingPads(const Tensor &mask, int64_t row, int64_t length) {
  const char *data = mask.data.as<char>();
  size_t size = typeSize(mask.type);
  int64_t pads = 0;
  static const char zero[8] = {};
  while (pads < length && memcmp(data + (row * length + length - 1 - pads) * size, zero, size) == 0)
    ++pads;
  return pads == length ? 0 : pads;
}

Status turnPadding(const Roles &roles, Prompt &prompt) {
  const Tensor *mask = roles.mask.empty() ? nullptr : prompt.find(roles.mask);
  bool masked = mask && mask->count() == prompt.rows * prompt.length;
  if (!masked && (prompt.spans.empty() || !roles.padsLeft))
    return {};
  std::vector<int64_t> pads(prompt.rows);
  for (int64_t row = 0; row < prompt.rows; ++row)
    if (masked) {
      pads[row] = trailingPads(*mask, row, prompt.length);
    } else {
      RowSpan &span = prompt.spans[size_t(row)];
      pads[row] = prompt.length - span.end;
      span = {span.begin + pads[row], prompt.length};
    }
  for (const std::string &name : stepInputs(roles)) {
    auto found = prompt.inputs.find(name);
    if (found == prompt.inputs.end())
      continue;
    Tensor &tensor = found->second;
    if (tensor.count() != prompt.rows * prompt.length)
      return unsupported("input " + quote(name) + " does not hold one value a token of the batch");
    size_t size = typeSize(tensor.type), bytes = prompt.length * size;
    for (int64_t row = 0; row < prompt.rows; ++row) {
      char *data = tensor.data.as<char>() + row * bytes;
      std::rotate(data, data + bytes - pads[row] * size, data + bytes);
    }
  }
  return {};
}

/// What of a row is no padding. A start token is none, also where it has the id of padding; a row of nothing but
/// padding is left as it is.
static RowSpan spanOf(const Roles &roles, const int64_t *ids, int64_t length) {
  RowSpan span = {0, length};
  while (span.begin < length && ids[span.begin] == *roles.pad)
    ++span.begin;
  bool starts = roles.start == roles.pad && span.begin > 0;
  if (span.begin == length)
    return starts ? RowSpan{0, 1} : RowSpan{0, length};
  span.begin -= starts;
  while (ids[span.end - 1] == *roles.pad)
    --span.end;
  return span;
}

/// The mask that hides what is around the spans.
static Status makeMask(const Value &value, const std::vector<RowSpan> &spans, Prompt &prompt) {
  Tensor &mask = prompt.inputs[value.name];
  Shape shape;
  HEDDLE_TRY(shapeOf(value, prompt.dims, shape));
  HEDDLE_TRY(Tensor::make(value.name, value.type, shape, mask));
  for (int64_t i = 0; i < mask.count(); ++i) {
    const RowSpan &span = spans[size_t(i / prompt.length)];
    storeNumber(value.type, mask.data.data(), i, i % prompt.length >= span.begin && i % prompt.length < span.end);
  }
  return {};
}

Status findPadding(const Card &card, Prompt &prompt) {
  const Roles &roles = card.roles;
  if (!roles.pad || std::count(roles.eos.begin(), roles.eos.end(), *roles.pad) ||
      (!roles.mask.empty() && prompt.find(roles.mask)))
    return {};
  const int64_t *ids = prompt.find(roles.tokens)->data.as<int64_t>();
  bool padded = false;
  std::vector<RowSpan> spans;
  for (int64_t row = 0; row < prompt.rows; ++row) {
    spans.push_back(spanOf(roles, ids + row * prompt.length, prompt.length));
    padded |= spans.back().length() < prompt.length;
  }
  if (!padded)
    return {};
  if (const Value *mask = roles.mask.empty() ? nullptr : prompt.run->input(roles.mask))
    return makeMask(*mask, spans, prompt);
  prompt.spans = std::move(spans);
  return {};
}

/// Copies an input: of `rows`, where its first axis is the batch, and of their spans, where its last one is the text.
static Status takeInput(const Prompt &prompt, const Tensor &tensor, bool byRow, bool byColumn,
                        const std::vector<int64_t> &rows, Tensor &taken) {
  Shape shape = tensor.shape;
  int64_t length = prompt.spans[size_t(rows[0])].length();
  if (byRow)
    shape[0] = int64_t(rows.size());
  if (byColumn)
    shape.back() = length;
  HEDDLE_TRY(Tensor::make(tensor.name, tensor.type, shape, taken));
  int64_t count = byRow ? int64_t(rows.size()) : 1, block = tensor.count() / (byRow ? prompt.rows : 1);
  int64_t line = byColumn ? prompt.length : block, wanted = byColumn ? length : block;
  size_t size = typeSize(tensor.type);
  char *to = taken.data.as<char>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = rows[size_t(i)], first = byColumn ? prompt.spans[size_t(row)].begin : 0;
    for (int64_t at = 0; at < block; at += line, to += wanted * size)
      memcpy(to, tensor.data.as<char>() + ((byRow ? row : 0) * block + at + first) * size, wanted * size);
  }
  return {};
}

Status takeRows(const Card &card, const Prompt &prompt, const std::vector<int64_t> &rows, Prompt &taken) {
  const Value *tokens = prompt.run->input(card.roles.tokens);
  int batch = tokens->axes.size() == 2 ? tokens->axes[0].asDim() : -1;
  taken.run = prompt.run;
  taken.stepDim = prompt.stepDim;
  taken.rows = int64_t(rows.size());
  taken.length = prompt.spans[size_t(rows[0])].length();
  taken.dims = prompt.dims;
  taken.dims[size_t(prompt.stepDim)] = taken.length;
  if (batch >= 0)
    taken.dims[size_t(batch)] = taken.rows;
  for (const auto &[name, tensor] : prompt.inputs) {
    const Value *value = prompt.run->input(name);
    if (!value)
      return internalError("input " + quote(name) + " of the prompt is none of run");
    size_t rank = value->axes.size();
    bool byRow = rank && batch >= 0 && value->axes[0].asDim() == batch;
    bool byColumn = rank && value->axes[rank - 1].asDim() == prompt.stepDim;
    for (size_t axis = byRow; axis < rank - byColumn; ++axis)
      for (int dim : value->axes[axis].uses())
        if (dim == batch || dim == prompt.stepDim)
          return unsupported("input " + quote(name) + " (" + value->typeText() +
                             ") cannot be cut to texts of different lengths")
              .withHelp("give texts of one length");
    HEDDLE_TRY(takeInput(prompt, tensor, byRow, byColumn, rows, taken.inputs[name]));
  }
  const int64_t *ids = taken.inputs[tokens->name].data.as<int64_t>();
  taken.ids.assign(ids, ids + taken.rows * taken.length);
  return {};
}

} // namespace heddle::rt
