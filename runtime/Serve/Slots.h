// Texts that share the entry `batch`: each has a slot, which is its row of the model's states, and a length of its own.
// A call continues any of them, in any order. What a slot holds after its text is done stays there, so that the next
// text with the same beginning can go on from it, here or in another slot.
#ifndef HEDDLE_RUNTIME_SERVE_SLOTS_H
#define HEDDLE_RUNTIME_SERVE_SLOTS_H

#include "runtime/Core/EntryCall.h"

namespace heddle::serve {

class Slots {
public:
  /// What a call appends to a slot, and whether the logits after it are wanted.
  struct Piece {
    int64_t slot;
    const int64_t *ids;
    int64_t count;
    bool asked;        ///< what follows it
    bool each = false; ///< and what follows each of its tokens but the last
  };

  /// Takes the states of `count` texts of at most `context` positions, and the memory of the largest calls: one token
  /// for each of them and `besides` tokens more, `longestCall` tokens for one. `model` has an entry `batch` and must
  /// outlive this. Errors: not enough memory, an input that nothing here gives.
  rt::Status prepare(rt::Model &model, int64_t count, int64_t context, int64_t longestCall, int64_t besides);

  int64_t count() const { return int64_t(texts.size()); }
  /// Tokens that one call may append.
  int64_t longestCall() const { return most; }
  /// The ids whose states a slot holds.
  const std::vector<int64_t> &text(int64_t slot) const { return texts[size_t(slot)]; }

  /// `length` if a slot can go back to its first `length` positions, else 0: a ring has overwritten what they see.
  int64_t keepable(int64_t slot, int64_t length) const;
  /// Makes the first `length` positions, which must be keepable, all that a slot holds.
  void cut(int64_t slot, int64_t length) { texts[size_t(slot)].resize(size_t(length)); }
  /// Makes slot `to` the first `length` positions of slot `from`, which are keepable there. They are copied.
  rt::Status copy(int64_t from, int64_t to, int64_t length);

  /// Whether a piece of a prompt costs little next to what texts are making, in the same call: there each of its tokens
  /// is a row that reads the text so far by itself, and the weights are read but once.
  bool isCheapBeside(int64_t slot, int64_t tokens) const;

  /// Appends pieces to slots, all of them different, in one call: one piece, or pieces of which `isCheapBeside` holds.
  /// Afterwards `logitsOf(i)` is what follows piece i, if it was asked for. After an error the slots hold what they
  /// held.
  rt::Status append(const std::vector<Piece> &pieces);
  /// The logits [vocabulary] behind piece i of the last call.
  /// Of a piece of which each token was asked for, what follows the first; the others' are after it.
  const float *logitsOf(size_t piece) const { return logits + logitsAt[piece] * size_t(vocab); }
  int64_t vocabulary() const { return vocab; }

private:
  /// A row of a call: `each` ids behind `start` positions of a slot.
  struct Row {
    int64_t slot, start;
    const int64_t *ids;
  };
  rt::Status fillInputs(const std::vector<Row> &rows, int64_t each, const std::vector<int64_t> &asked);
  rt::Status reserve(const std::vector<rt::Lengths> &calls);
  std::vector<int64_t> dimsOf(int64_t rows, int64_t each, int64_t past, int64_t asked) const;

  rt::Model *model = nullptr;
  const rt::Entry *entry = nullptr;
  int64_t context = 0, most = 0, vocab = 0;
  uint64_t bytesPerPosition = 0; ///< of all states, of a text
  int batchDim = -1, logitsOutput = -1;
  std::vector<std::vector<int64_t>> texts; ///< by slot
  rt::CallMemory memory;
  rt::EntryCall batch;
  std::vector<rt::Tensor> inputs; ///< in the order of the entry
  const float *logits = nullptr;
  std::vector<size_t> logitsAt; ///< by piece of the last call: its row of the logits
};

} // namespace heddle::serve

#endif
