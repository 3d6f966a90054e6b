//===- CursorTest.cpp - cursor, walk, hull and predicate against the formula ===//
//
// For random masks, sizes and tiles:
//   cursor     end > key; `all` only where every row sees every key up to the end, not `any`
//              only where none does
//   hull       nothing is visible outside
//   walk       runs ascend, tiles are whole or lie in one, every visible key is in one run;
//              need = 0 only where every row sees every key, and the operands of the root that
//              need names say for each pair of the run whether it is seen
//   predicate  of scalars and of vectors, and counts: equal to the formula
//
//===----------------------------------------------------------------------===//

#include "test/Mask/Campaign.h"
#include "test/Mask/CursorProgram.h"
#include "test/Mask/TypicalMasks.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace heddle::test;

namespace {
struct Totals {
  std::atomic<int64_t> expressions{0}, tiles{0}, pairs{0}, runs{0}, keyTiles{0}, empty{0}, full{0};
};

/// What the rows of one query tile see, by the formula.
struct Truth {
  int64_t rows, keys;
  std::vector<int32_t> counts;
  std::vector<int64_t> seen; ///< by key: how many rows see it
  int64_t firstSeen() const { return std::find_if(seen.begin(), seen.end(), [](int64_t n) { return n > 0; }) - seen.begin(); }
  Truth(const MaskSpec &spec, const MaskSpec::Data &data, const CursorProgram::Tile &t)
      : rows(t.last - t.first + 1), keys(t.n.S), seen(t.n.S, 0) {
    for (int64_t r = 0; r < rows; ++r) {
      MaskSpec::Row row = spec.row(t.n, data, t.batch, t.head, t.first + r);
      for (int64_t k = 0; k < keys; ++k)
        seen[k] += row[k] > 0;
      counts.insert(counts.end(), row.begin(), row.end());
    }
  }
};

class Check {
public:
  Check(Campaign &campaign, Totals &totals, const CursorProgram &program, int index, const CursorCase &test, std::string where)
      : campaign(campaign), totals(totals), program(program), index(index), test(test), where(std::move(where)) {}

  /// False after a failure.
  bool tile(const CursorProgram::Tile &t, const Truth &truth, CursorProgram::Memory &memory);

private:
  Campaign &campaign;
  Totals &totals;
  const CursorProgram &program;
  int index;
  const CursorCase &test;
  std::string where;

  std::string at(const CursorProgram::Tile &t) const {
    return where + "\n  " + test.spec.str() + "\n  " + t.n.str() + "batch " + std::to_string(t.batch) + " head " + std::to_string(t.head) +
           " rows " + std::to_string(t.first) + ".." + std::to_string(t.last) + " anchor " + std::to_string(t.anchor) + " tile " +
           std::to_string(test.tile) + " lanes " + std::to_string(test.lanes);
  }
  std::string cursor(const Truth &truth, const std::vector<CursorProgram::Segment> &segments) const;
  std::string walk(const CursorProgram::Tile &t, const Truth &truth, const std::vector<CursorProgram::Run> &runs) const;
  std::string elements(const Truth &truth, const std::vector<int32_t> &got) const;
  std::string needed(const Truth &truth, const std::vector<CursorProgram::Run> &runs, const CursorProgram::Operands &operands) const;
};
} // namespace

static std::string number(int64_t v) { return std::to_string(v); }

std::string Check::cursor(const Truth &truth, const std::vector<CursorProgram::Segment> &segments) const {
  // The first key from k on that some row sees, and that some row does not see.
  std::vector<int64_t> nextSeen(truth.keys + 1, truth.keys), nextHidden(truth.keys + 1, truth.keys);
  for (int64_t k = truth.keys - 1; k >= 0; --k) {
    nextSeen[k] = truth.seen[k] ? k : nextSeen[k + 1];
    nextHidden[k] = truth.seen[k] < truth.rows ? k : nextHidden[k + 1];
  }
  for (int64_t k = 0; k < truth.keys; ++k) {
    const CursorProgram::Segment &s = segments[k];
    std::string said = "segment(" + number(k) + ") = any " + number(s.any) + " all " + number(s.all) + " end " + number(s.end);
    if (s.end <= k)
      return said + " does not move on";
    int64_t end = std::min(s.end, truth.keys);
    if (s.all && !s.any)
      return said + ": all without any";
    if (!s.any && nextSeen[k] < end)
      return said + ", but key " + number(nextSeen[k]) + " is seen";
    if (s.all && nextHidden[k] < end)
      return said + ", but key " + number(nextHidden[k]) + " is not seen by every row";
  }
  return "";
}

std::string Check::walk(const CursorProgram::Tile &t, const Truth &truth, const std::vector<CursorProgram::Run> &runs) const {
  int64_t before = t.anchor, width = test.tile;
  auto tileOf = [&](int64_t key) { return (key - t.anchor) / width; };
  auto unseen = [&](int64_t from, int64_t to) -> std::string {
    for (int64_t k = from; k < to; ++k)
      if (truth.seen[k])
        return "key " + number(k) + " is seen and never visited";
    return "";
  };
  if (std::string what = unseen(0, std::min(t.anchor, truth.keys)); !what.empty())
    return what;
  for (const CursorProgram::Run &r : runs) {
    std::string said = "run [" + number(r.begin) + ", " + number(r.end) + ") need " + number(int64_t(r.need));
    if (r.begin < before || r.end <= r.begin || r.end > truth.keys)
      return said + " after " + number(before) + " of " + number(truth.keys) + " keys";
    if (std::string what = unseen(before, r.begin); !what.empty())
      return what + " before " + said;
    if (tileOf(r.begin) != tileOf(r.end - 1) && (r.end - t.anchor) % width && r.end != truth.keys) {
      // A run over several tiles ends with one, or where nothing is seen any more.
      for (int64_t k = r.end; k < truth.keys; ++k)
        if (truth.seen[k])
          return said + " leaves a tile that it shares with key " + number(k);
    }
    for (int64_t k = r.begin; !r.need && k < r.end; ++k)
      if (truth.seen[k] < truth.rows)
        return said + ", but key " + number(k) + " is not seen by every row";
    before = r.end;
    for (int64_t k = r.begin; k < r.end;) { // tile by tile: was it worth the visit?
      int64_t end = std::min(r.end, t.anchor + (tileOf(k) + 1) * width), some = 0, all = 0;
      for (int64_t i = k; i < end; ++i) {
        some += truth.seen[i] > 0;
        all += truth.seen[i] == truth.rows;
      }
      ++totals.keyTiles;
      totals.empty += !some;
      totals.full += r.need && all == end - k;
      k = end;
    }
  }
  return unseen(before, truth.keys);
}

std::string Check::elements(const Truth &truth, const std::vector<int32_t> &got) const {
  for (int64_t r = 0; r < truth.rows; ++r)
    for (int64_t k = 0; k < truth.keys; ++k) {
      int32_t word = got[r * truth.keys + k];
      int64_t want = truth.counts[r * truth.keys + k];
      std::string pair = "row " + number(r) + " of the tile, key " + number(k) + ": ";
      if ((word & 1) != (want > 0))
        return pair + "the predicate says " + number(word & 1);
      if ((word >> 1 & 1) != (want > 0))
        return pair + "the predicate of a vector says " + number(word >> 1 & 1);
      // Without `+` a count is never asked for.
      if (test.spec.counted() && word >> 8 != want)
        return pair + "counted " + number(word >> 8) + ", is " + number(want);
    }
  return "";
}

std::string Check::needed(const Truth &truth, const std::vector<CursorProgram::Run> &runs, const CursorProgram::Operands &operands) const {
  bool conjunction = program.conjunction(index);
  for (const CursorProgram::Run &run : runs)
    for (int64_t r = 0; r < truth.rows; ++r)
      for (int64_t k = run.begin; k < run.end; ++k) {
        int64_t at = r * truth.keys + k;
        bool seen = truth.counts[at] > 0;
        for (uint64_t bits : {operands.scalars[at], operands.vectors[at]})
          if ((conjunction ? (bits & run.need) == run.need : !run.need || (bits & run.need)) != seen)
            return "run [" + number(run.begin) + ", " + number(run.end) + ") needs " + number(int64_t(run.need)) + ", row " + number(r) +
                   " of the tile, key " + number(k) + ": the operands say " + number(int64_t(bits)) + ", it is " + (seen ? "seen" : "not seen");
      }
  return "";
}

bool Check::tile(const CursorProgram::Tile &t, const Truth &truth, CursorProgram::Memory &memory) {
  campaign.enter(at(t));
  auto segments = program.segments(index, t, memory);
  auto [begin, end] = program.hull(index, t, memory);
  auto runs = program.walk(index, t, memory);
  auto got = program.elements(index, t, memory);
  auto operands = program.operands(index, t, memory);
  campaign.leave();
  std::string what = cursor(truth, segments);
  for (int64_t k = 0; what.empty() && k < truth.keys; ++k)
    if (truth.seen[k] && (k < begin || k >= end))
      what = "key " + number(k) + " is seen outside of the hull [" + number(begin) + ", " + number(end) + ")";
  if (what.empty())
    what = walk(t, truth, runs);
  if (what.empty())
    what = elements(truth, got);
  if (what.empty())
    what = needed(truth, runs, operands);
  ++totals.tiles;
  totals.pairs += truth.rows * truth.keys;
  totals.runs += runs.size();
  if (what.empty())
    return true;
  campaign.fail(at(t) + "\n  " + what);
  return false;
}

static CursorProgram::Tile drawTile(std::mt19937_64 &random, const CursorCase &c, const MaskSizes &n) {
  auto below = [&](int64_t m) { return int64_t(random() % uint64_t(m)); };
  CursorProgram::Tile t{n};
  t.batch = below(n.B);
  t.head = below(c.spec.heads);
  t.first = below(n.T);
  int64_t rows[] = {1, 2, 5, 16, 32, 64};
  t.last = std::min(n.T - 1, t.first + (below(3) ? rows[below(6)] : 1 + below(70)) - 1);
  return t;
}

TEST(Cursor, RandomExpressions) {
  const int64_t perBatch = 32, most = 600;
  int64_t expressions = campaign.expressions ? campaign.expressions : 12000;
  Campaign run("Cursor", (expressions + perBatch - 1) / perBatch);
  Totals totals;
  std::vector<std::string> messages = run.run([&](int64_t batch) {
    std::mt19937_64 random(mix(campaign.seed, batch));
    std::vector<CursorCase> cases;
    for (int64_t i = 0; i < perBatch; ++i) {
      const int64_t tiles[] = {1, 2, 3, 7, 8, 16, 32, 48, 100, 128}, lanes[] = {1, 8, 16};
      cases.push_back({MaskSpec::draw(random, 4, most), tiles[random() % 10], lanes[random() % 3]});
    }
    std::string where = "--seed=" + std::to_string(campaign.seed) + " --batch=" + std::to_string(batch);
    auto program = CursorProgram::compile(cases, JitLevel::Quick);
    if (!program)
      return run.fail(where + " does not compile");
    for (int64_t i = 0; i < perBatch; ++i) {
      const CursorCase &c = cases[i];
      Check check(run, totals, *program, int(i), c, where);
      bool good = true;
      for (int call = 0; good && call < 2; ++call) {
        MaskSizes n = c.spec.sizes(random, most);
        MaskSpec::Data data = c.spec.make(n, random());
        CursorProgram::Memory memory(c.spec, data);
        for (int tile = 0; good && tile < 3; ++tile) {
          CursorProgram::Tile t = drawTile(random, c, n);
          Truth truth(c.spec, data, t);
          if (random() % 3 == 0) // the grid of key tiles may begin anywhere before the first visible key
            t.anchor = random() % (truth.firstSeen() + 1);
          good = check.tile(t, truth, memory);
        }
      }
      ++totals.expressions;
    }
  });
  for (const std::string &m : messages)
    ADD_FAILURE() << m;
  std::printf("%ld expressions, %ld query tiles, %ld pairs, %ld runs; of %ld key tiles visited %ld were empty, %ld partial ones full\n",
              long(totals.expressions), long(totals.tiles), long(totals.pairs), long(totals.runs), long(totals.keyTiles), long(totals.empty),
              long(totals.full));
}

TEST(Cursor, TightForTypicalMasks) {
  const int64_t length = 500, rows = 32, keys = 32;
  std::vector<TypicalMask> masks = typicalMasks();
  ASSERT_EQ(masks.size(), 20u);
  std::vector<CursorCase> cases;
  for (TypicalMask &m : masks)
    cases.push_back({m.spec, keys, 16});
  auto program = CursorProgram::compile(cases, JitLevel::Quick);
  ASSERT_TRUE(program);
  Campaign run("Tight", 1);
  for (size_t i = 0; i < masks.size(); ++i) {
    Totals totals;
    MaskSizes n{1, length, length, 0, 0};
    MaskSpec::Data data = cases[i].spec.make(n, 0);
    CursorProgram::Memory memory(cases[i].spec, data);
    Check check(run, totals, *program, int(i), cases[i], masks[i].name);
    for (int64_t first = 0; first < length; first += rows) {
      CursorProgram::Tile t{n, 0, 0, first, std::min(first + rows, length) - 1};
      EXPECT_TRUE(check.tile(t, Truth(cases[i].spec, data, t), memory)) << masks[i].name;
    }
    if (masks[i].name == "dense, blocks of 8") // its tensor is looked at element by element
      continue;
    EXPECT_EQ(totals.empty, 0) << masks[i].name << ": of " << totals.keyTiles << " tiles visited";
    EXPECT_EQ(totals.full, 0) << masks[i].name << ": partial and truly full, of " << totals.keyTiles << " tiles visited";
  }
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!campaign.parse(argc, argv)) {
    std::fprintf(stderr, "usage: %s [--expressions=N] [--seed=N] [--batch=N] [--threads=N] [--limit=N] [--failures=N]\n", argv[0]);
    return 2;
  }
  return RUN_ALL_TESTS();
}
