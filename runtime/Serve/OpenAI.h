// Completions and chat completions in OpenAI's form: a request becomes a job, and a job's texts become its answer,
// whole or as server-sent events.
#ifndef HEDDLE_RUNTIME_SERVE_OPENAI_H
#define HEDDLE_RUNTIME_SERVE_OPENAI_H

#include "runtime/Model.h"
#include "runtime/Serve/Listener.h"
#include "runtime/Serve/Metrics.h"
#include "runtime/Serve/RequestFields.h"
#include "runtime/Tokenizer/Tokenizer.h"
#include <chrono>
#include <map>

namespace heddle::serve {

/// What is served, read by all threads and changed by none.
struct Service {
  rt::Model *model = nullptr;
  const rt::Tokenizer *tokenizer = nullptr;
  std::string name;                 ///< of the model
  std::vector<std::string> aliases; ///< other names that requests may give
  std::string fingerprint;          ///< of weights and program: same fingerprint, same seed, same text
  int64_t context = 0;              ///< positions of a text
  int64_t started = 0;              ///< seconds since 1970
  /// Puts a conversation into the model's template; absent: the model has none.
  std::function<ApiError(const json::Value &body, std::string &text)> render;
  std::optional<int64_t> turnEnd; ///< the token that ends an answer in a conversation
};

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
  int64_t logprobs = -1; ///< other tokens beside each that is chosen; -1: none is told
  std::vector<PromptText> prompts;
  std::vector<std::string> flags; ///< as on the command line of `generate`
  std::vector<std::string> stops;
  std::optional<int64_t> newTokens;
  std::optional<uint64_t> seed;
  double presencePenalty = 0, frequencyPenalty = 0;
  std::map<int64_t, double> bias;
  std::string id, fields; ///< of the answer; fields of its head
  int64_t created = 0;
  std::chrono::steady_clock::time_point arrived;
};

/// Reads the body of `to`; tokenizes the prompts.
ApiError readJob(const Service &service, Endpoint endpoint, ExchangePtr to, Job &job);

/// Makes the texts of a job, one after the other, and answers.
void runJob(const Service &service, Listener &listener, Metrics &metrics, const Job &job);

/// The error of a request that comes, or still waits, while the server is stopping.
ApiError stopping();
/// Answers a job that is not run.
void failJob(Listener &listener, const Job &job, const ApiError &error);

/// The body of GET /v1/models, or of one model.
std::string modelList(const Service &service);
std::string modelObject(const Service &service);

} // namespace heddle::serve

#endif
