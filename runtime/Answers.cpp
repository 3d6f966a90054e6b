//===- Answers.cpp - Words behind masks, stretches that answer ------------===//
//
// Scores are those of Hugging Face's pipelines. Fill-mask: a softmax over the
// vocabulary. Question answering: the product of two softmaxes, over the first
// tokens and over the last ones, among the tokens of the context and the
// template's first token, which stands for "no answer".
//
//===----------------------------------------------------------------------===//
#include "runtime/Answers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace heddle::rt {

/// The longest answer in tokens; the default of Hugging Face's pipeline.
static constexpr int64_t kLongestAnswer = 15;

void softmax(std::vector<double> &scores) {
  double largest = *std::max_element(scores.begin(), scores.end()), sum = 0;
  for (double &score : scores)
    sum += score = std::exp(score - largest);
  for (double &score : scores)
    score /= sum;
}

std::vector<int64_t> ranking(const std::vector<double> &scores, int64_t most) {
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

Status printWords(const Tokenizer &tokenizer, const std::vector<Token> &tokens, const float *logits, int64_t count,
                  AnswerForm form) {
  std::string name;
  std::optional<int64_t> mask = maskToken(tokenizer, &name);
  if (!mask)
    return unsupported("this model guesses masked words, and its tokenizer has "
                       "no [MASK] or <mask>")
        .withHelp("run --input FILE --output FILE gives the logits as a tensor");
  std::string text = "{\"masks\":[";
  int64_t masks = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (int64_t(tokens[i].id) != *mask)
      continue;
    const float *row = logits + int64_t(i) * count;
    std::vector<double> scores(row, row + count);
    softmax(scores);
    if (form.json)
      text += masks ? ",{\"words\":[" : "{\"words\":[";
    else if (masks)
      putchar('\n');
    ++masks;
    for (int64_t id : ranking(scores, form.most)) {
      std::string word = validUtf8(tokenizer.decode({id}, false));
      if (form.json)
        text += (text.back() == '[' ? "" : ",") + ("{\"word\":" + jsonString(word)) + ",\"id\":" + std::to_string(id) +
                ",\"score\":" + jsonNumber(scores[id]) + ",\"logit\":" + jsonNumber(row[id]) + "}";
      else
        printf("%6.2f %%  %s\n", 100 * scores[id], word.c_str());
    }
    if (form.json)
      text += "]}";
  }
  if (!masks)
    return badInput("this model guesses masked words, and the text has none")
        .withHelp("write " + name + " where a word is missing");
  if (form.json)
    puts((text + "]}").c_str());
  return {};
}

/// Prints the best answers to a question: pieces of `context`, by the scores of where one starts and ends. The
/// context's tokens are found within the model's input, since only they may be part of an answer.
Status printSpans(const Tokenizer &tokenizer, const std::vector<Token> &tokens, const std::string &context,
                  const float *starts, const float *ends, AnswerForm form) {
  std::vector<uint32_t> wanted, all;
  HEDDLE_TRY(bareTokens(tokenizer, context, wanted));
  for (const Token &token : tokens)
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
  std::string text = "{\"answers\":[";
  for (int64_t n : ranking(scores, form.most)) {
    std::vector<int64_t> ids(wanted.begin() + spans[n].first, wanted.begin() + spans[n].second + 1);
    std::string answer = validUtf8(tokenizer.decode(ids, true));
    answer.erase(0, answer.find_first_not_of(' '));
    if (form.json)
      text += (text.back() == '[' ? "" : ",") + ("{\"answer\":" + jsonString(answer)) +
              ",\"first\":" + std::to_string(first + spans[n].first) +
              ",\"last\":" + std::to_string(first + spans[n].second) + ",\"score\":" + jsonNumber(scores[n]) + "}";
    else
      printf("%6.2f %%  %s\n", 100 * scores[n], answer.c_str());
  }
  if (form.json)
    puts((text + "]}").c_str());
  return {};
}

} // namespace heddle::rt
