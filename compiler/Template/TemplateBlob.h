//===- TemplateBlob.h - Chat templates to the runtime's blob ----*- C++ -*-===//
//
// Compiles chat templates to the blob that the runtime reads in place
// (heddle/template_format.h). Nothing is rendered here, and what cannot be
// compiled is said with its place.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_TEMPLATE_TEMPLATEBLOB_H
#define HEDDLE_COMPILER_TEMPLATE_TEMPLATEBLOB_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// One template: "default", "tool_use", or another name.
struct TemplateText {
  std::string name, text;
};

/// What is wrong with one of them; line and column count from 1, in bytes.
struct TemplateMistake {
  size_t which = 0;
  uint32_t line = 0, column = 0;
  std::string message;
};

/// `blob` becomes the contents of the symbol heddle_template, which must be aligned to 4 bytes; `variables` are the
/// special tokens. Empty where it could be made.
std::vector<TemplateMistake> compileTemplates(const std::vector<TemplateText> &templates,
                                              const std::vector<std::pair<std::string, std::string>> &variables,
                                              std::string &blob);

} // namespace heddle

#endif // HEDDLE_COMPILER_TEMPLATE_TEMPLATEBLOB_H
