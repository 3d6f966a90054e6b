//===- StackArena.cpp - tenants of the arena on one another ---------------===//
//
// An arrangement is an order of the tenants: each lies on the highest of those before it that live when it does. Its
// offset is the largest of their ends, a form with max(,) where no end is the largest for all dims. So every order is
// right for all dims, and orders differ in how high the whole becomes. Good orders are found with numbers: tenants are
// put into the lowest gap that is large enough, at the sizes that some dims give, the largest first, say; what lies
// lower comes first in the order.
//
//===----------------------------------------------------------------------===//

#include "compiler/Plan/ArenaLayout.h"
#include "compiler/Plan/Lengths.h"
#include "dialects/Model/IR/ReservedDims.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/Sequence.h"
#include <functional>

using namespace heddle;
using namespace heddle::plan;
using llvm::ArrayRef, llvm::SmallVector, llvm::StringRef;
using model::Size;

//===-- dims to try ------------------------------------------------------------------===//

std::vector<Lengths> plan::lengthsToTry(mlir::func::FuncOp function) {
  struct Choice {
    int64_t batch, fresh, length, threads;
  };
  constexpr Choice choices[] = {{1, 1, 1, 1},    {1, 1, 16, 8},    {1, 16, 128, 8},  {1, 128, 128, 16},
                                {1, 1, 1000, 2}, {8, 1, 128, 16},  {8, 64, 500, 16}, {1, 500, 2000, 4},
                                {32, 4, 300, 8}, {2, 40, 16000, 4}};
  auto module = function->getParentOfType<mlir::ModuleOp>();
  auto bounds = module ? module->getAttrOfType<mlir::DictionaryAttr>("model.dims") : mlir::DictionaryAttr();
  SmallVector<std::string> dims = entryDims(function);
  std::vector<Lengths> samples;
  for (const Choice &choice : choices) {
    Lengths lengths{{model::kThreadsDim.str(), choice.threads}};
    for (const std::string &dim : dims) {
      bool few = dim == dims.front() || dim == model::kSlotsDim || dim == model::kAskedDim;
      int64_t n = few ? choice.batch : dim == model::kNewDim ? choice.fresh : choice.length;
      auto bound = bounds ? bounds.getAs<mlir::IntegerAttr>(dim) : mlir::IntegerAttr();
      lengths[dim] = bound ? std::min(n, bound.getInt()) : n;
    }
    samples.push_back(std::move(lengths));
  }
  return samples;
}

//===-- arrangements, in numbers -----------------------------------------------------===//

/// A form in lines of 64 bytes, rounded up.
static Size linesOf(const Size &bytes) {
  std::optional<Size> whole = bytes.exactDiv(Size(64));
  return whole ? *whole : (bytes + Size(63)).floorDiv(Size(64));
}

namespace {
using Order = SmallVector<unsigned>;

/// The sizes of all at one choice of dims.
struct Sample {
  std::vector<int64_t> kinds; ///< of each kind of size, in lines
  std::vector<int64_t> lines; ///< of each tenant
  int64_t alive = 0;          ///< most that lives at once
};

class Stacker {
public:
  Stacker(ArrayRef<Tenant> tenants, ArrayRef<Lengths> lengths);
  /// The best order that was found.
  Order search() const;
  /// The forms of an order.
  ArenaLayout layout(ArrayRef<unsigned> order);

private:
  ArrayRef<Tenant> tenants;
  std::vector<SmallVector<unsigned>> others; ///< of each tenant: which live at the same time
  std::vector<Size> kinds;                   ///< the sizes that there are, in lines
  std::vector<unsigned> kindOf;              ///< of each tenant
  std::vector<Sample> samples;

  bool together(unsigned a, unsigned c) const {
    return tenants[a].numbers.begin <= tenants[c].numbers.end && tenants[c].numbers.begin <= tenants[a].numbers.end;
  }
  int64_t aliveAtOnce(ArrayRef<int64_t> sizes) const;
  int64_t height(ArrayRef<unsigned> order, const Sample &sample, unsigned *highest = nullptr) const;
  double worst(ArrayRef<unsigned> order, double limit) const;
  Order fill(ArrayRef<unsigned> order, const Sample &sample) const;

  /// How many of each kind are one on another.
  using Pile = std::vector<int64_t>;
  /// The largest of some piles, none of which is the largest for all dims; none: the ground.
  using Height = std::vector<Pile>;
  std::map<Pile, bool> notNegative; ///< what is known of differences
  std::map<Height, Size> forms;
  bool atMost(const Pile &a, const Pile &c);
  Size sizeOf(const Pile &pile) const;
  void raise(Height &height, const Height &other);
  void joinTwo(Height &height) const;
  Size formOf(const Height &height);
};
} // namespace

Stacker::Stacker(ArrayRef<Tenant> tenants, ArrayRef<Lengths> lengths) : tenants(tenants), others(tenants.size()) {
  auto byBegin = llvm::to_vector(llvm::seq<unsigned>(0, tenants.size()));
  llvm::stable_sort(byBegin,
                    [&](unsigned a, unsigned c) { return tenants[a].numbers.begin < tenants[c].numbers.begin; });
  for (size_t i = 0; i < byBegin.size(); ++i)
    for (size_t j = i + 1; j < byBegin.size() && together(byBegin[i], byBegin[j]); ++j) {
      others[byBegin[i]].push_back(byBegin[j]);
      others[byBegin[j]].push_back(byBegin[i]);
    }
  std::map<Size, unsigned> known; // by bytes
  for (const Tenant &tenant : tenants) {
    auto [it, isNew] = known.try_emplace(tenant.bytes, kinds.size());
    if (isNew)
      kinds.push_back(linesOf(tenant.bytes));
    kindOf.push_back(it->second);
  }
  for (const Lengths &dims : lengths) {
    Sample sample;
    for (const Size &form : kinds)
      if (std::optional<int64_t> n = form.evaluate(dims); n && *n >= 0 && *n < (int64_t(1) << 40))
        sample.kinds.push_back(*n);
    bool isNew = llvm::none_of(samples, [&](const Sample &other) { return other.kinds == sample.kinds; });
    if (sample.kinds.size() != kinds.size() || !isNew) // no call has these dims, as with too few rows for a convolution
      continue;
    for (unsigned kind : kindOf)
      sample.lines.push_back(sample.kinds[kind]);
    sample.alive = aliveAtOnce(sample.lines);
    samples.push_back(std::move(sample));
  }
}

int64_t Stacker::aliveAtOnce(ArrayRef<int64_t> sizes) const {
  SmallVector<std::pair<int64_t, int64_t>> changes; // when, and by how much; what ends at n is there until then
  for (auto [tenant, size] : llvm::zip_equal(tenants, sizes)) {
    changes.push_back({tenant.numbers.begin, size});
    if (tenant.numbers.end != INT64_MAX)
      changes.push_back({tenant.numbers.end + 1, -size});
  }
  llvm::sort(changes);
  int64_t now = 0, most = 0;
  for (auto [when, change] : changes)
    most = std::max(most, now += change);
  return most;
}

/// How high the tenants are stacked, and which of them is the highest.
int64_t Stacker::height(ArrayRef<unsigned> order, const Sample &sample, unsigned *highest) const {
  std::vector<int64_t> end(tenants.size(), -1); // -1: has no place yet
  int64_t top = -1;
  for (unsigned i : order) {
    int64_t from = 0;
    for (unsigned j : others[i])
      from = std::max(from, end[j]);
    end[i] = from + sample.lines[i];
    if (end[i] > top) {
      top = end[i];
      if (highest)
        *highest = i;
    }
  }
  return std::max<int64_t>(top, 0);
}

/// By how much an order exceeds what lives at once, at the worst of the samples; what is more than `limit` is not told
/// exactly. Where little lives at once, little is lost whatever the order.
double Stacker::worst(ArrayRef<unsigned> order, double limit) const {
  constexpr double kLittle = 64; // lines
  double worst = 1;
  for (const Sample &sample : samples) {
    if (worst >= limit)
      break;
    worst = std::max(worst, (double(height(order, sample)) + kLittle) / (double(sample.alive) + kLittle));
  }
  return worst;
}

/// Puts one after the other into the lowest gap between those that have a place and live when it does. The result is
/// the order by place.
Order Stacker::fill(ArrayRef<unsigned> order, const Sample &sample) const {
  std::vector<int64_t> from(tenants.size(), -1);
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (unsigned i : order) {
    taken.clear();
    for (unsigned j : others[i])
      if (from[j] >= 0)
        taken.push_back({from[j], from[j] + sample.lines[j]});
    llvm::sort(taken);
    int64_t at = 0;
    for (auto [begin, end] : taken) {
      if (begin - at >= sample.lines[i])
        break;
      at = std::max(at, end);
    }
    from[i] = at;
  }
  Order placed(order);
  llvm::stable_sort(placed, [&](unsigned a, unsigned c) {
    return std::pair(from[a], from[a] + sample.lines[a]) < std::pair(from[c], from[c] + sample.lines[c]);
  });
  return placed;
}

Order Stacker::search() const {
  /// What exceeds what lives at once by less is not worth another try.
  constexpr double kGood = 1.01;
  /// The tenant that ends highest goes in front and all are placed anew, so many times.
  constexpr int kTurns = 12;
  auto inText = llvm::to_vector(llvm::seq<unsigned>(0, tenants.size()));
  Order best = inText;
  double least = worst(best, std::numeric_limits<double>::infinity());
  for (const Sample &sample : samples) {
    auto size = [&](unsigned i) { return sample.lines[i]; };
    auto span = [&](unsigned i) { // of storages that stay to the end of the function no more counts
      return std::min<int64_t>(tenants[i].numbers.end - tenants[i].numbers.begin, 1 << 20) + 1;
    };
    auto begin = [&](unsigned i) { return tenants[i].numbers.begin; };
    std::function<bool(unsigned, unsigned)> before[] = {
        [&](unsigned a, unsigned c) { return size(a) > size(c); },
        [&](unsigned a, unsigned c) { return double(size(a)) * span(a) > double(size(c)) * span(c); },
        [&](unsigned a, unsigned c) { return span(a) > span(c); },
        [&](unsigned a, unsigned c) { return begin(a) < begin(c); }};
    for (const auto &first : before) {
      Order order = inText;
      llvm::stable_sort(order, first);
      for (int turn = 0; turn < kTurns; ++turn) {
        Order placed = fill(order, sample);
        if (double found = worst(placed, least); found < least) {
          best = placed;
          least = found;
        }
        if (least <= kGood)
          return best;
        unsigned highest = placed.front();
        height(placed, sample, &highest);
        if (order.front() == highest)
          break;
        order.erase(llvm::find(order, highest));
        order.insert(order.begin(), highest);
      }
    }
  }
  return best;
}

//===-- an arrangement, in forms -----------------------------------------------------===//

/// At least a // b: (x + c) // n with c < n is at most x.
static Size quotientAtMost(const Size &a, const Size &b) {
  Lengths zeros;
  for (const std::string &name : a.dims())
    zeros[name] = 0;
  std::optional<int64_t> rest = a.evaluate(zeros), n = b.constant();
  return rest && n && *rest < *n ? a - Size(*rest) : a;
}

/// A form without subtraction and division that is at least (`above`) or at most `form` for all dims from 0 on; none
/// where that is not easily said.
static std::optional<Size> boundOf(const Size &form, bool above) {
  bool good = true;
  auto constant = [](int64_t n) { return Size(n); };
  auto dim = [](StringRef name) { return Size::dim(name); };
  auto binary = [&](char op, Size a, Size b) -> Size {
    switch (op) {
    case '+': return a + b;
    case '*': return a * b;
    case '/': return above ? quotientAtMost(a, b) : Size(0);
    case 'M': return above ? a + b : a;
    case 'm': return above ? a : Size(0);
    default: good = false; return a;
    }
  };
  std::optional<Size> bound = model::visitSize<Size>(form.str(), {constant, dim, binary});
  return good && bound && bound->fits() ? bound : std::nullopt;
}

/// Whether a form is at least 0 for all dims from 0 on. Conservative.
static bool surelyNotNegative(const Size &form) {
  auto [more, less] = form.sides();
  if (less.is(0) && !StringRef(more.str()).contains('-'))
    return true;
  std::optional<Size> least = boundOf(more, /*above=*/false), most = boundOf(less, /*above=*/true);
  return least && most && (*least - *most).sides().second.is(0);
}

Size Stacker::sizeOf(const Pile &pile) const {
  Size sum = 0;
  for (auto [count, kind] : llvm::zip_equal(pile, kinds))
    if (count)
      sum = sum + kind * Size(count);
  return sum;
}

/// Whether `a` is no higher than `c` for all dims. Forms are slow, so numbers are asked before.
bool Stacker::atMost(const Pile &a, const Pile &c) {
  Pile more(c);
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    more[kind] -= a[kind];
  if (llvm::all_of(more, [](int64_t count) { return count >= 0; }))
    return true;
  for (const Sample &sample : samples) {
    int64_t sum = 0;
    for (auto [count, lines] : llvm::zip_equal(more, sample.kinds))
      sum += count * lines;
    if (sum < 0)
      return false;
  }
  auto [it, isNew] = notNegative.try_emplace(more, false);
  if (isNew)
    it->second = surelyNotNegative(sizeOf(more));
  return it->second;
}

/// Raises `height` to `other` where that is higher.
void Stacker::raise(Height &height, const Height &other) {
  /// Of more piles two become one.
  constexpr size_t kMost = 12;
  for (const Pile &pile : other) {
    if (llvm::any_of(height, [&](const Pile &mine) { return atMost(pile, mine); }))
      continue;
    llvm::erase_if(height, [&](const Pile &mine) { return atMost(mine, pile); });
    height.push_back(pile);
    if (height.size() > kMost)
      joinTwo(height);
  }
}

/// As high as either for all dims.
static std::vector<int64_t> eitherOf(const std::vector<int64_t> &a, const std::vector<int64_t> &c) {
  std::vector<int64_t> both;
  for (auto [mine, its] : llvm::zip_equal(a, c))
    both.push_back(std::max(mine, its));
  return both;
}

/// Puts one pile in the place of two: of those where it is the least higher, at the worst of the samples.
void Stacker::joinTwo(Height &height) const {
  auto linesIn = [](const Pile &pile, const Sample &sample) {
    int64_t sum = 0;
    for (auto [count, lines] : llvm::zip_equal(pile, sample.kinds))
      sum += count * lines;
    return sum;
  };
  std::pair<size_t, size_t> pair{0, 1};
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < height.size(); ++i)
    for (size_t j = i + 1; j < height.size(); ++j) {
      Pile both = eitherOf(height[i], height[j]);
      double worst = 1;
      for (const Sample &sample : samples) {
        auto highest = llvm::max_element(
            height, [&](const Pile &a, const Pile &c) { return linesIn(a, sample) < linesIn(c, sample); });
        worst = std::max(worst, double(linesIn(both, sample)) / double(linesIn(*highest, sample) + 1));
      }
      if (worst < least) {
        least = worst;
        pair = {i, j};
      }
    }
  height[pair.first] = eitherOf(height[pair.first], height[pair.second]);
  height.erase(height.begin() + pair.second);
}

/// What all piles have in common stays outside of the max(,).
Size Stacker::formOf(const Height &height) {
  if (height.empty())
    return 0;
  auto [it, isNew] = forms.try_emplace(height, 0);
  if (!isNew)
    return it->second;
  SmallVector<Size> all = llvm::map_to_vector(height, [&](const Pile &pile) { return sizeOf(pile); });
  Size common = all.front();
  for (const Size &one : all)
    common = common - (common - one).sides().first;
  Size most = all.front() - common;
  for (const Size &one : llvm::drop_begin(all))
    most = Size::max(most, one - common);
  return it->second = common + most;
}

ArenaLayout Stacker::layout(ArrayRef<unsigned> order) {
  ArenaLayout layout;
  layout.offsets.resize(tenants.size());
  std::vector<unsigned> rank(tenants.size());
  for (auto [place, i] : llvm::enumerate(order))
    rank[i] = place;
  std::vector<Height> end(tenants.size());
  /// The highest end of `below`, the later in the order first. One on which another of them lies does not count.
  auto topOf = [&](ArrayRef<unsigned> below) {
    Height top;
    SmallVector<unsigned> counted;
    for (unsigned j : below) {
      if (llvm::any_of(counted, [&](unsigned k) { return together(j, k); }))
        continue;
      counted.push_back(j);
      raise(top, end[j]);
    }
    return top;
  };
  for (unsigned i : order) {
    SmallVector<unsigned> below;
    for (unsigned j : others[i])
      if (rank[j] < rank[i])
        below.push_back(j);
    llvm::sort(below, [&](unsigned a, unsigned c) { return rank[a] > rank[c]; });
    Height from = topOf(below);
    layout.offsets[i] = formOf(from) * Size(64);
    if (from.empty())
      from.emplace_back(kinds.size());
    for (Pile &pile : from)
      ++pile[kindOf[i]];
    end[i] = std::move(from);
  }
  Order all(llvm::reverse(order));
  layout.bytes = formOf(topOf(all)) * Size(64);
  return layout;
}

ArenaLayout plan::stackArena(ArrayRef<Tenant> tenants, ArrayRef<Lengths> samples) {
  Stacker stacker(tenants, samples);
  return stacker.layout(stacker.search());
}
