// All weights of a model: one file, several files, or a Hugging Face directory
// (whole or sharded). Names and shapes at once; bytes only on demand, never a
// whole file. Of a quantised checkpoint, and of a GGUF file, the store lists
// each matrix as the real tensor that its pieces stand for; of a model with adapters, each tensor with what they
// change.
#ifndef HEDDLE_COMPILER_WEIGHTS_WEIGHTSTORE_H
#define HEDDLE_COMPILER_WEIGHTS_WEIGHTSTORE_H

#include "compiler/Weights/Files/StatedNumber.h"
#include "compiler/Weights/Safetensors/StoredTensor.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

namespace heddle {

class CodedTensor;
struct AdapterChoice;
struct AdapterView;
struct ShardIndex;
struct CodedScheme;

class WeightStore {
public:
  WeightStore();
  WeightStore(WeightStore &&);
  WeightStore &operator=(WeightStore &&);
  ~WeightStore();

  /// `path`: a .safetensors file, a .safetensors.index.json, a GGUF file, or a directory
  /// that holds model.safetensors or model.safetensors.index.json.
  static absl::StatusOr<WeightStore> open(llvm::StringRef path, const HeaderLimits &limits = {});
  /// Opens files named one by one (the attribute `model.weights`); an error if
  /// a name is in two of them and the first is no index, which chooses.
  static absl::StatusOr<WeightStore> openFiles(llvm::ArrayRef<std::string> paths, const HeaderLimits &limits = {});
  /// The same, with the coded matrices in the place of their pieces: `scheme` is the text of a CodedScheme (the
  /// attribute `model.quantised`), empty where nothing is quantised. Then `adapters` are merged (`model.adapters`).
  static absl::StatusOr<WeightStore> openCoded(llvm::ArrayRef<std::string> paths, llvm::StringRef scheme,
                                               llvm::ArrayRef<AdapterChoice> adapters = {});
  /// Adds the tensors of a safetensors file, each under PREFIX.NAME; an error if there is one of that name.
  absl::Status addModule(llvm::StringRef prefix, llvm::StringRef path);

  /// Puts the coded matrices in the place of their pieces. Reads headers, and the few tensors that shapes depend on.
  absl::Status decode(const CodedScheme &scheme);
  /// Merges adapters, one after the other, each into what the last one left. Reads their configs and headers; their
  /// files are none of `files`.
  absl::Status adapt(llvm::ArrayRef<AdapterChoice> adapters);
  /// After `decode`: names of tensors that the checkpoint has and that are not needed (scales of activations).
  llvm::ArrayRef<std::string> unneeded() const { return notNeeded; }
  /// What an index says of its shards that is not so, and does no harm, and what adapters are remarked for, in words.
  llvm::ArrayRef<std::string> remarks() const { return said; }
  /// Whether the index of the shards does not list a tensor, which is then read only where the model needs it.
  bool isUnlisted(llvm::StringRef name) const { return unlisted.contains(name); }
  /// What files of the store say of the model, by file and key.
  llvm::ArrayRef<StatedNumber> stated() const { return statedNumbers; }

  /// Ordered by name.
  llvm::ArrayRef<StoredTensor> tensors() const { return table; }
  std::vector<llvm::StringRef> names() const;
  /// What a tensor is called in its file, for messages: of a GGUF file `blk.0.attn_q.weight`, where there may be no
  /// such tensor in it; of other files the name itself.
  std::string nameInFile(llvm::StringRef name) const;
  /// The files in the order they were opened (shards by name); before them the index, where a tensor is in two shards.
  /// A split GGUF file counts as its first part.
  std::vector<std::string> files() const;

  /// Null if there is no such tensor. `NAME[e]` is element e of `NAME` along its first axis, where no tensor has that
  /// name itself; threads may ask at the same time.
  const StoredTensor *find(llvm::StringRef name) const;
  /// An error with the nearest name if there is no such tensor (rule S26).
  absl::StatusOr<const StoredTensor *> get(llvm::StringRef name) const;

  /// Reads the elements [first, first + to.size()) in row-major order, widened.
  absl::Status readF32(const StoredTensor &tensor, uint64_t first, llvm::MutableArrayRef<float> to) const;
  absl::Status readI64(const StoredTensor &tensor, uint64_t first, llvm::MutableArrayRef<int64_t> to) const {
    return tensor.file->readI64(*tensor.record, first, to);
  }
  /// The bytes as they are; not of codes.
  absl::Status readBytes(const StoredTensor &tensor, uint64_t first, llvm::MutableArrayRef<uint8_t> to) const {
    return tensor.file->readBytes(*tensor.record, first, to);
  }

  /// Same shape, same type and same bytes (of codes: same elements): a tied copy.
  absl::StatusOr<bool> equal(const StoredTensor &a, const StoredTensor &b) const;

  /// An error if any file changed since it was opened; call it after the last
  /// read.
  absl::Status recheck() const;

private:
  static absl::StatusOr<WeightStore> openSharded(int directory, llvm::StringRef directoryPath, llvm::StringRef name,
                                                 const HeaderLimits &limits);
  void adopt(SafetensorsFile file);
  void place(const ShardIndex &index, llvm::StringRef shown, llvm::ArrayRef<const SafetensorsFile *> shards);
  /// Opens a file, of either container, and takes its tensors in.
  absl::Status adoptFile(llvm::StringRef path, const HeaderLimits &limits);
  absl::Status index();
  const StoredTensor *findStored(llvm::StringRef name) const;
  const StoredTensor *findElement(llvm::StringRef name) const;

  std::vector<std::unique_ptr<SafetensorsFile>> opened;
  std::vector<StoredTensor> table;
  std::vector<std::unique_ptr<CodedTensor>> coded;
  std::vector<std::unique_ptr<AdapterView>> adapters;
  std::vector<std::string> notNeeded;
  std::vector<std::string> said;
  llvm::StringSet<> unlisted;
  llvm::SmallPtrSet<const SafetensorsFile *, 4> parts; ///< of split GGUF files, but the first
  std::string chooser;                                 ///< the index, where it chooses between copies of a tensor
  std::vector<StatedNumber> statedNumbers;
  struct GgufNames;
  std::unique_ptr<GgufNames> storedNames; ///< of a GGUF file
  struct Elements;
  std::unique_ptr<Elements> elements;                                         ///< those that were asked for
  std::vector<std::unique_ptr<std::pair<std::string, TensorRecord>>> renamed; ///< records of `addModule`, with names
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_WEIGHTSTORE_H
