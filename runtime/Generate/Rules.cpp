//===- Rules.cpp - Rules over the next token ------------------------------===//
//
// A forbidden token gets the logit -inf; a forced one gets 0 and all others
// -inf.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Rules.h"

#include <algorithm>
#include <limits>

namespace heddle::rt {

static constexpr float kNever = -std::numeric_limits<float>::infinity();

Rules::Rules(RuleOptions given, int64_t wanted, int64_t row, const std::vector<int64_t> &begin)
    : options(std::move(given)), wanted(wanted) {
  const RuleOptions &o = options;
  if (o.sourceNgram > 0)
    source = o.sources.empty() ? begin : o.sources[size_t(row)];
  options.sources.clear();
  active = o.repetitionPenalty != 1 || o.noRepeatNgram > 0 || o.sourceNgram > 0 || !o.badWords.empty() ||
           o.minLength > 0 || o.minNewTokens > 0 || o.forcedFirst || !o.forcedLast.empty() || !o.forcedAt.empty() ||
           !o.onlyAt.empty() || !o.suppressed.empty() || !o.suppressedFirst.empty() || o.presencePenalty != 0 ||
           o.frequencyPenalty != 0 || !o.bias.empty();
}

void Rules::forbid(int64_t id, float *scores, int64_t count) const {
  if (id >= 0 && id < count)
    scores[id] = kNever;
}

/// Forbids what follows each occurrence in `of` of the last n - 1 tokens of the text.
void Rules::forbidNgrams(int64_t n, const std::vector<int64_t> &of, const std::vector<int64_t> &text, float *scores,
                         int64_t count) const {
  if (n < 1 || int64_t(text.size()) < n - 1)
    return;
  for (int64_t i = 0; i + n <= int64_t(of.size()); ++i)
    if (std::equal(of.begin() + i, of.begin() + i + n - 1, text.end() - (n - 1)))
      forbid(of[size_t(i + n - 1)], scores, count);
}

/// All but `ids` are forbidden, and these are equally likely.
void Rules::force(const std::vector<int64_t> &ids, float *scores, int64_t count) const {
  std::fill_n(scores, count, kNever);
  for (int64_t id : ids)
    if (id >= 0 && id < count)
      scores[id] = 0;
}

/// All but `ids` are forbidden.
void Rules::keepOnly(const std::vector<int64_t> &ids, float *scores, int64_t count) const {
  std::vector<float> kept;
  for (int64_t id : ids)
    kept.push_back(id >= 0 && id < count ? scores[id] : kNever);
  std::fill_n(scores, count, kNever);
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= 0 && ids[i] < count)
      scores[ids[i]] = kept[i];
}

/// Divides a positive score by the penalty and multiplies a negative one, once
/// for each id of the text, however often it occurs.
void Rules::penalise(const std::vector<int64_t> &text, float *scores, int64_t count) {
  seen.resize(count, 0);
  ++pass;
  auto penalty = float(options.repetitionPenalty);
  for (int64_t id : text) {
    if (id < 0 || id >= count || seen[id] == pass)
      continue;
    seen[id] = pass;
    scores[id] = scores[id] < 0 ? scores[id] * penalty : scores[id] / penalty;
  }
}

/// Takes the two penalties off the scores of the last `made` tokens.
void Rules::penaliseMade(const std::vector<int64_t> &text, int64_t made, float *scores, int64_t count) {
  seen.resize(count, 0);
  ++pass;
  for (auto at = text.end() - made; at != text.end(); ++at) {
    if (*at < 0 || *at >= count)
      continue;
    if (seen[*at] != pass)
      scores[*at] -= float(options.presencePenalty);
    seen[*at] = pass;
    scores[*at] -= float(options.frequencyPenalty);
  }
}

// In the order of Hugging Face's logits processors, which matters: what is
// forced later overrides what was forbidden before.
void Rules::apply(const std::vector<int64_t> &text, int64_t made, float *scores, int64_t count) {
  auto length = int64_t(text.size());
  for (auto [id, more] : options.bias)
    if (id >= 0 && id < count)
      scores[id] += float(more);
  if (options.presencePenalty != 0 || options.frequencyPenalty != 0)
    penaliseMade(text, made, scores, count);
  if (options.repetitionPenalty != 1)
    penalise(text, scores, count);
  forbidNgrams(options.noRepeatNgram, text, text, scores, count);
  forbidNgrams(options.sourceNgram, source, text, scores, count);
  for (const std::vector<int64_t> &word : options.badWords) {
    auto before = int64_t(word.size()) - 1;
    if (before <= length && std::equal(word.begin(), word.end() - 1, text.end() - before))
      forbid(word.back(), scores, count);
  }
  if (length < options.minLength || made < options.minNewTokens)
    for (int64_t id : options.eos)
      forbid(id, scores, count);
  if (options.forcedFirst && length == 1)
    force({*options.forcedFirst}, scores, count);
  if (!options.forcedLast.empty() && made == wanted - 1)
    force(options.forcedLast, scores, count);
  for (int64_t id : options.suppressed)
    forbid(id, scores, count);
  // The first token that is not forced; forced ones before it do not count.
  if (!options.suppressedFirst.empty()) {
    bool behind = options.forcedFirst && length - made == 1;
    int64_t forced = behind ? 1 : 0;
    while (options.forcedAt.count(length - made + forced) || options.onlyAt.count(length - made + forced))
      ++forced;
    if (made == forced)
      for (int64_t id : options.suppressedFirst)
        forbid(id, scores, count);
  }
  // Last, since they override what was forbidden above.
  if (auto only = options.onlyAt.find(length); only != options.onlyAt.end())
    keepOnly(only->second, scores, count);
  if (auto at = options.forcedAt.find(length); at != options.forcedAt.end())
    force({at->second}, scores, count);
}

} // namespace heddle::rt
