//===- Sequence.h - A batch that grows --------------------------*- C++ -*-===//
//
// One generation: owns the columns of ids, mask and positions (Columns.h),
// states, arena and logits. All memory is taken up front for the largest
// call; a step allocates nothing. A model with an entry `step` computes the new
// columns only; one without runs `run` on the whole text for each token.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_SEQUENCE_H
#define HEDDLE_RUNTIME_GENERATE_SEQUENCE_H

#include "runtime/Core/EntryCall.h"
#include "runtime/Generate/Columns.h"

#include <functional>

namespace heddle::rt {

class Sequence {
public:
  /// Takes the memory for `prompt` and `newTokens` more. `prompt` must outlive
  /// this. A call computes at most `longestCall` new columns where the model can
  /// be called in pieces; 0: as many as it takes. Errors: past the model's bound,
  /// not enough memory.
  Status prepare(Model &model, const Prompt &prompt, int64_t newTokens, int64_t longestCall = 0);

  /// Back to where it was after `prepare`: states zeroed, new tokens dropped.
  Status reset();
  /// Runs the encoder (`once`), if there is one, then the prompt; afterwards
  /// logitsOf is valid. `goesOn` is asked between two calls: if it says no, the
  /// prompt is left there, and there are no logits before the next `reset` and
  /// `prefill`.
  Status prefill(const std::function<bool()> &goesOn = {});
  bool hasLogits() const { return logits != nullptr; }
  /// Appends ids[r] to row r and computes the next logits. An error if the
  /// capacity is used up.
  Status append(const std::vector<int64_t> &ids);
  /// Appends ids [rows, n] and computes the logits after the last of them; what is there is not read again. Takes more
  /// memory where such a call needs more than those that `prepare` foresaw. An error if the capacity is used up.
  Status grow(const std::vector<int64_t> &ids);
  /// Goes back to the first `wanted` columns. Where states cannot go back (a ring that has turned, a running sum, the
  /// last rows of a convolution, a step with a guard) it goes back to the beginning, and all has to be grown again:
  /// `kept` becomes the length that is left, `wanted` or 0. There are no logits before the next `grow`, and columns of
  /// the prompt that were dropped are gone: `reset` and `prefill` are for sequences that only became longer.
  Status rewind(int64_t wanted, int64_t &kept);
  /// Moves rows: row i becomes what row from[i] was. The sources and prompts of
  /// both must be equal. An error if a state has no piece for each row.
  Status reorder(const std::vector<int64_t> &from);
  /// The logits [vocabulary] after the last token of a row.
  const float *logitsOf(int64_t row) const { return logits + row * rowStride; }

  int64_t rows() const { return prompt->rows; }
  int64_t length() const { return filled; }
  int64_t vocabulary() const { return vocab; }
  uint64_t stateBytes() const { return memory.stateBytes(); }
  uint64_t arenaBytes() const { return memory.arena.size(); }
  bool cached() const { return step != nullptr; }
  /// A call: of the encoder (`once`), of the prompt, of one token at the present length.
  enum class Call : uint8_t { Encoder, Prefill, Step };
  /// Its dims, for formulas of the card.
  std::vector<int64_t> dimsOf(Call call) const;

private:
  Status takeMemory();
  Status findLogits();
  std::vector<std::pair<int64_t, int64_t>> largestCalls() const;
  /// The entry that computes columns.
  const Entry &grower() const { return step ? *step : *prompt->run; }
  Status callBeside(const Entry &entry, std::vector<Tensor> &results);
  Status addDefaults();
  Status advance(int64_t past);
  Status advanceInPieces(int64_t past, int64_t length, const std::function<bool()> &goesOn = {});
  bool canGoBack() const;
  Status clearStates(const Entry &entry);
  int64_t pieceEnd(int64_t past, int64_t length) const;
  std::vector<int64_t> dimsOf(const Entry &entry, int64_t past, int64_t length) const;
  Status checkCall(const Entry &entry, const std::vector<int64_t> &dims) const;
  Status gather(const Entry &entry, const std::vector<int64_t> &dims, std::vector<void *> &inputs);

  Model *model = nullptr;
  const Prompt *prompt = nullptr;
  const Entry *once = nullptr, *step = nullptr;
  int64_t capacity = 0, filled = 0, vocab = 0;
  int64_t longestCall = 0; ///< new columns; 0: no bound but the model's
  Columns columns;         ///< ids, mask and positions
  CallMemory memory;
  EntryCall growth; ///< of the entry that computes columns
  int logitsOutput = -1, refillOutput = -1;
  const float *logits = nullptr; ///< of row 0
  int64_t rowStride = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_SEQUENCE_H
