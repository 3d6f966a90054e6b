//===- TensorFile.cpp - Reading tensors from files ------------------------===//
//
// Bytes are read in pieces and converted to the type that the model declares. A
// conversion that could change the meaning is refused: a float for an integer
// or a bool, an integer other than 0 and 1 for a bool.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/TensorFile.h"

#include "heddle/input_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace heddle::rt {

/// A file that was opened: one of the two readers has read its header.
struct TensorFile::Opened {
  Opened(OpenedFile &file, std::string path)
      : path(std::move(path)), descriptor(file.release()), bytes(descriptor, file.size()) {}
  Opened(const Opened &) = delete;
  Opened &operator=(const Opened &) = delete;
  ~Opened() { close(descriptor); }

  Status readHeader();
  Status readSafetensors(std::string_view first);
  /// The error of a reader, with the file's name.
  Status failed(const base::ArrayProblem &problem) const;

  std::string path;
  int descriptor;
  base::FileSource bytes;
  bool isArrays = false;
  base::ArrayFile arrays;
  base::HeaderTable table;
  uint64_t dataStart = 0;
};

/// Tensors in another format, by the first bytes; null for what may be safetensors.
static const char *otherFormat(std::string_view first) {
  // The length of a header has zeros on top.
  if (first.substr(4) == std::string_view("\0\0\0\0", 4))
    return nullptr;
  // clang-format off
  static constexpr std::pair<std::string_view, const char *> kFormats[] = {
      {"\x80\x02", "a pickle (.pt)"},
      {"\x80\x03", "a pickle (.pt)"},
      {"\x80\x04", "a pickle (.pkl)"},
      {"\x80\x05", "a pickle (.pkl)"},
      {"GGUF", "a GGUF file"},
      {"\x1f\x8b", "a gzip file"},
      {"{", "JSON"},
      {"[", "JSON"},
      {"\x89PNG", "a picture (PNG)"},
      {"\xff\xd8\xff", "a picture (JPEG)"},
      {"RIFF", "sound (WAV)"}};
  // clang-format on
  for (auto [magic, name] : kFormats)
    if (first.substr(0, magic.size()) == magic)
      return name;
  return nullptr;
}

Status TensorFile::Opened::failed(const base::ArrayProblem &problem) const {
  if (problem.systemError)
    return ioError("cannot read", path, problem.systemError);
  std::string place = "byte " + std::to_string(problem.byte);
  if (!problem.array.empty())
    place += ", `" + problem.array + "`";
  Status status = badFile(quote(path) + ": " + problem.message + " (" + place + ")");
  return problem.help.empty() ? std::move(status) : std::move(status).withHelp(problem.help);
}

Status TensorFile::Opened::readHeader() {
  char first[8] = {};
  std::string_view begin(first, std::min<uint64_t>(bytes.size(), sizeof first));
  if (auto problem = bytes.read(first, begin.size(), 0))
    return failed(*problem);
  isArrays = base::ArrayFile::recognises(begin);
  if (!isArrays)
    return readSafetensors(begin);
  auto problem = arrays.open(bytes);
  return problem ? failed(*problem) : Status();
}

Status TensorFile::Opened::readSafetensors(std::string_view first) {
  if (const char *name = first.size() == 8 ? otherFormat(first) : nullptr)
    return badFile(quote(path) + " is " + name + "; tensors are given by name in a safetensors or .npz file")
        .withHelp("in Python: safetensors.numpy.save_file({\"NAME\": array}, \"input.safetensors\") or "
                  "numpy.savez(\"input.npz\", NAME=array); `info` lists the names");
  uint64_t headerSize = 0;
  if (auto problem = base::readHeaderLength(first, bytes.size(), {}, headerSize))
    return badFile(quote(path) + " is no safetensors file: " + problem->message).withHelp(problem->help);
  Buffer header;
  HEDDLE_TRY(Buffer::make(headerSize, "a file header", header));
  if (auto problem = bytes.read(header.data(), headerSize, 8))
    return failed(*problem);
  dataStart = 8 + headerSize;
  auto problem = base::readHeader({header.as<char>(), headerSize}, bytes.size(), {}, table);
  if (!problem)
    return {};
  std::string place = "byte " + std::to_string(problem->byte);
  if (!problem->tensor.empty())
    place += ", tensor `" + problem->tensor + "`";
  return badFile(quote(path) + ": " + problem->message + " (" + place + ")").withHelp(problem->help);
}

TensorFile::TensorFile() = default;
TensorFile::~TensorFile() = default;

Status TensorFile::open(const std::string &path) {
  OpenedFile file(path.c_str());
  HEDDLE_TRY(checkOpened(file, path));
  auto opened = std::make_unique<Opened>(file, path);
  HEDDLE_TRY(opened->readHeader());
  size_t index = files.size();
  for (const base::TensorEntry &entry : opened->table.tensors)
    items.push_back({entry.name, entry.type, entry.shape, false, index, size_t(&entry - opened->table.tensors.data())});
  for (const base::NamedArray &array : opened->arrays.arrays())
    items.push_back({array.name, array.header.type, array.header.shape, array.unnamed, index,
                     size_t(&array - opened->arrays.arrays().data())});
  files.push_back(std::move(opened));
  where += (where.empty() ? "" : ", ") + path;
  return {};
}

Status TensorFile::openOne(const std::string &name, const std::string &path) {
  size_t before = items.size();
  HEDDLE_TRY(open(path));
  auto found =
      std::find_if(items.begin() + before, items.end(), [&](const FileTensor &item) { return item.name == name; });
  if (found == items.end() && items.size() != before + 1) {
    std::string all;
    for (auto item = items.begin() + before; item != items.end(); ++item)
      all += (all.empty() ? "" : ", ") + item->name;
    return badInput(quote(path) + " has no tensor " + quote(name))
        .withHelp(all.empty() ? "it is empty" : "it has " + quote(all));
  }
  FileTensor one = found == items.end() ? items.back() : *found;
  items.resize(before);
  one.name = name;
  one.unnamed = false;
  items.push_back(std::move(one));
  return {};
}

Status TensorFile::checkNames() const {
  for (const FileTensor &item : items)
    if (find(item.name) != &item)
      return badInput(quote(item.name) + " is given twice, in " + quote(where));
  return {};
}

std::vector<std::string> TensorFile::paths() const {
  std::vector<std::string> all;
  for (const std::unique_ptr<Opened> &file : files)
    all.push_back(file->path);
  return all;
}

const FileTensor *TensorFile::find(std::string_view name) const {
  for (const FileTensor &tensor : items)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

void TensorFile::rename(size_t index, const std::string &name) {
  items[index].name = name;
  items[index].unnamed = false;
}

namespace {

float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, exponent = h >> 10 & 31;
  uint32_t fraction = h & 0x3ff, bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000 | fraction << 13;
  } else if (exponent) {
    bits = sign | (exponent + 112) << 23 | fraction << 13;
  } else {
    float value = std::ldexp(float(fraction), -24);
    return sign ? -value : value;
  }
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

float bfloatToFloat(uint16_t h) {
  uint32_t bits = uint32_t(h) << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

struct Half {
  uint16_t bits;
  operator float() const { return halfToFloat(bits); }
};
struct BFloat {
  uint16_t bits;
  operator float() const { return bfloatToFloat(bits); }
};
struct Bool {
  uint8_t bits;
};

/// Converts `n` elements; the index of the first that cannot be, or `n`.
template <typename From, typename To> uint64_t convert(const char *in, To *out, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    From from;
    memcpy(&from, in + i * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<From, Bool>) {
      if (from.bits > 1)
        return i;
      out[i] = To(from.bits);
    } else if constexpr (std::is_integral_v<From>) {
      if (std::is_same_v<To, bool> && (from < 0 || from > 1))
        return i;
      if (std::is_same_v<From, uint64_t> && std::is_same_v<To, int64_t> && uint64_t(from) > uint64_t(INT64_MAX))
        return i;
      out[i] = To(from);
    } else {
      if constexpr (std::is_same_v<To, float>) {
        if constexpr (std::is_same_v<From, double>)
          out[i] = static_cast<float>(from);
        else
          out[i] = float(from);
      } else {
        return i; // a fraction is no id and no truth value
      }
    }
  }
  return n;
}

template <typename To> bool convertTo(const std::string &type, const char *in, To *out, uint64_t n, uint64_t &done) {
  if (type == "F32")
    done = convert<float>(in, out, n);
  else if (type == "F64")
    done = convert<double>(in, out, n);
  else if (type == "F16")
    done = convert<Half>(in, out, n);
  else if (type == "BF16")
    done = convert<BFloat>(in, out, n);
  else if (type == "I64")
    done = convert<int64_t>(in, out, n);
  else if (type == "I32")
    done = convert<int32_t>(in, out, n);
  else if (type == "I16")
    done = convert<int16_t>(in, out, n);
  else if (type == "I8")
    done = convert<int8_t>(in, out, n);
  else if (type == "U64")
    done = convert<uint64_t>(in, out, n);
  else if (type == "U32")
    done = convert<uint32_t>(in, out, n);
  else if (type == "U16")
    done = convert<uint16_t>(in, out, n);
  else if (type == "U8")
    done = convert<uint8_t>(in, out, n);
  else if (type == "BOOL")
    done = convert<Bool>(in, out, n);
  else
    return false;
  return true;
}

/// Converts elements as they come.
class Converter final : public base::ElementSink {
public:
  Converter(const FileTensor &tensor, Type type, void *out) : tensor(tensor), type(type), out(out) {}

  bool take(const char *elements, uint64_t bytes) override {
    uint64_t n = bytes / width, done = 0;
    bool known = type == Type::F32   ? convertTo(tensor.type, elements, static_cast<float *>(out) + first, n, done)
                 : type == Type::I64 ? convertTo(tensor.type, elements, static_cast<int64_t *>(out) + first, n, done)
                                     : convertTo(tensor.type, elements, static_cast<bool *>(out) + first, n, done);
    bool isFloat = tensor.type[0] == 'F' || tensor.type == "BF16";
    if (!known || (isFloat && type != Type::F32))
      status = badInput("input " + quote(tensor.name) + " is " + tensor.type + ", which cannot be converted to " +
                        typeName(type));
    else if (done != n)
      status = badInput(format("input %s: element %llu is no %s", quote(tensor.name).c_str(),
                               static_cast<unsigned long long>(first + done), typeName(type)));
    first += n;
    return status.ok();
  }

  uint64_t width = 1; ///< bytes of an element in the file
  Status status;

private:
  const FileTensor &tensor;
  Type type;
  void *out;
  uint64_t first = 0; ///< elements so far
};

} // namespace

Status TensorFile::read(const FileTensor &tensor, Type type, void *out) const {
  uint64_t count = uint64_t(*elementCount(tensor.shape));
  if (count == 0)
    return {};
  const Opened &from = *files[tensor.file];
  if (from.isArrays) {
    const base::NamedArray &array = from.arrays.arrays()[tensor.item];
    Buffer reordered;
    bool turns = array.header.fortran && tensor.shape.size() > 1;
    if (turns)
      HEDDLE_TRY(Buffer::make(count * typeSize(type), quote(tensor.name), reordered));
    Converter converter(tensor, type, turns ? reordered.data() : out);
    converter.width = array.header.width;
    if (auto problem = from.arrays.read(array, converter))
      return from.failed(*problem);
    if (turns && converter.status.ok())
      base::orderAsC(reordered.as<char>(), static_cast<char *>(out), tensor.shape, typeSize(type));
    return std::move(converter.status);
  }
  const base::TensorEntry &entry = from.table.tensors[tensor.item];
  uint64_t bytes = entry.end - entry.begin, offset = from.dataStart + entry.begin;
  if ((type == Type::F32 && tensor.type == "F32") || (type == Type::I64 && tensor.type == "I64")) {
    auto problem = from.bytes.read(out, bytes, offset);
    return problem ? from.failed(*problem) : Status();
  }
  std::vector<char> piece(std::min<uint64_t>(bytes, 1 << 18));
  Converter converter(tensor, type, out);
  converter.width = std::max<uint64_t>(bytes / count, 1);
  for (uint64_t n = 0; bytes && converter.status.ok(); bytes -= n, offset += n) {
    n = std::min<uint64_t>(bytes, piece.size());
    if (auto problem = from.bytes.read(piece.data(), n, offset))
      return from.failed(*problem);
    converter.take(piece.data(), n);
  }
  return std::move(converter.status);
}

} // namespace heddle::rt
