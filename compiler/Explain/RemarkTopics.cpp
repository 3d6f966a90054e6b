//===- RemarkTopics.cpp - a topic for each remark -------------------------===//

#include "compiler/Explain/Topic.h"
#include "dialects/Remarks/Remark.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;

void heddle::addRemarkTopics(Topics &topics) {
  for (const remarks::Row &row : remarks::table()) {
    std::vector<std::string> kinds;
    if (row.has(remarks::Passed))
      kinds.push_back("done");
    if (row.has(remarks::Missed))
      kinds.push_back("not done, with the reason");
    if (row.has(remarks::Analysis))
      kinds.push_back("noted");
    Topic topic{"remark", row.name.str(), row.says.str(), {{"kinds", llvm::join(kinds, "; ")}}, ""};
    if (!row.numbers.empty())
      topic.facts.push_back({"numbers", row.numbers.str()});
    topic.text = "`heddle compile MODEL --remarks='" + row.name.str() + "'` prints those of a model.\n";
    topics.push_back(std::move(topic));
  }
}
