//===- Launches.cpp - The kernels of an entry -----------------------------===//
//
// A kernel deals its items to however many blocks there are, so that the size of
// a grid is a matter of speed: never more blocks than the device holds at once.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Launches.h"

#include "runtime/Core/Args.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace heddle::rt {

/// "sm_90a" is 90 and its own; 0 for what is no chip.
static int numberOf(std::string_view chip, bool &own) {
  if (chip.substr(0, 3) != "sm_")
    return 0;
  chip.remove_prefix(3);
  own = !chip.empty() && chip.back() == 'a';
  if (own)
    chip.remove_suffix(1);
  return int(parseInteger(chip).value_or(0));
}

const heddle_device_image *pickImage(const heddle_device_image *images, int capability) {
  const heddle_device_image *best = nullptr;
  int most = 0;
  for (; images && images->chip; ++images) {
    bool own = false, binary = std::string_view(images->kind) == "cubin";
    int number = numberOf(images->chip, own);
    // Text runs on all later devices, machine code on those of its own family.
    if (number <= 0 || number > capability || (own && number != capability) ||
        (binary && number / 10 != capability / 10))
      continue;
    int rank = 4 * number + 2 * own + binary;
    if (rank > most) {
      most = rank;
      best = images;
    }
  }
  return best;
}

int64_t sharedOn(const LaunchLine &line, std::string_view chip) {
  bool named = std::find(line.chips.begin(), line.chips.end(), chip) != line.chips.end();
  return line.chips.empty() || named ? line.shared : 0;
}

Kernels::~Kernels() {
  if (module)
    gpu.driver.moduleUnload(module);
}

/// The first lines of a log, without what would not be text.
static std::string beginning(std::string log) {
  constexpr size_t kMost = 400;
  for (char &c : log)
    if (c < ' ')
      c = ' ';
  while (!log.empty() && log.back() == ' ')
    log.pop_back();
  return log.size() > kMost ? log.substr(0, kMost) + "..." : log;
}

Status Kernels::choose(const heddle_device_image *images, const Card &card) {
  image = pickImage(images, gpu.capability);
  if (image)
    return {};
  std::string list;
  for (const std::string &chip : card.devices)
    list += (list.empty() ? "" : ", ") + chip;
  return Status(Error::OldGpu, format("the GPU (%s) is an sm_%d, and this program has "
                                      "kernels for %s",
                                      gpu.name.c_str(), gpu.capability, list.c_str()))
      .withHelp(format("compile it with --mcpu=sm_%d", gpu.capability));
}

Status Kernels::load(const Card &card) {
  std::string log(8192, '\0'), said(watch.watching.log ? 1 << 20 : 1, '\0');
  // What the assembler says is asked for where somebody wants it: it costs time.
  int options[] = {kCuJitErrorLog, kCuJitErrorLogBytes, kCuJitInfoLog, kCuJitInfoLogBytes, kCuJitLogVerbose};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size()), said.data(),
                    reinterpret_cast<void *>(said.size()), reinterpret_cast<void *>(uintptr_t(1))};
  int result = gpu.driver.moduleLoad(&module, image->bytes, watch.watching.log ? 5 : 2, options, values);
  if (watch.watching.log)
    fprintf(stderr, "%.*s\n", int(strnlen(said.data(), said.size())), said.data());
  if (result == kCuOutOfMemory)
    return {Error::GpuFull, "the GPU has no memory for the kernels"};
  if (result != kCuSuccess) {
    module = nullptr;
    log.resize(strnlen(log.data(), log.size())); // a log that is full has no end
    Status status{Error::KernelsRefused,
                  "the driver refuses the kernels for " + std::string(chip()) + ": " + gpu.driver.nameOf(result)};
    return log.empty() ? status : std::move(status).withHelp(beginning(log));
  }
  for (const Entry &entry : card.entries)
    for (const LaunchLine &line : entry.launches)
      if (line.kind == LaunchLine::Kind::Launch)
        HEDDLE_TRY(find(line));
  return {};
}

Status Kernels::find(const LaunchLine &line) {
  if (kernels.count(line.kernel))
    return {};
  constexpr int64_t kSharedForAll = 48 << 10; // more has to be asked for
  Kernel kernel;
  if (gpu.driver.moduleFunction(&kernel.function, module, line.kernel.c_str()) != kCuSuccess)
    return internalError("the image for " + std::string(chip()) + " has no kernel " + quote(line.kernel));
  kernel.shared = sharedOn(line, chip());
  if (kernel.shared > kSharedForAll)
    HEDDLE_TRY(gpu.check(gpu.driver.functionSet(kernel.function, kCuMostDynamicShared, int(kernel.shared)),
                         "shared memory was asked for"));
  int blocks = 0;
  HEDDLE_TRY(gpu.check(gpu.driver.occupancy(&blocks, kernel.function, int(line.threads), size_t(kernel.shared)),
                       "a kernel was asked what it needs"));
  if (blocks < 1)
    return {Error::GpuFailed, "the kernel " + quote(line.kernel) + " does not fit the GPU"};
  kernel.most = int64_t(blocks) * gpu.multiprocessors;
  kernels[line.kernel] = kernel;
  return {};
}

Status Kernels::launch(const LaunchLine &line, const std::vector<int64_t> &dims, const KernelArguments &given,
                       const int64_t (&index)[2]) {
  std::optional<int64_t> items = line.count.evaluate(dims.data());
  int64_t wanted = 0;
  if (!items || __builtin_mul_overflow(*items, line.lanes, &wanted))
    return internalError("the items of " + quote(line.kernel) + " are more than 64 bits can count");
  if (line.optional && wanted == 0)
    return {};
  const Kernel &kernel = kernels.find(line.kernel)->second;
  int64_t blocks = std::clamp<int64_t>(wanted / line.threads + (wanted % line.threads > 0), 1, kernel.most);
  KernelArguments arguments = given;
  int64_t i = index[0], j = index[1];
  std::vector<int64_t> numbers = line.numbers;
  numbers.resize(std::max<size_t>(numbers.size(), 1)); // an argument of 8 bytes that a kernel without does not read
  void *values[] = {&arguments.fail, &arguments.dims, &arguments.tensors, &arguments.arena, &arguments.weights, &i, &j,
                    numbers.data()};
  HEDDLE_TRY(watch.begin());
  int result = gpu.driver.launch(kernel.function, unsigned(blocks), 1, 1, unsigned(line.threads), 1, 1,
                                 unsigned(kernel.shared), gpu.stream, values, nullptr);
  std::string place = line.place.empty() ? "" : " (" + line.place + ")",
              said = "the kernel " + quote(line.kernel) + place;
  HEDDLE_TRY(gpu.check(result, (said + " was launched").c_str()));
  HEDDLE_TRY(watch.end(line.kernel + place, index));
  if (!watch.watching.waits)
    return {};
  said += format(" of %lld blocks ran (repeats at %lld, %lld)", static_cast<long long>(blocks),
                 static_cast<long long>(i), static_cast<long long>(j));
  return gpu.check(gpu.driver.streamWait(gpu.stream), said.c_str());
}

Status Kernels::enqueue(const Entry &entry, const std::vector<int64_t> &dims, const KernelArguments &arguments) {
  struct {
    size_t begin;
    int64_t count;
  } repeats[2] = {};
  int64_t index[2] = {0, 0};
  int depth = 0;
  for (size_t at = 0; at < entry.launches.size(); ++at) {
    const LaunchLine &line = entry.launches[at];
    if (line.kind == LaunchLine::Kind::Launch) {
      HEDDLE_TRY(launch(line, dims, arguments, index));
    } else if (line.kind == LaunchLine::Kind::Repeat) {
      std::optional<int64_t> count = line.count.evaluate(dims.data());
      if (!count)
        return internalError("a repeat of " + quote(entry.name) + " is more than 64 bits can count");
      if (*count > 0) {
        repeats[depth++] = {at, *count};
        continue;
      }
      // None: on after its end.
      for (int open = 1; open > 0;) {
        LaunchLine::Kind kind = entry.launches[++at].kind;
        open += (kind == LaunchLine::Kind::Repeat) - (kind == LaunchLine::Kind::Again);
      }
    } else if (++index[depth - 1] < repeats[depth - 1].count) {
      at = repeats[depth - 1].begin;
    } else {
      index[--depth] = 0;
    }
  }
  return {};
}

} // namespace heddle::rt
