//===- CheckKinds.cpp - Values of the wrong kind --------------------------===//
//
// Checks that every key of tokenizer.json which affects texts has a value of
// the right kind. A wrong kind would silently be read as the default and change
// ids, so all keys are checked here, before anything is read.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/Components.h"

namespace heddle::tok {

namespace {

enum Kind { Flag, Text, Character, Count };

struct Key {
  const char *name;
  Kind kind;
  bool orNull = false;
};

// The keys of normalizers, pre-tokenizers, post-processors, decoders, models
// and added tokens; a name means the same in all of them.
const Key keys[] = {
    {"type", Text, true},
    {"add_prefix_space", Flag},
    {"use_regex", Flag},
    {"trim_offsets", Flag},
    {"clean_text", Flag},
    {"handle_chinese_chars", Flag},
    {"strip_accents", Flag, true},
    {"lowercase", Flag},
    {"split", Flag},
    {"individual_digits", Flag},
    {"invert", Flag},
    {"strip_left", Flag},
    {"strip_right", Flag},
    {"cleanup", Flag},
    {"fuse_unk", Flag},
    {"byte_fallback", Flag},
    {"ignore_merges", Flag},
    {"single_word", Flag},
    {"lstrip", Flag},
    {"rstrip", Flag},
    {"normalized", Flag},
    {"special", Flag},
    {"replacement", Character},
    {"delimiter", Character},
    {"word_delimiter_token", Text},
    {"str_rep", Text},
    {"prepend_scheme", Text},
    {"prepend", Text},
    {"behavior", Text},
    {"suffix", Text},
    {"prefix", Text},
    {"content", Text},
    {"direction", Text},
    {"pad_token", Text},
    {"unk_token", Text, true},
    {"continuing_subword_prefix", Text, true},
    {"end_of_word_suffix", Text, true},
    {"max_input_chars_per_word", Count},
    {"pad_id", Count},
    {"pad_type_id", Count},
    {"pad_to_multiple_of", Count, true},
    {"precompiled_charsmap", Text, true},
};

const char *expected(Kind kind) {
  switch (kind) {
  case Flag: return "true or false";
  case Text: return "a text";
  case Character: return "one character";
  default: return "a number of 0 or more";
  }
}

bool oneCharacter(const std::string &text) {
  size_t characters = 0;
  for (char byte : text)
    characters += (byte & 0xc0) != 0x80;
  return characters == 1;
}

bool fits(const Json &value, const Key &key) {
  if (value.is_null())
    return key.orNull;
  switch (key.kind) {
  case Flag: return value.is_boolean();
  case Count: return value.is_number_unsigned();
  case Character: return value.is_string() && oneCharacter(*value.get_ptr<const std::string *>());
  default: return value.is_string();
  }
}

/// Checks a value and everything inside it, except the vocabulary and the
/// tokens of templates, whose keys are data.
bool check(const Json &value, const std::string &place, Problem &problem, unsigned depth) {
  if (depth > 64)
    return problem.say("nested too deep");
  if (value.is_array()) {
    size_t i = 0;
    for (const Json &item : value)
      if (!check(item, place + "[" + std::to_string(i++) + "]", problem, depth + 1))
        return false;
    return true;
  }
  if (!value.is_object())
    return true;
  bool strips = typeOf(value) == "Strip";
  for (auto entry = value.begin(); entry != value.end(); ++entry) {
    const std::string &name = entry.key();
    if (name == "vocab" || name == "merges" || name == "special_tokens")
      continue;
    std::string at = place + "." + name;
    for (Key key : keys) {
      if (name != key.name)
        continue;
      // The decoder Strip takes one character as its content.
      if (strips && name == "content")
        key.kind = Character;
      if (!fits(entry.value(), key))
        return problem.say(at + ": " + expected(key.kind) + " expected, found " +
                           entry.value().dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60));
    }
    if (!check(entry.value(), at, problem, depth + 1))
      return false;
  }
  return true;
}

} // namespace

bool rightKinds(const Json &file, Problem &problem) {
  for (const char *part :
       {"normalizer", "pre_tokenizer", "post_processor", "decoder", "padding", "truncation", "added_tokens", "model"}) {
    const Json &value = member(file, part);
    bool list = std::string(part) == "added_tokens";
    if (!value.is_null() && !(list ? value.is_array() : value.is_object()))
      return problem.say(std::string(part) + ": " + (list ? "a list" : "an object") + " expected");
    if (!check(value, part, problem, 0))
      return false;
  }
  return true;
}

} // namespace heddle::tok
