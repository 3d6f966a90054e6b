//===- Sequence.h - A batch that grows ----------------------------*- C++
//-*-===//
//
// Owns everything that one generation needs: columns of ids, mask and positions
// with room for the whole text, states, arena, logits. All memory is taken up
// front for the largest call; a step allocates nothing. A model with an entry
// `step` computes the new columns only, one without runs the whole text again.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_SEQUENCE_H
#define HEDDLE_RUNTIME_SEQUENCE_H

#include "runtime/Prompt.h"

namespace heddle::rt {

class Sequence {
public:
  /// Room for `newTokens` after the prompt. `prompt` must outlive this.
  Status prepare(Model &model, const Prompt &prompt, int64_t newTokens);

  /// Back to the state after `prepare`.
  void reset();
  /// Encoder, if there is one, and the prompt; then logits are there.
  Status prefill();
  /// Appends one id a row and computes the next logits.
  Status append(const std::vector<int64_t> &ids);
  /// Makes row i continue what row `from[i]` has been so far. Sources and
  /// prompts of the two must be equal.
  Status reorder(const std::vector<int64_t> &from);
  /// The logits after the last token of a row.
  const float *logitsOf(int64_t row) const { return logits + row * rowStride; }

  int64_t rows() const { return prompt->rows; }
  int64_t length() const { return filled; }
  int64_t vocabulary() const { return vocab; }
  uint64_t stateBytes() const { return bytesOfStates; }
  uint64_t arenaBytes() const { return arena.size(); }
  bool cached() const { return step != nullptr; }
  /// Dims of a step at the present length, for evaluating forms of the card.
  std::vector<int64_t> stepDims() const;
  /// The dims of the call that took the prompt.
  std::vector<int64_t> prefillDims() const;

private:
  /// An input along the step axis, [rows][capacity].
  struct Column {
    std::string name;
    Type type = Type::I64;
    Buffer values, staging;
    double fill = 0;
    bool given = false;
  };

  Status makeColumns();
  Status makeColumn(const std::string &name, double fill);
  void fillPositions(Column &positions, const Column *mask);
  Status checkDims() const;
  Status makeStates();
  Status makeArena();
  Status makeOutputs(const Entry &entry);
  Status runOnce();
  Status advance(int64_t past);
  Status advanceInPieces(int64_t length);
  int64_t pieceEnd(int64_t past, int64_t length) const;
  std::vector<int64_t> dimsOf(const Entry &entry, int64_t past,
                              int64_t length) const;
  Status gather(const Entry &entry, const std::vector<int64_t> &dims);
  Column *column(std::string_view name);
  void extendTo(int64_t length, const int64_t *ids);

  Model *model = nullptr;
  const Prompt *prompt = nullptr;
  const Entry *once = nullptr, *step = nullptr;
  int64_t capacity = 0, filled = 0, vocab = 0;
  std::vector<Column> columns;
  std::vector<int64_t> nextPosition; ///< of every row
  std::map<std::string, Buffer> states;
  uint64_t bytesOfStates = 0;
  Buffer arena, movedRows;
  std::vector<Buffer> outputs;
  std::vector<void *> tensors;
  int logitsOutput = -1, refillOutput = -1;
  const float *logits = nullptr; ///< of row 0
  int64_t rowStride = 0;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_SEQUENCE_H
