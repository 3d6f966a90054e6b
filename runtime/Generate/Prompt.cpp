//===- Prompt.cpp - What a generation starts from -------------------------===//
//
// Inputs from a file, from ids, from media, or invented; what is padding among
// them is Padding.cpp's business.
//
//===----------------------------------------------------------------------===//
#include "runtime/Generate/Prompt.h"
#include "runtime/Generate/Padding.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

const Tensor *Prompt::find(const std::string &name) const {
  auto found = inputs.find(name);
  return found == inputs.end() ? nullptr : &found->second;
}

/// Finds the entry `run`, its input of tokens and the dim that grows.
static Status setup(const Model &model, Prompt &prompt, const Value *&tokens) {
  const Card &card = model.card();
  if (!card.roles.present)
    return unsupported("this model does not generate: use `run`");
  prompt.run = card.entry("run");
  tokens = prompt.run ? prompt.run->input(card.roles.tokens) : nullptr;
  if (!tokens || tokens->type != Type::I64 || tokens->axes.empty() || tokens->axes.size() > 2 ||
      tokens->axes.back().asDim() < 0)
    return internalError("the tokens of this model are no input i64[B, T] of run");
  prompt.stepDim = tokens->axes.back().asDim();
  prompt.dims.assign(prompt.run->dims.size(), kUnknown);
  return {};
}

/// Fills dims, rows and length from the given shapes; where no tokens are among
/// them, makes them of the start token.
static Status bindInputs(const Model &model, Prompt &prompt, const Value &tokens, const std::vector<Given> &given) {
  const Card &card = model.card();
  bool start = true;
  for (const Given &input : given)
    start &= input.value != &tokens;
  if (start) {
    if (!card.roles.start)
      return badInput("missing: " + quote(tokens.name) + " (" + tokens.typeText() + ")");
    prompt.dims[prompt.stepDim] = 1;
    // A batch that no given input has is one row.
    int batch = tokens.axes.size() == 2 ? tokens.axes[0].asDim() : -1;
    bool told = false;
    for (const Given &input : given)
      for (size_t i = 0; i < input.shape.size(); ++i)
        told |= batch == input.value->axes[input.value->axes.size() - input.shape.size() + i].asDim();
    if (batch >= 0 && !told)
      prompt.dims[batch] = 1;
  }
  HEDDLE_TRY(bindDims(card, *prompt.run, given, prompt.dims));
  Shape shape;
  HEDDLE_TRY(shapeOf(tokens, prompt.dims, shape));
  prompt.length = shape.back();
  prompt.rows = shape.size() == 2 ? shape[0] : 1;
  if (start) {
    Tensor &tensor = prompt.inputs[tokens.name];
    HEDDLE_TRY(Tensor::make(tokens.name, Type::I64, shape, tensor));
    std::fill_n(tensor.data.as<int64_t>(), prompt.rows, *card.roles.start);
  }
  return {};
}

std::vector<std::string> stepInputs(const Roles &roles) {
  std::vector<std::string> names = {roles.tokens};
  for (const std::string *name : {&roles.mask, &roles.positions})
    if (!name->empty())
      names.push_back(*name);
  for (const auto &extend : roles.extend)
    names.push_back(extend.first);
  return names;
}

/// Keeps the ids as given, then rotates padding.
static Status finish(const Model &model, Prompt &prompt) {
  const Tensor &tokens = prompt.inputs[model.card().roles.tokens];
  const int64_t *ids = tokens.data.as<int64_t>();
  prompt.ids.assign(ids, ids + prompt.rows * prompt.length);
  return turnPadding(model.card().roles, prompt);
}

Status promptFromFile(const Model &model, TensorFile &file, Prompt &prompt) {
  const Value *tokens = nullptr;
  HEDDLE_TRY(setup(model, prompt, tokens));
  const Roles &roles = model.card().roles;
  std::vector<std::string> derived;
  for (const std::string &name : stepInputs(roles))
    if ((name != roles.tokens || roles.start) && !roles.extend.count(name))
      derived.push_back(name);
  std::vector<Given> given;
  HEDDLE_TRY(matchInputs(file, *prompt.run, derived, given));
  HEDDLE_TRY(bindInputs(model, prompt, *tokens, given));
  for (const Given &input : given) {
    Shape shape;
    HEDDLE_TRY(shapeOf(*input.value, prompt.dims, shape));
    HEDDLE_TRY(loadInput(file, *file.find(input.value->name), *input.value, shape, prompt.inputs[input.value->name]));
  }
  HEDDLE_TRY(checkContext(model, prompt.length));
  if (prompt.find(roles.tokens))
    HEDDLE_TRY(findPadding(model.card(), prompt));
  return finish(model, prompt);
}

Status promptFromIds(const Model &model, std::vector<int64_t> ids, Prompt &prompt) {
  const Value *tokens = nullptr;
  HEDDLE_TRY(setup(model, prompt, tokens));
  const Roles &roles = model.card().roles;
  const std::string &name = roles.source.empty() ? roles.tokens : roles.source;
  const Value *value = prompt.run->input(name);
  if (!value || value->type != Type::I64 || value->axes.empty() || value->axes.size() > 2)
    return unsupported("the prompt of this model is " + quote(name) + ", no list of ids: use generate --input FILE");
  // A model that continues a text may begin with nothing but bos.
  if (ids.empty() && roles.source.empty() && roles.settings.has(generation::bos_token_id))
    ids = roles.settings.integers(generation::bos_token_id);
  if (ids.empty())
    return badInput("the prompt is empty");
  for (const Value &other : prompt.run->inputs) {
    std::vector<std::string> derived = stepInputs(roles);
    if (!other.hasDefault && other.name != name &&
        std::find(derived.begin(), derived.end(), other.name) == derived.end())
      return badInput("this model also needs " + quote(other.name) + " (" + other.typeText() +
                      "): use generate --input FILE");
  }
  Shape shape(value->axes.size(), 1);
  shape.back() = int64_t(ids.size());
  HEDDLE_TRY(checkLength(model.card(), *prompt.run, *value, shape.back()));
  HEDDLE_TRY(bindInputs(model, prompt, *tokens, {{value, shape}}));
  HEDDLE_TRY(checkContext(model, prompt.length));
  Tensor &tensor = prompt.inputs[name];
  HEDDLE_TRY(Tensor::make(name, Type::I64, shape, tensor));
  std::copy(ids.begin(), ids.end(), tensor.data.as<int64_t>());
  return finish(model, prompt);
}

Status promptFromMedia(const Model &model, const std::vector<int64_t> &ids, std::vector<Tensor> media, Prompt &prompt) {
  const Value *tokens = nullptr;
  HEDDLE_TRY(setup(model, prompt, tokens));
  if (!ids.empty()) {
    Tensor text;
    Shape shape(tokens->axes.size(), 1);
    shape.back() = int64_t(ids.size());
    HEDDLE_TRY(Tensor::make(tokens->name, Type::I64, shape, text));
    std::copy(ids.begin(), ids.end(), text.data.as<int64_t>());
    media.push_back(std::move(text));
  }
  std::vector<Given> given;
  for (const Tensor &tensor : media)
    given.push_back({prompt.run->input(tensor.name), tensor.shape});
  HEDDLE_TRY(bindInputs(model, prompt, *tokens, given));
  HEDDLE_TRY(checkContext(model, prompt.length));
  for (Tensor &tensor : media)
    prompt.inputs[tensor.name] = std::move(tensor);
  std::vector<std::string> derived = stepInputs(model.card().roles);
  for (const Value &other : prompt.run->inputs)
    if (!other.hasDefault && !prompt.find(other.name) &&
        std::find(derived.begin(), derived.end(), other.name) == derived.end())
      return badInput("this model also needs " + quote(other.name) + " (" + other.typeText() +
                      "): use generate --input FILE");
  return finish(model, prompt);
}

// Inputs whose first axis is the batch are repeated, all others are shared.
Status repeatRows(const Model &model, const Prompt &prompt, int64_t times, Prompt &repeated) {
  const Value *tokens = nullptr;
  HEDDLE_TRY(setup(model, repeated, tokens));
  int batch = tokens->axes.size() == 2 ? tokens->axes[0].asDim() : -1;
  if (batch < 0)
    return unsupported("this model takes one text at a time, and beams are "
                       "rows of a batch")
        .withHelp("use --num-beams 1");
  repeated.dims = prompt.dims;
  repeated.dims[batch] *= times;
  repeated.rows = prompt.rows * times;
  repeated.length = prompt.length;
  std::optional<int64_t> bound = model.card().bound(prompt.run->dims[batch]);
  if (bound && repeated.rows > *bound)
    return badInput(format("%lld rows with %lld beams each are past the bound "
                           "%lld of this model's batch",
                           static_cast<long long>(prompt.rows), static_cast<long long>(times),
                           static_cast<long long>(*bound)));
  for (const auto &[name, tensor] : prompt.inputs) {
    const Value *value = prompt.run->input(name);
    Shape shape = tensor.shape;
    Tensor &copy = repeated.inputs[name];
    int64_t copies = 1;
    // An input of `step` that `run` does not have is copied as it is.
    if (value && !value->axes.empty() && value->axes[0].asDim() == batch) {
      shape[0] *= times;
      copies = times;
    } else if (value) {
      for (const Form &axis : value->axes)
        if (std::count(axis.uses().begin(), axis.uses().end(), batch))
          return unsupported("input " + quote(name) + " does not begin with the batch: no beams");
    }
    HEDDLE_TRY(Tensor::make(name, tensor.type, shape, copy));
    int64_t rows = copies == 1 ? 1 : tensor.shape[0];
    size_t piece = size_t(tensor.count() / std::max<int64_t>(rows, 1)) * typeSize(tensor.type);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < copies; ++i)
        memcpy(copy.data.as<char>() + (row * copies + i) * piece, tensor.data.as<char>() + row * piece, piece);
  }
  for (int64_t row = 0; row < repeated.rows; ++row)
    repeated.ids.insert(repeated.ids.end(), prompt.ids.begin() + row / times * prompt.length,
                        prompt.ids.begin() + (row / times + 1) * prompt.length);
  return {};
}

std::vector<int64_t> realTokens(const Model &model, const Prompt &prompt, int64_t row) {
  const Roles &roles = model.card().roles;
  auto tokens = prompt.inputs.find(roles.tokens);
  if (tokens == prompt.inputs.end())
    return {};
  const Tensor *mask = roles.mask.empty() ? nullptr : prompt.find(roles.mask);
  if (mask && mask->count() != prompt.rows * prompt.length)
    mask = nullptr;
  std::vector<int64_t> ids;
  static const char zero[8] = {};
  RowSpan span = prompt.spans.empty() ? RowSpan{0, prompt.length} : prompt.spans[size_t(row)];
  for (int64_t i = span.begin; i < span.end; ++i) {
    int64_t at = row * prompt.length + i;
    if (!mask || memcmp(mask->data.as<char>() + at * typeSize(mask->type), zero, typeSize(mask->type)) != 0)
      ids.push_back(tokens->second.data.as<int64_t>()[at]);
  }
  return ids;
}

Status promptForBench(const Model &model, int64_t rows, int64_t length, int64_t newTokens, Prompt &prompt) {
  const Value *tokens = nullptr;
  HEDDLE_TRY(setup(model, prompt, tokens));
  const Card &card = model.card();
  bool sourceLength = !card.roles.source.empty();
  // A dim that is neither batch nor step axis gets the length asked for, or its
  // bound where that is smaller.
  for (size_t i = 0; i < prompt.dims.size(); ++i) {
    int64_t &dim = prompt.dims[i];
    dim = length;
    if (int(i) == prompt.stepDim && sourceLength)
      dim = 1;
    if (tokens->axes.size() == 2 && int(i) == tokens->axes[0].asDim())
      dim = rows;
    std::optional<int64_t> bound = card.bound(prompt.run->dims[i]);
    if (bound && int(i) == prompt.stepDim)
      dim = std::min(dim, std::max<int64_t>(1, *bound - newTokens + 1));
    else if (bound)
      dim = std::min(dim, *bound);
  }
  HEDDLE_TRY(bindInputs(model, prompt, *tokens, {{tokens, {}}}));
  for (const Value &value : prompt.run->inputs) {
    if (value.hasDefault && value.name != tokens->name)
      continue;
    HEDDLE_TRY(benchInput(value, prompt.dims, prompt.inputs[value.name]));
  }
  if (!card.roles.positions.empty())
    prompt.inputs.erase(card.roles.positions);
  return finish(model, prompt);
}

} // namespace heddle::rt
