//===- Beams.h - Beam search ------------------------------------*- C++ -*-===//
//
// Beam search as Hugging Face defines it. A row of the prompt has `width`
// beams, texts that grow; a step scores every continuation of each by the sum
// of its log-probabilities and keeps the best `width`. A continuation by eos is
// a candidate, scored sum / (new tokens, eos among them) ^ lengthPenalty; the
// best `width` candidates are kept. A row is done when no beam can beat them
// any more, as `early` defines it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_BEAMS_H
#define HEDDLE_RUNTIME_GENERATE_BEAMS_H

#include <cstdint>
#include <vector>

namespace heddle::rt {

enum class EarlyStopping : uint8_t {
  No,   ///< done if the best beam, ended now, would be worse than all of them
  Yes,  ///< done as soon as there are `width` candidates
  Never ///< done if the best beam would be worse at any length up to the limit
};

struct BeamOptions {
  int64_t width = 1;
  double lengthPenalty = 1;
  EarlyStopping early = EarlyStopping::No;
  bool renormalise = false; ///< log-softmax again after the rules
};

/// The search of one row of the prompt.
class BeamSearch {
public:
  BeamSearch(const BeamOptions &options, std::vector<int64_t> eos, int64_t mostNew);

  bool done() const { return isDone; }
  /// The beams: their ids after the prompt, all equally many.
  const std::vector<std::vector<int64_t>> &texts() const { return beams; }

  /// One step. `scores` [width][count] are log-probabilities after the rules.
  /// Afterwards beam i is what beam `from()[i]` was, followed by `next()[i]`.
  void step(const std::vector<std::vector<float>> &scores, int64_t count);
  const std::vector<int64_t> &from() const { return origins; }
  const std::vector<int64_t> &next() const { return tokens; }

  /// The ids of the best candidate, including the eos that ended it, if any.
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

/// Logits become log-probabilities, in place.
void logSoftmax(float *scores, int64_t count);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_BEAMS_H
