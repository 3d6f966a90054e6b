//===- Graphs.h - Steps that are launched at once ---------------*- C++ -*-===//
//
// The launches of a step are the same for every token: kernels read lengths
// from the block of Staging, and no argument changes. They are captured once for
// a bucket of lengths (powers of two from 128) and then launched as one graph,
// copies included. Grids and places are made for the longest text of a bucket.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_DEVICE_GRAPHS_H
#define HEDDLE_RUNTIME_DEVICE_GRAPHS_H

#include "runtime/Core/Card.h"
#include "runtime/Device/Gpu.h"

#include <functional>

namespace heddle::rt {

/// Whether a call of `entry` is a step that a graph can stand for: one token
/// after others, and no repeat that depends on how many. Then `ends` are the
/// dims at the end of its bucket.
bool isStep(const Entry &entry, const std::vector<int64_t> &dims, std::vector<int64_t> &ends);

class Graphs {
public:
  explicit Graphs(Gpu &gpu) : gpu(gpu) {}
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;
  ~Graphs() { clear(); }

  /// What a graph was made for. Equal keys have equal launches, also where the
  /// arena's address has come back as another arena.
  struct Key {
    int entry = 0;
    std::vector<int64_t> dims; ///< at the end of the bucket
    CuAddress arena = 0;
    bool operator==(const Key &other) const;
  };

  /// Launches the graph of `key`; if there is none, it captures what `enqueue`
  /// puts into the stream.
  Status launch(const Key &key, const std::function<Status()> &enqueue);
  /// Forgets all graphs: something moved that they name.
  void clear();

private:
  Status capture(const Key &key, const std::function<Status()> &enqueue);

  Gpu &gpu;
  std::vector<std::pair<Key, CuGraphExec>> graphs;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_DEVICE_GRAPHS_H
