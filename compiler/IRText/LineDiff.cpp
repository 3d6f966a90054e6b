//===- LineDiff.cpp - Myers's algorithm, with a bound ---------------------===//

#include "compiler/IRText/LineDiff.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using llvm::ArrayRef;
using namespace heddle;

/// Where a search for the best split ends: the number of differences on each side.
static constexpr int kMostSteps = 1024;

namespace {
/// a[left, right) beside b[top, bottom). Diagonal k is where x - y = k.
struct Box {
  int left, right, top, bottom;
  bool hasDiagonal(int k) const { return left - bottom <= k && k <= right - top; }
};

class Myers {
public:
  Myers(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b)
      : a(a), b(b), ahead(a.size() + b.size() + 3), behind(a.size() + b.size() + 3) {}

  /// Appends the pairs of the box.
  void align(Box box);
  std::vector<LinePair> pairs;

private:
  using Point = std::pair<int, int>;
  /// A point of a shortest path through the box, or where `kMostSteps` are too few of a good one. Neither of its
  /// corners.
  Point split(const Box &box);
  /// One more difference from the corner: how far each diagonal is reached. True if the other corner has come as far,
  /// at `meet`.
  bool forward(const Box &box, int steps, Point &meet);
  bool backward(const Box &box, int steps, Point &meet);

  int &aheadOf(int k) { return ahead[size_t(k + int(b.size()) + 1)]; }
  int &behindOf(int k) { return behind[size_t(k + int(b.size()) + 1)]; }

  ArrayRef<uint64_t> a, b;
  /// By diagonal, the x that paths from the top left reach, and that paths from the bottom right reach.
  std::vector<int> ahead, behind;
};

constexpr int kNone = -1; ///< in `ahead` and `behind`: the diagonal is not reached

/// Whether `steps` differences from the diagonal `origin` may have reached diagonal k.
bool isReached(int k, int origin, int steps) { return std::abs(k - origin) <= steps; }
} // namespace

bool Myers::forward(const Box &box, int steps, Point &meet) {
  int start = box.left - box.top, end = box.right - box.bottom;
  bool odd = (start - end) & 1;
  for (int k = start - steps; k <= start + steps; k += 2) {
    if (!box.hasDiagonal(k))
      continue;
    int x = kNone;
    if (isReached(k - 1, start, steps - 1) && box.hasDiagonal(k - 1))
      if (int from = aheadOf(k - 1); from != kNone && from < box.right)
        x = from + 1; // drops a line of `a`
    if (isReached(k + 1, start, steps - 1) && box.hasDiagonal(k + 1))
      if (int from = aheadOf(k + 1); from != kNone && from - k <= box.bottom)
        x = std::max(x, from); // takes a line of `b`
    if (x != kNone)
      while (x < box.right && x - k < box.bottom && a[size_t(x)] == b[size_t(x - k)])
        ++x;
    aheadOf(k) = x;
    if (odd && x != kNone && isReached(k, end, steps - 1))
      if (int other = behindOf(k); other != kNone && other <= x) {
        meet = {x, x - k};
        return true;
      }
  }
  return false;
}

bool Myers::backward(const Box &box, int steps, Point &meet) {
  int start = box.left - box.top, end = box.right - box.bottom;
  bool odd = (start - end) & 1;
  for (int k = end - steps; k <= end + steps; k += 2) {
    if (!box.hasDiagonal(k))
      continue;
    int x = kNone;
    if (isReached(k + 1, end, steps - 1) && box.hasDiagonal(k + 1))
      if (int from = behindOf(k + 1); from != kNone && from > box.left)
        x = from - 1;
    if (isReached(k - 1, end, steps - 1) && box.hasDiagonal(k - 1))
      if (int from = behindOf(k - 1); from != kNone && from - k >= box.top)
        x = x == kNone ? from : std::min(x, from);
    if (x != kNone)
      while (x > box.left && x - k > box.top && a[size_t(x - 1)] == b[size_t(x - k - 1)])
        --x;
    behindOf(k) = x;
    if (!odd && x != kNone && isReached(k, start, steps))
      if (int other = aheadOf(k); other != kNone && x <= other) {
        meet = {x, x - k};
        return true;
      }
  }
  return false;
}

Myers::Point Myers::split(const Box &box) {
  int start = box.left - box.top, end = box.right - box.bottom;
  aheadOf(start) = box.left;
  behindOf(end) = box.right;
  Point meet;
  for (int steps = 1; steps <= kMostSteps; ++steps)
    if (forward(box, steps, meet) || backward(box, steps, meet))
      return meet;
  // Of the points that were reached, the one that leaves most lines behind it.
  int most = 0;
  for (int d = -kMostSteps; d <= kMostSteps; d += 2) {
    if (int k = start + d; box.hasDiagonal(k) && aheadOf(k) != kNone)
      if (int x = aheadOf(k), done = (x - box.left) + (x - k - box.top); done > most) {
        most = done;
        meet = {x, x - k};
      }
    if (int k = end + d; box.hasDiagonal(k) && behindOf(k) != kNone)
      if (int x = behindOf(k), done = (box.right - x) + (box.bottom - (x - k)); done > most) {
        most = done;
        meet = {x, x - k};
      }
  }
  return meet;
}

void Myers::align(Box box) {
  auto isPair = [&](int x, int y) { return a[size_t(x)] == b[size_t(y)]; };
  for (; box.left < box.right && box.top < box.bottom && isPair(box.left, box.top); ++box.left, ++box.top)
    pairs.push_back({unsigned(box.left), unsigned(box.top)});
  unsigned tail = 0;
  for (; box.left < box.right && box.top < box.bottom && isPair(box.right - 1, box.bottom - 1); ++tail)
    --box.right, --box.bottom;
  if (box.left < box.right && box.top < box.bottom) {
    auto [x, y] = split(box);
    align({box.left, x, box.top, y});
    align({x, box.right, y, box.bottom});
  }
  for (unsigned i = 0; i < tail; ++i)
    pairs.push_back({unsigned(box.right) + i, unsigned(box.bottom) + i});
}

/// Those of `lines` that `other` has, too, and where they are.
static std::pair<std::vector<uint64_t>, std::vector<unsigned>> shared(ArrayRef<uint64_t> lines,
                                                                      ArrayRef<uint64_t> other) {
  std::vector<uint64_t> known(other.begin(), other.end()), kept;
  llvm::sort(known);
  std::vector<unsigned> places;
  for (auto [i, line] : llvm::enumerate(lines))
    if (std::binary_search(known.begin(), known.end(), line)) {
      kept.push_back(line);
      places.push_back(unsigned(i));
    }
  return {std::move(kept), std::move(places)};
}

std::vector<LinePair> heddle::alignLines(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  auto [ofA, placesOfA] = shared(a, b);
  auto [ofB, placesOfB] = shared(b, a);
  Myers myers(ofA, ofB);
  myers.align({0, int(ofA.size()), 0, int(ofB.size())});
  for (LinePair &pair : myers.pairs)
    pair = {placesOfA[pair.first], placesOfB[pair.second]};
  return std::move(myers.pairs);
}
