//===- AttentionTest.cpp - attention and biases -----------------------------===//
//
// Expected numbers were computed with numpy (float64) from the formulas of the language.
//
//===----------------------------------------------------------------------===//

#include "test/Interpreter/Support.h"

using namespace heddle;
using namespace heddle::check;

// clang-format off: expected values are written as matrices
TEST(Attention, Plain) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %out = attn.sdpa %q, %k, %v  heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)}}),
              "out",
      reals({1, 3, 4}, {0.43639338397, 0.06206960478418, -0.4466327220869, -0.05129672459294, -0.06822649217893,
          -0.1352776844602, 0.1298008657162, -0.637494994547, -0.01773110401352, -0.09403195123683,
          -0.4522532644501, -0.05809715111491}));
}

TEST(Attention, GroupsAndValueWidth) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[2, 2, 8], f32> {model.name = "q"}, %k: !model.tensor<[2, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[2, 3, 6], f32> {model.name = "v"}) -> (!model.tensor<[2, 2, 12], f32> {model.name = "out"}) {
  %out = attn.sdpa %q, %k, %v  heads 4 kv_heads 2 scale 0.5 : (!model.tensor<[2, 2, 8], f32>, !model.tensor<[2, 3, 4], f32>, !model.tensor<[2, 3, 6], f32>) -> !model.tensor<[2, 2, 12], f32>
  return %out : !model.tensor<[2, 2, 12], f32>
}
)mlir",
                  {{"q", fill({2, 2, 8}, 1)},
                   {"k", fill({2, 3, 4}, 2)},
                   {"v", fill({2, 3, 6}, 3)}}),
              "out",
      reals({2, 2, 12}, {-0.4239794630131, -0.03257181363793, 0.2010205369869, -0.1419061373359, -0.3651311978384,
          0.4830938626641, 0.5431822396081, 0.1856673320944, -0.3462661551907, 0.0003285535043888,
          0.1044823231178, 0.2676244137675, -0.001075286233844, -0.5647470796319, 0.6239247137662,
          -0.3040455699613, -0.1672197642035, 0.3209544300387, 0.5600025718418, 0.1526011081733,
          -0.3341535414934, 0.02653485902254, 0.04311208486316, 0.2951170667222, -0.0003285535043889,
          -0.7676244137675, 0.6246714464956, -0.5431822396081, -0.1537338448093, 0.0818177603919, 0.146287347915,
          0.2490221986976, -0.3641817717754, 0.4239794630131, 0.04965568382735, -0.4674281863621,
          0.02672181774018, -0.7408319127113, 0.6517218177402, -0.01790599834585, -0.785888844121,
          0.6070940016542, -0.03438913844512, 0.3874545179529, -0.3046335647637, 0.26358437143, 0.1625144116573,
          -0.4057844816301}));
}

TEST(Attention, OneKeyBatchForAll) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[2, 2, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}) -> (!model.tensor<[2, 2, 4], f32> {model.name = "out"}) {
  %out = attn.sdpa %q, %k, %v  heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[2, 2, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[2, 2, 4], f32>
  return %out : !model.tensor<[2, 2, 4], f32>
}
)mlir",
                  {{"q", fill({2, 2, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)}}),
              "out",
      reals({2, 2, 4}, {0.43639338397, 0.06206960478418, -0.4466327220869, -0.05129672459294, -0.06822649217893,
          -0.1352776844602, 0.1298008657162, -0.637494994547, -0.01773110401352, -0.09403195123683,
          -0.4522532644501, -0.05809715111491, 0.04308223749805, -0.05548545912499, 0.1189371197617,
          -0.649645087938}));
}

TEST(Attention, Softcap) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %out = attn.sdpa %q, %k, %v  heads 2 kv_heads 2 scale 0.5 softcap 0.75 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)}}),
              "out",
      reals({1, 3, 4}, {0.3661404020663, 0.06782074098598, -0.4182531262169, -0.08033021636473, -0.03997081878938,
          -0.05601545436865, 0.08824174215549, -0.5911204029192, 0.04623644089317, -0.0834663118941,
          -0.4251731739263, -0.08265276994687}));
}

TEST(Attention, Sinks) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %s: !model.tensor<[2], f32> {model.name = "s"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %c = mask.causal
  %out = attn.sdpa %q, %k, %v mask %c sinks %s : !model.tensor<[2], f32> heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"s", reals({2}, {0.5, -1})}}),
              "out",
      reals({1, 3, 4}, {-0.04313815886973, -0.4313815886973, 0.312146766784, -0.39018345848, 0.1206751236473, -0.6205050530163,
          0.1180540031244, -0.3030679953103, -0.009902769484029, -0.0525165684281, -0.398952781805,
          -0.05125008899698}));
}

TEST(Attention, RowsThatSeeNothingAreZero) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[2, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[2, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[2, 3, 4], f32> {model.name = "v"}, %t: !model.tensor<[2, 3], i64> {model.name = "t"}) -> (!model.tensor<[2, 3, 4], f32> {model.name = "out"}) {
  %m = mask.keys %t : !model.tensor<[2, 3], i64>
  %c = mask.causal
  %v0 = mask.and %m, %c
  %out = attn.sdpa %q, %k, %v mask %v0 heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[2, 3, 4], f32>, !model.tensor<[2, 3, 4], f32>, !model.tensor<[2, 3, 4], f32>) -> !model.tensor<[2, 3, 4], f32>
  return %out : !model.tensor<[2, 3, 4], f32>
}
)mlir",
                  {{"q", fill({2, 3, 4}, 1)},
                   {"k", fill({2, 3, 4}, 2)},
                   {"v", fill({2, 3, 4}, 3)},
                   {"t", ints({2, 3}, {0, 1, 1, 0, 0, 0})}}),
              "out",
      reals({2, 3, 4}, {0, 0, 0, 0, 1.125, 0, -1.125, 0.625, 0.06654834491766, 0.8141935808326, -0.7239733739692,
          0.10366538616, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Attention, RowsThatSeeNothingAreNaN) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[2, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[2, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[2, 3, 4], f32> {model.name = "v"}, %t: !model.tensor<[2, 3], i64> {model.name = "t"}) -> (!model.tensor<[2, 3, 4], f32> {model.name = "out"}) {
  %m = mask.keys %t : !model.tensor<[2, 3], i64>
  %c = mask.causal
  %v0 = mask.and %m, %c
  %out = attn.sdpa %q, %k, %v mask %v0 heads 2 kv_heads 2 scale 0.5 masked_rows nan : (!model.tensor<[2, 3, 4], f32>, !model.tensor<[2, 3, 4], f32>, !model.tensor<[2, 3, 4], f32>) -> !model.tensor<[2, 3, 4], f32>
  return %out : !model.tensor<[2, 3, 4], f32>
}
)mlir",
                  {{"q", fill({2, 3, 4}, 1)},
                   {"k", fill({2, 3, 4}, 2)},
                   {"v", fill({2, 3, 4}, 3)},
                   {"t", ints({2, 3}, {0, 1, 1, 0, 0, 0})}}),
              "out",
      reals({2, 3, 4}, {NAN, NAN, NAN, NAN, 1.125, 0, -1.125, 0.625, 0.06654834491766, 0.8141935808326, -0.7239733739692,
          0.10366538616, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}));
}

TEST(Attention, RowsThatSeeNothingAreTheMean) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[2, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[2, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[2, 3, 4], f32> {model.name = "v"}, %t: !model.tensor<[2, 3], i64> {model.name = "t"}) -> (!model.tensor<[2, 3, 4], f32> {model.name = "out"}) {
  %m = mask.keys %t : !model.tensor<[2, 3], i64>
  %c = mask.causal
  %v0 = mask.and %m, %c
  %out = attn.sdpa %q, %k, %v mask %v0 heads 2 kv_heads 2 scale 0.5 masked_rows mean : (!model.tensor<[2, 3, 4], f32>, !model.tensor<[2, 3, 4], f32>, !model.tensor<[2, 3, 4], f32>) -> !model.tensor<[2, 3, 4], f32>
  return %out : !model.tensor<[2, 3, 4], f32>
}
)mlir",
                  {{"q", fill({2, 3, 4}, 1)},
                   {"k", fill({2, 3, 4}, 2)},
                   {"v", fill({2, 3, 4}, 3)},
                   {"t", ints({2, 3}, {0, 1, 1, 0, 0, 0})}}),
              "out",
      reals({2, 3, 4}, {0.1666666666667, 0, -0.1666666666667, -0.3333333333333, 1.125, 0, -1.125, 0.625, 0.06654834491766,
          0.8141935808326, -0.7239733739692, 0.10366538616, 0.08333333333333, -0.08333333333333, 0.7083333333333,
          -0.4166666666667, 0.08333333333333, -0.08333333333333, 0.7083333333333, -0.4166666666667,
          0.08333333333333, -0.08333333333333, 0.7083333333333, -0.4166666666667}));
}

TEST(Attention, HiddenValuesNeverLeak) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %t: !model.tensor<[1, 3], i64> {model.name = "t"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %m = mask.keys %t : !model.tensor<[1, 3], i64>
  %out = attn.sdpa %q, %k, %v mask %m heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", reals({1, 3, 4}, {NAN, INFINITY, -INFINITY, NAN, 1.125, 0, -1.125, 0.625, -0.5, 1.25, 0.125, -1})},
                   {"t", ints({1, 3}, {0, 1, 1})}}),
              "out",
      reals({1, 3, 4}, {0.5869304231029, 0.4138996745362, -0.742878338947, 0.1282418406311, -0.01661134326721, 0.878162571744,
          -0.1466719013088, -0.6468265282985, 0.06654834491766, 0.8141935808326, -0.7239733739692, 0.10366538616}));
}

TEST(Attention, HiddenKeysNeverLeak) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %t: !model.tensor<[1, 3], i64> {model.name = "t"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %m = mask.keys %t : !model.tensor<[1, 3], i64>
  %out = attn.sdpa %q, %k, %v mask %m heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", reals({1, 3, 4}, {NAN, NAN, NAN, NAN, -0.25, -1.375, 0.375, -0.75, 1, -0.125, -1.25, 0.5})},
                   {"v", reals({1, 3, 4}, {NAN, INFINITY, -INFINITY, NAN, 1.125, 0, -1.125, 0.625, -0.5, 1.25, 0.125, -1})},
                   {"t", ints({1, 3}, {0, 1, 1})}}),
              "out",
      reals({1, 3, 4}, {0.5869304231029, 0.4138996745362, -0.742878338947, 0.1282418406311, -0.01661134326721, 0.878162571744,
          -0.1466719013088, -0.6468265282985, 0.06654834491766, 0.8141935808326, -0.7239733739692, 0.10366538616}));
}

TEST(Attention, SeenNaNStays) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %c = mask.causal
  %out = attn.sdpa %q, %k, %v mask %c heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", reals({1, 3, 4}, {-0.125, -1.25, 0.5, -0.625, 1.125, 0, -1.125, 0.625, NAN, NAN, NAN, NAN})}}),
              "out",
      reals({1, 3, 4}, {-0.125, -1.25, 0.5, -0.625, 0.1831666825122, -0.9418333174878, 0.133697999268, -0.3432292302062, NAN,
          NAN, NAN, NAN}));
}

TEST(Attention, KeyStart) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 2, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 4, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 4, 4], f32> {model.name = "v"}) -> (!model.tensor<[1, 2, 4], f32> {model.name = "out"}) {
  %c = mask.causal
  %out = attn.sdpa %q, %k, %v mask %c heads 2 kv_heads 2 scale 0.5 key_start "-2" : (!model.tensor<[1, 2, 4], f32>, !model.tensor<[1, 4, 4], f32>, !model.tensor<[1, 4, 4], f32>) -> !model.tensor<[1, 2, 4], f32>
  return %out : !model.tensor<[1, 2, 4], f32>
}
)mlir",
                  {{"q", fill({1, 2, 4}, 1)},
                   {"k", fill({1, 4, 4}, 2)},
                   {"v", fill({1, 4, 4}, 3)}}),
              "out",
      reals({1, 2, 4}, {0.43639338397, 0.06206960478418, -0.4466327220869, -0.05129672459294, 0.03483200360041,
          -0.1654715506824, 0.2734338702386, -0.5351229569702}));
}

TEST(Attention, PastShiftsPositions) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 2, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 5, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 5, 4], f32> {model.name = "v"}, %s: !model.tensor<[2], f32> {model.name = "s"}) -> (!model.tensor<[1, 2, 4], f32> {model.name = "out"}) {
  %w = mask.window left 2 right 0
  %a = attn.alibi %s : !model.tensor<[2], f32>
  %out = attn.sdpa %q, %k, %v mask %w bias %a heads 2 kv_heads 2 scale 0.5 past "3" : (!model.tensor<[1, 2, 4], f32>, !model.tensor<[1, 5, 4], f32>, !model.tensor<[1, 5, 4], f32>) -> !model.tensor<[1, 2, 4], f32>
  return %out : !model.tensor<[1, 2, 4], f32>
}
)mlir",
                  {{"q", reals({1, 2, 4}, {0.875, -0.25, -1.375, 0.375, -0.75, 1, -0.125, -1.25})},
                   {"k", fill({1, 5, 4}, 2)},
                   {"v", fill({1, 5, 4}, 3)},
                   {"s", reals({2}, {0.5, 0.25})}}),
              "out",
      reals({1, 2, 4}, {0.2288116150897, 0.4708549347796, 0.2804713499123, -0.4828713691623, 0.1597831243102, 0.1506673752563,
          0.6908739241826, -0.4341260758174}));
}

TEST(Biases, Alibi) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %s: !model.tensor<[2], f32> {model.name = "s"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %b = attn.alibi %s : !model.tensor<[2], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"s", reals({2}, {0.5, 0.25})}}),
              "out",
      reals({1, 3, 4}, {0.3333695030027, 0.347821160385, -0.4585802895989, -0.08335728182671, -0.1561464482002,
          0.3779292406547, 0.09530780362892, -0.6833104905958, -0.1075743111987, 0.3931892953557,
          -0.4579670194779, -0.09620264168607}));
}

TEST(Biases, AlibiSymmetric) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %s: !model.tensor<[2], f32> {model.name = "s"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %b = attn.alibi %s symmetric : !model.tensor<[2], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"s", reals({2}, {0.5, 0.25})}}),
              "out",
      reals({1, 3, 4}, {0.4549492201633, -0.2298991686135, -0.4125395720289, -0.04143486351322, 0.04131214385311,
          -0.1228591426842, 0.08697206317151, -0.5944035763687, -0.1075743111987, 0.3931892953557,
          -0.4579670194779, -0.09620264168607}));
}

TEST(Biases, BucketOneSided) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 12, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 12, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 12, 4], f32> {model.name = "v"}, %t: !model.tensor<[8, 2], f32> {model.name = "t"}) -> (!model.tensor<[1, 12, 4], f32> {model.name = "out"}) {
  %b = attn.bucket_bias %t max_distance 9 : !model.tensor<[8, 2], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 12, 4], f32>, !model.tensor<[1, 12, 4], f32>, !model.tensor<[1, 12, 4], f32>) -> !model.tensor<[1, 12, 4], f32>
  return %out : !model.tensor<[1, 12, 4], f32>
}
)mlir",
                  {{"q", fill({1, 12, 4}, 1)},
                   {"k", fill({1, 12, 4}, 2)},
                   {"v", fill({1, 12, 4}, 3)},
                   {"t", fill({8, 2}, 5)}}),
              "out",
      reals({1, 12, 4}, {0.06444480119135, 0.2438206407426, -0.2181197389177, -0.1091615163238, -0.1597562098824,
          0.09567854250598, 0.2551963942504, -0.4479702038902, 0.2094030882211, -0.324594847699,
          -0.2184867349045, -0.04327627320474, 0.05091192268163, 0.4276242367596, 0.2419359116906,
          -0.4870203755609, 0.2199534802465, -0.07948252884559, -0.1946722467721, -0.006973118047733,
          -0.0472436998453, 0.178188773359, -0.4349284290515, 0.02897967217204, 0.1324921912236,
          -0.2479134234582, 0.2859907378097, -0.6817062699568, 0.135694591412, 0.0494484849667, 0.3231306074426,
          -0.2059368826237, -0.2290274095261, -0.1048673275519, 0.354357512231, -0.4856549770219,
          0.4885868945495, -0.02784069678503, -0.07103503938352, 0.1932401250502, 0.00718019783541,
          0.1816271002148, 0.1674351807356, -0.325103558568, 0.3024066260406, -0.1376614566721,
          -0.07344255175149, 0.02468688523481}));
}

TEST(Biases, BucketTwoSided) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 12, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 12, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 12, 4], f32> {model.name = "v"}, %t: !model.tensor<[8, 2], f32> {model.name = "t"}) -> (!model.tensor<[1, 12, 4], f32> {model.name = "out"}) {
  %b = attn.bucket_bias %t max_distance 9 two_sided : !model.tensor<[8, 2], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 12, 4], f32>, !model.tensor<[1, 12, 4], f32>, !model.tensor<[1, 12, 4], f32>) -> !model.tensor<[1, 12, 4], f32>
  return %out : !model.tensor<[1, 12, 4], f32>
}
)mlir",
                  {{"q", fill({1, 12, 4}, 1)},
                   {"k", fill({1, 12, 4}, 2)},
                   {"v", fill({1, 12, 4}, 3)},
                   {"t", fill({8, 2}, 5)}}),
              "out",
      reals({1, 12, 4}, {-0.01582241127214, 0.307114644221, -0.2714799972169, -0.06764117190534, -0.2025165906069,
          0.4055920535806, 0.1771292831083, -0.3845110507253, 0.2392321576546, -0.2088380385451,
          -0.3784901222738, -0.07250304955553, -0.02532269701348, 0.2978491428753, 0.08737914900578,
          -0.4115840284413, 0.263866336901, -0.09198528918308, -0.3808601204097, -0.006003766429747,
          0.04370341018614, 0.4575450698922, -0.2206055460578, -0.3297581736279, 0.247013496043,
          -0.05148315233647, 0.1890188270446, -0.514248528091, -0.1759184635539, 0.3837106610923,
          -0.1842863073481, -0.1996094162545, -0.4122931058852, 0.4683013109693, 0.2717027182232,
          -0.4477392493875, -0.1126001047202, 0.1150029555728, -0.02290944806254, -0.1338198902945,
          -0.1669268717734, 0.383424149514, 0.3236590071217, -0.4338222990119, 0.2789024581893, -0.2638847030535,
          -0.04272212648643, 0.03756133405482}));
}

TEST(Biases, RelativeDot_query) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %x: !model.tensor<[1, 3, 4], f32> {model.name = "x"}, %r: !model.tensor<[4, 2], f32> {model.name = "r"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %b = attn.relative_dot %x, %r heads 2 zero "1" : !model.tensor<[1, 3, 4], f32>, !model.tensor<[4, 2], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"x", fill({1, 3, 4}, 6)},
                   {"r", fill({4, 2}, 7)}}),
              "out",
      reals({1, 3, 4}, {0.3367899883454, -0.1707200782864, -0.6974186443167, 0.100691160098, -0.4420404384755, 1.024301248355,
          -0.02597547907213, -0.2901378816268, 0.1228162056647, 0.5111620688617, -0.9154779589854, 0.3687143811617}));
}

TEST(Biases, RelativeDot_key) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %x: !model.tensor<[1, 3, 4], f32> {model.name = "x"}, %r: !model.tensor<[4, 2], f32> {model.name = "r"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %b = attn.relative_dot %x, %r heads 2 zero "1" key_side : !model.tensor<[1, 3, 4], f32>, !model.tensor<[4, 2], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"x", fill({1, 3, 4}, 6)},
                   {"r", fill({4, 2}, 7)}}),
              "out",
      reals({1, 3, 4}, {0.9878105792513, -0.05145085786571, -0.1565231237233, -0.4240701140841, -0.1281120687561,
          -0.9322806559374, -0.2809969098242, -0.328803515936, -0.2678149979479, 0.8113777618116,
          -0.06664139010783, -0.2687085051111}));
}

TEST(Biases, RelativeDotPerHead) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %x: !model.tensor<[1, 3, 4], f32> {model.name = "x"}, %r: !model.tensor<[5, 4], f32> {model.name = "r"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %b = attn.relative_dot %x, %r heads 2 zero "2" : !model.tensor<[1, 3, 4], f32>, !model.tensor<[5, 4], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"x", fill({1, 3, 4}, 6)},
                   {"r", fill({5, 4}, 7)}}),
              "out",
      reals({1, 3, 4}, {0.8908249475627, 0.05996715706054, -1.026618517384, 0.5292788896203, 0.6890986362136,
          0.004434947682064, -0.1717799239991, -0.2541777880071, 0.4816429812314, -0.01314968752377,
          -0.96713275817, 0.4669718068309}));
}

TEST(Biases, RelativeDotBuckets) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 12, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 12, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 12, 4], f32> {model.name = "v"}, %x: !model.tensor<[1, 12, 4], f32> {model.name = "x"}, %r: !model.tensor<[8, 2], f32> {model.name = "r"}) -> (!model.tensor<[1, 12, 4], f32> {model.name = "out"}) {
  %b = attn.relative_dot %x, %r heads 2 zero "4" key_side bucket [8, 16] : !model.tensor<[1, 12, 4], f32>, !model.tensor<[8, 2], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 12, 4], f32>, !model.tensor<[1, 12, 4], f32>, !model.tensor<[1, 12, 4], f32>) -> !model.tensor<[1, 12, 4], f32>
  return %out : !model.tensor<[1, 12, 4], f32>
}
)mlir",
                  {{"q", fill({1, 12, 4}, 1)},
                   {"k", fill({1, 12, 4}, 2)},
                   {"v", fill({1, 12, 4}, 3)},
                   {"x", fill({1, 12, 4}, 6)},
                   {"r", fill({8, 2}, 7)}}),
              "out",
      reals({1, 12, 4}, {0.8627202675874, 0.09350863698233, 0.5267594855642, -0.3205748189785, 0.5233766559378,
          0.03375631443033, 0.6328378024335, -0.4241720123049, 0.6784471593133, -0.2686586272791,
          -0.2076704612596, -0.2205776689361, 0.3057576333836, -0.08894004403196, 0.2785019844561,
          -0.4947469673224, 0.5026054263476, -0.4208010328127, 0.6233047605641, 0.09824247986163,
          -0.06820282535341, -0.08753986785285, 0.09340769497532, -0.2410625865283, 0.4399149959863,
          -0.1318237411326, 0.2892389555913, -0.6303788938381, -0.1881243504302, 0.31602103615, -0.3110054255809,
          -0.3000855964367, -0.162536160216, 0.02740211894116, 0.132305592401, -0.7627281575654,
          -0.1815812122593, 0.1501120014789, -0.3034981464118, -0.2943337970769, -0.1317696620138,
          -0.04609516184158, 0.03955838401219, -0.6321211761493, -0.06140978470801, -0.4396141955952,
          -0.631619839415, 0.01000509177737}));
}

TEST(Biases, Dense) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %t: !model.tensor<[1, 2, 1, 3], f32> {model.name = "t"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %b = attn.dense_bias %t : !model.tensor<[1, 2, 1, 3], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"t", fill({1, 2, 1, 3}, 6)}}),
              "out",
      reals({1, 3, 4}, {0.37164257244, -0.5604770508819, -0.02318208835606, -0.5640794057487, -0.03891561352184,
          -0.9667586284901, 0.2091640221898, -0.826847227503, -0.005374100384526, -0.9263737816435,
          -0.02756509894799, -0.5789850515687}));
}

TEST(Biases, MinusInfinityIsNotSeen) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %t: !model.tensor<[3, 3], f32> {model.name = "t"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %b = attn.dense_bias %t : !model.tensor<[3, 3], f32>
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"t", reals({3, 3}, {-INFINITY, -INFINITY, -INFINITY, 0.625, -0.5, -INFINITY, 0.125, -1, 0.75})}}),
              "out",
      reals({1, 3, 4}, {0, 0, 0, 0, -0.004968139015258, -1.129968139015, 0.3597243505473, -0.5170956542672, -0.2738108311729,
          0.2547585920797, -0.02756509894799, -0.5789850515687}));
}

TEST(Biases, SumAndScale) {
  expectClose(run(R"mlir(
func.func @run(%q: !model.tensor<[1, 3, 4], f32> {model.name = "q"}, %k: !model.tensor<[1, 3, 4], f32> {model.name = "k"}, %v: !model.tensor<[1, 3, 4], f32> {model.name = "v"}, %s: !model.tensor<[2], f32> {model.name = "s"}, %t: !model.tensor<[3, 3], f32> {model.name = "t"}) -> (!model.tensor<[1, 3, 4], f32> {model.name = "out"}) {
  %a = attn.alibi %s : !model.tensor<[2], f32>
  %d = attn.dense_bias %t : !model.tensor<[3, 3], f32>
  %n = attn.bias_scale %a by -0.5
  %b = attn.bias_add %n, %d
  %out = attn.sdpa %q, %k, %v bias %b heads 2 kv_heads 2 scale 0.5 : (!model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>, !model.tensor<[1, 3, 4], f32>) -> !model.tensor<[1, 3, 4], f32>
  return %out : !model.tensor<[1, 3, 4], f32>
}
)mlir",
                  {{"q", fill({1, 3, 4}, 1)},
                   {"k", fill({1, 3, 4}, 2)},
                   {"v", fill({1, 3, 4}, 3)},
                   {"s", reals({2}, {0.5, 0.25})},
                   {"t", fill({3, 3}, 6)}}),
              "out",
      reals({1, 3, 4}, {0.3188161380695, -0.6734339445298, -0.1195173796399, -0.1794529380336, -0.239866620867,
          -0.07938457831216, 0.2288181118768, -0.8042751517871, -0.2283499496627, -0.03691426401987,
          -0.0188969787184, -0.5529749811377}));
}

TEST(Biases, AlibiSlopes) {
  expectClose(run(R"mlir(
func.func @run(%x: !model.tensor<[1], f32> {model.name = "x"}) -> (!model.tensor<[6], f32> {model.name = "out"}) {
  %out = attn.alibi_slopes 6 : !model.tensor<[6], f32>
  return %out : !model.tensor<[6], f32>
}
)mlir",
                  {{"x", fill({1}, 1)}}),
              "out",
      reals({6}, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125}));
}
