// Packing a matrix of codes: a panel at a time, in the stream that kernels read (WeightLayout.h, struct Coding).
#ifndef HEDDLE_COMPILER_WEIGHTS_PACK_PACKCODED_H
#define HEDDLE_COMPILER_WEIGHTS_PACK_PACKCODED_H

#include "compiler/Weights/Coded/CodedMatrix.h"
#include "compiler/Weights/Pack/Pack.h"

namespace heddle {

/// Gives the rows of a coded matrix: a quantised tensor of a file, or an ordinary one that is rounded when it is read.
class CodedSource {
public:
  virtual ~CodedSource() = default;
  /// Its `order` is known before any row is read.
  virtual const CodedForm &form() const = 0;
  /// Rows [first, first + count) of W[N, K].
  virtual absl::Status rows(int64_t first, int64_t count, CodedRows &to) = 0;
};

/// How a layout's codes are formed, without an order; and how codes of a form lie.
CodedForm formOf(const Coding &coding, int64_t k);
Coding codingOf(const CodedForm &form);
/// Whether codes of this form, of a matrix with k features, can be packed as `coding` says without being made again.
bool fits(const CodedForm &form, const Coding &coding, int64_t k);

/// The bytes of one panel: `rows` has up to `panel` rows of K features. Zeros after them, which mean 0.
void packPanel(const Coding &coding, int64_t panel, int64_t k, const CodedRows &rows, std::vector<uint8_t> &to);

/// Writes what `layout` takes of a matrix of n rows and k features. A source of another form is our mistake.
absl::Status packCoded(CodedSource &source, const WeightLayout &layout, int64_t n, int64_t k, ByteSink &sink);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACK_PACKCODED_H
