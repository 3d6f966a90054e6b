//===- VectorCommand.cpp - Texts in, vectors out --------------------------===//
//
// What a model of vectors does without a command: a vector a text, or with
// --similarity how alike texts are. Texts become batches sorted by length; what
// is printed keeps their order. A line that has no vector is one error object,
// and the exit status says so at the end.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Args.h"
#include "runtime/Core/TensorFile.h"
#include "runtime/Core/TerminalProgress.h"
#include "runtime/Encode/LineSource.h"
#include "runtime/Encode/Vectors.h"
#include "runtime/Program/Commands.h"
#include "runtime/Tokenizer/TextIn.h"
#include "runtime/Tokenizer/Tokenizers.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace heddle::rt {

/// Texts that wait until their batches are computed.
static constexpr size_t kWindowTexts = 2048, kWindowTokens = size_t(1) << 20;
/// Numbers of a vector that a terminal gets.
static constexpr size_t kShown = 8;

namespace {
/// One text and what became of it.
struct Line {
  int64_t number; ///< from 1
  std::vector<Token> tokens;
  Status status;
  std::vector<float> vector;
};

/// Computes and prints vectors of texts that come one after the other.
class VectorStream {
public:
  VectorStream(Model &model, const Tokenizer &tokenizer, const VectorPlan &plan)
      : model(model), tokenizer(tokenizer), plan(plan) {}

  bool truncates = true, json = false, isLines = false;
  bool keeps = false; ///< nothing is printed but errors: vectors are for a file, or to be compared

  /// Takes a text, and computes when there are enough.
  Status add(std::string_view text);
  /// Computes and prints what waits.
  Status flush();
  /// Of all texts, in order; of `keeps`.
  std::vector<std::vector<float>> kept;
  /// What to say at the end of all texts: an error if one has no vector.
  Status finish() const;

private:
  Status compute(const std::vector<Line *> &batch);
  bool mayPad();
  void print(const Line &line);

  Model &model;
  const Tokenizer &tokenizer;
  const VectorPlan &plan;
  std::vector<Line> waiting;
  size_t tokens = 0;
  int64_t texts = 0, failed = 0, cut = 0;
  Line firstFailed = {};
  std::optional<bool> pads;
};
} // namespace

Status VectorStream::add(std::string_view text) {
  Line line = {++texts, {}, {}, {}};
  size_t whole = 0;
  line.status = encodeForVector(model, tokenizer, plan, text, truncates, line.tokens, whole);
  cut += line.status.ok() && whole > line.tokens.size();
  tokens += line.tokens.size();
  waiting.push_back(std::move(line));
  return waiting.size() < kWindowTexts && tokens < kWindowTokens ? Status() : flush();
}

bool VectorStream::mayPad() {
  if (!pads) {
    bool proven = false;
    pads = provePadding(model, tokenizer, proven).ok() && proven;
  }
  return *pads;
}

/// A batch that fails is computed text by text, so that what is wrong with one is said of it alone.
Status VectorStream::compute(const std::vector<Line *> &batch) {
  TokenRows rows;
  std::vector<VectorRow> vectors;
  for (const Line *line : batch) {
    vectors.push_back({&plan, int64_t(rows.size()), line->tokens.size(), {}, {}});
    rows.push_back(&line->tokens);
  }
  EncoderBatch called;
  Status status = called.compute(model, rows);
  if (status.ok())
    status = makeVectors(model, called, vectors);
  if (!status.ok() && batch.size() > 1) {
    for (Line *line : batch)
      HEDDLE_TRY(compute({line}));
    return {};
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i]->status = status.ok() ? vectors[i].status : status;
    batch[i]->vector = std::move(vectors[i].vector);
  }
  return {};
}

Status VectorStream::flush() {
  std::vector<Line *> sorted;
  for (Line &line : waiting)
    if (line.status.ok())
      sorted.push_back(&line);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Line *a, const Line *b) { return a->tokens.size() < b->tokens.size(); });
  std::vector<size_t> lengths;
  for (const Line *line : sorted)
    lengths.push_back(line->tokens.size());
  for (size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    end = endOfBatch(lengths, begin, kMostTokens, [&] { return mayPad(); });
    TerminalProgress::say("%lld texts", static_cast<long long>(texts - int64_t(sorted.size() - begin)));
    HEDDLE_TRY(compute({sorted.begin() + int64_t(begin), sorted.begin() + int64_t(end)}));
  }
  for (Line &line : waiting) {
    if (!line.status.ok() && !isLines)
      return line.status;
    if (!line.status.ok() && !failed++)
      firstFailed = line;
    if (!line.status.ok() || !keeps)
      print(line);
    if (keeps)
      kept.push_back(std::move(line.vector));
  }
  waiting.clear();
  tokens = 0;
  return flushOutput();
}

void VectorStream::print(const Line &line) {
  if (!line.status.ok()) {
    std::string help;
    for (const std::string &one : line.status.helps())
      help += (help.empty() ? "" : "; ") + one;
    printf("{\"error\":{\"line\":%lld,\"code\":\"%s\",\"message\":%s%s}}\n", static_cast<long long>(line.number),
           line.status.code(), jsonString(line.status.message()).c_str(),
           help.empty() ? "" : (",\"help\":" + jsonString(help)).c_str());
    return;
  }
  bool shortened = !json && isatty(STDOUT_FILENO) && line.vector.size() > kShown;
  std::string text;
  for (size_t i = 0; i < (shortened ? kShown : line.vector.size()); ++i)
    text += (i ? json ? "," : " " : "") + jsonNumber(line.vector[i]);
  if (json)
    printf("{\"embedding\":[%s],\"tokens\":%zu}\n", text.c_str(), line.tokens.size());
  else if (shortened)
    printf("%s ... (%zu numbers)\n", text.c_str(), line.vector.size());
  else
    puts(text.c_str());
}

Status VectorStream::finish() const {
  if (cut)
    note(format("%lld of %lld texts %s longer than the model takes, and %s cut (--no-truncate refuses them)",
                static_cast<long long>(cut), static_cast<long long>(texts), cut == 1 ? "is" : "are",
                cut == 1 ? "was" : "were"));
  if (!failed)
    return {};
  return badInput(format("%lld of %lld lines have no vector; the first is line %lld: ", static_cast<long long>(failed),
                         static_cast<long long>(texts), static_cast<long long>(firstFailed.number)) +
                  firstFailed.status.message());
}

//===-- the command line -------------------------------------------------------===//

/// `--lines` may stand alone for standard input.
static Arguments withLines(Arguments words) {
  auto dashes = std::find(words.begin(), words.end(), "--");
  auto at = std::find(words.begin(), dashes, "--lines");
  bool alone = at != dashes && (at + 1 == dashes || ((at + 1)->size() > 1 && (at + 1)->front() == '-'));
  if (alone)
    *at = "--lines=-";
  return words;
}

static Status readPlan(const Args &args, const Card &card, const Tokenizer &tokenizer, VectorPlan &plan) {
  HEDDLE_TRY(VectorPlan::of(card, plan));
  if (args.has("--pooling"))
    HEDDLE_TRY(plan.choosePooling(card, args.get("--pooling")));
  if (args.has("--prompt") && args.has("--prompt-name"))
    return badUsage("--prompt and --prompt-name exclude each other");
  if (args.has("--prompt-name"))
    HEDDLE_TRY(plan.choosePrompt(card, args.get("--prompt-name")));
  if (args.has("--prompt"))
    plan.prompt = args.get("--prompt");
  int64_t dimensions = 0;
  HEDDLE_TRY(args.integer("--dimensions", 1, int64_t(1) << 24, dimensions));
  if (dimensions)
    HEDDLE_TRY(plan.chooseDimensions(dimensions));
  if (args.has("--normalize") && args.has("--no-normalize"))
    return badUsage("--normalize and --no-normalize exclude each other");
  if (args.has("--normalize") || args.has("--no-normalize"))
    plan.normalize = args.has("--normalize");
  return plan.measurePrompt(tokenizer);
}

/// All vectors as one tensor [texts, D].
static Status writeVectors(const std::string &path, const std::vector<std::vector<float>> &vectors) {
  Tensor tensor;
  int64_t width = vectors.empty() ? 0 : int64_t(vectors[0].size());
  HEDDLE_TRY(Tensor::make("vectors", Type::F32, {int64_t(vectors.size()), width}, tensor));
  float *to = tensor.data.as<float>();
  for (const std::vector<float> &one : vectors)
    to = std::copy(one.begin(), one.end(), to);
  return writeTensors(path, {&tensor});
}

/// How alike the first text and each other are.
static void printSimilarity(const std::string &name, const Texts &texts, const std::vector<std::vector<float>> &vectors,
                            bool json) {
  std::string list;
  for (size_t i = 1; i < vectors.size(); ++i) {
    double score = similarity(name, vectors[0], vectors[i]);
    if (json)
      list += (i > 1 ? "," : "") + jsonNumber(score);
    else
      printf("%10.6f  %s\n", score, validUtf8(texts[i]).c_str());
  }
  if (json)
    printf("{\"similarity\":%s,\"scores\":[%s]}\n", jsonString(name).c_str(), list.c_str());
}

static Status vectorCommand(Model &model, const Arguments &words) {
  const Card &card = model.card();
  Args args;
  HEDDLE_TRY(Args::parse(
      withLines(words),
      {"--threads", "--device", "--lines", "--output", "--pooling", "--prompt", "--prompt-name", "--dimensions"},
      {"--json", "--normalize", "--no-normalize", "--no-truncate", "--similarity"}, 1 << 16, args));
  HEDDLE_TRY(askAboutCommand(model, args));
  Texts texts = args.positional();
  bool lines = args.has("--lines"), compares = args.has("--similarity");
  std::string output = args.get("--output");
  if (lines && texts == Texts{"-"})
    texts.clear();
  if (lines && (!texts.empty() || compares))
    return badUsage(std::string("--lines reads texts from a file, and ") +
                    (compares ? "--similarity takes those of the command line" : "there are others"));
  if (compares && (texts.size() < 2 || !output.empty()))
    return output.empty() ? badUsage("--similarity compares the first text with others, and takes two or more")
                          : badUsage("--similarity prints numbers, and --output is for vectors");
  if (!lines && texts.empty())
    return missingText("a text");
  std::string from = args.get("--lines");
  if (args.has("--output"))
    HEDDLE_TRY(checkOutput(model, output, from.empty() || from == "-" ? Texts{} : Texts{from}));
  StartOptions start;
  HEDDLE_TRY(readStart(args, start));
  Tokenizer tokenizer;
  HEDDLE_TRY(openTokenizer(model, tokenizer));
  VectorPlan plan;
  HEDDLE_TRY(readPlan(args, card, tokenizer, plan));
  LineSource source;
  if (lines)
    HEDDLE_TRY(source.open(from));
  HEDDLE_TRY(model.start(start));

  VectorStream stream(model, tokenizer, plan);
  stream.truncates = !args.has("--no-truncate");
  stream.json = args.has("--json");
  stream.isLines = lines;
  stream.keeps = compares || args.has("--output");
  bool more = lines;
  for (std::string line; more;) {
    HEDDLE_TRY(source.next(line, more));
    if (more)
      HEDDLE_TRY(stream.add(line));
    if (!more || !source.isReady())
      HEDDLE_TRY(stream.flush());
  }
  if (!lines)
    HEDDLE_TRY(forEachText(texts, false, [&](const Texts &all, int64_t) -> Status {
      for (const std::string &one : all)
        HEDDLE_TRY(stream.add(one));
      texts = all;
      return stream.flush();
    }));
  HEDDLE_TRY(stream.finish());
  if (compares)
    printSimilarity(card.vectors.similarity, texts, stream.kept, stream.json);
  return args.has("--output") ? writeVectors(output, stream.kept) : Status();
}

} // namespace heddle::rt

const heddle::rt::Command heddle_vector_command = heddle::rt::vectorCommand;
