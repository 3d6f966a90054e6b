//===- Info.cpp - What a compiled model says about itself -----------------===//
//
// The card for people, and the same as one JSON object. Reads no weights and
// starts no threads.
//
//===----------------------------------------------------------------------===//
#include "runtime/Args.h"
#include "runtime/Commands.h"

#include <cstdio>

namespace heddle::rt {

/// Sizes are forms; this is what they come to where every dim has a bound.
static std::string boundedBytes(const Card &card, const Entry &entry,
                                const Form &form) {
  std::vector<int64_t> dims;
  for (const std::string &name : entry.dims) {
    std::optional<int64_t> bound = card.bound(name);
    // One batch row; a step of one token at the end of the longest text.
    if (name == "B" || name == "new")
      bound = 1;
    if (!bound)
      return "";
    dims.push_back(*bound);
  }
  std::optional<int64_t> bytes = form.evaluate(dims.data());
  return bytes && *bytes >= 0 ? humanBytes(*bytes) : "";
}

static void printValues(const char *what, const std::vector<Value> &values) {
  for (const Value &value : values)
    printf("  %-7s %-28s %s%s\n", what, value.name.c_str(),
           value.typeText().c_str(),
           value.hasDefault ? "  (may be left out)" : "");
}

static std::string ids(const std::vector<int64_t> &list) {
  std::string text;
  for (int64_t id : list)
    text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text;
}

/// Dims that the runtime itself chooses.
static bool ofStep(const std::string &dim) {
  return dim == "past" || dim == "new" || dim == "capacity";
}

static void printText(const Model &model) {
  const Card &card = model.card();
  printf("%s\n", card.name.c_str());
  if (!card.target.empty())
    printf("target: %s\n", card.target.c_str());
  if (!card.license.empty())
    printf("license of the weights: %s\n", card.license.c_str());
  if (model.weightBytes())
    printf("weights: %s%s\n", humanBytes(model.weightBytes()).c_str(),
           model.image().weightsFile
               ? (" in " + std::string(model.image().weightsFile)).c_str()
               : "");
  if (!card.maskedRows.empty())
    printf("fully masked rows: %s\n", card.maskedRows.c_str());
  printf("tokenizer: %s\n", model.image().tokenizerSize ? "yes" : "no");
  printf("dims:");
  for (const auto &[name, bound] : card.dims)
    if (!ofStep(name))
      printf(bound ? " %s <= %lld" : " %s", name.c_str(),
             static_cast<long long>(bound.value_or(0)));
  printf("\n");
  const Roles &roles = card.roles;
  if (roles.present) {
    printf("generates: %s -> %s", roles.tokens.c_str(), roles.logits.c_str());
    if (!roles.source.empty())
      printf(", source %s", roles.source.c_str());
    if (!roles.eos.empty())
      printf(", ends at %s", ids(roles.eos).c_str());
    printf("%s\n",
           card.entry("step") ? "" : " (no cache: every step recomputes)");
  }
  for (const Entry &entry : card.entries) {
    printf("entry %s\n", entry.name.c_str());
    printValues("input", entry.inputs);
    printValues("output", entry.outputs);
    for (const State &state : entry.states) {
      std::string bytes = boundedBytes(card, entry, state.bytes);
      printf("  state   %-28s %s bytes%s\n", state.name.c_str(),
             state.bytes.text().c_str(),
             bytes.empty() ? "" : (", at most " + bytes + " a row").c_str());
    }
    if (entry.hasArena)
      printf("  arena   %s bytes\n", entry.arena.text().c_str());
  }
}

static std::string jsonValues(const std::vector<Value> &values) {
  std::string text = "[";
  for (const Value &value : values) {
    std::string shape;
    for (const Form &axis : value.axes)
      shape += (shape.empty() ? "" : ",") + jsonString(axis.text());
    text += (text.size() > 1 ? "," : "") +
            ("{\"name\":" + jsonString(value.name)) + ",\"dtype\":\"" +
            typeName(value.type) + "\",\"shape\":[" + shape + "]" +
            (value.hasDefault ? ",\"default\":true" : "") + "}";
  }
  return text + "]";
}

static std::string jsonEntry(const Entry &entry) {
  std::string dims, states;
  for (const std::string &dim : entry.dims)
    dims += (dims.empty() ? "" : ",") + jsonString(dim);
  for (const State &state : entry.states)
    states += (states.empty() ? "" : ",") +
              ("{\"name\":" + jsonString(state.name)) +
              ",\"bytes\":" + jsonString(state.bytes.text()) + "}";
  return "{\"name\":" + jsonString(entry.name) + ",\"dims\":[" + dims +
         "],\"inputs\":" + jsonValues(entry.inputs) +
         ",\"outputs\":" + jsonValues(entry.outputs) + ",\"states\":[" +
         states + "],\"arena_bytes\":" +
         (entry.hasArena ? jsonString(entry.arena.text()) : "null") + "}";
}

static std::string jsonRoles(const Roles &roles) {
  std::string text = "{";
  auto add = [&](const char *key, const std::string &value) {
    text +=
        std::string(text.size() > 1 ? "," : "") + "\"" + key + "\":" + value;
  };
  struct {
    const char *key;
    const std::string &name;
  } names[] = {{"tokens", roles.tokens},
               {"logits", roles.logits},
               {"mask", roles.mask},
               {"positions", roles.positions},
               {"source", roles.source}};
  for (auto &name : names)
    if (!name.name.empty())
      add(name.key, jsonString(name.name));
  if (roles.start)
    add("start", std::to_string(*roles.start));
  if (!roles.eos.empty())
    add("eos", "[" + ids(roles.eos) + "]");
  if (roles.pad)
    add("pad", std::to_string(*roles.pad));
  return text + "}";
}

static void printJson(const Model &model) {
  const Card &card = model.card();
  std::string text = "{\"name\":" + jsonString(card.name) +
                     ",\"target\":" + jsonString(card.target);
  if (!card.license.empty())
    text += ",\"license\":" + jsonString(card.license);
  text += ",\"weight_bytes\":" + std::to_string(model.weightBytes());
  if (model.image().weightsFile)
    text += ",\"weights_file\":" + jsonString(model.image().weightsFile);
  text += ",\"masked_rows\":" + jsonString(card.maskedRows);
  text += std::string(",\"tokenizer\":") +
          (model.image().tokenizerSize ? "true" : "false") + ",\"dims\":{";
  bool first = true;
  for (const auto &[name, bound] : card.dims) {
    if (ofStep(name))
      continue;
    text += (first ? "" : ",") + jsonString(name) + ":" +
            (bound ? std::to_string(*bound) : "null");
    first = false;
  }
  text += "}";
  if (card.roles.present)
    text += ",\"generate\":" + jsonRoles(card.roles);
  text += ",\"entries\":[";
  for (size_t i = 0; i < card.entries.size(); ++i)
    text += (i ? "," : "") + jsonEntry(card.entries[i]);
  puts((text + "]}").c_str());
}

Status infoCommand(Model &model, const Words &words) {
  Args args;
  HEDDLE_TRY(Args::parse(words, {}, {"--json", "--card"}, 0, args));
  if (args.has("--card"))
    fputs(model.card().text.c_str(), stdout);
  else if (args.has("--json"))
    printJson(model);
  else
    printText(model);
  return {};
}

} // namespace heddle::rt
