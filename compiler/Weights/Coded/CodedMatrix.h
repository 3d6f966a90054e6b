// A matrix W[N, K] stored as integer codes: each group of features along K has a scale, and maybe a zero, of its own.
// Both sources of codes give this form: the readers of quantised checkpoints (GPTQ, AWQ ...) and the quantiser that
// rounds an ordinary matrix while it is packed. The packer takes codes from it; `value` gives numbers.
#ifndef HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMATRIX_H
#define HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMATRIX_H

#include <cstdint>
#include <vector>

namespace heddle {

/// The type that the scales of a matrix are stored in: the narrowest that holds each of them exactly.
enum class ScaleType : uint8_t { F16, BF16, F32 };

/// How a matrix is coded: the same for all of its rows.
struct CodedForm {
  unsigned bits = 8; ///< of a code: 4 or 8; codes of 2 and 3 bits are widened to 4
  int64_t group = 0; ///< features that share a scale; the last group of K may be shorter
  ScaleType scale = ScaleType::F16;
  bool zeros = false; ///< whether a group has a zero other than 0
  /// The feature that is at place k where groups hold features that are not neighbours (GPTQ's g_idx); empty: k.
  std::vector<int32_t> order;

  /// What a stored code is above the integer that it means: codes are stored unsigned.
  int64_t offset() const { return int64_t(1) << (bits - 1); }
  int64_t groups(int64_t k) const { return (k + group - 1) / group; }
};

/// Some rows of such a matrix. Arrays are row-major; features are in `CodedForm::order`.
struct CodedRows {
  std::vector<uint8_t> codes; ///< [rows][K], one code a byte
  std::vector<float> scales;  ///< [rows][groups]
  std::vector<float> zeros;   ///< [rows][groups], whole numbers; empty where the form has none
};

/// The number that a code means: (code - offset - zero) * scale, rounded once to f32.
inline float codedValue(const CodedForm &form, uint8_t code, float scale, float zero = 0) {
  return (float(int32_t(code) - int32_t(form.offset())) - zero) * scale;
}

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_CODED_CODEDMATRIX_H
