// A tensor of the base with what adapters change of it, computed when rows are read: sums in f64 of the numbers as they
// are stored, rounded once to f32. In memory are the rows that are read and the factors of the products.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_MERGEDTENSOR_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_MERGEDTENSOR_H

#include "compiler/Weights/Coded/CodedTensor.h"
#include <list>
#include <map>
#include <variant>

namespace heddle {

/// Reads tensors of an adapter whole, as f64, and keeps the last ones: a matrix is read in strips, and all experts of a
/// layer share two factors. A number that is not finite is an error with its place.
class FactorReader {
public:
  using Numbers = std::shared_ptr<const std::vector<double>>;
  explicit FactorReader(const SafetensorsFile &file) : file(file) {}

  absl::StatusOr<Numbers> read(const TensorRecord &record);

private:
  const SafetensorsFile &file;
  std::list<std::pair<const TensorRecord *, Numbers>> kept; ///< the last one used first
};

/// Adds scale * L R to the rows of a tensor. Of rows in stacks of experts each stack has its own L and R.
struct ProductChange {
  /// Row i of L [rows, rank] and row j of R [rank, columns] inside a factor: element (i, j) of an expert e is number
  /// `first + e * expert + i * row + j * rank`, and (j, c) likewise with `row` for the columns.
  struct Factor {
    const TensorRecord *record;
    int64_t first, expert, row, rank;
  };
  Factor left, right;
  int64_t rank;
  double scale;
  int64_t rowsOfExpert; ///< rows that share an expert
};

/// DoRA: gives each row, or each column, the length that the adapter stores.
struct LengthChange {
  const TensorRecord *lengths;
  bool ofColumns;
};

/// Replaces some rows.
struct RowChange {
  const TensorRecord *values; ///< [rows.size(), columns]
  std::vector<int64_t> rows;
};

/// Adds scale * v to a vector.
struct VectorChange {
  const TensorRecord *values;
  double scale;
};

using TensorChange = std::variant<ProductChange, LengthChange, RowChange, VectorChange>;

class MergedTensor final : public CodedTensor {
public:
  /// `source`: what the changes are made to, in their order; it has the shape of the result. `factors` reads what they
  /// name.
  MergedTensor(std::string name, const StoredTensor &source, std::vector<TensorChange> changes,
               std::shared_ptr<FactorReader> factors);

  const MergedTensor *merged() const override { return this; }
  /// How the tensor of the base is stored, or what replaces it.
  StoredType sourceType() const;
  bool rowsAreOutputs() const override { return source.coded && source.coded->rowsAreOutputs(); }

private:
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override;
  /// Rows [first, first + to.size() / features()) after the first `count` changes.
  absl::Status readWide(int64_t first, llvm::MutableArrayRef<double> to, size_t count) const;
  absl::Status readSource(int64_t first, llvm::MutableArrayRef<double> to) const;
  absl::Status apply(const ProductChange &change, int64_t first, llvm::MutableArrayRef<double> rows) const;
  absl::Status apply(const LengthChange &change, size_t place, int64_t first, llvm::MutableArrayRef<double> rows) const;
  absl::Status apply(const RowChange &change, int64_t first, llvm::MutableArrayRef<double> rows) const;
  absl::Status apply(const VectorChange &change, llvm::MutableArrayRef<double> rows) const;
  /// The lengths of all columns after the changes before `place`; computed once.
  absl::StatusOr<const std::vector<double> *> columnLengths(size_t place) const;
  absl::Status refuse(int64_t row, int64_t column, std::string what) const;

  StoredTensor source;
  std::vector<TensorChange> changes;
  std::shared_ptr<FactorReader> factors;
  mutable std::map<size_t, std::vector<double>> lengthsOfColumns;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_MERGEDTENSOR_H
