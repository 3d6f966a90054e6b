//===- BitsTest.cpp - a row's bits never depend on its company ------------===//
//
// Random causal masks with every score modifier: the same bits on one thread and two, alone and
// in a batch of 3 or 8, recomputed, in pieces over the cache and in single cached steps, and
// with any padding on either side.
//
//===----------------------------------------------------------------------===//

#include "test/Mask/Campaign.h"
#include "test/Mask/RandomAttention.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace heddle::test;

namespace {
/// A part of a call: batch elements, rows and keys, each [from, to).
struct Part {
  int64_t b0, b1, t0, t1, s0, s1;
};
} // namespace

/// The part of a tensor whose axes are B, T, S or numbers. Rows that are not there are 0.
template <typename T>
static std::vector<T> cut(const std::vector<T> &x, const std::vector<std::string> &axes, const Sizes &n,
                          const Part &part) {
  std::vector<std::pair<int64_t, int64_t>> range;
  std::vector<int64_t> extent;
  int64_t count = 1;
  for (const std::string &a : axes) {
    range.push_back(a == "B"   ? std::pair(part.b0, part.b1)
                    : a == "T" ? std::pair(part.t0, part.t1)
                    : a == "S" ? std::pair(part.s0, part.s1)
                               : std::pair(int64_t(0), int64_t(std::stoll(a))));
    extent.push_back(MaskSpec::extent(a, sizesOf(n)));
    count *= range.back().second - range.back().first;
  }
  std::vector<T> y;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0, step = 1;
    bool inside = true;
    for (size_t a = axes.size(); a-- > 0;) {
      int64_t length = range[a].second - range[a].first, index = range[a].first + rest % length;
      rest /= length;
      inside &= index >= 0 && index < extent[a];
      at += index * step;
      step *= extent[a];
    }
    y.push_back(inside ? x[at] : T(0));
  }
  return y;
}

static std::vector<std::string> rowsOf(const char *length, int64_t features) {
  return {"B", length, std::to_string(features)};
}

/// The part as a call of its own.
static Call partOf(const Call &all, const Part &part) {
  const Case &c = all.test;
  Call one(c, {part.b1 - part.b0, part.t1 - part.t0, part.s1 - part.s0, 0, 0}, 0);
  auto take = [&](std::vector<float> &to, const std::vector<float> &from, std::vector<std::string> axes) {
    std::vector<float> y = cut(from, axes, all.n, part);
    std::copy(y.begin(), y.end(), to.begin());
  };
  take(one.q, all.q, rowsOf("T", c.heads * c.width));
  take(one.k, all.k, rowsOf("S", c.kvHeads * c.width));
  take(one.v, all.v, rowsOf("S", c.kvHeads * c.valueWidth));
  for (size_t e = 0; e < c.extras.size(); ++e)
    one.extras[e] = cut(all.extras[e], axesOf(c.extras[e].axes), all.n, part);
  return one;
}

/// Whether rows [t0, t1) of batch elements [b0, b1) have the bits of `got` from (0, from) on.
static bool sameRows(const Call &all, const Part &rows, const Call &got, int64_t from) {
  int64_t line = all.test.heads * all.test.valueWidth, count = (rows.t1 - rows.t0) * line;
  for (int64_t b = rows.b0; b < rows.b1; ++b)
    if (std::memcmp(&all.y[(b * all.n.T + rows.t0) * line], &got.y[((b - rows.b0) * got.n.T + from) * line],
                    count * sizeof(float)))
      return false;
  return true;
}

//===-- the step ---------------------------------------------------------------------===//

/// Inside the brackets of types T becomes `new` and S what a step sees.
static std::string asStep(const std::string &text) {
  std::string out;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    inside = c == '[' ? true : c == ']' ? false : inside;
    bool alone =
        i && !std::isalnum(text[i - 1]) && i + 1 < text.size() && !std::isalnum(text[i + 1]) && text[i + 1] != '"';
    if (inside && alone && c == 'T')
      out += "new";
    else if (inside && alone && c == 'S')
      out += "\"new+past\"";
    else
      out += c;
  }
  return out;
}

static std::string stepText(const Case &c) {
  auto n = [](int64_t x) { return std::to_string(x); };
  auto type = [](const std::string &axes) { return "!model.tensor<[" + axes + "], f32>"; };
  int64_t w = c.kvHeads * c.width, u = c.kvHeads * c.valueWidth;
  std::string q = type("B, new, " + n(c.heads * c.width)), k = type("B, new, " + n(w)), v = type("B, new, " + n(u)),
              y = type("B, new, " + n(c.heads * c.valueWidth));
  std::string ks = "!model.state<[2, B, capacity, " + n(w) + "], f32>",
              vs = "!model.state<[2, B, capacity, " + n(u) + "], f32>";
  std::string ka = type("B, \"new+past\", " + n(w)), va = type("B, \"new+past\", " + n(u)), f = c.function;
  std::string text = "func.func @" + f + "(%q: " + q + " {model.name = \"q\"}, %k: " + k +
                     " {model.name = \"k\"}, %v: " + v + " {model.name = \"v\"}";
  for (const Extra &e : c.extras)
    text += ", %" + e.name + ": " + asStep("!model.tensor<[" + e.axes + "], " + e.element + ">") + " {model.name = \"" +
            e.name + "\"}";
  text += ", %ks: " + ks + " {model.state = \"k" + f + "\"}, %vs: " + vs + " {model.state = \"v" + f + "\"}) -> (" + y +
          " {model.name = \"y\"}) {\n";
  text += "  %i = arith.constant 1 : index\n  %ka = model.append %ks[%i], %k axis 1 : " + ks + ", " + k + " -> " + ka +
          "\n";
  text += "  %va = model.append %vs[%i], %v axis 1 : " + vs + ", " + v + " -> " + va + "\n" + asStep(c.ops);
  text += "\n  %y = attn.sdpa %q, %ka, %va " + asStep(c.operands) + " heads " + n(c.heads) + " kv_heads " +
          n(c.kvHeads) + " scale " + std::to_string(c.scale) + " ";
  if (c.softcap)
    text += "softcap " + std::to_string(c.softcap) + " ";
  return text + "past \"past\" " + c.attributes + " : (" + q + ", " + ka + ", " + va + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

/// All of the call in pieces over the cache.
static bool runPieces(Program &program, const std::string &function, Call &all, const std::vector<int64_t> &pieces,
                      int64_t capacity) {
  const Case &c = all.test;
  Program::Dims dims{{"B", all.n.B}, {"past", 0}, {"new", 0}, {"capacity", capacity}};
  unsigned states = unsigned(3 + c.extras.size());
  std::vector<char> ks(program.stateBytes(function, states, dims), char(0x7f)),
      vs(program.stateBytes(function, states + 1, dims), char(0x7f));
  int64_t past = 0, line = c.heads * c.valueWidth;
  for (int64_t fresh : pieces) {
    // Rows of queries, keys and values are the new ones, what the mask reads of keys is all.
    Call one = partOf(all, {0, all.n.B, past, past + fresh, 0, past + fresh});
    std::vector<float> k = cut(all.k, rowsOf("S", c.kvHeads * c.width), all.n, {0, all.n.B, 0, 0, past, past + fresh});
    std::vector<float> v =
        cut(all.v, rowsOf("S", c.kvHeads * c.valueWidth), all.n, {0, all.n.B, 0, 0, past, past + fresh});
    dims["past"] = past;
    dims["new"] = fresh;
    auto memory = one.memory();
    std::vector<void *> tensors = {one.q.data(), k.data(), v.data()};
    for (auto &m : memory)
      tensors.push_back(m.data());
    for (void *p : {static_cast<void *>(one.y.data()), static_cast<void *>(ks.data()), static_cast<void *>(vs.data())})
      tensors.push_back(p);
    if (program.run(function, dims, tensors, int(past % 2 + 1)))
      return false;
    for (int64_t b = 0; b < all.n.B; ++b)
      std::copy_n(&one.y[b * fresh * line], fresh * line, &all.y[(b * all.n.T + past) * line]);
    past += fresh;
  }
  return true;
}

//===-- the test ---------------------------------------------------------------------===//

namespace {
struct Bits {
  Campaign &run;
  std::string where;
  std::mt19937_64 &random;
  std::atomic<int64_t> &compared;
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }

  void same(bool good, const std::string &what) {
    ++compared;
    if (!good)
      run.fail(where + "\n  other bits: " + what);
  }
  void company(const RandomAttention &d, Program &program, Call &all);
  void pieces(const RandomAttention &d, Program &program, const Call &all);
  void padding(const RandomAttention &d, Program &program);
};
} // namespace

static Call again(const Call &all) { return partOf(all, {0, all.n.B, 0, all.n.T, 0, all.n.S}); }

void Bits::company(const RandomAttention &d, Program &program, Call &all) {
  for (int threads : {1, 2}) {
    Call two = again(all);
    two.run(program, threads);
    same(sameRows(all, {0, all.n.B, 0, all.n.T, 0, 0}, two, 0), std::to_string(threads) + " threads, again");
  }
  for (int64_t b = 0; b < all.n.B; ++b) {
    Call one = partOf(all, {b, b + 1, 0, all.n.T, 0, all.n.S});
    one.run(program);
    same(sameRows(all, {b, b + 1, 0, all.n.T, 0, 0}, one, 0),
         "batch element " + std::to_string(b) + " of " + std::to_string(all.n.B) + " alone");
  }
}

void Bits::pieces(const RandomAttention &d, Program &program, const Call &all) {
  std::vector<std::vector<int64_t>> ways = {{all.n.T}, std::vector<int64_t>(all.n.T, 1), {}};
  for (int64_t left = all.n.T; left;) {
    ways[2].push_back(1 + below(std::min<int64_t>(left, below(3) ? 20 : 140)));
    left -= ways[2].back();
  }
  for (const auto &way : ways) {
    Call parts = again(all);
    int64_t capacity = all.n.T + below(20);
    run.enter(where);
    bool good = runPieces(program, "step" + d.test.function.substr(3), parts, way, capacity);
    run.leave();
    same(good && sameRows(all, {0, all.n.B, 0, all.n.T, 0, 0}, parts, 0),
         std::to_string(way.size()) + " pieces over the cache");
  }
}

/// One batch element with rows before and behind it that the leading `keys` hides.
void Bits::padding(const RandomAttention &d, Program &program) {
  int64_t rows = 1 + below(150);
  Call bare(d.test, {1, rows, rows, 0, 0}, random() >> 8);
  size_t real = d.test.extras.size() - d.spec.tensors.size(); // the first tensor of the mask
  std::fill(bare.extras[real].begin(), bare.extras[real].end(), 1);
  bare.run(program);
  for (int turn = 0; turn < 3; ++turn) {
    int64_t left = turn == 1 ? 0 : 1 + below(140), right = turn == 0 ? 0 : 1 + below(40);
    Call padded = partOf(bare, {0, 1, -left, rows + right, -left, rows + right});
    for (size_t i = 0; i < padded.extras[real].size(); ++i)
      padded.extras[real][i] = int64_t(i) >= left && int64_t(i) < left + rows;
    padded.run(program);
    same(sameRows(bare, {0, 1, 0, rows, 0, 0}, padded, left),
         std::to_string(left) + " pads on the left, " + std::to_string(right) + " on the right");
  }
}

/// keys(real) and causal and X.
static MaskSpec causalMask(std::mt19937_64 &random, int64_t most) {
  MaskSpec spec;
  bool classes = random() % 4 == 0;
  do
    spec = classes ? drawDilated(random, 2, most) : MaskSpec::draw(random, 2, most);
  while (spec.grid == MaskSpec::Square);
  std::function<void(MaskSpec::Node &)> renumber = [&](MaskSpec::Node &n) {
    for (int *t : {&n.first, &n.second})
      *t += *t >= 0;
    for (MaskSpec::Node &o : n.of)
      renumber(o);
  };
  renumber(spec.root);
  spec.tensors.insert(spec.tensors.begin(), {{"B", "S"}, "i64", [](const MaskSizes &, uint64_t seed, int64_t i) {
                                               return double(mix(seed, i) % 9 != 0);
                                             }});
  MaskSpec::Node real{MaskSpec::Keys}, inner{MaskSpec::And}, outer{MaskSpec::And};
  real.first = 0;
  inner.of = {real, {MaskSpec::Causal}};
  outer.of = {inner, spec.root};
  spec.root = outer;
  return spec;
}

TEST(MaskedAttention, SameBitsInAnyCompany) {
  const int64_t perBatch = 4, most = 400;
  int64_t expressions = campaign.expressions ? campaign.expressions / 4 + 1 : 40;
  Campaign run("Bits", (expressions + perBatch - 1) / perBatch);
  std::atomic<int64_t> compared{0}, masks{0};
  std::vector<std::string> messages = run.run([&](int64_t batch) {
    std::mt19937_64 random(mix(campaign.seed + 77, batch));
    std::vector<RandomAttention> drawn;
    std::string whole, steps;
    for (int64_t i = 0; i < perBatch; ++i) {
      RandomAttention d =
          drawAttention(random, causalMask(random, most), size_t(batch * perBatch + i) % (modifierCount() + 1));
      Case &c = d.test;
      c.sharedKeys = false;
      // A table counted from S would mean something else at each step.
      if (size_t at = c.ops.find("zero \"S\""); at != std::string::npos)
        c.ops.replace(at, 8, "zero \"20\"");
      c.function = "run" + std::to_string(i);
      whole += c.functionText();
      c.function = "step" + std::to_string(i);
      steps += stepText(c);
      c.function = "run" + std::to_string(i);
      drawn.push_back(d);
    }
    std::string where = "--seed=" + std::to_string(campaign.seed) + " --batch=" + std::to_string(batch);
    auto program = Program::compile(whole, 16, false, JitLevel::Quick);
    auto cached = Program::compile(steps, 16, /*planCache=*/batch % 4 != 3, JitLevel::Quick);
    if (!program || !cached)
      return run.fail(where + " does not compile");
    for (const RandomAttention &d : drawn) {
      int64_t rows = 1 + int64_t(random() % 180);
      Call all(d.test, {random() % 4 ? 3 : 8, rows, rows, 0, 0}, random() >> 8);
      Bits bits{run, where + "\n  " + d.str() + "\n  " + sizesOf(all.n).str(), random, compared};
      run.enter(bits.where);
      all.run(*program);
      run.leave();
      bits.company(d, *program, all);
      ++masks;
      if (d.test.masked == Case::Mean) // of all keys there are: more with every step and pad
        continue;
      bits.pieces(d, *cached, all);
      // What depends on absolute positions means something else behind padding.
      if (!reads(d.spec.root,
                 {MaskSpec::Prefix, MaskSpec::Blocks, MaskSpec::Chunk, MaskSpec::Picture, MaskSpec::Windows}))
        bits.padding(d, *program);
    }
  });
  for (const std::string &m : messages)
    ADD_FAILURE() << m;
  std::printf("%ld masks, %ld times the same bits\n", long(masks), long(compared));
}
