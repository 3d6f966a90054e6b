//===- Beams.h - Beam search --------------------------------------*- C++
//-*-===//
//
// The search for the likeliest text as Hugging Face defines it. A row of the
// prompt has `width` texts that grow; a step scores every continuation of each
// by the sum of its log-probabilities and keeps the best. What meets an end is
// a candidate, scored sum / (new tokens, the end among them) ^ lengthPenalty;
// `width` candidates are kept. A row is done when no growing text can beat
// them, as `early` defines it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BEAMS_H
#define HEDDLE_RUNTIME_BEAMS_H

#include <cstdint>
#include <vector>

namespace heddle::rt {

enum class EarlyStopping : uint8_t {
  No,   ///< when the best growing text, ended now, would be worse than all
  Yes,  ///< as soon as there are `width` candidates
  Never ///< when the best, however long it becomes, would be worse
};

struct BeamOptions {
  int64_t width = 1;
  double lengthPenalty = 1;
  EarlyStopping early = EarlyStopping::No;
  bool renormalise = false; ///< after the rules what is left counts 1 again
};

/// The search of one row of the prompt.
class BeamSearch {
public:
  BeamSearch(const BeamOptions &options, std::vector<int64_t> eos,
             int64_t mostNew);

  bool done() const { return isDone; }
  /// The growing texts: ids after the prompt, all of one length.
  const std::vector<std::vector<int64_t>> &texts() const { return beams; }

  /// One step: `scores` [width][count] are the log-probabilities after the
  /// rules. Afterwards beam i continues what `from()[i]` was, with `next()[i]`.
  void step(const std::vector<std::vector<float>> &scores, int64_t count);
  const std::vector<int64_t> &from() const { return origins; }
  const std::vector<int64_t> &next() const { return tokens; }

  /// The best text, with the eos that ended it if one did.
  std::vector<int64_t> best() const;

private:
  struct Candidate {
    double score;
    std::vector<int64_t> ids;
  };
  double scoreOf(double sum, int64_t length) const;
  void add(double sum, std::vector<int64_t> ids);
  bool hopeless(double bestSum, int64_t length) const;
  double worst() const;

  BeamOptions options;
  std::vector<int64_t> eos;
  int64_t mostNew;
  bool isDone = false;
  std::vector<std::vector<int64_t>> beams;
  std::vector<double> sums;
  std::vector<int64_t> origins, tokens;
  std::vector<Candidate> candidates;
};

/// logits -> log-probabilities, in place.
void logSoftmax(float *scores, int64_t count);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_BEAMS_H
