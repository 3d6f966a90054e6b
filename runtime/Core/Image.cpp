//===- Image.cpp - The symbols this program was linked with ---------------===//
//
// Collects the symbols that the program was linked with. `parts` is a table of
// absolute addresses, and volatile so that no access becomes an instruction
// that reaches only 2 GiB: the weights may be further away.
//
//===----------------------------------------------------------------------===//
#include "heddle/image.h"

namespace heddle::rt {

static const volatile struct {
  const char *card;
  const heddle_entry_fn *entries;
  const unsigned char *weights, *tokenizer, *targetTokenizer;
  const uint64_t *weightsSize, *tokenizerSize, *targetTokenizerSize;
  const char *weightsFile;
  const Seal *seal;
  const unsigned char *index;
  const heddle_device_image *deviceImages;
  const heddle_emulated_kernel *emulatedKernels;
  decltype(&heddle_emulator) emulator;
} parts = {heddle_card,
           heddle_entries,
           heddle_weights,
           heddle_tokenizer,
           heddle_target_tokenizer,
           &heddle_weights_size,
           &heddle_tokenizer_size,
           &heddle_target_tokenizer_size,
           heddle_weights_file,
           &heddle_seal,
           heddle_index,
           heddle_device_images,
           heddle_emulated_kernels,
           heddle_emulator};

Image linkedImage() {
  auto number = [](const uint64_t *symbol) { return symbol ? *symbol : 0; };
  Image image;
  image.card = parts.card;
  image.entries = parts.entries;
  image.weights = parts.weights;
  image.weightsSize = number(parts.weightsSize);
  image.weightsFile = parts.weightsFile;
  image.tokenizer = parts.tokenizer;
  image.tokenizerSize = number(parts.tokenizerSize);
  image.targetTokenizer = parts.targetTokenizer;
  image.targetTokenizerSize = number(parts.targetTokenizerSize);
  image.seal = parts.seal;
  image.index = parts.index;
  image.deviceImages = parts.deviceImages;
  image.emulatedKernels = parts.emulatedKernels;
  image.emulator = parts.emulator;
  return image;
}

} // namespace heddle::rt
