//===- Beams.cpp - Beam search --------------------------------------------===//
//
// The beams of a row begin alike, so all but the first start with a sum of
// -1e9: the first step then takes the best continuations of one beam only.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Beams.h"

#include <algorithm>
#include <cmath>

namespace heddle::rt {

void logSoftmax(float *scores, int64_t count) {
  float largest = *std::max_element(scores, scores + count);
  if (!std::isfinite(largest))
    return;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += std::exp(double(scores[i]) - largest);
  // Subtract the largest first: next to a large one the logarithm would be lost.
  double share = std::log(sum);
  for (int64_t i = 0; i < count; ++i)
    scores[i] = float((double(scores[i]) - largest) - share);
}

BeamSearch::BeamSearch(const BeamOptions &options, std::vector<int64_t> eos, int64_t mostNew)
    : options(options), eos(std::move(eos)), mostNew(mostNew), beams(options.width), sums(options.width, -1e9),
      origins(options.width), tokens(options.width) {
  sums[0] = 0;
}

double BeamSearch::scoreOf(double sum, int64_t length) const {
  return sum / std::pow(double(length), options.lengthPenalty);
}

double BeamSearch::worst() const {
  double least = candidates[0].score;
  for (const Candidate &one : candidates)
    least = std::min(least, one.score);
  return least;
}

void BeamSearch::add(double sum, std::vector<int64_t> ids) {
  double score = scoreOf(sum, int64_t(ids.size()));
  if (int64_t(candidates.size()) == options.width) {
    auto least = std::min_element(candidates.begin(), candidates.end(),
                                  [](const Candidate &a, const Candidate &b) { return a.score < b.score; });
    if (!(score > least->score))
      return;
    candidates.erase(least);
  }
  candidates.push_back({score, std::move(ids)});
}

bool BeamSearch::hopeless(double bestSum, int64_t length) const {
  if (int64_t(candidates.size()) < options.width)
    return false;
  if (options.early == EarlyStopping::Yes)
    return true;
  bool longest = options.early == EarlyStopping::Never && options.lengthPenalty > 0;
  return worst() >= scoreOf(bestSum, longest ? mostNew : length);
}

/// One step for one text: `scores` are the log-probabilities [beam][count] of the next token. Finished hypotheses leave
/// the beams, the best others are the new beams.
void BeamSearch::step(const std::vector<std::vector<float>> &scores, int64_t count) {
  // Of all width * count continuations keep enough to fill the beams even if
  // those by each eos are among the best; `better` is a total order, so the
  // result does not depend on the heap.
  struct Choice {
    double sum;
    int64_t beam, id;
  };
  auto keep = size_t(std::max<int64_t>(2, 1 + int64_t(eos.size())) * options.width);
  std::vector<Choice> choices;
  auto better = [](const Choice &a, const Choice &b) {
    return a.sum != b.sum ? a.sum > b.sum : a.beam != b.beam ? a.beam < b.beam : a.id < b.id;
  };
  // A heap of the best so far with the worst of them on top.
  for (int64_t beam = 0; beam < options.width; ++beam)
    for (int64_t id = 0; id < count; ++id) {
      Choice choice{sums[beam] + scores[beam][id], beam, id};
      if (std::isnan(choice.sum))
        continue;
      if (choices.size() < keep) {
        choices.push_back(choice);
        std::push_heap(choices.begin(), choices.end(), better);
      } else if (better(choice, choices.front())) {
        std::pop_heap(choices.begin(), choices.end(), better);
        choices.back() = choice;
        std::push_heap(choices.begin(), choices.end(), better);
      }
    }
  std::sort_heap(choices.begin(), choices.end(), better);

  // Best first: continuations by eos become candidates if they are among the
  // first `width`, the others become the new beams.
  std::vector<std::vector<int64_t>> grown;
  std::vector<double> newSums;
  auto length = int64_t(beams[0].size()) + 1;
  for (size_t rank = 0; rank < choices.size(); ++rank) {
    const Choice &choice = choices[rank];
    std::vector<int64_t> ids = beams[choice.beam];
    ids.push_back(choice.id);
    if (std::find(eos.begin(), eos.end(), choice.id) != eos.end()) {
      if (rank < size_t(options.width))
        add(choice.sum, std::move(ids));
      continue;
    }
    origins[grown.size()] = choice.beam;
    tokens[grown.size()] = choice.id;
    grown.push_back(std::move(ids));
    newSums.push_back(choice.sum);
    if (int64_t(grown.size()) == options.width)
      break;
  }
  if (choices.empty() || int64_t(grown.size()) < options.width) {
    // The rules allow too few continuations that go on: the search ends here.
    isDone = true;
    for (size_t i = 0; i < grown.size(); ++i)
      add(newSums[i], grown[i]);
    return;
  }
  isDone = hopeless(choices[0].sum, length);
  beams = std::move(grown);
  sums = std::move(newSums);
  if (!isDone && length == mostNew) {
    isDone = true;
    for (int64_t i = 0; i < options.width; ++i)
      add(sums[i], beams[i]);
  }
}

std::vector<int64_t> BeamSearch::best() const {
  const Candidate *best = nullptr;
  for (const Candidate &one : candidates)
    if (!best || one.score > best->score)
      best = &one;
  return best ? best->ids : beams[0];
}

} // namespace heddle::rt
