//===- Image.cpp - The symbols this program was linked with ---------------===//
//
// `parts` is a table of absolute addresses, and volatile so that no access is
// folded into an instruction that reaches only 2 GiB: the weights may lie further
// away.
//
//===----------------------------------------------------------------------===//
#include "heddle/image.h"

namespace heddle::rt {

static const volatile struct {
  const char *card;
  const heddle_entry_fn *entries;
  const unsigned char *weights;
  const unsigned char *tokenizer;
  const uint64_t *tokenizerSize;
} parts = {heddle_card, heddle_entries, heddle_weights, heddle_tokenizer,
           &heddle_tokenizer_size};

Image linkedImage() {
  const uint64_t *size = parts.tokenizerSize;
  Image image;
  image.card = parts.card;
  image.entries = parts.entries;
  image.weights = parts.weights;
  image.tokenizer = parts.tokenizer;
  image.tokenizerSize = size ? *size : 0;
  return image;
}

} // namespace heddle::rt
