//===- TextBlobs.h - the tokenizers and templates of a binary ---*- C++ -*-===//
#ifndef HEDDLE_COMPILER_SIDEFILES_TEXTBLOBS_H
#define HEDDLE_COMPILER_SIDEFILES_TEXTBLOBS_H

#include <string>

namespace heddle {

/// The tokenizers of a binary.
struct TextBlobs {
  std::string blob;      ///< heddle_tokenizer; empty: none
  std::string target;    ///< heddle_target_tokenizer, of what the model writes; empty: the same
  std::string note;      ///< why there is none although the model has one that cannot be read
  std::string templates; ///< heddle_template; empty: none
  /// The file of the chat template instead of the model's, or "none": what --template says.
  std::string chatTemplate;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_SIDEFILES_TEXTBLOBS_H
