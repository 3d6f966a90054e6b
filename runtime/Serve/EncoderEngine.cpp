// The engine of models that read a text whole: vectors of texts, labels, words after masks, answers out of a text. All
// that waits is one round: its texts, sorted by length, become padded batches.
//
// A text's answer is that of the text alone: where padding could change it, only texts of one length share a batch. A
// batch that fails is computed text by text, so that what is wrong with one is said of it alone.
#include "runtime/Encode/Answers.h"
#include "runtime/Encode/Vectors.h"
#include "runtime/Serve/Engine.h"
#include "runtime/Serve/Queue.h"
#include <algorithm>
#include <chrono>

namespace heddle::serve {
namespace {

using json::Value;

/// Tokens of a batch where every token has a logit for each word: they take a quarter of a gigabyte.
constexpr size_t kMostOfWords = 2048;

/// A request that was understood.
struct EncoderJob {
  ExchangePtr to;
  Endpoint endpoint = Embeddings;
  bool several = false; ///< the answer is a list
  rt::AnswerForm form = {5, true};
  bool base64 = false;
  rt::VectorPlan plan; ///< of a job of vectors
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
  std::string vectorText(const Row &row, const std::vector<float> &vector) const;
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
  const rt::Card &card = service.model->card();
  rt::VectorPlan &plan = job.plan;
  auto refused = [](const rt::Status &status, const char *field) {
    return status.ok() ? ApiError{} : ApiError{400, fromStatus(status, field).message, field, "unsupported_value"};
  };
  if (ApiError error = refused(rt::VectorPlan::of(card, plan), ""))
    return error;
  if (const Value *pooling = memberOf(body, "pooling"))
    if (ApiError error = refused(plan.choosePooling(card, pooling->text), "pooling"))
      return error;
  if (const Value *name = memberOf(body, "prompt_name")) {
    plan.prompt.clear(); // an empty name: no prompt
    if (ApiError error = name->text.empty() ? ApiError() : refused(plan.choosePrompt(card, name->text), "prompt_name"))
      return error;
  }
  if (std::optional<int64_t> count = integerOf(body, "dimensions"))
    if (ApiError error = refused(plan.chooseDimensions(*count), "dimensions"))
      return error;
  if (memberOf(body, "normalize"))
    plan.normalize = flagOf(body, "normalize", true);
  const Value &input = *memberOf(body, "input");
  bool texts = (job.several ? input.items.front() : input).is(Value::Kind::Text); // ids have no prompt in front
  if (ApiError error = texts ? refused(plan.measurePrompt(*service.tokenizer), "prompt_name") : ApiError())
    return error;
  const Value *format = memberOf(body, "encoding_format");
  job.base64 = format && format->text == "base64";
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
    rt::Texts texts = {job.endpoint == Embeddings ? job.plan.whole(one.text) : one.text};
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
    const size_t most = service.endpoints == Fill ? kMostOfWords : rt::kMostTokens;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row &a, const Row &b) { return a.tokens().size() < b.tokens().size(); });
    std::vector<size_t> lengths;
    for (const Row &row : rows)
      lengths.push_back(row.tokens().size());
    for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      end = rt::endOfBatch(lengths, begin, most, [&] { return mayPad(); });
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
  std::vector<rt::VectorRow> vectors;
  if (status.ok() && service.endpoints == Embeddings) {
    for (size_t i = 0; i < batch.size(); ++i)
      vectors.push_back({&batch[i].job->plan, int64_t(i), batch[i].tokens().size(), {}, {}});
    status = rt::makeVectors(*service.model, called, vectors);
  }
  if (!status.ok() && batch.size() > 1) {
    for (const Row &row : batch)
      compute({row});
    return;
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    EncoderJob &job = *batch[i].job;
    if (job.left == 0)
      continue; // another of its texts has failed
    if (status.ok() && !vectors.empty()) {
      status = vectors[i].status;
      job.answers[batch[i].index] = vectorText(batch[i], vectors[i].vector);
    } else if (status.ok())
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
  HEDDLE_TRY(
      rt::answerRow(service.model->card(), *service.tokenizer, batch, number, job.texts[row.index], job.form, text));
  text.pop_back(); // the line's end
  return {};
}

/// A vector as JSON.
std::string EncoderEngine::vectorText(const Row &row, const std::vector<float> &vector) const {
  std::string numbers;
  bool base64 = row.job->base64;
  if (base64) // little-endian, as every processor that this runs on
    numbers = "\"" + inBase64(vector.data(), vector.size() * sizeof(float)) + "\"";
  else
    for (float x : vector)
      numbers += (numbers.empty() ? "[" : ",") + rt::jsonNumber(x);
  return "{\"object\":\"embedding\",\"index\":" + std::to_string(row.index) + ",\"embedding\":" + numbers +
         (base64 ? "}" : "]}");
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
  rt::VectorPlan plan;
  if (endpoint == Answers || rt::VectorPlan::of(card, plan).ok())
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
