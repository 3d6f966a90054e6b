// One text of an answer, from its prompt to its last token: what is asked of it, and what is shown of each token. Who
// makes the tokens is the engine's business; both ways call the same functions in the same order, so the text is the
// same.
#ifndef HEDDLE_RUNTIME_SERVE_TEXTRUN_H
#define HEDDLE_RUNTIME_SERVE_TEXTRUN_H

#include "runtime/Generate.h"
#include "runtime/Serve/Answer.h"
#include "runtime/TextOut.h"
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
  /// The text is whole. `reused` tokens of the prompt were not computed.
  void finish(size_t reused = 0);

private:
  ApiError readOptions();
  bool show(int64_t id);

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
