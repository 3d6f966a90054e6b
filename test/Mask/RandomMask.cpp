//===- RandomMask.cpp - expressions, tensors and sizes by chance ----------===//

#include "test/Mask/MaskSpec.h"
#include <cmath>

using namespace heddle::test;

namespace {
struct Draw {
  MaskSpec &spec;
  std::mt19937_64 &random;
  int64_t most;
  bool adds;                             ///< `+` may occur
  std::vector<MaskSpec::Node> read = {}; ///< leaves that read tensors

  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  int64_t between(int64_t lo, int64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(int oneIn) { return below(oneIn) == 0; }
  std::string element() { return std::vector<std::string>{"i64", "f32", "i1"}[below(3)]; }

  /// An axis of batch or none: [last], [B, last], [1, last].
  std::vector<std::string> aligned(const std::string &last) {
    std::string own = chance(12) ? "1" : last;
    switch (below(4)) {
    case 0: return {own};
    case 1: return {"1", own};
    default: return {"B", own};
    }
  }
  MaskTensor set(std::vector<std::string> axes);
  MaskTensor ids(const std::string &last, int style, uint64_t salt, const std::string &element);
  MaskSpec::Node leaf();
  MaskSpec::Node freshLeaf();
  MaskSpec::Node prefix();
  MaskSpec::Node listed();
  MaskSpec::Node node(int depth);
  std::optional<int64_t> side();
};
} // namespace

/// 0/1 along an axis: holes of any density, long runs, one end cut off, globals, all or none; where all is long,
/// stretches of more than a word of bits in every row.
MaskTensor Draw::set(std::vector<std::string> axes) {
  MaskTensor t{axes, element(), nullptr};
  bool nan = t.element == "f32" && chance(8), negative = t.element == "i64" && chance(4);
  int64_t way = below(most > 1000 ? 9 : 7), n = between(1, 40), far = between(1020, 1300);
  uint64_t salt = random();
  std::string last = axes.back();
  t.at = [=](const MaskSizes &sizes, uint64_t seed, int64_t i) -> double {
    uint64_t s = mix(seed, salt);
    int64_t length = MaskSpec::extent(last, sizes), cut = int64_t(mix(s, 1) % uint64_t(length + 2));
    bool in = way == 0   ? mix(s, i) % 2
              : way == 1 ? mix(s, i) % 8 != 0
              : way == 2 ? mix(s, i / n) % 2
              : way == 3 ? i < cut
              : way == 4 ? i >= cut
              : way == 5 ? mix(s, i) % 16 == 0
              : way >= 7 ? (i % length >= far) == (way == 7)
                         : bool(mix(s, 2) % 2);
    return !in ? 0 : nan ? std::nan("") : negative ? -7 : 1;
  };
  return t;
}

/// Ids by position: sorted and contiguous, descending, in pieces in any order, or few and mixed;
/// some agree modulo 64 and are not equal. `salt` says where documents end.
MaskTensor Draw::ids(const std::string &last, int style, uint64_t salt, const std::string &element) {
  MaskTensor t{aligned(last), element, nullptr};
  if (t.axes.back() == "1")
    t.axes.back() = last;
  int64_t length = 2 + int64_t(salt % 60), factor = style == 5 ? 64 : 1;
  bool keys = last == "S", bit = element == "i1", shared = t.axes.size() == 1 || t.axes[0] == "1";
  bool sometimes = salt % 5 == 0, nan = element == "f32" && chance(3); // a NaN is no id, not even its own
  bool extreme = element == "i64" && salt % 7 == 0; // ids from which a label's sides lead out of 64 bits
  t.at = [=](const MaskSizes &n, uint64_t seed, int64_t i) -> double {
    uint64_t s = shared ? salt : mix(seed, salt);
    int64_t position = std::max<int64_t>(0, (keys ? n.K : n.P) + i), id = 0;
    int way = sometimes && mix(s, 77) % 2 ? 2 : style; // sorted in some batch elements only
    if (way == 0 || way == 1) {
      id = position / length; // an end somewhere in each stretch of `length`
      id -= position - id * length < int64_t(mix(s, id) % uint64_t(length));
      if (way == 1)
        id = -id;
    } else if (way == 2) {
      id = int64_t(mix(s, position / length) % 7);
    } else if (way == 3) {
      id = int64_t(mix(s, position) % 3);
    } else if (way == 4) {
      id = position / length;
    } else {
      id = int64_t(mix(s, position / length) % 3) * factor + (mix(s, position / length + 1000) % 4 == 0);
    }
    if (nan && mix(s, position + 5000) % 6 == 0)
      return std::nan("");
    if (uint64_t end = mix(s, position + 9000); extreme && end % 5 == 0)
      return end % 2 ? -9223372036854775808.0 : 9223372036854774784.0;
    return bit ? double(id & 1) : double(id);
  };
  return t;
}

std::optional<int64_t> Draw::side() {
  if (chance(4))
    return std::nullopt;
  if (chance(60))
    return chance(2) ? INT64_MAX : INT64_MIN + 1;
  return chance(3) ? between(-30, 30) : chance(2) ? between(0, 8) : between(0, 150);
}

/// Now and then the tensors of another leaf once more, with other sides or sizes: a table is
/// shared by all that ask the same.
MaskSpec::Node Draw::leaf() {
  MaskSpec::Node node = !read.empty() && chance(8) ? read[below(int64_t(read.size()))] : freshLeaf();
  if (node.first < 0)
    return node;
  if (node.kind == MaskSpec::Labels) {
    node.left = side();
    node.right = side();
  }
  if (node.kind == MaskSpec::Blocks && chance(4))
    node.step = between(1, 40);
  read.push_back(node);
  return node;
}

MaskSpec::Node Draw::prefix() {
  uint64_t salt = random();
  std::vector<std::string> axes = below(3)   ? std::vector<std::string>{"B"}
                                  : below(2) ? std::vector<std::string>{"1"}
                                             : std::vector<std::string>{};
  return spec.reads(MaskSpec::Prefix, {axes, "i64", [=](const MaskSizes &n, uint64_t seed, int64_t i) {
                                         uint64_t s = mix(mix(seed, salt), i);
                                         if (s % 32 < 2) { // far past every key, whatever 32 bits of it say
                                           double far = 4503599627370496.0 + double(s >> 32);
                                           return s % 32 ? far : -far;
                                         }
                                         return double(int64_t((s >> 5) % uint64_t(n.S + n.P + 20)) - 5);
                                       }});
}

MaskSpec::Node Draw::listed() {
  int64_t size = chance(5) ? between(1, 3) : between(4, 40), blocks = most / size + 1, entries = between(1, 5);
  uint64_t salt = random();
  int64_t among = chance(2) ? blocks + 1 : between(1, 5); // few: where sequences are short, some are seen
  bool padded = chance(3), twice = chance(2);
  std::vector<std::string> axes = {std::to_string(blocks), std::to_string(entries)};
  if (chance(3))
    axes.insert(axes.begin(), chance(4) ? "1" : std::to_string(spec.heads));
  return spec.blocks(size, {axes, "i64", [=](const MaskSizes &, uint64_t seed, int64_t i) {
                              uint64_t x = mix(mix(seed, salt), twice ? i / 2 : i);
                              return padded && x % 5 == 0 ? -1.0 : double((x >> 8) % uint64_t(among));
                            }});
}

/// A picture's rows or columns without limit.
static constexpr int64_t kFar = (int64_t(1) << 30) - 1;

MaskSpec::Node Draw::freshLeaf() {
  using M = MaskSpec;
  switch (below(20)) {
  case 16:
  case 17: {
    M::Node node{M::Chunk};
    node.step = chance(4) ? between(1, 4) : chance(30) ? INT64_MAX : between(1, 90);
    return node;
  }
  case 18:
    return M::picture(chance(4) ? between(1, 4) : between(1, 60), chance(8) ? kFar : below(6),
                      chance(8) ? kFar : below(9));
  case 19:
    return M::windows(chance(4) ? between(1, 4) : between(1, 60), chance(8) ? kFar : between(1, 7),
                      chance(8) ? kFar : between(1, 20), chance(2) ? 0 : below(12));
  case 0: return {chance(3) ? M::All : M::Causal};
  case 1: return {M::Causal};
  case 2:
  case 3: return {M::Window, side(), side()};
  case 4: {
    M::Node node{M::Labels};
    int style = int(below(6));
    uint64_t salt = random();
    spec.tensors.push_back(ids("T", style, salt, "i64"));
    node.first = int(spec.tensors.size()) - 1;
    if (chance(5)) {
      spec.grid = M::Square;
    } else {
      spec.tensors.push_back(ids("S", style, salt, "i64"));
      node.second = int(spec.tensors.size()) - 1;
    }
    return node;
  }
  case 5: {
    M::Node node{M::Dilated};
    node.step = chance(8) ? 1 : between(2, 9);
    return node;
  }
  case 6:
  case 7: return spec.reads(M::Keys, set(aligned("S")));
  case 8:
  case 9: return spec.reads(M::Queries, set(aligned("T")));
  case 10: {
    if (chance(4)) // a band that reads several tensors
      return {chance(2) ? M::And : M::Or, {}, {}, 0, -1, -1, {prefix(), prefix()}};
    return prefix();
  }
  case 11:
  case 12: {
    int style = int(below(6)), other = chance(4) ? int(below(6)) : style;
    uint64_t salt = random();
    std::string type = chance(5) ? "f32" : chance(8) ? "i1" : "i64";
    MaskTensor q = ids("T", style, salt, type);
    if (chance(5)) {
      spec.grid = M::Square;
      M::Node node = spec.reads(M::Document, q);
      node.second = node.first;
      return node;
    }
    return spec.document(q, ids("S", other, chance(5) ? random() : salt, type));
  }
  case 13:
  case 14: return listed();
  default: {
    std::vector<std::string> axes = {chance(6) ? "1" : "T", chance(6) ? "1" : "S"};
    if (int64_t more = below(3)) {
      if (more == 2)
        axes.insert(axes.begin(), chance(3) ? "1" : std::to_string(spec.heads));
      axes.insert(axes.begin(), chance(3) ? "1" : "B");
    }
    return spec.reads(M::Dense, set(axes));
  }
  }
}

MaskSpec::Node Draw::node(int depth) {
  using M = MaskSpec;
  if (!depth || chance(6))
    return leaf();
  int64_t what = below(16);
  M::Node made{what < 6    ? M::And
               : what < 11 ? M::Or
               : what < 13 ? (adds ? M::Add : M::And)
               : what < 15 ? M::Not
                           : M::Select};
  made.of.push_back(node(depth - 1));
  if (made.kind != M::Not) // now and then an operand twice, for rewrites to meet
    made.of.push_back(chance(12) ? made.of[0] : node(depth - 1));
  if (made.kind == M::Select) {
    uint64_t salt = random();
    spec.tensors.push_back(
        {{}, "i1", [=](const MaskSizes &, uint64_t seed, int64_t) { return double(mix(seed, salt) & 1); }});
    made.first = int(spec.tensors.size()) - 1;
  }
  return made;
}

MaskSpec MaskSpec::draw(std::mt19937_64 &random, int depth, int64_t most) {
  MaskSpec spec;
  Draw draw{spec, random, most, false};
  draw.adds = draw.chance(4);
  spec.heads = int(draw.between(1, 3));
  const Grid grids[] = {Free, Free, Free, FromZero, Cached, Square};
  spec.grid = grids[draw.below(6)];
  spec.root = draw.node(int(draw.between(0, depth)));
  return spec;
}

MaskSizes MaskSpec::sizes(std::mt19937_64 &random, int64_t most) const {
  MaskSpec unused;
  Draw draw{unused, random, most, false};
  int64_t third = std::max<int64_t>(most / 2, 1);
  auto length = [&] {
    return draw.between(1, draw.chance(3)   ? third
                           : draw.chance(2) ? std::min<int64_t>(third, 80)
                                            : std::min<int64_t>(third, 20));
  };
  MaskSizes n;
  n.B = draw.between(1, 3);
  n.T = length();
  n.P = draw.chance(2) ? 0 : draw.between(0, most - third);
  n.S = draw.chance(2) ? std::min(n.P + n.T, third) : length();
  n.K = grid == Free && draw.chance(3) ? draw.between(-12, 12) : 0;
  if (grid == Square)
    n.P = 0;
  if (grid == Cached || grid == Square)
    n.S = n.P + n.T;
  return n;
}
