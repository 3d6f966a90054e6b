//===- Picture.h - From pixels to a model's input -----------------*- C++
//-*-===//
//
// What an image processor of Hugging Face does, in its order: resize as Pillow
// does, cut the middle out, rescale, normalise, channels first. Resized pixels
// are bytes, equal to Pillow's bit for bit.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_MEDIA_PICTURE_H
#define HEDDLE_RUNTIME_MEDIA_PICTURE_H

#include "runtime/Card.h"

namespace heddle::rt {

/// Rows of RGB bytes.
struct Picture {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

/// Pillow's numbers for its filters.
enum class Resample : uint8_t {
  Nearest = 0,
  Lanczos = 1,
  Bilinear = 2,
  Bicubic = 3,
  Box = 4,
  Hamming = 5
};

Picture resized(const Picture &picture, int64_t width, int64_t height,
                Resample filter);

/// The middle; what lies outside of the picture is black.
Picture middle(const Picture &picture, int64_t width, int64_t height);

/// [channels][height][width] as `settings` say; the size comes back in
/// `picture`.
Status pixelValues(Picture &picture, const Settings &settings,
                   std::vector<float> &values);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_MEDIA_PICTURE_H
