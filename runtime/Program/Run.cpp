//===- Run.cpp - Tensors in, tensors out ----------------------------------===//
//
// Inputs and the output's path are checked before the model runs.
//
//===----------------------------------------------------------------------===//
#include "runtime/Program/Run.h"
#include "heddle/nearest.h"
#include "heddle/tensor_names.h"

#include "runtime/Core/Args.h"
#include "runtime/Program/Commands.h"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

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

Status EntryCall::prepare(Model &theModel, const Entry &theEntry, const std::vector<int64_t> &theDims,
                          const std::vector<Tensor> &inputs) {
  model = &theModel;
  entry = &theEntry;
  dims = theDims;
  HEDDLE_TRY(checkLengths(*entry, dims, [&](const Value &input) {
    return inputs[size_t(&input - entry->inputs.data())].data.data() != nullptr;
  }));
  for (const Tensor &input : inputs)
    tensors.push_back(input.data.data());
  outputs.resize(entry->outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value &value = entry->outputs[i];
    Shape shape;
    HEDDLE_TRY(shapeOf(value, dims, shape));
    HEDDLE_TRY(Tensor::make(value.name, value.type, shape, outputs[i]));
    tensors.push_back(outputs[i].data.data());
  }
  Backend &backend = model->backend();
  states.resize(entry->states.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    HEDDLE_TRY(bytesOf(entry->states[i].bytes, dims, "a state", bytes));
    HEDDLE_TRY(backend.allocate(Backend::Use::State, bytes, "a state", states[i]));
    tensors.push_back(states[i].data());
  }
  HEDDLE_TRY(arenaOf(*entry, dims, backend.threads(), bytes));
  return backend.allocate(Backend::Use::Arena, bytes, "the arena", arena);
}

Status EntryCall::call() { return model->backend().call(*entry, dims, tensors, arena); }

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

static Status findEntry(const Model &model, const std::string &name, const Entry *&entry) {
  entry = model.card().entry(name);
  if (entry)
    return {};
  std::string all;
  for (const Entry &other : model.card().entries)
    all += (all.empty() ? "" : ", ") + other.name;
  return badUsage("this model has no entry " + quote(name)).withHelp("its entries: " + all);
}

Status checkOutput(const Model &model, const std::string &output, const std::string &input) {
  if (std::string ending = otherFormatOf(output); !ending.empty())
    return badUsage("--output " + quote(output) + ": safetensors are written, and the name ends in " + ending)
        .withHelp("--output " + output.substr(0, output.size() - ending.size()) +
                  ".safetensors; in Python "
                  "safetensors.numpy.load_file reads it");
  if (input == "-")
    return badUsage("tensors come from a file, not from standard input");
  if (output == "-" && isatty(1))
    return badUsage("--output - writes tensors to standard output, and that "
                    "is a terminal")
        .withHelp("send it to a file or a program: | or >");
  // clang-format off
  const std::pair<std::string, const char *> kept[] = {
      {input, "its own input"},
      {"/proc/self/exe", "this program itself"},
      {model.weightsPath(), "the weights of this program"}};
  // clang-format on
  struct stat there, one;
  if (stat(output.c_str(), &there) != 0 || !S_ISREG(there.st_mode))
    return {};
  for (const auto &[path, what] : kept)
    if (stat(path.c_str(), &one) == 0 && one.st_dev == there.st_dev && one.st_ino == there.st_ino)
      return badUsage("--output " + quote(output) + " would replace " + what);
  return {};
}

Status runCommand(Model &model, const Arguments &words) {
  Args args;
  HEDDLE_TRY(Args::parse(words, {"--input", "--output", "--threads", "--device", "--entry"}, {}, 0, args));
  if (!args.has("--input") || !args.has("--output"))
    return badUsage("run takes --input FILE and --output FILE");
  HEDDLE_TRY(checkOutput(model, args.get("--output"), args.get("--input")));
  StartOptions start;
  HEDDLE_TRY(readStart(args, start));
  const Entry *entry = nullptr;
  HEDDLE_TRY(findEntry(model, args.get("--entry", "run"), entry));

  std::vector<int64_t> dims;
  std::vector<Tensor> inputs;
  HEDDLE_TRY(loadInputs(model, *entry, args.get("--input"), dims, inputs));
  HEDDLE_TRY(model.start(start));
  EntryCall once;
  HEDDLE_TRY(once.prepare(model, *entry, dims, inputs));
  HEDDLE_TRY(once.call());
  std::vector<const Tensor *> results;
  for (const Tensor &output : once.outputs)
    results.push_back(&output);
  return writeTensors(args.get("--output"), results);
}

} // namespace heddle::rt
