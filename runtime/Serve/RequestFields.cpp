// Fields that are taken and do nothing here are not in the table; what would change an answer and is not done is
// refused where it asks for something.
#include "runtime/Serve/RequestFields.h"
#include "heddle/settings.h"
#include "runtime/Core/Status.h"
#include <algorithm>
#include <cmath>

namespace heddle::serve {

using json::Value;

static constexpr unsigned Both = Completions | Chat, Judged = Classify | Fill | Answers,
                          All = Both | Embeddings | Judged;

const std::vector<EndpointName> &endpointNames() {
  static const std::vector<EndpointName> table = {
      {Completions, "/v1/completions", "completions"},
      {Chat, "/v1/chat/completions", "chat"},
      {Embeddings, "/v1/embeddings", "embeddings"},
      {Classify, "/v1/classify", "classify"},
      {Fill, "/v1/fill", "fill"},
      {Answers, "/v1/answer", "answer"},
  };
  return table;
}

const std::vector<RequestField> &requestFields() {
  static const std::vector<RequestField> table = {
      {"model", All, FieldKind::Text, 1, 256, "the name of this model, or an --alias of it"},
      {"messages", Chat, FieldKind::Objects, 1, 10000, "the conversation"},
      {"prompt", Completions, FieldKind::Prompt, 1, 64, "a text, ids, or a list of texts or of lists of ids"},
      {"max_tokens", Both, FieldKind::Integer, -1, 1 << 24, "new tokens; -1, the default: what fits"},
      {"max_completion_tokens", Chat, FieldKind::Integer, -1, 1 << 24, "the same"},
      {"min_tokens", Both, FieldKind::Integer, 0, 1 << 24, "before so many new tokens nothing ends the answer"},
      {"temperature", Both, FieldKind::Number, 0, 2, "0: the likeliest token"},
      {"top_p", Both, FieldKind::Number, generation::top_p.least, generation::top_p.most,
       "the likeliest tokens that together are so likely"},
      {"top_k", Both, FieldKind::Integer, -1, 1 << 24, "so many of the likeliest tokens; 0 or -1: all"},
      {"min_p", Both, FieldKind::Number, generation::min_p.least, generation::min_p.most,
       "tokens at least so likely, relative to the likeliest"},
      {"repetition_penalty", Both, FieldKind::Number, generation::repetition_penalty.least,
       generation::repetition_penalty.most, "divides the scores of tokens of the text"},
      {"presence_penalty", Both, FieldKind::Number, -2, 2, "off the scores of new tokens, once"},
      {"frequency_penalty", Both, FieldKind::Number, -2, 2, "off the scores of new tokens, each time"},
      {"logit_bias", Both, FieldKind::Bias, -100, 100, "id: number added to its score; at most 300"},
      {"seed", Both, FieldKind::Integer, -1, 9.2e18, "the same seed gives the same text; -1, the default: drawn"},
      {"n", Both, FieldKind::Integer, 1, 8, "answers to each prompt"},
      {"best_of", Completions, FieldKind::Integer, 1, 8, "must be n"},
      {"stop", Both, FieldKind::Stops, 0, 16, "texts of at most 256 bytes that end the answer"},
      {"stop_token_ids", Both, FieldKind::Ids, 0, 256, "tokens that end the answer, in addition to the model's"},
      {"ignore_eos", Both, FieldKind::Boolean, 0, 0, "the model's own ends of a text end nothing"},
      {"stream", Both, FieldKind::Boolean, 0, 0, "the answer comes as it is made"},
      {"stream_options", Both, FieldKind::Object, 0, 0, "include_usage: a last piece with the counts"},
      {"echo", Completions, FieldKind::Boolean, 0, 0, "the prompt comes before the answer"},
      {"logprobs", Completions, FieldKind::Integer, 0, 20, "of each new token and so many others; with echo of all"},
      {"logprobs", Chat, FieldKind::Boolean, 0, 0, "of each new token"},
      {"top_logprobs", Chat, FieldKind::Integer, 0, 20, "of so many others; needs logprobs"},
      {"suffix", Completions, FieldKind::Word, 0, 0, "", "texts are continued at their end alone"},
      {"response_format", Chat, FieldKind::Object, 0, 0, "type: text"},
      {"tools", Chat, FieldKind::Objects, 0, 1000, "given to the template; a call comes back as text"},
      {"tool_choice", Chat, FieldKind::Word, 0, 0, "none auto", "whether to call a tool is left to the model"},
      {"modalities", Chat, FieldKind::Texts, 1, 16, "text alone"},
      {"audio", Chat, FieldKind::Word, 0, 0, "", "answers are texts"},
      {"chat_template_kwargs", Chat, FieldKind::Object, 0, 0, "variables of the template"},
      {"add_generation_prompt", Chat, FieldKind::Boolean, 0, 0, "the template opens the answer's turn; default: true"},
      {"continue_final_message", Chat, FieldKind::Boolean, 0, 0, "the answer goes on in the last turn"},
      {"input", Embeddings, FieldKind::Prompt, 1, 2048, "what becomes vectors"},
      {"input", Judged, FieldKind::Texts, 1, 2048, "what is judged; of answer, the question"},
      {"pair", Judged, FieldKind::Texts, 1, 2048, "a second text, for all or for each; of answer, what is read"},
      {"top", Judged, FieldKind::Integer, 1, 1 << 20, "at most so many labels, words or stretches; default: 5"},
      {"encoding_format", Embeddings, FieldKind::Word, 0, 0, "float base64"},
      {"normalize", Embeddings, FieldKind::Boolean, 0, 0, "vectors of length 1; default: as the model says"},
      {"pooling", Embeddings, FieldKind::Word, 0, 0, "cls max mean mean_sqrt_len_tokens weightedmean lasttoken pooled"},
      {"prompt_name", Embeddings, FieldKind::Text, 0, 256,
       "the name of a prompt, which comes in front of each text; empty: none"},
      {"dimensions", Embeddings, FieldKind::Integer, 1, 1 << 24, "the first so many numbers of each vector"},
  };
  return table;
}

static std::string bounds(const RequestField &field) {
  auto number = [](double x) { return rt::format(x == double(int64_t(x)) ? "%.0f" : "%g", x); };
  return number(field.least) + " to " + number(field.most);
}

/// What a value of this field must be, for messages and the page.
static std::string wanted(const RequestField &field) {
  switch (field.kind) {
  case FieldKind::Boolean: return "true or false";
  case FieldKind::Integer: return "a whole number, " + bounds(field);
  case FieldKind::Number: return "a number, " + bounds(field);
  case FieldKind::Text: return "a text of " + bounds(field) + " bytes";
  case FieldKind::Texts:
  case FieldKind::Stops: return "a text, or a list of at most " + rt::format("%.0f", field.most) + " texts";
  case FieldKind::Prompt:
    return "a text, a list of ids, or a list of at most " + rt::format("%.0f", field.most) + " of these";
  case FieldKind::Ids: return "a list of at most " + rt::format("%.0f", field.most) + " ids";
  case FieldKind::Bias: return "an object of ids and numbers, " + bounds(field);
  case FieldKind::Object: return "an object";
  case FieldKind::Objects: return "a list of " + bounds(field) + " objects";
  case FieldKind::Word: return field.what[0] ? "one of: " + std::string(field.what) : "absent";
  }
  return "";
}

static bool isIds(const Value &value) {
  return value.is(Value::Kind::Array) && !value.items.empty() &&
         std::all_of(value.items.begin(), value.items.end(),
                     [](const Value &id) { return id.is(Value::Kind::Integer); });
}

static bool isTexts(const Value &value) {
  return value.is(Value::Kind::Array) && std::all_of(value.items.begin(), value.items.end(),
                                                     [](const Value &text) { return text.is(Value::Kind::Text); });
}

static bool fits(const RequestField &field, const Value &value) {
  auto within = [&](double x) { return x >= field.least && x <= field.most; };
  auto all = [](const auto &list, auto good) { return std::all_of(list.begin(), list.end(), good); };
  switch (field.kind) {
  case FieldKind::Boolean: return value.is(Value::Kind::Boolean);
  case FieldKind::Integer: return value.isNumber() && within(value.real) && value.real == std::floor(value.real);
  case FieldKind::Number: return value.isNumber() && within(value.real);
  case FieldKind::Text: return value.is(Value::Kind::Text) && within(double(value.text.size()));
  case FieldKind::Texts: return value.is(Value::Kind::Text) || (isTexts(value) && within(double(value.items.size())));
  case FieldKind::Stops: {
    auto text = [](const Value &one) {
      return one.is(Value::Kind::Text) && !one.text.empty() && one.text.size() <= 256;
    };
    return text(value) ||
           (value.is(Value::Kind::Array) && within(double(value.items.size())) && all(value.items, text));
  }
  case FieldKind::Prompt:
    return value.is(Value::Kind::Text) || isIds(value) ||
           (value.is(Value::Kind::Array) && within(double(value.items.size())) &&
            (isTexts(value) || all(value.items, isIds)));
  case FieldKind::Ids:
    return value.is(Value::Kind::Array) && within(double(value.items.size())) && (value.items.empty() || isIds(value));
  case FieldKind::Bias:
    return value.is(Value::Kind::Object) && value.members.size() <= 300 && all(value.members, [&](const auto &member) {
             const std::string &id = member.first;
             return !id.empty() && id.size() <= 9 && all(id, [](char c) { return c >= '0' && c <= '9'; }) &&
                    member.second.isNumber() && within(member.second.real);
           });
  case FieldKind::Object: return value.is(Value::Kind::Object);
  case FieldKind::Objects:
    return value.is(Value::Kind::Array) && within(double(value.items.size())) &&
           all(value.items, [](const Value &one) { return one.is(Value::Kind::Object); });
  case FieldKind::Word:
    return value.is(Value::Kind::Text) && !value.text.empty() &&
           (" " + std::string(field.what) + " ").find(" " + value.text + " ") != std::string::npos;
  }
  return false;
}

ApiError checkFields(const Value &body, Endpoint where, std::vector<std::string> &ignored) {
  if (!body.is(Value::Kind::Object))
    return {400, "the body must be an object", "", ""};
  for (const auto &[name, value] : body.members) {
    if (value.is(Value::Kind::Null))
      continue;
    const RequestField *field = nullptr;
    for (const RequestField &one : requestFields())
      if (name == one.name && (one.where & where))
        field = &one;
    if (!field)
      ignored.push_back(name);
    else if (!fits(*field, value))
      return {400, rt::quote(name) + " must be " + wanted(*field) + (field->why[0] ? ": " : "") + field->why, name,
              "invalid_value"};
  }
  return {};
}

std::string describeFields() {
  std::string page = "| field | of | what it may be | |\n|---|---|---|---|\n";
  for (const RequestField &field : requestFields()) {
    std::string where;
    for (const EndpointName &one : endpointNames())
      if (field.where & one.endpoint)
        where += (where.empty() ? "" : ", ") + std::string(one.name);
    page += "| `" + std::string(field.name) + "` | " + (field.where == All ? "all" : where) + " | " + wanted(field) +
            " | " + (field.kind == FieldKind::Word ? field.why : field.what) + " |\n";
  }
  return page;
}

std::string errorBody(const ApiError &error) {
  const char *type = error.status == 401   ? "authentication_error"
                     : error.status == 403 ? "permission_error"
                     : error.status >= 500 ? "server_error"
                                           : "invalid_request_error";
  auto orNull = [](const std::string &text) { return text.empty() ? "null" : rt::jsonString(text); };
  return "{\"error\":{\"message\":" + rt::jsonString(error.message) + ",\"type\":\"" + type +
         "\",\"param\":" + orNull(error.param) + ",\"code\":" + orNull(error.code) + "}}";
}

ApiError fromRefusal(const Refusal &refusal) {
  return {refusal.status, refusal.why, "", refusal.status == 401 ? "invalid_api_key" : ""};
}

bool isSeveral(const Value &prompt) { return prompt.is(Value::Kind::Array) && !isIds(prompt); }
const Value *memberOf(const Value &body, std::string_view name) {
  const Value *value = body.find(name);
  return value && !value->is(Value::Kind::Null) ? value : nullptr;
}
bool flagOf(const Value &body, std::string_view name, bool otherwise) {
  const Value *value = memberOf(body, name);
  return value ? value->boolean : otherwise;
}
std::optional<int64_t> integerOf(const Value &body, std::string_view name) {
  const Value *value = memberOf(body, name);
  if (!value)
    return std::nullopt;
  return value->is(Value::Kind::Integer) ? value->integer : int64_t(value->real);
}
std::optional<double> numberOf(const Value &body, std::string_view name) {
  const Value *value = memberOf(body, name);
  return value ? std::optional<double>(value->real) : std::nullopt;
}

} // namespace heddle::serve
