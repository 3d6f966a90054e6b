// Read through a window of the file. What an array takes is known before its bytes are read at once, so a header takes
// the memory of its bytes and no more.
#include "compiler/Weights/Gguf/GgufHeader.h"
#include "compiler/Weights/Files/Problem.h"
#include "heddle/utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>

namespace heddle {
namespace {

constexpr uint64_t mostHeaderBytes = 1 << 30, mostTensors = 100'000, mostValues = 100'000, longestName = 4096,
                   longestText = 1 << 30, mostElements = 1 << 24;
constexpr unsigned deepestArray = 3;
constexpr uint64_t windowBytes = 1 << 16;
const char damaged[] = "the download was cut short, or the file is damaged: fetch it again";

class Reader {
public:
  explicit Reader(const InputFile &file) : file(file) {}

  absl::StatusOr<GgufHeader> run();

private:
  /// Keeps the first refusal, about the place `byte`. False, to be returned.
  bool fail(uint64_t byte, std::string message, std::string tensor = "", Error code = Error::GgufDamaged,
            std::string help = damaged) {
    if (status.ok())
      status =
          toStatus(WeightProblem{code, "", std::move(message), file.path(), byte, printable(tensor), std::move(help)});
    return false;
  }
  uint64_t left() const { return file.size() - at; }
  bool take(void *to, uint64_t count);
  bool skip(uint64_t count, const char *inside);
  template <typename T> bool number(T &to) { return take(&to, sizeof to); }
  bool text(std::string &to, uint64_t most);
  bool name(std::string &to, const char *what);
  bool value(const std::string &key);
  bool array(const std::string &key);
  bool skipElements(uint64_t begin, GgufKind &element, uint64_t &count, unsigned depth);
  bool tensor();
  bool shape(GgufTensor &t, uint64_t &elements);
  bool place();

  const InputFile &file;
  uint64_t at = 0;
  std::vector<uint8_t> window;
  uint64_t windowAt = 0;
  absl::Status status;
  GgufHeader header;
  std::vector<uint64_t> offsets;
};

bool Reader::take(void *to, uint64_t count) {
  if (count > left())
    return fail(at, "the file ends inside of its header");
  if (at > mostHeaderBytes)
    return fail(at, "the header is longer than 1 GiB");
  if (count > windowBytes) {
    if (absl::Status read = file.read(at, {static_cast<uint8_t *>(to), count}); !read.ok()) {
      status = read;
      return false;
    }
    at += count;
    return true;
  }
  if (at < windowAt || at + count > windowAt + window.size()) {
    window.resize(std::min(windowBytes, left()));
    windowAt = at;
    if (absl::Status read = file.read(at, window); !read.ok()) {
      status = read;
      return false;
    }
  }
  if (count)
    std::memcpy(to, window.data() + (at - windowAt), count);
  at += count;
  return true;
}

bool Reader::skip(uint64_t count, const char *inside) {
  if (count > left())
    return fail(at, std::string("the file ends inside of ") + inside);
  at += count;
  return at <= mostHeaderBytes || fail(at, "the header is longer than 1 GiB");
}

bool Reader::text(std::string &to, uint64_t most) {
  uint64_t begin = at, length = 0;
  if (!number(length))
    return false;
  if (length > most)
    return fail(begin, "a name or a text has " + std::to_string(length) + " bytes, at most " + std::to_string(most) +
                           " are read");
  if (length > left())
    return fail(at, "the file ends inside of a text");
  to.resize(length);
  return take(to.data(), length);
}

/// The name of a key or a tensor.
bool Reader::name(std::string &to, const char *what) {
  uint64_t begin = at;
  if (!text(to, longestName))
    return false;
  if (!isUtf8(to))
    return fail(begin, std::string(what) + " is no UTF-8");
  if (to.empty() || llvm::StringRef(to).contains('\0'))
    return fail(begin, std::string(what) + " is empty, or contains NUL");
  return true;
}

/// Passes over an array whose kind stands at `begin`, and tells its kind and count.
bool Reader::skipElements(uint64_t begin, GgufKind &element, uint64_t &count, unsigned depth) {
  uint32_t kind = 0;
  if (!number(kind) || !number(count))
    return false;
  if (kind >= ggufKinds)
    return fail(begin, "an array of the kind " + std::to_string(kind) + " is not known");
  if (depth > deepestArray)
    return fail(begin, "an array has more than " + std::to_string(deepestArray) + " arrays around it");
  element = GgufKind(kind);
  // A text has 8 bytes at least, an array 12.
  uint64_t width = widthOf(element), least = width ? width : 8;
  if (count > left() / least)
    return fail(begin, "the file ends inside of an array");
  if (width)
    return skip(count * width, "an array");
  for (uint64_t i = 0; i < count; ++i) {
    GgufKind inner;
    uint64_t length = 0, many = 0;
    if (element == GgufKind::Array ? !skipElements(at, inner, many, depth + 1)
                                   : !number(length) || !skip(length, "a text"))
      return false;
  }
  return true;
}

bool Reader::array(const std::string &key) {
  uint64_t begin = at, count = 0;
  GgufKind element = GgufKind::U8;
  if (!skipElements(begin, element, count, 0))
    return false;
  if (count > mostElements)
    return fail(begin, "the array `" + printable(key) + "` has " + std::to_string(count) + " elements, at most " +
                           std::to_string(mostElements) + " are read");
  uint64_t end = at;
  at = begin + 12;
  std::string raw(end - at, '\0');
  if (!take(raw.data(), raw.size()))
    return false;
  header.values.try_emplace(key, element, count, begin, std::move(raw));
  return true;
}

bool Reader::value(const std::string &key) {
  uint32_t number_ = 0;
  if (!number(number_))
    return false;
  if (number_ >= ggufKinds)
    return fail(at - 4,
                "a value of the kind " + std::to_string(number_) + " is not known (key `" + printable(key) + "`)");
  GgufKind kind = GgufKind(number_);
  if (kind == GgufKind::Array)
    return array(key);
  uint64_t begin = at;
  std::string raw(widthOf(kind), '\0');
  if (kind == GgufKind::Text ? !text(raw, longestText) : !take(raw.data(), raw.size()))
    return false;
  if (kind == GgufKind::Bool && uint8_t(raw[0]) > 1)
    return fail(begin, "the truth value of the key `" + printable(key) + "` is " + std::to_string(uint8_t(raw[0])) +
                           ", 0 or 1 is needed");
  header.values.try_emplace(key, kind, begin, std::move(raw));
  return true;
}

/// The dimensions of a tensor, and how many elements they make.
bool Reader::shape(GgufTensor &t, uint64_t &elements) {
  uint32_t rank = 0;
  if (!number(rank))
    return false;
  if (rank == 0 || rank > 4)
    return fail(at - 4, "the tensor has " + std::to_string(rank) + " dimensions, 1 to 4 are possible", t.name);
  elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    uint64_t dim = 0;
    if (!number(dim))
      return false;
    bool overflow = dim == 0 || dim > uint64_t(INT64_MAX);
    if (!overflow)
      elements = llvm::SaturatingMultiply(elements, dim, &overflow);
    if (overflow || elements > uint64_t(INT64_MAX) / 8)
      return fail(t.headerByte, "the tensor has a dimension of " + std::to_string(dim) + ", or too many elements",
                  t.name);
    t.shape.insert(t.shape.begin(), int64_t(dim));
  }
  return true;
}

bool Reader::tensor() {
  GgufTensor t;
  t.headerByte = at;
  uint32_t type = 0;
  uint64_t elements = 1, offset = 0;
  if (!name(t.name, "a tensor's name") || !shape(t, elements) || !number(type) || !number(offset))
    return false;
  const GgufTypeRow *row = findGgufType(type);
  if (!row)
    return fail(t.headerByte, "the tensor is of the type " + nameOfUnreadType(type) + ", which is not read", t.name,
                Error::QuantisationUnsupported, "take a file of another type, such as Q4_K_M or Q8_0");
  t.type = row->type;
  if (t.shape.back() % row->elements)
    return fail(t.headerByte,
                "the rows of the tensor have " + std::to_string(t.shape.back()) + " elements, which are not whole " +
                    "blocks of " + std::to_string(row->elements),
                t.name);
  t.bytes = elements / uint64_t(row->elements) * uint64_t(row->bytes);
  offsets.push_back(offset);
  header.tensors.push_back(std::move(t));
  return true;
}

/// Where the data begin, and that tensors are inside of them without overlap.
bool Reader::place() {
  uint64_t alignment = 32;
  if (auto it = header.values.find("general.alignment"); it != header.values.end()) {
    std::optional<int64_t> given = it->second.integer();
    if (!given || *given < 1 || *given > (1 << 20) || !llvm::isPowerOf2_64(uint64_t(*given)))
      return fail(it->second.byte(), "the alignment is " + (given ? std::to_string(*given) : it->second.what()) +
                                         ", a power of two up to 2^20 is needed (key `general.alignment`)");
    alignment = uint64_t(*given);
  }
  uint64_t begin = llvm::alignTo(at, alignment);
  std::vector<const GgufTensor *> order;
  for (auto [t, offset] : llvm::zip_equal(header.tensors, offsets)) {
    if (offset % alignment)
      return fail(t.headerByte, "the tensor does not begin at a multiple of " + std::to_string(alignment), t.name);
    if (begin > file.size() || offset > file.size() - begin || t.bytes > file.size() - begin - offset)
      return fail(t.headerByte, "the tensor ends behind the file's " + std::to_string(file.size()) + " bytes", t.name);
    t.byte = begin + offset;
    order.push_back(&t);
  }
  llvm::sort(order, [](const GgufTensor *a, const GgufTensor *b) { return a->byte < b->byte; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->byte + order[i - 1]->bytes > order[i]->byte)
      return fail(order[i]->headerByte, "the tensor overlaps `" + printable(order[i - 1]->name) + "`", order[i]->name);
  return true;
}

absl::StatusOr<GgufHeader> Reader::run() {
  char magic[4];
  uint32_t version = 0;
  uint64_t tensors = 0, values = 0;
  bool good = take(magic, 4);
  if (good && !beginsAsGguf({magic, 4}))
    good = fail(0, "no GGUF file: it does not begin with GGUF");
  good = good && number(version);
  if (good && (version < 2 || version > 3))
    good = fail(4,
                version >= 1u << 24 ? "a GGUF file of a machine with the other order of bytes is not read"
                                    : "version " + std::to_string(version) + " of GGUF is not read, 2 and 3 are",
                "", Error::QuantisationUnsupported, "make the file again with a current llama.cpp");
  good = good && number(tensors) && number(values);
  if (good && (tensors > mostTensors || values > mostValues))
    good = fail(8, "the header has " + std::to_string(tensors) + " tensors and " + std::to_string(values) +
                       " values, at most " + std::to_string(mostTensors) + " are read");
  for (uint64_t i = 0; good && i < values; ++i) {
    uint64_t begin = at;
    std::string key;
    good = name(key, "a key");
    if (good && header.values.count(key))
      good = fail(begin, "the key `" + printable(key) + "` occurs twice");
    good = good && value(key);
  }
  llvm::StringSet<> names;
  for (uint64_t i = 0; good && i < tensors; ++i) {
    good = tensor();
    if (good && !names.insert(header.tensors.back().name).second)
      good = fail(header.tensors.back().headerByte, "the tensor occurs twice", header.tensors.back().name);
  }
  if (!good || !place())
    return status;
  return std::move(header);
}

} // namespace

bool beginsAsGguf(llvm::StringRef firstBytes) { return firstBytes.starts_with("GGUF"); }

absl::StatusOr<GgufHeader> readGgufHeader(const InputFile &file) { return Reader(file).run(); }

} // namespace heddle
