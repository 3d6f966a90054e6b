//===- EntryCall.h - Calls of an entry --------------------------*- C++ -*-===//
//
// What a call of an entry takes: inputs, which the caller has, outputs, states
// and an arena. All memory is taken before the first call, for the largest; a
// call allocates nothing. Entries that compute one text share their states and
// the arena, which is what CallMemory holds.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_ENTRYCALL_H
#define HEDDLE_RUNTIME_CORE_ENTRYCALL_H

#include "runtime/Core/Model.h"

namespace heddle::rt {

/// The length of every dim of an entry, in the order of `entry.dims`.
using Lengths = std::vector<int64_t>;

/// Gives `tensor` the name and the type of `value`, and memory for its largest size under `calls`. What it has stays
/// where that is enough. Errors: lengths that leave no axis, not enough memory.
Status reserveTensor(const Value &value, const std::vector<Lengths> &calls, Tensor &tensor);

/// What outlasts a call, and the memory that it works in.
struct CallMemory {
  struct Size {
    const Entry *entry;
    Lengths lengths;
  };
  /// Takes every state of these entries, zeroed, at the largest of its sizes. Two entries with a state of one name
  /// share it.
  Status takeStates(Backend &backend, const std::vector<Size> &sizes);
  /// Makes the arena large enough for each of these calls.
  Status reserveArena(Backend &backend, const std::vector<Size> &sizes);
  uint64_t stateBytes() const;

  std::map<std::string, Memory, std::less<>> states; ///< by name
  Memory arena;
};

class EntryCall {
public:
  EntryCall() = default;
  /// All three must outlive this.
  EntryCall(Model &model, const Entry &entry, CallMemory &memory);

  /// Everything for calls of one size: `given` in card order, without data for an input left out, must outlive this.
  /// States are taken, and are zero.
  Status prepare(const Lengths &lengths, const std::vector<Tensor> &given);
  /// Makes outputs and arena large enough for each of these calls.
  Status reserve(const std::vector<Lengths> &calls);
  /// An error unless the ops of the entry take these lengths, given the inputs that are there.
  Status check(const Lengths &lengths) const;
  /// One call, which has been checked here; its states must have been taken. An internal error if an output has too
  /// little room.
  Status call(const Lengths &lengths);

  std::vector<void *> inputs;  ///< in card order; null: left out
  std::vector<Tensor> outputs; ///< in card order, of the last call; their memory may be larger

private:
  Model *model = nullptr;
  const Entry *entry = nullptr;
  CallMemory *memory = nullptr;
  std::vector<void *> tensors;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_ENTRYCALL_H
