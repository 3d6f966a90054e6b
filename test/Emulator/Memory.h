//===- Memory.h - Memory of the emulated device -----------------*- C++ -*-===//
//
// Allocations are in a range of their own, each with an inaccessible page behind
// it, and hold NaN (bytes 0xff) until somebody writes them. They can be touched
// only while the memory is open, which is during copies and launches; a touch at
// any other time ends the program with a message. Host memory that copies may
// use is known here too.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_MEMORY_H
#define HEDDLE_TEST_EMULATOR_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace heddle::emulator {

class Memory {
public:
  /// `total`: bytes that allocations may take.
  explicit Memory(uint64_t total);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  uint64_t total() const { return most; }
  uint64_t free() const { return most - used; }

  /// 256-byte aligned; null if there is no room.
  char *allocate(uint64_t bytes);
  bool release(char *address);
  /// Whether [address, address + bytes) is inside one allocation.
  bool holds(const void *address, uint64_t bytes) const;
  /// The offset of an address in the range of all allocations; false for an
  /// address elsewhere.
  bool offsetOf(const void *address, uint64_t &offset) const;
  /// Offsets are less than this.
  uint64_t range() const { return reserved; }

  void *allocateHost(uint64_t bytes);
  bool releaseHost(void *address);
  bool holdsHost(const void *address, uint64_t bytes) const;

  /// Lets allocations be touched; `fixed` is one that may be read only.
  void open(const void *fixed = nullptr);
  void close();
  /// What is running while the memory is open, for messages: "kernel `k`".
  void setUser(std::string text) { user = std::move(text); }

  /// What to say of a fault at `address`; "" if it is not this memory's.
  std::string explain(const void *address) const;

private:
  struct Piece {
    uint64_t bytes;  ///< as asked for
    char *begin;     ///< of its pages
    uint64_t mapped; ///< its pages, without the one behind them
    bool fixed = false;
  };
  const std::pair<char *const, Piece> *find(const void *address) const;

  uint64_t most, used = 0, reserved = 0;
  char *base = nullptr;
  std::map<char *, Piece> pieces;    ///< by address
  std::map<char *, uint64_t> pinned; ///< host memory and its size
  bool opened = false;
  std::string user;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_MEMORY_H
