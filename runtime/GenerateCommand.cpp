//===- GenerateCommand.cpp - `generate` and plain text --------------------===//
//
// Ids or text in, ids or text out, one step at a time; or a batch from a file
// to a file. Only what was made is printed, never the prompt.
//
//===----------------------------------------------------------------------===//
#include "runtime/Args.h"
#include "runtime/Commands.h"
#include "runtime/Generate.h"
#include "runtime/Tokenizer/Tokenizer.h"
#include "runtime/Utf8.h"

#include <algorithm>
#include <cstdio>

namespace heddle::rt {

static constexpr int64_t kDefaultNewTokens = 128, kMaxNewTokens = 1 << 24;

static Status parseIds(const std::string &list, std::vector<int64_t> &ids) {
  for (size_t at = 0;;) {
    size_t end = std::min(list.find(',', at), list.size());
    std::optional<int64_t> id =
        parseInteger(std::string_view(list).substr(at, end - at));
    if (!id)
      return badUsage("--ids takes numbers with commas between, not " +
                      quote(list));
    ids.push_back(*id);
    if (end == list.size())
      return {};
    at = end + 1;
  }
}

/// Greedy unless one of the sampling options is there.
static Status readSampler(const Args &args, SamplerOptions &options) {
  bool asked = args.has("--temp") || args.has("--top-k") || args.has("--top-p");
  options.temperature = asked ? 1 : 0;
  int64_t seed = 0;
  HEDDLE_TRY(args.number("--temp", 0, 1000, options.temperature));
  HEDDLE_TRY(args.integer("--top-k", 0, INT64_MAX, options.topK));
  HEDDLE_TRY(args.number("--top-p", 0, 1, options.topP));
  HEDDLE_TRY(args.integer("--seed", 0, INT64_MAX, seed));
  options.seed = uint64_t(seed);
  if (args.has("--greedy") && options.temperature > 0)
    return badUsage("--greedy and sampling options exclude each other");
  if (args.has("--seed") && options.temperature == 0)
    return badUsage("--seed has no effect without --temp, --top-k or --top-p");
  return {};
}

namespace {

/// Prints what one row makes, as it is made.
class Printer {
public:
  /// `before`: the ids that what comes continues.
  Printer(const Roles &roles, const Tokenizer *tokenizer,
          const std::vector<int64_t> &before)
      : roles(roles), tokenizer(tokenizer) {
    if (!tokenizer)
      return;
    ids = before;
    shown = tokenizer->decodeBytes(ids, true).size();
  }

  bool step(int64_t id) {
    if (!tokenizer) {
      printf(ids.empty() ? "%lld" : ",%lld", static_cast<long long>(id));
      ids.push_back(id);
    } else {
      // The token that ends a text is no part of it.
      if (std::find(roles.eos.begin(), roles.eos.end(), id) == roles.eos.end())
        ids.push_back(id);
      show(false);
    }
    return fflush(stdout) == 0;
  }

  void finish() {
    if (tokenizer)
      show(true);
    putchar('\n');
  }

private:
  /// Prints the new part of the text, up to the last whole character.
  void show(bool all) {
    std::string text = tokenizer->decodeBytes(ids, true);
    size_t end = text.size();
    for (size_t back = 1; !all && back <= 3 && back <= text.size(); ++back) {
      auto byte = static_cast<unsigned char>(text[text.size() - back]);
      if ((byte & 0xc0) == 0x80)
        continue;
      size_t length = byte >= 0xf0   ? 4
                      : byte >= 0xe0 ? 3
                      : byte >= 0xc2 ? 2
                                     : 1;
      if (length > back)
        end = text.size() - back;
      break;
    }
    if (end <= shown)
      return;
    fputs(validUtf8(std::string_view(text).substr(shown, end - shown)).c_str(),
          stdout);
    shown = end;
  }

  const Roles &roles;
  const Tokenizer *tokenizer;
  std::vector<int64_t> ids;
  size_t shown = 0;
};

} // namespace

static Status openTokenizer(const Model &model, Tokenizer &tokenizer) {
  const Image &image = model.image();
  if (!image.tokenizerSize)
    return unsupported("this model was compiled without a tokenizer")
        .withHelp("use generate --ids or generate --input FILE");
  return tokenizer.open(image.tokenizer, image.tokenizerSize);
}

/// What is shown of the text that is continued: not its special tokens, where
/// the rest is exactly what the ids say.
static std::string beginning(const Tokenizer &tokenizer,
                             const std::string &text,
                             const std::vector<int64_t> &ids) {
  return tokenizer.decode(ids, false) == text ? tokenizer.decode(ids, true)
                                              : validUtf8(text);
}

/// One row, printed as it comes after `text`, which it continues.
static Status stream(Model &model, const Args &args,
                     const std::vector<int64_t> &ids,
                     const Tokenizer *tokenizer, const std::string &text) {
  int64_t wanted = kDefaultNewTokens, threads = 0;
  HEDDLE_TRY(args.integer("-n", 0, kMaxNewTokens, wanted));
  HEDDLE_TRY(args.integer("--threads", 1, kMaxThreads, threads));
  Prompt prompt;
  HEDDLE_TRY(promptFromIds(model, ids, prompt));
  GenerateOptions options;
  options.newTokens = roomFor(model, prompt, wanted);
  options.ignoreEos = args.has("--ignore-eos");
  HEDDLE_TRY(readSampler(args, options.sampler));
  HEDDLE_TRY(model.start(unsigned(threads)));
  const Roles &roles = model.card().roles;
  bool continues = roles.source.empty();
  Printer printer(roles, tokenizer, continues ? ids : std::vector<int64_t>());
  if (tokenizer && continues && !text.empty()) {
    fputs(beginning(*tokenizer, text, ids).c_str(), stdout);
    fflush(stdout);
  }
  bool written = true;
  int64_t steps = 0;
  options.onStep = [&](const std::vector<int64_t> &next) {
    ++steps;
    return written = printer.step(next[0]);
  };
  std::vector<int64_t> made;
  Status status = generate(model, prompt, options, made);
  if (!status.ok()) {
    if (steps || tokenizer)
      putchar('\n');
    return status;
  }
  printer.finish();
  if (!written || fflush(stdout) != 0)
    return Status(Exit::InputOutput, "H0702", "cannot write to stdout");
  if (options.newTokens < wanted && steps == options.newTokens)
    note(format("the text has reached the %lld positions of this model",
                static_cast<long long>(prompt.length + options.newTokens - 1)));
  return {};
}

static Status batch(Model &model, const Args &args) {
  if (!args.has("-n"))
    return badUsage("generate --input takes -n N, the number of new tokens");
  int64_t steps = 0, threads = 0;
  HEDDLE_TRY(args.integer("-n", 0, kMaxNewTokens, steps));
  HEDDLE_TRY(args.integer("--threads", 1, kMaxThreads, threads));
  Prompt prompt;
  HEDDLE_TRY(promptFromFile(model, args.get("--input"), prompt));
  HEDDLE_TRY(model.start(unsigned(threads)));
  GenerateOptions options;
  options.newTokens = steps;
  options.ignoreEos = args.has("--ignore-eos");
  HEDDLE_TRY(readSampler(args, options.sampler));
  std::vector<int64_t> made;
  HEDDLE_TRY(generate(model, prompt, options, made));
  Tensor result;
  int64_t width = prompt.length + steps;
  HEDDLE_TRY(Tensor::make("ids", Type::I64, {prompt.rows, width}, result));
  auto *ids = result.data.as<int64_t>();
  for (int64_t row = 0; row < prompt.rows; ++row) {
    std::copy_n(prompt.ids.begin() + row * prompt.length, prompt.length,
                ids + row * width);
    std::copy_n(made.begin() + row * steps, steps,
                ids + row * width + prompt.length);
  }
  return writeTensors(args.get("--output"), {&result});
}

Status generateCommand(Model &model, const Words &words) {
  Args args;
  HEDDLE_TRY(
      Args::parse(words,
                  {"--ids", "--text", "--input", "--output", "-n", "--threads",
                   "--temp", "--top-k", "--top-p", "--seed"},
                  {"--greedy", "--print-ids", "--ignore-eos"}, 0, args));
  int ways = args.has("--ids") + args.has("--text") + args.has("--input");
  if (ways != 1)
    return badUsage(
        "generate takes one of --ids LIST, --text TEXT, --input FILE");
  if (args.has("--input") != args.has("--output"))
    return badUsage("--input FILE and --output FILE belong together");
  if (args.has("--input"))
    return batch(model, args);
  Tokenizer tokenizer;
  bool text = args.has("--text");
  bool asText = model.image().tokenizerSize && !args.has("--print-ids");
  if (text || asText)
    HEDDLE_TRY(openTokenizer(model, tokenizer));
  std::vector<int64_t> ids;
  HEDDLE_TRY(text ? tokenizer.encodeIds(args.get("--text"), ids)
                  : parseIds(args.get("--ids"), ids));
  return stream(model, args, ids, asText ? &tokenizer : nullptr,
                args.get("--text"));
}

Status textCommand(Model &model, const Words &words) {
  Args args;
  HEDDLE_TRY(Args::parse(
      words, {"-n", "--threads", "--temp", "--top-k", "--top-p", "--seed"},
      {"--greedy", "--print-ids", "--ignore-eos"}, 1, args));
  if (args.positional().empty())
    return badUsage("a text is missing").withHelp("see --help");
  const std::string &prompt = args.positional()[0];
  if (!model.image().tokenizerSize || !model.card().roles.present) {
    std::string near = nearest(prompt, {"run", "generate", "info", "bench"});
    return badUsage("unknown command " + quote(prompt))
        .withHelp(near.empty() ? "see --help" : "did you mean " + near + "?");
  }
  Tokenizer tokenizer;
  HEDDLE_TRY(openTokenizer(model, tokenizer));
  std::vector<int64_t> ids;
  HEDDLE_TRY(tokenizer.encodeIds(prompt, ids));
  return stream(model, args, ids,
                args.has("--print-ids") ? nullptr : &tokenizer, prompt);
}

} // namespace heddle::rt
