//===- CursorTest.cpp - cursor, walk, hull and predicate against the formula ===//
//
// Random masks, sizes and tiles, as written (leaves scan) and as the compiler makes them
// (mask-simplify, mask-build-tables, tables filled by their own code); strided views; the
// the typical masks, which must be tight. What must hold: CursorCheck.h.
//
//===----------------------------------------------------------------------===//

#include "test/Mask/CursorCheck.h"
#include "test/Mask/TypicalMasks.h"
#include <gtest/gtest.h>

using namespace heddle::test;

using Random = std::mt19937_64;
static int64_t below(Random &random, int64_t n) { return int64_t(random() % uint64_t(n)); }
static int64_t floorMod(int64_t x, int64_t n) { return (x % n + n) % n; }

/// Some rows of the view; false where it has none.
static bool drawTile(Random &random, const CursorCase &c, const MaskSizes &n, int64_t stride, CursorProgram::Tile &t) {
  t = {n};
  t.batch = below(random, n.B);
  t.head = below(random, c.spec.heads);
  t.stride = stride;
  t.offset = below(random, std::min(stride, n.S));
  int64_t start = floorMod(n.K + t.offset - n.P, stride), rows = (n.T - start + stride - 1) / stride;
  if (rows <= 0)
    return false;
  int64_t row = below(random, rows), counts[] = {1, 2, 5, 16, 32, 64};
  int64_t many = below(random, 3) ? counts[below(random, 6)] : 1 + below(random, 70);
  t.first = start + row * stride;
  t.last = start + std::min(rows - 1, row + many - 1) * stride;
  return true;
}

/// Long in one direction only: a formula takes its time.
static MaskSizes drawSizes(Random &random, const MaskSpec &spec, int64_t most) {
  MaskSizes n = spec.sizes(random, most);
  if (most <= 600)
    return n;
  n.T = std::min<int64_t>(n.T, spec.grid == MaskSpec::Square ? 300 : 60);
  if (spec.grid == MaskSpec::Cached || spec.grid == MaskSpec::Square)
    n.S = n.P + n.T;
  return n;
}

static CursorCase drawShape(Random &random, MaskSpec spec) {
  const int64_t tiles[] = {1, 2, 3, 7, 8, 16, 32, 48, 100, 128}, lanes[] = {1, 8, 16};
  CursorCase c{std::move(spec), tiles[below(random, 10)], lanes[below(random, 3)]};
  c.built = below(random, 4) > 0;
  return c;
}

/// Batches of masks that `draw` makes. Calls cost little beside compiling: five tiles in each of
/// five of them.
static void runBatches(const char *name, int64_t expressions,
                       const std::function<CursorCase(Random &, int64_t most)> &draw,
                       const std::function<std::string(const CursorCase &, const CursorProgram::Known &)> &examine,
                       int64_t longest = 0) {
  const int64_t perBatch = 32;
  Campaign run(name, (expressions + perBatch - 1) / perBatch);
  Totals totals;
  std::vector<std::string> messages = run.run([&](int64_t batch) {
    Random random(mix(campaign.seed, batch));
    // Where all is short and known to be, bounds are decided by the lengths; long ones leave a
    // word of bits.
    int64_t most = longest ? longest : batch % 4 == 3 ? 60 : batch % 16 == 6 ? 3000 : 600;
    std::vector<CursorCase> cases;
    for (int64_t i = 0; i < perBatch; ++i)
      cases.push_back(draw(random, most));
    std::string where = "--seed=" + std::to_string(campaign.seed) + " --batch=" + std::to_string(batch);
    auto program = CursorProgram::compile(cases, JitLevel::Quick, CursorProgram::Parts::All, {batch % 2 ? most : 0});
    if (!program)
      return run.fail(where + " does not compile");
    for (int64_t i = 0; i < perBatch; ++i) {
      const CursorCase &c = cases[i];
      const CursorProgram::Known &known = program->known(int(i));
      if (std::string what = examine(c, known); !what.empty())
        run.fail(where + "\n  " + c.spec.str() + "\n  " + what);
      Check check(run, totals, *program, int(i), c, where);
      bool good = true;
      for (int call = 0; good && call < 5; ++call) {
        MaskSizes n = drawSizes(random, c.spec, most);
        MaskSpec::Data data = c.spec.make(n, random());
        CursorProgram::Memory memory = program->memory(int(i), c.spec, n, data, 1 + call % 2);
        for (int tile = 0; good && tile < 5; ++tile) {
          CursorProgram::Tile t;
          if (!drawTile(random, c, n, known.stride, t))
            continue;
          if (below(random, 3) == 0) // the grid of key tiles may begin anywhere before the first visible key
            t.anchor = below(random, Truth(c.spec, data, t).firstSeen() + 1);
          good = check.tile(t, data, memory);
        }
      }
      ++totals.expressions;
      totals.built += c.built;
      totals.tables += known.tables;
      totals.strided += known.stride > 1;
      totals.proved += known.everyRowSees;
    }
  });
  for (const std::string &m : messages)
    ADD_FAILURE() << m;
  std::printf("%s\n", totals.str().c_str());
}

TEST(Cursor, RandomExpressions) {
  runBatches(
      "Cursor", campaign.expressions ? campaign.expressions : 320,
      [](Random &random, int64_t most) { return drawShape(random, MaskSpec::draw(random, 4, most)); },
      [](const CursorCase &, const CursorProgram::Known &) { return ""; });
}

/// Rows of a tensor that are all the same for longer than a word of its table reaches.
TEST(Cursor, StretchesPastAWord) {
  runBatches(
      "Stretches", 32,
      [](Random &random, int64_t) {
        MaskSpec spec;
        int64_t from = 1020 + below(random, 250), odd = 1 + below(random, 60);
        bool ones = below(random, 2);
        spec.root = spec.reads(MaskSpec::Dense, {{"T", "S"}, "i64", [=](const MaskSizes &n, uint64_t, int64_t i) {
                                                   int64_t row = i / n.S, key = i % n.S;
                                                   return double((key >= from || (row % odd == 1 && key < 40)) != ones);
                                                 }});
        CursorCase c = drawShape(random, spec);
        c.built = true;
        return c;
      },
      [](const CursorCase &, const CursorProgram::Known &) { return ""; }, 3000);
}

//===-- strided views ------------------------------------------------------------------===//

/// A conjunction of residues, bands and sets of keys and rows in any order; `step`: what its strided view steps by,
/// 1 where it has none (residues that do not divide each other, or something else).
static MaskSpec drawDilated(Random &random, int64_t most, int64_t &step) {
  MaskSpec spec;
  const MaskSpec::Grid grids[] = {MaskSpec::Free, MaskSpec::Free, MaskSpec::FromZero, MaskSpec::Cached,
                                  MaskSpec::Square};
  spec.grid = grids[below(random, 5)];
  step = 1 + below(random, 9);
  std::vector<MaskSpec::Node> operands(1, {MaskSpec::Dilated});
  operands[0].step = step;
  if (below(random, 4) == 0) { // another residue that divides it, or is divided by it
    MaskSpec::Node more{MaskSpec::Dilated};
    int64_t factor = 1 + below(random, 3);
    more.step = below(random, 2) && step % factor == 0 ? step / factor : step * factor;
    step = std::max(step, more.step);
    operands.push_back(more);
  }
  if (below(random, 8) == 0) {
    MaskSpec::Node more{MaskSpec::Dilated};
    more.step = step + 1 + below(random, 3);
    step = more.step % step ? 1 : more.step;
    operands.push_back(more);
  } else if (below(random, 8) == 0) {
    operands.push_back(spec.reads(MaskSpec::Dense, {{"T", "S"}, "i64", [](const MaskSizes &, uint64_t seed, int64_t i) {
                                                      return double(mix(seed, i) % 2);
                                                    }}));
    step = 1;
  }
  for (int64_t sets = below(random, 3); sets > 0; --sets) {
    bool keys = below(random, 2);
    MaskTensor bits{{keys ? "S" : "T"}, "i64", [](const MaskSizes &, uint64_t seed, int64_t i) {
                      return double(mix(seed, i / 7) % 3 != 0);
                    }};
    MaskSpec::Node set = spec.reads(keys ? MaskSpec::Keys : MaskSpec::Queries, bits), hidden{MaskSpec::Not};
    hidden.of = {set};
    operands.push_back(below(random, 3) ? set : hidden);
  }
  auto side = [&]() -> std::optional<int64_t> {
    if (below(random, 4) == 0)
      return std::nullopt;
    return below(random, 4) == 0 ? below(random, 60) - 30 : below(random, most / 3);
  };
  for (int64_t bands = below(random, 4); bands > 0; --bands) {
    int64_t which = below(random, 6);
    if (which == 0)
      operands.push_back({MaskSpec::Causal});
    else if (which == 1)
      operands.push_back(spec.reads(MaskSpec::Prefix, {{"B"}, "i64", [](const MaskSizes &n, uint64_t seed, int64_t i) {
                                                         return double(
                                                             int64_t(mix(seed, i) % uint64_t(n.S + n.P + 20)) - 5);
                                                       }}));
    else if (MaskSpec::Node window{MaskSpec::Window, side(), side(), 1, -1, -1, {}}; window.left || window.right)
      operands.push_back(window);
  }
  std::shuffle(operands.begin(), operands.end(), random);
  spec.root = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    MaskSpec::Node both{MaskSpec::And};
    both.of = {spec.root, operands[i]};
    spec.root = both;
  }
  return spec;
}

/// Every class of rows and keys alone, in positions of its own view, sees what it saw.
TEST(Cursor, StridedViews) {
  runBatches(
      "Strided", campaign.expressions ? campaign.expressions / 4 : 80,
      [](Random &random, int64_t most) {
        int64_t step = 1;
        CursorCase c = drawShape(random, drawDilated(random, most, step));
        c.strided = true;
        c.step = step;
        return c;
      },
      [](const CursorCase &c, const CursorProgram::Known &known) -> std::string {
        // What mask-simplify finds to be all or nothing has no residue left.
        return known.stride == c.step || (c.built && known.stride == 1)
                   ? ""
                   : "its view steps by " + std::to_string(known.stride);
      });
}

//===-- typical masks --------------------------------------------------------------------===//

TEST(Cursor, TightForTypicalMasks) {
  const int64_t length = 500, rows = 32, keys = 32;
  std::vector<TypicalMask> masks = typicalMasks();
  ASSERT_EQ(masks.size(), 27u);
  std::vector<CursorCase> cases;
  for (TypicalMask &m : masks)
    cases.push_back({m.spec, keys, 16, /*built=*/true});
  auto program = CursorProgram::compile(cases, JitLevel::Quick);
  ASSERT_TRUE(program);
  Campaign run("Tight", 1);
  for (size_t i = 0; i < masks.size(); ++i) {
    Totals totals;
    MaskSizes n{1, length, length, 0, 0};
    MaskSpec::Data data = cases[i].spec.make(n, 0);
    CursorProgram::Memory memory = program->memory(int(i), cases[i].spec, n, data);
    Check check(run, totals, *program, int(i), cases[i], masks[i].name);
    for (int64_t first = 0; first < length; first += rows) {
      CursorProgram::Tile t{n, 0, 0, first, std::min(first + rows, length) - 1};
      EXPECT_TRUE(check.tile(t, data, memory)) << masks[i].name;
    }
    EXPECT_EQ(totals.empty, 0) << masks[i].name << ": of " << totals.keyTiles << " tiles visited";
    EXPECT_EQ(totals.full, 0) << masks[i].name << ": partial and truly full, of " << totals.keyTiles
                              << " tiles visited";
  }
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!campaign.parse(argc, argv)) {
    std::fprintf(stderr,
                 "usage: %s [--expressions=N] [--seed=N] [--batch=N] [--threads=N] [--limit=N] [--failures=N]\n",
                 argv[0]);
    return 2;
  }
  return RUN_ALL_TESTS();
}
