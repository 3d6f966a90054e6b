//===- RandomAttention.cpp - an attention around a mask -------------------===//

#include "test/Mask/RandomAttention.h"
#include <algorithm>

using namespace heddle::test;

/// Tensors of the mask are the last ones of the call.
void Counts::fill(const MaskSpec &spec, const Call &call) {
  heads = call.test.heads;
  rows.clear();
  MaskSpec::Data data(call.extras.end() - spec.tensors.size(), call.extras.end());
  for (int64_t b = 0; b < call.n.B; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t r = 0; r < call.n.T; ++r)
        rows.push_back(spec.row(sizesOf(call.n), data, b, h, r));
}

std::string RandomAttention::str() const {
  return spec.str() + "\n  " + modifier + " heads " + std::to_string(test.heads) + " kv_heads " +
         std::to_string(test.kvHeads) + " width " + std::to_string(test.width) + " value width " +
         std::to_string(test.valueWidth) + " " + test.attributes +
         (test.sharedKeys ? " one batch element of keys" : "");
}

std::vector<std::string> heddle::test::axesOf(const std::string &text) {
  std::vector<std::string> axes;
  std::string axis;
  for (char c : text + ",")
    if (c == ',') {
      if (!axis.empty())
        axes.push_back(axis);
      axis.clear();
    } else if (c != ' ') {
      axis += c;
    }
  return axes;
}

size_t heddle::test::modifierCount() { return biasCases(1).size(); }

/// The lines of `ops` that define no mask.
static std::string withoutMask(const std::string &ops) {
  std::string kept, line;
  for (char c : ops + "\n") {
    line += c;
    if (c != '\n')
      continue;
    if (line.find("%m = ") == std::string::npos && line.size() > 1)
      kept += line;
    line.clear();
  }
  return kept;
}

bool heddle::test::reads(const MaskSpec::Node &node, std::initializer_list<MaskSpec::Kind> kinds) {
  return std::find(kinds.begin(), kinds.end(), node.kind) != kinds.end() ||
         std::any_of(node.of.begin(), node.of.end(), [&](const MaskSpec::Node &o) { return reads(o, kinds); });
}

MaskSpec heddle::test::drawDilated(std::mt19937_64 &random, int depth, int64_t most) {
  using M = MaskSpec;
  M spec;
  do
    spec = M::draw(random, depth, most);
  while (reads(spec.root, {M::Labels, M::Dilated, M::Document, M::Blocks, M::Dense, M::Add, M::Select}));
  M::Node dilated{M::Dilated}, both{M::And};
  dilated.step = 2 + int64_t(random() % 6);
  both.of = {spec.root, dilated};
  spec.root = both;
  return spec;
}

static const MaskSpec::Node *find(const MaskSpec::Node &node, MaskSpec::Kind kind) {
  if (node.kind == kind)
    return &node;
  for (const MaskSpec::Node &operand : node.of)
    if (const MaskSpec::Node *found = find(operand, kind))
      return found;
  return nullptr;
}

MaskSpec heddle::test::drawCounted(std::mt19937_64 &random, int depth, int64_t most) {
  using M = MaskSpec;
  M spec;
  do
    spec = M::draw(random, depth, most);
  while (!find(spec.root, M::Blocks));
  M::Node hidden{M::Not}, sum{M::Add};
  hidden.of = {*find(spec.root, M::Blocks)};
  sum.of = {hidden, spec.root};
  spec.root = sum;
  return spec;
}

/// Keys that have a length of their own have labels of their own: those of the queries where both are equally many.
static void partLabels(MaskSpec &spec, MaskSpec::Node &node) {
  using M = MaskSpec;
  if ((node.kind == M::Labels && node.second < 0) || (node.kind == M::Document && node.second == node.first)) {
    spec.tensors.push_back(spec.tensors[node.first]);
    std::string &axis = spec.tensors.back().axes.back();
    axis = axis == "T" ? "S" : axis;
    node.second = int(spec.tensors.size()) - 1;
  }
  for (MaskSpec::Node &operand : node.of)
    partLabels(spec, operand);
}

RandomAttention heddle::test::drawAttention(std::mt19937_64 &random, MaskSpec mask, std::optional<size_t> modifier) {
  auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  RandomAttention d;
  d.spec = std::move(mask);
  MaskSpec &spec = d.spec;
  partLabels(spec, spec.root);
  Case &c = d.test;
  std::vector<Case> biases = biasCases(spec.heads);
  if (!modifier && below(2))
    modifier = below(int64_t(biases.size()));
  if (modifier && *modifier < biases.size()) {
    c = biases[*modifier];
    d.modifier = c.name;
    d.small = !c.bias;
    if (size_t at = c.operands.find("bias"); at != std::string::npos)
      c.operands = "mask %m " + c.operands.substr(at);
    c.ops = withoutMask(c.ops);
  }
  if (c.operands.empty())
    c.operands = "mask %m";
  c.ops = spec.ops() + c.ops;
  c.heads = spec.heads;
  c.kvHeads = below(3) ? c.heads : 1;
  const int widths[] = {1, 3, 4, 8, 16, 20, 33}, valueWidths[] = {1, 5, 16, 24, 40};
  c.width = widths[below(7)];
  c.valueWidth = valueWidths[below(5)];
  c.scale = 0.25;
  if (below(5) == 0 && !c.sink) {
    c.masked = below(2) ? Case::Nan : Case::Mean;
    c.attributes = c.masked == Case::Nan ? "masked_rows nan" : "masked_rows mean";
  }
  c.sharedKeys = below(10) == 0;
  size_t first = c.extras.size();
  for (size_t t = 0; t < spec.tensors.size(); ++t) {
    std::string axes;
    for (const std::string &a : spec.tensors[t].axes)
      axes += (axes.empty() ? "" : ", ") + a;
    c.extras.push_back(
        {"t" + std::to_string(t), axes, spec.tensors[t].element,
         [spec, t, first](const Sizes &n, uint64_t seed) { return spec.make(sizesOf(n), seed - first - t)[t]; }});
  }
  c.count = [counts = d.counts](const Case::At &a) { return int(counts->at(a)); };
  return d;
}
