//===- Sound.h - From a WAV file to a model's input -------------*- C++ -*-===//
//
// WAV files: PCM of 8, 16, 24 or 32 bits or floats of 32 or 64, any number of
// channels (averaged to one), any rate (resampled by a windowed sinc). Then
// what Hugging Face's feature extractors compute: samples of mean 0 and
// variance 1, Whisper's log-mel spectrogram, or Kaldi's filter banks.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_MEDIA_SOUND_H
#define HEDDLE_RUNTIME_MEDIA_SOUND_H

#include "runtime/Core/Card.h"

namespace heddle::rt {

struct Sound {
  int64_t rate = 0;
  std::vector<float> samples; ///< one channel, -1 to 1
  /// Bytes of samples that the file announces and that it has, where it is cut short; else 0.
  uint64_t announced = 0, present = 0;
};

/// Decodes a WAV file of `size` bytes; `name` is its name in errors, which also
/// give the byte where the file is wrong.
Status readWav(const unsigned char *data, size_t size, const std::string &name, Sound &sound);

/// The sound at `rate` samples a second.
Sound resampled(const Sound &sound, int64_t rate);

/// A model's input, made from a sound.
struct Features {
  std::vector<int64_t> shape; ///< without the batch
  std::vector<float> values;
  int64_t heard = 0; ///< samples that fit, where that is bounded
  int64_t cut = 0;   ///< samples at the end that did not fit
};

/// Resamples `sound` to the model's rate and computes the features that
/// `settings` name. An error if it is too short for a single frame.
Status soundFeatures(const Sound &sound, const Settings &settings, Features &features);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_MEDIA_SOUND_H
