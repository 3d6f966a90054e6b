//===- Asking.h - What a model is asked, by its card ------------*- C++ -*-===//
//
// Whether a model takes texts, files or both. The parts that read them are
// linked into programs that need them; what is said in their absence is here.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_ASKING_H
#define HEDDLE_RUNTIME_CORE_ASKING_H

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

/// The error of a program without a tokenizer that is given a text, with what works and how to get one.
Status noTokenizer(const Model &model);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_ASKING_H
