//===- Parts.h - What other archives put into a program ---------*- C++ -*-===//
//
// A program is linked with the archives that its model needs
// (compiler/Driver/Archives.cpp). An archive registers what it can do by a
// symbol of this list, which is weak and null where the archive is not linked:
// ask `&heddle_...` before use.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_PARTS_H
#define HEDDLE_RUNTIME_CORE_PARTS_H

#include "runtime/Core/Model.h"

namespace heddle::rt {

class Args;
class Tokenizers;
struct ChatTurn;
struct DeviceChoice;
struct Figures;

using Arguments = std::vector<std::string>;
/// A command: `words` are those after its name.
using Command = Status (*)(Model &model, const Arguments &words);

/// How many ids there are of what is read and of what is written.
struct TokenizerSizes {
  uint32_t source = 0, target = 0;
};

using OpenDevice = Status (*)(const Card &card, const Image &image, const DeviceChoice &choice,
                              std::unique_ptr<Backend> &backend);
using ReadMedia = Status (*)(const Model &model, const std::string &path, Tensor &tensor);
using MediaTensor = Status (*)(const Card &card, const std::string &path, const std::string &bytes, Shape &shape,
                               std::vector<float> &values);
using TokenizerSizesOf = Status (*)(const Model &model, TokenizerSizes &sizes);
using MissingWord = Status (*)(const Model &model, std::string &mask);
using BenchGeneration = Status (*)(Model &model, const Args &args, int64_t steps, Figures &figures);
using AskInTurn = Status (*)(const Model &model, const Tokenizers &tokenizers, const Args &args,
                             const std::string *question, ChatTurn &turn);

} // namespace heddle::rt

extern "C" {
#define HEDDLE_PART(type, name) extern const heddle::rt::type name __attribute__((weak));
/// Device: a GPU as the backend of a program with kernels for one.
HEDDLE_PART(OpenDevice, heddle_open_device)
/// Media: reads the file at `path` into the input of `run` for pictures or sound, a batch of one. Errors: a damaged or
/// too large file, sizes the model cannot take.
HEDDLE_PART(ReadMedia, heddle_read_media)
/// Media: one kind of file, from its bytes to the shape and numbers of that input.
HEDDLE_PART(MediaTensor, heddle_read_picture)
HEDDLE_PART(MediaTensor, heddle_read_sound)
/// Tokenizer: how many ids its two tokenizers have.
HEDDLE_PART(TokenizerSizesOf, heddle_tokenizer_sizes)
/// Generate: `generate`, and what a generating model does without a command.
HEDDLE_PART(Command, heddle_generate_command)
HEDDLE_PART(Command, heddle_continue_command)
/// Encode: what other models do without a command: labels, words, stretches.
HEDDLE_PART(Command, heddle_classify_command)
/// Encode: `mask` becomes the token for a missing word if the model has a logit for each word of its vocabulary, else
/// "".
HEDDLE_PART(MissingWord, heddle_missing_word)
/// Encode: the same of models of vectors.
HEDDLE_PART(Command, heddle_vector_command)
/// Bench: `bench`, and its part for models that generate.
HEDDLE_PART(Command, heddle_bench_command)
HEDDLE_PART(BenchGeneration, heddle_bench_generation)
/// Chat: `chat`, and a question that is put into the template (null: --messages has all) with what the flags say.
HEDDLE_PART(Command, heddle_chat_command)
HEDDLE_PART(AskInTurn, heddle_chat_turn)
/// Serve: `serve`.
HEDDLE_PART(Command, heddle_serve_command)
#undef HEDDLE_PART
}

#endif // HEDDLE_RUNTIME_CORE_PARTS_H
