// One text of an answer, from its prompt to its last token: what is asked of it, and what is shown of each token. Who
// makes the tokens is the engine's business; both ways call the same functions in the same order, so the text is the
// same.
#ifndef HEDDLE_RUNTIME_SERVE_TEXTRUN_H
#define HEDDLE_RUNTIME_SERVE_TEXTRUN_H

#include "runtime/Generate/Generate.h"
#include "runtime/Generate/TextOut.h"
#include "runtime/Serve/Answer.h"
#include <memory>

namespace heddle::serve {

class TextRun {
public:
  /// Text number `index` of `answer`. `service` and `metrics` must outlive this.
  TextRun(const Service &service, Metrics &metrics, std::shared_ptr<Answer> answer, size_t index);
  TextRun(const TextRun &) = delete;

  /// Reads what the job asks of this text, and says that it begins. An error of the request.
  ApiError prepare();
  const rt::Prompt &prompt() const { return thePrompt; }
  /// With what is to be called for every token: onChosen, ended, onStep.
  const rt::GenerateOptions &options() const { return theOptions; }
  Answer &answer() { return *theAnswer; }
  /// Whether the job wants to know how likely its prompt was: each of the prompt's logits is told, and then the prompt.
  bool scoresPrompt() const { return theAnswer->wantsPromptLogprobs(); }
  /// The logits behind token `position` of the prompt, in order.
  void scored(int64_t position, const float *logits, int64_t count);
  /// Finds the logits by itself, token by token.
  rt::Status scorePrompt();
  /// The text is whole. `reused` tokens of the prompt were not computed.
  void finish(size_t reused = 0);

private:
  ApiError readOptions();
  bool show(int64_t id);
  bool isEnd(int64_t id) const;

  const Service &service;
  Metrics &metrics;
  const std::shared_ptr<Answer> theAnswer; ///< shared with the other texts of the job
  const size_t index;
  rt::Prompt thePrompt;
  rt::GenerateOptions theOptions;
  std::unique_ptr<rt::TextOut> out;
  std::chrono::steady_clock::time_point last; ///< when the last token came
  size_t made = 0;
  int64_t lastId = -1;
};

} // namespace heddle::serve

#endif
