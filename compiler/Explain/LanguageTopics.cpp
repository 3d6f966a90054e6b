//===- LanguageTopics.cpp - a topic for each word of descriptions ---------===//
// Ops, functions and masks are rows of the table that the importer checks against; blocks are those of stdlib.json.

#include "compiler/Explain/Topic.h"
#include "compiler/Import/Description/Library.h"
#include "compiler/Import/Description/OpTable.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "compiler/Import/Json/LocatedJson.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;

static StringRef roleOf(AttrRole role) {
  switch (role) {
  case AttrRole::Required: return "required";
  case AttrRole::Optional: return "default";
  case AttrRole::Assert: return "only checked";
  case AttrRole::Weight: return "names weights, default";
  }
  return "";
}

static void addOp(Topics &topics, const OpInfo &op) {
  std::string text;
  for (const AttrInfo &a : op.attributes) {
    text += text.empty() ? "Attributes:\n\n" : "";
    std::string fallback = a.choices.empty() ? a.fallback.str()
                                             : a.choices.front().str() + " (else " +
                                                   llvm::join(llvm::ArrayRef(a.choices).drop_front(), ", ") + ")";
    text += "- `" + a.name.str() + "`: " + roleOf(a.role).str() + (fallback.empty() ? "" : " " + fallback) + "\n";
  }
  Topic topic{"op of descriptions", op.name.str(), op.formula.str(), {}, text};
  if (!op.operands.empty())
    topic.facts.push_back({"operands", llvm::join(op.operands, ", ")});
  topic.facts.push_back({"shapes", op.shapes.str()});
  topic.facts.push_back({"mixes", op.mixes == "-" ? "features only" : op.mixes.str()});
  if (!op.source.empty())
    topic.facts.push_back({"source", op.source.str()});
  topics.push_back(std::move(topic));
}

/// A block of stdlib.json: what it takes, and the statements that it becomes.
static Topic blockTopic(const JsonMember &block) {
  Topic topic{"block", block.key, "", {}, ""};
  if (const JsonValue *about = block.value.find("about"))
    topic.title = about->string;
  std::vector<std::string> operands;
  if (const JsonValue *given = block.value.find("operands"))
    for (const JsonValue &operand : given->items)
      operands.push_back(operand.string);
  topic.facts.push_back({"operands", llvm::join(operands, ", ")});
  if (const JsonValue *attributes = block.value.find("attributes")) {
    topic.text = "Attributes, with their defaults (null: it must be given):\n\n";
    for (const JsonMember &a : attributes->members)
      topic.text += "- `" + a.key + "`: " + a.value.text() + "\n";
    topic.text += "\n";
  }
  topic.text += "It becomes these statements:\n\n```json\n";
  if (const JsonValue *body = block.value.find("body"))
    for (const JsonValue &statement : body->items)
      topic.text += statement.text() + "\n";
  topic.text += "```\n";
  return topic;
}

void heddle::addLanguageTopics(Topics &topics) {
  for (const OpInfo &op : allOps())
    addOp(topics, op);
  for (const FunctionInfo &f : allFunctions()) {
    std::string arguments = std::to_string(f.least) + (f.most < 0         ? " or more"
                                                       : f.most > f.least ? " to " + std::to_string(f.most)
                                                                          : "");
    topics.push_back({f.group == "masks" ? "mask" : "function",
                      f.name.str(),
                      f.about.str(),
                      {{"arguments", arguments}},
                      f.group == "masks" ? "`heddle mask MODEL` draws the masks of a model.\n" : ""});
  }
  topics.push_back({"mask", "causal", "i sees j when j <= i", {}, "`heddle mask MODEL` draws the masks of a model.\n"});
  DiagnosticSink quiet;
  SourceFile file("stdlib.json", standardLibrary().str());
  std::optional<JsonValue> library = parseJson(file, quiet);
  if (const JsonValue *blocks = library ? library->find("blocks") : nullptr)
    for (const JsonMember &block : blocks->members)
      topics.push_back(blockTopic(block));
}
