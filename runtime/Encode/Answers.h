//===- Answers.h - What a model's tensors say in words ----------*- C++ -*-===//
//
// What the outputs of one call of `run` mean, as text for people or as JSON. The
// shape of the logits says it: [B, labels] classes of the whole input, [B, T,
// labels] a label for every token, [B, T, vocabulary] words after masks, or with
// the kind `ctc` letters over time. The two outputs start_logits and end_logits
// mark stretches of a text that answer a question.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ENCODE_ANSWERS_H
#define HEDDLE_RUNTIME_ENCODE_ANSWERS_H

#include "runtime/Encode/Encoder.h"

#include <optional>

namespace heddle::rt {

/// How answers are written.
struct AnswerForm {
  int64_t most = 5;  ///< --top N: at most so many
  bool json = false; ///< --json: one object a line instead of a table
  /// --activation: the kind of classes (Card::kind) instead of the model's own.
  std::optional<std::string> kind = std::nullopt;
};

/// The id of the token that stands for a missing word, [MASK] or <mask>; none
/// where the tokenizer has neither. `text` receives how it is written.
std::optional<int64_t> maskToken(const Tokenizer &tokenizer, std::string *text = nullptr);

/// An error if the entry `run` has no outputs that have a meaning here; it says
/// which there are.
Status checkAnswers(const Card &card);
/// Whether the outputs mark stretches of a text, so that a question and a text
/// are needed.
bool marksSpans(const Card &card);

/// What was asked in one row of a batch.
struct Asked {
  std::vector<Token> tokens; ///< of the texts, in the template; none next to a file
  std::string context;       ///< the second text, which stretches are taken from
  bool media = false;        ///< a file was given
};

/// Appends the answer of one row of a batch to `text`, in lines. Errors: a NaN
/// or an infinity among its logits, no mask in a text whose masked words are
/// guessed, a context that the tokens do not have.
Status answerRow(const Card &card, const Tokenizer &tokenizer, const EncoderBatch &batch, int64_t row,
                 const Asked &asked, AnswerForm form, std::string &text);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ENCODE_ANSWERS_H
