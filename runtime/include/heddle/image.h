//===- image.h - The symbols of a compiled model -----------------*- C++
//-*-===//
//
// The object code of a model defines these; main() collects them in one Image,
// and everything behind it works on the Image, so that tests can run models
// that they wrote by hand.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_IMAGE_H
#define HEDDLE_RUNTIME_IMAGE_H

#include "heddle/abi.h"
#include "heddle/seal.h"

extern "C" {
extern const char heddle_card[];
extern const heddle_entry_fn heddle_entries[];
/// Weak: absent when the weights are in a side file or the model has none.
extern const unsigned char heddle_weights[] __attribute__((weak));
/// Weak: bytes of the weights, embedded or in the side file.
extern const uint64_t heddle_weights_size __attribute__((weak));
/// Weak: name of a side file that stands beside the program.
extern const char heddle_weights_file[] __attribute__((weak));
/// Weak: the digests of all this, and those of the blocks of the weights.
extern const heddle::Seal heddle_seal __attribute__((weak));
extern const unsigned char heddle_index[] __attribute__((weak));
/// Weak: absent when the model has no tokenizer.
extern const unsigned char heddle_tokenizer[] __attribute__((weak));
extern const uint64_t heddle_tokenizer_size __attribute__((weak));
}

namespace heddle::rt {

struct Image {
  const char *card = nullptr;
  const heddle_entry_fn *entries = nullptr;
  const unsigned char *weights = nullptr;
  uint64_t weightsSize = 0;
  const char *weightsFile = nullptr;
  const unsigned char *tokenizer = nullptr;
  uint64_t tokenizerSize = 0;
  const Seal *seal = nullptr;
  const unsigned char *index = nullptr;
};

/// The image this program was linked with.
Image linkedImage();

/// The whole command line program on an image; returns the exit code.
int runProgram(const Image &image, int argc, char **argv);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_IMAGE_H
