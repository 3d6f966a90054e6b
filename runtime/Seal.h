//===- Seal.h - Whether a program is what was compiled ------------*- C++
//-*-===//
//
// Checks of heddle/seal.h on an image. A program without a seal, as tests write
// them, is taken as it is.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_SEAL_H
#define HEDDLE_RUNTIME_SEAL_H

#include "heddle/image.h"
#include "runtime/Pool.h"

namespace heddle::rt {

/// Sizes, seal, card, index, the name of the side file: what every start can
/// afford.
Status checkSeal(const Image &image);

Status checkTokenizer(const Image &image);

/// Every block of the weights, which lie at `weights`, on all threads of
/// `pool`; `blocks` is how many there are. `path` names a side file, or is
/// empty.
Status checkWeights(const Image &image, const void *weights, Pool &pool,
                    const std::string &path, uint64_t &blocks);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_SEAL_H
