//===- Encoder.cpp - Texts through a model that reads them whole ----------===//
//
// The mask of padding is given only where a row is padded: a batch of one length
// is called as its texts are alone.
//
//===----------------------------------------------------------------------===//
#include "runtime/Encode/Encoder.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

/// The input of this name if it has a value a token, [B, T] as input_ids; else null.
static const Value *perToken(const Entry &run, const char *name) {
  const Value *ids = run.input("input_ids"), *value = run.input(name);
  if (!ids || !value || ids->axes.size() != 2 || value->axes.size() != 2)
    return nullptr;
  for (size_t i = 0; i < 2; ++i)
    if (ids->axes[i].asDim() < 0 || value->axes[i].asDim() != ids->axes[i].asDim())
      return nullptr;
  return value;
}

static Status tokensInput(const Model &model, const Value *&ids) {
  const Entry *run = model.card().entry("run");
  ids = run ? run->input("input_ids") : nullptr;
  if (!ids || ids->type != Type::I64 || ids->axes.size() != 2)
    return unsupported("this model takes no text: it has no input_ids i64[B, "
                       "T]; use run --input FILE");
  return {};
}

Status checkTokens(const Model &model, const std::vector<Token> &tokens) {
  const Value *ids = nullptr;
  HEDDLE_TRY(tokensInput(model, ids));
  if (tokens.empty())
    return badInput("the text is empty");
  return checkLength(model.card(), *model.card().entry("run"), *ids, int64_t(tokens.size()));
}

Status encodeWhole(const Model &model, const Tokenizer &tokenizer, const Texts &texts, std::vector<Token> &tokens,
                   size_t &whole) {
  const Value *ids = nullptr;
  HEDDLE_TRY(tokensInput(model, ids));
  std::string_view pair = texts.size() > 1 ? texts[1] : std::string_view();
  Encoded encoded;
  HEDDLE_TRY(tokenizer.encode(texts[0], texts.size() > 1 ? &pair : nullptr, true, encoded));
  tokens = std::move(encoded.tokens);
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(), [](const Token &t) { return !t.real; }), tokens.end());
  whole = std::max(encoded.whole, tokens.size());
  return checkTokens(model, tokens);
}

static std::string bothLengths(size_t whole, size_t kept) {
  return format("the text has %zu tokens, and this model takes %zu of a text", whole, kept);
}

Status tooLong(size_t whole, size_t kept) {
  return badInput(bothLengths(whole, kept)).withHelp("without --no-truncate it is cut to them");
}

Status encodeTexts(const Model &model, const Tokenizer &tokenizer, const Texts &texts, bool truncates,
                   std::vector<Token> &tokens) {
  size_t whole = 0;
  HEDDLE_TRY(encodeWhole(model, tokenizer, texts, tokens, whole));
  if (whole <= tokens.size())
    return {};
  if (!truncates)
    return tooLong(whole, tokens.size());
  note(bothLengths(whole, tokens.size()) + ": it is cut to them (--no-truncate refuses it)");
  return {};
}

size_t endOfBatch(const std::vector<size_t> &lengths, size_t begin, size_t most, const std::function<bool()> &mayPad) {
  size_t end = begin + 1; // the longest comes last and sets the width
  while (end < lengths.size() && end - begin < kMostRows && lengths[end] * (end - begin + 1) <= most &&
         (lengths[end] == lengths[begin] || mayPad()))
    ++end;
  return end;
}

/// Appends input_ids, and token_type_ids and attention_mask where the model has them and they say something.
Status EncoderBatch::addTokens(const Entry &run, const TokenRows &rows, std::vector<Tensor> &given) {
  bool padded = false;
  for (const std::vector<Token> *tokens : rows)
    longest = std::max(longest, int64_t(tokens->size()));
  for (const std::vector<Token> *tokens : rows)
    padded |= int64_t(tokens->size()) < longest;
  auto add = [&](const char *name, auto &&value) -> Status {
    Tensor tensor;
    HEDDLE_TRY(Tensor::make(name, Type::I64, {int64_t(rows.size()), longest}, tensor)); // zeroed
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t i = 0; i < rows[row]->size(); ++i)
        tensor.data.as<int64_t>()[int64_t(row) * longest + int64_t(i)] = value((*rows[row])[i]);
    given.push_back(std::move(tensor));
    return {};
  };
  HEDDLE_TRY(add("input_ids", [](const Token &t) { return int64_t(t.id); }));
  const Value *types = perToken(run, "token_type_ids");
  if (types && types->type == Type::I64)
    HEDDLE_TRY(add("token_type_ids", [](const Token &t) { return int64_t(t.type); }));
  if (!padded)
    return {};
  const Value *mask = perToken(run, "attention_mask");
  if (!mask || mask->type != Type::I64)
    return internalError("a batch was padded for a model without an attention_mask i64[B, T]");
  return add("attention_mask", [](const Token &) { return int64_t(1); });
}

Status EncoderBatch::compute(Model &model, const TokenRows &rows, std::vector<Tensor> media) {
  const Entry *run = model.card().entry("run");
  if (!run)
    return internalError("the card has no entry run");
  std::vector<Tensor> given = std::move(media);
  longest = 0;
  count = std::max<int64_t>(int64_t(rows.size()), 1);
  if (!rows.empty())
    HEDDLE_TRY(addTokens(*run, rows, given));
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
  memory = CallMemory();
  call = EntryCall(model, *run, memory);
  HEDDLE_TRY(call.prepare(dims, inputs));
  return call.call(dims);
}

const Tensor *EncoderBatch::output(const char *name) const {
  for (const Tensor &output : call.outputs)
    if (output.name == name && output.type == Type::F32 && !output.shape.empty() && output.shape[0] == count)
      return &output;
  return nullptr;
}

/// Whether `run` depends on the length of a text by whole axes alone, and has a mask [B, T].
static bool lengthIsAxis(const Entry &run) {
  const Value *mask = perToken(run, "attention_mask");
  if (!mask || mask->type != Type::I64)
    return false;
  int length = mask->axes[1].asDim();
  auto plain = [&](const Value &value) {
    return std::all_of(value.axes.begin(), value.axes.end(), [&](const Form &axis) {
      const std::vector<int> &uses = axis.uses();
      return axis.asDim() == length || std::find(uses.begin(), uses.end(), length) == uses.end();
    });
  };
  return std::all_of(run.inputs.begin(), run.inputs.end(), plain) &&
         std::all_of(run.outputs.begin(), run.outputs.end(), plain);
}

/// Whether what `alone` computed for its one text is in the row `row` of `padded`, bit for bit.
static bool sameRow(const Entry &run, const EncoderBatch &alone, const EncoderBatch &padded, int64_t row) {
  for (const Value &value : run.outputs) {
    const Tensor *one = alone.output(value.name.c_str()), *other = padded.output(value.name.c_str());
    if (!one || !other)
      continue;
    // [1, T, ..] begins as [1, longer T, ..] does; a length further after is a table of pairs, which nothing reads.
    bool begins = std::equal(one->shape.begin() + std::min<size_t>(one->shape.size(), 2), one->shape.end(),
                             other->shape.begin() + std::min<size_t>(other->shape.size(), 2), other->shape.end());
    if (begins && memcmp(alone.rowOf(*one, 0), padded.rowOf(*other, row), size_t(one->count()) * sizeof(float)) != 0)
      return false;
  }
  return true;
}

Status provePadding(Model &model, const Tokenizer &tokenizer, bool &proven) {
  proven = false;
  const Entry *run = model.card().entry("run");
  if (!run || !lengthIsAxis(*run))
    return {};
  std::vector<Token> shorter, longer;
  if (!encodeTexts(model, tokenizer, {"a"}, true, shorter).ok() ||
      !encodeTexts(model, tokenizer, {"a b c d e f g h i j k l"}, true, longer).ok() || shorter.size() >= longer.size())
    return {};
  EncoderBatch alone, both;
  HEDDLE_TRY(alone.compute(model, {&shorter}));
  HEDDLE_TRY(both.compute(model, {&longer, &shorter}));
  proven = sameRow(*run, alone, both, 1);
  return {};
}

} // namespace heddle::rt
