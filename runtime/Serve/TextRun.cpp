// A choice of a prompt draws its random numbers as the line of the same number of `generate --lines` does.
#include "runtime/Serve/TextRun.h"
#include "runtime/GenerateFlags.h"
#include <algorithm>

namespace heddle::serve {

/// Rows of a prompt between two looks at whether somebody still waits.
static constexpr int64_t kLongestCall = 512;

TextRun::TextRun(const Service &service, Metrics &metrics, std::shared_ptr<Answer> answer, size_t index)
    : service(service), metrics(metrics), theAnswer(std::move(answer)), index(index),
      last(std::chrono::steady_clock::now()) {}

ApiError TextRun::readOptions() {
  const Job &job = theAnswer->job();
  rt::Args args;
  std::vector<std::string> flags = job.flags;
  int64_t room = service.context - thePrompt.length + 1;
  room = std::min(room, job.newTokens.value_or(room));
  flags.insert(flags.end(), {"-n", std::to_string(room)});
  rt::Status status = rt::Args::parse(flags, rt::generateValued({}), rt::generatePlain({}), 0, args);
  if (status.ok())
    status = rt::readGenerateFlags(args, service.model->card(), thePrompt, theAnswer->seed(), theOptions);
  if (!status.ok())
    return fromStatus(status, "");
  theOptions.sampler.seed += uint64_t(index % size_t(job.choices)) << 32;
  theOptions.rules.presencePenalty = job.presencePenalty;
  theOptions.rules.frequencyPenalty = job.frequencyPenalty;
  theOptions.rules.bias = job.bias;
  return {};
}

ApiError TextRun::prepare() {
  const Job &job = theAnswer->job();
  const rt::Roles &roles = service.model->card().roles;
  const PromptText &given = theAnswer->promptOf(index);
  if (roles.source.empty() && int64_t(given.ids.size()) > service.context)
    return {400,
            "the prompt has " + std::to_string(given.ids.size()) + " tokens, and a text here at most " +
                std::to_string(service.context),
            job.chat ? "messages" : "prompt", "context_length_exceeded"};
  if (rt::Status status = rt::promptFromIds(*service.model, given.ids, thePrompt); !status.ok())
    return fromStatus(status, job.chat ? "messages" : "prompt");
  if (ApiError error = readOptions())
    return error;
  out = std::make_unique<rt::TextOut>(*service.tokenizer, roles, job.stops.empty() ? roles.stops : job.stops,
                                      roles.source.empty() ? given.ids : std::vector<int64_t>());
  theOptions.longestCall = kLongestCall;
  theOptions.goesOn = [this] { return !theAnswer->job().to->abandoned; };
  if (theAnswer->wantsLogprobs())
    theOptions.onChosen = [this](int64_t, const float *logits, int64_t count, int64_t id) {
      theAnswer->tell(index, logits, count, id);
    };
  if (job.chat && service.turnEnd)
    theOptions.ended = [this](int64_t, const std::vector<int64_t> &ids) { return ids.back() == *service.turnEnd; };
  theOptions.onStep = [this](const std::vector<int64_t> &next) { return show(next[0]); };
  theAnswer->open(index);
  return {};
}

/// Whether the text goes on after this token.
bool TextRun::show(int64_t id) {
  auto now = std::chrono::steady_clock::now();
  if (made == 0)
    metrics.firstToken.add(std::chrono::duration<double>(now - theAnswer->job().arrived).count());
  else
    metrics.step.add(std::chrono::duration<double>(now - last).count());
  last = now;
  ++made;
  lastId = id;
  theAnswer->say(index, out->add(id));
  return !out->stopped() && !theAnswer->job().to->abandoned;
}

void TextRun::finish(size_t reused) {
  const std::vector<int64_t> &ends = service.model->card().roles.eos;
  theAnswer->say(index, out->finish());
  bool stopped = out->stopped() || (theAnswer->job().chat && service.turnEnd == lastId) ||
                 std::find(ends.begin(), ends.end(), lastId) != ends.end();
  metrics.promptTokens += theAnswer->promptOf(index).ids.size() - reused;
  metrics.reusedTokens += reused;
  metrics.newTokens += made;
  theAnswer->close(index, made, stopped ? "stop" : "length");
}

} // namespace heddle::serve
