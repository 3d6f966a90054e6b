//===- TokenChooser.h - The tokens of one text ------------------*- C++ -*-===//
//
// Chooses the tokens of one text, one after the other, from the model's logits:
// rules, sampler, and where the text ends. It knows nothing of other rows, so a
// text is the same alone, in a batch and in a server's company.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_TOKENCHOOSER_H
#define HEDDLE_RUNTIME_GENERATE_TOKENCHOOSER_H

#include "runtime/Generate/Generate.h"

namespace heddle::rt {

class TokenChooser {
public:
  /// `options` and `roles` must outlive this. `row` names the text in errors and callbacks and gives it its random
  /// numbers; `text` is what the rules look at: its real tokens so far.
  TokenChooser(const GenerateOptions &options, const Roles &roles, int64_t row, std::vector<int64_t> text);

  /// Chooses the next token from the plain logits [count] behind the last one. An error if a logit is NaN.
  Status choose(const float *logits, int64_t count, int64_t &id);
  /// Whether an end of text or `options.ended` has come; tokens may be left to make.
  bool ended() const { return isOver; }
  /// Tokens that were chosen.
  int64_t count() const { return int64_t(made.size()); }

private:
  const GenerateOptions &options;
  const Roles &roles;
  int64_t row;
  Rules rules;
  Sampler sampler;
  std::vector<int64_t> text, made;
  std::vector<float> scores; ///< logits under rules
  bool isOver = false;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_TOKENCHOOSER_H
