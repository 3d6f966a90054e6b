//===- Encoder.h - Texts through a model that reads them whole --*- C++ -*-===//
//
// Texts become the rows of one batch, padded on the right to the longest, and
// one call of `run` computes them. A row's numbers are those that it has alone,
// wherever `provePadding` says so.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ENCODE_ENCODER_H
#define HEDDLE_RUNTIME_ENCODE_ENCODER_H

#include "runtime/Core/EntryCall.h"
#include "runtime/Tokenizer/TextIn.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <functional>

namespace heddle::rt {

/// Encodes one text or a pair into tokens without padding. What is longer than the tokenizer of an encoder keeps is cut
/// with a note of both lengths, or an error unless `truncates`. Errors: a model that takes no text, no tokens, or more
/// than it has positions for.
Status encodeTexts(const Model &model, const Tokenizer &tokenizer, const Texts &texts, bool truncates,
                   std::vector<Token> &tokens);
/// The same; `whole` becomes the number of tokens that there would be if nothing were cut, which is no error.
Status encodeWhole(const Model &model, const Tokenizer &tokenizer, const Texts &texts, std::vector<Token> &tokens,
                   size_t &whole);
/// The error of a text that would be cut to `kept` tokens.
Status tooLong(size_t whole, size_t kept);
/// The last two of these errors, for tokens from elsewhere.
Status checkTokens(const Model &model, const std::vector<Token> &tokens);

/// Of a batch.
constexpr size_t kMostRows = 64, kMostTokens = 16384;
/// Where the batch that begins at `begin` ends. `lengths` are tokens of texts, ascending; with padding a batch has at
/// most `most` tokens. `mayPad`: whether texts of different lengths may share it.
size_t endOfBatch(const std::vector<size_t> &lengths, size_t begin, size_t most, const std::function<bool()> &mayPad);

using TokenRows = std::vector<const std::vector<Token> *>;

class EncoderBatch {
public:
  /// Calls `run` on `rows`, and on `media`, inputs made from files, which it
  /// takes over; the model must have been started. Errors: an input that
  /// neither gives, not enough memory.
  Status compute(Model &model, const TokenRows &rows, std::vector<Tensor> media = {});

  int64_t rows() const { return count; }
  /// Tokens of the longest row; 0 if there are none.
  int64_t width() const { return longest; }
  /// An output in f32 whose first axis is the rows; null if there is none of
  /// this name.
  const Tensor *output(const char *name) const;
  /// Where the part of an output begins that belongs to a row.
  const float *rowOf(const Tensor &output, int64_t row) const {
    return output.data.as<float>() + output.count() / count * row;
  }

private:
  Status addTokens(const Entry &run, const TokenRows &rows, std::vector<Tensor> &given);

  CallMemory memory;
  EntryCall call;
  int64_t count = 1, longest = 0;
};

/// Whether texts of different lengths may share a batch: `run` has a mask for
/// them and depends on the length in no other way than by axes, and a text has
/// the same bits alone and padded, which is tried.
Status provePadding(Model &model, const Tokenizer &tokenizer, bool &proven);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_ENCODE_ENCODER_H
