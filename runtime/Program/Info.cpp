//===- Info.cpp - What a compiled model says about itself -----------------===//
//
// The command `info`: the card for people, or the same as one JSON object. It
// reads no weights and starts no threads.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Args.h"
#include "runtime/Core/Asking.h"
#include "runtime/Core/Dims.h"
#include "runtime/Core/ValidUtf8.h"
#include "runtime/Program/Commands.h"

#include <cstdio>
#include <set>

namespace heddle::rt {

/// Dims of an entry at their bounds: one row, and for `step` one token at the
/// end of the longest text. A dim without a bound is kUnbounded and is named in
/// `unbounded`.
static std::vector<int64_t> boundedDims(const Card &card, const Entry &entry, std::string &unbounded) {
  constexpr int64_t kUnbounded = 1024;
  std::vector<int64_t> dims;
  unbounded.clear();
  for (const std::string &name : entry.dims) {
    std::optional<int64_t> bound = card.bound(name);
    if (name == "B" || name == kNewDim || name == kSlotsDim || name == kAskedDim)
      bound = 1;
    if ((name == kPastDim || name == kCapacityDim) && card.roles.present)
      bound = boundOfTexts(card);
    if (!bound)
      unbounded += (unbounded.empty() ? " at " : ", ") + name + format(" = %lld", static_cast<long long>(kUnbounded));
    dims.push_back(bound.value_or(kUnbounded));
  }
  return dims;
}

/// A size at the bounds, as text: "at most 3.0 MiB a row".
static std::string boundedBytes(std::optional<int64_t> bytes, const std::string &unbounded) {
  if (!bytes || *bytes < 0)
    return "more than 64 bits can count";
  return (unbounded.empty() ? "at most " : "") + humanBytes(*bytes) + " a row" + unbounded;
}

/// 16 hexadecimal digits of the digest of all weights; "" without a seal.
static std::string digest(const Model &model) {
  const Seal *seal = model.image().seal;
  return seal && seal->weightsBytes ? format("%016llx", static_cast<unsigned long long>(seal->weights)) : "";
}

static void printValues(const char *what, const std::vector<Value> &values) {
  for (const Value &value : values)
    printf("  %-7s %-28s %s%s\n", what, value.name.c_str(), value.typeText().c_str(),
           value.hasDefault ? "  (may be left out)" : "");
}

static std::string ids(const std::vector<int64_t> &list) {
  std::string text;
  for (int64_t id : list)
    text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text;
}

/// The first numbers of a list, for people.
static std::string numbers(const std::vector<double> &list) {
  std::string text;
  for (size_t i = 0; i < list.size() && i < 4; ++i)
    text += (i ? "," : "") + format("%.9g", list[i]);
  return text + (list.size() > 4 ? ",..." : "");
}

/// What an entry is for.
static const char *aboutEntry(const std::string &name) {
  return name == "run"        ? " (tensors in, tensors out)"
         : name == "once"     ? " (the source of a text; generate calls it first)"
         : name == "step"     ? " (the next tokens; generate calls it again and again)"
         : name == "defaults" ? " (what a prompt has of inputs that were not given and `extend` continues)"
         : name == "batch"    ? " (the next tokens of texts in slots)"
         : name == "head"     ? " (pooled hidden states to vectors)"
                              : "";
}

/// An input for pictures or sound that no file can fill, because the compiler
/// found no description of the preprocessing.
static const Value *unusedMedia(const Card &card) {
  const Entry *run = card.entry("run");
  for (const char *name : {"pixel_values", "input_features", "input_values"})
    if (const Value *value = run && !takesMedia(card) ? run->input(name) : nullptr)
      return value;
  return nullptr;
}

/// The card for people: storage and target, dims with bounds, generation, then
/// every entry with its inputs, outputs and memory at the bounds.
/// Kernels of all entries, each once, by name.
static std::set<std::string> kernelNames(const Card &card) {
  std::set<std::string> names;
  for (const Entry &entry : card.entries)
    for (const LaunchLine &line : entry.launches)
      if (line.kind == LaunchLine::Kind::Launch)
        names.insert(line.kernel);
  return names;
}

/// What a program has for GPUs: "sm_80 (ptx, 1.2 MiB), ...".
static std::string imagesText(const Model &model) {
  std::string text;
  const heddle_device_image *image = model.image().deviceImages;
  for (; image && image->chip; ++image)
    text +=
        format("%s%s (%s, %s)", text.empty() ? "" : ", ", image->chip, image->kind, humanBytes(image->size).c_str());
  return text;
}

/// How a text becomes a vector, where the model's directory says it.
static void printVectors(const Card &card) {
  const VectorRules &rules = card.vectors;
  if (rules.pooling.empty())
    return;
  printf("vectors: %s of last_hidden_state%s%s, compared by %s\n", rules.poolingText().c_str(),
         card.entry("head") ? ", then the entry head" : "", rules.normalize ? ", of length 1" : "",
         rules.similarity.c_str());
  for (const auto &[name, prompt] : rules.prompts)
    printf("prompt %s%s: %s\n", name.c_str(), name == rules.defaultPrompt ? " (default)" : "",
           jsonString(prompt).c_str());
  if (rules.length)
    printf("texts are cut to %lld tokens\n", static_cast<long long>(rules.length));
}

static std::string jsonVectors(const Card &card) {
  const VectorRules &rules = card.vectors;
  if (rules.pooling.empty())
    return "";
  auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string prompts;
  for (const auto &[name, prompt] : rules.prompts)
    prompts += (prompts.empty() ? "" : ",") + jsonString(name) + ":" + jsonString(prompt);
  return ",\"pooling\":" + jsonString(rules.poolingText()) + ",\"vectors\":{\"normalize\":" + flag(rules.normalize) +
         ",\"include_prompt\":" + flag(rules.includePrompt) + ",\"lower\":" + flag(rules.lower) +
         ",\"similarity\":" + jsonString(rules.similarity) +
         ",\"length\":" + (rules.length ? std::to_string(rules.length) : "null") + ",\"prompts\":{" + prompts +
         "},\"default_prompt\":" + (rules.defaultPrompt.empty() ? "null" : jsonString(rules.defaultPrompt)) + "}";
}

/// `MODEL info` for people: a line each fact, those that do not apply left out.
static void printText(const Model &model) {
  const Card &card = model.card();
  printf("%s", model.name.c_str());
  if (model.name != card.name)
    printf(": %s", card.name.c_str());
  printf(", compiled by heddle " HEDDLE_VERSION "\n");
  if (!card.target.empty())
    printf("target: %s\n", card.target.c_str());
  if (const Card &device = model.kernelCard(); !device.devices.empty())
    printf("kernels for GPUs: %zu, for %s\n", kernelNames(device).size(), imagesText(model).c_str());
  printf("numbers: stored as %s, added as f32%s\n", card.dtype.c_str(),
         card.dots && card.attentionDots ? ", products of bf16"
         : card.dots                     ? ", products of bf16, of attention f32"
         : card.attentionDots            ? ", products of attention bf16"
                                         : "");
  for (const CodesLine &codes : card.codes)
    printf("codes: %lld bits, a scale for each %lld features, %lld %s, %s\n", static_cast<long long>(codes.bits),
           static_cast<long long>(codes.group), static_cast<long long>(codes.matrices),
           codes.matrices == 1 ? "matrix" : "matrices", humanBytes(uint64_t(codes.bytes)).c_str());
  if (!card.codes.empty())
    printf("products of codes: %s\n", !card.codes.front().dots ? "of the f32 that they mean"
                                      : card.codes.front().rows == 32
                                          ? "rows rounded to 8 bits over 32 features, integer sums"
                                          : "rows rounded to 8 bits over 128 features, integer sums");
  for (size_t i = 0; i < card.chat.size(); ++i)
    printf("%s%s %s%s", i ? ", " : "chat template: ", card.chat[i].first.c_str(), card.chat[i].second.c_str(),
           i + 1 == card.chat.size() ? "\n" : "");
  printVectors(card);
  if (!card.license.empty())
    printf("license of the weights: %s\n", card.license.c_str());
  for (const std::string &adapter : card.adapters)
    printf("adapter: %s\n", adapter.c_str());
  if (model.weightBytes())
    printf("weights: %s%s%s\n", humanBytes(model.weightBytes()).c_str(),
           model.image().weightsFile ? (" in " + std::string(model.image().weightsFile)).c_str() : "",
           digest(model).empty() ? "" : (", digest " + digest(model)).c_str());
  if (card.parameters)
    printf("parameters: %lld\n", static_cast<long long>(card.parameters));
  if (!card.maskedRows.empty())
    printf("fully masked rows: %s\n", card.maskedRows.c_str());
  const Entry *called = card.entry("run");
  bool texts = called && called->input("input_ids");
  if (TokenizerSizes sizes;
      model.image().targetTokenizerSize && &heddle_tokenizer_sizes && heddle_tokenizer_sizes(model, sizes).ok())
    printf("tokenizer: two, with %u ids of what is read and %u of what is written\n", sizes.source, sizes.target);
  else
    printf("tokenizer: %s\n", model.image().tokenizerSize ? "yes"
                              : texts ? "no (one next to config.json is compiled in: ids become texts)"
                                      : "no");
  std::string lengths;
  for (const auto &[name, bound] : card.dims)
    if (!isStepDim(name))
      lengths += (lengths.empty() ? "" : ", ") + name + (bound ? " <= " + std::to_string(*bound) : "");
  printf("lengths that inputs may have: %s\n", lengths.c_str());
  const Roles &roles = card.roles;
  if (roles.present) {
    printf("generates: %s -> %s", roles.tokens.c_str(), roles.logits.c_str());
    if (!roles.source.empty())
      printf(", source %s", roles.source.c_str());
    if (!roles.eos.empty())
      printf(", ends at %s", ids(roles.eos).c_str());
    printf("%s\n", card.entry("step") ? "" : " (no cache: every step recomputes)");
    if (roles.context)
      printf("made for texts of %lld positions\n", static_cast<long long>(*roles.context));
    if (card.entry("batch"))
      printf("serve makes several texts at once\n");
    else if (!card.whyNoSlots.empty())
      printf("serve makes one text at a time: %s\n", card.whyNoSlots.c_str());
    if (!roles.settings.values.empty() || !roles.stops.empty()) {
      printf("defaults:");
      for (const auto &[name, values] : roles.settings.values)
        printf(" %s=%s", name.c_str(), numbers(values).c_str());
      for (const std::string &stop : roles.stops)
        printf(" stop=%s", jsonString(stop).c_str());
      printf("\n");
    }
  }
  if (!card.picture.values.empty())
    printf("takes: a picture, PNG or JPEG%s\n",
           textBeside(card) == TextBeside::Needed ? ", and a question about it" : "");
  if (!card.sound.values.empty())
    printf("takes: speech, WAV\n");
  if (const Value *value = unusedMedia(card))
    printf("takes: %s as a tensor (a preprocessor_config.json next to "
           "config.json is compiled in: files can be given)\n",
           value->name.c_str());
  if (!card.labels.empty()) {
    printf("labels: ");
    for (size_t i = 0; i < card.labels.size() && i < 10; ++i)
      printf(i ? ", %s" : "%s", validUtf8(card.labels[i]).c_str());
    printf(card.labels.size() > 10 ? ", ... (%zu)\n" : "\n", card.labels.size());
  }
  for (const Entry &entry : card.entries) {
    printf("entry %s%s\n", entry.name.c_str(), aboutEntry(entry.name));
    printValues("input", entry.inputs);
    printValues("output", entry.outputs);
    std::string unbounded;
    std::vector<int64_t> dims = boundedDims(card, entry, unbounded);
    for (const State &state : entry.states)
      printf("  cache   %-28s %s\n", state.name.c_str(),
             boundedBytes(state.bytes.evaluate(dims.data()), unbounded).c_str());
    uint64_t scratch = 0;
    if (entry.hasArena && arenaOf(entry, dims, 1, scratch).ok())
      printf("  scratch %-28s %s\n", "", boundedBytes(int64_t(scratch), unbounded).c_str());
  }
}

static std::string jsonValues(const std::vector<Value> &values) {
  std::string text = "[";
  for (const Value &value : values) {
    std::string shape;
    for (const Form &axis : value.axes)
      shape += (shape.empty() ? "" : ",") + jsonString(axis.text());
    text += (text.size() > 1 ? "," : "") + ("{\"name\":" + jsonString(value.name)) + ",\"dtype\":\"" +
            typeName(value.type) + "\",\"shape\":[" + shape + "]" + (value.hasDefault ? ",\"default\":true" : "") + "}";
  }
  return text + "]";
}

static std::string jsonEntry(const Entry &entry) {
  std::string dims, states;
  for (const std::string &dim : entry.dims)
    dims += (dims.empty() ? "" : ",") + jsonString(dim);
  for (const State &state : entry.states)
    states += (states.empty() ? "" : ",") + ("{\"name\":" + jsonString(state.name)) +
              ",\"bytes\":" + jsonString(state.bytes.text()) + "}";
  return "{\"name\":" + jsonString(entry.name) + ",\"dims\":[" + dims + "],\"inputs\":" + jsonValues(entry.inputs) +
         ",\"outputs\":" + jsonValues(entry.outputs) + ",\"states\":[" + states +
         "],\"arena_bytes\":" + (entry.hasArena ? jsonString(entry.arena.text()) : "null") + "}";
}

static std::string jsonSettings(const Settings &settings) {
  std::string text = "{";
  for (const auto &[name, values] : settings.values) {
    std::string list;
    for (double value : values)
      list += (list.empty() ? "" : ",") + format("%.17g", value);
    text += (text.size() > 1 ? "," : "") + jsonString(name) + ":" + (values.size() == 1 ? list : "[" + list + "]");
  }
  return text + "}";
}

static std::string jsonRoles(const Roles &roles) {
  std::string text = "{";
  auto add = [&](const char *key, const std::string &value) {
    text += std::string(text.size() > 1 ? "," : "") + "\"" + key + "\":" + value;
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
  if (roles.context)
    add("context", std::to_string(*roles.context));
  if (!roles.settings.values.empty())
    add("defaults", jsonSettings(roles.settings));
  if (!roles.stops.empty()) {
    std::string list;
    for (const std::string &stop : roles.stops)
      list += (list.empty() ? "" : ",") + jsonString(stop);
    add("stop", "[" + list + "]");
  }
  return text + "}";
}

/// The same as one JSON object; sizes stay formulas over the dims.
static void printJson(const Model &model) {
  const Card &card = model.card();
  std::string text = "{\"name\":" + jsonString(card.name) + ",\"target\":" + jsonString(card.target) +
                     ",\"dtype\":" + jsonString(card.dtype) + ",\"dots\":" + (card.dots ? "true" : "false") +
                     ",\"attention_dots\":" + (card.attentionDots ? "true" : "false");
  std::string coded;
  for (const CodesLine &codes : card.codes)
    coded += (coded.empty() ? "" : ",") + ("{\"bits\":" + std::to_string(codes.bits)) +
             ",\"group\":" + std::to_string(codes.group) + ",\"matrices\":" + std::to_string(codes.matrices) +
             ",\"bytes\":" + std::to_string(codes.bytes) + ",\"integers\":" + (codes.dots ? "true" : "false") + "}";
  if (!coded.empty())
    text += ",\"codes\":[" + coded + "]";
  for (size_t i = 0; i < card.chat.size(); ++i)
    text += (i ? "," : ",\"chat\":{") + jsonString(card.chat[i].first) + ":" + jsonString(card.chat[i].second) +
            (i + 1 == card.chat.size() ? "}" : "");
  text += jsonVectors(card);
  if (!card.license.empty())
    text += ",\"license\":" + jsonString(card.license);
  for (size_t i = 0; i < card.adapters.size(); ++i)
    text += (i ? "," : ",\"adapters\":[") + jsonString(card.adapters[i]) + (i + 1 == card.adapters.size() ? "]" : "");
  if (const Card &device = model.kernelCard(); !device.devices.empty()) {
    std::string chips;
    for (const std::string &chip : device.devices)
      chips += (chips.empty() ? "" : ",") + jsonString(chip);
    text += ",\"devices\":[" + chips + "],\"kernels\":" + std::to_string(kernelNames(device).size());
  }
  text += ",\"weight_bytes\":" + std::to_string(model.weightBytes());
  if (!digest(model).empty())
    text += ",\"digest\":" + jsonString(digest(model));
  if (card.parameters)
    text += ",\"parameters\":" + std::to_string(card.parameters);
  if (!card.labels.empty()) {
    text += ",\"labels\":[";
    for (const std::string &label : card.labels)
      text += (text.back() == '[' ? "" : ",") + jsonString(label);
    text += "]";
  }
  for (const auto &[key, settings] : {std::pair("picture", &card.picture), {"sound", &card.sound}})
    if (!settings->values.empty())
      text += std::string(",\"") + key + "\":" + jsonSettings(*settings);
  if (model.image().weightsFile)
    text += ",\"weights_file\":" + jsonString(model.image().weightsFile);
  text += ",\"masked_rows\":" + jsonString(card.maskedRows);
  text += std::string(",\"tokenizer\":") + (model.image().tokenizerSize ? "true" : "false") +
          (model.image().targetTokenizerSize ? ",\"target_tokenizer\":true" : "") + ",\"dims\":{";
  bool first = true;
  for (const auto &[name, bound] : card.dims) {
    if (isStepDim(name))
      continue;
    text += (first ? "" : ",") + jsonString(name) + ":" + (bound ? std::to_string(*bound) : "null");
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

Status infoCommand(Model &model, const Arguments &words) {
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
