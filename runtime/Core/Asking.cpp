//===- Asking.cpp - What a model is asked, by its card --------------------===//
#include "runtime/Core/Asking.h"

namespace heddle::rt {

bool takesMedia(const Card &card) { return !card.picture.values.empty() || !card.sound.values.empty(); }

TextBeside textBeside(const Card &card) {
  const Entry *run = card.entry("run");
  const Value *text = run ? run->input("input_ids") : nullptr;
  if (!takesMedia(card) || !text || text->type != Type::I64)
    return TextBeside::None;
  if (!card.roles.present)
    return text->hasDefault ? TextBeside::None : TextBeside::Needed;
  if (card.roles.source == text->name)
    return TextBeside::Needed;
  return card.roles.tokens == text->name ? TextBeside::Maybe : TextBeside::None;
}

const char *mediaExample(const Card &card) { return card.picture.values.empty() ? "speech.wav" : "photo.png"; }

Status noTokenizer(const Model &model) {
  return unsupported("this model has no tokenizer, so it reads and writes "
                     "ids, not texts")
      .withHelp(model.card().roles.present ? "what works now: generate --ids 1,2,3 -n 20, or "
                                             "generate --input FILE --output FILE -n 20"
                                           : "what works now: run --input FILE --output FILE")
      .withHelp("with a tokenizer.json next to config.json (or vocab.json and "
                "merges.txt, or vocab.txt) when it is compiled it takes "
                "texts");
}

} // namespace heddle::rt
