//===- Rules.h - Rules over the next token ----------------------*- C++ -*-===//
//
// The rules of generation_config.json: they change the logits of a row before a
// token is chosen, each as Hugging Face defines it and in its order: repetition
// penalty, n-grams that must not repeat, n-grams of the source, forbidden words, least length, forced
// tokens, suppressed ones. The bias and the two penalties of OpenAI's API come
// before all of these. They look at the real tokens of the row and never at
// its padding, so a row gets the same in every batch.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_RULES_H
#define HEDDLE_RUNTIME_GENERATE_RULES_H

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace heddle::rt {

struct RuleOptions {
  double repetitionPenalty = 1;
  int64_t noRepeatNgram = 0;                      ///< 0: none
  int64_t sourceNgram = 0;                        ///< none of this length is taken from the source; 0: any may be
  std::vector<std::vector<int64_t>> sources;      ///< of the rows; empty: the source of a text is its beginning
  std::vector<std::vector<int64_t>> badWords;     ///< never complete one of these
  int64_t minLength = 0, minNewTokens = 0;        ///< no eos before these
  std::optional<int64_t> forcedFirst;             ///< forced_bos_token_id
  std::vector<int64_t> forcedLast;                ///< forced_eos_token_id
  std::map<int64_t, int64_t> forcedAt;            ///< place in the text -> id
  std::map<int64_t, std::vector<int64_t>> onlyAt; ///< place -> one of these
  std::vector<int64_t> suppressed, suppressedFirst;
  /// Of new tokens: taken off the score of each that was made, once, and for each time that it was made.
  double presencePenalty = 0, frequencyPenalty = 0;
  std::map<int64_t, double> bias; ///< id -> added to its score
  std::vector<int64_t> eos;
};

class Rules {
public:
  /// Of the row `row`, which begins with `begin`. `wanted`: how many new tokens will be made; forcedLast is the last of
  /// them.
  Rules(RuleOptions options, int64_t wanted, int64_t row = 0, const std::vector<int64_t> &begin = {});

  /// Whether any rule is set.
  bool any() const { return active; }

  /// Changes the scores [count] of the next token. `text`: the row's real
  /// tokens so far, of which the last `made` are new.
  void apply(const std::vector<int64_t> &text, int64_t made, float *scores, int64_t count);

private:
  void forbid(int64_t id, float *scores, int64_t count) const;
  void forbidNgrams(int64_t n, const std::vector<int64_t> &of, const std::vector<int64_t> &text, float *scores,
                    int64_t count) const;
  void force(const std::vector<int64_t> &ids, float *scores, int64_t count) const;
  void keepOnly(const std::vector<int64_t> &ids, float *scores, int64_t count) const;
  void penalise(const std::vector<int64_t> &text, float *scores, int64_t count);
  void penaliseMade(const std::vector<int64_t> &text, int64_t made, float *scores, int64_t count);

  RuleOptions options;
  std::vector<int64_t> source; ///< whose n-grams are forbidden
  int64_t wanted;
  bool active;
  std::vector<int64_t> seen; ///< by id: the last `penalise` that met it
  int64_t pass = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_RULES_H
