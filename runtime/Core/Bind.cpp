//===- Bind.cpp - From shapes to dims, from dims to sizes -----------------===//
//
// Dims from the shapes of given tensors, and sizes from dims. A dim that is an
// axis by itself is read off. One that occurs only inside a form (2*S) is
// solved for: forms do not decrease with their dims, so a binary search finds
// the one value that fits, if there is one. Then every axis is checked once
// more.
//===----------------------------------------------------------------------===//
#include "runtime/Core/Dims.h"
#include "runtime/Core/Model.h"

#include <algorithm>

namespace heddle::rt {

std::vector<std::string> inputNames(const Entry &entry) {
  std::vector<std::string> names;
  for (const Value &value : entry.inputs)
    names.push_back(value.name);
  return names;
}

/// The first axis of `value` that the given shape has; leading ones are
/// missing.
static size_t firstAxis(const Given &given) { return given.value->axes.size() - given.shape.size(); }

Status checkLength(const Card &card, const Entry &entry, const Value &tokens, int64_t length) {
  int axis = tokens.axes.empty() ? -1 : tokens.axes.back().asDim();
  std::optional<int64_t> bound = axis < 0 ? std::nullopt : card.bound(entry.dims[axis]);
  if (!bound || length <= *bound)
    return {};
  const std::string &dim = entry.dims[axis];
  return badInput(format("the text has %lld tokens, and this model takes at "
                         "most %lld (%s)",
                         static_cast<long long>(length), static_cast<long long>(*bound), dim.c_str()))
      .withHelp("shorten it, or give it in parts")
      .withHelp("heddle compile --bound " + dim + "=N sets another bound, as far as the model has positions");
}

std::optional<int64_t> boundOfTexts(const Card &card) {
  const Entry *run = card.entry("run");
  const Value *tokens = run ? run->input(card.roles.present ? card.roles.tokens : "input_ids") : nullptr;
  int axis = tokens && !tokens->axes.empty() ? tokens->axes.back().asDim() : -1;
  return axis < 0 ? std::nullopt : card.bound(run->dims[size_t(axis)]);
}

std::optional<int64_t> Model::context() const {
  std::optional<int64_t> bound = boundOfTexts(theCard), wanted = askedContext ? askedContext : theCard.roles.context;
  return bound && wanted ? std::min(*bound, *wanted) : bound ? bound : wanted;
}

Status checkContext(const Model &model, int64_t length) {
  std::optional<int64_t> most = model.context();
  if (!most || length <= *most)
    return {};
  return badInput(format("the prompt has %lld tokens, and this model was made for texts of at most %lld",
                         static_cast<long long>(length), static_cast<long long>(*most)))
      .withHelp("shorten it, or take longer texts with --context N, which the model may not know how to continue");
}

static Status mismatch(const Given &given, const std::string &why) {
  return badInput("input " + quote(given.value->name) + " is " + shapeText(given.shape) + ", expected " +
                  given.value->typeText() + ": " + why);
}

/// Fills dims that are an axis by themselves; an error if two inputs disagree.
/// `origin`: for every dim the input that it was read from.
static Status readOff(const Entry &entry, const Given &given, std::vector<int64_t> &dims,
                      std::vector<const Value *> &origin) {
  if (given.shape.size() > given.value->axes.size())
    return mismatch(given, format("%zu axes where %zu are declared", given.shape.size(), given.value->axes.size()));
  for (size_t i = 0; i < given.shape.size(); ++i) {
    int dim = given.value->axes[firstAxis(given) + i].asDim();
    if (dim < 0)
      continue;
    if (dims[dim] == kUnknown) {
      dims[dim] = given.shape[i];
      origin[dim] = given.value;
    } else if (dims[dim] != given.shape[i]) {
      std::string why = format("%s is %lld", entry.dims[dim].c_str(), static_cast<long long>(dims[dim]));
      if (origin[dim])
        why += " in " + quote(origin[dim]->name);
      return mismatch(given, why);
    }
  }
  return {};
}

/// Sets dims[dim] to the only value at which `form` is `wanted`; leaves it
/// unknown and returns false if there is none or more than one.
static bool solve(const Form &form, std::vector<int64_t> &dims, int dim, int64_t wanted) {
  auto at = [&](int64_t n) {
    dims[dim] = n;
    return form.evaluate(dims.data());
  };
  int64_t low = 0, high = int64_t(1) << 40;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    std::optional<int64_t> value = at(middle);
    if (!value || *value >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  bool unique = at(low + 1) != std::optional<int64_t>(wanted);
  if (at(low) == std::optional<int64_t>(wanted) && unique)
    return true;
  dims[dim] = kUnknown;
  return false;
}

/// The one dim of `form` that is unknown; -1 if none is, or several are.
static int onlyUnknown(const Form &form, const std::vector<int64_t> &dims) {
  int unknown = -1;
  for (int dim : form.uses())
    if (dims[dim] == kUnknown) {
      if (unknown >= 0)
        return -1;
      unknown = dim;
    }
  return unknown;
}

/// Solves every axis with one unknown dim; whether any dim became known.
static bool solveForms(const std::vector<Given> &given, std::vector<int64_t> &dims) {
  bool progress = false;
  for (const Given &input : given)
    for (size_t i = 0; i < input.shape.size(); ++i) {
      const Form &form = input.value->axes[firstAxis(input) + i];
      int dim = onlyUnknown(form, dims);
      if (dim >= 0 && solve(form, dims, dim, input.shape[i]))
        progress = true;
    }
  return progress;
}

/// Every axis of one input against its form under `dims`. The message names the
/// axis by its form where that has dims, else by its position.
static Status checkAxes(const Entry &entry, const Given &given, const std::vector<int64_t> &dims) {
  for (size_t i = 0; i < given.shape.size(); ++i) {
    const Form &form = given.value->axes[firstAxis(given) + i];
    std::string names, lengths;
    bool known = true;
    for (int dim : form.uses()) {
      known &= dims[dim] != kUnknown;
      names += (names.empty() ? "" : ", ") + entry.dims[dim];
      lengths += (lengths.empty() ? " where " : ", ") + entry.dims[dim] + " is " + std::to_string(dims[dim]);
    }
    auto found = static_cast<long long>(given.shape[i]);
    if (!known)
      return mismatch(given, format("no %s makes %s %lld", names.c_str(), form.text().c_str(), found));
    std::optional<int64_t> value = form.evaluate(dims.data());
    if (value == std::optional<int64_t>(given.shape[i]))
      continue;
    std::string axis = i + 1 == given.shape.size() ? "its last axis"
                       : i == 0                    ? "its first axis"
                                                   : format("its axis %zu", i);
    if (!names.empty())
      axis += " (" + form.text() + ")";
    return mismatch(given, axis + format(" is %lld, expected ", found) +
                               (value ? std::to_string(*value) : std::string("a number in range")) + lengths);
  }
  return {};
}

/// Whether every input that has this dim may be left out: then all of them are, and their default has no elements.
static bool isOfDefaultsOnly(const Entry &entry, int dim) {
  bool used = false;
  for (const Value &input : entry.inputs)
    for (const Form &axis : input.axes)
      if (std::find(axis.uses().begin(), axis.uses().end(), dim) != axis.uses().end()) {
        used = true;
        if (!input.hasDefault)
          return false;
      }
  return used;
}

Status bindDims(const Card &card, const Entry &entry, const std::vector<Given> &given, std::vector<int64_t> &dims) {
  dims.resize(entry.dims.size(), kUnknown);
  std::vector<const Value *> origin(dims.size());
  for (const Given &input : given)
    HEDDLE_TRY(readOff(entry, input, dims, origin));
  while (solveForms(given, dims))
    ;
  // A leading axis that every input lacks is 1: [T] is given for [B, T].
  for (const Given &input : given)
    for (size_t i = 0; i < firstAxis(input); ++i) {
      int dim = input.value->axes[i].asDim();
      if (dim >= 0 && dims[dim] == kUnknown)
        dims[dim] = 1;
    }
  for (const Given &input : given)
    HEDDLE_TRY(checkAxes(entry, input, dims));
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::string &name = entry.dims[i];
    if (dims[i] == kUnknown && isOfDefaultsOnly(entry, int(i))) {
      dims[i] = 0;
      continue;
    }
    if (dims[i] == kUnknown)
      return badInput("nothing given tells the length " + quote(name));
    std::optional<int64_t> bound = card.bound(name);
    auto number = static_cast<long long>(dims[i]);
    if (bound && dims[i] > *bound)
      return badInput(format("%s = %lld is past the bound %lld of this model", name.c_str(), number,
                             static_cast<long long>(*bound)));
    if (dims[i] < 1 && name != kPastDim)
      return badInput(format("%s = %lld: a length is at least 1", name.c_str(), number));
  }
  return checkLengths(entry, dims, [&](const Value &input) {
    return std::any_of(given.begin(), given.end(), [&](const Given &one) { return one.value == &input; });
  });
}

Status shapeOf(const Value &value, const std::vector<int64_t> &dims, Shape &shape) {
  shape.clear();
  for (const Form &form : value.axes) {
    std::optional<int64_t> n = form.evaluate(dims.data());
    if (!n || *n < 0)
      return badInput(format("these lengths leave no axis %s of %s", form.text().c_str(), quote(value.name).c_str()));
    shape.push_back(*n);
  }
  return {};
}

Status bytesOf(const Form &form, const std::vector<int64_t> &dims, std::string_view what, uint64_t &bytes) {
  std::optional<int64_t> n = form.evaluate(dims.data());
  if (!n)
    return outOfResources("the size of " + std::string(what) + " does not fit in 64 bits");
  if (*n < 0)
    return badInput("the input is too short for this model: these lengths leave nothing of " + std::string(what));
  bytes = *n;
  return {};
}

Status arenaOf(const Entry &entry, std::vector<int64_t> dims, int64_t threads, uint64_t &bytes) {
  bytes = 0;
  dims.push_back(threads);
  return entry.hasArena ? bytesOf(entry.arena, dims, "the arena", bytes) : Status();
}

} // namespace heddle::rt
