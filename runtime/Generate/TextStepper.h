//===- TextStepper.h - One text, step by step -------------------*- C++ -*-===//
//
// A text of a prompt as it grows: each step looks at the logits of its rows of
// the batch and says what every row gets next. A text has one row, or as many
// as it has beams. The loop of Generate.cpp and the server's scheduler drive
// texts this way. A stepper knows nothing of other texts, so a text is the same
// alone, in a batch and in a server's company.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_TEXTSTEPPER_H
#define HEDDLE_RUNTIME_GENERATE_TEXTSTEPPER_H

#include "runtime/Generate/Generate.h"

namespace heddle::rt {

class TextStepper {
public:
  virtual ~TextStepper() = default;

  /// One step of a text that is not done. `logits`: for each of its rows the plain logits [count] after its last
  /// token. An error if a logit is NaN.
  virtual Status step(const float *const *logits, int64_t count) = 0;
  /// Whether no token is left to make.
  virtual bool done() const = 0;
  /// What each row gets after a step.
  virtual const std::vector<int64_t> &next() const = 0;
  /// Which of the text's rows each row continues.
  virtual const std::vector<int64_t> &from() const = 0;
  /// The tokens that are known to be of the text; all of them once it is done.
  virtual const std::vector<int64_t> &made() const = 0;
};

/// One token after the other: rules, sampler, and where the text ends.
class TokenChooser final : public TextStepper {
public:
  /// `options` and `roles` must outlive this. `row` names the text in errors and callbacks and gives it its random
  /// numbers; `text` is what the rules look at: its real tokens so far.
  TokenChooser(const GenerateOptions &options, const Roles &roles, int64_t row, std::vector<int64_t> text);

  Status step(const float *const *logits, int64_t count) override;
  /// By an end of text, `options.ended`, or `options.newTokens` tokens.
  bool done() const override { return isDone; }
  const std::vector<int64_t> &next() const override { return id; }
  const std::vector<int64_t> &from() const override { return own; }
  const std::vector<int64_t> &made() const override { return chosen; }

private:
  const GenerateOptions &options;
  const Roles &roles;
  int64_t row;
  Rules rules;
  Sampler sampler;
  std::vector<int64_t> text, chosen;
  std::vector<int64_t> id = {-1}, own = {0}; ///< of the one row
  std::vector<float> scores;                 ///< logits under rules
  bool isDone = false;
};

/// Beam search: the log-probabilities of the text's rows under the rules, and what the search (Beams.h) makes of them.
/// The text is known when the search is done.
class BeamChooser final : public TextStepper {
public:
  /// As a TokenChooser; `options.beams` says how many rows there are.
  BeamChooser(const GenerateOptions &options, const Roles &roles, int64_t row, std::vector<int64_t> text);

  Status step(const float *const *logits, int64_t count) override;
  bool done() const override { return search.done(); }
  const std::vector<int64_t> &next() const override { return done() ? padding : search.next(); }
  const std::vector<int64_t> &from() const override { return done() ? own : search.from(); }
  const std::vector<int64_t> &made() const override { return best; }

private:
  const GenerateOptions &options;
  int64_t row;
  Rules rules;
  BeamSearch search;
  std::vector<int64_t> padding, own; ///< next and from when the search is done
  std::vector<int64_t> begin, best;  ///< the prompt, and what was made of it
  std::vector<std::vector<float>> scores;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_TEXTSTEPPER_H
