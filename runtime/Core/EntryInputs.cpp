//===- EntryInputs.cpp - Inputs from files --------------------------------===//
//
// A file may leave out leading axes, which are repeated, and inputs with a
// default.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/EntryInputs.h"

#include "heddle/nearest.h"

#include <algorithm>
#include <cstring>

namespace heddle::rt {

bool splitGiven(const std::string &word, std::string &name, std::string &path) {
  size_t at = word.find("=@");
  if (at == std::string::npos || at == 0 || word[0] == '-')
    return false;
  name = word.substr(0, at);
  path = word.substr(at + 2);
  return true;
}

Status openGiven(const Args &args, TensorFile &file) {
  if (args.get("--input") == "-")
    return badUsage("tensors come from a file, not from standard input");
  std::string name, path;
  for (const std::string &word : args.positional())
    if (!splitGiven(word, name, path))
      return badUsage("unexpected argument " + quote(word)).withHelp("a tensor is given as NAME=@FILE; see --help");
  if (args.has("--input"))
    HEDDLE_TRY(file.open(args.get("--input")));
  for (const std::string &word : args.positional()) {
    splitGiven(word, name, path);
    HEDDLE_TRY(file.openOne(name, path));
  }
  return {};
}

Status loadInput(const TensorFile &file, const FileTensor &item, const Value &value, const Shape &shape,
                 Tensor &tensor) {
  HEDDLE_TRY(Tensor::make(value.name, value.type, shape, tensor));
  HEDDLE_TRY(file.read(item, value.type, tensor.data.data()));
  uint64_t one = uint64_t(*elementCount(item.shape)) * typeSize(value.type);
  for (uint64_t at = one; one && at < tensor.data.size(); at += one)
    memcpy(tensor.data.as<char>() + at, tensor.data.data(), one);
  return {};
}

Status benchInput(const Value &value, const std::vector<int64_t> &dims, Tensor &tensor) {
  Shape shape;
  HEDDLE_TRY(shapeOf(value, dims, shape));
  HEDDLE_TRY(Tensor::make(value.name, value.type, shape, tensor));
  // 1 is a visible key in a mask and a valid id nearly everywhere.
  for (int64_t i = 0, n = tensor.count(); i < n; ++i)
    switch (value.type) {
    case Type::F32: tensor.data.as<float>()[i] = 0.01f * float(i % 101) - 0.5f; break;
    case Type::I64: tensor.data.as<int64_t>()[i] = 1; break;
    case Type::Bool: tensor.data.as<bool>()[i] = true; break;
    }
  return {};
}

/// Names the one array that nobody named.
static Status nameArray(TensorFile &file, const std::vector<const Value *> &needed) {
  for (size_t i = 0; i < file.tensors().size(); ++i) {
    if (!file.tensors()[i].unnamed)
      continue;
    std::string names;
    for (const Value *value : needed)
      if (!file.find(value->name))
        names += (names.empty() ? "" : ", ") + value->name;
    if (names.empty() || names.find(',') != std::string::npos)
      return badInput(quote(file.path()) + " is an array without a name, and this model " +
                      (names.empty() ? "needs none" : "needs several: " + names))
          .withHelp("give it a name: NAME=@FILE, or numpy.savez(\"input.npz\", NAME=array)");
    file.rename(i, names);
  }
  return {};
}

Status matchInputs(TensorFile &file, const Entry &entry, const std::vector<std::string> &derived,
                   std::vector<Given> &given) {
  given.clear();
  std::vector<std::string> names = inputNames(entry);
  std::vector<const Value *> needed;
  for (const Value &value : entry.inputs)
    if (!value.hasDefault && std::find(derived.begin(), derived.end(), value.name) == derived.end())
      needed.push_back(&value);
  HEDDLE_TRY(nameArray(file, needed));
  HEDDLE_TRY(file.checkNames());
  for (const FileTensor &item : file.tensors()) {
    const Value *value = entry.input(item.name);
    if (!value) {
      std::string all, near = nearestName(item.name, names);
      for (const std::string &name : names)
        all += (all.empty() ? "" : ", ") + name;
      Status status = badInput("the model has no input " + quote(item.name) +
                               (near.empty() ? "" : "; did you mean " + quote(near) + "?"));
      return std::move(status).withHelp("its inputs: " + all);
    }
    given.push_back({value, item.shape});
  }
  std::string missing;
  for (const Value *value : needed)
    if (!file.find(value->name))
      missing += (missing.empty() ? "" : ", ") + quote(value->name) + " (" + value->typeText() + ")";
  if (!missing.empty())
    return badInput("missing in " + quote(file.path()) + ": " + missing);
  return {};
}

Status loadInputs(const Model &model, const Entry &entry, TensorFile &file, std::vector<int64_t> &dims,
                  std::vector<Tensor> &inputs) {
  std::vector<Given> given;
  HEDDLE_TRY(matchInputs(file, entry, {}, given));
  HEDDLE_TRY(bindDims(model.card(), entry, given, dims));
  inputs.resize(entry.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value &value = entry.inputs[i];
    const FileTensor *item = file.find(value.name);
    if (!item)
      continue;
    Shape shape;
    HEDDLE_TRY(shapeOf(value, dims, shape));
    HEDDLE_TRY(loadInput(file, *item, value, shape, inputs[i]));
  }
  return {};
}

} // namespace heddle::rt
