//===- ClassifyCommand.cpp - A file or a text in, labels out --------------===//
//
// Answers of models that do not generate: one call of `run` a text or file, and
// what its outputs say (Answers.h).
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Args.h"
#include "runtime/Core/Asking.h"
#include "runtime/Core/TerminalProgress.h"
#include "runtime/Encode/Answers.h"
#include "runtime/Program/Commands.h"
#include "runtime/Tokenizer/TextIn.h"
#include "runtime/Tokenizer/Tokenizers.h"

#include <cstdio>

namespace heddle::rt {

namespace {
/// What the command line asks for, whatever the text.
struct Question {
  std::string file;      ///< of the picture or speech, if the model takes one
  bool truncates = true; ///< texts that are too long; false: --no-truncate
  StartOptions start;
  AnswerForm form;
};
} // namespace

/// Computes and prints the answer to one file, text or pair of texts.
static Status answerTo(Model &model, const Question &question, const Tokenizer &tokenizer, const Texts &texts) {
  Asked asked;
  asked.media = !question.file.empty();
  std::vector<Tensor> media(asked.media ? 1 : 0);
  if (asked.media) {
    TerminalProgress::say("reading %s", quote(question.file).c_str());
    HEDDLE_TRY(heddle_read_media(model, question.file, media[0]));
  }
  TokenRows rows;
  if (!texts.empty()) {
    HEDDLE_TRY(encodeTexts(model, tokenizer, texts, question.truncates, asked.tokens));
    rows.push_back(&asked.tokens);
  }
  if (marksSpans(model.card()) && !asked.media) {
    if (texts.size() < 2)
      return missingText("this model takes a question and a text, and the text");
    asked.context = texts[1];
  }
  HEDDLE_TRY(checkAnswers(model.card()));
  HEDDLE_TRY(model.start(question.start));
  EncoderBatch batch;
  TerminalProgress::say("computing");
  HEDDLE_TRY(batch.compute(model, rows, std::move(media)));
  std::string text;
  HEDDLE_TRY(answerRow(model.card(), tokenizer, batch, 0, asked, question.form, text));
  fputs(text.c_str(), stdout);
  return {};
}

/// What --activation says, as a kind of classes.
static Status readActivation(const Args &args, std::optional<std::string> &kind) {
  static constexpr const char *kKinds[][2] = {{"none", "regression"}, {"sigmoid", "multi_label"}, {"softmax", ""}};
  std::string name = args.get("--activation");
  for (const auto &one : kKinds)
    if (name == one[0])
      kind = one[1];
  return kind || !args.has("--activation")
             ? Status()
             : badUsage("--activation takes none, sigmoid or softmax, found " + quote(name));
}

static Status classifyCommand(Model &model, const Arguments &words) {
  const Card &card = model.card();
  bool media = takesMedia(card), asks = textBeside(card) == TextBeside::Needed;
  Args args;
  HEDDLE_TRY(Args::parse(words, {"--threads", "--device", "--top", "--activation"},
                         {"--json", "--lines", "--no-truncate"}, media && !asks ? 1 : 2, args));
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
  HEDDLE_TRY(readActivation(args, question.form.kind));
  question.truncates = !args.has("--no-truncate");
  if (media) {
    question.file = texts[0];
    texts.erase(texts.begin());
  }
  Tokenizer tokenizer;
  if (!media || asks || card.kind == "ctc")
    HEDDLE_TRY(openTokenizer(model, tokenizer));
  if (media && !asks)
    return answerTo(model, question, tokenizer, {});
  return forEachText(texts, lines, [&](const Texts &one, int64_t line) {
    // An empty line between answers of several lines.
    if (line > 0 && question.form.most > 1 && !question.form.json)
      putchar('\n');
    Status status = answerTo(model, question, tokenizer, one);
    fflush(stdout);
    return status;
  });
}

/// `mask` becomes the token for a missing word if the model has a logit for
/// each word of its vocabulary, else "".
static Status missingWord(const Model &model, std::string &mask) {
  const Entry &run = *model.card().entry("run");
  for (const char *name : {"logits", "prediction_logits"})
    if (int index = run.outputIndex(name); index >= 0) {
      const Value &value = run.outputs[index];
      if (value.axes.size() != 3)
        return {};
      Tokenizer tokenizer;
      HEDDLE_TRY(openTokenizer(model, tokenizer));
      std::optional<int64_t> words = value.axes[2].uses().empty() ? value.axes[2].evaluate(nullptr) : std::nullopt;
      if (words && *words >= int64_t(tokenizer.size()))
        maskToken(tokenizer, &mask);
      return {};
    }
  return {};
}

} // namespace heddle::rt

const heddle::rt::Command heddle_classify_command = heddle::rt::classifyCommand;
const heddle::rt::MissingWord heddle_missing_word = heddle::rt::missingWord;
