//===- Padding.h - Rows of different lengths --------------------*- C++ -*-===//
//
// The rows of a batch have one length, and padding makes them so. Where a mask
// says what is padding, rows are turned so that all end in the last column.
// Where no mask says so, the id of padding does: rows are turned, too, where the
// compiler knows that a turned row is what it is alone; else each is computed
// without its padding, in a group with those of its length.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_GENERATE_PADDING_H
#define HEDDLE_RUNTIME_GENERATE_PADDING_H

#include "runtime/Generate/Prompt.h"

namespace heddle::rt {

/// Rotates rows that are padded on the right, by their mask or their spans, in every input along the step axis.
/// An error if such an input has not one value a token.
Status turnPadding(const Roles &roles, Prompt &prompt);

/// Finds padding by its id, at either end of the rows of a prompt without a mask:
/// makes the mask where the model takes one, else `prompt.spans`. Does nothing
/// where the model names no id of padding, or one that ends texts.
Status findPadding(const Card &card, Prompt &prompt);

/// `taken` becomes the rows `rows` of `prompt`, which has spans, without their
/// padding; all of them have one length. An error if an input reads the length
/// of the text elsewhere than in its last axis.
Status takeRows(const Card &card, const Prompt &prompt, const std::vector<int64_t> &rows, Prompt &taken);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_GENERATE_PADDING_H
