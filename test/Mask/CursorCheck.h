//===- CursorCheck.h - the answers of a mask against its formula -*- C++ -*-===//
//
//   cursor     end > key; `all` only where every row sees every key up to the end, not `any`
//              only where none does
//   hull       nothing is visible outside
//   walk       runs ascend, tiles are whole or are in one, every visible key is in one run;
//              need = 0 only where every row sees every key, and the operands of the root that
//              need names say for each pair of the run whether it is seen
//   predicate  of scalars and of vectors, and counts: equal to the formula
//   proofs     a row that is said to see something does, nothing is beyond `reach`, and an axis
//              that is not in `dependsOn` changes nothing
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_MASK_CURSORCHECK_H
#define HEDDLE_TEST_MASK_CURSORCHECK_H

#include "test/Mask/Campaign.h"
#include "test/Mask/CursorProgram.h"
#include <algorithm>

namespace heddle::test {

struct Totals {
  std::atomic<int64_t> expressions{0}, built{0}, tables{0}, strided{0}, tiles{0}, pairs{0}, runs{0}, keyTiles{0},
      empty{0}, full{0}, proved{0};
  std::string str() const;
};

/// What the rows of one query tile see, by the formula.
struct Truth {
  int64_t rows, keys;
  std::vector<int32_t> counts;
  std::vector<int64_t> seen; ///< by key: how many rows see it
  int64_t firstSeen() const {
    return std::find_if(seen.begin(), seen.end(), [](int64_t n) { return n > 0; }) - seen.begin();
  }
  bool operator()(int64_t row, int64_t key) const { return counts[row * keys + key] > 0; }
  Truth(const MaskSpec &spec, const MaskSpec::Data &data, const CursorProgram::Tile &t);
};

/// Of one mask of a program.
class Check {
public:
  Check(Campaign &campaign, Totals &totals, const CursorProgram &program, int index, const CursorCase &test,
        std::string where)
      : campaign(campaign), totals(totals), program(program), index(index), test(test), where(std::move(where)) {}

  /// False after a failure.
  bool tile(const CursorProgram::Tile &t, const MaskSpec::Data &data, CursorProgram::Memory &memory);

private:
  Campaign &campaign;
  Totals &totals;
  const CursorProgram &program;
  int index;
  const CursorCase &test;
  std::string where;

  std::string at(const CursorProgram::Tile &t) const;
  std::string cursor(const Truth &truth, const std::vector<CursorProgram::Segment> &segments) const;
  std::string walk(const CursorProgram::Tile &t, const Truth &truth, const std::vector<CursorProgram::Run> &runs) const;
  std::string elements(const Truth &truth, const std::vector<int32_t> &got) const;
  std::string needed(const Truth &truth, const std::vector<CursorProgram::Run> &runs,
                     const CursorProgram::Operands &operands) const;
  std::string proofs(const CursorProgram::Tile &t, const Truth &truth, const MaskSpec::Data &data) const;
};

} // namespace heddle::test

#endif
