//===- template.h - Chat templates for the compiler -------------*- C++ -*-===//
//
// Chat templates for `heddle template` and for the compiler's probe: the same
// code that runs in a compiled model, behind plain types.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEMPLATE_H
#define HEDDLE_RUNTIME_TEMPLATE_H

#include <memory>
#include <string>
#include <vector>

namespace heddle::rt {

class TemplateRunner {
public:
  struct Result {
    bool good = false;
    std::string text; ///< or the error
  };

  /// Opens a blob, which must outlive the runner; null with `error` if it is damaged.
  static std::unique_ptr<TemplateRunner> open(const std::string &blob, std::string &error);
  ~TemplateRunner();

  std::vector<std::string> names() const;
  /// Renders a conversation: a JSON object with `messages`, `tools`, `documents`, `add_generation_prompt`, `now` (local
  /// time, as 2025-03-04T05:06:07; missing: the clock's); other keys are variables.
  Result render(const std::string &request) const;
  /// The same, answered as {"text": ..} or {"error": ..}.
  std::string answer(const std::string &request) const;

private:
  TemplateRunner();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_TEMPLATE_H
