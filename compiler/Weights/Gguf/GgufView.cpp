// A matrix is rows of blocks, so any order of rows is a matter of which row is read; a vector is read whole. For models
// with rotary positions llama.cpp stores the rows of a head of queries or keys as pairs (0, D/2, 1, D/2 + 1 ...).
#include "compiler/Weights/Gguf/GgufView.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Gguf/GgufHeader.h"
#include "compiler/Weights/Gguf/GgufNames.h"
#include <cmath>
#include <cstring>

namespace heddle {
namespace {

/// Which rows of a stored tensor a matrix has, in which order.
struct Rows {
  int64_t first = 0, count = 0;
  int64_t head = 0; ///< rows of a head that are in rotary pairs; 0: rows are in order

  int64_t stored(int64_t row) const {
    if (!head)
      return first + row;
    int64_t within = row % head, half = head / 2;
    return first + row - within + within % half * 2 + within / half;
  }
};

constexpr llvm::StringLiteral typeWords[] = {"F32", "F16", "BF16", "Q8_0", "Q4_0"};
std::string kindOf(GgufType type) { return "gguf " + typeWords[unsigned(type)].str(); }

/// The tensor under its name here; `shape` may be a part of it.
CodedPieces named(std::string name) {
  return CodedPieces(name, name, [](llvm::StringRef) { return nullptr; });
}

/// Rows of F32, F16 or BF16.
class Numbers final : public CodedTensor {
public:
  Numbers(std::string name, const StoredTensor &stored, Rows rows, GgufType type)
      : CodedTensor(named(std::move(name)), stored, {rows.count, stored.shape().back()}, kindOf(type)), piece(stored),
        taken(rows) {}

private:
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    int64_t k = features();
    if (!taken.head)
      return piece.file->readF32(*piece.record, uint64_t(taken.first + first) * k, to);
    for (int64_t r = 0; r < int64_t(to.size()) / k; ++r) {
      uint64_t at = uint64_t(taken.stored(first + r)) * k;
      if (absl::Status status = piece.file->readF32(*piece.record, at, to.slice(r * k, k)); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  StoredTensor piece;
  Rows taken;
};

/// A vector: a bias, maybe of permuted rows, or a norm's weight, maybe with 1 added.
class Vector final : public CodedTensor {
public:
  Vector(std::string name, const StoredTensor &stored, int64_t head, bool plusOne, GgufType type)
      : CodedTensor(named(std::move(name)), stored, {stored.shape().back()}, kindOf(type)), piece(stored), head(head),
        plusOne(plusOne) {}

private:
  absl::Status readRows(int64_t, llvm::MutableArrayRef<float> to) const override {
    std::vector<float> all(to.size());
    if (absl::Status status = piece.file->readF32(*piece.record, 0, all); !status.ok())
      return status;
    Rows order{0, features(), head};
    for (size_t i = 0; i < all.size(); ++i)
      to[i] = plusOne ? all[i] - 1 : all[order.stored(i)];
    return absl::OkStatus();
  }

  StoredTensor piece;
  int64_t head;
  bool plusOne;
};

/// Rows of blocks of 32 codes with a scale each: Q8_0 or Q4_0.
class Blocks final : public IntegerCodes {
public:
  Blocks(std::string name, const StoredTensor &stored, Rows rows, GgufType type, int64_t k)
      : IntegerCodes(named(std::move(name)), stored, {rows.count, k}, kindOf(type)), piece(stored), taken(rows),
        eight(type == GgufType::Q8_0) {}

private:
  absl::StatusOr<Tables> load() const override {
    Tables tables;
    tables.groups = features() / 32;
    tables.form.bits = eight ? 8 : 4;
    tables.form.group = 32;
    tables.form.scale = ScaleType::F16;
    return tables;
  }
  absl::Status read(const Tables &tables, int64_t first, int64_t rows, CodedRows &to) const override {
    int64_t k = features(), groups = tables.groups, block = eight ? 34 : 18, line = groups * block;
    to.codes.resize(rows * k);
    to.scales.resize(rows * groups);
    std::vector<uint8_t> bytes(rows * line);
    int64_t atOnce = taken.head ? 1 : rows;
    for (int64_t r = 0; r < rows; r += atOnce) {
      absl::Status status = piece.file->readBytes(*piece.record, uint64_t(taken.stored(first + r)) * line,
                                                  {bytes.data() + r * line, size_t(atOnce * line)});
      if (!status.ok())
        return status;
    }
    for (int64_t b = 0; b < rows * groups; ++b) {
      const uint8_t *from = bytes.data() + b * block;
      uint8_t *codes = to.codes.data() + b * 32;
      widenToF32(StoredType::F16, from, to.scales[b]);
      if (!std::isfinite(to.scales[b]))
        return wrongPiece(piece, "the scale of block " + std::to_string(b % groups) + " of row " +
                                     std::to_string(taken.stored(first + b / groups)) + " is no finite number");
      for (int64_t i = 0; i < (eight ? 32 : 16); ++i)
        if (eight) {
          codes[i] = from[2 + i] ^ 0x80;
        } else {
          codes[i] = from[2 + i] & 15;
          codes[16 + i] = from[2 + i] >> 4;
        }
    }
    return absl::OkStatus();
  }

  StoredTensor piece;
  Rows taken;
  bool eight;
};

/// Lists the tensors as they are stored: blocks as rows of bytes.
SafetensorsHeader tableOf(const GgufHeader &header) {
  SafetensorsHeader table;
  table.storage = std::make_unique<llvm::BumpPtrAllocator>();
  for (const GgufTensor &t : header.tensors) {
    TensorRecord record;
    record.name = llvm::StringRef(t.name).copy(*table.storage);
    std::vector<int64_t> shape = t.shape;
    record.type = t.type == GgufType::F32    ? StoredType::F32
                  : t.type == GgufType::F16  ? StoredType::F16
                  : t.type == GgufType::BF16 ? StoredType::BF16
                                             : StoredType::U8;
    if (t.type == GgufType::Q8_0 || t.type == GgufType::Q4_0)
      shape.back() = shape.back() / 32 * (t.type == GgufType::Q8_0 ? 34 : 18);
    record.shape = llvm::ArrayRef<int64_t>(shape).copy(*table.storage);
    record.byte = t.byte;
    record.bytes = t.bytes;
    record.headerByte = t.headerByte;
    table.tensors.push_back(record);
  }
  return table;
}

/// Makes the tensors of one file.
class Viewer {
public:
  Viewer(const GgufHeader &header, GgufView &view) : header(header), view(view) {}

  absl::Status add(const GgufTensor &tensor, const StoredTensor &stored);

private:
  std::optional<int64_t> number(llvm::StringRef key) const {
    auto it = header.numbers.find(header.architecture + "." + key.str());
    return it == header.numbers.end() ? std::nullopt : it->second.integer();
  }
  void addMatrix(std::string name, const GgufTensor &tensor, const StoredTensor &stored, Rows rows) {
    bool blocks = tensor.type == GgufType::Q8_0 || tensor.type == GgufType::Q4_0;
    if (blocks)
      view.matrices.push_back(
          std::make_unique<Blocks>(std::move(name), stored, rows, tensor.type, tensor.shape.back()));
    else
      view.matrices.push_back(std::make_unique<Numbers>(std::move(name), stored, rows, tensor.type));
  }

  const GgufHeader &header;
  GgufView &view;
};

absl::Status Viewer::add(const GgufTensor &tensor, const StoredTensor &stored) {
  std::optional<GgufName> to = nameOfGguf(header.architecture, tensor.name);
  if (!to) // so that it is told as one that nothing reads
    to = GgufName{tensor.name, GgufChange::None};
  if (to->name.empty()) {
    view.unneeded.push_back(tensor.name);
    return absl::OkStatus();
  }
  bool vector = tensor.shape.size() == 1, experts = to->change == GgufChange::Experts;
  if (vector && (tensor.type == GgufType::Q8_0 || tensor.type == GgufType::Q4_0))
    return wrongPiece(stored, "a vector in blocks is not read");
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
  if (to->change == GgufChange::OneRow && vector)
    addMatrix(to->name, tensor, stored, {0, 1, 0});
  else if (vector)
    view.matrices.push_back(
        std::make_unique<Vector>(to->name, stored, head, to->change == GgufChange::PlusOne, tensor.type));
  else if (!experts)
    addMatrix(to->name, tensor, stored, {0, rows, head});
  for (int64_t e = 0; experts && e < tensor.shape[0]; ++e) {
    if (tensor.shape[0] > 4096)
      return wrongShape(stored, "at most 4096 experts are read");
    auto [before, behind] = llvm::StringRef(to->name).split('@');
    addMatrix((before + std::to_string(e) + behind).str(), tensor, stored, {e * rows, rows, 0});
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<GgufView> openGguf(InputFile file) {
  absl::StatusOr<GgufHeader> header = readGgufHeader(file);
  if (!header.ok())
    return header.status();
  if (!isGgufArchitecture(header->architecture))
    return toStatus(WeightProblem{Error::QuantisationUnsupported, "",
                                  "GGUF files of the architecture `" + printable(header->architecture) +
                                      "` are not read; those of " + ggufArchitectures().str() + " are",
                                  file.path(), 0, "", "take the safetensors files of the model it was made from"});
  GgufView view;
  std::string prefix = header->architecture + ".";
  for (const auto &[key, number] : header->numbers)
    if (llvm::StringRef(key).starts_with(prefix))
      view.stated.push_back({file.path(), key, prefix.size(), number.value, number.byte});
  view.file = std::make_unique<SafetensorsFile>(SafetensorsFile::of(std::move(file), tableOf(*header)));
  Viewer viewer(*header, view);
  for (size_t i = 0; i < header->tensors.size(); ++i) {
    StoredTensor stored{&view.file->header().tensors[i], view.file.get()};
    if (absl::Status status = viewer.add(header->tensors[i], stored); !status.ok())
      return status;
  }
  return view;
}

} // namespace heddle
