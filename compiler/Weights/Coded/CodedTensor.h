// A matrix that a checkpoint stores as codes, offered as the real tensor that it stands for: its name and shape
// [..., N, K] are those of the ordinary checkpoint, its elements are dequantised when they are read. One class a
// method; CodedMethods.cpp lists them. Where the codes are integers they can be taken out as they are, too.
#ifndef HEDDLE_COMPILER_WEIGHTS_CODED_CODEDTENSOR_H
#define HEDDLE_COMPILER_WEIGHTS_CODED_CODEDTENSOR_H

#include "absl/status/statusor.h"
#include "compiler/Weights/Coded/CodedMatrix.h"
#include "compiler/Weights/Coded/CodedPieces.h"
#include <optional>

namespace heddle {

class MergedTensor;

class CodedTensor {
public:
  virtual ~CodedTensor() = default;

  /// This tensor, where it is one of the base that an adapter changes; else null.
  virtual const MergedTensor *merged() const { return nullptr; }
  /// Whether rows are outputs whatever layout a description names: programs that quantise a matrix store it so.
  virtual bool rowsAreOutputs() const { return true; }

  /// As the store lists it: f32, at the place of the piece that holds the codes.
  const TensorRecord &record() const { return own; }
  /// Where the codes are.
  const SafetensorsFile *file() const { return home; }
  /// For messages: "gptq, 4 bits".
  const std::string &kind() const { return what; }
  /// All dimensions but the last, multiplied; and the last.
  int64_t rows() const { return rowCount; }
  int64_t features() const { return featureCount; }

  /// Elements [first, first + to.size()) in row-major order, each rounded once to f32.
  absl::Status readF32(uint64_t first, llvm::MutableArrayRef<float> to) const;

  /// How the integer codes are stored; none where the codes are no integers, or where groups of features are of unequal
  /// size. Reads what it has to know (g_idx, zeros), once.
  virtual absl::StatusOr<std::optional<CodedForm>> form() const;
  /// The codes of some rows, if there is a form.
  virtual absl::StatusOr<CodedRows> readCodes(int64_t first, int64_t rows) const;

protected:
  /// `pieces` names the tensor; its codes are in `codes`.
  CodedTensor(const CodedPieces &pieces, const StoredTensor &codes, std::vector<int64_t> shape, std::string what);

  /// Whole rows [first, first + to.size() / features()).
  virtual absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const = 0;
  absl::Status outside() const;

private:
  std::string name, what;
  std::vector<int64_t> shape;
  TensorRecord own;
  const SafetensorsFile *home;
  int64_t rowCount = 1, featureCount = 0;
};

/// A matrix of integer codes with a scale, and maybe a zero, for each group of features. A method says where codes,
/// scales and zeros are; the rest is the same for all of them.
class IntegerCodes : public CodedTensor {
public:
  absl::StatusOr<std::optional<CodedForm>> form() const override;
  absl::StatusOr<CodedRows> readCodes(int64_t first, int64_t rows) const override;

protected:
  using CodedTensor::CodedTensor;

  /// What is in tensors and concerns all rows; read once.
  struct Tables {
    CodedForm form; ///< `order` is filled in by the caller of `load`
    /// The group of each feature; empty: k / form.group.
    std::vector<int32_t> groupOf;
    /// Groups of features; form.groups(k) unless groups are of unequal size.
    int64_t groups = 0;
  };
  virtual absl::StatusOr<Tables> load() const = 0;
  /// Codes, scales and zeros of rows [first, first + rows); the features are in their own order.
  virtual absl::Status read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const = 0;

  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override;

private:
  absl::StatusOr<const Tables *> tables() const;
  /// Kept between reads; a store is used by one thread at a time.
  mutable std::optional<Tables> known;
  mutable bool equalGroups = true;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_CODED_CODEDTENSOR_H
