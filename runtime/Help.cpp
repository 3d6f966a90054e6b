//===- Help.cpp - The short help of a compiled model ----------------------===//
//
// Shows the commands this model has, with examples that work on it.
//
//===----------------------------------------------------------------------===//
#include "runtime/Commands.h"

#include <cstdio>

namespace heddle::rt {

Status helpCommand(Model &model, const std::string &program) {
  const Card &card = model.card();
  const char *self = program.c_str();
  printf("%s: a model compiled by Heddle\n\n", card.name.c_str());
  bool generates = card.roles.present;
  bool text = generates && model.image().tokenizerSize != 0;
  bool ids = generates && card.roles.source.empty();
  if (text)
    printf("  %s \"TEXT\" [-n N]\n"
           "      continue a text, or answer it, as it is made\n",
           self);
  if (generates) {
    if (ids)
      printf("  %s generate --ids 1,2,3 [-n N] [--print-ids]\n", self);
    printf(
        "  %s generate --input FILE --output FILE -n N [--ignore-eos]\n"
        "      a batch: the file holds the tensors that run takes, the result "
        "`ids`\n",
        self);
  }
  if (generates)
    printf("      --temp T --top-k K --top-p P --seed S sample instead of "
           "taking the "
           "likeliest\n");
  printf(
      "  %s run --input FILE --output FILE\n"
      "      tensors in, tensors out, by name, as safetensors files\n"
      "  %s info [--json]\n"
      "      inputs, outputs, dims and their bounds, memory\n"
      "  %s bench [--prompt-tokens P] [--new-tokens N] [--batch B] [--json]\n"
      "      speed, beside what this machine can reach; --input FILE for a "
      "model that does\n"
      "      not generate: the tensors that run takes\n\n"
      "  --threads N   for run, generate, bench; one a core if not given\n",
      self, self, self);
  if (text)
    printf("\nExample: %s \"Once upon a time\" -n 40\n", self);
  else
    printf(
        "\nExample: %s run --input in.safetensors --output out.safetensors\n",
        self);
  return {};
}

} // namespace heddle::rt
