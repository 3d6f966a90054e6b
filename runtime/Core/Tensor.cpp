//===- Tensor.cpp - Memory and tensors of the runtime ---------------------===//
//
// Linux promises memory that it may not have. A request for more than the
// machine holds is refused here, before the kernel has to end a process.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Tensor.h"

#include <cstring>
#include <sys/mman.h>
#include <sys/sysinfo.h>

namespace heddle::rt {

static constexpr uint64_t kHugePage = 2 << 20;

Buffer::~Buffer() {
  if (base)
    munmap(base, mapped);
}

Status Buffer::make(uint64_t bytes, std::string_view what, Buffer &buffer) {
  Buffer fresh;
  uint64_t rounded = (bytes + 4095) & ~uint64_t(4095);
  if (rounded == 0)
    rounded = 4096;
  struct sysinfo machine;
  if (sysinfo(&machine) == 0) {
    uint64_t total = (uint64_t(machine.totalram) + machine.totalswap) * machine.mem_unit;
    if (bytes > total)
      return outOfResources(format("%s of memory are needed for %s, the machine "
                                   "has %s",
                                   humanBytes(bytes).c_str(), std::string(what).c_str(), humanBytes(total).c_str()));
  }
  void *base = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return outOfResources("no memory for " + std::string(what) + ": " + humanBytes(bytes));
  if (rounded >= 2 * kHugePage)
    madvise(base, rounded, MADV_HUGEPAGE);
  fresh.base = base;
  fresh.bytes = bytes;
  fresh.mapped = rounded;
  buffer = std::move(fresh);
  return {};
}

void Buffer::clear() {
  if (base)
    memset(base, 0, bytes);
}

std::string shapeText(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::optional<int64_t> elementCount(const Shape &shape) {
  int64_t count = 1;
  bool zero = false;
  for (int64_t n : shape) {
    if (n < 0)
      return std::nullopt;
    zero |= n == 0;
    if (n != 0 && __builtin_mul_overflow(count, n, &count))
      return std::nullopt;
  }
  return zero ? 0 : count;
}

Status Tensor::make(std::string name, Type type, Shape shape, Tensor &tensor) {
  std::optional<int64_t> count = elementCount(shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, int64_t(typeSize(type)), &bytes))
    return outOfResources(quote(name) + " of shape " + shapeText(shape) + " does not fit in memory");
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  return Buffer::make(bytes, quote(tensor.name), tensor.data);
}

} // namespace heddle::rt
