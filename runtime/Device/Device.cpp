//===- Device.cpp - Entries on a GPU --------------------------------------===//
//
// All work goes through one stream, so that nothing needs to be ordered but the
// host's own reads and writes of the block of Staging: they come before a call's
// work and after its wait.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Device.h"

#include "runtime/Core/Parts.h"
#include "runtime/Device/Upload.h"

#include <algorithm>

namespace heddle::rt {

static CuAddress addressOf(const Memory &memory) { return CuAddress(reinterpret_cast<uintptr_t>(memory.data())); }

Device::Device(const Card &card, const Image &image, int ordinal, Watching watching)
    : card(card), image(image), ordinal(ordinal), watch(gpu, watching) {}

Device::~Device() {
  for (CuAddress address : {weights, moved})
    if (address)
      gpu.driver.release(address);
}

Status Device::openDriver() {
  HEDDLE_TRY(loadDriver(gpu.driver, image.entries));
  return open();
}

Status Device::openEmulator(const std::string &options) {
  if (!image.emulator)
    return badUsage("this program has no emulator in it").withHelp("compile it with --emulate");
  const char *wrong = image.emulator(options.c_str(), image.emulatedKernels, &gpu.driver);
  return wrong ? badUsage(wrong) : open();
}

Status Device::open() {
  HEDDLE_TRY(gpu.open(ordinal));
  return kernels.choose(image.deviceImages, card);
}

Status Device::start(const void *from) {
  HEDDLE_TRY(kernels.load(card));
  if (image.weightsSize == 0)
    return {};
  if (!card.regroups.empty() &&
      uint64_t(card.regroups.back().offset) + card.regroups.back().bytes() > image.weightsSize)
    return internalError("a weight to be regrouped ends after the weights");
  HEDDLE_TRY(take(image.weightsSize, "the weights", weights));
  return upload(gpu, from, image.weightsSize, card.regroups, weights);
}

Status Device::take(uint64_t bytes, std::string_view what, CuAddress &address) {
  int result = gpu.driver.allocate(&address, bytes ? bytes : 1);
  if (result != kCuOutOfMemory)
    return gpu.check(result, "memory was taken");
  address = 0;
  size_t free = 0, total = 0;
  if (gpu.driver.memoryInfo(&free, &total) != kCuSuccess)
    free = total = 0;
  uint64_t held[2] = {};
  for (const auto &[place, piece] : taken)
    held[piece.first == Use::State] += piece.second;
  return Status(Error::GpuFull, format("the GPU has no room for %s: %s are needed, %s of %s "
                                       "are free",
                                       std::string(what).c_str(), humanBytes(bytes).c_str(), humanBytes(free).c_str(),
                                       humanBytes(total).c_str()))
      .withHelp(format("this program holds %s of weights, %s of states and %s "
                       "of scratch memory there",
                       humanBytes(weights ? image.weightsSize : 0).c_str(), humanBytes(held[1]).c_str(),
                       humanBytes(held[0]).c_str()));
}

Status Device::allocate(Use use, uint64_t bytes, std::string_view what, Memory &memory) {
  CuAddress address = 0;
  HEDDLE_TRY(take(bytes, what, address));
  taken[address] = {use, bytes};
  memory = owned(reinterpret_cast<void *>(uintptr_t(address)), bytes);
  HEDDLE_TRY(watch.took(address, use, bytes));
  return use == Use::State ? clear(memory) : Status();
}

void Device::release(void *base) {
  auto address = CuAddress(reinterpret_cast<uintptr_t>(base));
  taken.erase(address);
  watch.released(address);
  gpu.driver.release(address);
}

Status Device::clear(Memory &memory) {
  if (memory.size() == 0)
    return {};
  return gpu.check(gpu.driver.fill(addressOf(memory), 0, memory.size(), gpu.stream), "a state was cleared");
}

Status Device::permute(Memory &memory, uint64_t groups, uint64_t part, const std::vector<int64_t> &from) {
  if (movedBytes < part) {
    HEDDLE_TRY(gpu.wait());
    if (moved)
      gpu.driver.release(moved);
    moved = movedBytes = 0;
    HEDDLE_TRY(take(part, "the beams", moved));
    movedBytes = part;
  }
  uint64_t row = part / from.size();
  auto copy = [&](CuAddress to, CuAddress source, uint64_t bytes) {
    return gpu.check(gpu.driver.copyWithin(to, source, bytes, gpu.stream), "beams were moved");
  };
  for (uint64_t group = 0; row && group < groups; ++group) {
    CuAddress rows = addressOf(memory) + group * part;
    HEDDLE_TRY(copy(moved, rows, part));
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] != int64_t(i))
        HEDDLE_TRY(copy(rows + i * row, moved + uint64_t(from[i]) * row, row));
  }
  return {};
}

Status Device::copy(Memory &memory, uint64_t to, uint64_t from, uint64_t bytes) {
  CuAddress base = addressOf(memory);
  return gpu.check(gpu.driver.copyWithin(base + to, base + from, bytes, gpu.stream), "a text was copied");
}

Status Device::call(const Entry &entry, const std::vector<int64_t> &dims, const std::vector<void *> &tensors,
                    const Memory &arena) {
  std::vector<int64_t> planned = dims;
  bool step = !watch.watching.any() && isStep(entry, dims, planned);
  Layout layout;
  HEDDLE_TRY(Layout::make(entry, planned, layout));
  if (!staging.holds(layout.end)) {
    graphs.clear();
    HEDDLE_TRY(staging.reserve(layout.end));
  }
  HEDDLE_TRY(staging.fill(layout, entry, dims, tensors));
  KernelArguments arguments;
  arguments.dims = staging.there();
  arguments.tensors = staging.there() + layout.addresses;
  arguments.fail = staging.there() + layout.failure;
  arguments.arena = addressOf(arena);
  arguments.weights = weights;
  auto enqueue = [&]() -> Status {
    HEDDLE_TRY(staging.copyIn(layout));
    HEDDLE_TRY(kernels.enqueue(entry, planned, arguments));
    return staging.copyOut(layout);
  };
  HEDDLE_TRY(step ? graphs.launch({entry.index, planned, arguments.arena}, enqueue) : enqueue());
  if (Status status = gpu.wait(); !status.ok())
    return std::move(status)
        .withHelp("in a call of " + quote(entry.name))
        .withHelp("with --device=N:checked the error names the kernel");
  HEDDLE_TRY(watch.finish());
  return staging.finish(layout, entry, dims, tensors, card.lookups);
}

std::string Device::describe() const {
  return format("GPU %s, sm_%d, kernels for %s, driver of CUDA %d.%d", gpu.name.c_str(), gpu.capability, kernels.chip(),
                gpu.version / 1000, gpu.version % 1000 / 10);
}

static Status openDevice(const Card &card, const Image &image, const DeviceChoice &choice,
                         std::unique_ptr<Backend> &backend) {
  auto device = std::make_unique<Device>(card, image, choice.ordinal, choice.watching);
  HEDDLE_TRY(choice.emulated ? device->openEmulator(choice.options) : device->openDriver());
  backend = std::move(device);
  return {};
}

} // namespace heddle::rt

const heddle::rt::OpenDevice heddle_open_device = heddle::rt::openDevice;
