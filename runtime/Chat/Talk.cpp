//===- Talk.cpp - A conversation that is computed once --------------------===//
//
// Prompts are read in pieces, so that Ctrl-C takes effect soon.
//
//===----------------------------------------------------------------------===//
#include "runtime/Chat/Talk.h"

#include "runtime/Core/Clock.h"

#include <algorithm>

namespace heddle::chat {

using rt::Status;

static constexpr int64_t kPiece = 512;

void Cost::add(const Cost &other) {
  turns += other.turns;
  prompt += other.prompt;
  reused += other.reused;
  read += other.read;
  again += other.again;
  made += other.made;
  readSeconds += other.readSeconds;
  madeSeconds += other.madeSeconds;
}

/// Takes the memory for a conversation and reads its first tokens.
Status Talk::begin(std::vector<int64_t> first) {
  prompt = rt::Prompt();
  HEDDLE_TRY(rt::promptFromIds(model, first, prompt));
  sequence.emplace();
  HEDDLE_TRY(sequence->prepare(model, prompt, context - prompt.length + 1));
  HEDDLE_TRY(sequence->prefill());
  held = std::move(first);
  return {};
}

/// Makes the sequence hold a beginning of `ids`: all of it unless `stopped`.
Status Talk::read(const std::vector<int64_t> &ids, const std::function<bool()> &stopped, bool changed, Cost &cost) {
  rt::Prompt fits; // whatever the sequence holds, the whole text is one that the model takes
  HEDDLE_TRY(rt::promptFromIds(model, ids, fits));
  // The last token is always read, as the logits after it are wanted.
  auto count = int64_t(ids.size()), most = std::min(count - 1, int64_t(held.size()));
  int64_t equal = std::mismatch(held.begin(), held.begin() + most, ids.begin()).first - held.begin();
  int64_t kept = 0;
  double before = rt::secondsNow();
  // What a prompt has of other inputs than its tokens is known of a whole prompt only.
  bool whole = model.card().entry("defaults");
  if (sequence && !whole) {
    HEDDLE_TRY(sequence->rewind(equal, kept));
    held.resize(size_t(kept));
  } else {
    rt::Prompt alone; // some models take no prompt of one token
    bool pieces = !whole && rt::promptFromIds(model, {ids[0]}, alone).ok();
    HEDDLE_TRY(begin(pieces ? std::vector<int64_t>{ids[0]} : ids));
  }
  cost.reused = kept;
  cost.again = (changed ? equal : most) - kept;
  for (auto at = int64_t(held.size()); at < count && !stopped();) {
    int64_t end = std::min(at + kPiece, count);
    std::vector<int64_t> piece(ids.begin() + at, ids.begin() + end);
    HEDDLE_TRY(sequence->grow(piece));
    held.insert(held.end(), piece.begin(), piece.end());
    at = end;
  }
  cost.read = int64_t(held.size()) - kept;
  cost.prompt = kept + cost.read;
  cost.readSeconds = rt::secondsNow() - before;
  return {};
}

/// Makes the answer behind `ids`, which the sequence holds.
Status Talk::make(const std::vector<int64_t> &ids, rt::GenerateOptions &options, Cost &cost) {
  std::vector<int64_t> made, unused;
  auto shown = options.onStep;
  options.onStep = [&](const std::vector<int64_t> &next) {
    made.push_back(next[0]);
    return !shown || shown(next);
  };
  double before = rt::secondsNow();
  Status status = rt::generateFrom(*sequence, model.card().roles, {ids}, options, unused);
  cost.made = int64_t(made.size());
  cost.madeSeconds = rt::secondsNow() - before;
  if (!made.empty()) // the last one was chosen, and read by nobody
    held.insert(held.end(), made.begin(), made.end() - 1);
  return status;
}

Status Talk::answer(const std::vector<int64_t> &ids, rt::GenerateOptions options, const std::function<bool()> &stopped,
                    bool changed, Cost &cost) {
  if (ids.empty())
    return rt::badInput("the chat template makes no text of this conversation");
  // The last new token is never an input, so it needs no position.
  int64_t room = context - int64_t(ids.size()) + 1;
  if (room < 1)
    return rt::badInput(rt::format("the conversation has %zu tokens, and there are %lld positions", ids.size(),
                                   static_cast<long long>(context)))
        .withHelp("chat --context N takes longer ones");
  options.newTokens = std::min(options.newTokens, room);
  cost = Cost();
  cost.turns = 1;
  Status status = read(ids, stopped, changed, cost);
  if (status.ok() && held.size() == ids.size())
    status = make(ids, options, cost);
  if (!status.ok()) {
    sequence.reset();
    held.clear();
  }
  return status;
}

} // namespace heddle::chat
