//===- EntryCall.cpp - Calls of an entry ----------------------------------===//
//
// Sizes come from the card's forms under the lengths of a call.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/EntryCall.h"

#include <algorithm>

namespace heddle::rt {

/// The shape of `value` and its bytes.
static Status sizeOf(const Value &value, const Lengths &lengths, Shape &shape, uint64_t &bytes) {
  HEDDLE_TRY(shapeOf(value, lengths, shape));
  std::optional<int64_t> count = elementCount(shape);
  int64_t all = 0;
  if (!count || __builtin_mul_overflow(*count, int64_t(typeSize(value.type)), &all))
    return outOfResources(quote(value.name) + " of shape " + shapeText(shape) + " does not fit in memory");
  bytes = uint64_t(all);
  return {};
}

Status reserveTensor(const Value &value, const std::vector<Lengths> &calls, Tensor &tensor) {
  tensor.name = value.name;
  tensor.type = value.type;
  uint64_t most = 0, bytes = 0;
  for (const Lengths &lengths : calls) {
    HEDDLE_TRY(sizeOf(value, lengths, tensor.shape, bytes));
    most = std::max(most, bytes);
  }
  bool enough = tensor.data.data() && most <= tensor.data.size();
  return enough ? Status() : Buffer::make(most, quote(value.name), tensor.data);
}

Status CallMemory::takeStates(Backend &backend, const std::vector<Size> &sizes) {
  std::map<std::string_view, uint64_t> wanted;
  for (const auto &[entry, lengths] : sizes)
    for (const State &state : entry->states) {
      uint64_t bytes = 0, &most = wanted[state.name];
      HEDDLE_TRY(bytesOf(state.bytes, lengths, "the state " + quote(state.name), bytes));
      most = std::max(most, bytes);
    }
  for (const auto &[name, bytes] : wanted)
    HEDDLE_TRY(backend.allocate(Backend::Use::State, bytes, "the state " + quote(name), states[std::string(name)]));
  return {};
}

Status CallMemory::reserveArena(Backend &backend, const std::vector<Size> &sizes) {
  uint64_t most = 0, bytes = 0;
  for (const auto &[entry, lengths] : sizes) {
    HEDDLE_TRY(arenaOf(*entry, lengths, backend.threads(), bytes));
    most = std::max(most, bytes);
  }
  bool enough = arena.data() && most <= arena.size();
  return enough ? Status() : backend.allocate(Backend::Use::Arena, most, "the arena", arena);
}

uint64_t CallMemory::stateBytes() const {
  uint64_t bytes = 0;
  for (const auto &state : states)
    bytes += state.second.size();
  return bytes;
}

EntryCall::EntryCall(Model &model, const Entry &entry, CallMemory &memory)
    : inputs(entry.inputs.size()), outputs(entry.outputs.size()), model(&model), entry(&entry), memory(&memory) {
  tensors.reserve(entry.inputs.size() + entry.outputs.size() + entry.states.size());
}

Status EntryCall::prepare(const Lengths &lengths, const std::vector<Tensor> &given) {
  std::transform(given.begin(), given.end(), inputs.begin(), [](const Tensor &input) { return input.data.data(); });
  HEDDLE_TRY(check(lengths));
  HEDDLE_TRY(memory->takeStates(model->backend(), {{entry, lengths}}));
  return reserve({lengths});
}

Status EntryCall::reserve(const std::vector<Lengths> &calls) {
  std::vector<CallMemory::Size> sizes;
  for (const Lengths &lengths : calls)
    sizes.push_back({entry, lengths});
  HEDDLE_TRY(memory->reserveArena(model->backend(), sizes));
  for (size_t i = 0; i < outputs.size(); ++i)
    HEDDLE_TRY(reserveTensor(entry->outputs[i], calls, outputs[i]));
  return {};
}

Status EntryCall::check(const Lengths &lengths) const {
  return checkLengths(*entry, lengths,
                      [&](const Value &input) { return inputs[size_t(&input - entry->inputs.data())]; });
}

Status EntryCall::call(const Lengths &lengths) {
  HEDDLE_TRY(check(lengths));
  tensors.assign(inputs.begin(), inputs.end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    uint64_t bytes = 0;
    HEDDLE_TRY(sizeOf(entry->outputs[i], lengths, outputs[i].shape, bytes));
    if (bytes > outputs[i].data.size())
      return internalError(quote(outputs[i].name) + " of " + quote(entry->name) + " has too little room");
    tensors.push_back(outputs[i].data.data());
  }
  for (const State &state : entry->states)
    tensors.push_back(memory->states[state.name].data());
  return model->backend().call(*entry, lengths, tensors, memory->arena);
}

} // namespace heddle::rt
