//===- Sound.h - From a WAV file to a model's input ---------------*- C++
//-*-===//
//
// PCM of 8, 16, 24 or 32 bits and floats of 32 or 64, any number of channels
// (mixed to one) and any rate (resampled by a windowed sinc). Then what the
// feature extractors of Hugging Face compute: samples of mean 0 and variance 1,
// Whisper's log-mel spectrogram, or Kaldi's filter banks.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_MEDIA_SOUND_H
#define HEDDLE_RUNTIME_MEDIA_SOUND_H

#include "runtime/Card.h"

namespace heddle::rt {

struct Sound {
  int64_t rate = 0;
  std::vector<float> samples; ///< one channel, -1 to 1
};

/// `name` stands for the file in messages.
Status readWav(const unsigned char *data, size_t size, const std::string &name,
               Sound &sound);

/// The same sound with `rate` samples a second.
Sound resampled(const Sound &sound, int64_t rate);

struct Features {
  std::vector<int64_t> shape; ///< without the batch
  std::vector<float> values;
  int64_t cut = 0; ///< samples at the end that the model does not hear
};

/// What `settings` make of a sound of any rate.
Status soundFeatures(const Sound &sound, const Settings &settings,
                     Features &features);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_MEDIA_SOUND_H
