//===- Answers.h - What a model's tensors say in words ----------*- C++ -*-===//
//
// Labels of a whole text or picture and of every token, the words behind
// masks, the stretch of a text that answers a question: from the outputs of
// one call to lines on stdout.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ANSWERS_H
#define HEDDLE_RUNTIME_ANSWERS_H

#include "runtime/Card.h"
#include "runtime/Tensor.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <optional>

namespace heddle::rt {

/// How answers are shown.
struct AnswerForm {
  int64_t most = 5; ///< --top
  bool json = false;
};

/// Each score's share of the sum of their exponentials.
void softmax(std::vector<double> &scores);
/// The places of the `most` largest, best first; of equals the smaller.
std::vector<int64_t> ranking(const std::vector<double> &scores, int64_t most);

/// The id of what stands for a missing word in texts: [MASK] or <mask>.
std::optional<int64_t> maskToken(const Tokenizer &tokenizer,
                                 std::string *text = nullptr);
/// The likeliest words at every mask; `logits` has a row of `count` numbers
/// for every token.
Status printWords(const Tokenizer &tokenizer, const std::vector<Token> &tokens,
                  const float *logits, int64_t count, AnswerForm form);

/// The likeliest stretches of the second text, as the library's pipeline for
/// questions ranks them.
Status printSpans(const Tokenizer &tokenizer, const std::vector<Token> &tokens,
                  const std::string &context, const float *starts,
                  const float *ends, AnswerForm form);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ANSWERS_H
