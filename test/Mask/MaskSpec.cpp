//===- MaskSpec.cpp - a mask as a formula, as text and as data ------------===//

#include "test/Mask/MaskSpec.h"
#include <algorithm>
#include <cmath>

using namespace heddle::test;

uint64_t heddle::test::mix(uint64_t seed, uint64_t index) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + (index + 1) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::string MaskSizes::str() const {
  auto show = [](const char *name, int64_t v) { return std::string(name) + " " + std::to_string(v) + " "; };
  return show("B", B) + show("T", T) + show("S", S) + show("P", P) + show("K", K);
}

//===-- the meaning ----------------------------------------------------------------===//

int64_t MaskSpec::extent(const std::string &axis, const MaskSizes &n) {
  return axis == "B" ? n.B : axis == "T" ? n.T : axis == "S" ? n.S : std::stoll(axis);
}

/// The line at `index` of all axes but the last. Axes of length 1 are read at 0.
MaskSpec::Line MaskSpec::line(const At &at, int tensor, std::vector<int64_t> index) const {
  const MaskTensor &t = tensors[tensor];
  int64_t linear = 0;
  for (size_t i = 0; i < index.size(); ++i)
    linear = linear * extent(t.axes[i], at.n) + (t.axes[i] == "1" ? 0 : index[i]);
  return {at.data[tensor].data() + linear * extent(t.axes.back(), at.n), t.axes.back() != "1"};
}

MaskSpec::Line MaskSpec::along(const At &at, int tensor) const {
  return line(at, tensor, tensors[tensor].axes.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{at.b});
}

/// a / b, rounded down.
static int64_t down(int64_t a, int64_t b) { return a >= 0 ? a / b : -1 - (-1 - a) / b; }

MaskSpec::Row MaskSpec::value(const At &at, const Node &node) const {
  Row y(at.n.S);
  int64_t i = at.n.P + at.row, j = at.n.K; // positions of the row and of key 0
  auto each = [&](auto f) {
    for (int64_t k = 0; k < at.n.S; ++k)
      y[k] = int32_t(f(k));
  };
  auto inside = [&](__int128 d) { return (!node.left || d >= -*node.left) && (!node.right || d <= *node.right); };
  auto join = [&](auto f) {
    Row a = value(at, node.of[0]), b = value(at, node.of[1]);
    each([&](int64_t k) { return f(a[k], b[k]); });
  };
  switch (node.kind) {
  case All: each([](int64_t) { return 1; }); break;
  case Causal: each([&](int64_t k) { return j + k <= i; }); break;
  case Window: each([&](int64_t k) { return inside(j + k - i); }); break;
  case Labels: {
    int64_t own = int64_t(along(at, node.first)[at.row]);
    Line keys = along(at, node.second < 0 ? node.first : node.second);
    each([&](int64_t k) { return inside(__int128(int64_t(keys[k])) - own); });
    break;
  }
  case Chunk: each([&](int64_t k) { return down(j + k, node.step) == down(i, node.step); }); break;
  case Picture:
    each([&](int64_t k) {
      int64_t w = node.step, rows = down(j + k, w) - down(i, w), columns = j + k - i - rows * w;
      return std::abs(rows) <= *node.left && std::abs(columns) <= *node.right;
    });
    break;
  case Windows:
    each([&](int64_t k) {
      int64_t w = node.step, row = down(i, w), other = down(j + k, w);
      return down(row - node.shift, *node.left) == down(other - node.shift, *node.left) &&
             down(i - row * w - node.shift, *node.right) == down(j + k - other * w - node.shift, *node.right);
    });
    break;
  case Dilated: each([&](int64_t k) { return (j + k - i) % node.step == 0; }); break;
  case Keys: {
    Line t = along(at, node.first);
    each([&](int64_t k) { return t[k] != 0; });
    break;
  }
  case Queries: {
    bool set = along(at, node.first)[at.row] != 0;
    each([&](int64_t) { return set; });
    break;
  }
  case Prefix: {
    const auto &axes = tensors[node.first].axes;
    double n = at.data[node.first][axes.empty() || axes[0] == "1" ? 0 : at.b];
    each([&](int64_t k) { return j + k < int64_t(n); });
    break;
  }
  case Document: {
    double own = along(at, node.first)[at.row];
    Line keys = along(at, node.second);
    each([&](int64_t k) { return own == keys[k]; });
    break;
  }
  case Blocks: {
    const auto &axes = tensors[node.first].axes;
    int64_t block = i / node.step, blocks = extent(axes[axes.size() - 2], at.n), entries = extent(axes.back(), at.n);
    if (block >= blocks)
      break;
    Line list =
        line(at, node.first, axes.size() == 3 ? std::vector<int64_t>{at.h, block} : std::vector<int64_t>{block});
    for (int64_t e = 0; e < entries; ++e)
      for (int64_t k = 0; k < at.n.S; ++k)
        y[k] += int64_t(list[e]) == k / node.step;
    each([&](int64_t k) { return at.counts ? y[k] : y[k] > 0; });
    break;
  }
  case Dense: {
    std::vector<int64_t> index = {at.row};
    size_t rank = tensors[node.first].axes.size();
    if (rank == 4)
      index.insert(index.begin(), at.h);
    if (rank > 2)
      index.insert(index.begin(), at.b);
    Line t = line(at, node.first, index);
    each([&](int64_t k) { return t[k] != 0; });
    break;
  }
  case And: join([](int32_t a, int32_t b) { return a * b; }); break;
  case Or: join([](int32_t a, int32_t b) { return std::max(a, b); }); break;
  case Add: join([](int32_t a, int32_t b) { return a + b; }); break;
  case Not: {
    Row a = value(at, node.of[0]);
    each([&](int64_t k) { return a[k] == 0; });
    break;
  }
  case Select: return value(at, node.of[at.data[node.first][0] != 0 ? 0 : 1]);
  }
  return y;
}

bool MaskSpec::hasAdd(const Node &node) {
  return node.kind == Add || std::any_of(node.of.begin(), node.of.end(), hasAdd);
}
int MaskSpec::leavesOf(const Node &node) {
  int n = node.of.empty();
  for (const Node &o : node.of)
    n += leavesOf(o);
  return n;
}

MaskSpec::Data MaskSpec::make(const MaskSizes &n, uint64_t seed) const {
  Data data;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const MaskTensor &tensor = tensors[t];
    int64_t rows = 1, last = tensor.axes.empty() ? 1 : extent(tensor.axes.back(), n);
    for (size_t i = 0; i + 1 < tensor.axes.size(); ++i)
      rows *= extent(tensor.axes[i], n);
    // A document's rows and keys are cut by the same seed: those of one batch element agree.
    std::vector<double> values;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < last; ++i)
        values.push_back(tensor.at(n, mix(seed, r), i));
    data.push_back(std::move(values));
  }
  return data;
}

//===-- as text --------------------------------------------------------------------===//

std::string MaskSpec::typeOf(int tensor) const {
  std::string axes;
  for (const std::string &a : tensors[tensor].axes)
    axes += (axes.empty() ? "" : ", ") + a;
  return "!model.tensor<[" + axes + "], " + tensors[tensor].element + ">";
}

std::string MaskSpec::ops() const {
  std::string lines;
  int next = 0;
  std::string last = textOf(root, lines, next);
  size_t at = lines.rfind("  " + last + " = ");
  return lines.substr(0, at) + "  %m = " + lines.substr(at + last.size() + 5);
}

std::string MaskSpec::textOf(const Node &node, std::string &lines, int &next) const {
  std::vector<std::string> of;
  for (const Node &o : node.of)
    of.push_back(textOf(o, lines, next));
  auto t = [&](int tensor) { return "%t" + std::to_string(tensor); };
  auto typed = [&](int tensor) { return " : " + typeOf(tensor); };
  auto sides = [&] {
    return (node.left ? " left " + std::to_string(*node.left) : "") +
           (node.right ? " right " + std::to_string(*node.right) : "");
  };
  std::string op;
  switch (node.kind) {
  case All: op = "all"; break;
  case Causal: op = "causal"; break;
  case Window: op = "window" + sides(); break;
  case Labels:
    op = "window" + sides() + " on " + t(node.first) + typed(node.first);
    if (node.second >= 0)
      op += " keys " + t(node.second) + typed(node.second);
    break;
  case Chunk: op = "chunk " + std::to_string(node.step); break;
  case Dilated: op = "dilated " + std::to_string(node.step); break;
  case Picture:
  case Windows:
    op = std::string(node.kind == Picture ? "grid" : "grid_window") + " width " + std::to_string(node.step) + " rows " +
         std::to_string(*node.left) + " columns " + std::to_string(*node.right) +
         (node.shift ? " shift " + std::to_string(node.shift) : "");
    break;
  case Keys: op = "keys " + t(node.first) + typed(node.first); break;
  case Queries: op = "queries " + t(node.first) + typed(node.first); break;
  case Prefix: op = "prefix " + t(node.first) + typed(node.first); break;
  case Document:
    op = "document " + t(node.first) + ", " + t(node.second) + typed(node.first) + ", " + typeOf(node.second);
    break;
  case Blocks: op = "blocks " + std::to_string(node.step) + ", " + t(node.first) + typed(node.first); break;
  case Dense: op = "dense " + t(node.first) + typed(node.first); break;
  case And: op = "and " + of[0] + ", " + of[1]; break;
  case Or: op = "or " + of[0] + ", " + of[1]; break;
  case Add: op = "add " + of[0] + ", " + of[1]; break;
  case Not: op = "not " + of[0]; break;
  case Select: op = "select " + t(node.first) + ", " + of[0] + ", " + of[1] + typed(node.first); break;
  }
  std::string name = "%n" + std::to_string(next++);
  lines += "  " + name + " = mask." + op + "\n";
  return name;
}

std::string MaskSpec::str() const { return show(root); }

std::string MaskSpec::show(const Node &node) const {
  auto t = [&](int tensor) {
    std::string s = tensors[tensor].element + "[";
    for (const std::string &a : tensors[tensor].axes)
      s += (s.back() == '[' ? "" : ",") + a;
    return s + "]";
  };
  auto side = [](std::optional<int64_t> v) { return v ? std::to_string(*v) : std::string("null"); };
  auto both = [&](const char *op) { return "(" + show(node.of[0]) + " " + op + " " + show(node.of[1]) + ")"; };
  switch (node.kind) {
  case All: return "all";
  case Causal: return "causal";
  case Window: return "window(" + side(node.left) + ", " + side(node.right) + ")";
  case Labels: return "window(" + side(node.left) + ", " + side(node.right) + ", " + t(node.first) + ")";
  case Chunk: return "chunk(" + std::to_string(node.step) + ")";
  case Dilated: return "dilated(" + std::to_string(node.step) + ")";
  case Picture: return "grid(" + std::to_string(node.step) + ", " + side(node.left) + ", " + side(node.right) + ")";
  case Windows:
    return "grid_window(" + std::to_string(node.step) + ", " + side(node.left) + ", " + side(node.right) + ", " +
           std::to_string(node.shift) + ")";
  case Keys: return "keys(" + t(node.first) + ")";
  case Queries: return "queries(" + t(node.first) + ")";
  case Prefix: return "prefix(" + t(node.first) + ")";
  case Document: return "document(" + t(node.first) + ", " + t(node.second) + ")";
  case Blocks: return "blocks(" + std::to_string(node.step) + ", " + t(node.first) + ")";
  case Dense: return "dense(" + t(node.first) + ")";
  case And: return both("and");
  case Or: return both("or");
  case Add: return both("+");
  case Not: return "not " + show(node.of[0]);
  case Select: return "(" + t(node.first) + " ? " + show(node.of[0]) + " : " + show(node.of[1]) + ")";
  }
  return "";
}

//===-- by hand --------------------------------------------------------------------===//

MaskSpec::Node MaskSpec::reads(Kind kind, MaskTensor t) {
  tensors.push_back(std::move(t));
  Node node{kind};
  node.first = int(tensors.size()) - 1;
  return node;
}
MaskSpec::Node MaskSpec::document(MaskTensor query, MaskTensor key) {
  Node node = reads(Document, std::move(query));
  tensors.push_back(std::move(key));
  node.second = int(tensors.size()) - 1;
  return node;
}
MaskSpec::Node MaskSpec::blocks(int64_t size, MaskTensor lists) {
  Node node = reads(Blocks, std::move(lists));
  node.step = size;
  return node;
}
