//===- Prompt.h - What a generation starts from -------------------*- C++
//-*-===//
//
// A batch of prompts: every input of the model by name, complete up to the
// prompt's last column. Rows padded on the right are turned here, so that from
// here on every prompt ends in its last column.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_PROMPT_H
#define HEDDLE_RUNTIME_PROMPT_H

#include "runtime/Run.h"

namespace heddle::rt {

struct Prompt {
  const Entry *run = nullptr;
  std::vector<int64_t> dims; ///< of `run`, at the prompt's length
  int stepDim = -1;          ///< the dim of `run` that grows
  int64_t rows = 0, length = 0;
  std::map<std::string, Tensor> inputs; ///< what was given, and the tokens
  std::vector<int64_t> ids;             ///< [rows, length] as given

  const Tensor *find(const std::string &name) const;
};

/// The prompts of a file with the tensors that `run` takes; without tokens, the
/// model's start token.
Status promptFromFile(const Model &model, const std::string &path,
                      Prompt &prompt);

/// Every row `times` times, one after another: a row for each beam.
Status repeatRows(const Model &model, const Prompt &prompt, int64_t times,
                  Prompt &repeated);

/// The real tokens of a row: those that its mask does not hide.
std::vector<int64_t> realTokens(const Model &model, const Prompt &prompt,
                                int64_t row);

/// One row of ids: the tokens, or the source of an encoder-decoder model.
/// Without any, a text begins with the model's bos.
Status promptFromIds(const Model &model, std::vector<int64_t> ids,
                     Prompt &prompt);

/// One row: inputs that came from files, and the first ids of the text; without
/// ids, the model's start token.
Status promptFromMedia(const Model &model, const std::vector<int64_t> &ids,
                       std::vector<Tensor> media, Prompt &prompt);

/// `rows` rows of up to `length` tokens, with room for new ones as far as the
/// model has it, and whatever else it needs, for measuring.
Status promptForBench(const Model &model, int64_t rows, int64_t length,
                      int64_t newTokens, Prompt &prompt);

/// Made-up contents for one input.
Status benchInput(const Value &value, const std::vector<int64_t> &dims,
                  Tensor &tensor);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_PROMPT_H
