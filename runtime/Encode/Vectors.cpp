//===- Vectors.cpp - Texts to vectors -------------------------------------===//
//
// Pooling is in f64, over the tokens in their order; the sum of squares too. A
// vector is rounded to f32 where `head` takes it, and at the end.
//
//===----------------------------------------------------------------------===//
#include "runtime/Encode/Vectors.h"

#include "heddle/nearest.h"
#include "heddle/utf8.h"

#include <algorithm>
#include <cmath>

namespace heddle::rt {

static constexpr const char *kHidden = "last_hidden_state", *kOwn[] = {"text_embeds", "pooler_output"}, *kHead = "head";
/// What the library divides by where a prompt leaves no token, and its largest of none.
static constexpr double kNoTokens = 1e-9, kNoMaximum = -1e9, kLeastLength = 1e-12;

//===-- the plan ---------------------------------------------------------------===//

namespace {
struct KindName {
  std::string_view name;
  Pooling kind;
};
} // namespace

static constexpr KindName kKinds[] = {{"cls", Pooling::Cls},
                                      {"max", Pooling::Max},
                                      {"mean", Pooling::Mean},
                                      {"mean_sqrt_len_tokens", Pooling::MeanSqrtLen},
                                      {"weightedmean", Pooling::WeightedMean},
                                      {"lasttoken", Pooling::LastToken},
                                      {"last", Pooling::LastToken}};

static const Value *outputOf(const Entry &run, const char *name, size_t rank) {
  int index = run.outputIndex(name);
  bool fits = index >= 0 && run.outputs[index].type == Type::F32 && run.outputs[index].axes.size() == rank;
  return fits ? &run.outputs[index] : nullptr;
}

/// The output that is a vector a text, or null.
static const Value *ownOutput(const Entry &run) {
  for (const char *name : kOwn)
    if (const Value *value = outputOf(run, name, 2))
      return value;
  return nullptr;
}

static int64_t lastAxis(const Value &value) {
  const Form &axis = value.axes.back();
  return axis.uses().empty() ? axis.evaluate(nullptr).value_or(0) : 0;
}

Status VectorPlan::of(const Card &card, VectorPlan &plan) {
  const Entry *run = card.entry("run");
  const VectorRules &rules = card.vectors;
  bool own = run && ownOutput(*run), hidden = run && outputOf(*run, kHidden, 3);
  if (!own && !hidden)
    return unsupported("this model has no output that is a vector of a text, or hidden states to make one of");
  bool ruled = hidden && !rules.pooling.empty();
  plan.strips = ruled;
  plan.lowers = ruled && rules.lower;
  plan.normalizes = ruled && rules.normalize;
  plan.includePrompt = rules.includePrompt;
  HEDDLE_TRY(plan.choosePooling(card, ruled ? rules.poolingText() : own ? "pooled" : "mean"));
  return rules.defaultPrompt.empty() ? Status() : plan.choosePrompt(card, rules.defaultPrompt);
}

Status VectorPlan::choosePooling(const Card &card, std::string_view kinds) {
  const Entry &run = *card.entry("run");
  const Value *own = ownOutput(run), *hidden = outputOf(run, kHidden, 3);
  bool isOwn = kinds == "pooled";
  if (isOwn ? !own : !hidden)
    return unsupported(std::string("this model has no ") +
                       (isOwn ? "pooled output" : "hidden states to make a vector of"));
  pooling.clear();
  for (size_t begin = 0; !isOwn && begin <= kinds.size();) {
    size_t end = std::min(kinds.find('+', begin), kinds.size());
    std::string_view word = kinds.substr(begin, end - begin);
    const auto *known = std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto &one) { return one.name == word; });
    if (known == std::end(kKinds))
      return badUsage("there is no pooling " + quote(word))
          .withHelp("cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken, several joined by +, or pooled");
    pooling.push_back(known->kind);
    begin = end + 1;
  }
  output = isOwn ? own->name.c_str() : kHidden;
  width = lastAxis(isOwn ? *own : *hidden) * int64_t(isOwn ? 1 : pooling.size());
  const Entry *entry = isOwn ? nullptr : card.entry(kHead);
  head = entry != nullptr;
  if (!head)
    return {};
  int64_t takes = lastAxis(entry->inputs[0]);
  if (takes != width)
    return badUsage("the entry `head` takes " + std::to_string(takes) + " numbers, and this pooling gives " +
                    std::to_string(width))
        .withHelp("the model's own pooling is " + card.vectors.poolingText());
  width = lastAxis(entry->outputs[0]);
  return {};
}

Status VectorPlan::choosePrompt(const Card &card, const std::string &name) {
  std::vector<std::string> names;
  for (const auto &[known, text] : card.vectors.prompts) {
    if (known == name) {
      prompt = text;
      return {};
    }
    names.push_back(known);
  }
  std::string near = nearestName(name, names), all;
  for (const std::string &one : names)
    all += (all.empty() ? "" : ", ") + quote(one);
  Status status = badUsage("this model has no prompt " + quote(name));
  if (!near.empty())
    status = std::move(status).withHelp("did you mean " + near + "?");
  return std::move(status).withHelp(all.empty() ? "it has none" : "its prompts: " + all);
}

Status VectorPlan::chooseDimensions(int64_t count) {
  dimensions = count;
  return !width || count <= width ? Status()
                                  : badUsage("the vectors of this model have " + std::to_string(width) +
                                             " dimensions, not " + std::to_string(count));
}

/// The library counts the prompt's own tokens, without a special one at their end.
Status VectorPlan::measurePrompt(const Tokenizer &tokenizer) {
  promptTokens = 0;
  if (includePrompt || prompt.empty())
    return {};
  std::vector<int64_t> ids;
  HEDDLE_TRY(tokenizer.encodeIds(whole(""), ids));
  bool special =
      !ids.empty() && tokenizer.decode({ids.back()}, true).empty() && !tokenizer.decode({ids.back()}, false).empty();
  promptTokens = ids.size() - special;
  return {};
}

//===-- texts ------------------------------------------------------------------===//

/// What Python's str.strip takes away.
static bool isBlank(uint32_t c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/// Without the blanks at both ends.
static std::string_view stripped(std::string_view text) {
  uint32_t c = 0;
  for (size_t n = decodeUtf8(text, c); n && isBlank(c); n = decodeUtf8(text, c))
    text.remove_prefix(n);
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin && text.size() - begin < 4 && (text[begin] & 0xc0) == 0x80)
      --begin;
    if (decodeUtf8(text.substr(begin), c) != text.size() - begin || !isBlank(c))
      break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string VectorPlan::whole(std::string_view text) const {
  std::string all = prompt + std::string(text);
  if (strips)
    all = std::string(stripped(all));
  // Letters of ASCII before special tokens are searched for, which then match none; the tokenizer does the others.
  for (char &c : all)
    c = lowers && c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return all;
}

Status encodeForVector(const Model &model, const Tokenizer &tokenizer, const VectorPlan &plan, std::string_view text,
                       bool truncates, std::vector<Token> &tokens, size_t &whole) {
  HEDDLE_TRY(encodeWhole(model, tokenizer, {plan.whole(text)}, tokens, whole));
  return truncates || whole <= tokens.size() ? Status() : tooLong(whole, tokens.size());
}

//===-- vectors ----------------------------------------------------------------===//

namespace {
/// The hidden states of one text.
struct Hidden {
  const float *numbers;
  size_t tokens, width, skip; ///< `skip` tokens are a prompt that does not count
  const float *at(size_t token) const { return numbers + token * width; }
};
} // namespace

/// Sums of weight(i) * token i over the tokens that count.
template <typename Weight> static void addTokens(const Hidden &hidden, Weight weight, double *out) {
  for (size_t i = hidden.skip; i < hidden.tokens; ++i)
    for (size_t j = 0; j < hidden.width; ++j)
      out[j] += weight(i) * double(hidden.at(i)[j]);
}

static void divide(const Hidden &hidden, double by, double *out) {
  for (size_t j = 0; j < hidden.width; ++j)
    out[j] /= by;
}

/// Adds the pooled states to the zeros at `out`. The first token counts for `cls` even if it is of a prompt.
static void pool(Pooling kind, const Hidden &hidden, double *out) {
  size_t seen = hidden.tokens > hidden.skip ? hidden.tokens - hidden.skip : 0;
  auto one = [](size_t) { return 1.0; };
  auto place = [](size_t i) { return double(i + 1); };
  switch (kind) {
  case Pooling::Cls: std::copy_n(hidden.at(0), hidden.width, out); return;
  case Pooling::LastToken:
    if (seen)
      std::copy_n(hidden.at(hidden.tokens - 1), hidden.width, out);
    return;
  case Pooling::Max:
    for (size_t j = 0; j < hidden.width; ++j) {
      out[j] = seen ? hidden.at(hidden.skip)[j] : kNoMaximum;
      for (size_t i = hidden.skip; i < hidden.tokens; ++i)
        if (double x = hidden.at(i)[j]; x > out[j] || std::isnan(x))
          out[j] = x;
    }
    return;
  case Pooling::Mean: addTokens(hidden, one, out); return divide(hidden, seen ? double(seen) : kNoTokens, out);
  case Pooling::MeanSqrtLen:
    addTokens(hidden, one, out);
    return divide(hidden, std::sqrt(seen ? double(seen) : kNoTokens), out);
  case Pooling::WeightedMean: {
    addTokens(hidden, place, out);
    double sum = 0;
    for (size_t i = hidden.skip; i < hidden.tokens; ++i)
      sum += place(i);
    return divide(hidden, std::max(sum, kNoTokens), out);
  }
  }
}

static double squares(const std::vector<double> &numbers) {
  double sum = 0;
  for (double x : numbers)
    sum += x * x;
  return sum;
}

static void toLength1(std::vector<double> &numbers) {
  double length = std::max(std::sqrt(squares(numbers)), kLeastLength);
  for (double &x : numbers)
    x /= length;
}

static Status checkNumbers(const std::vector<double> &numbers, const char *name) {
  if (std::isfinite(squares(numbers)))
    return {};
  return badInput(quote(name) + " holds a NaN or an infinity: there is no vector")
      .withHelp("a weight is NaN or infinite, or numbers have grown beyond what f32 holds");
}

/// What one row of a batch says before `head`.
static Status pooledOf(const EncoderBatch &batch, const VectorRow &row, std::vector<double> &out) {
  const VectorPlan &plan = *row.plan;
  const Tensor *tensor = batch.output(plan.output);
  if (!tensor || tensor->shape.back() < 1)
    return internalError(quote(plan.output) + " is no output of a vector a text");
  auto width = size_t(tensor->shape.back());
  const float *numbers = batch.rowOf(*tensor, row.row);
  if (plan.pooling.empty()) {
    out.assign(numbers, numbers + width);
    return {};
  }
  Hidden hidden = {numbers, row.tokens, width, plan.includePrompt ? 0 : std::min(plan.promptTokens, row.tokens)};
  out.assign(width * plan.pooling.size(), 0);
  for (size_t i = 0; i < plan.pooling.size(); ++i)
    pool(plan.pooling[i], hidden, &out[i * width]);
  return {};
}

/// Replaces each of `vectors` by what `head` makes of it, in one call.
static Status callHead(Model &model, const std::vector<std::vector<double> *> &vectors) {
  const Entry *head = model.card().entry(kHead);
  if (!head || head->inputs.size() != 1 || head->outputs.size() != 1)
    return internalError("the entry head is no function of one tensor");
  std::vector<Tensor> inputs(1);
  Shape shape = {int64_t(vectors.size()), int64_t(vectors[0]->size())};
  HEDDLE_TRY(Tensor::make(head->inputs[0].name, Type::F32, shape, inputs[0]));
  float *to = inputs[0].data.as<float>();
  for (const std::vector<double> *one : vectors)
    to = std::copy(one->begin(), one->end(), to);
  std::vector<int64_t> dims;
  std::vector<Given> given = {{&head->inputs[0], shape}};
  HEDDLE_TRY(bindDims(model.card(), *head, given, dims));
  CallMemory memory;
  EntryCall call(model, *head, memory);
  HEDDLE_TRY(call.prepare(dims, inputs));
  HEDDLE_TRY(call.call(dims));
  const Tensor &made = call.outputs[0];
  if (made.shape.size() != 2 || made.shape[0] != shape[0])
    return internalError("the entry head gives " + shapeText(made.shape));
  const float *from = made.data.as<float>();
  for (std::vector<double> *one : vectors) {
    one->assign(from, from + made.shape[1]);
    from += made.shape[1];
  }
  return {};
}

Status makeVectors(Model &model, const EncoderBatch &batch, std::vector<VectorRow> &rows) {
  std::vector<std::vector<double>> numbers(rows.size());
  std::vector<std::vector<double> *> taken; // by head
  for (size_t i = 0; i < rows.size(); ++i) {
    HEDDLE_TRY(pooledOf(batch, rows[i], numbers[i]));
    rows[i].status = checkNumbers(numbers[i], rows[i].plan->output);
    if (rows[i].status.ok() && rows[i].plan->head)
      taken.push_back(&numbers[i]);
  }
  if (!taken.empty())
    HEDDLE_TRY(callHead(model, taken));
  for (size_t i = 0; i < rows.size(); ++i) {
    VectorRow &row = rows[i];
    if (row.status.ok() && row.plan->head)
      row.status = checkNumbers(numbers[i], kHead);
    if (!row.status.ok())
      continue;
    std::vector<double> &all = numbers[i];
    if (row.plan->normalizes && row.plan->normalize.value_or(true))
      toLength1(all);
    if (row.plan->dimensions)
      all.resize(std::min<size_t>(all.size(), size_t(row.plan->dimensions)));
    if (row.plan->normalize.value_or(false))
      toLength1(all);
    row.vector.assign(all.begin(), all.end());
  }
  return {};
}

double similarity(std::string_view name, const std::vector<float> &a, const std::vector<float> &b) {
  double dot = 0, first = 0, second = 0, gap = 0, steps = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    double x = a[i], y = b[i];
    dot += x * y;
    first += x * x;
    second += y * y;
    gap += (x - y) * (x - y);
    steps += std::fabs(x - y);
  }
  if (name == "dot")
    return dot;
  if (name == "euclidean")
    return -std::sqrt(gap);
  if (name == "manhattan")
    return -steps;
  return dot / (std::max(std::sqrt(first), kLeastLength) * std::max(std::sqrt(second), kLeastLength));
}

} // namespace heddle::rt
