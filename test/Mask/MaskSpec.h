//===- MaskSpec.h - a mask as a formula, as text and as data ----*- C++ -*-===//
//
// What the tests of masks draw at random and write by hand: an expression over the leaves and
// connectives of the mask dialect, the tensors that it reads, and its meaning as written, one
// row of queries at a time. Nothing here knows of tiles, tables or rewrites.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MASK_MASKSPEC_H
#define HEDDLE_TEST_MASK_MASKSPEC_H

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace heddle::test {

/// The numbers that dims B, T, S, P (past) and K (key_start) have in one call.
struct MaskSizes {
  int64_t B = 1, T = 1, S = 1, P = 0, K = 0;
  std::string str() const;
};

/// A tensor that a leaf reads. Its axes are "B", "T", "S" or numbers.
struct MaskTensor {
  std::vector<std::string> axes;
  std::string element; ///< "i64", "f32", "i1"
  /// One row along the last axis: element(sizes, seed of the row, index).
  std::function<double(const MaskSizes &, uint64_t seed, int64_t index)> at;
};

class MaskSpec {
public:
  enum Kind {
    All,
    Causal,
    Window,
    Labels,
    Chunk,
    Dilated,
    Picture,
    Windows,
    Keys,
    Queries,
    Prefix,
    Document,
    Blocks,
    Dense,
    And,
    Or,
    Add,
    Not,
    Select
  };
  struct Node {
    Kind kind;
    std::optional<int64_t> left = {}, right = {}; ///< window, labels; of a picture: rows, columns
    int64_t step = 1;                             ///< dilated, blocks, chunk; of a picture: its width
    int first = -1, second = -1;                  ///< tensors; labels: of rows, of keys (-1: the same)
    std::vector<Node> of = {};
    int64_t shift = 0; ///< of windows in a picture
  };
  Node root;
  std::vector<MaskTensor> tensors;
  int heads = 1; ///< of the attention: what axes of heads are made for
  /// What lengths and positions have to do with each other. Cached: K = 0, S = P + T; Square:
  /// P = K = 0, T = S, so that labels of rows may also be those of keys.
  enum Grid { Free, FromZero, Cached, Square };
  Grid grid = Free;

  /// A random expression of at most `depth` connectives above a leaf; `most` bounds P + T.
  static MaskSpec draw(std::mt19937_64 &random, int depth, int64_t most);
  MaskSizes sizes(std::mt19937_64 &random, int64_t most) const;

  // Leaves by hand; each adds its tensor.
  Node window(std::optional<int64_t> left, std::optional<int64_t> right) const {
    return {Window, left, right, 1, -1, -1, {}};
  }
  /// Neighbours (grid) or, with a shift, windows (grid_window) in a picture.
  static Node picture(int64_t width, int64_t rows, int64_t columns) { return {Picture, rows, columns, width}; }
  static Node windows(int64_t width, int64_t rows, int64_t columns, int64_t shift) {
    return {Windows, rows, columns, width, -1, -1, {}, shift};
  }
  Node reads(Kind kind, MaskTensor t);
  Node document(MaskTensor query, MaskTensor key);
  Node blocks(int64_t size, MaskTensor lists);

  /// The ops, one a line, the last defines %m. Tensors are %t0, %t1 ...
  std::string ops() const;
  std::string typeOf(int tensor) const;
  /// The expression on one line.
  std::string str() const;

  /// The elements of all tensors for a call.
  using Data = std::vector<std::vector<double>>;
  Data make(const MaskSizes &n, uint64_t seed) const;
  static int64_t extent(const std::string &axis, const MaskSizes &n);

  /// Whether `+` occurs: then pairs have counts, else they are seen or not.
  bool counted() const { return hasAdd(root); }
  /// How often query row `row` sees each key row.
  using Row = std::vector<int32_t>;
  Row row(const MaskSizes &n, const Data &data, int64_t b, int64_t h, int64_t row) const {
    return value({n, data, b, h, row, counted()}, root);
  }
  int leaves() const { return leavesOf(root); }

private:
  struct At {
    const MaskSizes &n;
    const Data &data;
    int64_t b, h, row;
    bool counts;
  };
  /// A line of a tensor along its last axis.
  struct Line {
    const double *values;
    int64_t step; ///< 0 where the axis has length 1
    double operator[](int64_t i) const { return values[i * step]; }
  };
  Row value(const At &at, const Node &node) const;
  Line line(const At &at, int tensor, std::vector<int64_t> index) const;
  Line along(const At &at, int tensor) const;
  std::string textOf(const Node &node, std::string &lines, int &next) const;
  std::string show(const Node &node) const;
  static bool hasAdd(const Node &node);
  static int leavesOf(const Node &node);
};

uint64_t mix(uint64_t seed, uint64_t index); ///< a hash

} // namespace heddle::test

#endif
