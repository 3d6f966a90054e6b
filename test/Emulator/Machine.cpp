//===- Machine.cpp - The emulated device ----------------------------------===//
//
// Memory is opened once for all that a stream does in a row, and for the weights
// of each launch again: only they may not be written.
//
//===----------------------------------------------------------------------===//
#include "test/Emulator/Machine.h"

#include "runtime/Device/Driver.h"
#include "test/Emulator/Rules.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace heddle::emulator {

static int64_t theMachines = 0;

Machine::Machine(const Options &options, const heddle_emulated_kernel *kernels)
    : options(options), memory(uint64_t(options.memory)), block(this->options, memory), number(++theMachines),
      kernels(kernels) {}

const heddle_emulated_kernel *Machine::kernel(const char *name) const {
  for (const auto *kernel = kernels; kernel && kernel->name; ++kernel)
    if (strcmp(kernel->name, name) == 0)
      return kernel;
  return nullptr;
}

bool Machine::fits(const heddle_emulated_kernel &kernel, int64_t threads, int64_t dynamic) const {
  auto own = int64_t(kernel.shared);
  auto found = asked.find(&kernel);
  int64_t most = std::max(kSharedForAll - own, found == asked.end() ? 0 : found->second);
  return threads > 0 && threads <= 1024 && own <= kSharedForAll && dynamic <= most;
}

Stream *Machine::restricting() {
  for (auto &stream : streams)
    if (stream->capturing && stream->mode != kCuCaptureRelaxed &&
        (stream->mode == kCuCaptureGlobal || stream->capturer == std::this_thread::get_id()))
      return stream.get();
  return nullptr;
}

int Machine::injected(const char *symbol) {
  int64_t before = calls[symbol]++;
  return options.failing == symbol && before >= options.skip ? int(options.result) : rt::kCuSuccess;
}

int Machine::submit(Stream &stream, const Operation &operation) {
  if (stream.capturing && stream.invalid)
    return kCuCaptureInvalidated;
  if (stream.capturing) {
    stream.captured.push_back(operation);
    return rt::kCuSuccess;
  }
  if (options.early)
    return execute({operation});
  stream.waiting.push_back(operation);
  return rt::kCuSuccess;
}

int Machine::finish(Stream &stream) {
  std::vector<Operation> operations = std::move(stream.waiting);
  stream.waiting.clear();
  return operations.empty() ? broken : execute(operations);
}

int Machine::finishAll() {
  int first = rt::kCuSuccess;
  for (auto &stream : streams)
    if (int result = finish(*stream); result && !first)
      first = result;
  return first;
}

int Machine::execute(const std::vector<Operation> &operations) {
  const void *weights = nullptr;
  memory.setUser("a copy");
  memory.open();
  for (const Operation &operation : operations) {
    if (broken)
      break;
    const Launch &launch = operation.launch;
    bool launches = operation.kind == Operation::Kind::Launch;
    if (const void *fixed = launches ? launch.weights : nullptr; fixed != weights)
      memory.open(weights = fixed);
    memory.setUser(launches ? "kernel " + std::string(launch.name) : "a copy");
    broken = perform(operation);
  }
  memory.close();
  return broken;
}

int Machine::perform(const Operation &operation) {
  switch (operation.kind) {
  case Operation::Kind::Copy: memcpy(operation.to, operation.from, operation.bytes); return rt::kCuSuccess;
  case Operation::Kind::Fill: memset(operation.to, operation.value, operation.bytes); return rt::kCuSuccess;
  case Operation::Kind::Launch:
    ++launches;
    complaint = block.run(operation.launch);
    if (complaint.empty())
      return rt::kCuSuccess;
    fprintf(stderr, "emulator: %s\n", complaint.c_str());
    return rt::kCuLaunchFailed;
  }
  return rt::kCuInvalidValue;
}

void Machine::printCounts() const {
  auto count = [&](const char *symbol) {
    auto found = calls.find(symbol);
    return static_cast<long long>(found == calls.end() ? 0 : found->second);
  };
  fprintf(stderr,
          "emulator: %lld kernels run, %lld launches asked for, %lld graphs "
          "captured, %lld launched, %lld switches\n",
          static_cast<long long>(launches), count("cuLaunchKernel"), count("cuStreamEndCapture"),
          count("cuGraphLaunch"), static_cast<long long>(block.switches()));
}

} // namespace heddle::emulator
