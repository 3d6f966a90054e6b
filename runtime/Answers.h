//===- Answers.h - What a model's tensors say in words ----------*- C++ -*-===//
//
// What the outputs of one call of `run` mean, printed: the likeliest words at
// the masks of a text, and the stretches of a text that answer a question.
// Labels are ClassifyCommand.cpp's, which uses the helpers here.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ANSWERS_H
#define HEDDLE_RUNTIME_ANSWERS_H

#include "runtime/Card.h"
#include "runtime/Tensor.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <optional>

namespace heddle::rt {

/// How answers are printed.
struct AnswerForm {
  int64_t most = 5;  ///< --top N: at most so many
  bool json = false; ///< --json: one object a line instead of a table
};

/// scores[i] becomes exp(scores[i]) / sum of all exp(scores), in place.
void softmax(std::vector<double> &scores);
/// Indices of the `most` largest scores, the largest first; of equal scores the
/// one with the smaller index comes first.
std::vector<int64_t> ranking(const std::vector<double> &scores, int64_t most);

/// The id of the token that stands for a missing word, [MASK] or <mask>; none
/// where the tokenizer has neither. `text` receives how it is written.
std::optional<int64_t> maskToken(const Tokenizer &tokenizer, std::string *text = nullptr);
/// Prints the likeliest words at every mask token of `tokens`. `logits` is
/// [tokens][count], one row for every token. An error if no token is a mask.
Status printWords(const Tokenizer &tokenizer, const std::vector<Token> &tokens, const float *logits, int64_t count,
                  AnswerForm form);

/// Prints the stretches of `context` that most likely answer the question.
/// `tokens` are those of "question, context" in the template; `starts` and
/// `ends` have one logit for each, of being the answer's first or last token.
/// An error if the tokens of `context` are not found among `tokens`.
Status printSpans(const Tokenizer &tokenizer, const std::vector<Token> &tokens, const std::string &context,
                  const float *starts, const float *ends, AnswerForm form);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ANSWERS_H
