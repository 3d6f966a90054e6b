//===- Media.cpp - Pictures and speech in ---------------------------------===//
//
// A picture or a sound in a file becomes the tensor that the model takes, by
// the steps and numbers of preprocessor_config.json, which the card repeats. The
// whole file is read, up to a limit, and then decoded from memory.
//
//===----------------------------------------------------------------------===//
#include "heddle/input_file.h"
#include "runtime/Core/Parts.h"

#include <algorithm>

namespace heddle::rt {

static constexpr uint64_t kMaxBytes = uint64_t(2) << 30;

/// The input of `run` that a file fills: the first of the names that models
/// use.
static const Value *mediaInput(const Entry &run) {
  for (const char *name : {"pixel_values", "input_features", "input_values"})
    if (const Value *value = run.input(name); value && value->type == Type::F32)
      return value;
  return nullptr;
}

// The card has settings either for pictures or for sound.
static Status readMedia(const Model &model, const std::string &path, Tensor &tensor) {
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
  bool picture = !card.picture.values.empty();
  if (picture ? !&heddle_read_picture : !&heddle_read_sound)
    return internalError("the reader of this kind of file was not linked");
  HEDDLE_TRY((picture ? heddle_read_picture : heddle_read_sound)(card, path, file.bytes, shape, values));
  HEDDLE_TRY(Tensor::make(input->name, Type::F32, shape, tensor));
  std::copy(values.begin(), values.end(), tensor.data.as<float>());
  return {};
}

} // namespace heddle::rt

const heddle::rt::ReadMedia heddle_read_media = heddle::rt::readMedia;
