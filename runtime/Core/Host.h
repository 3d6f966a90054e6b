//===- Host.h - Entries on this processor -----------------------*- C++ -*-===//
//
// An entry is a function that every thread of the pool calls. States and arena
// are buffers, and tensors are used where they are.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_HOST_H
#define HEDDLE_RUNTIME_CORE_HOST_H

#include "runtime/Core/Backend.h"
#include "runtime/Core/Pool.h"
#include "runtime/Core/Tensor.h"

namespace heddle::rt {

class Host final : public Backend {
public:
  /// `pool` is started by its owner; `entries` are in the order of the card.
  Host(Pool &pool, const heddle_entry_fn *entries) : pool(pool), entries(entries) {}

  Status start(const void *weights) override;
  Status allocate(Use use, uint64_t bytes, std::string_view what, Memory &memory) override;
  Status clear(Memory &memory) override;
  Status permute(Memory &memory, uint64_t groups, uint64_t part, const std::vector<int64_t> &from) override;
  Status copy(Memory &memory, uint64_t to, uint64_t from, uint64_t bytes) override;
  Status call(const Entry &entry, const std::vector<int64_t> &dims, const std::vector<void *> &tensors,
              const Memory &arena) override;
  int64_t threads() const override { return pool.threads(); }
  std::string describe() const override;

private:
  void release(void *base) override { taken.erase(base); }

  Pool &pool;
  const heddle_entry_fn *entries;
  const void *weights = nullptr;
  std::map<void *, Buffer> taken; ///< by address
  Buffer moved;                   ///< rows on their way
};

/// Rows of `piece` bytes: row i becomes what row from[i] was; `scratch` has
/// room for all of them.
void permuteRows(char *data, size_t piece, const std::vector<int64_t> &from, char *scratch);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_HOST_H
