// Log-probabilities are of the plain logits, in f64; JSON has no infinity, so the least is -9999.
#include "runtime/Serve/Answer.h"
#include "runtime/Generate/GenerateFlags.h"
#include "runtime/Generate/TextOut.h"
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
  Choice &choice = choices[index];
  Told told = {id, choice.characters, {}, {}};
  follow(choice, id);
  if (!logits)
    return choice.tokens.push_back(std::move(told));
  double whole = logOfSum(logits, count);
  told.logprob = double(logits[id]) - whole;
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    order[size_t(i)] = i;
  auto most = order.begin() + std::min(theJob.logprobs, count);
  std::partial_sort(order.begin(), most, order.end(),
                    [&](int64_t a, int64_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  for (auto at = order.begin(); at != most; ++at)
    told.others.push_back({*at, double(logits[*at]) - whole});
  choice.tokens.push_back(std::move(told));
}

/// Counts the characters of the text up to and with this token.
void Answer::follow(Choice &choice, int64_t id) const {
  if (!choice.decoding)
    choice.decoding.emplace(service.target->decoding());
  service.target->decodeNext(id, true, *choice.decoding, choice.decoded);
  size_t whole = rt::wholeCharacters(choice.decoded);
  for (char c : rt::validUtf8(std::string_view(choice.decoded).substr(0, whole)))
    choice.characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  choice.decoded.erase(0, whole);
}

static std::string pieceOf(const Service &service, int64_t id) {
  return rt::validUtf8(service.target->decodeBytes({id}, false));
}
static std::string logprobText(double x) { return rt::format("%.9g", std::max(x, -9999.0)); }

/// {"content": [...]} of the tokens from `from` on.
std::string Answer::chatLogprobs(const Choice &choice, size_t from) const {
  auto entry = [&](int64_t id, double logprob) {
    std::string bytes = service.target->decodeBytes({id}, false), list;
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
    content += (content.empty() ? "{" : ",{") + entry(token.id, token.logprob.value_or(0)) + ",\"top_logprobs\":[" +
               others + "]}";
  }
  return "{\"content\":[" + content + "],\"refusal\":null}";
}

/// The same in the form of completions.
std::string Answer::logprobs(const Choice &choice, size_t from) const {
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
    values += comma + (token.logprob ? logprobText(*token.logprob) : "null");
    offsets += comma + std::to_string(token.offset);
    std::vector<std::string> seen; // ids may share a piece: the likeliest has the name, the others their ids
    for (auto [id, logprob] : token.others) {
      std::string name = pieceOf(service, id);
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        name = "token_id:" + std::to_string(id);
      seen.push_back(name);
      one += (one.empty() ? "" : ",") + jsonString(name) + ":" + logprobText(logprob);
    }
    others += comma + (token.logprob ? "{" + one + "}" : "null");
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

/// Says the head of a stream, once.
void Answer::begin() {
  if (theJob.stream && !begun)
    listener.begin(*theJob.to, 200, "text/event-stream; charset=utf-8", fields());
  begun = true;
}

void Answer::open(size_t index) {
  begin();
  if (theJob.stream && theJob.chat)
    event(piece(index, "\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null"));
  if (theJob.echo && !wantsPromptLogprobs())
    echo(index);
  if (wantsLogprobs() && !wantsPromptLogprobs()) { // a token is decoded after the prompt's
    Choice &choice = choices[index];
    if (service.model->card().roles.source.empty())
      for (int64_t id : promptOf(index).ids)
        follow(choice, id);
    choice.characters = 0;
  }
}

void Answer::say(size_t index, const std::string &fresh) {
  Choice &choice = choices[index];
  choice.text += fresh;
  if (!theJob.stream || (fresh.empty() && choice.told == choice.tokens.size()))
    return;
  std::string probabilities = logprobs(choice, choice.told);
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
  if (!theJob.stream || !begun)
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
            ",\"logprobs\":" + logprobs(choice, 0) + ",\"finish_reason\":\"" + choice.finish + "\"}";
  }
  listener.whole(*theJob.to, 200, "application/json",
                 object(theJob.chat ? "chat.completion" : "text_completion", list, usage()), fields());
}

} // namespace heddle::serve
