//===- Topic.h - what heddle explain knows ----------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_EXPLAIN_TOPIC_H
#define HEDDLE_COMPILER_EXPLAIN_TOPIC_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// One thing that can be explained.
struct Topic {
  llvm::StringRef kind;                                       ///< "error", "pass", ...
  std::string name;                                           ///< "H0304", "model-fuse-elementwise", "model.linear"
  std::string title;                                          ///< one line
  std::vector<std::pair<llvm::StringRef, std::string>> facts; ///< short, each with its name
  std::string text;                                           ///< Markdown
};
using Topics = std::vector<Topic>;

/// A topic for each row of heddle/errors.def, with its page.
void addErrorTopics(Topics &topics);
/// A topic for each stage of each target, and for each pass of a stage.
void addStageTopics(Topics &topics);
/// A topic for each row of dialects/Remarks/Remarks.def.
void addRemarkTopics(Topics &topics);
/// A topic for each op, attribute and type of Heddle's dialects.
void addIRTopics(Topics &topics);
/// A topic for each op, block, function and mask of descriptions.
void addLanguageTopics(Topics &topics);

} // namespace heddle

#endif // HEDDLE_COMPILER_EXPLAIN_TOPIC_H
