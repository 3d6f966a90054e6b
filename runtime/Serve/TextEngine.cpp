// The engine of models that make texts: one request after the other, in the order in which they came.
#include "runtime/Serve/Engine.h"
#include "runtime/Serve/Queue.h"
#include "runtime/Serve/TextRun.h"

namespace heddle::serve {
namespace {

class TextEngine final : public Engine {
public:
  TextEngine(const Service &service, Listener &listener, Metrics &metrics, size_t queue)
      : service(service), listener(listener), metrics(metrics), jobs(queue) {}

  void put(ExchangePtr exchange) override { putJob(service, listener, jobs, std::move(exchange)); }
  void run() override {
    while (std::optional<Job> job = jobs.take()) {
      metrics.running = 1;
      make(std::move(*job));
      metrics.running = 0;
    }
  }
  void close() override { jobs.close(); }
  void drain() override { refuseAll(listener, jobs); }
  size_t waiting() const override { return jobs.size(); }
  size_t slots() const override { return 1; }

private:
  void make(Job job);

  const Service &service;
  Listener &listener;
  Metrics &metrics;
  Queue<Job> jobs;
};

/// Makes the texts of a job, one after the other.
void TextEngine::make(Job job) {
  auto answer = std::make_shared<Answer>(service, listener, metrics, std::move(job));
  if (!answer->goesOn())
    return;
  for (size_t index = 0; index < answer->count() && answer->goesOn(); ++index) {
    TextRun text(service, metrics, answer, index);
    std::vector<int64_t> ids;
    ApiError error = text.prepare();
    if (!error && text.scoresPrompt())
      if (rt::Status status = text.scorePrompt(); !status.ok())
        error = fromStatus(status, "");
    if (!error && answer->goesOn())
      if (rt::Status status = rt::generate(*service.model, text.prompt(), text.options(), ids); !status.ok())
        error = fromStatus(status, "");
    if (error)
      return answer->fail(error);
    if (answer->goesOn())
      text.finish();
  }
}

} // namespace

/// Texts that are made at once where nobody says how many.
static constexpr int64_t kSlots = 4;

/// Several texts at once where the model can, else one after the other.
static rt::Status makeTextEngine(Service &service, Listener &listener, Metrics &metrics, size_t queue,
                                 std::optional<int64_t> asked, std::string &together, std::unique_ptr<Engine> &engine) {
  const rt::Card &card = service.model->card();
  if (card.entry("batch")) {
    int64_t slots = asked.value_or(kSlots);
    together = std::to_string(slots) + (slots == 1 ? " text at a time" : " texts at a time");
    return manyAtOnce(service, listener, metrics, queue, slots, engine);
  }
  std::string why = card.whyNoSlots.empty() ? "it was compiled without --slots=auto" : card.whyNoSlots;
  if (asked.value_or(1) > 1)
    return rt::badUsage("this program makes one text at a time: " + why);
  together = "one text at a time (" + why + ")";
  engine = std::make_unique<TextEngine>(service, listener, metrics, queue);
  return {};
}

} // namespace heddle::serve

const heddle::serve::MakeEngine heddle_serve_texts = heddle::serve::makeTextEngine;
