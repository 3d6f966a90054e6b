//===- Host.cpp - Entries on this processor -------------------------------===//
//
// Memory is zero when it is mapped, so that a state needs no clearing at first.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Host.h"

#include "runtime/Core/Cpu.h"

#include <cstring>

namespace heddle::rt {

void permuteRows(char *data, size_t piece, const std::vector<int64_t> &from, char *scratch) {
  // Only what moves, and only what somebody still wants, is copied.
  for (size_t row = 0; row < from.size(); ++row)
    if (from[row] != int64_t(row))
      memcpy(scratch + row * piece, data + from[row] * piece, piece);
  for (size_t row = 0; row < from.size(); ++row)
    if (from[row] != int64_t(row))
      memcpy(data + row * piece, scratch + row * piece, piece);
}

Status Host::start(const void *theWeights) {
  weights = theWeights;
  return {};
}

Status Host::allocate(Use, uint64_t bytes, std::string_view what, Memory &memory) {
  Buffer buffer;
  HEDDLE_TRY(Buffer::make(bytes, what, buffer));
  void *base = buffer.data();
  taken[base] = std::move(buffer);
  memory = owned(base, bytes);
  return {};
}

Status Host::clear(Memory &memory) {
  taken[memory.data()].clear();
  return {};
}

Status Host::permute(Memory &memory, uint64_t groups, uint64_t part, const std::vector<int64_t> &from) {
  if (moved.size() < part)
    HEDDLE_TRY(Buffer::make(part, "the beams", moved));
  for (uint64_t group = 0; group < groups; ++group)
    permuteRows(static_cast<char *>(memory.data()) + group * part, part / from.size(), from, moved.as<char>());
  return {};
}

Status Host::copy(Memory &memory, uint64_t to, uint64_t from, uint64_t bytes) {
  memcpy(static_cast<char *>(memory.data()) + to, static_cast<char *>(memory.data()) + from, bytes);
  return {};
}

Status Host::call(const Entry &entry, const std::vector<int64_t> &dims, const std::vector<void *> &tensors,
                  const Memory &arena) {
  return pool.call(entries[entry.index], dims.data(), tensors.data(), static_cast<char *>(arena.data()), weights);
}

std::string Host::describe() const { return format("%u threads, %s", pool.threads(), processorName().c_str()); }

} // namespace heddle::rt
