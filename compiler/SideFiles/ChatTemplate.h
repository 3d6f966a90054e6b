//===- ChatTemplate.h - chat templates of a model ---------------*- C++ -*-===//
//
// Where a chat template comes from, in the order of transformers: chat_template.jinja with additional_chat_templates/
// next to it, `chat_template` of tokenizer_config.json (a text, or a list of {name, template}), chat_template.json. All
// are compiled to one blob (compiler/Template); what cannot be compiled is said with its place in its file. Those of a
// GGUF file come as the first kind, made of tokenizer.chat_template and tokenizer.chat_template.NAME.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_SIDEFILES_CHATTEMPLATE_H
#define HEDDLE_COMPILER_SIDEFILES_CHATTEMPLATE_H

#include "compiler/Import/Json/Diagnostics.h"
#include <string>
#include <vector>

namespace heddle {

struct ChatTemplates {
  std::string blob; ///< heddle_template; empty: none
  std::string from; ///< the file of the default one
  /// The earliest of the special tokens in a text; of those at one place the longest; "" if there is none.
  std::string firstSpecial(llvm::StringRef text) const;
  std::vector<std::string> specials; ///< the special tokens that tokenizer_config.json names
};

/// Reads the templates of a folder; or those of `file`, with the special tokens of the folder, if there is one. A
/// `file` that is not there may be the name of one of the folder's templates, which is the only one then. Errors go to
/// `sink`.
void readChatTemplates(const std::optional<ModelFolder> &folder, llvm::StringRef file, DiagnosticSink &sink,
                       ChatTemplates &out);

} // namespace heddle

#endif
