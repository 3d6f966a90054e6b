//===- RunCommand.cpp - `run`: tensors in, tensors out --------------------===//
//
// Inputs and the paths of outputs are checked before the model runs.
//
//===----------------------------------------------------------------------===//
#include "heddle/tensor_names.h"
#include "runtime/Core/Args.h"
#include "runtime/Core/EntryCall.h"
#include "runtime/Core/EntryInputs.h"
#include "runtime/Program/Commands.h"

#include <algorithm>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::rt {

static Status findEntry(const Model &model, const std::string &name, const Entry *&entry) {
  entry = model.card().entry(name);
  if (entry)
    return {};
  std::string all;
  for (const Entry &other : model.card().entries)
    all += (all.empty() ? "" : ", ") + other.name;
  return badUsage("this model has no entry " + quote(name)).withHelp("its entries: " + all);
}

Status checkOutput(const Model &model, const std::string &output, const std::vector<std::string> &inputs) {
  if (std::string ending = otherFormatOf(output); !ending.empty())
    return badUsage("--output " + quote(output) + ": safetensors, .npy and .npz are written, and the name ends in " +
                    ending)
        .withHelp("--output " + output.substr(0, output.size() - ending.size()) +
                  ".npz; in Python numpy.load reads it");
  if (output == "-" && isatty(1))
    return badUsage("--output - writes tensors to standard output, and that "
                    "is a terminal")
        .withHelp("send it to a file or a program: | or >");
  std::vector<std::pair<std::string, const char *>> kept = {{"/proc/self/exe", "this program itself"},
                                                            {model.weightsPath(), "the weights of this program"}};
  for (const std::string &input : inputs)
    kept.push_back({input, "its own input"});
  struct stat there, one;
  if (stat(output.c_str(), &there) != 0 || !S_ISREG(there.st_mode))
    return {};
  for (const auto &[path, what] : kept)
    if (stat(path.c_str(), &one) == 0 && one.st_dev == there.st_dev && one.st_ino == there.st_ino)
      return badUsage("--output " + quote(output) + " would replace " + what);
  return {};
}

namespace {
/// A file of outputs: all of the entry, or the one that --output NAME=@FILE names.
struct Destination {
  std::string name, path;
};
} // namespace

/// Reads --output, and compares its names with the outputs of `entry`.
static Status readDestinations(const Model &model, const Args &args, const Entry &entry, const TensorFile &inputs,
                               std::vector<Destination> &destinations) {
  std::string names;
  for (const Value &output : entry.outputs)
    names += (names.empty() ? "" : ", ") + output.name;
  for (const std::string &word : args.all("--output")) {
    Destination to;
    if (!splitGiven(word, to.name, to.path))
      to.path = word;
    HEDDLE_TRY(checkOutput(model, to.path, inputs.paths()));
    if (!to.name.empty() && entry.outputIndex(to.name.c_str()) < 0)
      return badUsage("the model has no output " + quote(to.name)).withHelp("its outputs: " + names);
    if (to.name.empty() && arrayEnding(to.path) == ".npy" && entry.outputs.size() != 1)
      return badUsage("--output " + quote(to.path) + ": a .npy file is one array, and the model has the outputs " +
                      names)
          .withHelp("--output FILE.npz takes all, --output NAME=@FILE.npy one");
    for (const Destination &other : destinations)
      if (other.path == to.path)
        return badUsage("--output " + quote(to.path) + " is given twice");
    destinations.push_back(std::move(to));
  }
  return {};
}

/// Element `i` of a tensor as JSON.
static std::string elementText(const Tensor &tensor, int64_t i) {
  switch (tensor.type) {
  case Type::F32: return jsonNumber(tensor.data.as<float>()[i]);
  case Type::I64: return std::to_string(tensor.data.as<int64_t>()[i]);
  case Type::Bool: break;
  }
  return tensor.data.as<bool>()[i] ? "true" : "false";
}

/// A line a tensor, with its first numbers; or one JSON object with all numbers, row by row.
static void printTensors(const std::vector<Tensor> &tensors, bool json) {
  constexpr int64_t kShown = 8;
  if (json)
    putchar('{');
  for (const Tensor &tensor : tensors) {
    int64_t count = tensor.count();
    if (json)
      printf("%s%s:{\"dtype\":\"%s\",\"shape\":%s,\"data\":[", &tensor == tensors.data() ? "" : ",",
             jsonString(tensor.name).c_str(), typeName(tensor.type), shapeText(tensor.shape).c_str());
    else
      printf("%s %s%s:", tensor.name.c_str(), typeName(tensor.type), shapeText(tensor.shape).c_str());
    for (int64_t i = 0; i < (json ? count : std::min(count, kShown)); ++i)
      printf("%s%s", !json ? " " : i ? "," : "", elementText(tensor, i).c_str());
    fputs(json ? "]}" : count > kShown ? " ...\n" : "\n", stdout);
  }
  if (json)
    puts("}");
}

Status runCommand(Model &model, const Arguments &words) {
  Args args;
  HEDDLE_TRY(Args::parse(words, {"--input", "--output*", "--threads", "--device", "--entry"}, {"--json"},
                         kMostTensorWords, args));
  if (args.has("--json") && args.has("--output"))
    return badUsage("--json prints the outputs, and --output writes them to a file");
  StartOptions start;
  HEDDLE_TRY(readStart(args, start));
  const Entry *entry = nullptr;
  HEDDLE_TRY(findEntry(model, args.get("--entry", "run"), entry));
  TensorFile file;
  HEDDLE_TRY(openGiven(args, file));
  if (file.paths().empty())
    return badUsage("run takes --input FILE, or NAME=@FILE for each input");
  std::vector<Destination> destinations;
  HEDDLE_TRY(readDestinations(model, args, *entry, file, destinations));

  std::vector<int64_t> dims;
  std::vector<Tensor> inputs;
  HEDDLE_TRY(loadInputs(model, *entry, file, dims, inputs));
  HEDDLE_TRY(model.start(start));
  CallMemory memory;
  EntryCall once(model, *entry, memory);
  HEDDLE_TRY(once.prepare(dims, inputs));
  HEDDLE_TRY(once.call(dims));
  if (destinations.empty())
    printTensors(once.outputs, args.has("--json"));
  for (const Destination &to : destinations) {
    std::vector<const Tensor *> results;
    for (const Tensor &output : once.outputs)
      if (to.name.empty() || output.name == to.name)
        results.push_back(&output);
    HEDDLE_TRY(writeTensors(to.path, results));
  }
  return {};
}

} // namespace heddle::rt
