// bitsandbytes. 4 bits: bytes with the higher nibble first, over the matrix row by row, whatever type they are stored
// under; `weight.absmax` for each block of that order (64 codes, which may run over the ends of rows) and
// `weight.quant_map`, what the 16 codes mean; a JSON object, as the bytes of `weight.quant_state.bitsandbytes__nf4`,
// has the shape. With double quantisation absmax itself is codes of 8 bits. 8 bits: rows with a factor `SCB` / 127.
#include "compiler/Weights/Coded/CodedMethods.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/JsonCursor.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

namespace heddle {
namespace {

/// What the JSON object of a matrix says.
struct QuantState {
  std::vector<int64_t> shape;
  int64_t block = 0, nestedBlock = 0;
  double nestedOffset = 0;
};

/// Events of a SAX parser: `shape`, `blocksize`, `nested_blocksize`, `nested_offset`; other keys may hold anything.
class StateReader : public JsonCursor {
public:
  explicit StateReader(llvm::StringRef text) : JsonCursor(text) {}

  std::optional<QuantState> run() {
    if (!parse(*this) || !sawObject || text.find_first_not_of(llvm::StringRef(" \t\r\n\0", 5), end()) != text.npos)
      return std::nullopt;
    return state;
  }

  bool key(std::string &name) {
    if (depth == 1)
      current = name;
    return true;
  }
  bool number_unsigned(uint64_t value) {
    return value > uint64_t(std::numeric_limits<int64_t>::max()) ? false : whole(int64_t(value));
  }
  bool number_integer(int64_t value) { return whole(value); }
  bool number_float(double value, const std::string &) { return number(value); }
  bool string(std::string &) { return depth > 0; }
  bool null() { return depth > 0; }
  bool boolean(bool) { return depth > 0; }
  bool binary(std::vector<uint8_t> &) { return false; }
  bool start_object(size_t) {
    sawObject = true;
    return ++depth < 8;
  }
  bool start_array(size_t) { return depth > 0 && ++depth < 8; }
  bool end_object() { return --depth >= 0; }
  bool end_array() { return --depth >= 0; }
  bool parse_error(size_t, const std::string &, const Json::exception &) { return false; }

private:
  bool whole(int64_t value) {
    if (depth == 2 && current == "shape") {
      state.shape.push_back(value);
      return state.shape.size() <= 8;
    }
    if (depth == 1 && current == "blocksize")
      state.block = value;
    else if (depth == 1 && current == "nested_blocksize")
      state.nestedBlock = value;
    else
      return number(double(value));
    return true;
  }
  bool number(double value) {
    if (depth == 1 && current == "nested_offset")
      state.nestedOffset = value;
    return depth > 0;
  }

  QuantState state;
  std::string current;
  int depth = 0;
  bool sawObject = false;
};

class FourBits final : public CodedTensor {
public:
  struct Parts {
    const StoredTensor *codes, *map, *absmax, *nestedMap, *nestedAbsmax;
  };
  FourBits(const CodedPieces &pieces, Parts parts, QuantState state, std::string kind)
      : CodedTensor(pieces, *parts.codes, state.shape, std::move(kind)), codes(*parts.codes), map(*parts.map),
        absmax(*parts.absmax), state(std::move(state)) {
    if (parts.nestedAbsmax) {
      nestedMap = *parts.nestedMap;
      nestedAbsmax = *parts.nestedAbsmax;
    }
  }

private:
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override;
  absl::Status readAbsmax(int64_t first, llvm::MutableArrayRef<float> to) const;

  StoredTensor codes, map, absmax;
  std::optional<StoredTensor> nestedMap, nestedAbsmax;
  QuantState state;
};

absl::Status FourBits::readAbsmax(int64_t first, llvm::MutableArrayRef<float> to) const {
  if (!nestedAbsmax)
    return readScales(absmax, first, to);
  absl::StatusOr<std::vector<uint8_t>> inner = readBytes(absmax, first, to.size());
  if (!inner.ok())
    return inner.status();
  std::vector<float> means(256);
  if (absl::Status status = readScales(*nestedMap, 0, means); !status.ok())
    return status;
  int64_t from = first / state.nestedBlock, until = llvm::divideCeil(first + to.size(), state.nestedBlock);
  std::vector<float> outer(until - from);
  if (absl::Status status = readScales(*nestedAbsmax, from, outer); !status.ok())
    return status;
  float offset = float(state.nestedOffset);
  for (size_t i = 0; i < to.size(); ++i) {
    // Rounded twice, as the published program does: never one fused operation.
    volatile float product = means[(*inner)[i]] * outer[(first + i) / state.nestedBlock - from];
    to[i] = product + offset;
  }
  return absl::OkStatus();
}

absl::Status FourBits::readRows(int64_t first, llvm::MutableArrayRef<float> to) const {
  std::vector<float> means(16);
  if (absl::Status status = readScales(map, 0, means); !status.ok())
    return status;
  // Codes [begin, end) of the whole matrix.
  int64_t begin = first * features(), end = begin + int64_t(to.size());
  absl::StatusOr<std::vector<uint8_t>> bytes = readBytes(codes, begin / 2, llvm::divideCeil(end, 2) - begin / 2);
  if (!bytes.ok())
    return bytes.status();
  int64_t firstBlock = begin / state.block;
  std::vector<float> scales(llvm::divideCeil(end, state.block) - firstBlock);
  if (absl::Status status = readAbsmax(firstBlock, scales); !status.ok())
    return status;
  for (int64_t i = begin; i < end;) {
    float scale = scales[i / state.block - firstBlock];
    for (int64_t stop = std::min((i / state.block + 1) * state.block, end); i < stop; ++i)
      to[i - begin] = means[(*bytes)[i / 2 - begin / 2] >> (i % 2 ? 0 : 4) & 15] * scale;
  }
  return absl::OkStatus();
}

/// 8 bits: q * (SCB / 127), the factor in f64, rounded once.
class EightBits final : public IntegerCodes {
public:
  EightBits(const CodedPieces &pieces, const StoredTensor &codes, const StoredTensor &factors)
      : IntegerCodes(pieces, codes, {codes.shape()[0], codes.shape()[1]}, "bitsandbytes, 8 bits"), codes(codes),
        factors(factors) {}

private:
  absl::StatusOr<Tables> load() const override {
    Tables tables;
    tables.groups = 1;
    tables.form.bits = 8;
    tables.form.group = features();
    tables.form.scale = ScaleType::F32;
    return tables;
  }
  absl::Status read(const Tables &, int64_t first, int64_t rows, CodedRows &to) const override {
    absl::StatusOr<std::vector<uint8_t>> bytes = readBytes(codes, first * features(), rows * features());
    if (!bytes.ok())
      return bytes.status();
    to.codes = *std::move(bytes);
    for (uint8_t &code : to.codes)
      code ^= 0x80; // from -128 ... 127 to 0 ... 255
    to.scales.resize(rows);
    if (absl::Status status = readScales(factors, first, to.scales); !status.ok())
      return status;
    for (float &scale : to.scales)
      scale = float(double(scale) / 127);
    return absl::OkStatus();
  }
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    int64_t k = features(), rows = int64_t(to.size()) / k;
    if (absl::Status status = codes.file->readF32(*codes.record, first * k, to); !status.ok())
      return status;
    std::vector<float> some(rows);
    if (absl::Status status = readScales(factors, first, some); !status.ok())
      return status;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < k; ++i)
        to[r * k + i] = float(double(to[r * k + i]) * (double(some[r]) / 127));
    return absl::OkStatus();
  }

  StoredTensor codes, factors;
};

const StoredTensor *stateOf(const CodedPieces &pieces) {
  const StoredTensor *state = pieces.find(".weight.quant_state.bitsandbytes__nf4");
  return state ? state : pieces.find(".weight.quant_state.bitsandbytes__fp4");
}

/// The JSON object, checked against the tensors.
absl::StatusOr<QuantState> readState(const StoredTensor &piece, const StoredTensor &codes) {
  if (absl::Status status = checkType(piece, {StoredType::U8}); !status.ok())
    return status;
  if (piece.elements() > 65536)
    return wrongShape(piece, "a short JSON object is needed");
  absl::StatusOr<std::vector<uint8_t>> bytes = readBytes(piece, 0, piece.elements());
  if (!bytes.ok())
    return bytes.status();
  std::optional<QuantState> state = StateReader({reinterpret_cast<const char *>(bytes->data()), bytes->size()}).run();
  if (!state)
    return wrongPiece(piece, "the bytes are no JSON object");
  uint64_t elements = 1;
  bool fits = state->shape.size() == 2;
  for (int64_t n : state->shape) {
    bool overflow = n < 1;
    elements = llvm::SaturatingMultiply(elements, uint64_t(std::max<int64_t>(n, 0)), &overflow);
    fits &= n >= 1 && !overflow;
  }
  uint64_t stored = codes.record->bytes;
  if (!fits || elements > stored * 2 || elements + 1 < stored * 2)
    return wrongPiece(piece, "it says that the matrix is " + shapeOf(state->shape) + ", and `" +
                                 printable(codes.name()) + "` has " + std::to_string(stored) +
                                 " bytes of two codes each");
  if (state->block < 1)
    return wrongPiece(piece, "it has no `blocksize` of 1 or more");
  return *state;
}

} // namespace

bool isFourBits(const CodedPieces &pieces) { return stateOf(pieces); }

absl::StatusOr<std::unique_ptr<CodedTensor>> openFourBits(const CodedPieces &pieces, const StoredTensor &codes,
                                                          const CodedScheme &) {
  const StoredTensor &named = *stateOf(pieces);
  absl::StatusOr<QuantState> state = readState(named, codes);
  if (!state.ok())
    return state.status();
  absl::StatusOr<const StoredTensor *> map = pieces.get(".weight.quant_map", codes),
                                       absmax = pieces.get(".weight.absmax", codes);
  if (!map.ok() || !absmax.ok())
    return map.ok() ? absmax.status() : map.status();
  if (absl::Status status = checkReal(**map); !status.ok())
    return status;
  if (absl::Status status = checkShape(**map, {16}, "what each of 16 codes means"); !status.ok())
    return status;
  int64_t blocks = llvm::divideCeil(state->shape[0] * state->shape[1], state->block);
  if ((*absmax)->elements() != uint64_t(blocks))
    return wrongShape(**absmax, "a number for each of " + std::to_string(blocks) + " blocks of " +
                                    std::to_string(state->block) + " codes is needed");
  FourBits::Parts parts{&codes, *map, *absmax, nullptr, nullptr};
  if (isReal((*absmax)->type()))
    return std::make_unique<FourBits>(pieces, parts, *state, "bitsandbytes " + named.name().rsplit("__").second.str());
  if (absl::Status status = checkType(**absmax, {StoredType::U8}); !status.ok())
    return status;
  absl::StatusOr<const StoredTensor *> nestedMap = pieces.get(".weight.nested_quant_map", **absmax),
                                       nested = pieces.get(".weight.nested_absmax", **absmax);
  if (!nestedMap.ok() || !nested.ok())
    return nestedMap.ok() ? nested.status() : nestedMap.status();
  if (absl::Status status = checkReal(**nestedMap); !status.ok())
    return status;
  if (absl::Status status = checkShape(**nestedMap, {256}, "what each of 256 codes means"); !status.ok())
    return status;
  if (absl::Status status = checkReal(**nested); !status.ok())
    return status;
  if (state->nestedBlock < 1 || !std::isfinite(float(state->nestedOffset)))
    return wrongPiece(named, "it has no `nested_blocksize` of 1 or more and finite `nested_offset`, which the codes "
                             "in `" +
                                 printable((*absmax)->name()) + "` need");
  int64_t outer = llvm::divideCeil(blocks, state->nestedBlock);
  if ((*nested)->elements() != uint64_t(outer))
    return wrongShape(**nested, "a number for each of " + std::to_string(outer) + " blocks of " +
                                    std::to_string(state->nestedBlock) + " is needed");
  parts.nestedMap = *nestedMap;
  parts.nestedAbsmax = *nested;
  return std::make_unique<FourBits>(pieces, parts, *state,
                                    "bitsandbytes " + named.name().rsplit("__").second.str() + ", double");
}

absl::StatusOr<std::unique_ptr<CodedTensor>> openEightBits(const CodedPieces &pieces, const StoredTensor &codes,
                                                           const CodedScheme &) {
  const StoredTensor &factors = *pieces.find(".SCB");
  if (absl::Status status = checkType(codes, {StoredType::I8}); !status.ok())
    return status;
  if (codes.shape().size() != 2 || codes.elements() == 0)
    return wrongShape(codes, "two dimensions are needed, and elements");
  if (absl::Status status = checkReal(factors); !status.ok())
    return status;
  if (factors.elements() != uint64_t(codes.shape()[0]))
    return wrongShape(factors, "a factor for each of " + std::to_string(codes.shape()[0]) + " rows is needed");
  if (const StoredTensor *format = pieces.find(".weight_format")) {
    absl::StatusOr<std::vector<int64_t>> values = readIntegers(*format);
    if (!values.ok())
      return values.status();
    if (values->size() != 1 || values->front() != 0)
      return wrongPiece(*format, "the matrix is laid out for one kind of GPU; only rows (0) are read",
                        "save the model again with a current version of bitsandbytes");
  }
  return std::make_unique<EightBits>(pieces, codes, factors);
}

} // namespace heddle
