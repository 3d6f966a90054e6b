//===- Media.h - Pictures and speech in ---------------------------*- C++
//-*-===//
//
// From a file to the tensor that the model takes, as preprocessor_config.json
// says; the card keeps what it says.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_MEDIA_MEDIA_H
#define HEDDLE_RUNTIME_MEDIA_MEDIA_H

#include "runtime/Model.h"

namespace heddle::rt {

/// Whether a file is what this model is asked with.
bool takesMedia(const Card &card);

/// What stands beside the file on the command line.
enum class TextBeside : uint8_t {
  None,
  Maybe, ///< the beginning of what is said of it
  Needed ///< a question about it
};
TextBeside textBeside(const Card &card);

/// "FILE.png" or "FILE.wav", for the help.
const char *mediaExample(const Card &card);

/// The input of `run` that the file becomes, as one row of a batch.
Status readMedia(const Model &model, const std::string &path, Tensor &tensor);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_MEDIA_MEDIA_H
