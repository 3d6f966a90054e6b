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

Status matchInputs(const TensorFile &file, const Entry &entry, const std::vector<std::string> &derived,
                   std::vector<Given> &given) {
  given.clear();
  std::vector<std::string> names = inputNames(entry);
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
  for (const Value &value : entry.inputs) {
    bool canDerive = std::find(derived.begin(), derived.end(), value.name) != derived.end();
    if (!value.hasDefault && !canDerive && !file.find(value.name))
      missing += (missing.empty() ? "" : ", ") + quote(value.name) + " (" + value.typeText() + ")";
  }
  if (!missing.empty())
    return badInput("missing in " + quote(file.path()) + ": " + missing);
  return {};
}

Status loadInputs(const Model &model, const Entry &entry, const std::string &path, std::vector<int64_t> &dims,
                  std::vector<Tensor> &inputs) {
  TensorFile file;
  HEDDLE_TRY(file.open(path));
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
