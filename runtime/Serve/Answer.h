// The answer to a job: takes the texts of the job as they are made, in any order and between each other, and says them
// in OpenAI's form, whole or as server-sent events. A stream says 200 when its first text begins; what goes wrong
// later is a last event with an error and no [DONE].
#ifndef HEDDLE_RUNTIME_SERVE_ANSWER_H
#define HEDDLE_RUNTIME_SERVE_ANSWER_H

#include "runtime/Serve/OpenAI.h"

namespace heddle::serve {

class Answer {
public:
  Answer(const Service &service, Listener &listener, Metrics &metrics, Job job);

  const Job &job() const { return theJob; }
  /// That was given, or drawn.
  uint64_t seed() const { return theSeed; }
  /// The texts that it has, one for each choice of each prompt.
  size_t count() const { return choices.size(); }
  const PromptText &promptOf(size_t index) const { return theJob.prompts[index / size_t(theJob.choices)]; }

  /// Whether somebody waits for more. An answer that is given up is counted, once.
  bool goesOn();
  /// A text begins, with its prompt where the job wants to read it again; with the first one a stream does.
  void open(size_t index);
  /// A token of the text, and the logits before it, which are the model's own; null: the first of a prompt, which has
  /// none. To be called only where `wantsLogprobs`.
  void tell(size_t index, const float *logits, int64_t count, int64_t id);
  bool wantsLogprobs() const { return theJob.logprobs >= 0; }
  /// Whether the prompt's tokens are told, too: all of them, and then `echo`.
  bool wantsPromptLogprobs() const { return theJob.echo && wantsLogprobs(); }
  /// Says the prompt again.
  void echo(size_t index) { say(index, promptOf(index).text); }
  /// A text has become longer, by nothing where a token shows nothing yet.
  void say(size_t index, const std::string &fresh);
  /// A text of so many new tokens is whole: `finish` is "stop" or "length". With the last one the answer is.
  void close(size_t index, size_t made, const char *finish);
  /// Ends the answer with an error.
  void fail(const ApiError &error);

private:
  /// A token that was chosen, with what is told of it.
  struct Told {
    int64_t id;
    size_t offset; ///< characters of the text before it
    std::optional<double> logprob;
    std::vector<std::pair<int64_t, double>> others; ///< the likeliest, in falling order
  };
  struct Choice {
    std::string text;                     ///< all of it
    size_t told = 0;                      ///< of `tokens`, that the stream has said
    std::optional<rt::Decoding> decoding; ///< of the tokens that were told
    std::string decoded;                  ///< by it: what is no whole character yet
    size_t characters = 0;                ///< of the text, that the tokens have made so far
    std::vector<Told> tokens;
    const char *finish = "length";
  };

  void begin();
  void finish();
  void event(const std::string &data) { listener.part(*theJob.to, "data: " + data + "\n\n"); }
  std::string object(const char *kind, const std::string &choices, const std::string &more = "") const;
  std::string piece(size_t index, const std::string &rest) const;
  void follow(Choice &choice, int64_t id) const;
  std::string logprobs(const Choice &choice, size_t from) const;
  std::string chatLogprobs(const Choice &choice, size_t from) const;
  std::string usage() const;
  std::string fields() const;

  const Service &service;
  Listener &listener;
  Metrics &metrics;
  const Job theJob;
  const uint64_t theSeed;
  std::vector<Choice> choices;
  size_t left; ///< texts that are not whole
  uint64_t read = 0, made = 0;
  bool begun = false; ///< the head of a stream is said: an error is an event
  bool over = false;
};

} // namespace heddle::serve

#endif
