#include "runtime/Serve/Metrics.h"
#include "runtime/Core/Status.h"
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace heddle::serve {

void Histogram::add(double value) {
  size_t step = 0;
  for (double most = least; step < steps && value > most; most *= 2)
    ++step;
  ++counts[step];
  millionths += uint64_t(std::llround(value * 1e6));
}

std::string Histogram::text(const char *name, const char *help) const {
  std::string text = rt::format("# HELP %s %s\n# TYPE %s histogram\n", name, help, name);
  uint64_t sum = 0;
  double most = least;
  for (size_t step = 0; step <= steps; ++step, most *= 2) {
    sum += counts[step];
    std::string bound = step == steps ? "+Inf" : rt::format("%g", most);
    text += rt::format("%s_bucket{le=\"%s\"} %llu\n", name, bound.c_str(), static_cast<unsigned long long>(sum));
  }
  text += rt::format("%s_sum %.6f\n%s_count %llu\n", name, double(millionths) * 1e-6, name,
                     static_cast<unsigned long long>(sum));
  return text;
}

void Metrics::answered(const std::string &path, int status) {
  std::lock_guard<std::mutex> lock(mutex);
  ++requests[{path, status}];
}

/// Bytes of memory that this process has.
static uint64_t residentBytes() {
  unsigned long long all = 0, resident = 0;
  if (FILE *file = fopen("/proc/self/statm", "re")) {
    if (fscanf(file, "%llu %llu", &all, &resident) != 2)
      resident = 0;
    fclose(file);
  }
  return resident * uint64_t(sysconf(_SC_PAGESIZE));
}

std::string Metrics::text(size_t waiting, size_t slots) const {
  std::string text = "# HELP heddle_requests_total Answers by path and status.\n# TYPE heddle_requests_total counter\n";
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[key, count] : requests)
      text += rt::format("heddle_requests_total{path=\"%s\",code=\"%d\"} %llu\n", key.first.c_str(), key.second,
                         static_cast<unsigned long long>(count));
  }
  auto line = [&](const char *name, const char *labels, uint64_t value) {
    text += rt::format("%s%s %llu\n", name, labels, static_cast<unsigned long long>(value));
  };
  text += "# HELP heddle_tokens_total Tokens of prompts that were computed, that were known already, and new ones.\n"
          "# TYPE heddle_tokens_total counter\n";
  line("heddle_tokens_total", "{kind=\"prompt\"}", promptTokens);
  line("heddle_tokens_total", "{kind=\"reused\"}", reusedTokens);
  line("heddle_tokens_total", "{kind=\"new\"}", newTokens);
  text += "# HELP heddle_slots Texts that are made at the moment, and room for more.\n# TYPE heddle_slots gauge\n";
  line("heddle_slots", "{state=\"busy\"}", running);
  line("heddle_slots", "{state=\"free\"}", slots - std::min<uint64_t>(running, slots));
  text += "# HELP heddle_queue Requests that wait.\n# TYPE heddle_queue gauge\n";
  line("heddle_queue", "", waiting);
  text += step.text("heddle_step_seconds", "Time of a step, or of a batch of an encoder.");
  text += firstToken.text("heddle_first_token_seconds", "From the request to its first token.");
  text += batchRows.text("heddle_batch_rows", "Texts that were computed together.");
  text += "# HELP heddle_cancelled_total Answers that no client waited for.\n# TYPE heddle_cancelled_total counter\n";
  line("heddle_cancelled_total", "", cancelled);
  text += "# HELP process_resident_memory_bytes Memory of this process.\n# TYPE process_resident_memory_bytes gauge\n";
  line("process_resident_memory_bytes", "", residentBytes());
  return text;
}

} // namespace heddle::serve
