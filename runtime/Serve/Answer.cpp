// Log-probabilities are of the plain logits, in f64; JSON has no infinity, so the least is -9999.
#include "runtime/Serve/Answer.h"
#include "runtime/GenerateFlags.h"
#include <algorithm>
#include <cmath>

namespace heddle::serve {

using rt::jsonString;

Answer::Answer(const Service &service, Listener &listener, Metrics &metrics, Job job)
    : service(service), listener(listener), metrics(metrics), theJob(std::move(job)),
      theSeed(theJob.seed.value_or(rt::drawSeed())), choices(theJob.prompts.size() * size_t(theJob.choices)),
      left(choices.size()) {
  for (const PromptText &prompt : theJob.prompts)
    read += prompt.ids.size();
}

bool Answer::goesOn() {
  if (!over && theJob.to->abandoned) {
    ++metrics.cancelled;
    over = true;
  }
  return !over;
}

static double logOfSum(const float *logits, int64_t count) {
  float top = *std::max_element(logits, logits + count);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += std::exp(double(logits[i]) - top);
  return top + std::log(sum);
}

void Answer::tell(size_t index, const float *logits, int64_t count, int64_t id) {
  double whole = logOfSum(logits, count);
  Told told = {id, double(logits[id]) - whole, {}};
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    order[size_t(i)] = i;
  auto most = order.begin() + std::min(theJob.logprobs, count);
  std::partial_sort(order.begin(), most, order.end(),
                    [&](int64_t a, int64_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  for (auto at = order.begin(); at != most; ++at)
    told.others.push_back({*at, double(logits[*at]) - whole});
  choices[index].tokens.push_back(std::move(told));
}

static std::string pieceOf(const Service &service, int64_t id) {
  return rt::validUtf8(service.tokenizer->decodeBytes({id}, false));
}
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
  if (theJob.logprobs < 0)
    return "null";
  if (theJob.chat)
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
  return "{\"id\":" + jsonString(theJob.id) + ",\"object\":\"" + kind +
         "\",\"created\":" + std::to_string(theJob.created) + ",\"model\":" + jsonString(service.name) +
         ",\"system_fingerprint\":" + jsonString(service.fingerprint) + ",\"choices\":[" + list + "]" + more + "}";
}

std::string Answer::usage() const {
  return ",\"usage\":{\"prompt_tokens\":" + std::to_string(read) + ",\"completion_tokens\":" + std::to_string(made) +
         ",\"total_tokens\":" + std::to_string(read + made) + "}";
}

std::string Answer::fields() const { return theJob.fields + "Heddle-Seed: " + std::to_string(theSeed) + "\r\n"; }

/// An event of a stream, about one text.
std::string Answer::piece(size_t index, const std::string &rest) const {
  return object(theJob.chat ? "chat.completion.chunk" : "text_completion",
                "{\"index\":" + std::to_string(index) + "," + rest + "}");
}

void Answer::begin() {
  if (theJob.stream)
    listener.begin(*theJob.to, 200, "text/event-stream; charset=utf-8", fields());
}

void Answer::open(size_t index) {
  if (theJob.stream && theJob.chat)
    event(piece(index, "\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null"));
  if (theJob.echo)
    say(index, promptOf(index).text);
  choices[index].echoed = choices[index].text.size();
}

void Answer::say(size_t index, const std::string &fresh) {
  Choice &choice = choices[index];
  size_t offset = choice.text.size();
  choice.text += fresh;
  if (!theJob.stream || (fresh.empty() && choice.told == choice.tokens.size()))
    return;
  std::string probabilities = logprobs(choice, choice.told, offset);
  choice.told = choice.tokens.size();
  std::string body =
      theJob.chat ? "\"delta\":{\"content\":" + jsonString(fresh) + "}" : "\"text\":" + jsonString(fresh);
  event(piece(index, body + ",\"logprobs\":" + probabilities + ",\"finish_reason\":null"));
}

void Answer::close(size_t index, size_t newTokens, const char *finishReason) {
  choices[index].finish = finishReason;
  made += newTokens;
  if (theJob.stream)
    event(piece(index, std::string(theJob.chat ? "\"delta\":{}" : "\"text\":\"\"") +
                           ",\"logprobs\":null,\"finish_reason\":\"" + finishReason + "\""));
  if (--left == 0)
    finish();
}

void Answer::fail(const ApiError &error) {
  over = true;
  if (!theJob.stream)
    return refuse(listener, *theJob.to, error, theJob.fields);
  event(errorBody(error));
  listener.end(*theJob.to);
}

void Answer::finish() {
  over = true;
  if (theJob.stream) {
    if (theJob.usage)
      event(object(theJob.chat ? "chat.completion.chunk" : "text_completion", "", usage()));
    listener.part(*theJob.to, "data: [DONE]\n\n");
    return listener.end(*theJob.to);
  }
  std::string list;
  for (size_t index = 0; index < choices.size(); ++index) {
    const Choice &choice = choices[index];
    std::string body = theJob.chat ? "\"message\":{\"role\":\"assistant\",\"content\":" + jsonString(choice.text) +
                                         ",\"refusal\":null}"
                                   : "\"text\":" + jsonString(choice.text);
    list += (list.empty() ? "{\"index\":" : ",{\"index\":") + std::to_string(index) + "," + body +
            ",\"logprobs\":" + logprobs(choice, 0, choice.echoed) + ",\"finish_reason\":\"" + choice.finish + "\"}";
  }
  listener.whole(*theJob.to, 200, "application/json",
                 object(theJob.chat ? "chat.completion" : "text_completion", list, usage()), fields());
}

} // namespace heddle::serve
