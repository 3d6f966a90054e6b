// What the importer needs to know of weights: names, shapes, element types. The implementation reads files; tests use
// PlainWeightTable.
#ifndef HEDDLE_COMPILER_IMPORT_WEIGHTS_WEIGHTTABLE_H
#define HEDDLE_COMPILER_IMPORT_WEIGHTS_WEIGHTTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

class DiagnosticSink;

/// A set of tensors by name, wherever they are stored.
class WeightTable {
public:
  enum class Element { Real, Integer, Bool };
  struct Tensor {
    std::vector<int64_t> shape;
    Element element = Element::Real;
    /// Rows are outputs whatever layout the description names: programs that quantise a matrix store it so.
    bool rowsAreOutputs = false;
  };

  virtual ~WeightTable() = default;
  virtual std::vector<std::string> names() const = 0;
  virtual std::optional<Tensor> find(llvm::StringRef name) const = 0;
  /// For messages: how a tensor is stored ("F32 [2, 3]"), and where ("model.safetensors, bytes 96 to 120").
  struct Storage {
    std::string type, place;
  };
  virtual Storage storage(llvm::StringRef name) const;
  /// What messages call a tensor, one that is there or is missing: its name in the file, which in GGUF files is
  /// another.
  virtual std::string nameInFile(llvm::StringRef name) const { return name.str(); }
  /// Whether two tensors are equal bit for bit; none if their bytes cannot be read, or are not to be.
  virtual std::optional<bool> equal(llvm::StringRef a, llvm::StringRef b) const = 0;
  /// Whether a tensor changes nothing if nothing reads it: a bias of zeros next to a quantised matrix, which older
  /// programs wrote to every module.
  virtual bool changesNothing(llvm::StringRef name) const { return false; }
  /// A number that the file states of its model next to the tensors, as GGUF files do; `key` is without the name of the
  /// architecture, `text` says which key of which file, and at which byte.
  struct Statement {
    std::string key;
    double value;
    std::string text;
  };
  virtual std::vector<Statement> statements() const { return {}; }
  /// The files for the attribute model.weights.
  virtual std::vector<std::string> files() const = 0;
};

/// "[2, 3]"
std::string shapeText(llvm::ArrayRef<int64_t> shape);

struct AdapterChoice;
struct CodedScheme;

/// Opens a file, an index or a directory; null after an error. Quantised matrices are in the table as the real ones
/// that they are, and tensors that adapters change as they are then. With `headersOnly` only headers are read.
std::unique_ptr<WeightTable> openWeights(llvm::StringRef path, const CodedScheme &scheme,
                                         llvm::ArrayRef<AdapterChoice> adapters, bool headersOnly,
                                         DiagnosticSink &sink);

/// A table with names and shapes, without data.
class PlainWeightTable : public WeightTable {
public:
  std::map<std::string, Tensor, std::less<>> tensors;
  /// Pairs that differ; every other pair of equal shape counts as equal.
  std::vector<std::pair<std::string, std::string>> different;

  std::vector<std::string> names() const override;
  std::optional<Tensor> find(llvm::StringRef name) const override;
  std::optional<bool> equal(llvm::StringRef a, llvm::StringRef b) const override;
  std::vector<std::string> files() const override { return {"weights.safetensors"}; }
};

} // namespace heddle

#endif // HEDDLE_COMPILER_IMPORT_WEIGHTS_WEIGHTTABLE_H
