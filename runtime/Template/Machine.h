//===- Machine.h - Runs the code of a template ------------------*- C++ -*-===//
//
// The blob of the chat templates (heddle/template_format.h), checked once when
// it is opened, and the machine that runs it: a loop with stacks of its own, so
// that no template and no data makes it go deep.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_TEMPLATE_MACHINE_H
#define HEDDLE_RUNTIME_TEMPLATE_MACHINE_H

#include "runtime/Json/Tree.h"
#include "runtime/Template/RenderState.h"

namespace heddle::rt::chat {

/// What a template is rendered with.
struct Rendering {
  const json::Value *variables = nullptr; ///< an object: messages, tools, add_generation_prompt, ...
  struct tm now = {};                     ///< local time, for strftime_now
  size_t inputBytes = 0;                  ///< of messages and tools, which bound the output
};

/// What came of it.
struct Rendered {
  bool good = false;
  std::string text;    ///< or the error
  bool raised = false; ///< the error is the text of the template's own raise_exception
};

/// The templates of a binary, as views into its blob.
class Templates {
public:
  /// Null, or what is wrong with the blob, which must be aligned to 4 bytes and outlive this.
  const char *open(const unsigned char *data, uint64_t size);
  bool has(std::string_view name) const;
  std::vector<std::string> names() const;
  /// Renders the template for the variables: `tool_use` if there are tools and it exists, else `default`.
  Rendered render(const Rendering &with) const;
  /// A special token of the tokenizer's files; empty if there is none of this name.
  std::string_view special(std::string_view name) const;

private:
  friend class Machine;
  const char *check() const;
  bool checkInstruction(size_t i, size_t begin, size_t end) const;
  size_t texts() const { return textCount; }
  std::string_view text(uint32_t i) const;
  const WordSpan &section(tpl::Section kind) const { return sections[kind]; }

  WordSpan sections[tpl::kSections];
  uint32_t textCount = 0;
  const char *bytes = nullptr;
  size_t byteCount = 0;
  CharacterTables tables;
};

/// A value of JSON on the heap of a rendering.
bool valueOf(Session &s, const json::Value &json, Value &out);

} // namespace heddle::rt::chat

#endif // HEDDLE_RUNTIME_TEMPLATE_MACHINE_H
