//===- TensorHeader.cpp - The header of a safetensors file ----------------===//
//
// Exactly what the format allows: an object of objects of three known keys. A
// scan over the raw bytes first settles what JSON leaves open (UTF-8, nesting). Each tensor is checked when its object
// closes; what concerns tensors together comes last. Everything is sorted, nothing hashed: no input makes it slow.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/TensorHeader.h"
#include "heddle/printable.h"
#include "heddle/utf8.h"
#include "runtime/Base/HeaderCursor.h"

#include <algorithm>
#include <tuple>

namespace heddle::base {

static constexpr std::string_view kMetadata = "__metadata__";
static constexpr unsigned kDeepest = 4;
static const char kRewrite[] = "write the file again with the safetensors library";
static const char kStringsOnly[] = "`__metadata__` maps strings to strings";
static const char kDimensions[] = "dimensions are whole numbers from 0 to 2^63-1";
static const char kCutShort[] = "the download was cut short: fetch the file again";

std::optional<unsigned> bitsOfType(std::string_view word) {
  // clang-format off
  static constexpr std::pair<std::string_view, unsigned> kTypes[] = {
      {"F64", 64}, {"F32", 32}, {"F16", 16}, {"BF16", 16}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8},
      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}, {"C64", 64},
      {"I64", 64}, {"I32", 32}, {"I16", 16}, {"I8", 8},
      {"U64", 64}, {"U32", 32}, {"U16", 16}, {"U8", 8}, {"BOOL", 8}};
  // clang-format on
  for (const auto &[name, bits] : kTypes)
    if (name == word)
      return bits;
  return std::nullopt;
}

namespace {

std::string text(uint64_t number) { return std::to_string(number); }

class HeaderParser final : HeaderCursor {
public:
  HeaderParser(std::string_view header, uint64_t fileBytes, const HeaderLimits &limits, HeaderTable &table)
      : HeaderCursor(header), dataBytes(fileBytes - 8 - header.size()), limits(limits), table(table) {}

  std::optional<HeaderProblem> run() {
    if (scan() && document())
      checkTogether();
    return std::move(problem);
  }

private:
  enum class In : uint8_t { Top, Tensor, Metadata, Shape, Offsets };
  enum class Field : uint8_t { Type, Shape, Offsets };

  // Each returns false after an error, which is then in `problem`. Places are offsets into the header.
  bool fail(Error rule, std::string message, size_t place, std::string help);
  bool failTensor(Error rule, std::string message, std::string help) {
    return fail(rule, std::move(message), current.nameByte - 8, std::move(help));
  }
  bool notJson(size_t place) override;
  bool wrongValue(const char *what, size_t place);
  bool wrongNumber(std::string_view spelled, size_t place);

  bool scan();
  bool document();
  bool top(const std::string &name, size_t place);
  bool field(const std::string &name, size_t place);
  bool value();
  bool object();
  bool array(size_t place);
  bool stringValue(size_t place);
  bool numberValue(size_t place);
  bool closeMetadata();
  bool closeTensor();
  bool checkTogether();

  uint64_t dataBytes;
  HeaderLimits limits;
  HeaderTable &table;
  std::optional<HeaderProblem> problem;

  In where = In::Top;
  Field open = Field::Type;
  bool sawMetadata = false;
  /// The tensor whose object is open.
  TensorEntry current;
  bool hasType = false, hasShape = false, hasOffsets = false;
  std::vector<uint64_t> offsets;
  size_t shapeAt = 0, offsetsAt = 0;
  std::vector<size_t> metadataAt;
};

bool HeaderParser::fail(Error rule, std::string message, size_t place, std::string help) {
  bool ofTensor = where == In::Tensor || where == In::Shape || where == In::Offsets;
  problem = {rule, std::move(message), 8 + place, ofTensor ? printable(current.name) : std::string(), std::move(help)};
  return false;
}

bool HeaderParser::notJson(size_t place) {
  std::string_view rest = header.substr(std::min(place, header.size()));
  for (std::string_view special : {"NaN", "Infinity", "-Infinity"})
    if (rest.substr(0, special.size()) == special)
      return fail(Error::S06, "NaN and Infinity are not JSON", place, kRewrite);
  return fail(Error::S06, "the header is not valid JSON from here on", std::min(place, header.size()), kRewrite);
}

bool HeaderParser::wrongNumber(std::string_view spelled, size_t place) {
  std::string number = printable(spelled, 40);
  if (where == In::Shape)
    return fail(Error::S12, "the shape has the dimension " + number, place, kDimensions);
  if (where == In::Offsets)
    return fail(Error::S15, "`data_offsets` has the number " + number, place, "`data_offsets` are two whole numbers");
  return wrongValue("a number", place);
}

bool HeaderParser::wrongValue(const char *what, size_t place) {
  std::string got = std::string(", got ") + what;
  switch (where) {
  case In::Top:
    if (current.name == kMetadata)
      return fail(Error::S09, "expected an object for `__metadata__`" + got, place, kStringsOnly);
    return fail(Error::S10, "expected an object for the tensor" + got, place, kRewrite);
  case In::Metadata: return fail(Error::S09, "expected a string in `__metadata__`" + got, place, kStringsOnly);
  case In::Shape: return fail(Error::S12, "expected a dimension in `shape`" + got, place, kDimensions);
  case In::Offsets:
    return fail(Error::S15, "expected a data offset" + got, place, "`data_offsets` are two whole numbers");
  case In::Tensor: break;
  }
  if (open == Field::Type)
    return fail(Error::S11, "expected a string for `dtype`" + got, place, kRewrite);
  if (open == Field::Shape)
    return fail(Error::S12, "expected an array for `shape`" + got, place, kRewrite);
  return fail(Error::S15, "expected an array for `data_offsets`" + got, place, kRewrite);
}

/// Rules 3, 4 and the nesting of rule 6, on the raw bytes.
bool HeaderParser::scan() {
  if (header.empty() || header[0] != '{')
    return fail(Error::S04, "the header does not begin with `{`", 0,
                "this is no safetensors file; check what was downloaded");
  if (size_t bad = invalidUtf8(header); bad != header.npos)
    return fail(Error::S03, "the header is not valid UTF-8", bad, kRewrite);
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < header.size(); ++i) {
    char c = header[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest)
        return fail(Error::S06, "the header is nested deeper than 4", i, kRewrite);
    } else if ((c == '}' || c == ']') && depth) {
      --depth;
    }
  }
  return true;
}

//===-- the rules -----------------------------------------------------------===//

bool HeaderParser::document() {
  at = 1; // behind `{`
  if (!members([&](const std::string &name, size_t place) { return top(name, place); }, [&] { return value(); }))
    return false;
  size_t rest = header.find_first_not_of(' ', at);
  return rest == header.npos || fail(Error::S05, "only spaces may follow the header's object", rest, kRewrite);
}

/// Rules 23 and 24, and the first half of 7 (`__metadata__` twice).
bool HeaderParser::top(const std::string &name, size_t place) {
  current = {};
  current.nameByte = 8 + place;
  hasType = hasShape = hasOffsets = false;
  offsets.clear();
  if (name == kMetadata) {
    current.name = name;
    if (sawMetadata)
      return fail(Error::S07, "`__metadata__` occurs twice", place, "remove one of the two");
    sawMetadata = true;
    return true;
  }
  if (name.size() > limits.nameBytes)
    return fail(Error::S23,
                "a tensor's name is " + text(name.size()) + " bytes long, at most " + text(limits.nameBytes) +
                    " are read",
                place, "give the tensor a shorter name");
  if (name.find('\0') != name.npos)
    return fail(Error::S23, "a tensor's name contains NUL", place, "rename the tensor");
  if (table.tensors.size() >= limits.tensors)
    return fail(Error::S24, "more than " + text(limits.tensors) + " tensors", place, "split the file");
  current.name = name;
  return true;
}

bool HeaderParser::field(const std::string &name, size_t place) {
  auto once = [&](bool &seen, Field which) {
    open = which;
    if (seen)
      return fail(Error::S08, "`" + name + "` occurs twice in this tensor", place, "remove one of the two");
    return seen = true;
  };
  if (name == "dtype")
    return once(hasType, Field::Type);
  if (name == "shape")
    return once(hasShape, Field::Shape);
  if (name == "data_offsets")
    return once(hasOffsets, Field::Offsets);
  return fail(Error::S10, "unknown field `" + printable(name) + "`", place,
              "a tensor has exactly `dtype`, `shape` and `data_offsets`");
}

/// A value of any kind where `where` says: what belongs there is taken, all else is refused by its rule.
bool HeaderParser::value() {
  skipSpace();
  size_t place = at;
  if (take('{'))
    return where == In::Top ? object() : wrongValue("an object", place);
  if (take('['))
    return where == In::Tensor && open != Field::Type ? array(place) : wrongValue("an array", place);
  if (sees('"'))
    return stringValue(place);
  if (seesNumber())
    return numberValue(place);
  if (sees('t') || sees('f'))
    return word(sees('t') ? "true" : "false") && wrongValue("a boolean", place);
  if (sees('n'))
    return word("null") && wrongValue("null", place);
  return notJson(place);
}

/// `__metadata__` or a tensor, behind `{`.
bool HeaderParser::object() {
  bool metadata = current.name == kMetadata;
  where = metadata ? In::Metadata : In::Tensor;
  auto key = [&](const std::string &name, size_t place) {
    if (!metadata)
      return field(name, place);
    metadataAt.push_back(place);
    table.metadata.emplace_back(name, std::string());
    return true;
  };
  if (!members(key, [&] { return value(); }) || !(metadata ? closeMetadata() : closeTensor()))
    return false;
  where = In::Top;
  return true;
}

/// `shape` or `data_offsets`, behind `[`.
bool HeaderParser::array(size_t place) {
  bool shape = open == Field::Shape;
  (shape ? shapeAt : offsetsAt) = place;
  where = shape ? In::Shape : In::Offsets;
  if (!items([&] { return value(); }))
    return false;
  where = In::Tensor;
  return true;
}

bool HeaderParser::stringValue(size_t place) {
  std::string got;
  if (!string(got))
    return false;
  if (where == In::Metadata) {
    table.metadata.back().second = std::move(got);
    return true;
  }
  if (where != In::Tensor || open != Field::Type)
    return wrongValue("a string", place);
  current.typeByte = 8 + place;
  current.type = std::move(got);
  return true;
}

bool HeaderParser::numberValue(size_t place) {
  std::string_view spelled;
  if (!number(spelled))
    return false;
  uint64_t got = 0;
  bool whole = true;
  for (char c : spelled)
    whole = whole && c >= '0' && c <= '9' && !__builtin_mul_overflow(got, uint64_t(10), &got) &&
            !__builtin_add_overflow(got, uint64_t(c - '0'), &got);
  if (!whole || (where == In::Shape && got > uint64_t(INT64_MAX)))
    return wrongNumber(spelled, place);
  if (where == In::Shape) {
    if (current.shape.size() >= limits.rank)
      return fail(Error::S12, "the shape has more than " + text(limits.rank) + " dimensions", place,
                  "reshape the tensor");
    current.shape.push_back(int64_t(got));
    return true;
  }
  if (where != In::Offsets)
    return wrongValue("a number", place);
  if (offsets.size() == 2)
    return fail(Error::S15, "`data_offsets` has more than two numbers", place, kRewrite);
  offsets.push_back(got);
  return true;
}

bool HeaderParser::closeMetadata() {
  std::vector<size_t> order(table.metadata.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto name = [&](size_t i) -> const std::string & { return table.metadata[i].first; };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::tie(name(a), a) < std::tie(name(b), b); });
  for (size_t i = 1; i < order.size(); ++i)
    if (name(order[i - 1]) == name(order[i]))
      return fail(Error::S08, "key `" + printable(name(order[i])) + "` occurs twice in `__metadata__`",
                  metadataAt[order[i]], "remove one of the two");
  return true;
}

/// Rules 10, 11 and 13 to 18: everything that one tensor can get wrong by itself.
bool HeaderParser::closeTensor() {
  const char *missing = !hasType ? "dtype" : !hasShape ? "shape" : !hasOffsets ? "data_offsets" : nullptr;
  if (missing)
    return failTensor(Error::S10, std::string("the tensor has no `") + missing + "`",
                      "a tensor has exactly `dtype`, `shape` and `data_offsets`");
  std::optional<unsigned> bits = bitsOfType(current.type);
  if (!bits)
    return fail(Error::S11, "unknown dtype `" + printable(current.type, 40) + "`", current.typeByte - 8,
                "the format knows F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL and a few that Heddle does not read");
  if (offsets.size() != 2)
    return fail(Error::S15, "`data_offsets` has " + text(offsets.size()) + " numbers, expected two", offsetsAt,
                kRewrite);

  // Without the dimensions that are 0 the product must fit, too: strides are products of dimensions, and the verdict
  // must not depend on which one is 0.
  uint64_t product = 1, totalBits = 0;
  bool empty = false;
  for (int64_t dim : current.shape) {
    empty |= dim == 0;
    if (__builtin_mul_overflow(product, uint64_t(dim ? dim : 1), &product) || product > uint64_t(INT64_MAX))
      return fail(Error::S13, "the product of the shape's dimensions exceeds 2^63-1", shapeAt, kRewrite);
  }
  if (empty)
    product = 0;
  if (__builtin_mul_overflow(product, uint64_t(*bits), &totalBits))
    return fail(Error::S14, "the size of the tensor in bits exceeds 2^64", shapeAt, kRewrite);
  if (totalBits % 8)
    return fail(Error::S14, text(product) + " elements of " + text(*bits) + " bits are not a whole number of bytes",
                shapeAt, kRewrite);

  uint64_t begin = offsets[0], end = offsets[1], bytes = totalBits / 8;
  std::string range = "[" + text(begin) + ", " + text(end) + ")";
  if (begin > end)
    return fail(Error::S16, "the data range " + range + " ends before it begins", offsetsAt, kRewrite);
  if (end > dataBytes)
    return fail(Error::S17, "the data range " + range + " ends after the file's " + text(dataBytes) + " bytes of data",
                offsetsAt, "the file is probably a download that was cut short: fetch it again");
  if (end - begin != bytes)
    return fail(Error::S18,
                "the data range " + range + " is " + text(end - begin) + " bytes, dtype and shape need " + text(bytes),
                offsetsAt, kRewrite);
  current.begin = begin;
  current.end = end;
  table.tensors.push_back(std::move(current));
  return true;
}

/// Rule 7, and 19 to 21: in order of offset the tensors fill the data from its first byte to the end of the file. An
/// empty tensor may be between two others, never inside one.
bool HeaderParser::checkTogether() {
  std::vector<const TensorEntry *> order;
  for (const TensorEntry &tensor : table.tensors)
    order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const TensorEntry *a, const TensorEntry *b) {
    return std::tie(a->name, a->nameByte) < std::tie(b->name, b->nameByte);
  });
  auto refuse = [&](Error rule, std::string message, uint64_t byte, const TensorEntry *tensor, const char *help) {
    problem = {rule, std::move(message), byte, tensor ? printable(tensor->name) : std::string(), help};
    return false;
  };
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->name == order[i]->name)
      return refuse(Error::S07, "the name occurs twice, first at byte " + text(order[i - 1]->nameByte),
                    order[i]->nameByte, order[i], "rename or remove one of the two");
  std::sort(order.begin(), order.end(), [](const TensorEntry *a, const TensorEntry *b) {
    return std::tie(a->begin, a->end, a->name) < std::tie(b->begin, b->end, b->name);
  });
  uint64_t reached = 0, dataStart = 8 + header.size();
  const TensorEntry *before = nullptr;
  for (const TensorEntry *tensor : order) {
    if (tensor->begin != reached) {
      bool gap = tensor->begin > reached, inside = !gap && tensor->begin == tensor->end;
      std::string other =
          before ? "tensor `" + printable(before->name) + "`" : std::string("the beginning of the data");
      std::string message = gap      ? text(tensor->begin - reached) + " bytes are unused after " + other
                            : inside ? "an empty tensor is inside " + other
                                     : "the data overlaps " + other + " by " + text(reached - tensor->begin) + " bytes";
      return refuse(inside ? Error::S21 : Error::S19, std::move(message), dataStart + tensor->begin, tensor, kRewrite);
    }
    reached = tensor->end;
    if (tensor->begin != tensor->end)
      before = tensor;
  }
  return reached == dataBytes || refuse(Error::S20, text(dataBytes - reached) + " bytes follow the last tensor's data",
                                        dataStart + reached, before, "cut them off or write the file again");
}

} // namespace

std::optional<HeaderProblem> readHeaderLength(std::string_view firstBytes, uint64_t fileBytes,
                                              const HeaderLimits &limits, uint64_t &length) {
  if (fileBytes < 8 || firstBytes.size() < 8)
    return HeaderProblem{Error::S01, "the file has " + text(fileBytes) + " bytes, at least 8 are needed", 0, "",
                         kCutShort};
  length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(firstBytes[size_t(i)]);
  std::string announced = "the header would be " + text(length) + " bytes long, ";
  if (length > limits.headerBytes)
    return HeaderProblem{Error::S02, announced + "at most " + text(limits.headerBytes) + " are read", 0, "",
                         "this is no safetensors file; check what was downloaded"};
  if (length > fileBytes - 8)
    return HeaderProblem{Error::S02, announced + "but only " + text(fileBytes - 8) + " follow", 0, "", kCutShort};
  return std::nullopt;
}

std::optional<HeaderProblem> readHeader(std::string_view header, uint64_t fileBytes, const HeaderLimits &limits,
                                        HeaderTable &table) {
  table = {};
  if (fileBytes < 8 || header.size() > fileBytes - 8)
    return HeaderProblem{Error::S02, "the header is longer than the file", 0, "", kCutShort};
  return HeaderParser(header, fileBytes, limits, table).run();
}

} // namespace heddle::base
