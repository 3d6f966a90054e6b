// Which rows of stored tensors a matrix has, in its own order. llama.cpp's converter moves rows: those of a head into
// rotary pairs, heads of queries, keys and values apart or together, experts into one tensor. Rows of blocks can be
// moved without being decoded, so a matrix is a rule that says for each of its rows where that is stored.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFROWS_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFROWS_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle {

/// Runs of stored rows that repeat: in period p row i of a run is row `first + p * step + i * stride` of its source.
class GgufRows {
public:
  static constexpr unsigned zeros = ~0u; ///< a source without rows: its rows are 0

  struct Run {
    unsigned source = 0;
    int64_t count = 0, first = 0;
    int64_t step = 0, stride = 1;
  };

  GgufRows(int64_t periods, std::vector<Run> all) : periods(periods), runs(std::move(all)) {
    for (const Run &run : runs)
      ends.push_back(period += run.count);
  }
  /// `count` rows of the first source, as they are stored.
  static GgufRows plain(int64_t count, int64_t first = 0) { return {1, {{0, count, first}}}; }
  /// Rows of heads that are stored as rotary pairs (0, D/2, 1, D/2 + 1 ...).
  static GgufRows pairs(int64_t rows, int64_t heads) {
    int64_t width = rows / heads;
    return {heads, {{0, width / 2, 0, width, 2}, {0, width / 2, 1, width, 2}}};
  }

  int64_t size() const { return period * periods; }
  bool hasZeros() const {
    return std::any_of(runs.begin(), runs.end(), [](const Run &run) { return run.source == zeros; });
  }
  struct Place {
    unsigned source;
    int64_t row;
    int64_t count; ///< this row and those behind it that are also stored one behind the other
  };
  Place at(int64_t row) const {
    int64_t p = row / period, within = row % period;
    size_t r = std::upper_bound(ends.begin(), ends.end(), within) - ends.begin();
    const Run &run = runs[r];
    int64_t i = within - (ends[r] - run.count);
    return {run.source, run.first + p * run.step + i * run.stride, run.stride == 1 ? run.count - i : 1};
  }

private:
  int64_t period = 0, periods;
  std::vector<Run> runs;
  std::vector<int64_t> ends; ///< in the period, of each run
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFROWS_H
