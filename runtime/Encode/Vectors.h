//===- Vectors.h - Texts to vectors -----------------------------*- C++ -*-===//
//
// What sentence-transformers does around a model: a prompt in front of a text,
// pooling of the hidden states, the modules after it (the entry `head`),
// dimensions, length 1. Every text is what it is alone: pooling counts a text's
// own tokens, in f64, and `head` treats rows independently.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ENCODE_VECTORS_H
#define HEDDLE_RUNTIME_ENCODE_VECTORS_H

#include "runtime/Encode/Encoder.h"

namespace heddle::rt {

/// How hidden states [tokens][width] become [width]; in the order of sentence-transformers.
enum class Pooling : uint8_t { Cls, Max, Mean, MeanSqrtLen, WeightedMean, LastToken };

/// How the vectors of a text are made: the model's own way, and what a caller wants otherwise.
struct VectorPlan {
  std::vector<Pooling> pooling;  ///< their results next to each other; none: `output` is a vector a text
  const char *output = nullptr;  ///< of `run`
  int64_t width = 0;             ///< numbers of a vector before `dimensions`; 0: not known before a call
  int64_t dimensions = 0;        ///< only the first so many; 0: all
  bool head = false;             ///< the entry `head` comes after the pooling
  bool includePrompt = true;     ///< tokens of the prompt count in the pooling
  bool strips = false;           ///< blanks around a text are left out
  bool lowers = false;           ///< a text becomes lower case
  bool normalizes = false;       ///< the model's own vectors have length 1
  std::optional<bool> normalize; ///< what the caller wants: length 1 after `dimensions`, or never
  std::string prompt;            ///< in front of each text
  size_t promptTokens = 0;       ///< tokens of a text that are its prompt's

  /// The model's own way. An error if its outputs are no vectors.
  static Status of(const Card &card, VectorPlan &plan);
  /// Kinds joined by `+`, or `pooled`, the model's own output of a vector a text. Errors: an unknown kind, a model
  /// without such an output, another number of kinds than `head` takes.
  Status choosePooling(const Card &card, std::string_view kinds);
  /// An error with the nearest name, if the model has no such prompt.
  Status choosePrompt(const Card &card, const std::string &name);
  /// An error beyond the width.
  Status chooseDimensions(int64_t count);
  /// Counts `promptTokens`; called when the prompt is known.
  Status measurePrompt(const Tokenizer &tokenizer);

  /// The text that is tokenized for `text`.
  std::string whole(std::string_view text) const;
};

/// Tokens of one text. `whole`: how many it would have if nothing were cut. Errors: those of `checkTokens`, and where
/// it is cut, unless `truncates`.
Status encodeForVector(const Model &model, const Tokenizer &tokenizer, const VectorPlan &plan, std::string_view text,
                       bool truncates, std::vector<Token> &tokens, size_t &whole);

/// One text of a batch, and its vector.
struct VectorRow {
  const VectorPlan *plan;
  int64_t row;   ///< in the batch
  size_t tokens; ///< its own
  Status status; ///< a NaN or an infinity among its numbers
  std::vector<float> vector;
};

/// Makes the vectors of rows of a batch that was computed. Errors of one text are in its row.
Status makeVectors(Model &model, const EncoderBatch &batch, std::vector<VectorRow> &rows);

/// How alike two vectors are by `name` (cosine, dot, euclidean, manhattan), the larger the more.
double similarity(std::string_view name, const std::vector<float> &a, const std::vector<float> &b);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ENCODE_VECTORS_H
