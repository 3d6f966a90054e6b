// The engine of models that read a text whole: vectors of texts, labels, words after masks, answers out of a text. All
// that waits is one round: its texts, sorted by length, become padded batches.
//
// A text's answer is that of the text alone: where padding could change it, only texts of one length share a batch. A
// batch that fails is computed text by text, so that what is wrong with one is said of it alone.
#include "runtime/Encode/Answers.h"
#include "runtime/Serve/Engine.h"
#include "runtime/Serve/Queue.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace heddle::serve {
namespace {

using json::Value;

/// Of a batch. Where every token has a logit for each word, so many tokens take a quarter of a gigabyte.
constexpr size_t kMostRows = 64, kMostTokens = 16384, kMostOfWords = 2048;
constexpr const char *kPooled[] = {"text_embeds", "pooler_output"};
constexpr const char *kHidden = "last_hidden_state";

/// A request that was understood.
struct EncoderJob {
  ExchangePtr to;
  Endpoint endpoint = Embeddings;
  bool several = false; ///< the answer is a list
  rt::AnswerForm form = {5, true};
  bool base64 = false, normalize = true;
  std::string pooling; ///< mean, cls or max of the hidden states, or `pooled`
  std::string fields;  ///< of the answer's head
  std::vector<rt::Asked> texts;
  std::vector<std::string> answers; ///< to each of the texts, as JSON
  size_t left = 0;                  ///< texts that have none
};

/// A text of a job.
struct Row {
  EncoderJob *job;
  size_t index;
  const std::vector<rt::Token> &tokens() const { return job->texts[index].tokens; }
};

std::string inBase64(const void *bytes, size_t count) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto *in = static_cast<const unsigned char *>(bytes);
  std::string out;
  out.reserve((count + 2) / 3 * 4);
  for (size_t i = 0; i < count; i += 3) {
    unsigned three = in[i] << 16 | (i + 1 < count ? in[i + 1] << 8 : 0) | (i + 2 < count ? in[i + 2] : 0);
    out += kLetters[three >> 18];
    out += kLetters[three >> 12 & 63];
    out += i + 1 < count ? kLetters[three >> 6 & 63] : '=';
    out += i + 2 < count ? kLetters[three & 63] : '=';
  }
  return out;
}

const rt::Value *outputOf(const rt::Entry &run, const char *name, size_t rank) {
  int index = run.outputIndex(name);
  bool fits = index >= 0 && run.outputs[index].type == rt::Type::F32 && run.outputs[index].axes.size() == rank;
  return fits ? &run.outputs[index] : nullptr;
}

/// The name of the output that is a vector a text; null: the model has none.
const char *pooledOutput(const rt::Entry &run) {
  for (const char *name : kPooled)
    if (outputOf(run, name, 2))
      return name;
  return nullptr;
}

class EncoderEngine final : public Engine {
public:
  EncoderEngine(const Service &service, Listener &listener, Metrics &metrics, size_t queue)
      : service(service), listener(listener), metrics(metrics), jobs(queue) {}

  void put(ExchangePtr exchange) override;
  void run() override;
  void close() override { jobs.close(); }
  void drain() override {
    for (const EncoderJob &job : jobs.drain())
      refuse(listener, *job.to, stopping());
  }
  size_t waiting() const override { return jobs.size(); }
  size_t slots() const override { return 1; }

private:
  ApiError read(EncoderJob &job) const;
  ApiError readVectors(const Value &body, EncoderJob &job) const;
  ApiError readTexts(const Value &body, EncoderJob &job) const;
  ApiError addText(const Value &one, const std::string *pair, EncoderJob &job) const;
  bool mayPad();
  void compute(std::vector<Row> batch);
  rt::Status answer(const rt::EncoderBatch &batch, int64_t number, const Row &row, std::string &text) const;
  rt::Status vectorOf(const rt::EncoderBatch &batch, int64_t number, const Row &row, std::vector<float> &vector) const;
  void finish(EncoderJob &job);

  const Service &service;
  Listener &listener;
  Metrics &metrics;
  Queue<EncoderJob> jobs;
  std::optional<bool> pads; ///< texts of different lengths may share a batch; absent: not tried yet
};

//===-- reading ----------------------------------------------------------------===//

void EncoderEngine::put(ExchangePtr exchange) {
  EncoderJob job;
  job.to = std::move(exchange);
  if (ApiError error = read(job))
    return refuse(listener, *job.to, error, job.fields);
  job.answers.resize(job.texts.size());
  job.left = job.texts.size();
  if (listener.isDraining())
    refuse(listener, *job.to, stopping());
  else if (!jobs.put(job))
    refuse(listener, *job.to, {503, "the queue is full", "", "overloaded"}, job.fields);
}

ApiError EncoderEngine::read(EncoderJob &job) const {
  for (const EndpointName &one : endpointNames())
    if (job.to->head.path == one.path)
      job.endpoint = one.endpoint;
  Value body;
  if (ApiError error = readBody(service, job.endpoint, job.to->body, body, job.fields))
    return error;
  const Value *input = memberOf(body, "input");
  if (!input)
    return {400, "`input` is missing", "input", "missing_required_parameter"};
  job.several = isSeveral(*input);
  return job.endpoint == Embeddings ? readVectors(body, job) : readTexts(body, job);
}

ApiError EncoderEngine::readVectors(const Value &body, EncoderJob &job) const {
  const rt::Entry &run = *service.model->card().entry("run");
  const char *pooled = pooledOutput(run);
  const rt::Value *hidden = outputOf(run, kHidden, 3);
  const std::string &own = service.model->card().pooling;
  job.pooling = hidden && !own.empty() ? own : pooled ? "pooled" : "mean";
  if (const Value *pooling = memberOf(body, "pooling"))
    job.pooling = std::string(pooling->text);
  bool isPooled = job.pooling == "pooled";
  if (isPooled ? !pooled : !hidden)
    return {400, std::string("this model has no ") + (isPooled ? "pooled output" : "hidden states to make a vector of"),
            "pooling", "unsupported_value"};
  const rt::Form &axis = isPooled ? outputOf(run, pooled, 2)->axes.back() : hidden->axes.back();
  std::optional<int64_t> width = axis.uses().empty() ? axis.evaluate(nullptr) : std::nullopt;
  if (std::optional<double> wanted = numberOf(body, "dimensions"); wanted && width && *wanted != double(*width))
    return {400, "the vectors of this model have " + std::to_string(*width) + " dimensions, no others", "dimensions",
            "unsupported_value"};
  const Value *format = memberOf(body, "encoding_format");
  job.base64 = format && format->text == "base64";
  job.normalize = flagOf(body, "normalize", true);
  const Value &input = *memberOf(body, "input");
  if (!job.several)
    return addText(input, nullptr, job);
  for (const Value &one : input.items)
    if (ApiError error = addText(one, nullptr, job))
      return error;
  return {};
}

ApiError EncoderEngine::readTexts(const Value &body, EncoderJob &job) const {
  const Value &input = *memberOf(body, "input"), *pair = memberOf(body, "pair");
  job.form.most = int64_t(numberOf(body, "top").value_or(5));
  if (!pair && job.endpoint == Answers)
    return {400, "`pair` is missing: the text that answers the question", "pair", "missing_required_parameter"};
  bool each = pair && pair->is(Value::Kind::Array);
  if (each && pair->items.size() != (job.several ? input.items.size() : 1))
    return {400, "`pair` must be a text, or a list of as many as `input` has", "pair", "invalid_value"};
  for (size_t i = 0; i < (job.several ? input.items.size() : 1); ++i) {
    const Value *second = each ? &pair->items[i] : pair;
    if (ApiError error = addText(job.several ? input.items[i] : input, second ? &second->text : nullptr, job))
      return error;
  }
  return {};
}

/// Appends a text, a pair of texts or a list of ids, as tokens.
ApiError EncoderEngine::addText(const Value &one, const std::string *pair, EncoderJob &job) const {
  rt::Asked asked;
  rt::Status status;
  if (one.is(Value::Kind::Text)) {
    rt::Texts texts = {one.text};
    if (pair)
      texts.push_back(asked.context = *pair);
    status = rt::encodeTexts(*service.model, *service.tokenizer, texts, service.truncates, asked.tokens);
  } else {
    std::vector<int64_t> ids;
    if (ApiError error = readTokens(service, one, "input", ids))
      return error;
    for (int64_t id : ids)
      asked.tokens.push_back({uint32_t(id)});
    status = rt::checkTokens(*service.model, asked.tokens);
  }
  std::string which = job.several ? "input[" + std::to_string(job.texts.size()) + "]" : "input";
  if (!status.ok())
    return fromStatus(status, which);
  if (int64_t(asked.tokens.size()) > service.context)
    return {400,
            "the text has " + std::to_string(asked.tokens.size()) + " tokens, and a text here at most " +
                std::to_string(service.context),
            which, "context_length_exceeded"};
  job.texts.push_back(std::move(asked));
  return {};
}

//===-- computing --------------------------------------------------------------===//

void EncoderEngine::run() {
  while (std::optional<EncoderJob> first = jobs.take()) {
    std::deque<EncoderJob> round = jobs.drain();
    round.push_front(std::move(*first));
    metrics.running = 1;
    std::vector<Row> rows;
    for (EncoderJob &job : round)
      for (size_t i = 0; i < job.texts.size(); ++i)
        rows.push_back({&job, i});
    const size_t most = service.endpoints == Fill ? kMostOfWords : kMostTokens;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row &a, const Row &b) { return a.tokens().size() < b.tokens().size(); });
    for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      // The longest comes last and sets the width.
      for (end = begin + 1; end < rows.size() && end - begin < kMostRows; ++end) {
        size_t longest = rows[end].tokens().size();
        bool longer = longest != rows[begin].tokens().size();
        if (longest * (end - begin + 1) > most || (longer && !mayPad()))
          break;
      }
      compute({rows.begin() + int64_t(begin), rows.begin() + int64_t(end)});
    }
    for (const EncoderJob &job : round)
      metrics.cancelled += job.left != 0; // nobody waited for it
    metrics.running = 0;
  }
}

/// Tried once, when it matters for the first time: the server listens sooner so.
bool EncoderEngine::mayPad() {
  if (!pads) {
    bool proven = false;
    pads = rt::provePadding(*service.model, *service.tokenizer, proven).ok() && proven;
  }
  return *pads;
}

/// Computes rows in one call and says what they yield. Those that nothing waits for any more are left out.
void EncoderEngine::compute(std::vector<Row> batch) {
  batch.erase(std::remove_if(batch.begin(), batch.end(),
                             [](const Row &row) { return row.job->left == 0 || row.job->to->abandoned; }),
              batch.end());
  if (batch.empty())
    return;
  rt::TokenRows rows;
  for (const Row &row : batch) {
    rows.push_back(&row.tokens());
    metrics.promptTokens += row.tokens().size();
  }
  auto begin = std::chrono::steady_clock::now();
  rt::EncoderBatch called;
  rt::Status status = called.compute(*service.model, rows);
  metrics.step.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  metrics.batchRows.add(double(batch.size()));
  if (!status.ok() && batch.size() > 1) {
    for (const Row &row : batch)
      compute({row});
    return;
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    EncoderJob &job = *batch[i].job;
    if (job.left == 0)
      continue; // another of its texts has failed
    if (status.ok())
      status = answer(called, int64_t(i), batch[i], job.answers[batch[i].index]);
    if (!status.ok()) {
      job.left = 0;
      refuse(listener, *job.to, fromStatus(status, "input"), job.fields);
      status = {};
    } else if (--job.left == 0) {
      finish(job);
    }
  }
}

/// The answer to one row of a batch, as JSON.
rt::Status EncoderEngine::answer(const rt::EncoderBatch &batch, int64_t number, const Row &row,
                                 std::string &text) const {
  const EncoderJob &job = *row.job;
  if (job.endpoint != Embeddings) {
    HEDDLE_TRY(
        rt::answerRow(service.model->card(), *service.tokenizer, batch, number, job.texts[row.index], job.form, text));
    text.pop_back(); // the line's end
    return {};
  }
  std::vector<float> vector;
  HEDDLE_TRY(vectorOf(batch, number, row, vector));
  std::string numbers;
  if (job.base64) // little-endian, as every processor that this runs on
    numbers = "\"" + inBase64(vector.data(), vector.size() * sizeof(float)) + "\"";
  else
    for (float x : vector)
      numbers += (numbers.empty() ? "[" : ",") + rt::jsonNumber(x);
  text = "{\"object\":\"embedding\",\"index\":" + std::to_string(row.index) + ",\"embedding\":" + numbers +
         (job.base64 ? "}" : "]}");
  return {};
}

/// The vector of a row: its pooled output, that of its first token, or the mean or the largest over its tokens, in f64.
rt::Status EncoderEngine::vectorOf(const rt::EncoderBatch &batch, int64_t number, const Row &row,
                                   std::vector<float> &vector) const {
  const rt::Entry &run = *service.model->card().entry("run");
  const std::string &pooling = row.job->pooling;
  const char *name = pooling == "pooled" ? pooledOutput(run) : kHidden;
  const rt::Tensor *output = batch.output(name);
  if (!output || output->shape.back() < 1)
    return rt::internalError(rt::quote(name) + " is no output of a vector a text");
  const float *from = batch.rowOf(*output, number);
  size_t width = size_t(output->shape.back());
  size_t tokens = pooling == "pooled" || pooling == "cls" ? 1 : row.tokens().size();
  std::vector<double> all(from, from + width);
  for (size_t token = 1; token < tokens; ++token)
    for (size_t i = 0; i < width; ++i) {
      double x = from[token * width + i];
      all[i] = pooling == "max" ? (x > all[i] || std::isnan(x) ? x : all[i]) : all[i] + x;
    }
  double length = 0;
  for (double &x : all) {
    x = pooling == "max" ? x : x / double(tokens);
    length += x * x;
  }
  if (!std::isfinite(length))
    return rt::badInput(rt::quote(name) + " holds a NaN or an infinity: there is no vector")
        .withHelp("a weight is NaN or infinite, or numbers have grown beyond what f32 holds");
  double scale = row.job->normalize && length > 0 ? 1 / std::sqrt(length) : 1;
  for (double x : all)
    vector.push_back(float(x * scale));
  return {};
}

/// Says the answer of a job whose texts all have theirs.
void EncoderEngine::finish(EncoderJob &job) {
  std::string list;
  size_t tokens = 0;
  for (size_t i = 0; i < job.answers.size(); ++i) {
    list += (i ? "," : "") + job.answers[i];
    tokens += job.texts[i].tokens.size();
  }
  std::string body = job.several ? "{\"data\":[" + list + "]}" : list, count = std::to_string(tokens);
  if (job.endpoint == Embeddings)
    body = "{\"object\":\"list\",\"data\":[" + list + "],\"model\":" + rt::jsonString(service.name) +
           ",\"usage\":{\"prompt_tokens\":" + count + ",\"total_tokens\":" + count + "}}";
  listener.whole(*job.to, 200, "application/json", std::move(body), job.fields);
}

} // namespace

/// What a model that reads texts answers; an error if that is nothing which is served.
static rt::Status encoderEndpoint(const rt::Card &card, const rt::Tokenizer &tokenizer, Endpoint &endpoint) {
  const rt::Entry *run = card.entry("run");
  if (!run || !run->input("input_ids"))
    return rt::unsupported("this model takes no text, and nothing else is served yet");
  for (const rt::Value &value : run->inputs)
    if (!value.hasDefault && value.name != "input_ids")
      return rt::unsupported("this model needs " + rt::quote(value.name) + " (" + value.typeText() +
                             ") with a text, and texts alone are served");
  const rt::Value *words = nullptr;
  for (const char *name : {"logits", "prediction_logits"})
    for (size_t rank : {2, 3})
      words = words ? words : outputOf(*run, name, rank);
  if (words) {
    std::optional<int64_t> count =
        words->axes.back().uses().empty() ? words->axes.back().evaluate(nullptr) : std::nullopt;
    bool each = words->axes.size() == 3 && count && *count != int64_t(card.labels.size());
    endpoint = each && *count >= int64_t(tokenizer.size()) ? Fill : Classify;
    return {};
  }
  endpoint = rt::marksSpans(card) ? Answers : Embeddings;
  if (endpoint == Answers || pooledOutput(*run) || outputOf(*run, kHidden, 3))
    return {};
  return rt::unsupported("this model gives neither labels nor words nor hidden states of a text: nothing is served");
}

static rt::Status makeEncoderEngine(Service &service, Listener &listener, Metrics &metrics, size_t queue,
                                    std::optional<int64_t> slots, std::string &together,
                                    std::unique_ptr<Engine> &engine) {
  if (slots)
    return rt::badUsage("--slots is for texts that are made, and this model reads texts");
  Endpoint endpoint;
  HEDDLE_TRY(encoderEndpoint(service.model->card(), *service.tokenizer, endpoint));
  service.endpoints = endpoint;
  together = "texts that wait together in one batch";
  engine = std::make_unique<EncoderEngine>(service, listener, metrics, queue);
  return {};
}

} // namespace heddle::serve

const heddle::serve::MakeEngine heddle_serve_encoder = heddle::serve::makeEncoderEngine;
