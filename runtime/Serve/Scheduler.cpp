// A text begins after the longest beginning that any slot has of it, which is copied where that slot is in use or
// holds much else. Prompts are read oldest first: in long pieces while nothing waits for a next token, else a few
// tokens in each step, in the same call, since a step reads all weights anyway; it then takes the time of so many rows
// more. Where a text is so long that rows of one token would read too much of it, in short pieces between the steps,
// for about as long as a step takes.
#include "runtime/Serve/Scheduler.h"
#include <algorithm>

namespace heddle::serve {

/// Tokens of a prompt that are read at once: while nothing else runs, and beside or between the steps of others.
static constexpr int64_t kLongPiece = 512, kShortPiece = 32;
/// A text waits for the prompt of another to be read if that saves it so many tokens.
static constexpr int64_t kWorthWaiting = 32;

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Ids that two texts begin with. Of `ids` at least one is left, since only a call yields logits.
static int64_t sharedBeginning(const std::vector<int64_t> &ids, const std::vector<int64_t> &held) {
  size_t most = std::min(ids.size() - 1, held.size());
  return std::mismatch(ids.begin(), ids.begin() + int64_t(most), held.begin()).first - ids.begin();
}

rt::Status Scheduler::prepare(int64_t count) {
  lastUsed.assign(size_t(count), 0);
  return slots.prepare(*service.model, count, service.context, kLongPiece, kShortPiece);
}

void Scheduler::add(std::unique_ptr<TextRun> text) { waiting.push_back(std::move(text)); }

void Scheduler::round() {
  dropAbandoned();
  giveSlots();
  metrics.running = running.size();
  double spent = step();
  if (spent == 0)
    readPiece(kLongPiece);
  for (auto begin = Clock::now(); secondsSince(begin) < spent && readPiece(kShortPiece);)
    ;
  forgetLeft();
  metrics.running = running.size();
}

void Scheduler::dropAbandoned() {
  for (auto &one : running)
    if (!one->text->answer().goesOn())
      leave(*one);
  forgetLeft();
  waiting.erase(std::remove_if(waiting.begin(), waiting.end(), [](auto &text) { return !text->answer().goesOn(); }),
                waiting.end());
}

const Scheduler::Running *Scheduler::holderOf(int64_t slot) const {
  for (const auto &one : running)
    if (one->slot == slot)
      return one.get();
  return nullptr;
}

/// Whether a text had better wait until a prompt with the same beginning has been read.
bool Scheduler::shouldWait(const std::vector<int64_t> &ids) const {
  int64_t now = 0, later = 0;
  for (int64_t slot = 0; slot < slots.count(); ++slot) {
    now = std::max(now, slots.keepable(slot, sharedBeginning(ids, slots.text(slot))));
    if (const Running *one = holderOf(slot); one && one->next < 0)
      later = std::max(later, sharedBeginning(ids, one->ids));
  }
  return later - now >= kWorthWaiting;
}

/// The free slot for a text, and whose beginning it takes over. One slot at least is free.
Scheduler::Place Scheduler::placeFor(const std::vector<int64_t> &ids) const {
  Place place, own;
  for (int64_t slot = 0; slot < slots.count(); ++slot) {
    int64_t kept = slots.keepable(slot, sharedBeginning(ids, slots.text(slot)));
    if (place.from < 0 || kept > place.kept)
      place.from = slot, place.kept = kept;
    if (holderOf(slot))
      continue;
    if (own.slot < 0 || kept > own.kept)
      own.slot = slot, own.kept = kept;
    if (place.slot < 0 || lastUsed[size_t(slot)] < lastUsed[size_t(place.slot)])
      place.slot = slot;
  }
  // A slot goes back in place where it has the longest beginning and loses no more than it keeps.
  if (own.kept == place.kept && 2 * own.kept >= int64_t(slots.text(own.slot).size()) && own.kept > 0)
    place.slot = place.from = own.slot;
  return place;
}

void Scheduler::giveSlots() {
  for (size_t i = 0; i < waiting.size() && int64_t(running.size()) < slots.count();) {
    std::vector<int64_t> ids = waiting[i]->prompt().ids;
    bool scored = waiting[i]->scoresPrompt(); // then all of it is computed
    if (!scored && shouldWait(ids)) {
      ++i;
      continue;
    }
    std::unique_ptr<TextRun> text = std::move(waiting[i]);
    waiting.erase(waiting.begin() + int64_t(i));
    Place place = placeFor(ids);
    if (scored)
      place = {place.slot, place.slot, 0};
    start(std::move(text), std::move(ids), place);
  }
}

void Scheduler::start(std::unique_ptr<TextRun> text, std::vector<int64_t> ids, const Place &place) {
  rt::Status status;
  if (place.kept > 0 && place.from != place.slot)
    status = slots.copy(place.from, place.slot, place.kept);
  else
    slots.cut(place.slot, place.kept);
  if (!status.ok())
    return text->answer().fail(fromStatus(status, ""));
  rt::TokenChooser chooser(text->options(), service.model->card().roles, 0, ids);
  running.push_back(std::unique_ptr<Running>(
      new Running{std::move(text), std::move(ids), std::move(chooser), place.slot, place.kept}));
}

/// What a text wants to be appended to its slot next: its newest token, or at most so many of its prompt.
Slots::Piece Scheduler::next(const Running &one, int64_t most) const {
  if (one.next >= 0)
    return {one.slot, &one.next, 1, true};
  int64_t held = int64_t(slots.text(one.slot).size()), left = int64_t(one.ids.size()) - held;
  bool each = one.text->scoresPrompt(); // then each token is a row
  int64_t count = std::min({left, most, slots.longestCall(), each ? kShortPiece : left});
  return {one.slot, one.ids.data() + held, count, count == left, each};
}

/// One token for each text whose prompt is read, and next to them the next of prompts that cost little there. Returns
/// the seconds that it took; 0: nothing waits for a token.
double Scheduler::step() {
  std::vector<Running *> texts;
  std::vector<Slots::Piece> pieces;
  for (auto &one : running)
    if (one->next >= 0) {
      texts.push_back(one.get());
      pieces.push_back(next(*one, 1));
    }
  if (texts.empty())
    return 0;
  metrics.batchRows.add(double(texts.size()));
  int64_t besides = kShortPiece;
  for (auto &one : running)
    if (one->next < 0 && besides > 0 && slots.isCheapBeside(one->slot, kShortPiece)) {
      texts.push_back(one.get());
      pieces.push_back(next(*one, besides));
      besides -= pieces.back().count;
    }
  auto begin = Clock::now();
  rt::Status status = slots.append(pieces);
  for (size_t i = 0; i < texts.size(); ++i) {
    // Finds out which piece made a call fail, one by one.
    if (!status.ok())
      if (rt::Status alone = slots.append({pieces[i]}); !alone.ok()) {
        fail(*texts[i], alone);
        continue;
      }
    take(*texts[i], pieces[i], slots.logitsOf(status.ok() ? i : 0));
  }
  return secondsSince(begin);
}

/// Reads a piece of the oldest prompt that is not read, of those that do not go beside steps if there are others.
/// False: there is none.
bool Scheduler::readPiece(int64_t most) {
  for (auto &one : running) {
    if (one->next >= 0 || one->over || (most == kShortPiece && slots.isCheapBeside(one->slot, kShortPiece)))
      continue;
    Slots::Piece piece = next(*one, most);
    if (rt::Status status = slots.append({piece}); !status.ok())
      fail(*one, status);
    else
      take(*one, piece, slots.logitsOf(0));
    return true;
  }
  return false;
}

/// What a call has made of a piece.
void Scheduler::take(Running &one, const Slots::Piece &piece, const float *logits) {
  const float *last = logits;
  if (piece.each && one.text->answer().goesOn()) {
    int64_t first = int64_t(slots.text(one.slot).size()) - piece.count;
    for (int64_t i = 0; i < piece.count; ++i, last += slots.vocabulary())
      one.text->scored(first + i, last, slots.vocabulary());
    last -= slots.vocabulary();
  }
  if (piece.asked)
    accept(one, last);
}

/// Chooses what follows a text by its logits.
void Scheduler::accept(Running &one, const float *logits) {
  if (!one.text->answer().goesOn()) // another text of the job has failed in this round: nothing may be said after that
    return leave(one);
  if (one.text->options().newTokens == 0) {
    one.text->finish();
    return leave(one);
  }
  if (rt::Status status = one.chooser.step(&logits, slots.vocabulary()); !status.ok())
    return fail(one, status);
  one.next = one.chooser.next()[0];
  bool goesOn = one.text->options().onStep({one.next});
  if (goesOn && !one.chooser.done())
    return;
  if (one.text->answer().goesOn()) // the client may have gone
    one.text->finish(size_t(one.reused));
  leave(one);
}

/// The answer ends with an error; its other texts are dropped in the next round.
void Scheduler::fail(Running &one, const rt::Status &status) {
  if (one.text->answer().goesOn())
    one.text->answer().fail(fromStatus(status, ""));
  leave(one);
}

void Scheduler::leave(Running &one) {
  one.over = true;
  lastUsed[size_t(one.slot)] = ++ended;
}

void Scheduler::forgetLeft() {
  running.erase(std::remove_if(running.begin(), running.end(), [](auto &one) { return one->over; }), running.end());
}

} // namespace heddle::serve
