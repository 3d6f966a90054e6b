//===- BenchGeneration.cpp - How fast texts are made ----------------------===//
#include "runtime/Bench/Figures.h"
#include "runtime/Core/Args.h"
#include "runtime/Core/Parts.h"
#include "runtime/Core/TerminalProgress.h"
#include "runtime/Generate/Generate.h"

namespace heddle::rt {

/// Times prefill and greedy steps, for as long as kSecondsEnough says. The
/// first pass warms the caches up and is not counted. Lengths that were asked
/// for must fit the model; those that were not are cut to its bounds.
static Status benchGeneration(Model &model, const Args &args, int64_t steps, Figures &figures) {
  bool profiles = args.has("--profile");
  Prompt prompt;
  HEDDLE_TRY(promptForBench(model, figures.rows, figures.prompt, steps, prompt));
  bool grows = model.card().roles.source.empty();
  if ((args.has("--new-tokens") && roomFor(prompt, boundOfTexts(model.card()), steps) < steps) ||
      (args.has("--prompt-tokens") && grows && prompt.length < figures.prompt)) {
    const std::string &dim = prompt.run->dims[prompt.stepDim];
    return badInput(format("%lld tokens of prompt and %lld new ones are more than the model takes: %s <= %lld",
                           static_cast<long long>(grows ? figures.prompt : prompt.length),
                           static_cast<long long>(steps), dim.c_str(),
                           static_cast<long long>(*model.card().bound(dim))));
  }
  figures.rows = prompt.rows;
  if (model.card().roles.source.empty())
    figures.prompt = prompt.length;
  figures.steps = std::max<int64_t>(1, roomFor(prompt, boundOfTexts(model.card()), steps));
  Sequence sequence;
  HEDDLE_TRY(sequence.prepare(model, prompt, figures.steps));
  std::vector<double> prefills, times;
  std::vector<int64_t> ids(sequence.rows());
  Sampler sampler({}, sequence.rows());
  double begin = secondsNow();
  for (int pass = 0; pass < 2 || (secondsNow() - begin < kSecondsEnough && pass < 30); ++pass) {
    HEDDLE_TRY(sequence.reset());
    TerminalProgress::say("timing text %d", pass);
    double start = secondsNow();
    HEDDLE_TRY(sequence.prefill());
    // The first pass faults pages in and fills the caches.
    if (pass)
      prefills.push_back(secondsNow() - start);
    for (int64_t i = 1; i < figures.steps; ++i) {
      for (int64_t row = 0; row < sequence.rows(); ++row)
        ids[row] = sampler.pick(row, sequence.logitsOf(row), sequence.vocabulary());
      start = secondsNow();
      HEDDLE_TRY(sequence.append(ids));
      if (pass)
        times.push_back(secondsNow() - start);
    }
  }
  figures.generates = true;
  figures.prefill = median(prefills);
  figures.prefills = int(prefills.size());
  figures.step = median(times);
  figures.stateBytes = sequence.stateBytes();
  figures.arenaBytes = sequence.arenaBytes();
  const Entry *entry = model.card().entry("step");
  if (!entry)
    entry = model.card().entry("run");
  if (!entry)
    return {};
  figures.prefillFlops = count(entry->hasFlops, entry->flops, sequence.dimsOf(Sequence::Call::Prefill));
  const Entry *once = entry->name == "step" ? model.card().entry("once") : nullptr;
  if (once && figures.prefillFlops) // the encoder is a call of its own
    if (std::optional<double> flops = count(once->hasFlops, once->flops, sequence.dimsOf(Sequence::Call::Encoder)))
      *figures.prefillFlops += *flops;
  auto integers = [&](const Entry &entry, Sequence::Call call) {
    return count(entry.hasIntegers, entry.integers, sequence.dimsOf(call)).value_or(0);
  };
  figures.prefillIntegers = integers(*entry, Sequence::Call::Prefill);
  if (once)
    figures.prefillIntegers += integers(*once, Sequence::Call::Encoder);
  figures.stepFlops = count(entry->hasFlops, entry->flops, sequence.dimsOf(Sequence::Call::Step));
  figures.stepReads = count(entry->hasReads, entry->reads, sequence.dimsOf(Sequence::Call::Step));
  if (!profiles)
    return {};
  auto prefill = [&](PhaseClock &clock) -> Status {
    model.pool().time(nullptr);
    HEDDLE_TRY(sequence.reset());
    clock.sample();
    model.pool().time(&clock);
    return sequence.prefill();
  };
  if (once)
    HEDDLE_TRY(profile(model, *once, sequence.dimsOf(Sequence::Call::Encoder), prefill, figures.onceRows));
  HEDDLE_TRY(profile(model, *entry, sequence.dimsOf(Sequence::Call::Prefill), prefill, figures.prefillRows));
  if (figures.steps < 2)
    return {};
  int64_t room = 0;
  auto step = [&](PhaseClock &clock) -> Status {
    if (room == 0) {
      model.pool().time(nullptr);
      HEDDLE_TRY(sequence.reset());
      HEDDLE_TRY(sequence.prefill());
      room = figures.steps - 1;
    }
    for (int64_t row = 0; row < sequence.rows(); ++row)
      ids[row] = sampler.pick(row, sequence.logitsOf(row), sequence.vocabulary());
    clock.sample();
    model.pool().time(&clock);
    --room;
    return sequence.append(ids);
  };
  return profile(model, *entry, sequence.dimsOf(Sequence::Call::Step), step, figures.stepRows);
}

} // namespace heddle::rt

const heddle::rt::BenchGeneration heddle_bench_generation = heddle::rt::benchGeneration;
