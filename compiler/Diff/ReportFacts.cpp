//===- ReportFacts.cpp - the facts of report.json -------------------------===//
//
// What is measured (times) is no fact of a compilation. Kernels are called by a digest of their code, so they are
// compared by what they are for.
//
//===----------------------------------------------------------------------===//

#include "compiler/Diff/Facts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace heddle::diff;
using llvm::StringRef;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

/// A value as it is shown: a text without its quotes.
static std::string shown(const Value *value) {
  if (!value)
    return "";
  if (std::optional<StringRef> text = value->getAsString())
    return text->str();
  std::string out;
  llvm::raw_string_ostream(out) << *value;
  return out;
}
static std::string shown(const Object &object, StringRef key) { return shown(object.get(key)); }

/// The members of a list that are objects.
static std::vector<const Object *> objectsOf(const Object &from, StringRef key) {
  std::vector<const Object *> found;
  if (const Array *list = from.getArray(key))
    for (const Value &value : *list)
      if (const Object *object = value.getAsObject())
        found.push_back(object);
  return found;
}

static void addMembers(const Object &from, StringRef section, llvm::ArrayRef<StringRef> keys, Facts &facts) {
  for (StringRef key : keys)
    if (const Value *value = from.get(key))
      facts.add({section.str(), key.str(), {{"is", shown(value)}}});
}

static void addModel(const Object &report, Facts &facts) {
  if (const Object *model = report.getObject("model"))
    addMembers(*model, "model", {"name", "parameters", "blob_bytes"}, facts);
  if (const Object *target = report.getObject("target"))
    addMembers(*target, "target", {"name", "chip", "lanes", "registers"}, facts);
  addMembers(report, "model", {"bounds"}, facts);
}

static void addPassFacts(const Object &report, Facts &facts) {
  for (const Object *pass : objectsOf(report, "passes")) {
    int64_t dropped = 0, added = 0;
    if (const Array *functions = pass->getArray("functions"))
      for (const Value &function : *functions)
        if (const Array *counts = function.getAsArray(); counts && counts->size() == 3) {
          dropped += (*counts)[1].getAsInteger().value_or(0);
          added += (*counts)[2].getAsInteger().value_or(0);
        }
    int64_t more = 0; // what the passes before it did is their difference
    if (const Array *ops = pass->getArray("ops"); ops && ops->size() == 2)
      more = (*ops)[1].getAsInteger().value_or(0) - (*ops)[0].getAsInteger().value_or(0);
    facts.add({"passes",
               shown(*pass, "stage") + " " + shown(*pass, "flag"),
               {{"pipeline", shown(*pass, "pipeline")},
                {"ops", (more < 0 ? "" : "+") + std::to_string(more)},
                {"lines", "+" + std::to_string(added) + " -" + std::to_string(dropped)}}});
  }
}

/// The node of a number; null: there is none.
static const Object *nodeOf(const Object &report, std::optional<int64_t> number) {
  const Array *nodes = report.getArray("nodes");
  return nodes && number && *number >= 0 && size_t(*number) < nodes->size() ? (*nodes)[size_t(*number)].getAsObject()
                                                                            : nullptr;
}

/// "$.body[3].x (model.json:12)" of a node. What is in a block has the line of the statement that calls it.
static std::string statementOf(const Object &report, std::optional<int64_t> number) {
  const Object *node = nodeOf(report, number);
  std::string text = node ? shown(*node, "path") : "";
  for (int depth = 0; node && depth < 64; ++depth) {
    if (const Array *source = node->getArray("source"); source && source->size() == 3)
      return text + " (" + llvm::sys::path::filename(shown(&(*source)[0])).str() + ":" + shown(&(*source)[1]) + ")";
    node = nodeOf(report, node->getInteger("parent"));
  }
  return text;
}

static void addPhase(const Object &report, StringRef entry, const Object &phase, Facts &facts) {
  std::string statement = statementOf(report, phase.getInteger("node")), weight = shown(phase, "weight");
  std::string name = ("@" + entry).str();
  for (const std::string &word : {statement, shown(phase, "ops"), weight})
    name += word.empty() ? "" : " " + word;
  std::vector<std::string> kernels;
  if (const Array *list = phase.getArray("kernels"))
    for (const Value &kernel : *list)
      kernels.push_back(withoutDigest(shown(&kernel)));
  Fact fact{"statements", name, {}};
  for (StringRef key : {"unit", "turns", "operations", "bytes", "device"})
    if (const Value *value = phase.get(key))
      fact.words.push_back({key.str(), shown(value)});
  fact.words.push_back({"kernels", llvm::join(kernels, " ")});
  facts.add(std::move(fact));
}

static void addEntries(const Object &report, Facts &facts) {
  for (const Object *entry : objectsOf(report, "entries")) {
    std::string name = shown(*entry, "name");
    Fact fact{"entries", "@" + name, {}};
    for (StringRef key : {"dims", "inputs", "outputs", "states", "flops", "integers", "reads", "arena"})
      if (const Value *value = entry->get(key))
        fact.words.push_back({key.str(), shown(value)});
    facts.add(std::move(fact));
  }
  for (const Object *entry : objectsOf(report, "entries"))
    for (const Object *phase : objectsOf(*entry, "phases"))
      addPhase(report, shown(*entry, "name"), *phase, facts);
}

static void addParameters(const Object &report, Facts &facts) {
  for (const Object *parameter : objectsOf(report, "parameters")) {
    Fact fact{"parameters", shown(*parameter, "name"), {}};
    for (StringRef key : {"shape", "counts", "layout", "bytes", "coded"})
      if (const Value *value = parameter->get(key))
        fact.words.push_back({key.str(), shown(value)});
    facts.add(std::move(fact));
  }
}

static void addKernels(const Object &report, Facts &facts) {
  const Object *kernels = report.getObject("kernels");
  if (!kernels)
    return;
  int64_t instructions = 0;
  for (const auto &[name, kernel] : *kernels)
    if (const Object *object = kernel.getAsObject())
      instructions += object->getInteger("instructions").value_or(0);
  facts.add({"kernels", "number", {{"is", std::to_string(kernels->size())}}});
  facts.add({"kernels", "instructions", {{"is", std::to_string(instructions)}}});
}

static void addRemarks(const Object &report, Facts &facts) {
  for (const Object *remark : objectsOf(report, "remarks"))
    facts.add(
        {"remarks", shown(*remark, "kind") + " " + shown(*remark, "name") + ": " + shown(*remark, "message"), {}});
}

bool heddle::diff::addReportFacts(const Value &report, Facts &facts, std::string &why) {
  const Object *object = report.getAsObject();
  if (!object || !StringRef(shown(*object, "schema")).starts_with("heddle-report/")) {
    why = "expected what `heddle report --json` writes: an object with \"schema\": \"heddle-report/1\"";
    return false;
  }
  addModel(*object, facts);
  addEntries(*object, facts);
  addPassFacts(*object, facts);
  addParameters(*object, facts);
  addKernels(*object, facts);
  addRemarks(*object, facts);
  return true;
}
