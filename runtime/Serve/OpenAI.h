// Completions and chat completions in OpenAI's form: a request becomes a job. What becomes of a job is Answer.h's.
#ifndef HEDDLE_RUNTIME_SERVE_OPENAI_H
#define HEDDLE_RUNTIME_SERVE_OPENAI_H

#include "runtime/Serve/Queue.h"
#include "runtime/Serve/Requests.h"
#include <chrono>
#include <map>

namespace heddle::serve {

/// A prompt as text, and as what the model reads.
struct PromptText {
  std::string text;
  std::vector<int64_t> ids;
};

/// A request that was understood.
struct Job {
  ExchangePtr to;
  bool chat = false, stream = false, usage = false, echo = false;
  int64_t choices = 1;
  int64_t logprobs = -1; ///< other tokens next to each that is chosen; -1: none is told
  std::vector<PromptText> prompts;
  std::vector<std::string> flags; ///< as on the command line of `generate`
  std::vector<std::string> stops;
  std::optional<int64_t> newTokens;
  int64_t leastTokens = 0;      ///< before these nothing ends a text
  bool ignoresEnds = false;     ///< the model's own ends of a text and of a turn
  std::vector<int64_t> stopIds; ///< tokens that end a text and are not shown
  std::optional<uint64_t> seed;
  double presencePenalty = 0, frequencyPenalty = 0;
  std::map<int64_t, double> bias;
  std::string id, fields; ///< of the answer; fields of its head
  int64_t created = 0;
  std::chrono::steady_clock::time_point arrived;
};

/// Reads the body of `to`; tokenizes the prompts.
ApiError readJob(const Service &service, Endpoint endpoint, ExchangePtr to, Job &job);

/// Reads a request for texts and lets it wait, or answers at once why not.
void putJob(const Service &service, Listener &listener, Queue<Job> &jobs, ExchangePtr exchange);
/// Refuses all that waits, as the server is stopping.
void refuseAll(Listener &listener, Queue<Job> &jobs);

/// The body of GET /v1/models, or of one model.
std::string modelList(const Service &service);
std::string modelObject(const Service &service);

} // namespace heddle::serve

#endif
