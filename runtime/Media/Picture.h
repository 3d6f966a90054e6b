//===- Picture.h - From pixels to a model's input ---------------*- C++ -*-===//
//
// The steps of Hugging Face's image processors, in their order: resize as
// Pillow does, crop the centre, rescale, normalise, channels first. Resized
// pixels are bytes and equal Pillow's bit for bit.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_MEDIA_PICTURE_H
#define HEDDLE_RUNTIME_MEDIA_PICTURE_H

#include "runtime/Core/Card.h"

namespace heddle::rt {

/// An image: rgb is [height][width][3].
struct Picture {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

/// The filters of Image.resize, numbered as in Pillow.
enum class Resample : uint8_t { Nearest = 0, Lanczos = 1, Bilinear = 2, Bicubic = 3, Box = 4, Hamming = 5 };

/// The picture at another size, as Image.resize gives it.
Picture resized(const Picture &picture, int64_t width, int64_t height, Resample filter);

/// The centre, `width` x `height`; what is outside of the picture is black.
Picture middle(const Picture &picture, int64_t width, int64_t height);

/// Does all steps that `settings` ask for; `channels` 1 makes the picture grey first. `values` becomes
/// [channels][height][width], and `picture` has the final size. An error if a
/// side would become 0 or larger than HEDDLE_MAX_SIDE.
Status pixelValues(Picture &picture, const Settings &settings, std::vector<float> &values);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_MEDIA_PICTURE_H
