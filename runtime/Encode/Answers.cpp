//===- Answers.cpp - What a model's tensors say in words ------------------===//
//
// Scores are those of Hugging Face's pipelines. Classes: a softmax over them, or
// what the model's kind says. Fill-mask: a softmax over the vocabulary. Question answering: the product of two
// softmaxes, over the first tokens and over the last ones, among the tokens of the context and the template's first
// token, which stands for "no answer".
//
//===----------------------------------------------------------------------===//
#include "runtime/Encode/Answers.h"

#include "runtime/Core/Parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace heddle::rt {

/// The longest answer in tokens; the default of Hugging Face's pipeline.
static constexpr int64_t kLongestAnswer = 15;

/// scores[i] becomes exp(scores[i]) / sum of all exp(scores), in place.
static void softmax(std::vector<double> &scores) {
  double largest = *std::max_element(scores.begin(), scores.end()), sum = 0;
  for (double &score : scores)
    sum += score = std::exp(score - largest);
  for (double &score : scores)
    score /= sum;
}

/// Indices of the `most` largest scores, the largest first; of equal scores the
/// one with the smaller index comes first.
static std::vector<int64_t> ranking(const std::vector<double> &scores, int64_t most) {
  std::vector<int64_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = int64_t(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  order.resize(std::min<size_t>(order.size(), size_t(most)));
  return order;
}

/// The tokens of one text alone, without the template.
static Status bareTokens(const Tokenizer &tokenizer, std::string_view text, std::vector<uint32_t> &ids) {
  Encoded encoded;
  HEDDLE_TRY(tokenizer.encode(text, nullptr, false, encoded));
  for (const Token &token : encoded.tokens)
    if (token.real)
      ids.push_back(token.id);
  return {};
}

std::optional<int64_t> maskToken(const Tokenizer &tokenizer, std::string *text) {
  for (const char *name : {"[MASK]", "<mask>"}) {
    std::vector<uint32_t> ids;
    if (!bareTokens(tokenizer, name, ids).ok() || ids.size() != 1)
      continue;
    // A special token is one that decodes to nothing when those are skipped.
    if (tokenizer.decode({int64_t(ids[0])}, true).empty() && tokenizer.decode({int64_t(ids[0])}, false) == name) {
      if (text)
        *text = name;
      return int64_t(ids[0]);
    }
  }
  return std::nullopt;
}

/// The probabilities of one row of logits of a kind of classes.
static std::vector<double> probabilities(const std::string &kind, const float *logits, int64_t count) {
  std::vector<double> scores(logits, logits + count);
  if (kind == "regression")
    return scores;
  if (kind == "multi_label") {
    for (double &score : scores)
      score = 1 / (1 + std::exp(-score));
    return scores;
  }
  softmax(scores);
  return scores;
}

static std::string labelOf(const Card &card, int64_t id) {
  return id < int64_t(card.labels.size()) ? card.labels[id] : "LABEL_" + std::to_string(id);
}

/// The likeliest labels of `count` logits.
static void writeClasses(const Card &card, const float *logits, int64_t count, AnswerForm form, std::string &text) {
  const std::string &kind = form.kind ? *form.kind : card.kind;
  std::vector<double> scores = probabilities(kind, logits, count);
  std::string list;
  for (int64_t id : ranking(scores, form.most))
    if (form.json)
      list += (list.empty() ? "" : ",") + ("{\"label\":" + jsonString(labelOf(card, id))) +
              ",\"id\":" + std::to_string(id) + ",\"score\":" + jsonNumber(scores[id]) +
              ",\"logit\":" + jsonNumber(logits[id]) + "}";
    else if (kind == "regression")
      list += format("%10.4f  %s\n", scores[id], validUtf8(labelOf(card, id)).c_str());
    else
      list += format("%6.2f %%  %s\n", 100 * scores[id], validUtf8(labelOf(card, id)).c_str());
  text += form.json ? "{\"labels\":[" + list + "]}\n" : list;
}

/// The likeliest label of every token, without those of the template.
static void writeTokens(const Card &card, const Tokenizer &tokenizer, const std::vector<Token> &tokens,
                        const float *logits, int64_t count, AnswerForm form, std::string &text) {
  std::string list;
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::string piece = tokenizer.decode({int64_t(tokens[i].id)}, true);
    if (piece.empty())
      continue;
    std::vector<double> scores = probabilities(form.kind ? *form.kind : card.kind, logits + int64_t(i) * count, count);
    int64_t id = ranking(scores, 1)[0];
    if (form.json)
      list += (list.empty() ? "" : ",") + ("{\"token\":" + jsonString(piece)) +
              ",\"label\":" + jsonString(labelOf(card, id)) + ",\"score\":" + jsonNumber(scores[id]) + "}";
    else
      list += format("%6.2f %%  %-12s %s\n", 100 * scores[id], labelOf(card, id).c_str(), piece.c_str());
  }
  text += form.json ? "{\"tokens\":[" + list + "]}\n" : list;
}

/// CTC: the likeliest id of each of `steps` time steps; runs of equal ids count
/// once, then the blank is dropped, and the rest is decoded.
static void writeLetters(const Card &card, const Tokenizer &tokenizer, const float *logits, int64_t steps,
                         int64_t count, std::string &text) {
  auto blank = card.sound.integer(sound::blank);
  std::vector<int64_t> ids;
  int64_t before = -1;
  for (int64_t t = 0; t < steps; ++t) {
    const float *row = logits + t * count;
    int64_t id = std::max_element(row, row + count) - row;
    if (id != before && id != blank)
      ids.push_back(id);
    before = id;
  }
  text += tokenizer.decode(ids, true) + "\n";
}

/// The likeliest words at every mask token of `tokens`. `logits` is [tokens][count].
static Status writeWords(const Tokenizer &tokenizer, const std::vector<Token> &tokens, const float *logits,
                         int64_t count, AnswerForm form, std::string &text) {
  std::string name;
  std::optional<int64_t> mask = maskToken(tokenizer, &name);
  if (!mask)
    return unsupported("this model guesses masked words, and its tokenizer has "
                       "no [MASK] or <mask>")
        .withHelp("run --input FILE --output FILE gives the logits as a tensor");
  std::string all;
  int64_t masks = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (int64_t(tokens[i].id) != *mask)
      continue;
    const float *row = logits + int64_t(i) * count;
    std::vector<double> scores(row, row + count);
    softmax(scores);
    std::string list;
    for (int64_t id : ranking(scores, form.most)) {
      std::string word = validUtf8(tokenizer.decode({id}, false));
      if (form.json)
        list += (list.empty() ? "" : ",") + ("{\"word\":" + jsonString(word)) + ",\"id\":" + std::to_string(id) +
                ",\"score\":" + jsonNumber(scores[id]) + ",\"logit\":" + jsonNumber(row[id]) + "}";
      else
        list += format("%6.2f %%  %s\n", 100 * scores[id], word.c_str());
    }
    all += form.json ? (masks ? ",{\"words\":[" : "{\"words\":[") + list + "]}" : (masks ? "\n" : "") + list;
    ++masks;
  }
  if (!masks)
    return badInput("this model guesses masked words, and the text has none")
        .withHelp("write " + name + " where a word is missing");
  text += form.json ? "{\"masks\":[" + all + "]}\n" : all;
  return {};
}

/// The stretches of `context` that most likely answer the question. `tokens` are those of "question, context" in the
/// template; `starts` and `ends` have one logit for each, of being the answer's first or last token. The context's
/// tokens are found within the model's input, since only they may be part of an answer.
static Status writeSpans(const Tokenizer &tokenizer, const Asked &asked, const float *starts, const float *ends,
                         AnswerForm form, std::string &text) {
  std::vector<uint32_t> wanted, all;
  HEDDLE_TRY(bareTokens(tokenizer, asked.context, wanted));
  for (const Token &token : asked.tokens)
    all.push_back(token.id);
  auto at = std::find_end(all.begin(), all.end(), wanted.begin(), wanted.end());
  if (wanted.empty() || at == all.end())
    return badInput(wanted.empty() ? "the text to answer from is empty"
                                   : "the tokenizer does not keep the text to "
                                     "answer from as it is: is it too long?");
  auto first = int64_t(at - all.begin());
  auto length = int64_t(wanted.size());
  // Softmax over the context's tokens and the template's first one, whose share
  // is that of "no answer"; it is left out where the context comes first.
  bool none = first > 0;
  auto shares = [&](const float *logits) {
    std::vector<double> scores(logits + first, logits + first + length);
    if (none)
      scores.push_back(logits[0]);
    softmax(scores);
    return scores;
  };
  std::vector<double> begin = shares(starts), end = shares(ends), scores;
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = i; j < std::min(length, i + kLongestAnswer); ++j) {
      spans.push_back({i, j});
      scores.push_back(begin[i] * end[j]);
    }
  std::string list;
  for (int64_t n : ranking(scores, form.most)) {
    std::vector<int64_t> ids(wanted.begin() + spans[n].first, wanted.begin() + spans[n].second + 1);
    std::string answer = validUtf8(tokenizer.decode(ids, true));
    answer.erase(0, answer.find_first_not_of(' '));
    if (form.json)
      list += (list.empty() ? "" : ",") + ("{\"answer\":" + jsonString(answer)) +
              ",\"first\":" + std::to_string(first + spans[n].first) +
              ",\"last\":" + std::to_string(first + spans[n].second) + ",\"score\":" + jsonNumber(scores[n]) + "}";
    else
      list += format("%6.2f %%  %s\n", 100 * scores[n], answer.c_str());
  }
  text += form.json ? "{\"answers\":[" + list + "]}\n" : list;
  return {};
}

//===-- which of them ----------------------------------------------------------===//

bool marksSpans(const Card &card) {
  const Entry *run = card.entry("run");
  return run && run->outputIndex("start_logits") >= 0 && run->outputIndex("end_logits") >= 0;
}

Status checkAnswers(const Card &card) {
  const Entry *run = card.entry("run");
  if (!run)
    return internalError("the card has no entry run");
  auto has = [&](const char *name) {
    int index = run->outputIndex(name);
    return index >= 0 && run->outputs[index].type == Type::F32;
  };
  if (has("logits") || has("prediction_logits") || (has("start_logits") && has("end_logits")))
    return {};
  std::string names;
  for (const Value &value : run->outputs)
    names += (names.empty() ? "" : ", ") + value.name;
  return unsupported("this model has no classes to name; it gives " + names)
      .withHelp("run --input FILE --output FILE gives these as tensors");
}

/// An error if a number of the row is NaN or infinite: every probability computed from it would be NaN.
static Status checkNumbers(const EncoderBatch &batch, const Tensor &tensor, int64_t row, int64_t count) {
  const float *numbers = batch.rowOf(tensor, row);
  for (int64_t i = 0; i < count; ++i)
    if (float x = numbers[i]; std::isnan(x) || x == INFINITY)
      return badInput(quote(tensor.name) + (std::isnan(x) ? " holds a NaN" : " holds an infinity") +
                      ": nothing can be chosen from it")
          .withHelp("a weight or an input is NaN or infinite, or numbers have "
                    "grown beyond what f32 holds");
  return {};
}

Status answerRow(const Card &card, const Tokenizer &tokenizer, const EncoderBatch &batch, int64_t row,
                 const Asked &asked, AnswerForm form, std::string &text) {
  auto length = int64_t(asked.tokens.size());
  const Tensor *logits = batch.output("logits"), *starts = batch.output("start_logits"),
               *ends = batch.output("end_logits");
  if (!logits)
    logits = batch.output("prediction_logits");
  if (!logits) {
    Shape each = {batch.rows(), batch.width()};
    if (!starts || !ends || asked.media || starts->shape != each || ends->shape != each)
      return internalError("start_logits and end_logits are no [B, T]");
    HEDDLE_TRY(checkNumbers(batch, *starts, row, length));
    HEDDLE_TRY(checkNumbers(batch, *ends, row, length));
    return writeSpans(tokenizer, asked, batch.rowOf(*starts, row), batch.rowOf(*ends, row), form, text);
  }
  int64_t count = logits->shape.back();
  if (count < 1)
    return internalError("the logits are empty");
  if (logits->count() < 1)
    return badInput("the input is too short for this model: nothing of it is left to answer from");
  // What is at padding says nothing.
  bool each = logits->shape.size() == 3 && logits->shape[1] == batch.width() && length > 0;
  HEDDLE_TRY(checkNumbers(batch, *logits, row, each ? length * count : logits->count() / batch.rows()));
  const float *numbers = batch.rowOf(*logits, row);
  if (card.kind == "ctc")
    writeLetters(card, tokenizer, numbers, logits->count() / batch.rows() / count, count, text);
  else if (logits->shape.size() == 2)
    writeClasses(card, numbers, count, form, text);
  else if (each && !asked.media && count == int64_t(card.labels.size()))
    writeTokens(card, tokenizer, asked.tokens, numbers, count, form, text);
  else if (each && count >= int64_t(tokenizer.size()))
    return writeWords(tokenizer, asked.tokens, numbers, count, form, text);
  else
    return unsupported("the logits of this model are " + shapeText(logits->shape) + ", no classes")
        .withHelp("run --input FILE --output FILE gives them as a tensor");
  return {};
}

} // namespace heddle::rt
