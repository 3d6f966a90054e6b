//===- Graphs.cpp - Steps that are launched at once -----------------------===//
//
// A text of 100,000 tokens goes through ten buckets, so that few graphs are
// kept; the oldest makes room.
//
//===----------------------------------------------------------------------===//
#include "runtime/Device/Graphs.h"

#include "runtime/Core/Dims.h"

#include <algorithm>

namespace heddle::rt {

bool isStep(const Entry &entry, const std::vector<int64_t> &dims, std::vector<int64_t> &ends) {
  constexpr int64_t kLeast = 128;
  int past = entry.dim(kPastDim), count = entry.dim(kNewDim), capacity = entry.dim(kCapacityDim);
  if (past < 0 || count < 0 || capacity < 0 || dims[past] == 0 || dims[count] != 1)
    return false;
  for (const LaunchLine &line : entry.launches)
    for (int dim : line.count.uses())
      if (line.kind == LaunchLine::Kind::Repeat && dim == past)
        return false;
  int64_t length = kLeast;
  while (length < dims[past] + 1)
    length *= 2;
  ends = dims;
  ends[past] = std::min(length, dims[capacity]) - 1;
  return true;
}

bool Graphs::Key::operator==(const Key &other) const {
  return entry == other.entry && dims == other.dims && arena == other.arena;
}

void Graphs::clear() {
  for (auto &graph : graphs)
    gpu.driver.graphExecDestroy(graph.second);
  graphs.clear();
}

Status Graphs::capture(const Key &key, const std::function<Status()> &enqueue) {
  constexpr size_t kMost = 32;
  HEDDLE_TRY(gpu.check(gpu.driver.captureBegin(gpu.stream, kCuCaptureThreadLocal), "a graph was begun"));
  Status status = enqueue();
  CuGraph graph = nullptr;
  int result = gpu.driver.captureEnd(gpu.stream, &graph);
  CuGraphExec exec = nullptr;
  if (result == kCuSuccess && status.ok())
    result = gpu.driver.graphInstantiate(&exec, graph, 0);
  if (graph)
    gpu.driver.graphDestroy(graph);
  HEDDLE_TRY(status);
  HEDDLE_TRY(gpu.check(result, "a graph was made"));
  if (graphs.size() == kMost) {
    gpu.driver.graphExecDestroy(graphs.front().second);
    graphs.erase(graphs.begin());
  }
  graphs.emplace_back(key, exec);
  return {};
}

Status Graphs::launch(const Key &key, const std::function<Status()> &enqueue) {
  auto find = [&] {
    return std::find_if(graphs.begin(), graphs.end(), [&](const auto &graph) { return graph.first == key; });
  };
  if (find() == graphs.end())
    HEDDLE_TRY(capture(key, enqueue));
  return gpu.check(gpu.driver.graphLaunch(find()->second, gpu.stream), "a graph was launched");
}

} // namespace heddle::rt
