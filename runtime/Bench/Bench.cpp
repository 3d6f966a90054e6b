//===- Bench.cpp - How fast a model is, and could be ----------------------===//
//
// The command `bench`: median times of prefill and of steps, or of calls of
// `run` for a model that does not generate, next to what the same threads reach
// on this machine in loops that only read or only multiply (Peaks.h).
//
//===----------------------------------------------------------------------===//
#include "runtime/Bench/Figures.h"
#include "runtime/Core/Args.h"
#include "runtime/Core/Cpu.h"
#include "runtime/Core/EntryCall.h"
#include "runtime/Core/EntryInputs.h"
#include "runtime/Core/TerminalProgress.h"
#include "runtime/Program/Commands.h"

#include <algorithm>
#include <cstdio>
#include <sys/resource.h>
#include <time.h>

namespace heddle::rt {

namespace {

/// Seconds of processor time of this process. With one thread on a machine that
/// others use, too, the wall clock also counts the time spent waiting for a
/// core.
double workedSeconds() {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Times calls of `run` on the inputs of the file that --input names, or on
/// invented ones of the lengths in `figures`. The first call is not counted.
Status benchRun(Model &model, const Args &args, Figures &figures) {
  std::string path = args.get("--input");
  bool profiles = args.has("--profile");
  const Entry *entry = model.card().entry("run");
  if (!entry)
    return unsupported("this model has no entry `run`");
  std::vector<int64_t> dims;
  std::vector<Tensor> inputs(entry->inputs.size());
  if (!path.empty()) {
    TensorFile file;
    HEDDLE_TRY(file.open(path));
    HEDDLE_TRY(loadInputs(model, *entry, file, dims, inputs));
    figures.rows = figures.prompt = 1;
    for (size_t i = 0; i < dims.size(); ++i)
      (entry->dims[i] == "B" ? figures.rows : figures.prompt) = dims[i];
  } else {
    for (const std::string &name : entry->dims) {
      int64_t length = name == "B" ? figures.rows : figures.prompt;
      std::optional<int64_t> bound = model.card().bound(name);
      const char *asked = name == "B" ? "--batch" : "--prompt-tokens";
      if (bound && length > *bound && args.has(asked))
        return badInput(format("%s %lld is more than the model takes: %s <= %lld", asked,
                               static_cast<long long>(length), name.c_str(), static_cast<long long>(*bound)));
      dims.push_back(bound ? std::min(length, *bound) : length);
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!entry->inputs[i].hasDefault)
        HEDDLE_TRY(benchInput(entry->inputs[i], dims, inputs[i]));
  }
  CallMemory memory;
  EntryCall run(model, *entry, memory);
  HEDDLE_TRY(run.prepare(dims, inputs));
  std::vector<double> times, worked;
  double begin = secondsNow();
  for (int pass = 0; pass < 4 || (secondsNow() - begin < kSecondsEnough && pass < 50); ++pass) {
    TerminalProgress::say("timing call %d", pass);
    double start = secondsNow(), before = workedSeconds();
    HEDDLE_TRY(run.call(dims));
    if (!pass)
      continue; // brings pages and caches in
    times.push_back(secondsNow() - start);
    worked.push_back(workedSeconds() - before);
  }
  figures.prefill = median(times);
  figures.worked = median(worked);
  figures.prefills = int(times.size());
  figures.prefillFlops = count(entry->hasFlops, entry->flops, dims);
  figures.prefillIntegers = count(entry->hasIntegers, entry->integers, dims).value_or(0);
  if (!profiles)
    return {};
  auto call = [&](PhaseClock &clock) {
    clock.sample();
    model.pool().time(&clock);
    return run.call(dims);
  };
  return profile(model, *entry, dims, call, figures.prefillRows);
}

/// The figures for people: times, and the fraction of the machine's peaks.
void printText(const Model &model, const Figures &f) {
  const Peaks &peaks = f.peaks;
  printf("%s: batch %lld, %s\n", model.card().name.c_str(), static_cast<long long>(f.rows), f.machine.c_str());
  double tokens = double(f.rows * f.prompt);
  printf("%-8s %10.3f ms for %lld tokens, %.0f tokens/s (median of %d)\n", f.generates ? "prefill" : "run",
         f.prefill * 1e3, static_cast<long long>(f.rows * f.prompt), tokens / f.prefill, f.prefills);
  if (f.prefillFlops)
    printf("         %10.1f GFLOP/s%s\n", *f.prefillFlops / f.prefill / 1e9,
           f.onHost ? (", " + shareText(f.prefillShare(), false)).c_str() : "");
  if (f.step > 0) {
    printf("decode   %10.3f ms a step, %.1f tokens/s (median of steps after the "
           "prompt)\n",
           f.step * 1e3, double(f.rows) / f.step);
    if (f.stepBytes() > 0) {
      std::string share = !f.onHost                                  ? ""
                          : f.stepBytes() < double(peaks.cacheBytes) ? ", small enough to stay in the caches"
                                                                     : ", " + shareText(f.stepShare(), f.cached());
      printf("         %10.1f GB/s: %s of weights and states read a step%s\n", f.stepBytes() / f.step / 1e9,
             humanBytes(uint64_t(f.stepBytes())).c_str(), share.c_str());
    }
    if (f.stepFlops)
      printf("         %10.1f GFLOP/s: %.3f GFLOP a token\n", *f.stepFlops / f.step / 1e9,
             *f.stepFlops / double(f.rows) / 1e9);
  }
  if (!f.onHost)
    return;
  std::string dots;
  if (peaks.dotsPerSecond > 0)
    dots = format(", %.1f GFLOP/s of bf16 pairs", peaks.dotsPerSecond / 1e9);
  if (f.prefillIntegers > 0 && peaks.integersPerSecond > 0)
    dots += format(", %.1f GOP/s of bytes", peaks.integersPerSecond / 1e9);
  printf("machine  %10.1f GB/s reading %s, %.1f GFLOP/s f32%s (%s), measured "
         "in this run with the same threads\n",
         peaks.bytesPerSecond / 1e9, humanBytes(peaks.bufferBytes).c_str(), peaks.flopsPerSecond / 1e9, dots.c_str(),
         peaks.vectors);
  if (!f.onceRows.empty())
    printProfile("encoder", f.onceRows, peaks);
  if (!f.prefillRows.empty())
    printProfile(f.generates ? "prefill" : "run", f.prefillRows, peaks);
  if (!f.stepRows.empty())
    printProfile("decode, a step", f.stepRows, peaks);
}

/// The figures as one JSON object; times in ms, the rest in bytes and 1/s.
void printJson(const Model &model, const Figures &f) {
  std::string text = "{\"model\":" + jsonString(model.card().name);
  auto number = [&](const char *key, double value) { text += format(",\"%s\":%.9g", key, value); };
  // A fraction above 1 says nothing: null.
  auto share = [&](const char *key, double value) {
    if (value <= 1)
      number(key, value);
    else
      text += format(",\"%s\":null", key);
  };
  double tokens = double(f.rows * f.prompt);
  text += std::string(",\"steady\":") + (f.unsteady() ? "false" : "true");
  text += ",\"processor\":" + jsonString(processorName());
  if (!f.onHost)
    text += ",\"device\":" + jsonString(f.machine);
  number("batch", double(f.rows));
  number("threads", f.threads);
  number("prompt_tokens", double(f.prompt));
  number("prefill_ms", f.prefill * 1e3);
  number("prefill_tokens_per_s", tokens / f.prefill);
  if (f.step > 0) {
    number("new_tokens", double(f.steps));
    number("decode_ms", f.step * 1e3);
    number("decode_tokens_per_s", double(f.rows) / f.step);
    number("decode_bytes_per_step", f.stepBytes());
    number("decode_bytes_per_s", f.stepBytes() / f.step);
    if (f.onHost)
      share("decode_bandwidth_fraction", f.stepShare());
  }
  if (f.worked > 0)
    number("run_cpu_ms", f.worked * 1e3);
  number("peak_memory_bytes", double(f.memory));
  number("weight_bytes", double(f.weightBytes));
  number("state_bytes", double(f.stateBytes));
  number("arena_bytes", double(f.arenaBytes));
  if (f.prefillFlops) {
    number("prefill_flops", *f.prefillFlops);
    number("prefill_integers", f.prefillIntegers);
    if (f.onHost)
      share("prefill_flops_fraction", f.prefillShare());
  }
  if (!f.onHost) {
    puts((text + "}").c_str());
    return;
  }
  number("machine_bytes_per_s", f.peaks.bytesPerSecond);
  number("machine_flops_per_s", f.peaks.flopsPerSecond);
  number("machine_dots_per_s", f.peaks.dotsPerSecond);
  number("machine_integers_per_s", f.peaks.integersPerSecond);
  text += ",\"machine_vectors\":" + jsonString(f.peaks.vectors);
  if (!f.onceRows.empty())
    text += ",\"profile_encoder\":" + profileJson(f.onceRows, f.peaks);
  if (!f.prefillRows.empty())
    text += ",\"profile_prefill\":" + profileJson(f.prefillRows, f.peaks);
  if (!f.stepRows.empty())
    text += ",\"profile_decode\":" + profileJson(f.stepRows, f.peaks);
  puts((text + "}").c_str());
}

} // namespace

std::string shareText(double share, bool cached) {
  return share <= 1 ? format("%.1f %% of the peak", 100 * share)
         : cached
             ? "more than memory gives: part of it stays in the caches"
             : "more than the peak below: work that masks or gates leave out is counted, or the machine is not steady";
}

static Status benchCommand(Model &model, const Arguments &words) {
  Args args;
  HEDDLE_TRY(Args::parse(words, {"--prompt-tokens", "--new-tokens", "--batch", "--threads", "--device", "--input"},
                         {"--json", "--profile"}, 0, args));
  int64_t prompt = 64, steps = 32, rows = 1;
  StartOptions start;
  HEDDLE_TRY(args.integer("--prompt-tokens", 1, 1 << 24, prompt));
  HEDDLE_TRY(args.integer("--new-tokens", 1, 1 << 24, steps));
  HEDDLE_TRY(args.integer("--batch", 1, 1 << 20, rows));
  HEDDLE_TRY(readStart(args, start));
  if (args.has("--input") && model.card().roles.present)
    return badUsage("bench takes --input FILE for a model that does not generate");
  Figures figures;
  figures.rows = rows;
  figures.prompt = prompt;
  HEDDLE_TRY(model.start(start));
  figures.onHost = model.backend().threads() > 0;
  figures.threads = model.pool().threads();
  figures.machine = model.backend().describe();
  figures.weightBytes = model.weightBytes();
  figures.dots = model.card().dots || model.card().attentionDots;
  if (args.has("--profile") && !figures.onHost)
    return badUsage("--profile is of the processor; what kernels of a device take, heddle compile --report says");
  HEDDLE_TRY(model.card().roles.present ? heddle_bench_generation(model, args, steps, figures)
                                        : benchRun(model, args, figures));
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    figures.memory = uint64_t(usage.ru_maxrss) * 1024;
  // While other programs use the machine, peaks are measured again, up to four
  // times, until no fraction is above 1.
  for (int attempt = 0; figures.onHost && attempt < 4; ++attempt)
    if (attempt == 0 || figures.unsteady()) {
      TerminalProgress::say("timing the machine");
      HEDDLE_TRY(measurePeaks(model.pool(), figures.peaks));
    }
  if (args.has("--json"))
    printJson(model, figures);
  else
    printText(model, figures);
  return {};
}

} // namespace heddle::rt

const heddle::rt::Command heddle_bench_command = heddle::rt::benchCommand;
