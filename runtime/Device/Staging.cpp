//===- Staging.cpp - What goes to the device and back ---------------------===//
//
// Layouts may be made for longer texts than a call has; inputs and outputs then
// fill the beginning of their place, tight as ever.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Staging.h"

#include "runtime/Core/Failure.h"
#include "runtime/Core/Model.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

static constexpr uint64_t kAlign = 256, kLeast = 64 << 10;

/// Bytes of a tensor under `dims`.
static Status tensorBytes(const Value &value, const std::vector<int64_t> &dims, uint64_t &bytes) {
  Shape shape;
  HEDDLE_TRY(shapeOf(value, dims, shape));
  std::optional<int64_t> count = elementCount(shape);
  if (!count || __builtin_mul_overflow(uint64_t(*count), uint64_t(typeSize(value.type)), &bytes))
    return outOfResources(quote(value.name) + " does not fit in memory");
  return {};
}

Status Layout::make(const Entry &entry, const std::vector<int64_t> &dims, Layout &layout) {
  layout = Layout();
  uint64_t at = 0;
  bool fits = true;
  auto take = [&](uint64_t bytes) {
    uint64_t place = at;
    fits &= bytes < uint64_t(1) << 60 && at < uint64_t(1) << 60;
    at += (bytes + kAlign - 1) / kAlign * kAlign;
    return place;
  };
  size_t tensors = entry.inputs.size() + entry.outputs.size() + entry.states.size();
  take((dims.size() + entry.lengths.size()) * sizeof(int64_t));
  layout.addresses = take(tensors * sizeof(CuAddress));
  uint64_t bytes = 0;
  for (const Value &input : entry.inputs) {
    HEDDLE_TRY(tensorBytes(input, dims, bytes));
    layout.inputs.push_back(take(bytes));
  }
  layout.failure = take(sizeof(heddle_failure));
  layout.copiedIn = at;
  for (const Value &output : entry.outputs) {
    HEDDLE_TRY(tensorBytes(output, dims, bytes));
    layout.outputs.push_back(take(bytes));
  }
  layout.end = at;
  return fits ? Status() : outOfResources("the tensors of " + quote(entry.name) + " do not fit in memory");
}

void Staging::drop() {
  if (host)
    gpu.driver.releaseHost(host);
  if (device)
    gpu.driver.release(device);
  host = nullptr;
  device = 0;
  room = 0;
}

Status Staging::reserve(uint64_t bytes) {
  if (holds(bytes))
    return {};
  drop();
  uint64_t wanted = kLeast;
  while (wanted < bytes)
    wanted *= 2;
  void *pinned = nullptr;
  if (gpu.driver.allocateHost(&pinned, wanted, 0) != kCuSuccess)
    return outOfResources("no page-locked memory for inputs and outputs: " + humanBytes(wanted));
  host = static_cast<char *>(pinned);
  int result = gpu.driver.allocate(&device, wanted);
  if (result == kCuOutOfMemory)
    return {Error::GpuFull, "the GPU has no memory for inputs and outputs: " + humanBytes(wanted)};
  HEDDLE_TRY(gpu.check(result, "memory was taken"));
  room = wanted;
  return {};
}

Status Staging::fill(const Layout &layout, const Entry &entry, const std::vector<int64_t> &dims,
                     const std::vector<void *> &tensors) {
  auto *lengths = reinterpret_cast<int64_t *>(host);
  std::copy(dims.begin(), dims.end(), lengths);
  for (size_t i = 0; i < entry.lengths.size(); ++i) {
    std::optional<int64_t> length = entry.lengths[i].evaluate(dims.data());
    if (!length)
      return internalError("a length of " + quote(entry.name) + " is more than 64 bits can count");
    lengths[dims.size() + i] = *length;
  }
  auto *addresses = reinterpret_cast<CuAddress *>(host + layout.addresses);
  size_t inputs = entry.inputs.size(), outputs = entry.outputs.size();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i >= inputs + outputs) {
      addresses[i] = CuAddress(reinterpret_cast<uintptr_t>(tensors[i]));
      continue;
    }
    bool isInput = i < inputs;
    uint64_t place = isInput ? layout.inputs[i] : layout.outputs[i - inputs];
    addresses[i] = tensors[i] ? device + place : 0;
    uint64_t bytes = 0;
    if (!isInput || !tensors[i])
      continue;
    HEDDLE_TRY(tensorBytes(entry.inputs[i], dims, bytes));
    memcpy(host + place, tensors[i], bytes);
  }
  memset(host + layout.failure, 0, sizeof(heddle_failure));
  return {};
}

Status Staging::copyIn(const Layout &layout) {
  return gpu.check(gpu.driver.copyIn(device, host, layout.copiedIn, gpu.stream), "inputs were copied to it");
}

Status Staging::copyOut(const Layout &layout) {
  return gpu.check(
      gpu.driver.copyOut(host + layout.failure, device + layout.failure, layout.end - layout.failure, gpu.stream),
      "outputs were copied from it");
}

Status Staging::finish(const Layout &layout, const Entry &entry, const std::vector<int64_t> &dims,
                       const std::vector<void *> &tensors, const std::vector<std::string> &lookups) const {
  heddle_failure failure;
  memcpy(&failure, host + layout.failure, sizeof failure);
  if (failure.state)
    return modelFailed(failure.code, failure.a, failure.b, lookups);
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    uint64_t bytes = 0;
    HEDDLE_TRY(tensorBytes(entry.outputs[i], dims, bytes));
    if (void *to = tensors[entry.inputs.size() + i])
      memcpy(to, host + layout.outputs[i], bytes);
  }
  return {};
}

} // namespace heddle::rt
