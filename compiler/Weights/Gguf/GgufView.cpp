// A matrix is rows, so any order of rows is a matter of which row is read. For models with rotary positions llama.cpp
// stores the rows of a head of queries or keys as pairs (0, D/2, 1, D/2 + 1 ...).
#include "compiler/Weights/Gguf/GgufView.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Gguf/GgufNames.h"
#include "compiler/Weights/Gguf/GgufTensors.h"

namespace heddle {
namespace {

/// Makes the tensors of one file.
class Viewer {
public:
  Viewer(const GgufFile &file, llvm::StringRef architecture, GgufView &view)
      : file(file), architecture(architecture), view(view) {}

  absl::Status add(const GgufTensor &tensor);

private:
  std::optional<int64_t> number(llvm::StringRef key) const {
    const GgufValue *value = file.find((architecture + "." + key).str());
    return value ? value->integer() : std::nullopt;
  }
  /// The numbers of `X.scale` next to `X.weight`: one for a matrix, or one for each expert.
  absl::StatusOr<std::vector<float>> factors(const GgufTensor &tensor) const;
  /// Whether the tensor belongs to another: `X.scale` is read with `X.weight`, `X.input_scale` is not needed.
  bool belongsToAnother(const GgufTensor &tensor);

  const GgufFile &file;
  llvm::StringRef architecture;
  GgufView &view;
};

absl::StatusOr<std::vector<float>> Viewer::factors(const GgufTensor &tensor) const {
  size_t count = tensor.shape.size() == 3 ? size_t(tensor.shape[0]) : 1;
  std::vector<float> all(count, 1.0f);
  llvm::StringRef stem = tensor.name;
  const GgufTensor *scale = stem.consume_back(".weight") ? file.tensor((stem + ".scale").str()) : nullptr;
  if (!scale)
    return all;
  GgufSource source(file, *scale);
  int64_t rows = 1;
  for (int64_t n : llvm::ArrayRef<int64_t>(scale->shape).drop_back())
    rows *= n;
  if (isWhole(scale->type) || uint64_t(rows) * uint64_t(source.features) != count)
    return file.damaged(*scale, std::to_string(rows * source.features) + " numbers scale `" + printable(tensor.name) +
                                    "`, " + std::to_string(count) + " are needed");
  if (absl::Status status = source.readRows(0, all); !status.ok())
    return status;
  return all;
}

bool Viewer::belongsToAnother(const GgufTensor &tensor) {
  auto [stem, kind] = llvm::StringRef(tensor.name).rsplit('.');
  if ((kind != "scale" && kind != "input_scale") || !file.tensor((stem + ".weight").str()))
    return false;
  if (kind == "input_scale")
    view.unneeded.push_back(tensor.name);
  return true;
}

absl::Status Viewer::add(const GgufTensor &tensor) {
  if (belongsToAnother(tensor))
    return absl::OkStatus();
  std::optional<GgufName> to = nameOfGguf(architecture, tensor.name);
  if (!to) // so that it is told as one that nothing reads
    to = GgufName{tensor.name, GgufChange::None};
  if (to->name.empty()) {
    view.unneeded.push_back(tensor.name);
    return absl::OkStatus();
  }
  StoredTensor stored = file.stored(tensor);
  if (isWhole(tensor.type))
    return file.damaged(tensor, std::string("the tensor has whole numbers (") + rowOf(tensor.type).name +
                                    "), real ones are needed");
  bool vector = tensor.shape.size() == 1, experts = to->change == GgufChange::Experts;
  if (tensor.shape.size() != (vector ? 1u : experts ? 3u : 2u))
    return wrongShape(stored, std::string(experts ? "[experts, rows, features]" : "[rows, features]") + " is needed");
  if (to->change == GgufChange::PlusOne && !vector)
    return wrongShape(stored, "the weight of a norm is needed, one dimension");
  int64_t rows = vector ? tensor.shape[0] : tensor.shape[tensor.shape.size() - 2], head = 0;
  if (to->change == GgufChange::QueryRows || to->change == GgufChange::KeyRows) {
    std::optional<int64_t> heads = number("attention.head_count"), keys = number("attention.head_count_kv");
    if (to->change == GgufChange::KeyRows && keys)
      heads = keys;
    if (!heads || *heads < 1 || rows % *heads || rows / *heads % 2)
      return wrongPiece(stored, "the number of heads, " + (heads ? std::to_string(*heads) : std::string("unsaid")) +
                                    ", does not divide its " + std::to_string(rows) + " rows into pairs");
    head = rows / *heads;
  }
  absl::StatusOr<std::vector<float>> factor = factors(tensor);
  if (!factor.ok())
    return factor.status();
  GgufSource source(file, tensor, factor->front());
  if (to->change == GgufChange::OneRow && vector)
    view.matrices.push_back(ggufMatrix(to->name, source, {0, 1, 0}));
  else if (vector)
    view.matrices.push_back(ggufVector(to->name, source, head, to->change == GgufChange::PlusOne));
  else if (!experts)
    view.matrices.push_back(ggufMatrix(to->name, source, {0, rows, head}));
  for (int64_t e = 0; experts && e < tensor.shape[0]; ++e) {
    if (tensor.shape[0] > 4096)
      return wrongShape(stored, "at most 4096 experts are read");
    auto [before, behind] = llvm::StringRef(to->name).split('@');
    source.factor = (*factor)[size_t(e)];
    view.matrices.push_back(ggufMatrix((before + std::to_string(e) + behind).str(), source, {e * rows, rows, 0}));
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<GgufView> openGguf(InputFile input) {
  absl::StatusOr<GgufFile> file = GgufFile::open(std::move(input));
  if (!file.ok())
    return file.status();
  absl::StatusOr<llvm::StringRef> architecture = file->architecture();
  if (!architecture.ok())
    return architecture.status();
  if (!isGgufArchitecture(*architecture))
    return file->unsupported("general.architecture",
                             "GGUF files of the architecture `" + printable(*architecture) +
                                 "` are not read; those of " + ggufArchitectures().str() + " are",
                             "take the safetensors files of the model it was made from");
  GgufView view;
  std::string prefix = (*architecture + ".").str();
  for (const auto &[key, value] : file->values())
    if (std::optional<double> number = value.number(); number && llvm::StringRef(key).starts_with(prefix))
      view.stated.push_back({file->path(), key, prefix.size(), *number, value.byte()});
  Viewer viewer(*file, *architecture, view);
  for (const GgufTensor &tensor : file->tensors())
    if (absl::Status status = viewer.add(tensor); !status.ok())
      return status;
  view.files = file->takeFiles();
  return view;
}

} // namespace heddle
