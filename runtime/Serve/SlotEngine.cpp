// The engine of models whose steps take texts that come and go: many texts are made at once, in rounds (Scheduler.h).
// Between two rounds requests are taken from the queue, as long as slots are free for all of their texts but the last
// ones.
#include "runtime/Serve/Engine.h"
#include "runtime/Serve/Queue.h"
#include "runtime/Serve/Scheduler.h"

namespace heddle::serve {
namespace {

class SlotEngine final : public Engine {
public:
  SlotEngine(const Service &service, Listener &listener, Metrics &metrics, size_t queue)
      : service(service), listener(listener), metrics(metrics), jobs(queue), scheduler(service, metrics) {}

  rt::Status prepare(int64_t slots) { return scheduler.prepare(slots); }

  void put(ExchangePtr exchange) override { putJob(service, listener, jobs, std::move(exchange)); }
  void run() override;
  void close() override { jobs.close(); }
  void drain() override { refuseAll(listener, jobs); }
  size_t waiting() const override { return jobs.size(); }
  size_t slots() const override { return size_t(scheduler.slotCount()); }

private:
  void begin(Job job);

  const Service &service;
  Listener &listener;
  Metrics &metrics;
  Queue<Job> jobs;
  Scheduler scheduler;
};

void SlotEngine::run() {
  for (;;) {
    while (scheduler.room() > 0) {
      std::optional<Job> job = scheduler.isIdle() ? jobs.take() : jobs.tryTake();
      if (job)
        begin(std::move(*job));
      else if (scheduler.isIdle())
        return; // the queue is closed
      else
        break;
    }
    scheduler.round();
  }
}

/// Hands the texts of a job to the scheduler.
void SlotEngine::begin(Job job) {
  auto answer = std::make_shared<Answer>(service, listener, metrics, std::move(job));
  if (!answer->goesOn())
    return;
  for (size_t index = 0; index < answer->count() && answer->goesOn(); ++index) {
    auto text = std::make_unique<TextRun>(service, metrics, answer, index);
    std::vector<int64_t> ids;
    if (ApiError error = text->prepare())
      return answer->fail(error);
    if (text->options().beams.width == 1 && (text->options().newTokens > 0 || text->scoresPrompt())) {
      scheduler.add(std::move(text));
      continue;
    }
    // Beams are rows of a batch of their own: the others wait.
    rt::Status status;
    if (text->scoresPrompt())
      status = text->scorePrompt();
    if (status.ok() && answer->goesOn())
      status = rt::generate(*service.model, text->prompt(), text->options(), ids);
    if (!status.ok())
      return answer->fail(fromStatus(status, ""));
    if (answer->goesOn())
      text->finish();
  }
}

} // namespace

rt::Status manyAtOnce(const Service &service, Listener &listener, Metrics &metrics, size_t queue, int64_t slots,
                      std::unique_ptr<Engine> &engine) {
  auto made = std::make_unique<SlotEngine>(service, listener, metrics, queue);
  HEDDLE_TRY(made->prepare(slots));
  engine = std::move(made);
  return {};
}

} // namespace heddle::serve
