// The flags of a job are those of the command line, so that both give the same text. A stream says 200 before the first
// token; what goes wrong later is a last event with an error and no [DONE].
#include "runtime/Serve/OpenAI.h"
#include "runtime/GenerateFlags.h"
#include "runtime/Serve/Messages.h"
#include "runtime/TextOut.h"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <sys/random.h>

namespace heddle::serve {

using json::Value;
using rt::jsonString;

/// Rows of a prompt between two looks at whether somebody still waits.
static constexpr int64_t kLongestCall = 512;

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
  if (const Value *seed = memberOf(body, "seed"))
    job.seed = uint64_t(seed->integer);
  for (const char *name : {"max_tokens", "max_completion_tokens"})
    if (std::optional<double> most = numberOf(body, name))
      job.newTokens = int64_t(*most);
  if (const Value *stop = memberOf(body, "stop")) {
    if (stop->is(Value::Kind::Text))
      job.stops.push_back(stop->text);
    for (const Value &one : stop->items)
      job.stops.push_back(one.text);
  }
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
  readSampling(body, job);
  return job.chat ? readConversation(service, body, job) : readPrompts(service, body, job);
}

//===-- answering --------------------------------------------------------------===//

namespace {
/// A token that was chosen, with what is told of it.
struct Told {
  int64_t id;
  double logprob;
  std::vector<std::pair<int64_t, double>> others; ///< the likeliest, in falling order
};

/// One text of a job.
struct Choice {
  int64_t index = 0;
  std::string text;  ///< all of it
  size_t echoed = 0; ///< bytes of the prompt in front
  size_t told = 0;   ///< of `tokens`, that the stream has said
  std::vector<Told> tokens;
  size_t made = 0;
  const char *finish = "length";
};

/// Makes the texts of one job and says them.
class Answer {
public:
  Answer(const Service &service, Listener &listener, Metrics &metrics, const Job &job)
      : service(service), listener(listener), metrics(metrics), job(job) {}
  void run();

private:
  ApiError make(const PromptText &prompt, int64_t choice, int64_t index);
  ApiError options(const rt::Prompt &prompt, int64_t choice, rt::GenerateOptions &options);
  void tell(Choice &choice, const float *logits, int64_t count, int64_t id);
  void say(Choice &choice, const std::string &fresh);
  void event(const std::string &data) { listener.part(*job.to, "data: " + data + "\n\n"); }
  std::string object(const char *kind, const std::string &choices, const std::string &more = "") const;
  std::string logprobs(const Choice &choice, size_t from, size_t offset) const;
  std::string chatLogprobs(const Choice &choice, size_t from) const;
  std::string usage() const;

  const Service &service;
  Listener &listener;
  Metrics &metrics;
  const Job &job;
  std::vector<Choice> choices;
  uint64_t read = 0, made = 0;
  uint64_t seed = 0; ///< that was given, or drawn
};
} // namespace

static double logOfSum(const float *logits, int64_t count) {
  float top = *std::max_element(logits, logits + count);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += std::exp(double(logits[i]) - top);
  return top + std::log(sum);
}

void Answer::tell(Choice &choice, const float *logits, int64_t count, int64_t id) {
  double whole = logOfSum(logits, count);
  Told told = {id, double(logits[id]) - whole, {}};
  std::vector<int64_t> order(count);
  for (int64_t i = 0; i < count; ++i)
    order[i] = i;
  auto most = order.begin() + std::min(job.logprobs, count);
  std::partial_sort(order.begin(), most, order.end(),
                    [&](int64_t a, int64_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  for (auto at = order.begin(); at != most; ++at)
    told.others.push_back({*at, double(logits[*at]) - whole});
  choice.tokens.push_back(std::move(told));
}

static std::string pieceOf(const Service &service, int64_t id) {
  return rt::validUtf8(service.tokenizer->decodeBytes({id}, false));
}
/// A log-probability; JSON has no infinity.
static std::string logprobText(double x) { return rt::format("%.9g", std::max(x, -9999.0)); }

/// {"content": [...]} of the tokens from `from` on.
std::string Answer::chatLogprobs(const Choice &choice, size_t from) const {
  auto entry = [&](int64_t id, double logprob) {
    std::string bytes = service.tokenizer->decodeBytes({id}, false), list;
    for (char c : bytes)
      list += (list.empty() ? "" : ",") + std::to_string(static_cast<unsigned char>(c));
    return "\"token\":" + jsonString(rt::validUtf8(bytes)) + ",\"logprob\":" + logprobText(logprob) + ",\"bytes\":[" +
           list + "]";
  };
  std::string content;
  for (size_t i = from; i < choice.tokens.size(); ++i) {
    const Told &token = choice.tokens[i];
    std::string others;
    for (auto [id, logprob] : token.others)
      others += (others.empty() ? "{" : ",{") + entry(id, logprob) + "}";
    content += (content.empty() ? "{" : ",{") + entry(token.id, token.logprob) + ",\"top_logprobs\":[" + others + "]}";
  }
  return "{\"content\":[" + content + "],\"refusal\":null}";
}

/// The same in the form of completions; `offset`: where the text of the first token begins.
std::string Answer::logprobs(const Choice &choice, size_t from, size_t offset) const {
  if (job.logprobs < 0)
    return "null";
  if (job.chat)
    return chatLogprobs(choice, from);
  std::string tokens, values, others, offsets;
  for (size_t i = from; i < choice.tokens.size(); ++i) {
    const Told &token = choice.tokens[i];
    const char *comma = i > from ? "," : "";
    std::string piece = pieceOf(service, token.id), one;
    tokens += comma + jsonString(piece);
    values += comma + logprobText(token.logprob);
    offsets += comma + std::to_string(offset);
    offset += piece.size();
    std::vector<std::string> seen; // ids may share a piece; the likelier counts
    for (auto [id, logprob] : token.others) {
      std::string name = pieceOf(service, id);
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        continue;
      seen.push_back(name);
      one += (one.empty() ? "" : ",") + jsonString(name) + ":" + logprobText(logprob);
    }
    others += comma + ("{" + one + "}");
  }
  return "{\"tokens\":[" + tokens + "],\"token_logprobs\":[" + values + "],\"top_logprobs\":[" + others +
         "],\"text_offset\":[" + offsets + "]}";
}

std::string Answer::object(const char *kind, const std::string &list, const std::string &more) const {
  return "{\"id\":" + jsonString(job.id) + ",\"object\":\"" + kind + "\",\"created\":" + std::to_string(job.created) +
         ",\"model\":" + jsonString(service.name) + ",\"system_fingerprint\":" + jsonString(service.fingerprint) +
         ",\"choices\":[" + list + "]" + more + "}";
}

std::string Answer::usage() const {
  return ",\"usage\":{\"prompt_tokens\":" + std::to_string(read) + ",\"completion_tokens\":" + std::to_string(made) +
         ",\"total_tokens\":" + std::to_string(read + made) + "}";
}

/// Sends what is new of a choice, in a stream.
void Answer::say(Choice &choice, const std::string &fresh) {
  size_t offset = choice.text.size();
  choice.text += fresh;
  if (!job.stream || (fresh.empty() && choice.told == choice.tokens.size()))
    return;
  std::string probabilities = logprobs(choice, choice.told, offset);
  choice.told = choice.tokens.size();
  std::string body = job.chat ? "\"delta\":{\"content\":" + jsonString(fresh) + "}" : "\"text\":" + jsonString(fresh);
  event(object(job.chat ? "chat.completion.chunk" : "text_completion",
               "{\"index\":" + std::to_string(choice.index) + "," + body + ",\"logprobs\":" + probabilities +
                   ",\"finish_reason\":null}"));
}

ApiError Answer::options(const rt::Prompt &prompt, int64_t choice, rt::GenerateOptions &options) {
  rt::Args args;
  std::vector<std::string> flags = job.flags;
  int64_t room = rt::roomFor(*service.model, prompt, service.context - prompt.length + 1);
  if (job.newTokens || room < 1)
    room = std::min(room, job.newTokens.value_or(room));
  if (room < 0)
    return {400,
            "the prompt has " + std::to_string(prompt.length) + " tokens, and a text here at most " +
                std::to_string(service.context),
            "", "context_length_exceeded"};
  flags.insert(flags.end(), {"-n", std::to_string(room)});
  rt::Status status = rt::Args::parse(flags, rt::generateValued({}), rt::generatePlain({}), 0, args);
  if (status.ok())
    status = rt::readGenerateFlags(args, service.model->card(), prompt, seed, options);
  if (!status.ok())
    return fromStatus(status, "");
  options.sampler.seed += uint64_t(choice) << 32;
  options.rules.presencePenalty = job.presencePenalty;
  options.rules.frequencyPenalty = job.frequencyPenalty;
  options.rules.bias = job.bias;
  return {};
}

ApiError Answer::make(const PromptText &given, int64_t number, int64_t index) {
  const rt::Roles &roles = service.model->card().roles;
  rt::Prompt prompt;
  if (rt::Status status = rt::promptFromIds(*service.model, given.ids, prompt); !status.ok())
    return fromStatus(status, job.chat ? "messages" : "prompt");
  rt::GenerateOptions how;
  if (ApiError error = options(prompt, number, how))
    return error;
  Choice choice;
  choice.index = index;
  if (job.stream && job.chat)
    event(object("chat.completion.chunk",
                 "{\"index\":" + std::to_string(index) +
                     ",\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}"));
  if (job.echo)
    say(choice, given.text);
  choice.echoed = choice.text.size();
  rt::TextOut out(*service.tokenizer, roles, job.stops.empty() ? roles.stops : job.stops,
                  roles.source.empty() ? given.ids : std::vector<int64_t>());
  auto last = std::chrono::steady_clock::now();
  int64_t end = -1; // the last id
  how.longestCall = kLongestCall;
  how.goesOn = [&] { return !job.to->abandoned; };
  if (job.logprobs >= 0)
    how.onChosen = [&](int64_t, const float *logits, int64_t count, int64_t id) { tell(choice, logits, count, id); };
  how.onStep = [&](const std::vector<int64_t> &next) {
    auto now = std::chrono::steady_clock::now();
    if (choice.made == 0)
      metrics.firstToken.add(std::chrono::duration<double>(now - job.arrived).count());
    else
      metrics.step.add(std::chrono::duration<double>(now - last).count());
    last = now;
    ++choice.made;
    end = next[0];
    say(choice, out.add(end));
    return !out.stopped() && !job.to->abandoned;
  };
  if (job.chat && service.turnEnd)
    how.ended = [&](int64_t, const std::vector<int64_t> &made) { return made.back() == *service.turnEnd; };
  std::vector<int64_t> ids;
  rt::Status status = rt::generate(*service.model, prompt, how, ids);
  if (!status.ok())
    return fromStatus(status, "");
  say(choice, out.finish());
  if (out.stopped() || (job.chat && service.turnEnd == end) ||
      std::find(roles.eos.begin(), roles.eos.end(), end) != roles.eos.end())
    choice.finish = "stop";
  if (number == 0)
    read += given.ids.size();
  metrics.promptTokens += given.ids.size();
  metrics.newTokens += choice.made;
  made += choice.made;
  if (job.stream)
    event(object(job.chat ? "chat.completion.chunk" : "text_completion",
                 "{\"index\":" + std::to_string(index) + "," + (job.chat ? "\"delta\":{}" : "\"text\":\"\"") +
                     ",\"logprobs\":null,\"finish_reason\":\"" + choice.finish + "\"}"));
  choices.push_back(std::move(choice));
  return {};
}

void Answer::run() {
  seed = job.seed.value_or(rt::drawSeed());
  std::string fields = job.fields + "Heddle-Seed: " + std::to_string(seed) + "\r\n";
  if (job.stream)
    listener.begin(*job.to, 200, "text/event-stream; charset=utf-8", fields);
  int64_t index = 0;
  for (const PromptText &prompt : job.prompts)
    for (int64_t choice = 0; choice < job.choices; ++choice, ++index) {
      ApiError error = make(prompt, choice, index);
      if (job.to->abandoned) {
        ++metrics.cancelled;
        return;
      }
      if (!error)
        continue;
      if (!job.stream)
        return refuse(listener, *job.to, error, job.fields);
      event(errorBody(error));
      return listener.end(*job.to);
    }
  if (job.stream) {
    if (job.usage)
      event(object(job.chat ? "chat.completion.chunk" : "text_completion", "", usage()));
    listener.part(*job.to, "data: [DONE]\n\n");
    return listener.end(*job.to);
  }
  std::string list;
  for (const Choice &choice : choices) {
    std::string body =
        job.chat ? "\"message\":{\"role\":\"assistant\",\"content\":" + jsonString(choice.text) + ",\"refusal\":null}"
                 : "\"text\":" + jsonString(choice.text);
    list += (list.empty() ? "{\"index\":" : ",{\"index\":") + std::to_string(choice.index) + "," + body +
            ",\"logprobs\":" + logprobs(choice, 0, choice.echoed) + ",\"finish_reason\":\"" + choice.finish + "\"}";
  }
  listener.whole(*job.to, 200, "application/json",
                 object(job.chat ? "chat.completion" : "text_completion", list, usage()), fields);
}

void runJob(const Service &service, Listener &listener, Metrics &metrics, const Job &job) {
  if (job.to->abandoned) {
    ++metrics.cancelled;
    return;
  }
  Answer(service, listener, metrics, job).run();
}

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
