// A choice of a prompt draws its random numbers as the line of the same number of `generate --lines` does.
#include "runtime/Serve/TextRun.h"
#include "runtime/Generate/GenerateFlags.h"
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
  if (job.leastTokens > 0) {
    std::vector<int64_t> &ends = theOptions.rules.eos; // with --ignore-eos none
    ends.insert(ends.end(), job.stopIds.begin(), job.stopIds.end());
    if (job.chat && service.turnEnd && !job.ignoresEnds)
      ends.push_back(*service.turnEnd);
    theOptions.rules.minNewTokens = std::max(theOptions.rules.minNewTokens, job.leastTokens);
  }
  return {};
}

/// Whether a token ends the text, next to the model's own ends.
bool TextRun::isEnd(int64_t id) const {
  const Job &job = theAnswer->job();
  return std::find(job.stopIds.begin(), job.stopIds.end(), id) != job.stopIds.end() ||
         (job.chat && service.turnEnd == id && !job.ignoresEnds);
}

void TextRun::scored(int64_t position, const float *logits, int64_t count) {
  const std::vector<int64_t> &ids = theAnswer->promptOf(index).ids;
  if (position == 0)
    theAnswer->tell(index, nullptr, 0, ids[0]);
  if (position + 1 < int64_t(ids.size()))
    theAnswer->tell(index, logits, count, ids[size_t(position) + 1]);
  else
    theAnswer->echo(index);
}

/// The prompt as what follows its first token, whatever else would be likelier.
rt::Status TextRun::scorePrompt() {
  const std::vector<int64_t> &ids = theAnswer->promptOf(index).ids;
  rt::Prompt first;
  HEDDLE_TRY(rt::promptFromIds(*service.model, {ids[0]}, first));
  rt::GenerateOptions options;
  options.newTokens = int64_t(ids.size()) - 1;
  options.ignoreEos = true;
  options.longestCall = kLongestCall;
  options.goesOn = theOptions.goesOn;
  options.onStep = [&](const std::vector<int64_t> &) { return options.goesOn(); };
  int64_t position = 0;
  for (size_t i = 1; i < ids.size(); ++i)
    options.rules.forcedAt[int64_t(i)] = ids[i];
  options.onChosen = [&](int64_t, const float *logits, int64_t count, int64_t) { scored(position++, logits, count); };
  std::vector<int64_t> made;
  if (options.newTokens > 0)
    HEDDLE_TRY(rt::generate(*service.model, first, options, made));
  if (theAnswer->goesOn())
    scored(int64_t(ids.size()) - 1, nullptr, 0);
  return {};
}

ApiError TextRun::prepare() {
  const Job &job = theAnswer->job();
  const rt::Roles &roles = service.model->card().roles;
  const PromptText &given = theAnswer->promptOf(index);
  if (rt::Status status = rt::promptFromIds(*service.model, given.ids, thePrompt); !status.ok())
    return fromStatus(status, job.chat ? "messages" : "prompt");
  if (ApiError error = readOptions())
    return error;
  out = std::make_unique<rt::TextOut>(*service.target, roles, job.stops.empty() ? roles.stops : job.stops,
                                      roles.source.empty() ? given.ids : std::vector<int64_t>());
  theOptions.longestCall = kLongestCall;
  theOptions.goesOn = [this] { return !theAnswer->job().to->abandoned; };
  if (theAnswer->wantsLogprobs())
    theOptions.onChosen = [this](int64_t, const float *logits, int64_t count, int64_t id) {
      theAnswer->tell(index, logits, count, id);
    };
  theOptions.ended = [this](int64_t, const std::vector<int64_t> &ids) { return isEnd(ids.back()); };
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
  bool silent = isEnd(id) && service.turnEnd != id; // a stop by its id may be a word
  theAnswer->say(index, silent ? "" : out->add(id, int64_t(made) > theAnswer->job().leastTokens));
  return !out->stopped() && !theAnswer->job().to->abandoned;
}

void TextRun::finish(size_t reused) {
  const std::vector<int64_t> &ends = service.model->card().roles.eos;
  theAnswer->say(index, out->finish());
  bool atEnd = !theAnswer->job().ignoresEnds && std::find(ends.begin(), ends.end(), lastId) != ends.end();
  bool stopped = out->stopped() || atEnd || isEnd(lastId);
  metrics.promptTokens += theAnswer->promptOf(index).ids.size() - reused;
  metrics.reusedTokens += reused;
  metrics.newTokens += made;
  theAnswer->close(index, made, stopped ? "stop" : "length");
}

} // namespace heddle::serve
