//===- Seal.h - Whether a program is what was compiled ----------*- C++ -*-===//
//
// Checks of an image against its seal (heddle/seal.h). A program without a
// seal, as tests write them, is accepted.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_SEAL_H
#define HEDDLE_RUNTIME_CORE_SEAL_H

#include "heddle/image.h"
#include "runtime/Core/Card.h"
#include "runtime/Core/Pool.h"

namespace heddle::rt {

/// Checks the seal, all sizes, the card, the index and the name of the side
/// file: what takes microseconds and is done at every start.
Status checkSeal(const Image &image);

/// Checks the texts that were read from the card against those that the compiler
/// digested as the model has them.
Status checkTexts(const Image &image, const Card &card);

/// Checks the digests of the tokenizers.
Status checkTokenizer(const Image &image);

/// Checks every block of the weights at `weights` on all threads of `pool`.
/// `path` is the side file, or "" if they are embedded; `blocks` receives how
/// many there are. The error names damaged blocks by tensor and bytes.
Status checkWeights(const Image &image, const void *weights, Pool &pool, const std::string &path, uint64_t &blocks);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_SEAL_H
