// Read through a window of the file: vocabularies are tens of megabytes, and are skipped without being held.
#include "compiler/Weights/Gguf/GgufHeader.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>

namespace heddle {
namespace {

constexpr uint64_t mostHeaderBytes = 1 << 30, mostTensors = 100'000, mostValues = 100'000, longestName = 4096;
constexpr size_t windowBytes = 1 << 16;
const char damaged[] = "the download was cut short, or the file is damaged: fetch it again";

/// The names of the types of elements by their numbers, for messages.
const char *const typeNames[] = {
    "F32",    "F16",      "Q4_0",     "Q4_1",     "Q4_2",  "Q4_3",  "Q5_0",       "Q5_1",       "Q8_0",       "Q8_1",
    "Q2_K",   "Q3_K",     "Q4_K",     "Q5_K",     "Q6_K",  "Q8_K",  "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",    "IQ1_S",
    "IQ4_NL", "IQ3_S",    "IQ2_S",    "IQ4_XS",   "I8",    "I16",   "I32",        "I64",        "F64",        "IQ1_M",
    "BF16",   "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0", "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4"};

struct TypeRow {
  uint32_t number;
  GgufType type;
  int64_t elements, bytes; ///< of a block
};
constexpr TypeRow typeRows[] = {{0, GgufType::F32, 1, 4},
                                {1, GgufType::F16, 1, 2},
                                {2, GgufType::Q4_0, 32, 18},
                                {8, GgufType::Q8_0, 32, 34},
                                {30, GgufType::BF16, 1, 2}};

class Reader {
public:
  explicit Reader(const InputFile &file) : file(file) {}

  absl::StatusOr<GgufHeader> run();

private:
  /// Kinds of values, as the file numbers them.
  enum Kind : uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64, kinds };

  bool fail(std::string message, std::string help = damaged, Error code = Error::GgufDamaged, std::string tensor = "") {
    if (status.ok())
      status =
          toStatus(WeightProblem{code, "", std::move(message), file.path(), at, std::move(tensor), std::move(help)});
    return false;
  }
  bool bytes(void *to, size_t count);
  bool skip(uint64_t count) {
    if (count > file.size() - at)
      return fail("the file ends inside of a value");
    at += count;
    return true;
  }
  template <typename T> bool number(T &to) { return bytes(&to, sizeof to); }
  bool text(std::string &to, uint64_t most);
  bool value(const std::string &key);
  bool skipArray(unsigned depth);
  bool tensor();
  bool place();

  const InputFile &file;
  uint64_t at = 0;
  std::vector<uint8_t> window;
  uint64_t windowAt = 0;
  absl::Status status;
  GgufHeader header;
  std::vector<uint64_t> offsets;
};

/// Bytes of a value of a fixed size; 0 for others.
uint64_t sizeOf(uint32_t kind) {
  static constexpr uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[kind];
}

bool Reader::bytes(void *to, size_t count) {
  if (at > file.size() || count > file.size() - at)
    return fail("the file ends inside of its header");
  if (at > mostHeaderBytes)
    return fail("the header is longer than 1 GiB");
  if (at < windowAt || at + count > windowAt + window.size()) {
    window.resize(std::min<uint64_t>(std::max(windowBytes, count), file.size() - at));
    windowAt = at;
    if (absl::Status read = file.read(at, window); !read.ok()) {
      status = read;
      return false;
    }
  }
  std::memcpy(to, window.data() + (at - windowAt), count);
  at += count;
  return true;
}

bool Reader::text(std::string &to, uint64_t most) {
  uint64_t length = 0;
  if (!number(length))
    return false;
  if (length > most)
    return fail("a name or a text has " + std::to_string(length) + " bytes, at most " + std::to_string(most) +
                " are read");
  to.resize(length);
  return bytes(to.data(), length);
}

bool Reader::skipArray(unsigned depth) {
  uint32_t kind = 0;
  uint64_t count = 0;
  if (!number(kind) || !number(count))
    return false;
  if (kind >= kinds || depth > 3)
    return fail("an array of the kind " + std::to_string(kind) + " is not known");
  if (uint64_t size = sizeOf(kind))
    return count <= (file.size() - at) / size ? skip(count * size) : fail("the file ends inside of an array");
  // Each element is 8 bytes at least, so that a large count ends with the file.
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t length = 0;
    if (kind == Array ? !skipArray(depth + 1) : !number(length) || !skip(length))
      return false;
  }
  return true;
}

bool Reader::value(const std::string &key) {
  uint32_t kind = 0;
  if (!number(kind))
    return false;
  if (kind >= kinds)
    return fail("a value of the kind " + std::to_string(kind) + " is not known");
  if (kind == Array)
    return skipArray(0);
  if (kind == String) {
    if (key == "general.architecture")
      return text(header.architecture, 255);
    uint64_t length = 0;
    return number(length) && skip(length);
  }
  uint64_t size = sizeOf(kind), raw = 0;
  if (!bytes(&raw, size))
    return false;
  GgufNumber &to = header.numbers[key];
  to.byte = at - size;
  to.whole = kind != F32 && kind != F64;
  if (kind == F32) {
    to.value = llvm::bit_cast<float>(uint32_t(raw));
  } else if (kind == F64) {
    to.value = llvm::bit_cast<double>(raw);
  } else if (kind == U64) {
    to.value = double(raw);
  } else {
    bool negative = kind == I8 || kind == I16 || kind == I32 || kind == I64;
    to.value = double(negative ? llvm::SignExtend64(raw, size * 8) : int64_t(raw));
  }
  return true;
}

bool Reader::tensor() {
  GgufTensor t;
  t.headerByte = at;
  uint32_t rank = 0, number_ = 0;
  uint64_t offset = 0;
  if (!text(t.name, longestName) || !number(rank))
    return false;
  std::string shown = printable(t.name);
  if (t.name.empty() || llvm::StringRef(t.name).contains('\0'))
    return fail("a tensor's name is empty, or contains NUL");
  if (rank == 0 || rank > 4)
    return fail("the tensor has " + std::to_string(rank) + " dimensions, 1 to 4 are possible", damaged,
                Error::GgufDamaged, shown);
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    uint64_t dim = 0;
    if (!number(dim))
      return false;
    bool overflow = dim == 0 || dim > uint64_t(INT64_MAX);
    if (!overflow)
      elements = llvm::SaturatingMultiply(elements, dim, &overflow);
    if (overflow || elements > uint64_t(INT64_MAX) / 8)
      return fail("the tensor has a dimension of " + std::to_string(dim) + ", or too many elements", damaged,
                  Error::GgufDamaged, shown);
    t.shape.insert(t.shape.begin(), int64_t(dim));
  }
  if (!number(number_) || !number(offset))
    return false;
  const TypeRow *row = llvm::find_if(typeRows, [&](const TypeRow &r) { return r.number == number_; });
  if (row == std::end(typeRows)) {
    std::string name = number_ < std::size(typeNames) ? typeNames[number_] : "number " + std::to_string(number_);
    return fail("the tensor is of the type " + name + ", which is not read; F32, F16, BF16, Q8_0 and Q4_0 are",
                "make such a file of the original: llama-quantize --pure F16.gguf OUT.gguf Q8_0 (or Q4_0)",
                Error::QuantisationUnsupported, shown);
  }
  t.type = row->type;
  if (t.shape.back() % row->elements)
    return fail("the rows of the tensor have " + std::to_string(t.shape.back()) + " elements, which are not whole " +
                    "blocks of " + std::to_string(row->elements),
                damaged, Error::GgufDamaged, shown);
  t.bytes = elements / uint64_t(row->elements) * uint64_t(row->bytes);
  offsets.push_back(offset);
  header.tensors.push_back(std::move(t));
  return true;
}

/// Where the data begin, and that tensors are inside of them without overlap.
bool Reader::place() {
  auto aligned = header.numbers.find("general.alignment");
  int64_t alignment = aligned == header.numbers.end() ? 32 : aligned->second.integer().value_or(0);
  if (alignment < 1 || alignment > (1 << 20) || !llvm::isPowerOf2_64(alignment))
    return fail("the alignment is " + std::to_string(alignment) + ", a power of two is needed");
  uint64_t begin = llvm::alignTo(at, uint64_t(alignment));
  std::vector<size_t> order;
  for (size_t i = 0; i < header.tensors.size(); ++i) {
    GgufTensor &t = header.tensors[i];
    std::string shown = printable(t.name);
    if (begin > file.size() || offsets[i] > file.size() - begin || t.bytes > file.size() - begin - offsets[i])
      return fail("the tensor ends after the file's " + std::to_string(file.size()) + " bytes", damaged,
                  Error::GgufDamaged, shown);
    if (offsets[i] % uint64_t(alignment))
      return fail("the tensor does not begin at a multiple of " + std::to_string(alignment), damaged,
                  Error::GgufDamaged, shown);
    t.byte = begin + offsets[i];
    order.push_back(i);
  }
  llvm::sort(order, [&](size_t a, size_t b) { return header.tensors[a].byte < header.tensors[b].byte; });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor &before = header.tensors[order[i - 1]], &t = header.tensors[order[i]];
    if (before.byte + before.bytes > t.byte)
      return fail("the tensor overlaps `" + printable(before.name) + "`", damaged, Error::GgufDamaged,
                  printable(t.name));
  }
  return true;
}

absl::StatusOr<GgufHeader> Reader::run() {
  char magic[4];
  uint32_t version = 0;
  uint64_t tensors = 0, values = 0;
  bool good = bytes(magic, 4) && number(version);
  if (good && (version < 2 || version > 3))
    good = fail(version >= 1u << 24 ? "a GGUF file of a machine with the other order of bytes is not read"
                                    : "version " + std::to_string(version) + " of GGUF is not read, 2 and 3 are",
                "make the file again with a current llama.cpp", Error::QuantisationUnsupported);
  good = good && number(tensors) && number(values);
  if (good && (tensors > mostTensors || values > mostValues))
    good = fail("the header has " + std::to_string(tensors) + " tensors and " + std::to_string(values) +
                " values, at most " + std::to_string(mostTensors) + " are read");
  llvm::StringSet<> keys, names;
  for (uint64_t i = 0; good && i < values; ++i) {
    std::string key;
    good = text(key, longestName);
    if (good && !keys.insert(key).second)
      good = fail("the key `" + printable(key) + "` occurs twice");
    good = good && value(key);
  }
  for (uint64_t i = 0; good && i < tensors; ++i) {
    good = tensor();
    if (good && !names.insert(header.tensors.back().name).second)
      good = fail("the tensor occurs twice", damaged, Error::GgufDamaged, printable(header.tensors.back().name));
  }
  good = good && place();
  if (!good)
    return status;
  return std::move(header);
}

} // namespace

std::optional<int64_t> GgufNumber::integer() const {
  constexpr double exact = double(int64_t(1) << 53);
  return whole && value >= -exact && value <= exact ? std::optional<int64_t>(int64_t(value)) : std::nullopt;
}

bool beginsAsGguf(llvm::StringRef firstBytes) { return firstBytes.starts_with("GGUF"); }

absl::StatusOr<GgufHeader> readGgufHeader(const InputFile &file) { return Reader(file).run(); }

} // namespace heddle
