// A matrix W[N, K] stored as integer codes: how they mean numbers is a value (CodeFormat), and these are the codes.
// Both sources of codes give this form: the readers of quantised checkpoints (GPTQ, AWQ, GGUF ...) and the quantiser
// that rounds an ordinary matrix while it is packed. The packer takes codes from it; `GroupNumbers` gives numbers.
#ifndef HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMATRIX_H
#define HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMATRIX_H

#include "dialects/Model/IR/Coding.h"
#include <cstdint>
#include <vector>

namespace heddle {

/// The type that the scales of a matrix are stored in: the narrowest that holds each of them exactly.
using ScaleType = PackedType;

/// How a matrix is coded: the same for all of its rows.
struct CodedForm : CodeFormat {
  CodedForm() { bits = 8; }
  explicit CodedForm(const CodeFormat &format) : CodeFormat(format) {}
  /// The feature that is at place k where groups hold features that are not neighbours (GPTQ's g_idx); empty: k.
  std::vector<int32_t> order;
};

/// Some rows of such a matrix. Arrays are row-major; features are in `CodedForm::order`. `groups` and `scales` count
/// as in CodeFormat; what the form does not have is empty.
struct CodedRows {
  std::vector<uint8_t> codes;     ///< [rows][K], one code a byte
  std::vector<float> scales;      ///< [rows][scales]; two levels: d of a super-group
  std::vector<float> zeros;       ///< [rows][groups], whole numbers
  std::vector<float> minima;      ///< [rows][scales]; two levels: e, which is added
  std::vector<int8_t> subScales;  ///< [rows][groups]
  std::vector<uint8_t> subMinima; ///< [rows][groups]

  /// Adds the rows of `other`, which has the same form.
  void append(const CodedRows &other);
};

/// The numbers of one group of a row: (integer - zero) * scale + minimum, rounded once to f32. In two levels scale and
/// minimum are products that f32 holds exactly, and so is what the minimum is added to.
struct GroupNumbers {
  const CodeFormat &format;
  float scale = 0, zero = 0, minimum = 0;

  float value(uint8_t code) const {
    float product = (float(format.integer(code)) - zero) * scale;
    return format.minima ? product + minimum : product; // a product of -0 stays one
  }
  /// Of group `g` of row `r`, where a row has so many groups.
  static GroupNumbers of(const CodeFormat &format, const CodedRows &rows, int64_t r, int64_t g, int64_t groups);
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMATRIX_H
