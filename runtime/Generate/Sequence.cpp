//===- Sequence.cpp - A batch that grows ----------------------------------===//
//
// The inputs of every entry follow one rule: an input along the step axis gets
// the last columns, as many as its shape under the call's dims has; any other
// gets what the prompt gave.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Sequence.h"
#include "runtime/Core/Dims.h"
#include "runtime/Core/Host.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

/// An internal error if an entry has a dim that dimsOf cannot fill.
static Status checkDims(const Entry *entry, const Entry &run) {
  for (size_t i = 0; entry && i < entry->dims.size(); ++i) {
    const std::string &name = entry->dims[i];
    if (!isStepDim(name) && run.dim(name) < 0)
      return internalError("dim " + quote(name) + " of " + quote(entry->name) + " is no dim of run");
  }
  return {};
}

Status Sequence::prepare(Model &newModel, const Prompt &newPrompt, int64_t newTokens, int64_t newLongestCall) {
  model = &newModel;
  prompt = &newPrompt;
  const Card &card = model->card();
  once = card.entry("once");
  step = card.entry("step");
  // Where a step may ask for the whole text again, each piece could.
  longestCall = step && step->outputIndex("refill") < 0 ? newLongestCall : 0;
  // The last new token is never an input, so it needs no column.
  capacity = prompt->length + std::max<int64_t>(newTokens, 1) - 1;
  const std::string &dim = prompt->run->dims[prompt->stepDim];
  std::optional<int64_t> bound = card.bound(dim);
  if (bound && capacity > *bound)
    return badInput(format("%lld tokens and %lld new ones need %s = %lld, past the "
                           "bound %lld of this model",
                           static_cast<long long>(prompt->length), static_cast<long long>(newTokens), dim.c_str(),
                           static_cast<long long>(capacity), static_cast<long long>(*bound)));
  filled = prompt->length;
  for (const Entry *entry : {once, step})
    HEDDLE_TRY(checkDims(entry, *prompt->run));
  HEDDLE_TRY(columns.make(card.roles, *prompt, step, capacity));
  HEDDLE_TRY(findLogits());
  HEDDLE_TRY(takeMemory());
  return addDefaults();
}

/// The dims of `entry` for a call on the columns [past, length).
std::vector<int64_t> Sequence::dimsOf(const Entry &entry, int64_t past, int64_t length) const {
  std::vector<int64_t> dims;
  for (const std::string &name : entry.dims) {
    int known = prompt->run->dim(name);
    if (name == kPastDim)
      dims.push_back(past);
    else if (name == kNewDim)
      dims.push_back(length - past);
    else if (name == kCapacityDim)
      dims.push_back(capacity);
    else if (known == prompt->stepDim && known >= 0)
      dims.push_back(length);
    else
      dims.push_back(known >= 0 ? prompt->dims[known] : 1);
  }
  return dims;
}

std::vector<int64_t> Sequence::dimsOf(Call call) const {
  if (call == Call::Encoder)
    return once ? dimsOf(*once, 0, prompt->length) : std::vector<int64_t>();
  if (call == Call::Prefill)
    return dimsOf(grower(), 0, prompt->length);
  return dimsOf(grower(), step ? std::max<int64_t>(filled - 1, 0) : 0, filled);
}

/// The calls of a generation by which its memory is taken, as (past, length): the prompt in its pieces, a step at
/// either end, and the whole text where a step may have to compute it again (`refill`). No other call needs more.
std::vector<std::pair<int64_t, int64_t>> Sequence::largestCalls() const {
  if (!step)
    return {{0, prompt->length}, {0, capacity}};
  std::vector<std::pair<int64_t, int64_t>> calls = {{0, pieceEnd(0, prompt->length)}, {capacity - 1, capacity}};
  int64_t text = step->outputIndex("refill") >= 0 ? capacity : prompt->length;
  for (int64_t past = 0; past < text; past = calls.back().second)
    calls.emplace_back(past, pieceEnd(past, text));
  if (capacity > prompt->length)
    calls.emplace_back(prompt->length, prompt->length + 1);
  return calls;
}

/// An error unless the ops of `entry` take these lengths.
Status Sequence::checkCall(const Entry &entry, const std::vector<int64_t> &dims) const {
  return checkLengths(entry, dims, [&](const Value &input) {
    return columns.has(input.name) ? !columns.isDefault(input) : prompt->find(input.name) != nullptr;
  });
}

/// Takes states, arena and outputs at the size of the largest call, the arena for the encoder and the defaults, too.
Status Sequence::takeMemory() {
  Backend &backend = model->backend();
  std::vector<CallMemory::Size> states, arenas;
  for (const Entry *entry : {once, step})
    for (int64_t length : {prompt->length, capacity})
      if (entry)
        states.push_back({entry, dimsOf(*entry, 0, length)});
  HEDDLE_TRY(memory.takeStates(backend, states));
  for (const Entry *beside : {once, model->card().entry("defaults")})
    if (beside)
      arenas.push_back({beside, dimsOf(*beside, 0, prompt->length)});
  std::vector<Lengths> calls;
  for (auto [past, length] : largestCalls()) {
    calls.push_back(dimsOf(grower(), past, length));
    arenas.push_back({&grower(), calls.back()});
    if (length <= prompt->length) // a text may end before it is longer
      HEDDLE_TRY(checkCall(grower(), calls.back()));
  }
  HEDDLE_TRY(memory.reserveArena(backend, arenas));
  growth = EntryCall(*model, grower(), memory);
  return growth.reserve(calls);
}

/// Which outputs are the logits, and the wish to compute the text again.
Status Sequence::findLogits() {
  const Entry &entry = grower();
  logitsOutput = entry.outputIndex(model->card().roles.logits);
  refillOutput = step ? entry.outputIndex("refill") : -1;
  if (logitsOutput < 0)
    return internalError("no logits among the outputs of " + quote(entry.name));
  const Value &value = entry.outputs[logitsOutput];
  size_t rank = value.axes.size();
  if (value.type != Type::F32 || rank < 1 || rank > 3)
    return internalError("the logits are no f32[B, T, V]");
  return {};
}

/// Sets the inputs of a call; columns are copied into their staging.
Status Sequence::gather(const Entry &entry, const std::vector<int64_t> &dims, std::vector<void *> &inputs) {
  inputs.clear();
  for (const Value &value : entry.inputs) {
    if (!columns.has(value.name)) {
      const Tensor *given = prompt->find(value.name);
      if (!given && !value.hasDefault)
        return badInput("missing: " + quote(value.name) + " (" + value.typeText() + ")");
      inputs.push_back(given ? given->data.data() : nullptr);
      continue;
    }
    if (columns.isDefault(value)) {
      inputs.push_back(nullptr);
      continue;
    }
    std::optional<int64_t> last = value.axes.empty() ? 0 : value.axes.back().evaluate(dims.data());
    if (!last || *last < 0 || *last > filled || value.axes.size() > 2)
      return internalError("input " + quote(value.name) + " of " + quote(entry.name) +
                           " does not end in the step axis");
    int64_t rows = value.axes.size() == 2 ? prompt->rows : 1;
    inputs.push_back(columns.gather(value.name, rows, *last, filled));
  }
  return {};
}

/// Calls an entry that is no step on the prompt; `results`: its outputs.
Status Sequence::callBeside(const Entry &entry, std::vector<Tensor> &results) {
  std::vector<int64_t> dims = dimsOf(entry, 0, prompt->length);
  EntryCall call(*model, entry, memory);
  HEDDLE_TRY(gather(entry, dims, call.inputs));
  HEDDLE_TRY(call.check(dims));
  HEDDLE_TRY(call.reserve({dims}));
  HEDDLE_TRY(call.call(dims));
  results = std::move(call.outputs);
  return {};
}

/// Gives the prompt the defaults of inputs that grow with something else, where nobody gave them.
Status Sequence::addDefaults() {
  const Entry *entry = model->card().entry("defaults");
  bool wanted = false;
  for (size_t i = 0; entry && i < entry->outputs.size(); ++i)
    wanted |= !prompt->find(entry->outputs[i].name);
  if (!wanted)
    return {};
  std::vector<Tensor> results;
  HEDDLE_TRY(callBeside(*entry, results));
  for (const Tensor &result : results)
    if (!prompt->find(result.name))
      HEDDLE_TRY(columns.setPrompt(result));
  return {};
}

/// Whether a state is what the encoder left, for all steps; `once` may be null.
static bool isOf(const Entry *once, const State &state) {
  for (size_t i = 0; once && i < once->states.size(); ++i)
    if (once->states[i].name == state.name)
      return true;
  return false;
}

/// Computes the columns from `past` to `filled` and finds the logits. If the
/// step answers `refill`, its states are cleared and the whole text is
/// computed.
Status Sequence::advance(int64_t past) {
  std::vector<int64_t> dims = dimsOf(grower(), past, filled);
  HEDDLE_TRY(gather(grower(), dims, growth.inputs));
  HEDDLE_TRY(growth.call(dims));
  const Tensor *refill = refillOutput < 0 ? nullptr : &growth.outputs[refillOutput];
  if (refill && past > 0 && numberAt(refill->type, refill->data.data(), 0)) {
    HEDDLE_TRY(clearStates(*step));
    return advanceInPieces(0, filled);
  }
  const Shape &shape = growth.outputs[logitsOutput].shape;
  vocab = shape.back();
  int64_t lines = shape.size() == 3 ? shape[1] : shape.size() == 2 && prompt->rows == 1 ? shape[0] : 1;
  if (vocab < 1 || lines < 1)
    return internalError("the logits are empty");
  rowStride = lines * vocab;
  logits = growth.outputs[logitsOutput].data.as<float>() + (lines - 1) * vocab;
  return {};
}

/// The end of a call that begins at `past`, towards `length`: where states are
/// rings, a call takes at most `longestPiece` columns.
int64_t Sequence::pieceEnd(int64_t past, int64_t length) const {
  int64_t end = longestCall ? std::min(length, past + longestCall) : length;
  bool rings = step && step->longestPiece > 0 && capacity > step->ring;
  return rings ? std::min(end, past + step->longestPiece) : end;
}

/// Zeroes the states of a step, but not what the encoder left.
Status Sequence::clearStates(const Entry &entry) {
  for (const State &state : entry.states)
    if (!isOf(once, state))
      HEDDLE_TRY(model->backend().clear(memory.states[state.name]));
  return {};
}

/// Computes the columns from `past` to `length`, piece by piece, as long as `goesOn` says so.
Status Sequence::advanceInPieces(int64_t past, int64_t length, const std::function<bool()> &goesOn) {
  do {
    filled = pieceEnd(past, length);
    HEDDLE_TRY(advance(past));
    past = filled;
    if (past < length && goesOn && !goesOn()) {
      filled = length;
      logits = nullptr;
      return {};
    }
  } while (past < length);
  return {};
}

Status Sequence::reset() {
  for (auto &state : memory.states)
    HEDDLE_TRY(model->backend().clear(state.second));
  columns.stepBack(filled - prompt->length);
  filled = prompt->length;
  return {};
}

Status Sequence::prefill(const std::function<bool()> &goesOn) {
  filled = prompt->length;
  std::vector<Tensor> results;
  if (once && step)
    HEDDLE_TRY(callBeside(*once, results));
  return advanceInPieces(0, prompt->length, goesOn);
}

// Columns, next positions and states of `step` move; those of `once` belong to
// the source, which is the same for all beams.
Status Sequence::reorder(const std::vector<int64_t> &from) {
  bool moves = false;
  for (size_t row = 0; row < from.size(); ++row)
    moves |= from[row] != int64_t(row);
  if (!moves)
    return {};
  HEDDLE_TRY(columns.reorder(from));
  if (!step)
    return {};
  std::vector<int64_t> dims = dimsOf(*step, 0, filled);
  for (const State &state : step->states) {
    if (isOf(once, state))
      continue;
    uint64_t bytes = 0;
    HEDDLE_TRY(bytesOf(state.bytes, dims, quote(state.name), bytes));
    if (state.groups == 0 || bytes % (state.groups * from.size()) != 0)
      return unsupported("the state " + quote(state.name) +
                         " of this model has no separate part for each row, "
                         "so that beams cannot share a batch")
          .withHelp("use --num-beams 1");
    HEDDLE_TRY(model->backend().permute(memory.states[state.name], state.groups, bytes / state.groups, from));
  }
  return {};
}

Status Sequence::append(const std::vector<int64_t> &ids) {
  if (filled == capacity)
    return internalError("more tokens than there is room for");
  columns.extend(++filled, ids.data());
  return advance(filled - 1);
}

Status Sequence::grow(const std::vector<int64_t> &ids) {
  int64_t past = filled, rows = prompt->rows, count = int64_t(ids.size()) / rows;
  if (count < 1 || count * rows != int64_t(ids.size()))
    return internalError("a batch grows by the same number of tokens in every row, at least one");
  if (count > capacity - filled)
    return internalError("more tokens than there is room for");
  std::vector<int64_t> next(rows);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t row = 0; row < rows; ++row)
      next[row] = ids[row * count + i];
    columns.extend(++filled, next.data());
  }
  int64_t length = filled;
  std::vector<Lengths> calls;
  for (int64_t at = step ? past : 0; at < length; at = pieceEnd(at, length)) {
    calls.push_back(dimsOf(grower(), at, pieceEnd(at, length)));
    HEDDLE_TRY(checkCall(grower(), calls.back()));
  }
  HEDDLE_TRY(growth.reserve(calls));
  return advanceInPieces(past, length);
}

/// Whether every state is rows of tokens, of which those after the text are read by nobody.
bool Sequence::canGoBack() const {
  if (!step)
    return true; // nothing is kept
  if (refillOutput >= 0 || (step->longestPiece > 0 && filled > step->ring))
    return false;
  int grows = step->dim(kCapacityDim);
  for (const State &state : step->states) {
    const std::vector<int> &uses = state.bytes.uses();
    if (!isOf(once, state) && (grows < 0 || std::find(uses.begin(), uses.end(), grows) == uses.end()))
      return false;
  }
  return true;
}

Status Sequence::rewind(int64_t wanted, int64_t &kept) {
  if (wanted < 0 || wanted > filled)
    return internalError("a sequence goes back to a beginning of itself");
  kept = wanted;
  if (wanted == filled)
    return {};
  if (!canGoBack())
    kept = 0;
  filled = kept;
  columns.count(filled);
  logits = nullptr;
  return kept || !step ? Status() : clearStates(*step);
}

} // namespace heddle::rt
