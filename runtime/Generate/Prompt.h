//===- Prompt.h - What a generation starts from -----------------*- C++ -*-===//
//
// A batch of prompts: every input of `run` by name, complete up to the prompt's
// last column. Rows padded on the right are rotated, so that every prompt ends
// in the last column and generation goes on after it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_PROMPT_H
#define HEDDLE_RUNTIME_GENERATE_PROMPT_H

#include "runtime/Core/EntryInputs.h"

namespace heddle::rt {

/// The columns [begin, end) of a row.
struct RowSpan {
  int64_t begin = 0, end = 0;
  int64_t length() const { return end - begin; }
};

/// `inputs` holds tensors of the full shapes under `dims`; `ids` the tokens
/// before any row was rotated.
struct Prompt {
  const Entry *run = nullptr;
  std::vector<int64_t> dims; ///< of `run`, at the prompt's length
  int stepDim = -1;          ///< index of the dim of `run` that grows
  int64_t rows = 0, length = 0;
  std::map<std::string, Tensor> inputs; ///< what was given, and the tokens
  std::vector<int64_t> ids;             ///< [rows, length] as given
  /// Where rows of different lengths have no mask, what of each row is no padding; else empty.
  std::vector<RowSpan> spans;

  const Tensor *find(const std::string &name) const;
};

/// A batch from files with the inputs of `run`. Where it has no
/// tokens, every row begins with the model's start token. Errors: an unknown or
/// missing input, shapes that disagree, a model that does not generate.
Status promptFromFile(const Model &model, TensorFile &file, Prompt &prompt);

/// Names of the inputs along the step axis, one value for each token: tokens,
/// mask, positions and those of `generate extend`.
std::vector<std::string> stepInputs(const Roles &roles);

/// Every row `times` times in a row, one for each beam. An error if an input
/// does not begin with the batch, or the batch gets larger than its bound.
Status repeatRows(const Model &model, const Prompt &prompt, int64_t times, Prompt &repeated);

/// The tokens of a row that are no padding.
std::vector<int64_t> realTokens(const Model &model, const Prompt &prompt, int64_t row);

/// One row: `ids` are the tokens, or for an encoder-decoder model the source.
/// Of no ids a text begins with bos. An error if `run` needs other inputs, too.
Status promptFromIds(const Model &model, std::vector<int64_t> ids, Prompt &prompt);

/// One row: `media` are inputs made from files, `ids` the first tokens of the
/// text; without ids, the model's start token.
Status promptFromMedia(const Model &model, const std::vector<int64_t> &ids, std::vector<Tensor> media, Prompt &prompt);

/// An invented batch for measuring: `rows` rows of up to `length` tokens, fewer
/// where the model's bound must leave room for `newTokens` more.
Status promptForBench(const Model &model, int64_t rows, int64_t length, int64_t newTokens, Prompt &prompt);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_PROMPT_H
