//===- SoundIn.cpp - Speech in --------------------------------------------===//
#include "runtime/Core/Parts.h"
#include "runtime/Media/Sound.h"

namespace heddle::rt {

static Status soundTensor(const Card &card, const std::string &path, const std::string &bytes, Shape &shape,
                          std::vector<float> &values) {
  Sound sound;
  Features features;
  HEDDLE_TRY(readWav(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), path, sound));
  if (sound.announced > sound.present)
    note(format("%s announces %llu bytes of samples and has %llu: the sound ends with the file", quote(path).c_str(),
                static_cast<unsigned long long>(sound.announced), static_cast<unsigned long long>(sound.present)));
  HEDDLE_TRY(soundFeatures(sound, card.sound, features));
  if (features.cut > 0)
    note(format("the model hears %.1f seconds at a time; the last %.1f "
                "seconds of %s are left out",
                double(features.heard) / card.sound.number(sound::rate),
                double(features.cut) / card.sound.number(sound::rate), quote(path).c_str()));
  shape.insert(shape.end(), features.shape.begin(), features.shape.end());
  values = std::move(features.values);
  return {};
}

} // namespace heddle::rt

const heddle::rt::MediaTensor heddle_read_sound = heddle::rt::soundTensor;
