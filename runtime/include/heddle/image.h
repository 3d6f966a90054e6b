//===- image.h - The symbols of a compiled model ----------------*- C++ -*-===//
//
// The symbols that a model's object file defines. main() collects them in an
// Image, and everything else works on the Image, so that tests can run models
// written by hand.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_IMAGE_H
#define HEDDLE_RUNTIME_IMAGE_H

#include "heddle/abi.h"
#include "heddle/seal.h"

namespace heddle::rt {
struct Driver;
}

extern "C" {
/// The kernels of all entries for one kind of device.
struct heddle_device_image {
  const char *chip; ///< "sm_80"
  const char *kind; ///< "ptx", text that ends with a zero, or "cubin"
  const void *bytes;
  uint64_t size;
};
/// A kernel as code of this processor, for the emulator.
struct heddle_emulated_kernel {
  const char *name; ///< as the card has it
  heddle_kernel_fn function;
  uint64_t shared;  ///< bytes of shared memory that it names itself
  uint64_t numbers; ///< how many it gets by value
};

extern const char heddle_card[];
/// Weak: absent in a program that runs on a GPU alone.
extern const heddle_entry_fn heddle_entries[] __attribute__((weak));
/// Weak: absent when the weights are in a side file or the model has none.
extern const unsigned char heddle_weights[] __attribute__((weak));
/// Weak: bytes of the weights, embedded or in the side file.
extern const uint64_t heddle_weights_size __attribute__((weak));
/// Weak: name of a side file that is next to the program.
extern const char heddle_weights_file[] __attribute__((weak));
/// Weak: the digests of all this, and those of the blocks of the weights.
extern const heddle::Seal heddle_seal __attribute__((weak));
extern const unsigned char heddle_index[] __attribute__((weak));
/// Weak: absent in a program for the processor alone; the last has no chip.
extern const heddle_device_image heddle_device_images[] __attribute__((weak));
/// Weak: only in programs compiled with --emulate; the last has no name.
extern const heddle_emulated_kernel heddle_emulated_kernels[] __attribute__((weak));
/// Weak: libheddle_emulator.a's. Fills `driver` with the functions of a device
/// that this processor plays with `kernels`; null, or what is wrong with
/// `options` (test/Emulator/Options.h).
const char *heddle_emulator(const char *options, const heddle_emulated_kernel *kernels, heddle::rt::Driver *driver)
    __attribute__((weak));
/// Weak: absent when the model has no tokenizer.
extern const unsigned char heddle_tokenizer[] __attribute__((weak));
extern const uint64_t heddle_tokenizer_size __attribute__((weak));
/// Weak: only in programs that write texts of another vocabulary than they read.
extern const unsigned char heddle_target_tokenizer[] __attribute__((weak));
extern const uint64_t heddle_target_tokenizer_size __attribute__((weak));
}

namespace heddle::rt {

/// Card, entries, weights and tokenizer of a model; null or 0 where it has
/// none.
struct Image {
  const char *card = nullptr;
  const heddle_entry_fn *entries = nullptr;
  const unsigned char *weights = nullptr;
  uint64_t weightsSize = 0;
  const char *weightsFile = nullptr;
  const unsigned char *tokenizer = nullptr;
  uint64_t tokenizerSize = 0;
  const unsigned char *targetTokenizer = nullptr; ///< null: one tokenizer reads and writes
  uint64_t targetTokenizerSize = 0;
  const Seal *seal = nullptr;
  const unsigned char *index = nullptr;
  const heddle_device_image *deviceImages = nullptr;
  const heddle_emulated_kernel *emulatedKernels = nullptr;
  decltype(&heddle_emulator) emulator = nullptr;
};

/// The image this program was linked with.
Image linkedImage();

/// The whole command line program on an image; returns the exit code.
int runProgram(const Image &image, int argc, char **argv);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_IMAGE_H
