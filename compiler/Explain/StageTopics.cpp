//===- StageTopics.cpp - a topic for each stage and each pass -------------===//
//
// Stages and the order of passes are the lists that the compiler runs. What a pass does is said in its Passes.td, and
// the contract of a stage in stages.md.
//
//===----------------------------------------------------------------------===//

#include "compiler/Explain/Texts.h"
#include "compiler/Explain/Topic.h"
#include "targets/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;
using llvm::StringRef;

/// The section of a page with this title, formatted or not; "" if there is none.
static StringRef sectionOf(StringRef page, unsigned level, StringRef title) {
  for (const Section &section : sectionsOf(page, level))
    if (section.title.trim('`') == title)
      return section.body;
  return "";
}

/// What the .td file of a pass says of it, without its summary, and a function before and after it, if there is one;
/// upstream's passes have no page here.
static std::string describe(StringRef flag) {
  StringRef example = sectionOf(pageOf("passes"), 2, flag);
  for (const Page &page : explainedPages())
    if (page.name.starts_with("passes-"))
      if (StringRef body = sectionOf(page.text, 3, ("-" + flag).str()); !body.empty())
        return body.split('\n').second.trim('\n').str() + (example.empty() ? "" : "\n\n" + example.str());
  return "A pass of MLIR; `heddle-opt --help` lists its options.";
}

static std::vector<std::string> flagsOf(llvm::ArrayRef<PassFactory> passes) {
  std::vector<std::string> flags;
  for (PassFactory create : passes)
    flags.push_back(create({})->getArgument().str());
  return flags;
}

/// Where a pass comes in a stage, once for each time that it does.
static void addPlaces(Topics &passes, const Stage &stage, StringRef title) {
  std::vector<std::string> flags = flagsOf(stage.passes);
  for (size_t i = 0; i < flags.size(); ++i) {
    auto known = llvm::find_if(passes, [&](const Topic &topic) { return topic.name == flags[i]; });
    if (known == passes.end()) {
      std::unique_ptr<mlir::Pass> pass = stage.passes[i]({});
      passes.push_back({"pass", flags[i], pass->getDescription().str(), {}, describe(flags[i])});
      known = std::prev(passes.end());
    }
    std::string place = title.str() + ", " + std::to_string(i + 1) + " of " + std::to_string(flags.size());
    if (i > 0)
      place += ", after " + flags[i - 1];
    if (i + 1 < flags.size())
      place += ", before " + flags[i + 1];
    known->facts.push_back({"stage", std::move(place)});
  }
}

void heddle::addStageTopics(Topics &topics) {
  Topics passes;
  StringRef page = pageOf("stages");
  size_t shared = sharedStages().size();
  for (const TargetKind &kind : targetKinds()) {
    bool first = &kind == targetKinds().begin();
    std::string of = first ? "" : " (" + kind.name.str() + ")";
    for (const Stage &stage : first ? kind.stages() : kind.stages().drop_front(shared)) {
      std::string title = stage.name.str() + of;
      std::vector<std::string> flags = flagsOf(stage.passes);
      if (stage.name == "model")
        flags.insert(flags.begin(), "the importer");
      topics.push_back({"stage",
                        stage.name.str(),
                        stage.summary.str(),
                        {{"target", findStage(stage.name, sharedStages()) ? "all" : kind.name.str()},
                         {"passes", llvm::join(flags, ", ")}},
                        sectionOf(page, 2, title).str()});
      addPlaces(passes, stage, title);
    }
    for (const auto &[name, summary] : kind.outputs()) {
      auto known = llvm::find_if(
          topics, [&, name = name](const Topic &topic) { return topic.kind == "stage" && topic.name == name; });
      if (known != topics.end())
        known->facts.front().second += ", " + kind.name.str();
      else
        topics.push_back({"stage",
                          name.str(),
                          summary.str(),
                          {{"target", kind.name.str()}, {"made by", "the target's code generation"}},
                          sectionOf(page, 2, name).str()});
    }
  }
  std::move(passes.begin(), passes.end(), std::back_inserter(topics));
}
