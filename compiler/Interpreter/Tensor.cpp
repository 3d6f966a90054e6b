//===- Tensor.cpp - lengths, broadcasting and the walk over an index ------===//

#include "compiler/Interpreter/Tensor.h"
#include <cassert>
#include <cstring>

using namespace heddle;
using llvm::ArrayRef;

static std::vector<int64_t> own(ArrayRef<int64_t> shape) { return {shape.begin(), shape.end()}; }

bool Tensor::operator==(const Tensor &o) const {
  // Reals bit by bit: a NaN equals itself, 0 and -0 differ.
  return kind == o.kind && shape == o.shape && ints == o.ints && reals.size() == o.reals.size() &&
         (reals.empty() || !std::memcmp(reals.data(), o.reals.data(), reals.size() * sizeof(double)));
}

Tensor Tensor::zeros(Kind kind, ArrayRef<int64_t> shape) {
  Tensor t{kind, own(shape), {}, {}};
  if (kind == Kind::Real)
    t.reals.resize(product(shape));
  else
    t.ints.resize(product(shape));
  return t;
}
Tensor Tensor::ofReals(ArrayRef<int64_t> shape, std::vector<double> elements) {
  assert(product(shape) == int64_t(elements.size()));
  return {Kind::Real, own(shape), std::move(elements), {}};
}
Tensor Tensor::ofInts(ArrayRef<int64_t> shape, std::vector<int64_t> elements) {
  assert(product(shape) == int64_t(elements.size()));
  return {Kind::Int, own(shape), {}, std::move(elements)};
}
Tensor Tensor::ofBools(ArrayRef<int64_t> shape, std::vector<int64_t> elements) {
  assert(product(shape) == int64_t(elements.size()));
  return {Kind::Bool, own(shape), {}, std::move(elements)};
}

std::string heddle::showShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t heddle::product(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t length : shape)
    n *= length;
  return n;
}

std::vector<int64_t> heddle::strides(ArrayRef<int64_t> shape) {
  std::vector<int64_t> steps(shape.size());
  int64_t n = 1;
  for (size_t i = shape.size(); i-- > 0; n *= shape[i])
    steps[i] = n;
  return steps;
}

int64_t heddle::place(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t at = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    at = at * shape[i] + index[i];
  return at;
}

Tensor heddle::reshaped(Tensor t, ArrayRef<int64_t> shape) {
  assert(product(shape) == t.count());
  t.shape = own(shape);
  return t;
}

bool heddle::stretches(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  ArrayRef<int64_t> tail = to.take_back(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != tail[i] && from[i] != 1)
      return false;
  return true;
}

Tensor heddle::stretched(const Tensor &t, ArrayRef<int64_t> to) {
  assert(stretches(t.shape, to));
  Tensor out = Tensor::zeros(t.kind, to);
  for (Walk w(to, {ArrayRef<int64_t>(t.shape)}); w.more(); w.next()) {
    if (t.kind == Tensor::Kind::Real)
      out.reals[w.here()] = t.reals[w.at(0)];
    else
      out.ints[w.here()] = t.ints[w.at(0)];
  }
  return out;
}

Walk::Walk(ArrayRef<int64_t> shape, ArrayRef<ArrayRef<int64_t>> operands)
    : lengths(shape.begin(), shape.end()), now(shape.size(), 0), offsets(operands.size(), 0), left(product(shape)) {
  for (ArrayRef<int64_t> operand : operands) {
    llvm::SmallVector<int64_t> &mine = steps.emplace_back(shape.size(), 0);
    int64_t n = 1;
    for (size_t back = 1; back <= operand.size() && back <= shape.size(); ++back) {
      int64_t length = operand[operand.size() - back];
      if (length != 1)
        mine[shape.size() - back] = n;
      n *= length;
    }
  }
}

void Walk::next() {
  --left;
  ++position;
  for (size_t axis = now.size(); axis-- > 0;) {
    if (++now[axis] < lengths[axis]) {
      for (size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += steps[k][axis];
      return;
    }
    for (size_t k = 0; k < offsets.size(); ++k)
      offsets[k] -= steps[k][axis] * (lengths[axis] - 1);
    now[axis] = 0;
  }
}
