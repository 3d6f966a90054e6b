// The flags of a job are those of the command line, so that both give the same text.
#include "runtime/Serve/OpenAI.h"
#include "runtime/Generate/GenerateFlags.h"
#include "runtime/Generate/Prompt.h"
#include "runtime/Serve/Messages.h"
#include <algorithm>
#include <ctime>
#include <sys/random.h>

namespace heddle::serve {

using json::Value;
using rt::jsonString;

//===-- reading ----------------------------------------------------------------===//

/// A prefix and 24 letters and digits, drawn.
static std::string drawnId(const char *prefix) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz012345";
  unsigned char bytes[24];
  if (getrandom(bytes, sizeof bytes, 0) != ssize_t(sizeof bytes))
    for (unsigned char &byte : bytes)
      byte = static_cast<unsigned char>(rt::drawSeed());
  std::string id = prefix;
  for (unsigned char byte : bytes)
    id += kLetters[byte % (sizeof kLetters - 1)];
  return id;
}

static ApiError readPrompts(const Service &service, const Value &body, Job &job) {
  auto add = [&](const Value &one) -> ApiError {
    PromptText prompt;
    if (ApiError error = readTokens(service, one, "prompt", prompt.ids))
      return error;
    prompt.text = one.is(Value::Kind::Text) ? one.text : service.tokenizer->decode(prompt.ids, true);
    job.prompts.push_back(std::move(prompt));
    return {};
  };
  const Value *prompt = memberOf(body, "prompt");
  if (!prompt)
    return {400, "`prompt` is missing", "prompt", "missing_required_parameter"};
  if (!isSeveral(*prompt))
    return add(*prompt);
  for (const Value &one : prompt->items)
    if (ApiError error = add(one))
      return error;
  return {};
}

static ApiError readConversation(const Service &service, Value &body, Job &job) {
  if (!memberOf(body, "messages"))
    return {400, "`messages` is missing", "messages", "missing_required_parameter"};
  if (!service.render)
    return {400, "this model has no chat template; POST /v1/completions continues a text", "", "no_chat_template"};
  if (ApiError error = prepareMessages(service, body))
    return error;
  PromptText prompt;
  if (ApiError error = service.render(body, prompt.text))
    return error;
  // The template has written the special tokens; none are added.
  rt::Encoded encoded;
  if (rt::Status status = service.tokenizer->encode(prompt.text, nullptr, false, encoded); !status.ok())
    return fromStatus(status, "messages");
  for (const rt::Token &token : encoded.tokens)
    prompt.ids.push_back(token.id);
  job.prompts.push_back(std::move(prompt));
  return {};
}

/// What is refused since an answer would not be what was asked for.
static ApiError readRefused(const Value &body) {
  if (const Value *format = memberOf(body, "response_format")) {
    const Value *type = memberOf(*format, "type");
    if (!type || type->text != "text")
      return {400, "answers are not held to a form here; `response_format` may be {\"type\": \"text\"}",
              "response_format", "unsupported_value"};
  }
  if (numberOf(body, "best_of").value_or(numberOf(body, "n").value_or(1)) != numberOf(body, "n").value_or(1))
    return {400, "`best_of` above `n` is not done: all answers are handed out", "best_of", "unsupported_value"};
  if (const Value *kinds = memberOf(body, "modalities"))
    if (isSeveral(*kinds) ? std::any_of(kinds->items.begin(), kinds->items.end(),
                                        [](const Value &kind) { return kind.text != "text"; })
                          : kinds->text != "text")
      return {400, "answers are texts; `modalities` may be [\"text\"]", "modalities", "unsupported_value"};
  if (const Value *options = memberOf(body, "stream_options"))
    if (const Value *usage = memberOf(*options, "include_usage"); usage && !usage->is(Value::Kind::Boolean))
      return {400, "`include_usage` must be true or false", "stream_options", "invalid_value"};
  if (integerOf(body, "min_tokens").value_or(0) > integerOf(body, "max_tokens").value_or(INT64_MAX) &&
      integerOf(body, "max_tokens") >= 0)
    return {400, "`min_tokens` is more than `max_tokens`", "min_tokens", "invalid_value"};
  if (flagOf(body, "continue_final_message", false) && flagOf(body, "add_generation_prompt", false))
    return {400, "`continue_final_message` goes on in the last turn, and `add_generation_prompt` opens another",
            "continue_final_message", "invalid_value"};
  if (memberOf(body, "top_logprobs") && !flagOf(body, "logprobs", false))
    return {400, "`top_logprobs` needs `logprobs`: true", "top_logprobs", "invalid_value"};
  return {};
}

static void readSampling(const Value &body, Job &job) {
  auto flag = [&](const char *field, const char *name) {
    if (std::optional<double> value = numberOf(body, field))
      job.flags.insert(job.flags.end(), {name, rt::format("%.17g", *value)});
  };
  if (numberOf(body, "temperature") == 0.0) {
    job.flags.push_back("--greedy");
  } else {
    flag("temperature", "--temp");
    if (integerOf(body, "top_k").value_or(0) < 0)
      job.flags.insert(job.flags.end(), {"--top-k", "0"});
    else
      flag("top_k", "--top-k");
    flag("top_p", "--top-p");
    flag("min_p", "--min-p");
  }
  flag("repetition_penalty", "--repetition-penalty");
  job.presencePenalty = numberOf(body, "presence_penalty").value_or(0);
  job.frequencyPenalty = numberOf(body, "frequency_penalty").value_or(0);
  if (const Value *bias = memberOf(body, "logit_bias"))
    for (const auto &[id, more] : bias->members)
      job.bias[strtoll(id.c_str(), nullptr, 10)] = more.real;
  if (std::optional<int64_t> seed = integerOf(body, "seed"); seed && *seed >= 0)
    job.seed = uint64_t(*seed);
  for (const char *name : {"max_tokens", "max_completion_tokens"})
    if (std::optional<int64_t> most = integerOf(body, name); most && *most >= 0)
      job.newTokens = *most;
  job.leastTokens = integerOf(body, "min_tokens").value_or(0);
  job.ignoresEnds = flagOf(body, "ignore_eos", false);
  if (job.ignoresEnds)
    job.flags.push_back("--ignore-eos");
  if (const Value *ids = memberOf(body, "stop_token_ids"))
    for (const Value &id : ids->items)
      job.stopIds.push_back(id.integer);
  if (const Value *stop = memberOf(body, "stop")) {
    if (stop->is(Value::Kind::Text))
      job.stops.push_back(stop->text);
    for (const Value &one : stop->items)
      job.stops.push_back(one.text);
  }
}

/// An error unless the model takes a prompt of this length.
static ApiError checkPrompt(const Service &service, const PromptText &prompt, const std::string &param) {
  if (int64_t length = int64_t(prompt.ids.size());
      length > service.context && service.model->card().roles.source.empty())
    return {400,
            "the prompt has " + std::to_string(length) + " tokens, and a text here at most " +
                std::to_string(service.context),
            param, "context_length_exceeded"};
  rt::Prompt made;
  rt::Status status = rt::promptFromIds(*service.model, prompt.ids, made);
  return status.ok() ? ApiError{} : fromStatus(status, param);
}

ApiError readJob(const Service &service, Endpoint endpoint, ExchangePtr to, Job &job) {
  job.to = std::move(to);
  job.chat = endpoint == Chat;
  job.id = drawnId(job.chat ? "chatcmpl-" : "cmpl-");
  job.created = int64_t(time(nullptr));
  job.arrived = std::chrono::steady_clock::now();
  Value body;
  if (ApiError error = readBody(service, endpoint, job.to->body, body, job.fields))
    return error;
  if (ApiError error = readRefused(body))
    return error;
  job.stream = flagOf(body, "stream", false);
  if (const Value *options = memberOf(body, "stream_options"))
    job.usage = flagOf(*options, "include_usage", false);
  job.echo = flagOf(body, "echo", false);
  job.choices = int64_t(numberOf(body, "n").value_or(1));
  if (job.chat && flagOf(body, "logprobs", false))
    job.logprobs = int64_t(numberOf(body, "top_logprobs").value_or(0));
  else if (!job.chat && memberOf(body, "logprobs"))
    job.logprobs = int64_t(*numberOf(body, "logprobs"));
  if (job.echo && job.logprobs >= 0 && !service.model->card().roles.source.empty())
    return {400, "the prompt of this model is no part of its text; `echo` with `logprobs` needs one that is", "echo",
            "unsupported_value"};
  readSampling(body, job);
  if (ApiError error = job.chat ? readConversation(service, body, job) : readPrompts(service, body, job))
    return error;
  for (const PromptText &prompt : job.prompts)
    if (ApiError error = checkPrompt(service, prompt, job.chat ? "messages" : "prompt"))
      return error;
  return {};
}

void putJob(const Service &service, Listener &listener, Queue<Job> &jobs, ExchangePtr exchange) {
  Job job;
  Endpoint endpoint = exchange->head.path == "/v1/completions" ? Completions : Chat;
  if (ApiError error = readJob(service, endpoint, std::move(exchange), job))
    return refuse(listener, *job.to, error, job.fields);
  if (listener.isDraining())
    refuse(listener, *job.to, stopping());
  else if (!jobs.put(job))
    refuse(listener, *job.to, {503, "the queue is full", "", "overloaded"}, job.fields);
}

void refuseAll(Listener &listener, Queue<Job> &jobs) {
  for (const Job &job : jobs.drain())
    refuse(listener, *job.to, stopping());
}

//===-- the list of models ------------------------------------------------------===//

/// With the paths that the model answers and the positions of a text, for the page.
std::string modelObject(const Service &service) {
  std::string paths;
  for (const EndpointName &one : endpointNames())
    if ((service.endpoints & one.endpoint) && (one.endpoint != Chat || service.render))
      paths += (paths.empty() ? "\"" : ",\"") + std::string(one.path) + "\"";
  return "{\"id\":" + jsonString(service.name) +
         ",\"object\":\"model\",\"created\":" + std::to_string(service.started) +
         ",\"owned_by\":\"heddle\",\"endpoints\":[" + paths + "],\"context\":" + std::to_string(service.context) + "}";
}

std::string modelList(const Service &service) {
  return "{\"object\":\"list\",\"data\":[" + modelObject(service) + "]}";
}

} // namespace heddle::serve
