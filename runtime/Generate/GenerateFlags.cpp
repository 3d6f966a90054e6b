//===- GenerateFlags.cpp - What a generation is asked to do ---------------===//
//
// A sampling flag samples, --num-beams searches, --greedy does neither; without
// any of them the defaults decide, and without defaults it is greedy.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/GenerateFlags.h"
#include "heddle/languages.h"
#include "heddle/nearest.h"

#include <algorithm>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

namespace heddle::rt {

static constexpr int64_t kDefaultNewTokens = 128, kMaxNewTokens = 1 << 24;
/// top_k where a model samples by default and names none; Hugging Face's value.
static constexpr int64_t kSamplingTopK = 50;

std::vector<std::string> generateValued(std::vector<std::string> more) {
  for (const char *flag :
       {"-n", "--threads", "--device", "--temp", "--top-k", "--top-p", "--min-p", "--seed", "--repetition-penalty",
        "--no-repeat-ngram-size", "--encoder-no-repeat-ngram-size", "--num-beams", "--length-penalty",
        "--early-stopping", "--stop*", "--language", "--task", "--context"})
    more.push_back(flag);
  return more;
}

std::vector<std::string> generatePlain(std::vector<std::string> more) {
  for (const char *flag : {"--greedy", "--print-ids", "--ignore-eos", "--stats"})
    more.push_back(flag);
  return more;
}

std::vector<std::string> stopTexts(const Args &args, const Roles &roles) {
  return args.has("--stop") ? args.all("--stop") : roles.stops;
}

uint64_t drawSeed() {
  uint32_t drawn = 0; // short enough to be typed
  if (getrandom(&drawn, sizeof drawn, 0) != ssize_t(sizeof drawn))
    drawn = uint32_t(time(nullptr)) ^ uint32_t(getpid()) << 16;
  return drawn;
}

void allowWholeAnswer(const Args &args, const Card &card, int64_t most, GenerateOptions &options) {
  const Settings &settings = card.roles.settings;
  if (!args.has("-n") && !settings.has(generation::max_new_tokens) && !settings.has(generation::max_length))
    options.newTokens = most;
}

Status readContext(const Args &args, Model &model) {
  int64_t context = 0;
  HEDDLE_TRY(args.integer("--context", 1, boundOfTexts(model.card()).value_or(kMaxNewTokens), context));
  if (context)
    model.setContext(context);
  return {};
}

/// Reads the flag of a setting, which may say what the setting may.
static Status numberFlag(const Args &args, const char *flag, const Setting &setting, double &value) {
  return args.number(flag, setting.least, setting.most, value);
}

static Status readSampler(const Args &args, const Settings &defaults, bool beams, uint64_t drawnSeed,
                          SamplerOptions &options) {
  bool asked = args.has("--temp") || args.has("--top-k") || args.has("--top-p") || args.has("--min-p");
  if (asked && args.has("--num-beams"))
    return badUsage("--num-beams and sampling options exclude each other");
  bool sampled = defaults.flag(generation::do_sample);
  bool samples = asked || (sampled && !args.has("--greedy") && !beams);
  options.temperature = samples ? defaults.number(generation::temperature) : 0;
  options.topK = int64_t(defaults.number(generation::top_k, sampled ? kSamplingTopK : 0));
  options.topP = defaults.number(generation::top_p);
  options.minP = defaults.number(generation::min_p);
  int64_t seed = 0;
  HEDDLE_TRY(numberFlag(args, "--temp", generation::temperature, options.temperature));
  HEDDLE_TRY(args.integer("--top-k", 0, INT64_MAX, options.topK));
  HEDDLE_TRY(numberFlag(args, "--top-p", generation::top_p, options.topP));
  HEDDLE_TRY(numberFlag(args, "--min-p", generation::min_p, options.minP));
  HEDDLE_TRY(args.integer("--seed", 0, INT64_MAX, seed));
  options.seed = args.has("--seed") ? uint64_t(seed) : drawnSeed;
  if (args.has("--greedy") && options.temperature > 0)
    return badUsage("--greedy and sampling options exclude each other");
  if (args.has("--seed") && options.temperature == 0)
    return badUsage("--seed has no effect without --temp, --top-k, --top-p or "
                    "--min-p");
  return {};
}

static Status readBeams(const Args &args, const Settings &defaults, BeamOptions &options) {
  // A sampling flag turns the model's default num_beams off.
  bool sampling = args.has("--temp") || args.has("--top-k") || args.has("--top-p") || args.has("--min-p");
  if (!args.has("--greedy") && !sampling)
    options.width = defaults.integer(generation::num_beams);
  HEDDLE_TRY(args.integer("--num-beams", 1, int64_t(generation::num_beams.most), options.width));
  if (args.has("--greedy") && options.width > 1)
    return badUsage("--greedy and --num-beams exclude each other");
  options.lengthPenalty = defaults.number(generation::length_penalty);
  HEDDLE_TRY(numberFlag(args, "--length-penalty", generation::length_penalty, options.lengthPenalty));
  options.early = EarlyStopping(defaults.integer(generation::early_stopping));
  options.renormalise = defaults.flag(generation::renormalize_logits);
  if (args.has("--early-stopping")) {
    std::string word = args.get("--early-stopping");
    if (word != "true" && word != "false" && word != "never")
      return badUsage("--early-stopping takes true, false or never, not " + quote(word));
    options.early = word == "true" ? EarlyStopping::Yes : word == "false" ? EarlyStopping::No : EarlyStopping::Never;
  }
  for (const char *flag : {"--length-penalty", "--early-stopping"})
    if (args.has(flag) && options.width == 1)
      return badUsage(std::string(flag) + " has no effect without --num-beams");
  return {};
}

/// Finds the token of a language or task by its name; "en" and "english" both
/// mean "<|en|>".
static Status chooseToken(const char *flag, const std::string &name, const std::map<std::string, int64_t> &known,
                          int64_t &id) {
  auto found = known.find(name);
  if (found == known.end())
    found = known.find("<|" + std::string(languageCode(name)) + "|>");
  if (found != known.end()) {
    id = found->second;
    return {};
  }
  if (known.empty())
    return badUsage(std::string(flag) + " means nothing to this model");
  std::vector<std::string> names;
  std::string all;
  for (const auto &one : known) {
    std::string plain = one.first;
    if (plain.rfind("<|", 0) == 0 && plain.size() > 4)
      plain = plain.substr(2, plain.size() - 4);
    names.push_back(plain);
    all += (all.empty() ? "" : ", ") + plain;
  }
  std::string near = nearestName(name, names);
  return badUsage("this model does not know " + std::string(flag) + " " + quote(name) +
                  (near.empty() ? "" : "; did you mean " + near + "?"))
      .withHelp("it knows: " + all);
}

/// Forces the tokens that open a transcript: language, task, no time stamps.
static Status readOpening(const Args &args, const Roles &roles, int64_t length, RuleOptions &rules) {
  const Settings &settings = roles.settings;
  std::vector<int64_t> forced = settings.integers(generation::forced_decoder_ids);
  for (size_t i = 0; i + 1 < forced.size(); i += 2)
    rules.forcedAt[forced[i]] = forced[i + 1];
  for (const char *flag : {"--language", "--task"})
    if (args.has(flag) && roles.languages.empty() && roles.tasks.empty())
      return badUsage("option " + std::string(flag) + " means nothing to this model");
  if (roles.start && length == 1) {
    int64_t place = 1, id = 0;
    if (!roles.languages.empty()) {
      if (args.has("--language")) {
        HEDDLE_TRY(chooseToken("--language", args.get("--language"), roles.languages, id));
        rules.forcedAt[place] = id;
      } else if (!rules.forcedAt.count(place)) {
        for (const auto &language : roles.languages)
          rules.onlyAt[place].push_back(language.second);
      }
      ++place;
    }
    if (!roles.tasks.empty()) {
      if (args.has("--task") || !rules.forcedAt.count(place)) {
        HEDDLE_TRY(chooseToken("--task", args.get("--task", "transcribe"), roles.tasks, id));
        rules.forcedAt[place] = id;
      }
      ++place;
    }
    if (settings.has(generation::no_timestamps_token_id) && !rules.forcedAt.count(place))
      rules.forcedAt[place] = settings.integer(generation::no_timestamps_token_id);
  }
  return {};
}

/// The tokens of the source of every row, whose n-grams may be forbidden; none where the source is no text. Padding is
/// found by its id, as the library's own n-grams of it forbid nothing but padding.
static std::vector<std::vector<int64_t>> sourcesOf(const Roles &roles, const Prompt &prompt) {
  const Tensor *source = roles.source.empty() ? nullptr : prompt.find(roles.source);
  if (!source || source->type != Type::I64 || source->shape.empty() || source->shape.size() > 2)
    return std::vector<std::vector<int64_t>>(roles.source.empty() ? 0 : size_t(prompt.rows));
  std::vector<std::vector<int64_t>> rows;
  int64_t length = source->shape.back();
  bool pads = roles.pad && !std::count(roles.eos.begin(), roles.eos.end(), *roles.pad);
  for (int64_t row = 0; row < prompt.rows; ++row) {
    const int64_t *begin = source->data.as<int64_t>() + (source->shape.size() == 2 ? row * length : 0);
    const int64_t *end = begin + length;
    while (pads && end > begin && end[-1] == *roles.pad)
      --end;
    while (pads && begin < end && *begin == *roles.pad)
      ++begin;
    rows.emplace_back(begin, end);
  }
  return rows;
}

static Status readRules(const Args &args, const Roles &roles, const Prompt &prompt, RuleOptions &rules) {
  const Settings &settings = roles.settings;
  rules.repetitionPenalty = settings.number(generation::repetition_penalty);
  HEDDLE_TRY(numberFlag(args, "--repetition-penalty", generation::repetition_penalty, rules.repetitionPenalty));
  rules.noRepeatNgram = settings.integer(generation::no_repeat_ngram_size);
  HEDDLE_TRY(args.integer("--no-repeat-ngram-size", 0, 1 << 20, rules.noRepeatNgram));
  rules.sourceNgram = settings.integer(generation::encoder_no_repeat_ngram_size);
  HEDDLE_TRY(args.integer("--encoder-no-repeat-ngram-size", 0, 1 << 20, rules.sourceNgram));
  if (rules.sourceNgram > 0)
    rules.sources = sourcesOf(roles, prompt);
  bool ends = !args.has("--ignore-eos");
  if (ends)
    rules.eos = roles.eos;
  rules.minLength = settings.integer(generation::min_length);
  rules.minNewTokens = settings.integer(generation::min_new_tokens);
  if (rules.eos.empty())
    rules.minLength = rules.minNewTokens = 0;
  if (settings.has(generation::forced_bos_token_id))
    rules.forcedFirst = settings.integer(generation::forced_bos_token_id);
  // With --ignore-eos no eos is forced at the end either.
  if (ends)
    rules.forcedLast = settings.integers(generation::forced_eos_token_id);
  rules.suppressed = settings.integers(generation::suppress_tokens);
  rules.suppressedFirst = settings.integers(generation::begin_suppress_tokens);
  // bad_words_ids is flattened: each list has its length in front.
  std::vector<int64_t> words = settings.integers(generation::bad_words_ids);
  for (size_t i = 0; i < words.size();) {
    auto n = size_t(std::max<int64_t>(words[i++], 0));
    if (n == 0 || n > words.size() - i)
      return internalError("the list of forbidden words is cut");
    rules.badWords.emplace_back(words.begin() + i, words.begin() + i + n);
    i += n;
    bool isEos = n == 1 && std::count(roles.eos.begin(), roles.eos.end(), rules.badWords.back()[0]);
    if (isEos)
      rules.badWords.pop_back();
  }
  return readOpening(args, roles, prompt.length, rules);
}

Status readGenerateFlags(const Args &args, const Card &card, const Prompt &prompt, uint64_t drawnSeed,
                         GenerateOptions &options) {
  const Roles &roles = card.roles;
  const Settings &settings = roles.settings;
  options.newTokens = kDefaultNewTokens;
  if (settings.has(generation::max_new_tokens)) {
    options.newTokens = settings.integer(generation::max_new_tokens);
  } else if (settings.has(generation::max_length)) {
    auto most = settings.integer(generation::max_length);
    options.newTokens = most - prompt.length;
    if (options.newTokens < 1 && !args.has("-n"))
      return badInput(format("the prompt has %lld tokens, and the model's "
                             "generation_config.json ends texts at %lld",
                             static_cast<long long>(prompt.length), static_cast<long long>(most)))
          .withHelp("-n N asks for N new tokens all the same");
  }
  HEDDLE_TRY(args.integer("-n", 0, kMaxNewTokens, options.newTokens));
  for (const std::string &stop : args.all("--stop"))
    if (stop.empty())
      return badUsage("--stop takes a text that is not empty");
  options.newTokens = std::min(options.newTokens, kMaxNewTokens);
  options.lengthIsOurs =
      !args.has("-n") && !settings.has(generation::max_new_tokens) && !settings.has(generation::max_length);
  options.ignoreEos = args.has("--ignore-eos");
  HEDDLE_TRY(readBeams(args, settings, options.beams));
  HEDDLE_TRY(readSampler(args, settings, options.beams.width > 1, drawnSeed, options.sampler));
  return readRules(args, roles, prompt, options.rules);
}

} // namespace heddle::rt
