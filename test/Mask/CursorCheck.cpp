//===- CursorCheck.cpp - the answers of a mask against its formula --------===//

#include "test/Mask/CursorCheck.h"

using namespace heddle::test;

Truth::Truth(const MaskSpec &spec, const MaskSpec::Data &data, const CursorProgram::Tile &t)
    : rows(t.rows()), keys(t.keys()), seen(keys, 0) {
  for (int64_t r = 0; r < rows; ++r) {
    MaskSpec::Row row = spec.row(t.n, data, t.batch, t.head, t.first + r * t.stride);
    for (int64_t k = 0; k < keys; ++k) {
      counts.push_back(row[t.offset + k * t.stride]);
      seen[k] += counts.back() > 0;
    }
  }
}

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
    auto said = [&] {
      return "segment(" + number(k) + ") = any " + number(s.any) + " all " + number(s.all) + " end " + number(s.end);
    };
    if (s.end <= k)
      return said() + " does not move on";
    int64_t end = std::min(s.end, truth.keys);
    if (s.all && !s.any)
      return said() + ": all without any";
    if (!s.any && nextSeen[k] < end)
      return said() + ", but key " + number(nextSeen[k]) + " is seen";
    if (s.all && nextHidden[k] < end)
      return said() + ", but key " + number(nextHidden[k]) + " is not seen by every row";
  }
  return "";
}

std::string Check::walk(const CursorProgram::Tile &t, const Truth &truth,
                        const std::vector<CursorProgram::Run> &runs) const {
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
    auto said = [&] { return "run [" + number(r.begin) + ", " + number(r.end) + ") need " + number(int64_t(r.need)); };
    if (r.begin < before || r.end <= r.begin || r.end > truth.keys)
      return said() + " after " + number(before) + " of " + number(truth.keys) + " keys";
    if (std::string what = unseen(before, r.begin); !what.empty())
      return what + " before " + said();
    if (tileOf(r.begin) != tileOf(r.end - 1) && (r.end - t.anchor) % width && r.end != truth.keys) {
      // A run over several tiles ends with one, or where nothing is seen any more.
      for (int64_t k = r.end; k < truth.keys; ++k)
        if (truth.seen[k])
          return said() + " leaves a tile that it shares with key " + number(k);
    }
    for (int64_t k = r.begin; !r.need && k < r.end; ++k)
      if (truth.seen[k] < truth.rows)
        return said() + ", but key " + number(k) + " is not seen by every row";
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
      auto pair = [&] { return "row " + number(r) + " of the tile, key " + number(k) + ": "; };
      if ((word & 1) != (want > 0))
        return pair() + "the predicate says " + number(word & 1);
      if ((word >> 1 & 1) != (want > 0))
        return pair() + "the predicate of a vector says " + number(word >> 1 & 1);
      // Without `+` a count is never asked for.
      if (test.spec.counted() && word >> 8 != want)
        return pair() + "counted " + number(word >> 8) + ", is " + number(want);
    }
  return "";
}

std::string Check::needed(const Truth &truth, const std::vector<CursorProgram::Run> &runs,
                          const CursorProgram::Operands &operands) const {
  bool conjunction = program.known(index).conjunction;
  for (const CursorProgram::Run &run : runs)
    for (int64_t r = 0; r < truth.rows; ++r)
      for (int64_t k = run.begin; k < run.end; ++k) {
        int64_t at = r * truth.keys + k;
        bool seen = truth.counts[at] > 0;
        for (uint64_t bits : {operands.scalars[at], operands.vectors[at]})
          if ((conjunction ? (bits & run.need) == run.need : !run.need || (bits & run.need)) != seen)
            return "run [" + number(run.begin) + ", " + number(run.end) + ") needs " + number(int64_t(run.need)) +
                   ", row " + number(r) + " of the tile, key " + number(k) + ": the operands say " +
                   number(int64_t(bits)) + ", it is " + (seen ? "seen" : "not seen");
      }
  return "";
}

std::string Check::proofs(const CursorProgram::Tile &t, const Truth &truth, const MaskSpec::Data &data) const {
  const CursorProgram::Known &known = program.known(index);
  for (int64_t r = 0; r < truth.rows; ++r) {
    bool some = false;
    for (int64_t k = 0; k < truth.keys; ++k) {
      if (!truth(r, k))
        continue;
      some = true;
      int64_t ahead = (t.n.K + t.offset + k * t.stride) - (t.n.P + t.first + r * t.stride);
      auto pair = [&] {
        return "row " + number(r) + " of the tile sees key " + number(k) + ", " + number(ahead) + " ahead: ";
      };
      if (known.reach.ahead && ahead > *known.reach.ahead)
        return pair() + "said to reach " + number(*known.reach.ahead) + " ahead";
      if (known.reach.behind && -ahead > *known.reach.behind)
        return pair() + "said to reach " + number(*known.reach.behind) + " behind";
    }
    if (known.everyRowSees && !some)
      return "row " + number(r) + " of the tile sees nothing, and every row is said to see something";
  }
  auto varies = [&](mask::Axes axis) { return known.axes & axis; };
  for (int64_t r = 0; r < truth.rows; ++r)
    for (int64_t k = 0; k < truth.keys; ++k) {
      if (!varies(mask::Query) && truth(r, k) != truth(0, k))
        return "rows differ, and the mask is said not to depend on them";
      if (!varies(mask::Key) && truth(r, k) != truth(r, 0))
        return "keys differ, and the mask is said not to depend on them";
    }
  auto sameAs = [&](CursorProgram::Tile other) {
    Truth there(test.spec, data, other);
    return std::equal(truth.counts.begin(), truth.counts.end(), there.counts.begin(),
                      [](int32_t a, int32_t b) { return (a > 0) == (b > 0); });
  };
  CursorProgram::Tile other = t;
  other.batch = (t.batch + 1) % t.n.B;
  if (!varies(mask::Batch) && other.batch != t.batch && !sameAs(other))
    return "batch elements differ, and the mask is said not to depend on them";
  other = t;
  other.head = (t.head + 1) % test.spec.heads;
  if (!varies(mask::Head) && other.head != t.head && !sameAs(other))
    return "heads differ, and the mask is said not to depend on them";
  return "";
}

bool Check::tile(const CursorProgram::Tile &t, const MaskSpec::Data &data, CursorProgram::Memory &memory) {
  Truth truth(test.spec, data, t);
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
  if (what.empty())
    what = proofs(t, truth, data);
  ++totals.tiles;
  totals.pairs += truth.rows * truth.keys;
  totals.runs += runs.size();
  if (what.empty())
    return true;
  campaign.fail(at(t) + "\n  " + what);
  return false;
}

std::string Check::at(const CursorProgram::Tile &t) const {
  std::string view = t.stride == 1 ? "" : " every " + number(t.stride) + " from key " + number(t.offset);
  return where + "\n  " + test.spec.str() + (test.built ? ", simplified and with tables" : ", as written") + "\n  " +
         t.n.str() + "batch " + number(t.batch) + " head " + number(t.head) + " rows " + number(t.first) + ".." +
         number(t.last) + view + " anchor " + number(t.anchor) + " tile " + number(test.tile) + " lanes " +
         number(test.lanes);
}

std::string Totals::str() const {
  return number(expressions) + " expressions, " + number(built) + " of them simplified with " + number(tables) +
         " tables, " + number(strided) + " in their strided view, of " + number(proved) +
         " every row is proved to see something; " + number(tiles) + " query tiles, " + number(pairs) + " pairs, " +
         number(runs) + " runs; of " + number(keyTiles) + " key tiles visited " + number(empty) + " were empty, " +
         number(full) + " partial ones full";
}
