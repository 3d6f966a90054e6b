//===- Media.h - Pictures and speech in -------------------------*- C++ -*-===//
//
// A picture or a sound in a file becomes the tensor that the model takes, by
// the steps and numbers of preprocessor_config.json, which the card repeats.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_MEDIA_MEDIA_H
#define HEDDLE_RUNTIME_MEDIA_MEDIA_H

#include "runtime/Core/Model.h"

namespace heddle::rt {

/// Whether the model takes a picture or a sound.
bool takesMedia(const Card &card);

/// Which text belongs to the file on the command line.
enum class TextBeside : uint8_t {
  None,
  Maybe, ///< the first words of the description, may be left out
  Needed ///< a question about the file
};
TextBeside textBeside(const Card &card);

/// "FILE.png" or "FILE.wav", for examples in the help.
const char *mediaExample(const Card &card);

/// Reads the file at `path` into the input of `run` for pictures or sound, a
/// batch of one. Errors: a damaged or too large file, sizes the model cannot
/// take.
Status readMedia(const Model &model, const std::string &path, Tensor &tensor);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_MEDIA_MEDIA_H
