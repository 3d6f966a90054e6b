//===- JsonLines.h - A generation as JSON lines -----------------*- C++ -*-===//
//
// --json: a line for each piece of a text as it is made, then a line that says
// why it ended and how many tokens there were. The fields are those of OpenAI's
// API where it has them.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_JSONLINES_H
#define HEDDLE_RUNTIME_GENERATE_JSONLINES_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::rt {

class JsonLines {
public:
  /// `line`: which line of the input this answers, from 1; 0: there is one text.
  explicit JsonLines(int64_t line) : line(line) {}

  /// Prints {"text", "ids"}: the text that can be shown now, and the tokens since
  /// the last one. Without a text (no tokenizer: none) it waits for more.
  void add(int64_t id, const std::string *text);
  /// Prints what is left, then {"finish_reason", "usage"}. `stats`: an object of
  /// --stats, or "".
  void finish(const std::string *text, bool stopped, int64_t promptTokens, std::optional<uint64_t> seed,
              const std::string &stats);

private:
  void piece(const std::string *text);

  int64_t line, made = 0;
  std::vector<int64_t> ids; ///< that no line has yet
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_JSONLINES_H
