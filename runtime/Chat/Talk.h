//===- Talk.h - A conversation that is computed once ------------*- C++ -*-===//
//
// The sequence behind `chat`. Every turn renders the whole conversation; of its
// ids, those that the sequence begins with stay, and the rest is computed. The
// bits are those of a fresh run: a row's results never depend on how a text was
// cut into calls.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CHAT_TALK_H
#define HEDDLE_RUNTIME_CHAT_TALK_H

#include "runtime/Generate/Generate.h"

namespace heddle::chat {

/// What turns have cost, in tokens and seconds.
struct Cost {
  int64_t turns = 0;
  int64_t prompt = 0; ///< of all renderings: reused + read
  int64_t reused = 0, read = 0;
  int64_t again = 0; ///< of `read`: had been computed in this place before, in the same conversation
  int64_t made = 0;
  double readSeconds = 0, madeSeconds = 0;

  void add(const Cost &other);
};

class Talk {
public:
  /// `context`: positions of the conversation, for which memory is taken at the first answer.
  Talk(rt::Model &model, int64_t context) : model(model), context(context) {}

  int64_t positions() const { return context; }

  /// Answers the conversation `ids`: up to options.newTokens ids go to options.onStep. `stopped` is asked between
  /// pieces of the prompt; true ends the turn without an answer. `changed`: turns were taken away since the last
  /// answer, so what is not reused was not computed in vain. Errors: the conversation is too long, not enough memory,
  /// a NaN among the logits; after these all is computed anew.
  rt::Status answer(const std::vector<int64_t> &ids, rt::GenerateOptions options, const std::function<bool()> &stopped,
                    bool changed, Cost &cost);

private:
  rt::Status begin(std::vector<int64_t> first);
  rt::Status read(const std::vector<int64_t> &ids, const std::function<bool()> &stopped, bool changed, Cost &cost);
  rt::Status make(const std::vector<int64_t> &ids, rt::GenerateOptions &options, Cost &cost);

  rt::Model &model;
  int64_t context;
  rt::Prompt prompt; ///< the first token
  std::optional<rt::Sequence> sequence;
  std::vector<int64_t> held; ///< the ids in the sequence
};

} // namespace heddle::chat

#endif // HEDDLE_RUNTIME_CHAT_TALK_H
