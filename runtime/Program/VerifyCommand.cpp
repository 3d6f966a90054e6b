//===- VerifyCommand.cpp - `--verify` -------------------------------------===//
//
// The command `--verify`: reads everything a program is made of except its
// code, and says whether it is what was compiled.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Args.h"
#include "runtime/Program/Commands.h"

#include <cstdio>

namespace heddle::rt {

Status verifyCommand(Model &model, const Arguments &words) {
  Args args;
  int64_t threads = 0;
  HEDDLE_TRY(Args::parse(words, {"--threads"}, {"--json"}, 0, args));
  HEDDLE_TRY(args.integer("--threads", 1, kMaxThreads, threads));
  if (!model.image().seal)
    return unsupported("this program was linked without a seal");
  uint64_t blocks = 0;
  HEDDLE_TRY(model.verify(unsigned(threads), blocks));
  if (args.has("--json")) {
    printf("{\"verified\":true,\"weight_bytes\":%llu,\"blocks\":%llu}\n",
           static_cast<unsigned long long>(model.weightBytes()), static_cast<unsigned long long>(blocks));
    return {};
  }
  std::string text = "verified: the card";
  if (model.image().tokenizerSize)
    text += model.image().targetTokenizerSize ? ", both tokenizers" : ", the tokenizer";
  if (blocks)
    text += format(" and %s of weights in %llu blocks", humanBytes(model.weightBytes()).c_str(),
                   static_cast<unsigned long long>(blocks));
  puts(text.c_str());
  return {};
}

} // namespace heddle::rt
