//===- TensorFile.cpp - Reading safetensors files -------------------------===//
//
// Bytes are read in pieces and converted to the type that the model declares. A
// conversion that could change the meaning is refused: a float for an integer
// or a bool, an integer other than 0 and 1 for a bool.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/SafeTensors.h"

#include "heddle/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace heddle::rt {

TensorFile::~TensorFile() {
  if (file >= 0)
    close(file);
}

static Status readAt(int file, void *out, uint64_t bytes, uint64_t offset, const std::string &path) {
  auto *at = static_cast<char *>(out);
  while (bytes) {
    ssize_t n = pread(file, at, std::min<uint64_t>(bytes, 1 << 30), offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return ioError("cannot read", path, errno);
    if (n == 0)
      return badFile(quote(path) + " became shorter while it was read");
    at += n;
    offset += n;
    bytes -= n;
  }
  return {};
}

/// Tensors in another format, by the first bytes; null for what may be safetensors.
static const char *otherFormat(std::string_view first) {
  // The length of a header has zeros on top.
  if (first.substr(4) == std::string_view("\0\0\0\0", 4))
    return nullptr;
  // clang-format off
  static constexpr std::pair<std::string_view, const char *> kFormats[] = {
      {"\x93NUMPY", "a NumPy array (.npy)"},
      {"PK\x03\x04", "a zip archive (.npz, .pt)"},
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

Status TensorFile::open(const std::string &path) {
  where = path;
  OpenedFile opened(path.c_str());
  HEDDLE_TRY(checkOpened(opened, path));
  uint64_t size = opened.size();
  file = opened.release();
  char first[8] = {};
  if (size >= sizeof first)
    HEDDLE_TRY(readAt(file, first, sizeof first, 0, path));
  std::string_view begin(first, std::min<uint64_t>(size, sizeof first));
  if (const char *name = begin.size() == sizeof first ? otherFormat(begin) : nullptr)
    return badFile(quote(path) + " is " + name +
                   "; tensors are given by name in a "
                   "safetensors file")
        .withHelp("in Python: safetensors.numpy.save_file({\"NAME\": array}, "
                  "\"input.safetensors\"); `info` lists the names");
  uint64_t headerSize = 0;
  if (auto problem = base::readHeaderLength(begin, size, {}, headerSize))
    return badFile(quote(path) + " is no safetensors file: " + problem->message).withHelp(problem->help);
  Buffer header;
  HEDDLE_TRY(Buffer::make(headerSize, "a file header", header));
  HEDDLE_TRY(readAt(file, header.data(), headerSize, 8, path));
  dataStart = 8 + headerSize;
  base::HeaderTable table;
  if (auto problem = base::readHeader({header.as<char>(), headerSize}, size, {}, table)) {
    std::string place = "byte " + std::to_string(problem->byte);
    if (!problem->tensor.empty())
      place += ", tensor `" + problem->tensor + "`";
    return badFile(quote(path) + ": " + problem->message + " (" + place + ")").withHelp(problem->help);
  }
  items = std::move(table.tensors);
  return {};
}

const FileTensor *TensorFile::find(std::string_view name) const {
  for (const FileTensor &tensor : items)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
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

} // namespace

Status TensorFile::read(const FileTensor &tensor, Type type, void *out) const {
  uint64_t count = uint64_t(*elementCount(tensor.shape));
  uint64_t bytes = tensor.end - tensor.begin, offset = dataStart + tensor.begin;
  if (count == 0)
    return {};
  if ((type == Type::F32 && tensor.type == "F32") || (type == Type::I64 && tensor.type == "I64"))
    return readAt(file, out, bytes, offset, where);
  uint64_t width = bytes / count;
  std::vector<char> piece(std::min<uint64_t>(bytes, 1 << 18));
  uint64_t perPiece = width ? piece.size() / width : 0;
  for (uint64_t first = 0; first < count;) {
    uint64_t n = std::min(perPiece, count - first), done = 0;
    HEDDLE_TRY(readAt(file, piece.data(), n * width, offset, where));
    bool known = type == Type::F32 ? convertTo(tensor.type, piece.data(), static_cast<float *>(out) + first, n, done)
                 : type == Type::I64
                     ? convertTo(tensor.type, piece.data(), static_cast<int64_t *>(out) + first, n, done)
                     : convertTo(tensor.type, piece.data(), static_cast<bool *>(out) + first, n, done);
    bool isFloat = tensor.type[0] == 'F' || tensor.type == "BF16";
    if (!known || (isFloat && type != Type::F32))
      return badInput("input " + quote(tensor.name) + " is " + tensor.type + ", which cannot be converted to " +
                      typeName(type));
    if (done != n)
      return badInput(format("input %s: element %llu is no %s", quote(tensor.name).c_str(),
                             static_cast<unsigned long long>(first + done), typeName(type)));
    offset += n * width;
    first += n;
  }
  return {};
}

} // namespace heddle::rt
