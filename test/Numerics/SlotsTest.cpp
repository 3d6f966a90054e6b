//===- SlotsTest.cpp - texts in slots of a cache against each alone --------===//
//
// @batch continues texts of different lengths, each in the slot of the state that it names, some by several rows of one
// token each. Every row must have the
// bits that it has where its text is computed alone and whole, whatever is beside it, in its slot before or behind
// it: what no text of the slot has written is NaN.
//
//===----------------------------------------------------------------------===//

#include "test/Numerics/AttentionCases.h"
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace heddle::test;

namespace {
constexpr int64_t kHeads = 4, kKeyHeads = 2;

/// Features of a row: of a head, and of all of them. Those of matrix registers are whole registers.
struct Widths {
  explicit Widths(const std::string &math) : key(math == "matrix" ? 32 : 20), value(math == "matrix" ? 48 : 33) {}
  int64_t key, value;
  int64_t in = kHeads * key, keys = kKeyHeads * key, values = kKeyHeads * value, out = kHeads * value;
};

struct Way {
  const char *name;
  std::string ops;      ///< define %m and %bias
  std::string operands; ///< "mask %m"
  bool ring = false;    ///< the cache is one, and texts go round it
  bool last = false;    ///< only the last row of a call asks, as in a last layer
};
void PrintTo(const Way &way, std::ostream *os) { *os << way.name; }

std::string tensor(const std::string &batch, const std::string &rows, int64_t features) {
  return "!model.tensor<[" + batch + ", " + rows + ", " + std::to_string(features) + "], f32>";
}
std::string state(const std::string &batch, int64_t features) {
  return "!model.state<[3, " + batch + ", capacity, " + std::to_string(features) + "], f32>";
}

/// @step, or @batch with slots.
std::string entry(const Way &way, const Widths &w, bool slots) {
  std::string rows = way.last ? "1" : "new", batch = slots ? "slots" : "B", prefix = slots ? "s" : "",
              place = "!model.tensor<[B], i64>";
  std::string q = tensor("B", rows, w.in), k = tensor("B", "new", w.keys), v = tensor("B", "new", w.values),
              y = tensor("B", rows, w.out), ks = state(batch, w.keys), vs = state(batch, w.values),
              ka = tensor("B", "\"new+past\"", w.keys), va = tensor("B", "\"new+past\"", w.values);
  std::string named = slots ? " slots %slot : " + place + " starts %start : " + place : "";
  return std::string("func.func @") + (slots ? "batch" : "step") + "(%q: " + q + " {model.name = \"q\"}, %k: " + k +
         " {model.name = \"k\"}, %v: " + v + " {model.name = \"v\"}" +
         (slots ? ", %slot: " + place + " {model.name = \"slot\"}, %start: " + place + " {model.name = \"start\"}"
                : "") +
         ", %ks: " + ks + " {model.state = \"" + prefix + "k\"}, %vs: " + vs + " {model.state = \"" + prefix +
         "v\"}) -> (" + y +
         " {model.name = \"y\"}) {\n  %i = arith.constant 1 : index\n  %ka = model.append %ks[%i], %k" + named +
         " axis 1 : " + ks + ", " + k + " -> " + ka + "\n  %va = model.append %vs[%i], %v" + named + " axis 1 : " + vs +
         ", " + v + " -> " + va + "\n  " + way.ops + "\n  %y = attn.sdpa %q, %ka, %va " + way.operands +
         (slots ? " starts %start : " + place : "") + " heads 4 kv_heads 2 scale 0.25 past \"" +
         (way.last ? "past+new-1" : "past") + "\" : (" + q + ", " + ka + ", " + va + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

class Slots : public testing::TestWithParam<std::tuple<Way, std::string>> {};

std::vector<float> rowsOf(const std::vector<float> &x, int64_t from, int64_t n, int64_t features) {
  return std::vector<float>(x.begin() + from * features, x.begin() + (from + n) * features);
}
void append(std::vector<float> &to, const std::vector<float> &rows) { to.insert(to.end(), rows.begin(), rows.end()); }
} // namespace

TEST_P(Slots, AsAlone) {
  const Way &way = std::get<0>(GetParam());
  const std::string &math = std::get<1>(GetParam());
  const Widths w(math);
  const int64_t slots = 5, total = way.ring ? 1100 : 290, capacity = total + 5, longest = 60;
  std::string text = moduleText(math, entry(way, w, false) + entry(way, w, true));
  auto plain = Program::compile(moduleText(math, entry(way, w, false)));
  auto program = Program::compile(text, 16, true, JitLevel::Quick, longest);
  ASSERT_TRUE(plain && program) << text;
  Case c;
  c.heads = kHeads;
  c.kvHeads = kKeyHeads;
  c.width = w.key;
  c.valueWidth = w.value;

  // What each row of each text is where the text is alone.
  Call all(c, {slots, total, total, 0, 0}, 7);
  std::vector<float> want(slots * total * w.out);
  auto alone = [&](int64_t slot, int64_t from, int64_t n, std::vector<char> &ks, std::vector<char> &vs) {
    int64_t rows = way.last ? 1 : n, at = slot * total + from;
    std::vector<float> q = rowsOf(all.q, at + n - rows, rows, w.in), k = rowsOf(all.k, at, n, w.keys),
                       v = rowsOf(all.v, at, n, w.values);
    EXPECT_EQ(plain->run("step", {{"B", 1}, {"past", from}, {"new", n}, {"capacity", capacity}},
                         {q.data(), k.data(), v.data(), &want[(at + n - rows) * w.out], ks.data(), vs.data()}),
              0);
  };
  for (int64_t slot = 0; slot < slots; ++slot) {
    Program::Dims dims{{"B", 1}, {"past", 0}, {"new", 1}, {"capacity", capacity}};
    std::vector<char> ks(plain->stateBytes("step", 3, dims), char(0xff)),
        vs(plain -> stateBytes("step", 4, dims), char(0xff));
    for (int64_t from = 0; from < total; from += way.last ? 1 : total)
      alone(slot, from, way.last ? 1 : total, ks, vs);
  }

  // Whichever slots continue, in any order, by as many rows as the shortest of them has left; ended texts begin again.
  Program::Dims dims{{"B", 1}, {"past", 0}, {"new", 1}, {"capacity", capacity}, {"slots", slots}};
  std::vector<char> ks(program->stateBytes("batch", 5, dims), char(0xff)),
      vs(program -> stateBytes("batch", 6, dims), char(0xff));
  std::vector<int64_t> lengths(slots, 0);
  std::mt19937 engine(3);
  const int64_t pieces[] = {1, 33, 1, 7, longest, 1, 16, 1, way.ring ? longest : 2};
  int ends = 0;
  for (int call = 0; ends < 6; ++call) {
    ASSERT_LT(call, 2000);
    std::vector<int64_t> named;
    for (int64_t slot = 0; slot < slots; ++slot)
      if (engine() % 3)
        named.push_back(slot);
    if (named.empty())
      continue;
    std::shuffle(named.begin(), named.end(), engine);
    int64_t n = pieces[call % std::size(pieces)];
    std::vector<int64_t> starts;
    for (int64_t slot : named) {
      if (lengths[slot] == total) {
        lengths[slot] = 0;
        ++ends;
        for (std::vector<char> *held : {&ks, &vs}) // of each iteration
          for (int64_t part = 0, size = held->size() / (3 * slots); part < 3; ++part)
            std::fill_n(held->begin() + (part * slots + slot) * size, size, char(0xff));
      }
      n = std::min(n, total - lengths[slot]);
      starts.push_back(lengths[slot]);
    }
    if (n == 1) // up to three rows of a text, in any order
      for (size_t i = 0, texts = named.size(); i < texts; ++i)
        for (int64_t next = 1; next < int64_t(1 + engine() % 3) && starts[i] + next < total; ++next) {
          size_t at = texts + engine() % (named.size() - texts + 1);
          named.insert(named.begin() + at, named[i]);
          starts.insert(starts.begin() + at, starts[i] + next);
        }
    int64_t B = named.size(), past = *std::max_element(starts.begin(), starts.end());
    int64_t rows = way.last ? 1 : n;
    std::vector<float> q, k, v, expected, y(B * rows * w.out);
    for (int64_t b = 0; b < B; ++b) {
      int64_t at = named[b] * total + starts[b];
      append(q, rowsOf(all.q, at + n - rows, rows, w.in));
      append(k, rowsOf(all.k, at, n, w.keys));
      append(v, rowsOf(all.v, at, n, w.values));
      append(expected, rowsOf(want, at + n - rows, rows, w.out));
      lengths[named[b]] = std::max(lengths[named[b]], starts[b] + n);
    }
    dims["B"] = B;
    dims["past"] = past;
    dims["new"] = n;
    ASSERT_EQ(program->run("batch", dims,
                           {q.data(), k.data(), v.data(), named.data(), starts.data(), y.data(), ks.data(), vs.data()},
                           call % 3 + 1),
              0);
    for (int64_t b = 0; b < B; ++b)
      ASSERT_EQ(std::memcmp(&expected[b * rows * w.out], &y[b * rows * w.out], rows * w.out * sizeof(float)), 0)
          << "call " << call << ", slot " << named[b] << ", " << n << " rows behind " << starts[b] << " of at most "
          << past;
  }
}

/// f32, bf16 widened, and the last of the ways in which bf16 is multiplied here.
static std::vector<std::string> storedAs() {
  std::vector<std::string> all = {"", "wide"};
  if (std::string last = mathHere().back(); last == "dots" || last == "matrix")
    all.push_back(last);
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Attention, Slots,
    testing::Combine(
        testing::Values(
            Way{"causal", "%m = mask.causal", "mask %m"},
            Way{"last_causal", "%m = mask.causal", "mask %m", false, true},
            Way{"last_all", "%m = mask.all", "mask %m", false, true},
            Way{"alibi",
                "%m = mask.causal\n  %s = attn.alibi_slopes 4 : !model.tensor<[4], f32>\n  %bias = attn.alibi %s : !model.tensor<[4], f32>",
                "mask %m bias %bias"},
            Way{"bias_of_keys",
                "%m = mask.causal\n  %j = model.range \"0\" to \"new+past\" : !model.tensor<[\"new+past\"], i64>\n"
                "  %f = model.cast %j : !model.tensor<[\"new+past\"], i64> -> !model.tensor<[\"new+past\"], f32>\n"
                "  %r = model.broadcast %f : !model.tensor<[\"new+past\"], f32> -> !model.tensor<[B, 1, 1, \"new+past\"], f32>\n"
                "  %c = model.constant dense<0.0625> : tensor<f32> : !model.tensor<[], f32>\n"
                "  %t = model.binary mul %r, %c : (!model.tensor<[B, 1, 1, \"new+past\"], f32>, !model.tensor<[], f32>) -> !model.tensor<[B, 1, 1, \"new+past\"], f32>\n"
                "  %bias = attn.dense_bias %t : !model.tensor<[B, 1, 1, \"new+past\"], f32>",
                "mask %m bias %bias"},
            Way{"window", "%m = mask.window left 9 right 0", "mask %m", true},
            Way{"dilated", "%c = mask.causal\n  %d = mask.dilated 3\n  %m = mask.and %c, %d", "mask %m"},
            Way{"dilated_window", "%n = mask.window left 100 right 0\n  %d = mask.dilated 3\n  %m = mask.and %n, %d",
                "mask %m", true}),
        testing::ValuesIn(storedAs())),
    [](const auto &p) {
      const std::string &math = std::get<1>(p.param);
      return std::get<0>(p.param).name + ("_" + (math.empty() ? "f32" : math));
    });
