//===- GenerateCommand.cpp - `generate` and plain text --------------------===//
//
// `generate`, and what a generating model does without a command: ids, text, a
// picture or speech in, ids or text out, printed token by token; or a batch
// from a file to a file. Encoder-decoder models answer; others continue the
// text, which is printed first.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Asking.h"
#include "runtime/Core/TerminalProgress.h"
#include "runtime/Generate/ChatTurn.h"
#include "runtime/Generate/GenerateFlags.h"
#include "runtime/Generate/JsonLines.h"
#include "runtime/Generate/Stats.h"
#include "runtime/Generate/TextOut.h"
#include "runtime/Program/Commands.h"
#include "runtime/Tokenizer/TextIn.h"
#include "runtime/Tokenizer/Tokenizers.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace heddle::rt {

static Status parseIds(const std::string &list, std::vector<int64_t> &ids) {
  for (size_t at = 0;;) {
    size_t end = std::min(list.find(',', at), list.size());
    std::optional<int64_t> id = parseInteger(std::string_view(list).substr(at, end - at));
    if (!id)
      return badUsage("--ids takes numbers with commas between, not " + quote(list));
    ids.push_back(*id);
    if (end == list.size())
      return {};
    at = end + 1;
  }
}

/// The beginning of the output: the prompt without its special tokens if the
/// ids decode to exactly the prompt, else the prompt as it was given.
static std::string beginning(const Tokenizer &tokenizer, const std::string &text, const std::vector<int64_t> &ids) {
  return tokenizer.decode(ids, false) == text ? tokenizer.decode(ids, true) : validUtf8(text);
}

static void print(const std::string &text) { fwrite(text.data(), 1, text.size(), stdout); }

/// Prints the seed that was drawn, at a terminal or with --stats, so that the
/// text can be had again.
static void tellSeed(const Args &args, const GenerateOptions &options) {
  bool drawn = options.sampler.temperature > 0 && !args.has("--seed");
  if (drawn && !args.has("--json") && (isatty(2) || args.has("--stats")))
    note(format("--seed %llu gives this text again", static_cast<unsigned long long>(options.sampler.seed)));
}

/// How many tokens prefill reads: those of the source, or of all prompts.
static int64_t tokensRead(const Model &model, const Prompt &prompt) {
  const Tensor *source = prompt.find(model.card().roles.source);
  return source ? source->count() : prompt.rows * prompt.length;
}

namespace {
/// Which of the texts this is; with --lines there are several.
struct Request {
  uint64_t seed = drawSeed(); ///< used where --seed is not given
  int64_t line = 0;           ///< line n draws as row n of a batch would
  bool turn = false;          ///< an answer in a conversation
  std::optional<int64_t> end; ///< the token that ends it
};
} // namespace

/// Whether the last token ends the text, so that no more would have come.
static bool hasEnded(const Roles &roles, std::optional<int64_t> end, const GenerateOptions &options,
                     const std::vector<int64_t> &made) {
  return !options.ignoreEos && !made.empty() &&
         (made.back() == end || std::count(roles.eos.begin(), roles.eos.end(), made.back()));
}

/// Says that a text could have gone on, and by which flag.
static void tellContext(const Model &model) {
  std::optional<int64_t> bound = boundOfTexts(model.card());
  long long context = *model.context();
  note(bound && context == *bound
           ? format("the text has reached the %lld positions of this model", context)
           : format("the text has reached the %lld positions that this model was made for; --context N goes further",
                    context));
}

/// After so many steps; 0: the prompt is being read.
static void tellProgress(int64_t done, int64_t read, int64_t most) {
  if (done)
    TerminalProgress::say("token %lld of at most %lld", static_cast<long long>(done), static_cast<long long>(most));
  else
    TerminalProgress::say("reading %lld tokens", static_cast<long long>(read));
}

/// Generates one row and prints it token by token, as text or, without a
/// `tokenizer` of what is made, as ids. `text` is the prompt that `ids` encode;
/// a model that continues prints it first.
static Status stream(Model &model, const Args &args, const Prompt &prompt, const Tokenizer *tokenizer,
                     const std::vector<int64_t> &ids, const std::string &text, Request request = {}) {
  const Roles &roles = model.card().roles;
  GenerateOptions options;
  HEDDLE_TRY(readGenerateFlags(args, model.card(), prompt, request.seed, options));
  if (request.line == 0)
    tellSeed(args, options);
  options.sampler.seed += uint64_t(request.line) << 32;
  if (request.turn)
    allowWholeAnswer(args, model.card(), kConversation, options);
  if (request.end && !options.ignoreEos)
    options.ended = [&](int64_t, const std::vector<int64_t> &made) { return made.back() == *request.end; };
  int64_t wanted = options.newTokens;
  StartOptions start;
  options.newTokens = roomFor(prompt, model.context(), wanted);
  HEDDLE_TRY(readStart(args, start));
  std::vector<std::string> stops = stopTexts(args, roles);
  if (!tokenizer && args.has("--stop"))
    return badUsage("--stop needs text, not --print-ids").withHelp("a model without tokenizer knows no texts");
  HEDDLE_TRY(model.start(start));
  bool continues = roles.source.empty() && !text.empty();
  std::optional<TextOut> out;
  if (tokenizer)
    out.emplace(*tokenizer, roles, stops, roles.source.empty() ? ids : std::vector<int64_t>());
  std::optional<JsonLines> lines;
  if (args.has("--json"))
    lines.emplace(args.has("--lines") ? request.line + 1 : 0);
  if (tokenizer && continues && !lines) {
    print(beginning(*tokenizer, text, ids));
    fflush(stdout);
  }
  Stats stats(args.has("--stats"), 1, tokensRead(model, prompt));
  options.onProgress = [&](int64_t done) {
    tellProgress(done, tokensRead(model, prompt), options.newTokens);
    stats.at(done);
  };
  int64_t steps = 0;
  options.onStep = [&](const std::vector<int64_t> &next) {
    ++steps;
    if (lines) {
      std::string text = out ? out->add(next[0]) : "";
      lines->add(next[0], out ? &text : nullptr);
      return fflush(stdout) == 0 && !(out && out->stopped());
    }
    if (out) {
      print(out->add(next[0]));
      return fflush(stdout) == 0 && !out->stopped();
    }
    printf(steps == 1 ? "%lld" : ",%lld", static_cast<long long>(next[0]));
    return fflush(stdout) == 0;
  };
  std::vector<int64_t> made;
  Status status = generate(model, prompt, options, made);
  if (!status.ok()) {
    if (!lines && (steps || tokenizer))
      putchar('\n');
    return status;
  }
  bool whole = steps < options.newTokens || (out && out->stopped()) || hasEnded(roles, request.end, options, made);
  std::string rest = out ? out->finish() : "";
  if (lines) {
    std::optional<uint64_t> seed;
    if (options.sampler.temperature > 0)
      seed = options.sampler.seed - (uint64_t(request.line) << 32);
    lines->finish(out ? &rest : nullptr, whole, tokensRead(model, prompt), seed, stats.json());
  } else {
    print(rest);
    putchar('\n');
  }
  HEDDLE_TRY(flushOutput());
  if (!lines)
    stats.print();
  if (!whole && options.newTokens < wanted)
    tellContext(model);
  else if (!whole && options.lengthIsOurs)
    note(format("the text ends after %lld new tokens, as no number was given; -n N makes up to N",
                static_cast<long long>(options.newTokens)));
  return {};
}

/// `generate --input --output`: a batch of prompts from files; writes the
/// tensor ids [B, prompt + new], which keeps the prompt as it was given.
static Status batch(Model &model, const Args &args) {
  if (!args.has("-n"))
    return badUsage("generate of tensors takes -n N, the number of new tokens");
  TensorFile file;
  HEDDLE_TRY(openGiven(args, file));
  HEDDLE_TRY(checkOutput(model, args.get("--output"), file.paths()));
  StartOptions start;
  HEDDLE_TRY(readStart(args, start));
  Prompt prompt;
  HEDDLE_TRY(promptFromFile(model, file, prompt));
  GenerateOptions options;
  HEDDLE_TRY(readGenerateFlags(args, model.card(), prompt, drawSeed(), options));
  tellSeed(args, options);
  Stats stats(args.has("--stats"), prompt.rows, tokensRead(model, prompt));
  options.onProgress = [&](int64_t done) {
    tellProgress(done, tokensRead(model, prompt), options.newTokens);
    stats.at(done);
  };
  std::vector<std::string> stops = stopTexts(args, model.card().roles);
  if (options.beams.width > 1 && args.has("--stop"))
    return badUsage("--stop cuts the text of one row; a batch with beams has "
                    "none")
        .withHelp("leave out --stop or --num-beams");
  bool unheard = !stops.empty() && !args.has("--stop") && (options.beams.width > 1 || !model.image().tokenizerSize);
  if (unheard) {
    note("the model's stop texts end no row of this batch");
    stops.clear();
  }
  Tokenizers tokenizers;
  std::vector<TextOut> texts;
  if (!stops.empty()) {
    HEDDLE_TRY(tokenizers.open(model));
    bool continues = model.card().roles.source.empty();
    for (int64_t row = 0; row < prompt.rows; ++row)
      texts.emplace_back(tokenizers.target(), model.card().roles, stops,
                         continues ? realTokens(model, prompt, row) : std::vector<int64_t>());
    options.ended = [&](int64_t row, const std::vector<int64_t> &made) {
      texts[row].add(made.back());
      return texts[row].stopped();
    };
  }
  HEDDLE_TRY(model.start(start));
  std::vector<int64_t> made;
  int64_t wanted = options.newTokens;
  options.newTokens = roomFor(prompt, model.context(), wanted);
  HEDDLE_TRY(generate(model, prompt, options, made));
  if (!args.has("--json"))
    stats.print();
  else if (args.has("--stats"))
    puts(("{\"stats\":" + stats.json() + "}").c_str());
  if (options.newTokens < wanted)
    tellContext(model);
  Tensor result;
  int64_t steps = options.newTokens, width = prompt.length + wanted;
  HEDDLE_TRY(Tensor::make("ids", Type::I64, {prompt.rows, width}, result));
  auto *ids = result.data.as<int64_t>();
  std::fill_n(ids, prompt.rows * width, padId(model.card().roles));
  for (int64_t row = 0; row < prompt.rows; ++row) {
    std::copy_n(prompt.ids.begin() + row * prompt.length, prompt.length, ids + row * width);
    std::copy_n(made.begin() + row * steps, steps, ids + row * width + prompt.length);
  }
  return writeTensors(args.get("--output"), {&result});
}

/// Says at a terminal which of two things is done with a text; programs without a template do only one.
static void tellTurn(const Card &card, bool turn) {
  if (asksInTurns(card) && isatty(2))
    note(turn ? "answered as a turn of a conversation; --raw continues a text"
              : "continued as a text, without the chat template");
}

static Status generateCommand(Model &model, const Arguments &words) {
  Args args;
  HEDDLE_TRY(Args::parse(words, generateValued({"--ids", "--text", "--input", "--output"}),
                         generatePlain({"--lines", "--json"}), kMostTensorWords, args));
  std::string name, path;
  for (const std::string &word : args.positional())
    if (!splitGiven(word, name, path))
      return model.image().tokenizerSize
                 ? badUsage("unexpected argument " + quote(word)).withHelp("a text is --text TEXT")
                 : noTokenizer(model);
  HEDDLE_TRY(readContext(args, model));
  bool tensors = args.has("--input") || !args.positional().empty();
  int ways = args.has("--ids") + args.has("--text") + tensors;
  if (ways != 1)
    return badUsage("generate takes one of --ids LIST, --text TEXT, --input FILE");
  if (tensors != args.has("--output"))
    return badUsage(std::string(args.has("--input") ? "--input FILE" : "NAME=@FILE") +
                    " and --output FILE belong together");
  if (tensors)
    return batch(model, args);
  if (args.has("--lines") && !args.has("--text"))
    return badUsage("--lines belongs to --text -");
  Tokenizers tokenizers;
  Request request;
  bool text = args.has("--text");
  bool asText = model.image().tokenizerSize && !args.has("--print-ids");
  if (text || asText)
    HEDDLE_TRY(tokenizers.open(model));
  auto answer = [&](const std::vector<int64_t> &ids, const std::string &promptText, int64_t line) -> Status {
    request.line = line;
    Prompt prompt;
    HEDDLE_TRY(promptFromIds(model, ids, prompt));
    return stream(model, args, prompt, asText ? &tokenizers.target() : nullptr, ids, promptText, request);
  };
  std::vector<int64_t> ids;
  if (!text) {
    HEDDLE_TRY(parseIds(args.get("--ids"), ids));
    return answer(ids, "", 0);
  }
  tellTurn(model.card(), false);
  return forEachText({args.get("--text")}, args.has("--lines"), [&](const Texts &texts, int64_t line) -> Status {
    HEDDLE_TRY(tokenizers.source().encodeIds(texts[0], ids));
    return answer(ids, texts[0], line);
  });
}

/// Appends `ids` to `inputs` as the input `name` of `run`, [1, T] or [T].
static Status addText(const Model &model, const std::string &name, const std::vector<int64_t> &ids,
                      std::vector<Tensor> &inputs) {
  const Entry *run = model.card().entry("run");
  const Value *value = run ? run->input(name) : nullptr;
  if (!value || value->type != Type::I64 || value->axes.empty() || value->axes.size() > 2)
    return internalError("the text of this model is no input i64[B, T] of run");
  if (ids.empty())
    return badInput("the text is empty");
  auto length = int64_t(ids.size());
  HEDDLE_TRY(checkLength(model.card(), *run, *value, length));
  Shape shape(value->axes.size(), 1);
  shape.back() = length;
  Tensor text;
  HEDDLE_TRY(Tensor::make(name, Type::I64, shape, text));
  std::copy(ids.begin(), ids.end(), text.data.as<int64_t>());
  inputs.push_back(std::move(text));
  return {};
}

/// The same for a picture or speech in `file`. `promptText`: the text next to it, a
/// question or the first words of the answer, null if there is none.
static Status streamMedia(Model &model, const Args &args, const Tokenizers *tokenizers, const std::string &file,
                          const std::string *promptText, Request request) {
  const Roles &roles = model.card().roles;
  TextBeside beside = textBeside(model.card());
  bool given = promptText != nullptr;
  if (given && beside == TextBeside::None)
    return badUsage("this model takes a file and no text with it");
  if (given && !tokenizers)
    return noTokenizer(model);
  if (!given && beside == TextBeside::Needed)
    return badUsage("a text is missing: this model is asked about a file").withHelp("see --help");
  std::vector<Tensor> media(1);
  TerminalProgress::say("reading %s", quote(file).c_str());
  HEDDLE_TRY(heddle_read_media(model, file, media[0]));
  std::vector<int64_t> ids;
  std::string text;
  if (beside == TextBeside::Needed) {
    std::vector<int64_t> question;
    HEDDLE_TRY(tokenizers->source().encodeIds(*promptText, question));
    HEDDLE_TRY(addText(model, roles.source, question, media));
  } else if (given) {
    text = *promptText;
    Encoded encoded;
    HEDDLE_TRY(tokenizers->target().encode(text, nullptr, !roles.start, encoded));
    if (roles.start)
      ids.push_back(*roles.start);
    for (const Token &token : encoded.tokens)
      ids.push_back(token.id);
  }
  Prompt prompt;
  HEDDLE_TRY(promptFromMedia(model, ids, std::move(media), prompt));
  bool asText = tokenizers && !args.has("--print-ids");
  return stream(model, args, prompt, asText ? &tokenizers->target() : nullptr, ids, text, request);
}

/// `MODEL QUESTION` where there is a chat template: the answer alone is printed. With --messages the whole conversation
/// is in a file.
static Status answerTurns(Model &model, const Args &args, const Tokenizers &tokenizers) {
  Request request;
  request.turn = true;
  auto answer = [&](const std::string *question, int64_t line) -> Status {
    ChatTurn turn;
    HEDDLE_TRY(heddle_chat_turn(model, tokenizers, args, question, turn));
    Prompt prompt;
    HEDDLE_TRY(promptFromIds(model, turn.ids, prompt));
    request.line = line;
    request.end = turn.end;
    return stream(model, args, prompt, args.has("--print-ids") ? nullptr : &tokenizers.target(), turn.ids, "", request);
  };
  tellTurn(model.card(), true);
  if (args.has("--messages"))
    return answer(nullptr, 0);
  return forEachText(args.positional(), args.has("--lines"),
                     [&](const Texts &texts, int64_t line) { return answer(&texts[0], line); });
}

/// `MODEL TEXT..`, without a command: answers a question where there is a chat template, else continues a text; or
/// answers about a picture or sound file. With --lines each line of the input is a text.
static Status continueCommand(Model &model, const Arguments &words) {
  const Card &card = model.card();
  bool media = takesMedia(card), tokenizes = model.image().tokenizerSize != 0;
  Args args;
  bool turns = asksInTurns(card);
  HEDDLE_TRY(
      Args::parse(words, generateValued(turns ? Arguments{"--system", "--var*", "--messages"} : Arguments()),
                  generatePlain(turns ? Arguments{"--lines", "--json", "--raw"} : Arguments{"--lines", "--json"}),
                  media ? 2 : 1, args));
  HEDDLE_TRY(askAboutCommand(model, args));
  HEDDLE_TRY(readContext(args, model));
  Texts given = args.positional();
  bool lines = args.has("--lines"), whole = args.has("--messages");
  if (whole && (lines || !given.empty()))
    return badUsage("--messages FILE is the whole conversation, the last question in it");
  for (const char *flag : {"--system", "--var", "--messages"})
    if (args.has("--raw") && args.has(flag))
      return badUsage("--raw continues a text without the chat template, and " + std::string(flag) +
                      " belongs to that");
  if (!whole && given.empty() && !(lines && !media))
    return media ? badUsage("a file is missing").withHelp("see --help") : missingText("a text");
  if (!tokenizes && !media)
    return noTokenizer(model);
  Tokenizers tokenizers;
  if (tokenizes)
    HEDDLE_TRY(tokenizers.open(model));
  if (turns && !args.has("--raw"))
    return answerTurns(model, args, tokenizers);
  tellTurn(card, false);
  Request request;
  std::string file;
  if (media) {
    file = given[0];
    given.erase(given.begin());
    if (given.empty() && !lines)
      return streamMedia(model, args, tokenizes ? &tokenizers : nullptr, file, nullptr, request);
  }
  return forEachText(given, lines, [&](const Texts &texts, int64_t line) -> Status {
    request.line = line;
    if (media)
      return streamMedia(model, args, tokenizes ? &tokenizers : nullptr, file, &texts[0], request);
    std::vector<int64_t> ids;
    HEDDLE_TRY(tokenizers.source().encodeIds(texts[0], ids));
    Prompt prompt;
    HEDDLE_TRY(promptFromIds(model, ids, prompt));
    const Tokenizer *writes = args.has("--print-ids") ? nullptr : &tokenizers.target();
    return stream(model, args, prompt, writes, ids, texts[0], request);
  });
}

} // namespace heddle::rt

const heddle::rt::Command heddle_generate_command = heddle::rt::generateCommand;
const heddle::rt::Command heddle_continue_command = heddle::rt::continueCommand;
