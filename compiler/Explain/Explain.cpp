//===- Explain.cpp - heddle explain ---------------------------------------===//

#include "compiler/Explain/Explain.h"
#include "compiler/Explain/Markdown.h"
#include "compiler/Explain/Topic.h"
#include "compiler/Import/Json/Diagnostics.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace heddle;
using llvm::StringRef;

static Topics allTopics() {
  Topics topics;
  addErrorTopics(topics);
  addStageTopics(topics);
  addRemarkTopics(topics);
  addLanguageTopics(topics);
  addIRTopics(topics);
  return topics;
}

/// Whether a user may mean the topic by `word`: "h0304", "error[H0304]", "--cse", and of "model.linear" the last part.
static bool isMeant(const Topic &topic, StringRef word) {
  StringRef name = topic.name;
  if (topic.kind == "error") {
    word.consume_front("error[");
    word.consume_back("]");
    return name.equals_insensitive(word);
  }
  if (topic.kind == "pass")
    return name == word.ltrim('-');
  return name == word || (name.contains('.') && name.split('.').second == word) || name.ltrim("#!") == word;
}

static void print(const Topic &topic, llvm::raw_ostream &os) {
  os << topic.name << ", " << topic.kind << ": " << topic.title << "\n";
  for (const auto &[name, text] : topic.facts)
    os << "  " << llvm::left_justify((name + ":").str(), 13) << " " << text << "\n";
  if (topic.text.empty())
    return;
  os << "\n";
  printMarkdown(topic.text, os);
}

static void printJson(llvm::ArrayRef<const Topic *> topics, llvm::raw_ostream &os) {
  llvm::json::OStream json(os);
  json.array([&] {
    for (const Topic *topic : topics)
      json.object([&] {
        json.attribute("kind", topic->kind);
        json.attribute("name", topic->name);
        json.attribute("title", topic->title);
        json.attributeArray("facts", [&] {
          for (const auto &fact : topic->facts)
            json.array([&] {
              json.value(fact.first);
              json.value(fact.second);
            });
        });
        json.attribute("text", topic->text);
      });
  });
  os << "\n";
}

/// The names of all topics, kind by kind, at most 100 columns wide.
static void printNames(const Topics &topics, llvm::raw_ostream &os) {
  os << "heddle explain NAME, where NAME is one of\n";
  llvm::MapVector<StringRef, std::vector<StringRef>> kinds;
  for (const Topic &topic : topics)
    if (std::vector<StringRef> &names = kinds[topic.kind]; names.empty() || names.back() != topic.name)
      names.push_back(topic.name);
  for (const auto &[kind, names] : kinds) {
    os << "\n" << kind << ":\n ";
    size_t column = 1;
    for (StringRef name : names) {
      if (column + 1 + name.size() > 100) {
        os << "\n ";
        column = 1;
      }
      os << " " << name;
      column += 1 + name.size();
    }
    os << "\n";
  }
}

int heddle::explain(const Console &console, StringRef name, bool json) {
  Topics topics = allTopics();
  std::vector<const Topic *> meant;
  std::vector<std::string> known;
  for (const Topic &topic : topics) {
    known.push_back(topic.name);
    if (name.empty() || isMeant(topic, name))
      meant.push_back(&topic);
  }
  if (meant.empty())
    return console.complain(Error::BadUsage, "there is nothing called " + quote(name) + " to explain" +
                                                 nearest(name, known) + "\nheddle explain lists all names.");
  if (json) {
    printJson(meant, console.out);
  } else if (name.empty()) {
    printNames(topics, console.out);
  } else {
    for (const Topic *topic : meant) {
      if (topic != meant.front())
        console.out << "\n";
      print(*topic, console.out);
    }
  }
  return Ok;
}
