//===- ErrorTopics.cpp - a topic for each code of an error ----------------===//

#include "compiler/Explain/Texts.h"
#include "compiler/Explain/Topic.h"
#include "heddle/errors.h"

using namespace heddle;
using llvm::StringRef;

void heddle::addErrorTopics(Topics &topics) {
  static constexpr struct {
    Error error;
    StringRef saidBy, when;
  } rows[] = {
#define HEDDLE_ERROR(code, name, exit, saidBy, when, help) {Error::name, #saidBy, when},
#include "heddle/errors.def"
  };
  for (const auto &row : rows) {
    StringRef by = row.saidBy == "Heddle"  ? "heddle"
                   : row.saidBy == "Model" ? "a compiled model"
                                           : "heddle and compiled models";
    // The page begins with its name, which is the topic's.
    StringRef page = pageOf(codeOf(row.error)).split('\n').second.trim('\n');
    topics.push_back({"error",
                      codeOf(row.error),
                      row.when.str(),
                      {{"exit status", std::to_string(int(exitOf(row.error)))}, {"printed by", by.str()}},
                      page.str()});
  }
}
