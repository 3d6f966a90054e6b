//===- ArrayHeader.cpp - The header of a NumPy array (.npy) ---------------===//
//
// The text is a Python dictionary of exactly three keys. What numpy itself does
// not write is refused.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/ArrayHeader.h"
#include "heddle/printable.h"

#include <algorithm>

namespace heddle::base {

static constexpr size_t kMostAxes = 32;
static const char kSaveAgain[] = "write it again with numpy.save";

namespace {

struct NumpyType {
  char kind;
  unsigned width;
  const char *name; ///< in safetensors
};

constexpr NumpyType kTypes[] = {{'b', 1, "BOOL"}, {'i', 1, "I8"},  {'i', 2, "I16"}, {'i', 4, "I32"},
                                {'i', 8, "I64"},  {'u', 1, "U8"},  {'u', 2, "U16"}, {'u', 4, "U32"},
                                {'u', 8, "U64"},  {'f', 2, "F16"}, {'f', 4, "F32"}, {'f', 8, "F64"}};

/// What a type is that no tensor has, and what helps.
std::pair<const char *, const char *> otherType(char kind, std::string_view size) {
  switch (kind) {
  case 'O': return {"Python objects, which are a pickle", "a pickle may run code and is never read; give it a dtype"};
  case 'c': return {"complex numbers", "save its .real and .imag"};
  case 'f': return {"numbers that no tensor has", "save x.astype(numpy.float32)"};
  case 'S':
  case 'a':
  case 'U': return {"texts", "texts are given as ids"};
  case 'M':
  case 'm': return {"times", "save x.astype(numpy.int64)"};
  case 'V':
    return size == "2" ? std::pair("raw bytes of width 2, as ml_dtypes.bfloat16 is saved",
                                   "numpy has no bfloat16: save x.astype(numpy.float32), or use safetensors")
                       : std::pair("raw bytes", "save an array of numbers");
  default: return {"of a type that numpy does not have", "save x.astype(numpy.float32)"};
  }
}

/// Reads the dictionary. Each function returns false after an error, which is then in `problem`.
class DictionaryParser {
public:
  DictionaryParser(std::string_view text, uint64_t start, ArrayHeader &header)
      : text(text), start(start), header(header) {}

  ArrayResult run() {
    if (dictionary() && sizes())
      return std::nullopt;
    return std::move(problem);
  }

private:
  bool fail(std::string message, std::string help = kSaveAgain) {
    problem = ArrayProblem{std::move(message), start + std::min(at, text.size()), "", std::move(help)};
    return false;
  }
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  /// Takes a character, behind blanks.
  bool take(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool need(char c) { return take(c) || fail(std::string("`") + c + "` expected in the header of the array"); }

  bool quoted(std::string_view &out) {
    skip();
    char quote = at < text.size() ? text[at] : ' ';
    size_t end = quote == '\'' || quote == '"' ? text.find(quote, at + 1) : text.npos;
    if (end == text.npos)
      return fail("a text in quotes expected in the header of the array");
    out = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }

  bool dictionary() {
    if (!need('{'))
      return false;
    while (!take('}')) {
      std::string_view key;
      if (!quoted(key) || !need(':') || !value(key))
        return false;
      if (!take(',')) {
        if (!need('}'))
          return false;
        break;
      }
    }
    skip();
    if (at != text.size())
      return fail("something follows the header of the array");
    const char *missing = !seen[0] ? "descr" : !seen[1] ? "fortran_order" : !seen[2] ? "shape" : nullptr;
    return !missing || fail(std::string("the header of the array has no `") + missing + "`");
  }

  bool value(std::string_view key) {
    static constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};
    auto found = std::find(std::begin(kKeys), std::end(kKeys), key);
    if (found == std::end(kKeys))
      return fail("the header of the array has a key `" + printable(key, 40) + "`, which numpy does not write");
    bool &had = seen[found - kKeys];
    if (had)
      return fail("the header of the array has `" + std::string(key) + "` twice");
    had = true;
    return found == kKeys ? type() : found == kKeys + 1 ? order() : shape();
  }

  bool type() {
    skip();
    if (at < text.size() && text[at] == '[')
      return fail("the array has fields, a structure for each element; tensors have numbers",
                  "save its fields as separate arrays");
    std::string_view word;
    size_t place = at;
    if (!quoted(word))
      return false;
    std::string_view rest = word;
    char order = rest.empty() ? ' ' : rest[0];
    bool ordered = order == '<' || order == '>' || order == '=' || order == '|';
    rest.remove_prefix(ordered);
    header.bigEndian = order == '>';
    for (const NumpyType &one : kTypes)
      if (rest.size() == 2 && rest[0] == one.kind && unsigned(rest[1] - '0') == one.width) {
        header.type = one.name;
        header.width = one.width;
        return true;
      }
    at = place;
    auto [what, help] = otherType(rest.empty() ? ' ' : rest[0], rest.substr(std::min<size_t>(1, rest.size())));
    return fail("the array is `" + printable(word, 40) + "`, " + what, help);
  }

  bool order() {
    skip();
    header.fortran = text.substr(at, 4) == "True";
    if (!header.fortran && text.substr(at, 5) != "False")
      return fail("True or False expected for `fortran_order`");
    at += header.fortran ? 4 : 5;
    return true;
  }

  bool shape() {
    if (!need('('))
      return false;
    bool comma = true;
    while (!take(')')) {
      int64_t length = 0;
      if (!comma)
        return fail("`,` expected between the lengths of `shape`");
      if (!number(length))
        return false;
      if (header.shape.size() == kMostAxes)
        return fail("the array has more than " + std::to_string(kMostAxes) + " axes", "reshape it");
      header.shape.push_back(length);
      comma = take(',');
    }
    // (3) is a number in Python, and no tuple.
    return header.shape.size() != 1 || comma || fail("`shape` is a number, a tuple expected: (3,)");
  }

  bool number(int64_t &value) {
    skip();
    size_t first = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[at] - '0', &value))
        return fail("a length of `shape` is beyond 2^63-1");
    if (at == first)
      return fail("a length expected in `shape`, a whole number from 0");
    if (at < text.size() && text[at] == 'L') // as Python 2 wrote it
      ++at;
    return true;
  }

  /// Without the lengths that are 0 the product must fit, too: strides are products of lengths.
  bool sizes() {
    int64_t count = 1, bytes = 0;
    bool empty = false;
    for (int64_t length : header.shape) {
      empty |= length == 0;
      if (__builtin_mul_overflow(count, std::max<int64_t>(length, 1), &count))
        return fail("the array has more than 2^63-1 elements");
    }
    if (__builtin_mul_overflow(count, int64_t(header.width), &bytes))
      return fail("the array has more than 2^63-1 bytes");
    header.bytes = empty ? 0 : uint64_t(bytes);
    return true;
  }

  std::string_view text;
  uint64_t start; ///< byte of the file where `text` begins
  ArrayHeader &header;
  size_t at = 0;
  bool seen[3] = {};
  ArrayProblem problem;
};

} // namespace

ArrayResult readArrayHeader(std::string_view first, ArrayHeader &header) {
  header = {};
  auto byte = [&](size_t i) { return uint64_t(static_cast<unsigned char>(first[i])); };
  static const char kCutShort[] = "the file was cut short: copy it again";
  if (first.substr(0, kArrayMagic.size()) != kArrayMagic)
    return ArrayProblem{"an array begins with the bytes 93 `NUMPY`; these are others", 0, "", kSaveAgain};
  if (first.size() < 10)
    return ArrayProblem{"the header of the array is incomplete", first.size(), "", kCutShort};
  uint64_t version = byte(6), length = byte(8) | byte(9) << 8, before = 10;
  if (version < 1 || version > 3 || byte(7) != 0)
    return ArrayProblem{"the array is of format version " + std::to_string(version) + "." + std::to_string(byte(7)) +
                            "; 1.0, 2.0 and 3.0 are read",
                        6, "", kSaveAgain};
  if (version > 1) {
    if (first.size() < 12)
      return ArrayProblem{"the header of the array is incomplete", first.size(), "", kCutShort};
    length |= byte(10) << 16 | byte(11) << 24;
    before = 12;
  }
  if (length > kMostArrayHeader - 12)
    return ArrayProblem{"the header of the array would be " + std::to_string(length) + " bytes long; at most " +
                            std::to_string(kMostArrayHeader - 12) + " are read",
                        8, "", kSaveAgain};
  if (length > first.size() - before)
    return ArrayProblem{"the header of the array is incomplete", first.size(), "", kCutShort};
  header.start = before + length;
  return DictionaryParser(first.substr(before, length), before, header).run();
}

// As numpy writes it: with blanks and a line end the elements begin at a multiple of 64.
std::string arrayHeaderText(std::string_view type, const std::vector<int64_t> &shape) {
  std::string lengths;
  for (size_t i = 0; i < shape.size(); ++i)
    lengths += (i ? ", " : "") + std::to_string(shape[i]) + (shape.size() == 1 ? "," : "");
  const char *descr = type == "F32" ? "<f4" : type == "F64" ? "<f8" : type == "I64" ? "<i8" : "|b1";
  std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + lengths + "), }";
  size_t whole = (10 + text.size() + 1 + 63) / 64 * 64;
  text.resize(whole - 11, ' ');
  uint64_t length = text.size() + 1;
  std::string out(kArrayMagic);
  out += {'\1', '\0', char(length & 0xff), char(length >> 8)};
  return out + text + "\n";
}

} // namespace heddle::base
