// Rows are computed in blocks that fit the caches. The order of all sums is fixed, so the result depends neither on the
// block nor on how the tensor is read.
#include "compiler/Weights/Adapter/MergedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include <cmath>
#include <cstring>

namespace heddle {

static constexpr size_t blockNumbers = size_t(1) << 18; // 2 MiB of f64
static constexpr size_t keptNumbers = size_t(8) << 20;  // 64 MiB of f64
static constexpr size_t fewestKept = 2;                 // both factors of a product

/// Elements [first, first + to.size()) of a stored tensor, as they are stored.
static absl::Status readF64(const SafetensorsFile &file, const TensorRecord &record, uint64_t first,
                            llvm::MutableArrayRef<double> to) {
  if (record.type == StoredType::F64)
    return file.readBytes(record, first * 8, {reinterpret_cast<uint8_t *>(to.data()), to.size() * 8});
  std::vector<float> piece(std::min(to.size(), blockNumbers));
  while (!to.empty()) {
    llvm::MutableArrayRef<float> some(piece.data(), std::min(to.size(), piece.size()));
    if (absl::Status status = file.readF32(record, first, some); !status.ok())
      return status;
    std::copy(some.begin(), some.end(), to.begin());
    to = to.drop_front(some.size());
    first += some.size();
  }
  return absl::OkStatus();
}

absl::StatusOr<FactorReader::Numbers> FactorReader::read(const TensorRecord &record) {
  for (auto it = kept.begin(); it != kept.end(); ++it)
    if (it->first == &record) {
      kept.splice(kept.begin(), kept, it);
      return it->second;
    }
  auto numbers = std::make_shared<std::vector<double>>(record.elements());
  if (absl::Status status = readF64(file, record, 0, *numbers); !status.ok())
    return status;
  for (size_t i = 0; i < numbers->size(); ++i)
    if (!std::isfinite((*numbers)[i]))
      return toStatus(WeightProblem{Error::BadAdapter, "",
                                    "element " + std::to_string(i) + " of the adapter's tensor is " +
                                        (std::isnan((*numbers)[i]) ? "NaN" : "infinite"),
                                    file.path(), record.byte + i * width(record.type), printable(record.name),
                                    "the training of this adapter diverged, or the file is damaged: take another one"});
  kept.emplace_front(&record, numbers);
  size_t all = 0, count = 0;
  for (auto it = kept.begin(); it != kept.end();) {
    all += it->second->size();
    it = ++count > fewestKept && all > keptNumbers ? kept.erase(it) : std::next(it);
  }
  return kept.front().second;
}

/// A tensor under the name that the store lists.
static CodedPieces called(std::string name) {
  return CodedPieces(name, name, [](llvm::StringRef) { return nullptr; });
}

MergedTensor::MergedTensor(std::string name, const StoredTensor &source, std::vector<TensorChange> changes,
                           std::shared_ptr<FactorReader> factors)
    : CodedTensor(called(std::move(name)), source, source.shape().vec(), "merged with an adapter"), source(source),
      changes(std::move(changes)), factors(std::move(factors)) {}

StoredType MergedTensor::sourceType() const {
  const MergedTensor *before = source.coded ? source.coded->merged() : nullptr;
  return before ? before->sourceType() : source.type();
}

absl::Status MergedTensor::refuse(int64_t row, int64_t column, std::string what) const {
  return toStatus(WeightProblem{
      Error::BadAdapter, "", "element " + std::to_string(row * features() + column) + " " + std::move(what),
      source.file->path(), source.byteOf(uint64_t(row * features() + column)), printable(record().name),
      "the adapter is damaged, or belongs to another base or another revision of it"});
}

absl::Status MergedTensor::readSource(int64_t first, llvm::MutableArrayRef<double> to) const {
  if (!source.coded)
    return readF64(*source.file, *source.record, uint64_t(first * features()), to);
  if (const MergedTensor *before = source.coded->merged())
    return before->readWide(first, to, before->changes.size());
  std::vector<float> narrow(to.size());
  absl::Status status = source.coded->readF32(uint64_t(first * features()), narrow);
  std::copy(narrow.begin(), narrow.end(), to.begin());
  return status;
}

absl::Status MergedTensor::readWide(int64_t first, llvm::MutableArrayRef<double> to, size_t count) const {
  if (absl::Status status = readSource(first, to); !status.ok())
    return status;
  for (size_t i = 0; i < count; ++i) {
    absl::Status status;
    if (const auto *product = std::get_if<ProductChange>(&changes[i]))
      status = apply(*product, first, to);
    else if (const auto *lengths = std::get_if<LengthChange>(&changes[i]))
      status = apply(*lengths, i, first, to);
    else if (const auto *rows = std::get_if<RowChange>(&changes[i]))
      status = apply(*rows, first, to);
    else
      status = apply(std::get<VectorChange>(changes[i]), to);
    if (!status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status MergedTensor::readRows(int64_t first, llvm::MutableArrayRef<float> to) const {
  int64_t k = features(), atOnce = std::max<int64_t>(int64_t(blockNumbers) / std::max<int64_t>(k, 1), 1);
  std::vector<double> wide;
  for (int64_t rows = int64_t(to.size()) / std::max<int64_t>(k, 1); rows > 0;) {
    int64_t count = std::min(rows, atOnce);
    wide.resize(size_t(count * k));
    if (absl::Status status = readWide(first, wide, changes.size()); !status.ok())
      return status;
    for (int64_t i = 0; i < count * k; ++i) {
      to[i] = float(wide[i]);
      if (!std::isfinite(to[i]))
        return refuse(first + i / k, i % k, "of the merged tensor is no finite number");
    }
    to = to.drop_front(size_t(count * k));
    first += count;
    rows -= count;
  }
  return absl::OkStatus();
}

//===--- the changes -----------------------------------------------------------===//

/// rows[n, k] += scale * left[n, rank] right[rank, k]. Sums over the rank run in its order.
static void addProduct(double *rows, int64_t n, int64_t k, const double *left, const double *right, int64_t rank,
                       double scale) {
  constexpr int64_t tile = 256;
  double sums[tile];
  for (int64_t begin = 0; begin < k; begin += tile) {
    int64_t count = std::min(tile, k - begin);
    for (int64_t i = 0; i < n; ++i) {
      std::fill_n(sums, count, 0.0);
      const double *x = left + i * rank;
      int64_t j = 0;
      for (; j + 4 <= rank; j += 4) {
        const double *r0 = right + j * k + begin, *r1 = r0 + k, *r2 = r1 + k, *r3 = r2 + k;
        for (int64_t c = 0; c < count; ++c)
          sums[c] = (((sums[c] + x[j] * r0[c]) + x[j + 1] * r1[c]) + x[j + 2] * r2[c]) + x[j + 3] * r3[c];
      }
      for (; j < rank; ++j)
        for (int64_t c = 0; c < count; ++c)
          sums[c] += x[j] * right[j * k + begin + c];
      double *to = rows + i * k + begin;
      for (int64_t c = 0; c < count; ++c)
        to[c] += scale * sums[c];
    }
  }
}

absl::Status MergedTensor::apply(const ProductChange &change, int64_t first, llvm::MutableArrayRef<double> rows) const {
  absl::StatusOr<FactorReader::Numbers> left = factors->read(*change.left.record);
  if (!left.ok())
    return left.status();
  absl::StatusOr<FactorReader::Numbers> right = factors->read(*change.right.record);
  if (!right.ok())
    return right.status();
  int64_t k = features(), n = int64_t(rows.size()) / k;
  std::vector<double> l, r(size_t(change.rank * k));
  for (int64_t done = 0; done < n;) {
    int64_t expert = (first + done) / change.rowsOfExpert, row = (first + done) % change.rowsOfExpert;
    int64_t count = std::min(n - done, change.rowsOfExpert - row);
    l.resize(size_t(count * change.rank));
    const double *from = (*left)->data() + change.left.first + expert * change.left.expert;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < change.rank; ++j)
        l[i * change.rank + j] = from[(row + i) * change.left.row + j * change.left.rank];
    from = (*right)->data() + change.right.first + expert * change.right.expert;
    for (int64_t j = 0; j < change.rank; ++j)
      for (int64_t c = 0; c < k; ++c)
        r[j * k + c] = from[c * change.right.row + j * change.right.rank];
    addProduct(rows.data() + done * k, count, k, l.data(), r.data(), change.rank, change.scale);
    done += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<const std::vector<double> *> MergedTensor::columnLengths(size_t place) const {
  auto [it, fresh] = lengthsOfColumns.try_emplace(place);
  if (!fresh)
    return &it->second;
  int64_t k = features(), atOnce = std::max<int64_t>(int64_t(blockNumbers) / k, 1);
  std::vector<double> squares(size_t(k), 0), block;
  for (int64_t first = 0; first < rows(); first += atOnce) {
    block.resize(size_t(std::min(atOnce, rows() - first) * k));
    if (absl::Status status = readWide(first, block, place); !status.ok()) {
      lengthsOfColumns.erase(it);
      return status;
    }
    for (size_t i = 0; i < block.size(); ++i)
      squares[i % size_t(k)] += block[i] * block[i];
  }
  for (double &square : squares)
    square = std::sqrt(square);
  it->second = std::move(squares);
  return &it->second;
}

absl::Status MergedTensor::apply(const LengthChange &change, size_t place, int64_t first,
                                 llvm::MutableArrayRef<double> rows) const {
  absl::StatusOr<FactorReader::Numbers> wanted = factors->read(*change.lengths);
  if (!wanted.ok())
    return wanted.status();
  int64_t k = features(), n = int64_t(rows.size()) / k;
  const std::vector<double> *columns = nullptr;
  if (change.ofColumns) {
    absl::StatusOr<const std::vector<double> *> lengths = columnLengths(place);
    if (!lengths.ok())
      return lengths.status();
    columns = *lengths;
  }
  for (int64_t i = 0; i < n; ++i) {
    double *row = rows.data() + i * k, square = 0;
    for (int64_t c = 0; c < k && !columns; ++c)
      square += row[c] * row[c];
    for (int64_t c = 0; c < k; ++c) {
      double length = columns ? (*columns)[size_t(c)] : std::sqrt(square);
      if (length == 0)
        return refuse(first + i, c,
                      "is in a row (or column) of zeros, which cannot get the length that the adapter has");
      row[c] *= (**wanted)[size_t(columns ? c : first + i)] / length;
    }
  }
  return absl::OkStatus();
}

absl::Status MergedTensor::apply(const RowChange &change, int64_t first, llvm::MutableArrayRef<double> rows) const {
  int64_t k = features(), n = int64_t(rows.size()) / k;
  for (size_t i = 0; i < change.rows.size(); ++i) {
    int64_t row = change.rows[i] - first;
    if (row < 0 || row >= n)
      continue;
    absl::StatusOr<FactorReader::Numbers> values = factors->read(*change.values);
    if (!values.ok())
      return values.status();
    std::copy_n((*values)->data() + int64_t(i) * k, k, rows.data() + row * k);
  }
  return absl::OkStatus();
}

absl::Status MergedTensor::apply(const VectorChange &change, llvm::MutableArrayRef<double> rows) const {
  absl::StatusOr<FactorReader::Numbers> values = factors->read(*change.values);
  if (!values.ok())
    return values.status();
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] += change.scale * (**values)[i];
  return absl::OkStatus();
}

} // namespace heddle
