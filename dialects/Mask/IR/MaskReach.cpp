//===- MaskReach.cpp - how far a mask looks, and on what it depends -------===//
//
// `and` takes the nearer limit, `or`, `+` and a choice the farther one; what is read from
// data has no limit (step.md section 2).
//
//===----------------------------------------------------------------------===//

#include "dialects/Mask/IR/MaskBands.h"

using namespace mlir;
using namespace heddle::mask;
using heddle::model::ModelTensorType;

static Reach reachOf(Value mask) {
  auto op = mask.getDefiningOp<MaskOpInterface>();
  return op ? op.reach() : Reach{};
}
static Axes axesOf(Value mask) {
  auto op = mask.getDefiningOp<MaskOpInterface>();
  return op ? op.dependsOn() : Batch | Head | Query | Key;
}

static Reach nearer(Reach a, Reach b) {
  auto least = [](std::optional<int64_t> x, std::optional<int64_t> y) {
    return !x ? y : !y ? x : std::optional(std::min(*x, *y));
  };
  return {least(a.ahead, b.ahead), least(a.behind, b.behind)};
}
static Reach farther(Reach a, Reach b) {
  auto most = [](std::optional<int64_t> x, std::optional<int64_t> y) {
    return x && y ? std::optional(std::max(*x, *y)) : std::nullopt;
  };
  return {most(a.ahead, b.ahead), most(a.behind, b.behind)};
}

Reach AllOp::reach() { return {}; }
/// Nothing is let through: any limit is one.
Reach NoneOp::reach() { return {-kUnbounded, -kUnbounded}; }
/// Of a group one term is the limit, and it may be any; of the groups the nearest.
Reach BandOp::reach() {
  auto side = [&](Sides which, auto distance) {
    std::optional<int64_t> near;
    for (const TermGroup &group : has(sides(), which) ? boundOf(*this, which) : Bound()) {
      std::optional<int64_t> far = -kUnbounded;
      for (const Term &t : group)
        far = far && t.row ? std::optional(std::max(*far, int64_t(distance(t.shift)))) : std::nullopt;
      if (far)
        near = near ? std::min(*near, *far) : far;
    }
    return near;
  };
  return {side(Sides::Upper, [](int64_t shift) { return shift - 1; }), side(Sides::Lower, [](int64_t shift) { return -shift; })};
}
Reach CausalOp::reach() { return {0, std::nullopt}; }
Reach WindowOp::reach() {
  if (getLabels())
    return {};
  Reach r;
  if (getRight())
    r.ahead = *getRight();
  if (getLeft())
    r.behind = *getLeft();
  return r;
}
Reach DilatedOp::reach() { return {}; }
Reach KeysOp::reach() { return {}; }
Reach QueriesOp::reach() { return {}; }
Reach PrefixOp::reach() { return {}; }
Reach DocumentOp::reach() { return {}; }
Reach BlocksOp::reach() { return {}; }
Reach DenseOp::reach() { return {}; }
Reach NotOp::reach() { return {}; }
Reach AndOp::reach() { return nearer(reachOf(getLhs()), reachOf(getRhs())); }
Reach OrOp::reach() { return farther(reachOf(getLhs()), reachOf(getRhs())); }
Reach AddOp::reach() { return farther(reachOf(getLhs()), reachOf(getRhs())); }
Reach SelectOp::reach() { return farther(reachOf(getYes()), reachOf(getNo())); }

/// Axes with which a tensor aligned as (batch, last) varies; length 1 does not vary.
static Axes rowAxes(Value tensor, Axes last) {
  auto t = cast<ModelTensorType>(tensor.getType());
  Axes a = None;
  if (t.getRank() && !t.getSize(t.getRank() - 1).is(1))
    a = a | last;
  if (t.getRank() == 2 && !t.getSize(0).is(1))
    a = a | Batch;
  return a;
}

Axes AllOp::dependsOn() { return None; }
Axes NoneOp::dependsOn() { return None; }
Axes BandOp::dependsOn() {
  Axes a = Key;
  for (Sides side : {Sides::Lower, Sides::Upper})
    for (const TermGroup &group : has(sides(), side) ? boundOf(*this, side) : Bound())
      for (const Term &t : group)
        a = a | (t.row ? Query : None) | (t.value ? rowAxes(t.value, Batch) : None);
  return a;
}
Axes CausalOp::dependsOn() { return Query | Key; }
Axes WindowOp::dependsOn() {
  if (!getLabels())
    return Query | Key;
  return rowAxes(getLabels(), Query) | rowAxes(getKeyLabels() ? getKeyLabels() : getLabels(), Key);
}
Axes DilatedOp::dependsOn() { return Query | Key; }
Axes KeysOp::dependsOn() { return rowAxes(getTensor(), Key); }
Axes QueriesOp::dependsOn() { return rowAxes(getTensor(), Query); }
Axes PrefixOp::dependsOn() { return rowAxes(getLength(), Batch) | Key; }
Axes DocumentOp::dependsOn() { return rowAxes(getQueryIds(), Query) | rowAxes(getKeyIds(), Key); }
Axes BlocksOp::dependsOn() {
  Axes a = Query | Key;
  return cast<ModelTensorType>(getLists().getType()).getRank() == 3 ? a | Head : a;
}
Axes DenseOp::dependsOn() {
  auto t = cast<ModelTensorType>(getTensor().getType());
  Axes a = None, names[] = {Key, Query, t.getRank() == 3 ? Batch : Head, Batch};
  for (int64_t i = 0, n = t.getRank(); i < n; ++i)
    if (!t.getSize(n - 1 - i).is(1))
      a = a | names[i];
  return a;
}
Axes NotOp::dependsOn() { return axesOf(getOperand()); }
Axes AndOp::dependsOn() { return axesOf(getLhs()) | axesOf(getRhs()); }
Axes OrOp::dependsOn() { return axesOf(getLhs()) | axesOf(getRhs()); }
Axes AddOp::dependsOn() { return axesOf(getLhs()) | axesOf(getRhs()); }
Axes SelectOp::dependsOn() { return axesOf(getYes()) | axesOf(getNo()); }
