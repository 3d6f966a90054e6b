//===- Backend.h - The machine that runs the entries ------------*- C++ -*-===//
//
// Where entries are called and where that lives which outlasts a call: states
// and the arena. `Host` is the processor with its threads. Inputs and outputs
// are memory of the program, whichever machine computes; a backend brings them
// there and back. Nothing else in the runtime reads or writes a state.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_BACKEND_H
#define HEDDLE_RUNTIME_CORE_BACKEND_H

#include "runtime/Core/Card.h"

namespace heddle::rt {

class Backend;

/// A piece of a backend's memory, given back when this is destroyed. The
/// address counts on that machine; only a host's may be followed here.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept { swap(other); }
  Memory &operator=(Memory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory();

  void *data() const { return base; }
  uint64_t size() const { return bytes; }

private:
  friend class Backend;
  void swap(Memory &other) {
    std::swap(owner, other.owner);
    std::swap(base, other.base);
    std::swap(bytes, other.bytes);
  }
  Backend *owner = nullptr;
  void *base = nullptr;
  uint64_t bytes = 0;
};

class Backend {
public:
  /// What memory is for: a state is zero at first, an arena holds anything.
  enum class Use : uint8_t { State, Arena };

  virtual ~Backend() = default;

  /// Takes the machine, once, and learns where the weights are; they are there
  /// for as long as this is.
  virtual Status start(const void *weights) = 0;
  /// `what` names the memory in the error.
  virtual Status allocate(Use use, uint64_t bytes, std::string_view what, Memory &memory) = 0;
  /// Makes all of it zero.
  virtual Status clear(Memory &memory) = 0;
  /// The first `groups` * `part` bytes are `groups` equal parts, each of
  /// from.size() equal rows: in every part row i becomes what row from[i] was.
  virtual Status permute(Memory &memory, uint64_t groups, uint64_t part, const std::vector<int64_t> &from) = 0;
  /// Copies bytes within a piece of memory, from offset to offset; the two do not overlap.
  virtual Status copy(Memory &memory, uint64_t to, uint64_t from, uint64_t bytes) = 0;
  /// One call. `tensors`: inputs and outputs, which are memory of the program,
  /// then states, in card order; an input that was left out is null.
  virtual Status call(const Entry &entry, const std::vector<int64_t> &dims, const std::vector<void *> &tensors,
                      const Memory &arena) = 0;
  /// What `threads` is in the form of an arena.
  virtual int64_t threads() const = 0;
  /// The machine in a few words, for people.
  virtual std::string describe() const = 0;

protected:
  friend class Memory;
  virtual void release(void *base) = 0;
  Memory owned(void *base, uint64_t bytes) {
    Memory memory;
    memory.owner = this;
    memory.base = base;
    memory.bytes = bytes;
    return memory;
  }
};

inline Memory::~Memory() {
  if (owner)
    owner->release(base);
}

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_BACKEND_H
