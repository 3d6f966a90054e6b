//===- AttentionCases.cpp - attention by plain loops in double ------------===//

#include "test/Numerics/AttentionCases.h"
#include "test/Numerics/JitModule.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::test {

uint64_t hash(uint64_t seed, uint64_t index) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + (index + 1) * 0xbf58476d1ce4e5b9ull;
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
double uniform(uint64_t seed, uint64_t index) { return double(hash(seed, index) >> 11) / double(1ull << 52) - 1.0; }

std::vector<std::string> mathHere() {
  std::vector<std::string> all = {"", "wide"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("f16c"))
    all.push_back("f16");
  if (__builtin_cpu_supports("avx512bf16"))
    all.push_back("dots");
  if (hasMatrixRegisters())
    all.push_back("matrix");
#endif
  return all;
}

std::string moduleText(const std::string &math, const std::string &functions) {
  std::string bf16 = "model.dtype = \"bf16\", model.math = ", how;
  if (math == "f16")
    how = "attributes {model.dtype = \"f16\"} ";
  else if (math == "matrix")
    how = "attributes {" + bf16 + "\"dots\", model.target = #model.target<\"cpu\", chip = \"\", lanes = 16, " +
          "registers = 32, needs = \"" + kMatrixNeeds + "\">} ";
  else if (!math.empty())
    how = "attributes {" + bf16 + "\"" + math + "\"} ";
  return "module " + how + "{\n" + functions + "}\n";
}

/// To bf16 and back: nearest, ties to even; a NaN stays one.
static float throughBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits = std::isnan(x) ? bits : (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  std::memcpy(&x, &bits, 4);
  return x;
}
/// To f16 and back: 13 bits fewer, a fixed place below its normal numbers, infinite from 65520 on.
static float throughF16(float x) {
  if (std::isnan(x) || std::fabs(x) >= 65520)
    return std::isnan(x) ? x : std::copysign(std::numeric_limits<float>::infinity(), x);
  if (std::fabs(x) < 0x1p-14f)
    return std::nearbyint(x * 0x1p24f) * 0x1p-24f;
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits = (bits + 0xfff + ((bits >> 13) & 1)) & 0xffffe000u;
  std::memcpy(&x, &bits, 4);
  return x;
}
static std::vector<float> rounded(std::vector<float> all, bool halves, const std::string &math) {
  if (halves)
    for (float &x : all)
      x = math == "f16" ? throughF16(x) : throughBf16(x);
  return all;
}

std::string Case::functionText(bool dims) const {
  auto type = [](const std::string &axes, const std::string &element) {
    return "!model.tensor<[" + axes + "], " + element + ">";
  };
  std::string kb = sharedKeys ? "1" : "B";
  std::string q = type("B, T, " + std::to_string(heads * width), "f32");
  std::string k = type(kb + ", S, " + std::to_string(kvHeads * width), "f32");
  std::string v = type(kb + ", S, " + std::to_string(kvHeads * valueWidth), "f32");
  std::string y = type("B, T, " + std::to_string(heads * valueWidth), "f32");
  std::string text = "func.func @" + function + "(%q: " + q + " {model.name = \"q\"}, %k: " + k +
                     " {model.name = \"k\"}, %v: " + v + " {model.name = \"v\"}";
  if (dims)
    text += ", %dims: !model.tensor<[P, K], f32> {model.name = \"dims\"}";
  for (const Extra &e : extras)
    text += ", %" + e.name + ": " + type(e.axes, e.element) + " {model.name = \"" + e.name + "\"}";
  text += ") -> (" + y + " {model.name = \"y\"}) {\n" + ops;
  text += "\n  %y = attn.sdpa %q, %k, %v " + operands + " heads " + std::to_string(heads) + " kv_heads " +
          std::to_string(kvHeads) + " scale " + std::to_string(scale) + " ";
  if (softcap)
    text += "softcap " + std::to_string(softcap) + " ";
  text += "key_start \"K\" past \"P\" " + attributes + " : (" + q + ", " + k + ", " + v + ") -> " + y;
  return text + "\n  return %y : " + y + "\n}\n";
}

Call::Call(const Case &test, Sizes n, uint64_t seed) : test(test), n(n) {
  auto fill = [&](std::vector<float> &x, int64_t count, uint64_t s) {
    x.resize(count + 1); // an empty vector has no address
    for (int64_t i = 0; i < count; ++i)
      x[i] = float(uniform(s, i));
  };
  int64_t kb = test.sharedKeys ? 1 : n.B;
  fill(q, n.B * n.T * test.heads * test.width, seed * 7 + 1);
  fill(k, kb * n.S * test.kvHeads * test.width, seed * 7 + 2);
  fill(v, kb * n.S * test.kvHeads * test.valueWidth, seed * 7 + 3);
  y.assign(n.B * n.T * test.heads * test.valueWidth + 1, 12345.f);
  for (const Extra &e : test.extras)
    extras.push_back(e.make(n, seed * 7 + 4 + extras.size()));
}

std::vector<std::vector<char>> Call::memory() const {
  std::vector<std::vector<char>> memory;
  for (size_t i = 0; i < extras.size(); ++i) {
    const std::string &element = test.extras[i].element;
    size_t bytes = element == "i64" ? 8 : element == "f32" ? 4 : 1;
    memory.emplace_back(bytes * extras[i].size() + 8);
    for (size_t j = 0; j < extras[i].size(); ++j) {
      char *at = memory.back().data() + bytes * j;
      if (bytes == 8)
        *reinterpret_cast<int64_t *>(at) = int64_t(extras[i][j]);
      else if (bytes == 4)
        *reinterpret_cast<float *>(at) = float(extras[i][j]);
      else
        *at = extras[i][j] != 0;
    }
  }
  return memory;
}

void Call::run(Program &program, int threads) {
  std::vector<std::vector<char>> memory = this->memory();
  float dims = 0;
  std::vector<void *> tensors = {q.data(), k.data(), v.data(), &dims};
  for (auto &m : memory)
    tensors.push_back(m.data());
  tensors.push_back(y.data());
  int64_t failure =
      program.run(test.function, {{"B", n.B}, {"T", n.T}, {"S", n.S}, {"P", n.P}, {"K", n.K}}, tensors, threads);
  if (failure)
    y.assign(y.size(), std::numeric_limits<float>::quiet_NaN());
}

Call::Expected Call::expected() const {
  // What is stored is rounded; sums are not.
  const std::vector<float> q = rounded(this->q, test.dots(), test.math),
                           keys = rounded(this->k, !test.math.empty(), test.math),
                           v = rounded(this->v, !test.math.empty(), test.math);
  const double inf = std::numeric_limits<double>::infinity();
  int64_t w = test.width, u = test.valueWidth, group = test.heads / test.kvHeads;
  std::vector<double> out(n.B * n.T * test.heads * u), rounding(out.size()), score(n.S);
  std::vector<int> counts(n.S);
  for (int64_t b = 0; b < n.B; ++b)
    for (int64_t h = 0; h < test.heads; ++h)
      for (int64_t r = 0; r < n.T; ++r) {
        int64_t kb = test.sharedKeys ? 0 : b;
        const float *qr = &q[((b * n.T + r) * test.heads + h) * w];
        double top = -inf, total = 0;
        bool nan = false;
        for (int64_t k = 0; k < n.S; ++k) {
          Case::At at{n, extras, b, h, r, k};
          counts[k] = test.count ? test.count(at) : 1;
          if (!counts[k])
            continue;
          const float *kr = &keys[((kb * n.S + k) * test.kvHeads + h / group) * w];
          double s = 0;
          for (int64_t d = 0; d < w; ++d)
            s += double(qr[d]) * double(kr[d]);
          s *= test.scale;
          if (test.softcap)
            s = test.softcap * std::tanh(s / test.softcap);
          if (test.bias)
            s += test.bias(at);
          score[k] = s;
          nan |= std::isnan(s);
          if (s == -inf)
            counts[k] = 0;
          else
            top = std::max(top, s);
        }
        double sink = test.sink ? test.sink(extras, h) : -inf;
        top = std::max(top, sink);
        if (test.sink)
          total = std::exp(sink - top);
        std::vector<double> o(u, 0.0);
        bool any = false;
        for (int64_t k = 0; k < n.S; ++k) {
          if (!counts[k])
            continue;
          any = true;
          double p = counts[k] * std::exp(score[k] - top);
          total += p;
          for (int64_t d = 0; d < u; ++d)
            o[d] += p * double(v[((kb * n.S + k) * test.kvHeads + h / group) * u + d]);
        }
        for (int64_t d = 0; d < u; ++d) {
          double y = any ? o[d] / total : 0;
          if (nan)
            y = std::nan("");
          if (!any && !test.sink && test.masked == Case::Nan)
            y = std::nan("");
          if (!any && !test.sink && test.masked == Case::Mean) {
            y = 0;
            for (int64_t k = 0; k < n.S; ++k)
              y += double(v[((kb * n.S + k) * test.kvHeads + h / group) * u + d]) / double(n.S);
            if (!n.S)
              y = std::nan("");
          }
          out[((b * n.T + r) * test.heads + h) * u + d] = y;
          if (test.dots() && any)
            for (int64_t k = 0; k < n.S; ++k)
              if (counts[k])
                rounding[((b * n.T + r) * test.heads + h) * u + d] +=
                    counts[k] * std::exp(score[k] - top) / (149 * total) *
                    std::abs(double(v[((kb * n.S + k) * test.kvHeads + h / group) * u + d]) - y);
        }
      }
  return {out, rounding};
}

double Call::error() const {
  auto [e, rounding] = expected();
  double worst = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    bool a = std::isfinite(e[i]), c = std::isfinite(y[i]);
    if (a != c)
      return std::numeric_limits<double>::infinity();
    if (a)
      worst = std::max(worst, std::abs(e[i] - double(y[i])) - rounding[i]);
  }
  return worst;
}

//===-- masks ----------------------------------------------------------------------===//

static std::vector<double> bits(int64_t n, uint64_t seed, int oneIn) {
  std::vector<double> x(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = hash(seed, i) % oneIn != 0;
  return x;
}
static Extra keyBits(std::string name, std::string element, int oneIn = 4) {
  return {name, "B, S", element, [=](const Sizes &n, uint64_t s) { return bits(n.B * n.S, s, oneIn); }};
}
static int64_t S(const Case::At &a, int e) { return int64_t(a.extra[e][a.b * a.n.S + a.k]); }
static int64_t T(const Case::At &a, int e) { return int64_t(a.extra[e][a.b * a.n.T + a.r]); }

std::vector<Case> maskCases() {
  std::vector<Case> cases;
  auto make = [&](std::string name, std::string ops, std::function<int(const Case::At &)> count) -> Case & {
    Case c;
    c.name = name;
    c.ops = "  " + ops;
    c.operands = "mask %m";
    c.count = count;
    cases.push_back(c);
    return cases.back();
  };
  using At = const Case::At &;
  cases.emplace_back();
  cases.back().name = "none";
  make("all", "%m = mask.all", [](At) { return 1; });
  make("causal", "%m = mask.causal", [](At a) { return a.j() <= a.i(); });
  make("window", "%m = mask.window left 5 right 3", [](At a) { return a.j() - a.i() >= -5 && a.j() - a.i() <= 3; });
  make("window_left", "%m = mask.window left 40", [](At a) { return a.j() - a.i() >= -40; });
  make("window_off_diagonal", "%m = mask.window left -3 right 20",
       [](At a) { return a.j() - a.i() >= 3 && a.j() - a.i() <= 20; });
  make("window_causal", "%c = mask.causal\n  %w = mask.window left 64\n  %m = mask.and %c, %w",
       [](At a) { return a.j() <= a.i() && a.j() - a.i() >= -64; });
  make("dilated", "%c = mask.causal\n  %d = mask.dilated 3\n  %m = mask.and %c, %d",
       [](At a) { return a.j() <= a.i() && (a.j() - a.i()) % 3 == 0; });
  make("keys", "%m = mask.keys %t : !model.tensor<[B, S], i64>", [](At a) { return S(a, 0) != 0; }).extras = {
      keyBits("t", "i64")};
  make("keys_causal", "%k0 = mask.keys %t : !model.tensor<[B, S], i1>\n  %c = mask.causal\n  %m = mask.and %k0, %c",
       [](At a) { return S(a, 0) && a.j() <= a.i(); })
      .extras = {keyBits("t", "i1", 50)};
  make("not_keys", "%k0 = mask.keys %t : !model.tensor<[B, S], f32>\n  %m = mask.not %k0", [](At a) {
    return S(a, 0) == 0;
  }).extras = {keyBits("t", "f32")};
  make("keys_shared", "%m = mask.keys %t : !model.tensor<[S], i64>", [](At a) {
    return a.extra[0][a.k] != 0;
  }).extras = {{"t", "S", "i64", [](const Sizes &n, uint64_t s) { return bits(n.S, s, 4); }}};
  make("queries", "%m = mask.queries %t : !model.tensor<[B, T], i64>", [](At a) { return T(a, 0) != 0; }).extras = {
      {"t", "B, T", "i64", [](const Sizes &n, uint64_t s) { return bits(n.B * n.T, s, 3); }}};
  make("longformer",
       "%g = mask.keys %t : !model.tensor<[B, S], i64>\n  %q0 = mask.queries %r : !model.tensor<[B, T], i64>\n"
       "  %w = mask.window left 9 right 9\n  %a = mask.or %g, %q0\n  %m = mask.or %a, %w",
       [](At a) { return S(a, 0) || T(a, 1) || std::abs(a.j() - a.i()) <= 9; })
      .extras = {{"t", "B, S", "i64",
                  [](const Sizes &n, uint64_t s) {
                    auto x = bits(n.B * n.S, s, 20);
                    for (double &v : x)
                      v = !v;
                    return x;
                  }},
                 {"r", "B, T", "i64", [](const Sizes &n, uint64_t s) {
                    auto x = bits(n.B * n.T, s, 20);
                    for (double &v : x)
                      v = !v;
                    return x;
                  }}};
  make("prefix", "%p = mask.prefix %t : !model.tensor<[B], i64>\n  %c = mask.causal\n  %m = mask.or %p, %c", [](At a) {
    return a.j() < int64_t(a.extra[0][a.b]) || a.j() <= a.i();
  }).extras = {{"t", "B", "i64", [](const Sizes &n, uint64_t s) {
                  std::vector<double> x;
                  for (int64_t b = 0; b < n.B; ++b)
                    x.push_back(double(hash(s, b) % (n.S + 2)));
                  return x;
                }}};
  auto documents = [](int64_t rows, uint64_t s, bool sorted) {
    std::vector<double> x(rows);
    double id = 0;
    for (int64_t i = 0; i < rows; ++i) {
      id = sorted ? id + (hash(s, i) % 11 == 0) : double(hash(s, i / 3) % 5);
      x[i] = id;
    }
    return x;
  };
  for (bool sorted : {true, false})
    make(
        sorted ? "documents" : "documents_mixed",
        "%d = mask.document %t, %s : !model.tensor<[B, T], i64>, !model.tensor<[B, S], i64>\n  %c = mask.causal\n  %m = mask.and %c, %d",
        [](At a) { return T(a, 0) == S(a, 1) && a.j() <= a.i(); })
        .extras = {
        {"t", "B, T", "i64", [=](const Sizes &n, uint64_t s) { return documents(n.B * n.T, s / 7, sorted); }},
        {"s", "B, S", "i64", [=](const Sizes &n, uint64_t s) { return documents(n.B * n.S, s / 7, sorted); }}};
  make("window_labels",
       "%m = mask.window left 1 right 1 on %t : !model.tensor<[B, T], i64> keys %s : !model.tensor<[B, S], i64>",
       [](At a) { return std::abs(S(a, 1) - T(a, 0)) <= 1; })
      .extras = {{"t", "B, T", "i64", [=](const Sizes &n, uint64_t s) { return documents(n.B * n.T, s / 7, true); }},
                 {"s", "B, S", "i64", [=](const Sizes &n, uint64_t s) { return documents(n.B * n.S, s / 7, false); }}};
  auto lists = [](const Sizes &, uint64_t s) {
    std::vector<double> x;
    for (int i = 0; i < 2 * 12 * 3; ++i)
      x.push_back(double(hash(s, i) % 12));
    return x;
  };
  auto listed = [](At a, int size, bool heads) {
    int64_t q = a.i() / size, k = a.k / size;
    int n = 0;
    for (int e = 0; q < 12 && e < 3; ++e)
      n += int64_t(a.extra[0][((heads ? a.h * 12 : 0) + q) * 3 + e]) == k;
    return n;
  };
  make("blocks", "%m = mask.blocks 7, %t : !model.tensor<[12, 3], i64>", [=](At a) {
    return listed(a, 7, false) > 0;
  }).extras = {{"t", "12, 3", "i64", lists}};
  make("blocks_by_head", "%m = mask.blocks 16, %t : !model.tensor<[2, 12, 3], i64>", [=](At a) {
    return listed(a, 16, true) > 0;
  }).extras = {{"t", "2, 12, 3", "i64", lists}};
  make(
      "bigbird",
      "%g = mask.window left 4 right 4\n  %r = mask.blocks 8, %t : !model.tensor<[12, 3], i64>\n  %m = mask.add %g, %r",
      [=](At a) { return listed(a, 8, false) + (std::abs(a.j() - a.i()) <= 4); })
      .extras = {{"t", "12, 3", "i64", lists}};
  make("dense", "%m = mask.dense %t : !model.tensor<[B, 2, T, S], i1>", [](At a) {
    return a.extra[0][((a.b * 2 + a.h) * a.n.T + a.r) * a.n.S + a.k] != 0;
  }).extras = {{"t", "B, 2, T, S", "i1", [](const Sizes &n, uint64_t s) { return bits(n.B * 2 * n.T * n.S, s, 3); }}};
  make("dense_shared", "%d = mask.dense %t : !model.tensor<[T, S], f32>\n  %c = mask.causal\n  %m = mask.and %d, %c",
       [](At a) { return a.extra[0][a.r * a.n.S + a.k] != 0 && a.j() <= a.i(); })
      .extras = {{"t", "T, S", "f32", [](const Sizes &n, uint64_t s) { return bits(n.T * n.S, s, 3); }}};
  make("select",
       "%c = mask.causal\n  %w = mask.window left 2 right 2\n  %m = mask.select %t, %c, %w : !model.tensor<[], i1>",
       [](At a) { return a.extra[0][0] != 0 ? a.j() <= a.i() : std::abs(a.j() - a.i()) <= 2; })
      .extras = {{"t", "", "i1", [](const Sizes &, uint64_t s) { return std::vector<double>{double(s % 2)}; }}};
  return cases;
}

//===-- biases -----------------------------------------------------------------------===//

static double table(const Case::At &a, int e, int64_t i) { return a.extra[e][i]; }
static std::vector<double> reals(int64_t n, uint64_t s) {
  std::vector<double> x(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = double(float(uniform(s, i)));
  return x;
}
static int64_t bucketOf(int64_t d, int64_t n, int64_t far, bool both) {
  int64_t m = both ? n / 2 : n, base = both && d > 0 ? m : 0, r = both ? std::abs(d) : std::max<int64_t>(-d, 0),
          exact = m / 2;
  if (r < exact)
    return base + r;
  float ratio = std::log(float(r) / float(exact)) / float(std::log(double(far) / double(exact))) * float(m - exact);
  return base + std::min<int64_t>(exact + int64_t(ratio), m - 1);
}

std::vector<Case> biasCases(int heads) {
  std::vector<Case> cases;
  using At = const Case::At &;
  const std::string H = std::to_string(heads);
  auto wide = [&](int width) { return std::to_string(heads * width); };
  auto make = [&](std::string name, std::string ops, std::function<double(At)> bias) -> Case & {
    Case c;
    c.name = name;
    c.heads = c.kvHeads = heads;
    c.ops = "  %m = mask.causal\n  " + ops;
    c.operands = "mask %m bias %bias";
    c.count = [](At a) { return a.j() <= a.i(); };
    c.bias = bias;
    cases.push_back(c);
    return cases.back();
  };
  auto real = [](std::string name, std::string axes, std::function<int64_t(const Sizes &)> count) {
    return Extra{name, axes, "f32", [=](const Sizes &n, uint64_t s) { return reals(count(n), s); }};
  };
  make("alibi", "%bias = attn.alibi %t : !model.tensor<[" + H + "], f32>", [](At a) {
    return table(a, 0, a.h) * double(a.j() - a.i());
  }).extras = {real("t", H, [=](const Sizes &) { return heads; })};
  Case &both = make("alibi_symmetric", "%bias = attn.alibi %t symmetric : !model.tensor<[" + H + "], f32>",
                    [](At a) { return -table(a, 0, a.h) * std::abs(double(a.j() - a.i())); });
  both.extras = {real("t", H, [=](const Sizes &) { return heads; })};
  both.count = nullptr;
  both.ops = "  %bias = attn.alibi %t symmetric : !model.tensor<[" + H + "], f32>";
  both.operands = "bias %bias";
  make("buckets", "%bias = attn.bucket_bias %t max_distance 20 : !model.tensor<[8, " + H + "], f32>", [=](At a) {
    return table(a, 0, bucketOf(a.j() - a.i(), 8, 20, false) * heads + a.h);
  }).extras = {real("t", "8, " + H, [=](const Sizes &) { return 8 * heads; })};
  Case &two = make("buckets_two_sided", "",
                   [=](At a) { return table(a, 0, bucketOf(a.j() - a.i(), 32, 128, true) * heads + a.h); });
  two.ops = "  %bias = attn.bucket_bias %t max_distance 128 two_sided : !model.tensor<[32, " + H + "], f32>";
  two.operands = "bias %bias";
  two.count = nullptr;
  two.extras = {real("t", "32, " + H, [=](const Sizes &) { return 32 * heads; })};
  auto dot = [=](At a, bool keySide, int64_t w, int64_t rows, int64_t tableWidth, int64_t index) {
    index = std::min(std::max<int64_t>(index, 0), rows - 1);
    int64_t line = keySide ? a.b * a.n.S + a.k : a.b * a.n.T + a.r;
    double s = 0;
    for (int64_t d = 0; d < w; ++d)
      s += a.extra[0][(line * heads + a.h) * w + d] *
           a.extra[1][index * tableWidth + (tableWidth == w ? 0 : a.h * w) + d];
    return s;
  };
  make("relative_query",
       "%bias = attn.relative_dot %x, %t heads " + H + " zero \"8\" : !model.tensor<[B, T, " + wide(5) +
           "], f32>, !model.tensor<[17, 5], f32>",
       [=](At a) { return dot(a, false, 5, 17, 5, 8 + a.i() - a.j()); })
      .extras = {real("x", "B, T, " + wide(5), [=](const Sizes &n) { return n.B * n.T * heads * 5; }),
                 real("t", "17, 5", [](const Sizes &) { return 85; })};
  make("relative_key",
       "%bias = attn.relative_dot %x, %t heads " + H + " zero \"S\" key_side : !model.tensor<[B, S, " + wide(16) +
           "], f32>, !model.tensor<[40, " + wide(16) + "], f32>",
       [=](At a) { return dot(a, true, 16, 40, heads * 16, a.n.S + a.i() - a.j()); })
      .extras = {real("x", "B, S, " + wide(16), [=](const Sizes &n) { return n.B * n.S * heads * 16; }),
                 real("t", "40, " + wide(16), [=](const Sizes &) { return 40 * heads * 16; })};
  make("dense_bias", "%bias = attn.dense_bias %t : !model.tensor<[B, " + H + ", T, S], f32>", [=](At a) {
    return table(a, 0, ((a.b * heads + a.h) * a.n.T + a.r) * a.n.S + a.k);
  }).extras = {real("t", "B, " + H + ", T, S", [=](const Sizes &n) { return n.B * heads * n.T * n.S; })};
  Case &hidden = make("dense_bias_hides", "", [](At a) { return table(a, 0, a.r * a.n.S + a.k); });
  hidden.ops = "  %bias = attn.dense_bias %t : !model.tensor<[T, S], f32>";
  hidden.operands = "bias %bias";
  hidden.count = nullptr;
  hidden.extras = {{"t", "T, S", "f32", [](const Sizes &n, uint64_t s) {
                      std::vector<double> x = reals(n.T * n.S, s);
                      for (size_t i = 0; i < x.size(); ++i)
                        if (hash(s + 5, i) % 3 == 0)
                          x[i] = -std::numeric_limits<double>::infinity();
                      return x;
                    }}};
  make("sum_and_scale",
       "%a = attn.alibi %t : !model.tensor<[" + H +
           "], f32>\n  %d = attn.dense_bias %u : !model.tensor<[1, T, S], f32>\n"
           "  %s = attn.bias_scale %d by 2.5\n  %bias = attn.bias_add %a, %s",
       [](At a) { return table(a, 0, a.h) * double(a.j() - a.i()) + 2.5 * table(a, 1, a.r * a.n.S + a.k); })
      .extras = {real("t", H, [=](const Sizes &) { return heads; }),
                 real("u", "1, T, S", [](const Sizes &n) { return n.T * n.S; })};
  Case &cap = make("softcap", "", [](At) { return 0.0; });
  cap.ops = "  %m = mask.causal";
  cap.operands = "mask %m";
  cap.bias = nullptr;
  cap.softcap = 0.5;
  Case &sinks = make("sinks", "", [](At) { return 0.0; });
  sinks.ops = "  %m = mask.window left 3 right -1";
  sinks.count = [](At a) { return a.j() - a.i() >= -3 && a.j() - a.i() <= -1; };
  sinks.operands = "mask %m sinks %t : !model.tensor<[" + H + "], f32>";
  sinks.bias = nullptr;
  sinks.extras = {real("t", H, [=](const Sizes &) { return heads; })};
  sinks.sink = [](const std::vector<std::vector<double>> &x, int64_t h) { return x[0][h]; };
  return cases;
}

} // namespace heddle::test
