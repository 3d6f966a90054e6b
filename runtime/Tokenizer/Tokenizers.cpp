//===- Tokenizers.cpp - What a program reads and writes with --------------===//
#include "runtime/Tokenizer/Tokenizers.h"

#include "runtime/Core/Asking.h"

namespace heddle::rt {

Status openTokenizer(const Model &model, Tokenizer &tokenizer) {
  const Image &image = model.image();
  return image.tokenizerSize ? tokenizer.open(image.tokenizer, image.tokenizerSize) : noTokenizer(model);
}

Status Tokenizers::open(const Model &model) {
  HEDDLE_TRY(openTokenizer(model, first));
  const Image &image = model.image();
  return image.targetTokenizerSize ? second.emplace().open(image.targetTokenizer, image.targetTokenizerSize) : Status();
}

static Status sizesOf(const Model &model, TokenizerSizes &sizes) {
  Tokenizers both;
  HEDDLE_TRY(both.open(model));
  sizes = {both.source().size(), both.target().size()};
  return {};
}

} // namespace heddle::rt

const heddle::rt::TokenizerSizesOf heddle_tokenizer_sizes = heddle::rt::sizesOf;
