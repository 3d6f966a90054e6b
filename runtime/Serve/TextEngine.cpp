// The engine of models that make texts: one request after the other, in the order in which they came.
#include "runtime/Serve/Engine.h"
#include "runtime/Serve/OpenAI.h"
#include "runtime/Serve/Queue.h"

namespace heddle::serve {
namespace {

class TextEngine final : public Engine {
public:
  TextEngine(const Service &service, Listener &listener, Metrics &metrics, size_t queue)
      : service(service), listener(listener), metrics(metrics), jobs(queue) {}

  void put(ExchangePtr exchange) override {
    Job job;
    Endpoint endpoint = exchange->head.path == "/v1/completions" ? Completions : Chat;
    if (ApiError error = readJob(service, endpoint, std::move(exchange), job))
      return refuse(listener, *job.to, error, job.fields);
    if (listener.isDraining())
      refuse(listener, *job.to, stopping());
    else if (!jobs.put(job))
      refuse(listener, *job.to, {503, "the queue is full", "", "overloaded"}, job.fields);
  }
  void run() override {
    while (std::optional<Job> job = jobs.take()) {
      metrics.running = 1;
      runJob(service, listener, metrics, *job);
      metrics.running = 0;
    }
  }
  void close() override { jobs.close(); }
  void drain() override {
    for (const Job &job : jobs.drain())
      refuse(listener, *job.to, stopping());
  }
  size_t waiting() const override { return jobs.size(); }
  size_t slots() const override { return 1; }

private:
  const Service &service;
  Listener &listener;
  Metrics &metrics;
  Queue<Job> jobs;
};

} // namespace

std::unique_ptr<Engine> oneAtATime(const Service &service, Listener &listener, Metrics &metrics, size_t queue) {
  return std::make_unique<TextEngine>(service, listener, metrics, queue);
}

} // namespace heddle::serve
