//===- GenerationConfig.cpp - how a model generates -----------------------===//
//
// generation_config.json, by three tables: keys that become settings of the card (card.def), keys accepted only at a
// value at which they have no effect, and keys without effect here.
//
//===----------------------------------------------------------------------===//

#include "compiler/SideFiles/SideFiles.h"
#include "heddle/languages.h"
#include "heddle/settings.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace heddle;
using Kind = JsonValue::Kind;

/// Keys accepted only at their neutral value, with the reason for the message.
static const struct {
  StringRef key;
  SmallVector<StringRef> off;
  StringRef reason;
} refused[] = {
    {"num_beam_groups", {"1"}, "groups of beams are unsupported"},
    {"diversity_penalty", {"0"}, "diverse beam search is unsupported"},
    {"penalty_alpha", {"0"}, "contrastive search is unsupported"},
    {"typical_p", {"1"}, "typical sampling is unsupported"},
    {"epsilon_cutoff", {"0"}, "epsilon sampling is unsupported"},
    {"eta_cutoff", {"0"}, "eta sampling is unsupported"},
    {"encoder_repetition_penalty", {"1"}, "a penalty for words of the source is unsupported"},
    {"guidance_scale", {"1"}, "guidance without classifier is unsupported"},
    {"exponential_decay_length_penalty", {}, "a penalty that grows with the length is unsupported"},
    {"sequence_bias", {}, "a bias for sequences is unsupported"},
    {"constraints", {}, "constrained search is unsupported"},
    {"force_words_ids", {}, "words that must occur are unsupported"},
    {"watermarking_config", {}, "watermarks are unsupported"},
    {"dola_layers", {}, "contrasting layers is unsupported"},
    {"prompt_lookup_num_tokens", {}, "guessing from the prompt is unsupported"},
    {"token_healing", {"false"}, "healing of the last token of a prompt is unsupported"},
    {"return_timestamps", {"false"}, "time stamps are not printed"},
    {"num_return_sequences", {"1"}, "one text is made; run the binary with other seeds for more"},
};

/// No effect on the text that is made.
static const StringRef withoutEffect[] = {
    // who wrote the file
    "transformers_version", "_*",
    // how the library keeps or returns things
    "use_cache", "cache_implementation", "cache_config", "return_dict_in_generate", "return_legacy_cache",
    "output_attentions", "output_hidden_states", "output_scores", "output_logits", "low_memory", "max_time",
    "disable_compile", "compile_config", "prefill_chunk_size", "remove_invalid_values",
    // a second model that guesses
    "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold",
    "assistant_early_exit", "assistant_lookbehind", "target_lookbehind", "speculation*", "max_matching_ngram_size",
    // time stamps of speech, which are not printed
    "alignment_heads", "max_initial_timestamp_index", "prev_sot_token_id", "median_filter_width", "is_multilingual",
    // long speech, window by window; one window is heard here
    "compression_ratio_threshold", "logprob_threshold", "no_speech_threshold", "condition_on_prev_tokens",
    "prompt_condition_type", "num_segment_frames", "return_segments", "return_token_timestamps", "time_precision",
    // the author of the prompt applies a chat template
    "chat_format", "max_window_size", "user_token_id", "assistant_token_id",
    // for code that a publisher brings along
    "trust_remote_code", "generation_kwargs"};

static IntegerAttr idAttr(Builder &b, int64_t id) { return b.getI64IntegerAttr(id); }

static ArrayAttr idsAttr(Builder &b, llvm::ArrayRef<int64_t> ids) {
  SmallVector<Attribute> list;
  for (int64_t id : ids)
    list.push_back(idAttr(b, id));
  return b.getArrayAttr(list);
}

/// [[3, 4], [5]] -> 2 3 4 1 5
static void readBadWords(SideFileReader &file, Builder &b, Attributes &roles) {
  const JsonValue *lists = file.take("bad_words_ids");
  if (!lists)
    return;
  std::vector<int64_t> all;
  for (const JsonValue &word : lists->items) {
    bool good = word.isArray() && !word.items.empty() &&
                llvm::all_of(word.items, [](const JsonValue &id) { return id.kind == Kind::Integer; });
    if (!good) {
      file.error(Error::CompanionValue, word, "bad_words_ids", "a list of token ids expected, found " + word.text());
      return;
    }
    all.push_back(int64_t(word.items.size()));
    for (const JsonValue &id : word.items)
      all.push_back(id.integer);
  }
  if (!lists->isArray())
    file.error(Error::CompanionValue, *lists, "bad_words_ids",
               "a list of lists of token ids expected, found " + lists->text());
  else if (!all.empty())
    roles.set("bad_words_ids", idsAttr(b, all));
}

/// [[1, 50259], [2, null]]: the token at a place of the text; null leaves the choice.
static void readForced(SideFileReader &file, Builder &b, Attributes &roles) {
  const JsonValue *pairs = file.take("forced_decoder_ids");
  if (!pairs)
    return;
  std::vector<int64_t> all;
  for (const JsonValue &pair : pairs->items) {
    bool good = pair.isArray() && pair.items.size() == 2 && pair.items[0].kind == Kind::Integer &&
                (pair.items[1].kind == Kind::Integer || pair.items[1].isNull());
    if (!good) {
      file.error(Error::CompanionValue, pair, "forced_decoder_ids",
                 "a place and a token id expected, found " + pair.text());
      return;
    }
    if (!pair.items[1].isNull())
      all.insert(all.end(), {pair.items[0].integer, pair.items[1].integer});
  }
  if (!all.empty())
    roles.set("forced_decoder_ids", idsAttr(b, all));
}

/// {"<|en|>": 50259, ...} under a key of the card.
static void readNames(SideFileReader &file, StringRef key, StringRef role, Builder &b, Attributes &roles) {
  const JsonValue *names = file.take(key);
  if (!names)
    return;
  Attributes list;
  for (const JsonMember &m : names->members) {
    if (m.value.kind != Kind::Integer || m.key.empty()) {
      file.error(Error::CompanionValue, m.value, key, "a token id expected, found " + m.value.text());
      return;
    }
    list.set(m.key, idAttr(b, m.value.integer));
  }
  if (!names->isObject())
    file.error(Error::CompanionValue, *names, key,
               "an object from names to token ids expected, found " + names->text());
  else if (!list.empty())
    roles.set(role, list.getDictionary(b.getContext()));
}

/// The word for the language or the task of speech, one of the names under `role`; a later word for what
/// forced_decoder_ids says with an id. `place`: where in the text its token is.
static void readSpoken(SideFileReader &file, StringRef key, StringRef role, int64_t place, Builder &b,
                       Attributes &roles) {
  std::optional<std::string> word = file.text(key);
  if (!word)
    return;
  auto names = dyn_cast_or_null<DictionaryAttr>(roles.get(role));
  IntegerAttr id;
  for (const std::string &name : {*word, "<|" + *word + "|>", "<|" + std::string(languageCode(*word)) + "|>"})
    if (names && !id)
      id = names.getAs<IntegerAttr>(name);
  if (!id) {
    file.error(Error::CompanionValue, *file.take(key), key,
               "the file names no token of the " + role + " " + file.take(key)->text());
    return;
  }
  std::vector<int64_t> all = {place, id.getInt()};
  if (auto forced = dyn_cast_or_null<ArrayAttr>(roles.get("forced_decoder_ids")))
    for (size_t i = 0; i + 1 < forced.size(); i += 2)
      if (int64_t other = cast<IntegerAttr>(forced[i]).getInt(); other != place)
        all.insert(all.end(), {other, cast<IntegerAttr>(forced[i + 1]).getInt()});
  roles.set("forced_decoder_ids", idsAttr(b, all));
}

static void readStops(SideFileReader &file, Builder &b, Attributes &roles) {
  const JsonValue *stops = file.take("stop_strings");
  if (!stops)
    return;
  llvm::ArrayRef<JsonValue> items =
      stops->isArray() ? llvm::ArrayRef<JsonValue>(stops->items) : llvm::ArrayRef<JsonValue>(*stops);
  SmallVector<Attribute> texts;
  for (const JsonValue &text : items) {
    if (!text.isString() || text.string.empty()) {
      file.error(Error::CompanionValue, text, "stop_strings", "a text expected, found " + text.text());
      return;
    }
    texts.push_back(b.getStringAttr(text.string));
  }
  if (!texts.empty())
    roles.set("stop", b.getArrayAttr(texts));
}

/// Reads a setting that is a number, a flag or a list of ids; one at which nothing is done is left out.
static void readSetting(SideFileReader &file, const Setting &setting, Builder &b, Attributes &roles) {
  StringRef key = setting.name;
  switch (setting.kind) {
  case SettingKind::Integer:
    if (std::optional<int64_t> n = file.integer(key, setting); n && double(*n) != setting.otherwise)
      roles.set(key, idAttr(b, *n));
    return;
  case SettingKind::Real:
    if (std::optional<double> x = file.number(key, setting); x && *x != setting.otherwise)
      roles.set(key, b.getF64FloatAttr(*x));
    return;
  case SettingKind::Flag:
    if (file.boolean(key).value_or(false))
      roles.set(key, idAttr(b, 1));
    return;
  case SettingKind::Ids:
    if (std::optional<std::vector<int64_t>> ids = file.ids(key); ids && !ids->empty())
      roles.set(key, idsAttr(b, *ids));
    return;
  default: return; // each has a form that is its own
  }
}

/// Reads every key of generation_config.json into `roles`, leaving out those at their neutral value; an unknown key is
/// a remark. `legacy`: the file is a config.json with such keys among its own, of which the others belong to the
/// family.
void heddle::readGenerationConfig(SideFileReader &file, bool legacy, Builder &b, Attributes &roles) {
  std::vector<StringRef> known;
  for (const Setting &setting : generation::kAll) {
    known.push_back(setting.name);
    readSetting(file, setting, b, roles);
  }
  if (const JsonValue *early = file.take("early_stopping")) {
    bool never = early->isString() && early->string == "never";
    if (early->kind != Kind::Bool && !never)
      file.error(Error::CompanionValue, *early, "early_stopping",
                 "true, false or \"never\" expected, found " + early->text());
    else if (never || early->boolean)
      roles.set("early_stopping", idAttr(b, never ? 2 : 1));
  }
  readBadWords(file, b, roles);
  readForced(file, b, roles);
  readStops(file, b, roles);
  for (const auto &key : refused) {
    known.push_back(key.key);
    file.only(key.key, key.off, key.reason);
  }
  if (roles.get(generation::do_sample.name) && roles.get(generation::num_beams.name))
    file.only("num_beams", {"1"}, "sampling among beams is unsupported: do_sample is true");
  if (legacy)
    return; // the other keys of config.json, and the roles of its ids, are the family's
  readNames(file, "lang_to_id", "language", b, roles);
  readNames(file, "task_to_id", "task", b, roles);
  readSpoken(file, "language", "language", 1, b, roles);
  readSpoken(file, "task", "task", 2, b, roles);
  if (std::optional<std::vector<int64_t>> ids = file.ids("eos_token_id"); ids && !ids->empty())
    roles.set("eos", idsAttr(b, *ids));
  if (const JsonValue *eos = file.root.find("eos_token_id"); eos && eos->isNull())
    roles.set("eos", b.getArrayAttr({})); // nothing ends a text, whatever config.json says
  if (std::optional<std::vector<int64_t>> ids = file.ids("pad_token_id"); ids && ids->size() == 1)
    roles.set("pad", idAttr(b, ids->front()));
  if (std::optional<std::vector<int64_t>> ids = file.ids("decoder_start_token_id"); ids && ids->size() == 1)
    roles.set("start", idAttr(b, ids->front()));
  file.ignore(withoutEffect);
  for (StringRef key : {"stop_strings", "lang_to_id", "task_to_id", "language", "task", "eos_token_id", "pad_token_id",
                        "decoder_start_token_id"})
    known.push_back(key);
  // The library keeps what it does not know and goes on.
  file.finish(known, heddle::Diagnostic::Kind::Remark);
}
