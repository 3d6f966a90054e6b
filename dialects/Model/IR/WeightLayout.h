//===- WeightLayout.h - how a parameter is laid out in the blob --------*- C++ -*-===//
//
// A tensor of the weights file is a matrix W[N, K] of N results and K summed features, stored [N, K] or,
// `inOut`, [K, N]. A layout says which of its rows are packed, in which type and in which order:
//
//   natural   the elements as the file has them
//   panels    [ceil(N/panel)][ceil(K/pair)][panel][pair], zeros behind N and K. In 16 bits `pair` is 2: a word
//             of 4 bytes holds two neighbours along K
//   coded     panels of integer codes with their scales inside (Coding.h), behind their order if they have one
//
// Panels of a tensor [N, c, k...], the filter of a convolution, have K = c * Πk: summed feature t*c + i is element
// (i, t) of the file, so that channels are side by side as they are in what is multiplied.
//
// The plan (bytes), the packer (rows, places), the kernels (rows, places), the interpreter (rows, the type that
// elements are rounded to) and the verifier of the IR (what fits) all use this class, so they cannot disagree. No MLIR
// here: compiler/Weights has none.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_DIALECTS_MODEL_IR_WEIGHTLAYOUT_H
#define HEDDLE_DIALECTS_MODEL_IR_WEIGHTLAYOUT_H

#include "dialects/Model/IR/Coding.h"
#include "llvm/ADT/SmallVector.h"

namespace heddle {

/// Rows [g*stride + begin, g*stride + end) for g in [0, groups).
struct RowGroups {
  int64_t groups = 1, stride = 0, begin = 0, end = 0;
  int64_t count() const { return groups * (end - begin); }
  /// The row of the tensor that is the i-th of these; `c` as in WeightLayout::at.
  template <typename Number, typename Calculator> Number row(const Calculator &c, Number i) const {
    int64_t each = end - begin;
    Number first = c.add(c.mul(c.div(i, each), stride), begin);
    return c.add(first, c.rem(i, each));
  }
  int64_t row(int64_t i) const { return row(Integers(), i); }
};

struct WeightLayout {
  PackedType type = PackedType::F32; ///< of the numbers, also where they are laid out as codes
  int64_t panel = 0;                 ///< rows of W side by side in a panel; 0: natural
  bool inOut = false;
  /// The rows of part `part` where the results split into `groups` groups of `parts`; no parts: all rows.
  int64_t part = 0, groups = 1;
  llvm::SmallVector<int64_t, 4> parts;
  Coding coding; ///< of panels

  struct Matrix {
    int64_t n = 0, k = 0;
  };
  /// Far beyond any file, and low enough that sums and bytes never overflow.
  static constexpr int64_t mostElements = int64_t(1) << 56;
  static constexpr int64_t mostPanel = 1 << 8;

  /// Whether an element holds 16 bits of a real.
  bool halves() const { return width(type) == 2; }
  /// Neighbours along K in a word of a panel.
  int64_t pair() const { return panel && halves() ? 2 : 1; }
  /// Rows of words in a panel of K features.
  int64_t depth(int64_t k) const { return (k + pair() - 1) / pair(); }

  /// W of a tensor of this shape. What is no panel has its elements in one row; with parts, one in each row.
  Matrix matrixOf(llvm::ArrayRef<int64_t> shape) const {
    if (panel && shape.size() == 2)
      return inOut ? Matrix{shape[1], shape[0]} : Matrix{shape[0], shape[1]};
    int64_t elements = 1;
    for (int64_t n : shape)
      elements *= n;
    if (panel)
      return {shape[0], shape[0] ? elements / shape[0] : 0};
    return parts.empty() ? Matrix{1, elements} : Matrix{elements, 1};
  }
  /// The summed feature that element j of a row of the file is: of a filter taps outside, channels inside.
  static int64_t featureOf(llvm::ArrayRef<int64_t> shape, int64_t j) {
    int64_t taps = 1;
    for (int64_t n : shape.drop_front(std::min<size_t>(shape.size(), 2)))
      taps *= n;
    return j % taps * shape[1] + j / taps;
  }
  /// Which of N rows are packed.
  RowGroups take(int64_t n) const {
    if (parts.empty())
      return {1, n, 0, n};
    int64_t before = 0, total = 0;
    for (int64_t i = 0; i < int64_t(parts.size()); ++i) {
      before += i < part ? parts[i] : 0;
      total += parts[i];
    }
    int64_t unit = n / (groups * total);
    return {groups, total * unit, before * unit, (before + parts[part]) * unit};
  }
  /// Bytes of `rows` packed rows of K features.
  uint64_t bytes(int64_t rows, int64_t k) const {
    uint64_t lines = panel ? llvm::alignTo(uint64_t(rows), uint64_t(panel)) : uint64_t(rows);
    if (coding)
      return rows && k ? coding.orderBytes(k) + lines / panel * uint64_t(coding.panelBytes(panel, k)) : 0;
    return lines * uint64_t(depth(k) * pair()) * width(type);
  }
  /// Of what is packed of a tensor of this shape.
  uint64_t bytes(llvm::ArrayRef<int64_t> shape) const {
    Matrix w = matrixOf(shape);
    return bytes(take(w.n).count(), w.k);
  }

  /// Where element (n, k) of what is packed is, in elements, for panels of `depth` rows of words. `c` adds,
  /// multiplies, divides and takes remainders of whatever stands for a number: the packer passes integers, a
  /// kernel code.
  template <typename Number, typename Calculator>
  Number at(const Calculator &c, Number n, Number k, Number depth) const {
    Number first = c.mul(c.div(n, panel), depth);
    Number line = c.mul(c.add(first, c.div(k, pair())), panel), word = c.add(line, c.rem(n, panel));
    if (pair() == 1)
      return word;
    Number even = c.mul(word, pair());
    return c.add(even, c.rem(k, pair()));
  }

  /// Why there is no such layout; empty: there is.
  std::string wrong() const {
    if (panel < 0 || panel > mostPanel)
      return "a panel has 1 to " + std::to_string(mostPanel) + " rows, not " + std::to_string(panel);
    if (panel && !isReal(type))
      return "panels hold f32, bf16 or f16";
    if (!panel && inOut)
      return "'in_out' is said of panels alone";
    if (coding && (!panel || type != PackedType::F32))
      return "codes lie in panels and mean f32";
    if (coding && !coding.wrong().empty())
      return coding.wrong();
    int64_t total = 0;
    for (int64_t p : parts)
      if (p < 1 || p > mostElements || (total += p) > mostElements)
        return "a part takes 1 or more rows of a group, not " + std::to_string(p);
    if (parts.empty() ? part != 0 || groups != 1 : part < 0 || part >= int64_t(parts.size()))
      return "there is no part " + std::to_string(part) + " of " + std::to_string(parts.size());
    if (groups < 1 || groups > mostElements)
      return "rows split into 1 or more groups, not " + std::to_string(groups);
    return "";
  }
  /// Why a tensor of this shape does not fit a layout that is not wrong; empty: it does.
  std::string misfit(llvm::ArrayRef<int64_t> shape) const {
    if (panel && (shape.size() < 2 || (inOut && shape.size() > 2)))
      return "panels are of a matrix or of a filter [N, c, k...], but the shape has " + std::to_string(shape.size()) +
             " axes";
    bool overflow = false;
    uint64_t elements = 1;
    for (int64_t n : shape) {
      bool more = false;
      elements = llvm::SaturatingMultiply(elements, uint64_t(n), &more);
      overflow |= more || n < 0 || n > mostElements;
    }
    if (overflow || elements > uint64_t(mostElements))
      return "the shape has more elements than fit";
    Matrix w = matrixOf(shape);
    if (coding && shape.size() != 2)
      return "codes are of a matrix, but the shape has " + std::to_string(shape.size()) + " axes";
    if (coding && !coding.misfit(w.k).empty())
      return coding.misfit(w.k);
    if (panel && llvm::SaturatingMultiply(uint64_t(w.n + panel), uint64_t(w.k + 1)) > uint64_t(mostElements))
      return "the panels have more elements than fit";
    int64_t total = 0;
    for (int64_t p : parts)
      total += p;
    if (!parts.empty() && (total > w.n || groups > w.n / total || w.n % (groups * total)))
      return std::to_string(w.n) + " rows do not split into " + std::to_string(groups) + " groups of " +
             std::to_string(total) + " units";
    return "";
  }
};

} // namespace heddle

#endif
