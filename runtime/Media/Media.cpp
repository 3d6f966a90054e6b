//===- Media.cpp - Pictures and speech in ---------------------------------===//
//
// The whole file is read, up to a limit, and then decoded from memory.
//
//===----------------------------------------------------------------------===//
#include "runtime/Media/Media.h"
#include "heddle/input_file.h"
#include "runtime/Media/Picture.h"
#include "runtime/Media/PictureFile.h"
#include "runtime/Media/Sound.h"

#include <algorithm>
#include <cstdlib>

// Weak: null in models that take no pictures.
extern "C" int heddle_decode_picture(const uint8_t *, size_t, uint64_t, struct heddle_pixels *) __attribute__((weak));

namespace heddle::rt {

static constexpr uint64_t kMaxBytes = uint64_t(2) << 30;
static constexpr uint64_t kMaxPixels = uint64_t(1) << 26;

bool takesMedia(const Card &card) { return !card.picture.values.empty() || !card.sound.values.empty(); }

TextBeside textBeside(const Card &card) {
  const Entry *run = card.entry("run");
  const Value *text = run ? run->input("input_ids") : nullptr;
  if (!takesMedia(card) || !text || text->type != Type::I64)
    return TextBeside::None;
  if (!card.roles.present)
    return text->hasDefault ? TextBeside::None : TextBeside::Needed;
  if (card.roles.source == text->name)
    return TextBeside::Needed;
  return card.roles.tokens == text->name ? TextBeside::Maybe : TextBeside::None;
}

const char *mediaExample(const Card &card) { return card.picture.values.empty() ? "speech.wav" : "photo.png"; }

static Status readPicture(const std::string &path, const std::string &bytes, Picture &picture) {
  if (!heddle_decode_picture)
    return internalError("the reader of pictures was not linked");
  struct heddle_pixels pixels;
  if (heddle_decode_picture(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), kMaxPixels, &pixels)) {
    std::string why = pixels.error;
    return badFile(quote(path) + ": " + why).withHelp("this model takes a picture, PNG or JPEG");
  }
  picture.width = pixels.width;
  picture.height = pixels.height;
  picture.rgb.assign(pixels.rgb, pixels.rgb + size_t(pixels.width) * pixels.height * 3);
  free(pixels.rgb);
  return {};
}

/// The input of `run` that a file fills: the first of the names that models
/// use.
static const Value *mediaInput(const Entry &run) {
  for (const char *name : {"pixel_values", "input_features", "input_values"})
    if (const Value *value = run.input(name); value && value->type == Type::F32)
      return value;
  return nullptr;
}

// The card has settings either for pictures or for sound.
Status readMedia(const Model &model, const std::string &path, Tensor &tensor) {
  const Card &card = model.card();
  const Entry *run = card.entry("run");
  const Value *input = run ? mediaInput(*run) : nullptr;
  if (!input)
    return internalError("no input of run takes what the file gives");
  ReadFile file = readInputFile(path.c_str(), kMaxBytes);
  if (file.systemError)
    return ioError("cannot read", path, file.systemError);
  if (!file.ok())
    return badFile(quote(path) + ": " + file.why);
  Shape shape = {1};
  std::vector<float> values;
  if (!card.picture.values.empty()) {
    Picture picture;
    HEDDLE_TRY(readPicture(path, file.bytes, picture));
    HEDDLE_TRY(pixelValues(picture, card.picture, values));
    int64_t area = picture.width * picture.height;
    shape.insert(shape.end(), {int64_t(values.size()) / area, picture.height, picture.width});
  } else {
    Sound sound;
    Features features;
    HEDDLE_TRY(readWav(reinterpret_cast<const uint8_t *>(file.bytes.data()), file.bytes.size(), path, sound));
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
  }
  HEDDLE_TRY(Tensor::make(input->name, Type::F32, shape, tensor));
  std::copy(values.begin(), values.end(), tensor.data.as<float>());
  return {};
}

} // namespace heddle::rt
