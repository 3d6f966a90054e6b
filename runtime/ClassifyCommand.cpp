//===- ClassifyCommand.cpp - A file or a text in, labels out --------------===//
//
// Answers of models that do not generate: one call of `run`, and the shape of
// its logits says what they mean: [B, labels] classes of the whole input, [B,
// T, labels] a label for every token, [B, T, vocabulary] words behind masks, or
// with the kind `ctc` letters over time. The two outputs start_logits and
// end_logits mark answers in a text.
//===----------------------------------------------------------------------===//
#include "runtime/Answers.h"
#include "runtime/Args.h"
#include "runtime/Commands.h"
#include "runtime/Media/Media.h"
#include "runtime/Run.h"
#include "runtime/TextIn.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace heddle::rt {

namespace {

struct Answer {
  std::vector<Tensor> outputs;
  /// Of classes or words; or of the answer's first and last token. They point
  /// into `outputs`, null where the model has none.
  const Tensor *logits = nullptr, *starts = nullptr, *ends = nullptr;
};

/// The probabilities of one row of logits, as the kind of the model says.
std::vector<double> probabilities(const Card &card, const float *logits, int64_t count) {
  std::vector<double> scores(logits, logits + count);
  if (card.kind == "regression")
    return scores;
  if (card.kind == "multi_label") {
    for (double &score : scores)
      score = 1 / (1 + std::exp(-score));
    return scores;
  }
  softmax(scores);
  return scores;
}

std::string labelOf(const Card &card, int64_t id) {
  return id < int64_t(card.labels.size()) ? card.labels[id] : "LABEL_" + std::to_string(id);
}

} // namespace

/// An error if any logit is NaN or infinite: every probability computed from
/// it would be NaN.
static Status checkNumbers(const Tensor *tensor) {
  for (int64_t i = 0; tensor && i < tensor->count(); ++i) {
    float x = tensor->data.as<float>()[i];
    if (std::isnan(x) || x == INFINITY)
      return badInput(quote(tensor->name) + (std::isnan(x) ? " holds a NaN" : " holds an infinity") +
                      ": nothing can be chosen from it")
          .withHelp("a weight or an input is NaN or infinite, or numbers have "
                    "grown beyond what f32 holds");
  }
  return {};
}

/// Calls `run` once on `given` (which it takes over) and finds the outputs that
/// have a meaning here; an error if none of them has.
static Status runOn(Model &model, std::vector<Tensor> given, const StartOptions &start, Answer &answer) {
  const Entry *run = model.card().entry("run");
  if (!run)
    return internalError("the card has no entry run");
  std::vector<Given> shapes;
  for (const Tensor &tensor : given)
    shapes.push_back({run->input(tensor.name), tensor.shape});
  for (const Value &value : run->inputs)
    if (!value.hasDefault &&
        std::none_of(given.begin(), given.end(), [&](const Tensor &tensor) { return tensor.name == value.name; }))
      return badInput("this model also needs " + quote(value.name) + " (" + value.typeText() +
                      "): use run --input FILE");
  std::vector<int64_t> dims;
  HEDDLE_TRY(bindDims(model.card(), *run, shapes, dims));
  std::vector<Tensor> inputs(run->inputs.size());
  for (Tensor &tensor : given)
    inputs[size_t(run->input(tensor.name) - run->inputs.data())] = std::move(tensor);
  HEDDLE_TRY(model.start(start));
  EntryCall call;
  HEDDLE_TRY(call.prepare(model, *run, dims, inputs));
  HEDDLE_TRY(call.call());
  answer.outputs = std::move(call.outputs);
  auto output = [&](const char *name) -> const Tensor * {
    int index = run->outputIndex(name);
    return index >= 0 && answer.outputs[index].type == Type::F32 ? &answer.outputs[index] : nullptr;
  };
  answer.starts = output("start_logits");
  answer.ends = output("end_logits");
  for (const char *name : {"logits", "prediction_logits"})
    if (!answer.logits)
      answer.logits = output(name);
  if (!answer.logits && !(answer.starts && answer.ends)) {
    std::string names;
    for (const Value &value : run->outputs)
      names += (names.empty() ? "" : ", ") + value.name;
    return unsupported("this model has no classes to name; it gives " + names)
        .withHelp("run --input FILE --output FILE gives these as tensors");
  }
  return {};
}

/// Encodes one text or a pair into `tokens` without padding, and into the
/// inputs input_ids and, where the model has it, token_type_ids, each [1, T].
static Status tokensOf(const Model &model, const Tokenizer &tokenizer, const std::vector<std::string> &texts,
                       std::vector<Token> &tokens, std::vector<Tensor> &given) {
  const Entry *run = model.card().entry("run");
  const Value *ids = run ? run->input("input_ids") : nullptr;
  if (!ids || ids->type != Type::I64 || ids->axes.size() != 2)
    return unsupported("this model takes no text: it has no input_ids i64[B, "
                       "T]; use run --input FILE");
  std::string_view pair = texts.size() > 1 ? texts[1] : std::string_view();
  Encoded encoded;
  HEDDLE_TRY(tokenizer.encode(texts[0], texts.size() > 1 ? &pair : nullptr, true, encoded));
  tokens = std::move(encoded.tokens);
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(), [](const Token &t) { return !t.real; }), tokens.end());
  if (tokens.empty())
    return badInput("the text is empty");
  auto length = int64_t(tokens.size());
  HEDDLE_TRY(checkLength(model.card(), *run, *ids, length));
  auto add = [&](const char *name, auto &&value) -> Status {
    Tensor tensor;
    HEDDLE_TRY(Tensor::make(name, Type::I64, {1, length}, tensor));
    for (int64_t i = 0; i < length; ++i)
      tensor.data.as<int64_t>()[i] = value(tokens[i]);
    given.push_back(std::move(tensor));
    return {};
  };
  HEDDLE_TRY(add("input_ids", [](const Token &t) { return int64_t(t.id); }));
  const Value *types = run->input("token_type_ids");
  if (types && types->type == Type::I64 && types->axes.size() == 2)
    HEDDLE_TRY(add("token_type_ids", [](const Token &t) { return int64_t(t.type); }));
  return {};
}

/// Prints the `most` likeliest labels of `count` logits.
static void printClasses(const Card &card, const float *logits, int64_t count, int64_t most, bool json) {
  std::vector<double> scores = probabilities(card, logits, count);
  std::vector<int64_t> order = ranking(scores, most);
  if (json) {
    std::string text = "{\"labels\":[";
    for (int64_t id : order)
      text += (text.back() == '[' ? "" : ",") + ("{\"label\":" + jsonString(labelOf(card, id))) +
              ",\"id\":" + std::to_string(id) + ",\"score\":" + jsonNumber(scores[id]) +
              ",\"logit\":" + jsonNumber(logits[id]) + "}";
    puts((text + "]}").c_str());
    return;
  }
  bool percent = card.kind != "regression";
  for (int64_t id : order)
    printf(percent ? "%6.2f %%  %s\n" : "%10.4f  %s\n", percent ? 100 * scores[id] : scores[id],
           validUtf8(labelOf(card, id)).c_str());
}

/// Prints the likeliest label of every token, without those of the template.
static void printTokens(const Card &card, const Tokenizer &tokenizer, const std::vector<Token> &tokens,
                        const float *logits, int64_t count, bool json) {
  std::string text = "{\"tokens\":[";
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string piece = tokenizer.decode({int64_t(tokens[i].id)}, true);
    if (piece.empty())
      continue;
    std::vector<double> scores = probabilities(card, logits + int64_t(i) * count, count);
    int64_t id = ranking(scores, 1)[0];
    if (json)
      text += (text.back() == '[' ? "" : ",") + ("{\"token\":" + jsonString(piece)) +
              ",\"label\":" + jsonString(labelOf(card, id)) + ",\"score\":" + jsonNumber(scores[id]) + "}";
    else
      printf("%6.2f %%  %-12s %s\n", 100 * scores[id], labelOf(card, id).c_str(), piece.c_str());
  }
  if (json)
    puts((text + "]}").c_str());
}

/// CTC: the likeliest id of every time step; runs of equal ids count once, then
/// the blank is dropped, and the rest is decoded.
static Status printLetters(const Model &model, const Tensor &logits) {
  Tokenizer tokenizer;
  HEDDLE_TRY(openTokenizer(model, tokenizer));
  auto blank = int64_t(model.card().sound.number("blank", 0));
  int64_t count = logits.shape.back(), steps = logits.count() / count;
  std::vector<int64_t> ids;
  int64_t before = -1;
  for (int64_t t = 0; t < steps; ++t) {
    const float *row = logits.data.as<float>() + t * count;
    int64_t id = std::max_element(row, row + count) - row;
    if (id != before && id != blank)
      ids.push_back(id);
    before = id;
  }
  puts(tokenizer.decode(ids, true).c_str());
  return {};
}

namespace {
/// What the command line asks for, whatever the text.
struct Question {
  std::string file; ///< of the picture or speech, if the model takes one
  StartOptions start;
  AnswerForm form;
};
} // namespace

/// Computes and prints the answer to one file, text or pair of texts.
static Status answerTo(Model &model, const Question &question, const Tokenizer &tokenizer, const Texts &texts) {
  const Card &card = model.card();
  bool media = !question.file.empty(), json = question.form.json;
  std::vector<Tensor> given;
  std::vector<Token> tokens;
  if (media) {
    given.resize(1);
    HEDDLE_TRY(readMedia(model, question.file, given[0]));
  }
  if (!texts.empty())
    HEDDLE_TRY(tokensOf(model, tokenizer, texts, tokens, given));
  const Entry *run = card.entry("run");
  bool spans = run && run->outputIndex("start_logits") >= 0 && run->outputIndex("end_logits") >= 0;
  if (spans && !media && texts.size() < 2)
    return missingText("this model takes a question and a text, and the text");
  Answer answer;
  HEDDLE_TRY(runOn(model, std::move(given), question.start, answer));
  for (const Tensor *used : {answer.logits, answer.starts, answer.ends})
    HEDDLE_TRY(checkNumbers(used));
  if (!answer.logits) {
    auto length = Shape{1, int64_t(tokens.size())};
    if (media || answer.starts->shape != length || answer.ends->shape != length)
      return internalError("start_logits and end_logits are no [B, T]");
    return printSpans(tokenizer, tokens, texts[1], answer.starts->data.as<float>(), answer.ends->data.as<float>(),
                      question.form);
  }
  const Tensor &logits = *answer.logits;
  int64_t count = logits.shape.empty() ? 0 : logits.shape.back();
  if (count < 1 || logits.count() < 1)
    return internalError("the logits are empty");
  if (card.kind == "ctc")
    return printLetters(model, logits);
  if (logits.shape.size() == 2) {
    printClasses(card, logits.data.as<float>(), count, question.form.most, json);
    return {};
  }
  if (logits.shape.size() == 3 && !media && logits.shape[1] == int64_t(tokens.size()) &&
      count == int64_t(card.labels.size())) {
    printTokens(card, tokenizer, tokens, logits.data.as<float>(), count, json);
    return {};
  }
  if (logits.shape.size() == 3 && logits.shape[1] == int64_t(tokens.size()) && count >= int64_t(tokenizer.size()))
    return printWords(tokenizer, tokens, logits.data.as<float>(), count, question.form);
  return unsupported("the logits of this model are " + shapeText(logits.shape) + ", no classes")
      .withHelp("run --input FILE --output FILE gives them as a tensor");
}

Status classifyCommand(Model &model, const Words &words) {
  const Card &card = model.card();
  bool media = takesMedia(card), asks = textBeside(card) == TextBeside::Needed;
  Args args;
  HEDDLE_TRY(
      Args::parse(words, {"--threads", "--device", "--top"}, {"--json", "--lines"}, media && !asks ? 1 : 2, args));
  HEDDLE_TRY(askAboutCommand(model, args));
  bool lines = args.has("--lines");
  if (lines && media && !asks)
    return badUsage("--lines reads texts, and this model takes a file alone");
  Texts texts = args.positional();
  if (texts.empty() && (media || !lines))
    return media ? badUsage("a file is missing").withHelp("see --help") : missingText("a text");
  if (asks && texts.size() < 2 && !lines)
    return badUsage("a text is missing: this model is asked about a file").withHelp("see --help");
  Question question;
  HEDDLE_TRY(readStart(args, question.start));
  HEDDLE_TRY(args.integer("--top", 1, 1 << 20, question.form.most));
  question.form.json = args.has("--json");
  if (media) {
    question.file = texts[0];
    texts.erase(texts.begin());
  }
  Tokenizer tokenizer;
  if (media && !asks)
    return answerTo(model, question, tokenizer, {});
  HEDDLE_TRY(openTokenizer(model, tokenizer));
  return forEachText(texts, lines, [&](const Texts &one, int64_t line) {
    // An empty line between answers of several lines.
    if (line > 0 && question.form.most > 1 && !question.form.json)
      putchar('\n');
    Status status = answerTo(model, question, tokenizer, one);
    fflush(stdout);
    return status;
  });
}

} // namespace heddle::rt
