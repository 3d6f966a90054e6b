//===- RunCommand.cpp - `run`: tensors in, tensors out --------------------===//
//
// Inputs and the output's path are checked before the model runs.
//
//===----------------------------------------------------------------------===//
#include "heddle/tensor_names.h"
#include "runtime/Core/Args.h"
#include "runtime/Core/EntryCall.h"
#include "runtime/Core/EntryInputs.h"
#include "runtime/Program/Commands.h"

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
  CallMemory memory;
  EntryCall once(model, *entry, memory);
  HEDDLE_TRY(once.prepare(dims, inputs));
  HEDDLE_TRY(once.call(dims));
  std::vector<const Tensor *> results;
  for (const Tensor &output : once.outputs)
    results.push_back(&output);
  return writeTensors(args.get("--output"), results);
}

} // namespace heddle::rt
