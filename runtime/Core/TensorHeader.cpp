//===- TensorHeader.cpp - The header of a safetensors file ----------------===//
//
// A parser for exactly the JSON that the format allows: an object of objects of
// three known keys. Depth is bounded by the grammar itself. Then the ranges
// must tile the data: no gap, no overlap, no byte left over.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/SafeTensors.h"
#include "runtime/Core/Utf8.h"

#include <algorithm>
#include <set>

namespace heddle::rt {

namespace {

constexpr size_t kMaxTensors = 1000000, kMaxName = 4096, kMaxRank = 16;

struct DType {
  const char *name;
  unsigned bits;
};
constexpr DType kTypes[] = {{"F64", 64}, {"F32", 32},    {"F16", 16}, {"BF16", 16},   {"I64", 64},
                            {"I32", 32}, {"I16", 16},    {"I8", 8},   {"U64", 64},    {"U32", 32},
                            {"U16", 16}, {"U8", 8},      {"BOOL", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
                            {"C64", 64}, {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}};

class HeaderParser {
public:
  HeaderParser(std::string_view text, std::vector<FileTensor> &tensors) : text(text), tensors(tensors) {}

  Status parse();

private:
  Status error(const std::string &what) { return badFile(format("header byte %zu: ", at) + what); }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
      ++at;
  }
  bool take(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  Status expect(char c) { return take(c) ? Status() : error(format("expected `%c`", c)); }
  Status string(std::string &out);
  Status escape(std::string &out);
  bool hex4(uint32_t &value);
  Status number(int64_t &value);
  Status numbers(std::vector<int64_t> &values, size_t most);
  Status metadata();
  Status tensor(FileTensor &tensor);

  std::string_view text;
  std::vector<FileTensor> &tensors;
  size_t at = 0;
};

bool HeaderParser::hex4(uint32_t &value) {
  if (text.size() - at < 4)
    return false;
  value = 0;
  for (int i = 0; i < 4; ++i) {
    char c = text[at++];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return false;
    value = value * 16 + digit;
  }
  return true;
}

Status HeaderParser::escape(std::string &out) {
  if (at >= text.size())
    return error("unfinished escape");
  char c = text[at++];
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  for (int i = 0; from[i]; ++i)
    if (c == from[i]) {
      out += to[i];
      return {};
    }
  uint32_t high, low;
  if (c != 'u' || !hex4(high))
    return error("bad escape");
  if (high >= 0xd800 && high < 0xdc00) {
    if (text.substr(at, 2) != "\\u")
      return error("half a surrogate pair");
    at += 2;
    if (!hex4(low) || low < 0xdc00 || low > 0xdfff)
      return error("half a surrogate pair");
    high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  } else if (high >= 0xdc00 && high < 0xe000) {
    return error("half a surrogate pair");
  }
  appendUtf8(out, high);
  return {};
}

Status HeaderParser::string(std::string &out) {
  out.clear();
  HEDDLE_TRY(expect('"'));
  for (;;) {
    if (at >= text.size())
      return error("unfinished string");
    char c = text[at];
    if (static_cast<unsigned char>(c) < 0x20)
      return error("control character in a string");
    ++at;
    if (c == '"')
      return {};
    if (c == '\\')
      HEDDLE_TRY(escape(out));
    else
      out += c;
  }
}

Status HeaderParser::number(int64_t &value) {
  skip();
  size_t start = at;
  value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[at] - '0', &value))
      return error("number too large");
  if (at == start)
    return error("expected a non-negative integer");
  if (at - start > 1 && text[start] == '0')
    return error("number with a leading zero");
  if (at < text.size() && (text[at] == '.' || text[at] == 'e' || text[at] == 'E'))
    return error("expected an integer");
  return {};
}

Status HeaderParser::numbers(std::vector<int64_t> &values, size_t most) {
  values.clear();
  HEDDLE_TRY(expect('['));
  if (take(']'))
    return {};
  do {
    if (values.size() == most)
      return error(format("more than %zu numbers", most));
    values.emplace_back();
    HEDDLE_TRY(number(values.back()));
  } while (take(','));
  return expect(']');
}

Status HeaderParser::metadata() {
  HEDDLE_TRY(expect('{'));
  if (take('}'))
    return {};
  std::set<std::string> keys;
  std::string key, value;
  do {
    HEDDLE_TRY(string(key));
    if (!keys.insert(key).second)
      return error("metadata key " + quote(key) + " appears twice");
    HEDDLE_TRY(expect(':'));
    HEDDLE_TRY(string(value));
  } while (take(','));
  return expect('}');
}

/// The object of one tensor: dtype, shape and data_offsets, each exactly once,
/// and as many bytes as the shape takes.
Status HeaderParser::tensor(FileTensor &tensor) {
  HEDDLE_TRY(expect('{'));
  bool seen[3] = {};
  std::vector<int64_t> offsets;
  std::string key;
  static const char *const keys[] = {"dtype", "shape", "data_offsets"};
  do {
    HEDDLE_TRY(string(key));
    int which = 0;
    while (which < 3 && key != keys[which])
      ++which;
    if (which == 3)
      return error("unknown key " + quote(key));
    if (seen[which])
      return error(quote(key) + " appears twice");
    seen[which] = true;
    HEDDLE_TRY(expect(':'));
    if (which == 0)
      HEDDLE_TRY(string(tensor.type));
    else if (which == 1)
      HEDDLE_TRY(numbers(tensor.shape, kMaxRank));
    else
      HEDDLE_TRY(numbers(offsets, 2));
  } while (take(','));
  HEDDLE_TRY(expect('}'));
  for (int i = 0; i < 3; ++i)
    if (!seen[i])
      return error(format("`%s` is missing", keys[i]));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return error("data_offsets must be a begin and an end after it");
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
  for (const DType &type : kTypes) {
    if (tensor.type != type.name)
      continue;
    std::optional<int64_t> count = elementCount(tensor.shape);
    int64_t bits;
    if (!count || __builtin_mul_overflow(*count, int64_t(type.bits), &bits))
      return error("the shape " + shapeText(tensor.shape) + " is too large");
    if (bits % 8 || uint64_t(bits / 8) != tensor.end - tensor.begin)
      return error(format("shape %s of %s takes %lld bytes, data_offsets span "
                          "%llu",
                          shapeText(tensor.shape).c_str(), type.name, static_cast<long long>(bits / 8),
                          static_cast<unsigned long long>(tensor.end - tensor.begin)));
    return {};
  }
  return error("unknown dtype " + quote(tensor.type));
}

Status HeaderParser::parse() {
  if (text.empty() || text[0] != '{')
    return error("a header begins with `{`");
  if (!isUtf8(text))
    return error("the header is no UTF-8");
  ++at;
  bool sawMetadata = false;
  std::set<std::string> names;
  if (!take('}')) {
    do {
      FileTensor item;
      HEDDLE_TRY(string(item.name));
      HEDDLE_TRY(expect(':'));
      if (item.name == "__metadata__") {
        if (sawMetadata)
          return error("two blocks of metadata");
        sawMetadata = true;
        HEDDLE_TRY(metadata());
        continue;
      }
      if (item.name.size() > kMaxName || item.name.find('\0') != std::string::npos)
        return error("a tensor name is too long or holds NUL");
      if (!names.insert(item.name).second)
        return error("tensor " + quote(item.name) + " appears twice");
      if (tensors.size() == kMaxTensors)
        return error("more than 1000000 tensors");
      Status status = tensor(item);
      if (!status.ok())
        return badFile("tensor " + quote(item.name) + ": " + status.message());
      tensors.push_back(std::move(item));
    } while (take(','));
    HEDDLE_TRY(expect('}'));
  }
  for (; at < text.size(); ++at)
    if (text[at] != ' ')
      return error("text after the header");
  return {};
}

} // namespace

// After parsing, the tensors in order of their offsets must fill the data
// without gaps and without overlap.
Status parseTensorHeader(std::string_view header, uint64_t dataBytes, std::vector<FileTensor> &tensors) {
  tensors.clear();
  HEDDLE_TRY(HeaderParser(header, tensors).parse());
  std::vector<const FileTensor *> order;
  for (const FileTensor &tensor : tensors)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const FileTensor *a, const FileTensor *b) {
    return std::tie(a->begin, a->end) < std::tie(b->begin, b->end);
  });
  uint64_t reached = 0;
  for (const FileTensor *tensor : order) {
    if (tensor->begin != reached)
      return badFile(format("tensor %s begins at byte %llu of the data, the one "
                            "before it ends at %llu",
                            quote(tensor->name).c_str(), static_cast<unsigned long long>(tensor->begin),
                            static_cast<unsigned long long>(reached)));
    reached = tensor->end;
  }
  if (reached != dataBytes)
    return badFile(format("the tensors take %llu bytes, the file holds %llu", static_cast<unsigned long long>(reached),
                          static_cast<unsigned long long>(dataBytes)));
  return {};
}

} // namespace heddle::rt
