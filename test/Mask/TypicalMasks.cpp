//===- TypicalMasks.cpp - the masks of real models ------------------------===//

#include "test/Mask/TypicalMasks.h"
#include <algorithm>

using namespace heddle::test;
using M = MaskSpec;
using Node = M::Node;
using Sizes = const MaskSizes &;

static Node both(Node a, Node b) {
  Node n{M::And};
  n.of = {std::move(a), std::move(b)};
  return n;
}
static Node either(Node a, Node b) {
  Node n{M::Or};
  n.of = {std::move(a), std::move(b)};
  return n;
}
static Node inverse(Node a) {
  Node n{M::Not};
  n.of = {std::move(a)};
  return n;
}
static Node window(std::optional<int64_t> left, std::optional<int64_t> right) { return {M::Window, left, right}; }

/// A tensor whose element is f(sizes, index along the last axis).
static MaskTensor tensor(std::vector<std::string> axes, const char *element, std::function<double(Sizes, int64_t)> f) {
  return {std::move(axes), element, [f](Sizes n, uint64_t, int64_t i) { return f(n, i); }};
}
static Node length(M &m, std::function<int64_t(int64_t)> f) {
  return m.reads(M::Prefix, tensor({"B"}, "i64", [f](Sizes n, int64_t) { return double(f(n.S)); }));
}
static Node keys(M &m, std::function<bool(int64_t k, int64_t all)> f) {
  return m.reads(M::Keys, tensor({"B", "S"}, "i64", [f](Sizes n, int64_t i) { return f(i, n.S); }));
}
static Node rows(M &m, std::function<bool(int64_t i, int64_t all)> f) {
  return m.reads(M::Queries, tensor({"B", "T"}, "i64", [f](Sizes n, int64_t i) { return f(i, n.T); }));
}
/// Documents by a function of the position.
static Node documents(M &m, std::function<int64_t(int64_t)> id) {
  auto of = [id](Sizes, int64_t i) { return double(id(i)); };
  return m.document(tensor({"B", "T"}, "i64", of), tensor({"B", "S"}, "i64", of));
}

/// Five documents that end at uneven places.
static int64_t fiveSorted(int64_t i) { return (i >= 97) + (i >= 204) + (i >= 295) + (i >= 411); }

/// The first and last block, three around the own one, two by chance; the first and last
/// block of rows see all.
static MaskTensor bigBird(int64_t blocks) {
  std::vector<double> lists;
  for (int64_t q = 0; q < blocks; ++q) {
    std::vector<int64_t> seen;
    auto see = [&](int64_t k) {
      if (k >= 0 && k < blocks && std::find(seen.begin(), seen.end(), k) == seen.end())
        seen.push_back(k);
    };
    for (int64_t k = 0; (q == 0 || q == blocks - 1) && k < blocks; ++k)
      see(k);
    for (int64_t k : {int64_t(0), blocks - 1, q - 1, q, q + 1})
      see(k);
    see(int64_t(mix(3, q) % uint64_t(blocks)));
    see(int64_t(mix(4, q) % uint64_t(blocks)));
    seen.resize(blocks, -1);
    lists.insert(lists.end(), seen.begin(), seen.end());
  }
  // A row of a tensor is known by its seed; calls of these masks have seed 0.
  std::string n = std::to_string(blocks);
  return {{n, n}, "i64", [lists, blocks](Sizes, uint64_t seed, int64_t i) {
            for (int64_t q = 0; q < blocks; ++q)
              if (mix(0, q) == seed)
                return lists[q * blocks + i];
            return -1.0;
          }};
}

std::vector<TypicalMask> heddle::test::typicalMasks() {
  std::vector<TypicalMask> all;
  auto add = [&](const char *name, const std::function<Node(M &)> &make) {
    TypicalMask t{name, {}};
    t.spec.root = make(t.spec);
    all.push_back(std::move(t));
  };
  Node causal{M::Causal};
  add("causal", [&](M &) { return causal; });
  add("window 64, causal", [&](M &) { return window(64, 0); });
  add("causal, window, length",
      [&](M &m) { return both(both(causal, window(100, 5)), length(m, [](int64_t n) { return n * 4 / 5 + 3; })); });
  add("left padding, causal",
      [&](M &m) { return both(keys(m, [](int64_t k, int64_t n) { return k >= n / 5; }), causal); });
  add("prefix LM", [&](M &m) { return either(causal, length(m, [](int64_t n) { return n / 4 + 1; })); });
  add("chunk 48, causal", [&](M &m) {
    Node labels{M::Labels, 0, 0};
    auto chunk = [](Sizes, int64_t i) { return double(i / 48); };
    m.tensors = {tensor({"T"}, "i64", chunk), tensor({"S"}, "i64", chunk)};
    labels.first = 0;
    labels.second = 1;
    return both(labels, causal);
  });
  add("chunk 48 of positions, causal", [&](M &) { return both({M::Chunk, {}, {}, 48}, causal); });
  add("chunk 48 of positions, window, length", [&](M &m) {
    return both(both({M::Chunk, {}, {}, 48}, window(40, 0)), length(m, [](int64_t n) { return n * 4 / 5; }));
  });
  add("neighbours 3 x 3 in 20 columns", [&](M &) { return M::picture(20, 3, 3); });
  add("neighbours 2 x 5 in 50 columns", [&](M &) { return M::picture(50, 2, 5); });
  add("neighbours 1 x 6 in 150 columns", [&](M &) { return M::picture(150, 1, 6); });
  add("windows 5 x 7 in 23 columns", [&](M &) { return M::windows(23, 5, 7, 0); });
  add("windows 4 x 4 shifted by 2 in 40 columns", [&](M &) { return M::windows(40, 4, 4, 2); });
  add("StreamingLLM", [&](M &m) { return both(causal, either(window(64, 0), length(m, [](int64_t) { return 4; }))); });
  add("Longformer, 3 globals", [&](M &m) {
    auto global = [](int64_t i, int64_t n) { return i == 0 || i == 1 || i == n / 2; };
    return either(either(window(32, 32), keys(m, global)), rows(m, global));
  });
  add("BigBird, blocks of 16", [&](M &m) { return m.blocks(16, bigBird(32)); });
  add("document, sorted", [&](M &m) { return documents(m, fiveSorted); });
  add("document, sorted, causal", [&](M &m) { return both(causal, documents(m, fiveSorted)); });
  add("document, descending", [&](M &m) { return documents(m, [](int64_t i) { return 9 - fiveSorted(i); }); });
  add("document, shuffled, causal",
      [&](M &m) { return both(causal, documents(m, [](int64_t i) { return int64_t(mix(5, i) % 5); })); });
  add("causal, not document", [&](M &m) { return both(causal, inverse(documents(m, fiveSorted))); });
  add("key mask, one run, causal",
      [&](M &m) { return both(keys(m, [](int64_t k, int64_t n) { return k > n / 6; }), causal); });
  add("key mask with holes, causal",
      [&](M &m) { return both(keys(m, [](int64_t k, int64_t) { return k % 23 != 7; }), causal); });
  add("dilated 8 x 4", [&](M &) {
    Node step{M::Dilated};
    step.step = 4;
    return both(window(32, 32), step);
  });
  add("strided sparse 16", [&](M &m) {
    return both(causal, either(window(15, 0), keys(m, [](int64_t k, int64_t) { return k % 16 == 15; })));
  });
  add("dense, random", [&](M &m) {
    return m.reads(M::Dense,
                   {{"T", "S"}, "i1", [](Sizes, uint64_t seed, int64_t k) { return double(mix(seed, k) % 10 < 3); }});
  });
  add("dense, blocks of 8", [&](M &m) {
    return m.reads(M::Dense, {{"T", "S"}, "i1", [](Sizes n, uint64_t seed, int64_t k) {
                                int64_t row = 0;
                                while (row < n.T && mix(0, row) != seed)
                                  ++row;
                                return double(mix(row / 8 + 100, k / 8) % 10 == 0);
                              }});
  });
  return all;
}

std::vector<TypicalMask> heddle::test::costlyMasks() {
  std::vector<TypicalMask> all;
  auto add = [&](const char *name, const std::function<Node(M &)> &make) {
    TypicalMask t{name, {}};
    t.spec.root = make(t.spec);
    all.push_back(std::move(t));
  };
  Node causal{M::Causal};
  add("none", [&](M &) { return Node{M::All}; });
  add("causal", [&](M &) { return causal; });
  add("window 1024, causal", [&](M &) { return window(1024, 0); });
  add("window, causal, length",
      [&](M &m) { return both(both(causal, window(1024, 5)), length(m, [](int64_t n) { return n * 4 / 5 + 3; })); });
  add("prefix LM", [&](M &m) { return either(causal, length(m, [](int64_t n) { return n / 8; })); });
  add("StreamingLLM",
      [&](M &m) { return both(causal, either(window(1024, 0), length(m, [](int64_t) { return 4; }))); });
  add("Longformer, 6 globals", [&](M &m) {
    auto global = [](int64_t i, int64_t n) { return i < 3 || i == 5 || i == n / 2 || i == n - 9; };
    return either(either(window(256, 256), keys(m, global)), rows(m, global));
  });
  add("BigBird, blocks of 512", [&](M &m) { return m.blocks(512, bigBird(128)); });
  add("document, sorted, causal", [&](M &m) {
    return both(causal, documents(m, [](int64_t i) { return (i + int64_t(mix(1, i / 700) % 300)) / 700; }));
  });
  add("key mask, causal", [&](M &m) { return both(causal, keys(m, [](int64_t k, int64_t n) { return k > n / 9; })); });
  add("key mask with holes, causal",
      [&](M &m) { return both(causal, keys(m, [](int64_t k, int64_t) { return mix(7, k / 3000) % 4 != 0; })); });
  add("chunk 8192, causal", [&](M &) { return both({M::Chunk, {}, {}, 8192}, causal); });
  add("neighbours 6 x 6 in 256 columns", [&](M &) { return M::picture(256, 6, 6); });
  add("windows 8 x 8 shifted by 4 in 256 columns", [&](M &) { return M::windows(256, 8, 8, 4); });
  add("dilated 64 x 4", [&](M &) {
    Node step{M::Dilated};
    step.step = 4;
    return both(window(256, 256), step);
  });
  return all;
}
