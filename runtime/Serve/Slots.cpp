// Inputs are filled by their roles: ids, positions from the slot's length on, numbers of `extend`, for each row its
// slot and how many positions are there, and which rows' logits are wanted. A call has as many tokens in every row;
// where pieces differ each token is a row. It writes states only behind what is there, so one that fails can be
// repeated.
#include "runtime/Serve/Slots.h"
#include "runtime/Core/Dims.h"
#include "runtime/Generate/Columns.h"
#include <algorithm>

namespace heddle::serve {

using rt::format;
using rt::Status;

/// The inputs of `batch` that no role names.
static constexpr std::string_view kSlot = "slot", kStart = "start", kAsked = "asked";
/// Bytes that are read in no time, since caches hold what is read again and again.
static constexpr uint64_t kOfACache = 16 << 20;

std::vector<int64_t> Slots::dimsOf(int64_t rows, int64_t each, int64_t past, int64_t asked) const {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < entry->dims.size(); ++i) {
    const std::string &name = entry->dims[i];
    dims.push_back(int(i) == batchDim         ? rows
                   : name == rt::kNewDim      ? each
                   : name == rt::kPastDim     ? past
                   : name == rt::kCapacityDim ? context
                   : name == rt::kAskedDim    ? asked
                                              : /* kSlotsDim, see prepare */ count());
  }
  return dims;
}

Status Slots::prepare(rt::Model &newModel, int64_t count, int64_t newContext, int64_t longestCall, int64_t besides) {
  model = &newModel;
  context = newContext;
  const rt::Card &card = model->card();
  entry = card.entry("batch");
  const rt::Value *tokens = entry ? entry->input(card.roles.tokens) : nullptr;
  if (!tokens || tokens->axes.size() != 2 || tokens->axes[0].asDim() < 0)
    return rt::internalError("no entry batch with tokens of i64[B, new]");
  batchDim = tokens->axes[0].asDim();
  for (size_t i = 0; i < entry->dims.size(); ++i)
    if (int(i) != batchDim && !rt::isStepDim(entry->dims[i]))
      return rt::internalError("dim " + rt::quote(entry->dims[i]) + " of batch is none of a step");
  logitsOutput = entry->outputIndex(card.roles.logits);
  if (logitsOutput < 0 || entry->outputs[logitsOutput].type != rt::Type::F32)
    return rt::internalError("no logits among the outputs of batch");
  texts.assign(size_t(count), {});
  bool rings = entry->longestPiece > 0 && context > entry->ring;
  most = std::min({longestCall, context, rings ? entry->longestPiece : longestCall});

  rt::Lengths single = dimsOf(count + besides, 1, context - 1, count), piece = dimsOf(1, most, context - most, 1);
  if (Status status = memory.takeStates(model->backend(), {{entry, single}}); !status.ok())
    return std::move(status).withHelp(format("each of %lld texts has such a state; --slots N and --context N need less",
                                             static_cast<long long>(count)));
  bytesPerPosition = memory.stateBytes() / uint64_t(count * context);
  inputs.resize(entry->inputs.size());
  batch = rt::EntryCall(*model, *entry, memory);
  return reserve({single, piece});
}

/// Makes inputs, outputs and arena large enough for each of these calls.
Status Slots::reserve(const std::vector<rt::Lengths> &calls) {
  for (size_t i = 0; i < inputs.size(); ++i)
    HEDDLE_TRY(rt::reserveTensor(entry->inputs[i], calls, inputs[i]));
  return batch.reserve(calls);
}

int64_t Slots::keepable(int64_t slot, int64_t length) const {
  int64_t held = int64_t(text(slot).size());
  bool turned = entry->ring > 0 && held > entry->ring;
  return length == held || !turned ? length : 0;
}

Status Slots::copy(int64_t from, int64_t to, int64_t length) {
  std::vector<int64_t> dims = dimsOf(count(), 1, context - 1, 1);
  for (const rt::State &state : entry->states) {
    uint64_t bytes = 0;
    HEDDLE_TRY(rt::bytesOf(state.bytes, dims, rt::quote(state.name), bytes));
    if (state.groups == 0)
      return rt::internalError("the state " + rt::quote(state.name) + " has no separate part for each slot");
    // [groups][slots] pieces of `parts` parts; of each part the blocks that hold the beginning, of a ring all.
    uint64_t piece = bytes / uint64_t(state.groups * count()), parts = 1, wanted = piece;
    if (state.parts) {
      parts = uint64_t(state.parts);
      wanted = uint64_t((length + state.blockPositions - 1) / state.blockPositions * state.blockBytes);
    }
    for (uint64_t group = 0; group < uint64_t(state.groups); ++group)
      for (uint64_t part = 0; part < parts; ++part) {
        auto at = [&](int64_t slot) {
          return (group * uint64_t(count()) + uint64_t(slot)) * piece + part * (piece / parts);
        };
        HEDDLE_TRY(model->backend().copy(memory.states[state.name], at(to), at(from), wanted));
      }
  }
  texts[size_t(to)].assign(text(from).begin(), text(from).begin() + length);
  return {};
}

Status Slots::fillInputs(const std::vector<Row> &rows, int64_t each, const std::vector<int64_t> &asked) {
  const rt::Roles &roles = model->card().roles;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const rt::Value &value = entry->inputs[i];
    void *data = batch.inputs[i] = inputs[i].data.data();
    auto *integers = inputs[i].data.as<int64_t>();
    auto fill = [&](auto number) {
      for (size_t row = 0; row < rows.size(); ++row)
        for (int64_t column = 0; column < each; ++column)
          rt::storeNumber(value.type, data, int64_t(row) * each + column, number(rows[row], column));
    };
    auto extend = roles.extend.find(value.name);
    if (value.name == kSlot || value.name == kStart)
      for (size_t row = 0; row < rows.size(); ++row)
        integers[row] = value.name == kSlot ? rows[row].slot : rows[row].start;
    else if (value.name == kAsked)
      std::copy(asked.begin(), asked.end(), integers);
    else if (value.name == roles.tokens)
      for (size_t row = 0; row < rows.size(); ++row)
        std::copy_n(rows[row].ids, each, integers + int64_t(row) * each);
    else if (value.name == roles.positions)
      fill([&](const Row &row, int64_t column) { return double(row.start + column); });
    else if (extend != roles.extend.end())
      fill([&](const Row &, int64_t) { return extend->second; });
    else if (value.hasDefault)
      batch.inputs[i] = nullptr;
    else
      return rt::internalError("nothing gives " + rt::quote(value.name) + " of batch");
  }
  return {};
}

bool Slots::isCheapBeside(int64_t slot, int64_t tokens) const {
  uint64_t read = uint64_t(tokens * (int64_t(text(slot).size()) + tokens)) * bytesPerPosition;
  return read <= std::max(model->weightBytes(), kOfACache);
}

Status Slots::append(const std::vector<Piece> &pieces) {
  int64_t past = 0, each = pieces.size() == 1 && !pieces[0].each ? pieces[0].count : 1;
  std::vector<Row> rows;
  std::vector<int64_t> asked;
  logitsAt.clear();
  for (const Piece &piece : pieces) {
    int64_t held = int64_t(text(piece.slot).size());
    if (held + piece.count > context)
      return rt::internalError("more tokens than there is room for");
    for (int64_t at = 0; at < piece.count; at += each)
      rows.push_back({piece.slot, held + at, piece.ids + at});
    past = std::max(past, rows.back().start);
    logitsAt.push_back(asked.size());
    for (int64_t row = int64_t(rows.size()) - piece.count; piece.each && row < int64_t(rows.size()) - 1; ++row)
      asked.push_back(row);
    if (piece.asked || piece.each)
      asked.push_back(int64_t(rows.size()) - 1);
  }
  if (!entry->input(kAsked)) { // every row has logits
    for (size_t i = 0, row = 0; i < pieces.size(); ++i) {
      row += size_t(pieces[i].count / each);
      logitsAt[i] = pieces[i].each ? row - size_t(pieces[i].count) : row - 1;
    }
    asked.resize(rows.size());
  }
  std::vector<int64_t> dims = dimsOf(int64_t(rows.size()), each, past, int64_t(asked.size()));
  const rt::Roles &roles = model->card().roles;
  HEDDLE_TRY(rt::checkLengths(*entry, dims, [&](const rt::Value &input) {
    return !input.hasDefault || input.name == roles.positions || roles.extend.count(input.name);
  }));
  HEDDLE_TRY(reserve({dims}));
  HEDDLE_TRY(fillInputs(rows, each, asked));
  HEDDLE_TRY(batch.call(dims));
  for (const Piece &piece : pieces)
    texts[size_t(piece.slot)].insert(texts[size_t(piece.slot)].end(), piece.ids, piece.ids + piece.count);
  const rt::Tensor &result = batch.outputs[size_t(logitsOutput)];
  logits = result.data.as<float>();
  vocab = result.shape.back();
  return {};
}

} // namespace heddle::serve
