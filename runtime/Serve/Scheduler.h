// Which texts are computed when: a text waits for a slot, its prompt is read in pieces next to the steps of the others,
// then it gets a token in every step until it ends. It joins and leaves at any step, and no other text notices.
#ifndef HEDDLE_RUNTIME_SERVE_SCHEDULER_H
#define HEDDLE_RUNTIME_SERVE_SCHEDULER_H

#include "runtime/Generate/TextStepper.h"
#include "runtime/Serve/Slots.h"
#include "runtime/Serve/TextRun.h"
#include <deque>

namespace heddle::serve {

class Scheduler {
public:
  Scheduler(const Service &service, Metrics &metrics) : service(service), metrics(metrics) {}

  /// Takes the memory of so many texts.
  rt::Status prepare(int64_t slots);
  /// Lets a text that is prepared, and has tokens to make, wait for a slot.
  void add(std::unique_ptr<TextRun> text);
  /// Whether nothing waits or runs.
  bool isIdle() const { return waiting.empty() && running.empty(); }
  /// Slots that are left when all that waits has one.
  int64_t room() const { return slots.count() - int64_t(waiting.size() + running.size()); }
  int64_t slotCount() const { return slots.count(); }

  /// Drops what nothing waits for, gives slots to what waits, makes a token of each text whose prompt is read, and
  /// reads on in the prompts.
  void round();

private:
  /// A text that has a slot.
  struct Running {
    std::unique_ptr<TextRun> text;
    std::vector<int64_t> ids; ///< of the prompt
    rt::TokenChooser chooser;
    int64_t slot;
    int64_t reused;    ///< tokens of the prompt that were there already
    int64_t next = -1; ///< the id that was chosen and is not yet in the slot; -1: the prompt is not yet read
    bool over = false; ///< it has left its slot
  };
  /// Where a text begins: in `slot`, with the first `kept` positions of slot `from`.
  struct Place {
    int64_t slot = -1, from = -1, kept = 0;
  };

  void dropAbandoned();
  void giveSlots();
  bool shouldWait(const std::vector<int64_t> &ids) const;
  Place placeFor(const std::vector<int64_t> &ids) const;
  const Running *holderOf(int64_t slot) const;
  void start(std::unique_ptr<TextRun> text, std::vector<int64_t> ids, const Place &place);
  Slots::Piece next(const Running &one, int64_t most) const;
  double step();
  bool readPiece(int64_t most);
  void take(Running &one, const Slots::Piece &piece, const float *logits);
  void accept(Running &one, const float *logits);
  void fail(Running &one, const rt::Status &status);
  void leave(Running &one);
  void forgetLeft();

  const Service &service;
  Metrics &metrics;
  Slots slots;
  std::deque<std::unique_ptr<TextRun>> waiting;
  std::vector<std::unique_ptr<Running>> running; ///< in the order in which they got their slots
  std::vector<uint64_t> lastUsed;                ///< by slot: when its text ended, in texts
  uint64_t ended = 0;
};

} // namespace heddle::serve

#endif
