// Two passes. A scan over the raw bytes settles what JSON leaves open (UTF-8, nesting);
// the SAX pass then builds the table and checks each tensor as its object closes. What
// concerns tensors together (duplicate names, tiling of the data) comes last. No DOM is
// built: memory stays proportional to the header.
#include "compiler/Weights/SafetensorsHeader.h"
#include "compiler/Weights/JsonCursor.h"
#include "compiler/Weights/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <tuple>

namespace heddle {
namespace {

constexpr llvm::StringRef metadataKey = "__metadata__";
constexpr unsigned deepest = 4;
const char rewrite[] = "write the file again with the safetensors library";

/// A tensor of a type that Heddle does not compute with; checked like the others and
/// refused only when the file is sound.
struct ForeignTensor {
  std::string name, word;
  uint64_t at = 0;
};

class HeaderReader : public JsonCursor {
public:
  HeaderReader(llvm::StringRef header, uint64_t fileBytes, llvm::StringRef file,
               const HeaderLimits &limits)
      : JsonCursor(header), file(printable(file, 4096)), fileBytes(fileBytes),
        dataStart(8 + header.size()), dataBytes(fileBytes - dataStart), limits(limits) {
    result.storage = std::make_unique<llvm::BumpPtrAllocator>();
  }

  absl::StatusOr<SafetensorsHeader> run();

  // SAX events; false stops the parser, `problem` says why.
  bool key(std::string &name);
  bool string(std::string &value);
  bool number_unsigned(uint64_t value);
  // Whole numbers without a sign arrive at number_unsigned; -0 arrives here.
  bool number_integer(int64_t value) {
    return wrongNumber(value ? std::to_string(value) : "-0");
  }
  bool number_float(double, const std::string &spelled) { return wrongNumber(spelled); }
  bool null() { return wrongValue("null"); }
  bool boolean(bool) { return wrongValue("a boolean"); }
  bool binary(std::vector<uint8_t> &) { return wrongValue("binary data"); }
  bool start_object(size_t);
  bool end_object();
  bool start_array(size_t);
  bool end_array();
  bool parse_error(size_t position, const std::string &, const Json::exception &);

private:
  enum class In { Document, Top, Tensor, Metadata, Shape, Offsets, Done };
  enum class Field { None, Type, Shape, Offsets };

  bool fail(int rule, std::string message, uint64_t at, std::string help);
  bool failTensor(int rule, std::string message, std::string help) {
    return fail(rule, std::move(message), 8 + current.start, std::move(help));
  }
  bool wrongNumber(llvm::StringRef spelled);
  bool wrongValue(const char *what);
  bool scan();
  bool newTensor(std::string &name);
  bool closeTensor();
  bool closeMetadata();
  bool checkNames();
  bool checkTiling();
  bool checkTypes();
  void warn();

  std::string file;
  uint64_t fileBytes, dataStart, dataBytes;
  HeaderLimits limits;
  SafetensorsHeader result;
  std::optional<WeightProblem> problem;
  absl::StatusCode problemKind = absl::StatusCode::kInvalidArgument;

  In where = In::Document;
  Field field = Field::None;
  bool sawMetadata = false;
  /// Offsets into the header: of this tensor's name, of the token at hand.
  struct {
    uint64_t start = 0;
    std::string name;
    std::optional<std::string> type;
    bool hasShape = false, hasOffsets = false;
    uint64_t typeAt = 0, shapeAt = 0, offsetsAt = 0;
    std::vector<int64_t> shape;
    std::vector<uint64_t> offsets;
  } current;
  std::vector<uint64_t> metadataAt;
  std::optional<ForeignTensor> foreign;
  size_t foreignCount = 0;
};

bool HeaderReader::fail(int rule, std::string message, uint64_t at, std::string help) {
  std::string tensor = where == In::Tensor || where == In::Shape || where == In::Offsets
                           ? printable(current.name)
                           : std::string();
  if (!problem)
    problem = brokenRule(rule, std::move(message), file, at, std::move(tensor),
                         std::move(help));
  return false;
}

/// Rules 3, 4 and the nesting of rule 6, on the raw bytes.
bool HeaderReader::scan() {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *at = begin;
  if (text.empty() || text[0] != '{')
    return fail(4, "the header does not begin with `{`", 8,
                "this is no safetensors file; check what was downloaded");
  if (!llvm::isLegalUTF8String(&at, begin + text.size()))
    return fail(3, "the header is not valid UTF-8", 8 + (at - begin), rewrite);
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > deepest)
        return fail(6, "the header is nested deeper than 4", 8 + i, rewrite);
    } else if ((c == '}' || c == ']') && depth) {
      --depth;
    }
  }
  return true;
}

bool HeaderReader::parse_error(size_t position, const std::string &,
                               const Json::exception &) {
  if (problem)
    return false;
  uint64_t at = position ? position - 1 : 0;
  llvm::StringRef rest = text.substr(tokenStart());
  bool special = rest.starts_with("NaN") || rest.starts_with("Infinity") ||
                 rest.starts_with("-Infinity");
  return fail(6,
              special ? "NaN and Infinity are not JSON"
                      : "the header is not valid JSON from here on",
              8 + (special ? tokenStart() : std::min<uint64_t>(at, text.size())),
              rewrite);
}

bool HeaderReader::wrongNumber(llvm::StringRef spelled) {
  std::string number = printable(spelled, 40);
  if (where == In::Shape)
    return fail(12, "the shape has the dimension " + number, 8 + tokenStart(),
                "dimensions are whole numbers from 0 to 2^63-1");
  if (where == In::Offsets)
    return fail(15, "`data_offsets` has the number " + number, 8 + tokenStart(),
                "`data_offsets` are two whole numbers");
  return wrongValue("a number");
}

bool HeaderReader::wrongValue(const char *what) {
  uint64_t at = 8 + tokenStart();
  std::string got = std::string(", got ") + what;
  switch (where) {
  case In::Document:
    return fail(4, "expected an object" + got, at, rewrite);
  case In::Top:
    if (current.name == metadataKey)
      return fail(9, "expected an object for `__metadata__`" + got, at,
                  "`__metadata__` maps strings to strings");
    return fail(10, "expected an object for the tensor" + got, at, rewrite);
  case In::Metadata:
    return fail(9, "expected a string in `__metadata__`" + got, at,
                "`__metadata__` maps strings to strings");
  case In::Shape:
    return fail(12, "expected a dimension in `shape`" + got, at,
                "dimensions are whole numbers from 0 to 2^63-1");
  case In::Offsets:
    return fail(15, "expected a data offset" + got, at,
                "`data_offsets` are two whole numbers");
  case In::Tensor:
    if (field == Field::Type)
      return fail(11, "expected a string for `dtype`" + got, at, rewrite);
    if (field == Field::Shape)
      return fail(12, "expected an array for `shape`" + got, at, rewrite);
    return fail(15, "expected an array for `data_offsets`" + got, at, rewrite);
  case In::Done:
    break;
  }
  return fail(5, "something follows the header's object", at, rewrite);
}

bool HeaderReader::start_object(size_t) {
  switch (where) {
  case In::Document:
    where = In::Top;
    break;
  case In::Top:
    // key() has looked at the name already.
    where = current.name == metadataKey ? In::Metadata : In::Tensor;
    break;
  default:
    return wrongValue("an object");
  }
  advance();
  return true;
}

bool HeaderReader::start_array(size_t) {
  if (where == In::Tensor && field == Field::Shape) {
    where = In::Shape;
    current.shapeAt = tokenStart();
  } else if (where == In::Tensor && field == Field::Offsets) {
    where = In::Offsets;
    current.offsetsAt = tokenStart();
  } else {
    return wrongValue("an array");
  }
  advance();
  return true;
}

bool HeaderReader::end_array() {
  where = In::Tensor;
  advance();
  return true;
}

bool HeaderReader::key(std::string &name) {
  uint64_t start = tokenStart();
  advance();
  if (where == In::Metadata) {
    metadataAt.push_back(start);
    result.metadata.emplace_back(name, std::string());
    return true;
  }
  if (where == In::Top) {
    current = {};
    current.start = start;
    return newTensor(name);
  }
  auto once = [&](bool seen, Field which) {
    field = which;
    return !seen || fail(8, "`" + name + "` stands twice in this tensor", 8 + start,
                         "remove one of the two");
  };
  if (name == "dtype")
    return once(current.type.has_value(), Field::Type);
  if (name == "shape")
    return once(current.hasShape, Field::Shape) && (current.hasShape = true);
  if (name == "data_offsets")
    return once(current.hasOffsets, Field::Offsets) && (current.hasOffsets = true);
  return fail(10, "unknown field `" + printable(name) + "`", 8 + start,
              "a tensor has exactly `dtype`, `shape` and `data_offsets`");
}

/// Rules 23 and 24, and the first half of 7 (`__metadata__` twice).
bool HeaderReader::newTensor(std::string &name) {
  uint64_t at = 8 + current.start;
  if (name == metadataKey) {
    current.name = name;
    if (sawMetadata)
      return fail(7, "`__metadata__` stands twice", at, "remove one of the two");
    sawMetadata = true;
    return true;
  }
  if (name.size() > limits.nameBytes)
    return fail(23,
                "a tensor's name is " + std::to_string(name.size()) +
                    " bytes long, at most " + std::to_string(limits.nameBytes) +
                    " are read",
                at, "give the tensor a shorter name");
  if (llvm::StringRef(name).contains('\0'))
    return fail(23, "a tensor's name contains NUL", at, "rename the tensor");
  if (result.tensors.size() >= limits.tensors)
    return fail(24, "more than " + std::to_string(limits.tensors) + " tensors", at,
                "split the file");
  current.name = std::move(name);
  return true;
}

bool HeaderReader::string(std::string &value) {
  if (where == In::Metadata) {
    result.metadata.back().second = std::move(value);
  } else if (where == In::Tensor && field == Field::Type) {
    current.typeAt = tokenStart();
    current.type = std::move(value);
  } else {
    return wrongValue("a string");
  }
  advance();
  return true;
}

bool HeaderReader::number_unsigned(uint64_t value) {
  if (where == In::Shape) {
    if (value > uint64_t(INT64_MAX))
      return wrongNumber(std::to_string(value));
    if (current.shape.size() >= limits.rank)
      return fail(12, "the shape has more than " + std::to_string(limits.rank) + " dimensions",
                  8 + tokenStart(), "reshape the tensor");
    current.shape.push_back(int64_t(value));
  } else if (where == In::Offsets) {
    if (current.offsets.size() == 2)
      return fail(15, "`data_offsets` has more than two numbers", 8 + tokenStart(),
                  rewrite);
    current.offsets.push_back(value);
  } else {
    return wrongValue("a number");
  }
  advance();
  return true;
}

bool HeaderReader::end_object() {
  bool good = where == In::Metadata ? closeMetadata()
              : where == In::Tensor ? closeTensor()
                                    : true;
  where = where == In::Top ? In::Done : In::Top;
  advance();
  return good;
}

bool HeaderReader::closeMetadata() {
  std::vector<size_t> order(result.metadata.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tie(result.metadata[a].first, a) < std::tie(result.metadata[b].first, b);
  });
  for (size_t i = 1; i < order.size(); ++i)
    if (result.metadata[order[i - 1]].first == result.metadata[order[i]].first)
      return fail(8,
                  "key `" + printable(result.metadata[order[i]].first) +
                      "` stands twice in `__metadata__`",
                  8 + metadataAt[order[i]], "remove one of the two");
  return true;
}

/// Rules 10, 11 and 13 to 18: everything that one tensor can get wrong by itself.
bool HeaderReader::closeTensor() {
  const char *missing = !current.type         ? "dtype"
                        : !current.hasShape   ? "shape"
                        : !current.hasOffsets ? "data_offsets"
                                              : nullptr;
  if (missing)
    return failTensor(10, std::string("the tensor has no `") + missing + "`",
                      "a tensor has exactly `dtype`, `shape` and `data_offsets`");
  std::optional<StoredType> type = storedTypeOf(*current.type);
  std::optional<unsigned> bits;
  if (type)
    bits = width(*type) * 8;
  else
    bits = bitsOfForeignType(*current.type);
  if (!bits)
    return fail(11, "unknown dtype `" + printable(*current.type, 40) + "`",
                8 + current.typeAt, "the format knows F64 F32 F16 BF16 I64 I32 I16 I8 "
                                    "U8 BOOL and a few that Heddle does not read");
  if (current.offsets.size() != 2)
    return fail(15,
                "`data_offsets` has " + std::to_string(current.offsets.size()) +
                    " numbers, expected two",
                8 + current.offsetsAt, rewrite);

  // The product of the dimensions that are not 0 must fit as well: strides are made of
  // it, and the answer must not depend on where the 0 stands.
  uint64_t product = 1;
  bool empty = false, overflow = false;
  for (int64_t dim : current.shape) {
    empty |= dim == 0;
    bool o = false;
    product = llvm::SaturatingMultiply(product, uint64_t(dim ? dim : 1), &o);
    overflow |= o || product > uint64_t(INT64_MAX);
  }
  if (overflow)
    return fail(13, "the product of the shape's dimensions exceeds 2^63-1", 8 + current.shapeAt,
                rewrite);
  if (empty)
    product = 0;
  uint64_t totalBits = llvm::SaturatingMultiply(product, uint64_t(*bits), &overflow);
  if (overflow)
    return fail(14, "the size of the tensor in bits exceeds 2^64", 8 + current.shapeAt,
                rewrite);
  if (totalBits % 8)
    return fail(14,
                std::to_string(product) + " elements of " + std::to_string(*bits) +
                    " bits are not a whole number of bytes",
                8 + current.shapeAt, rewrite);

  uint64_t begin = current.offsets[0], end = current.offsets[1], bytes = totalBits / 8;
  std::string range =
      "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
  if (begin > end)
    return fail(16, "the data range " + range + " ends before it begins",
                8 + current.offsetsAt, rewrite);
  if (end > dataBytes)
    return fail(17,
                "the data range " + range + " ends behind the file's " +
                    std::to_string(dataBytes) + " bytes of data",
                8 + current.offsetsAt,
                "the file is probably a download that was cut short: fetch it again");
  if (end - begin != bytes)
    return fail(18,
                "the data range " + range + " is " + std::to_string(end - begin) +
                    " bytes, dtype and shape need " + std::to_string(bytes),
                8 + current.offsetsAt, rewrite);

  TensorRecord record;
  record.name = llvm::StringRef(current.name).copy(*result.storage);
  record.shape = llvm::ArrayRef<int64_t>(current.shape).copy(*result.storage);
  record.type = type.value_or(StoredType::U8);
  record.byte = dataStart + begin;
  record.bytes = bytes;
  record.headerByte = 8 + current.start;
  if (!type && !foreignCount++)
    foreign = ForeignTensor{printable(current.name), *current.type, 8 + current.typeAt};
  result.tensors.push_back(record);
  return true;
}

/// Rule 7. Sorting instead of hashing: no input makes it slow.
bool HeaderReader::checkNames() {
  llvm::sort(result.tensors, [](const TensorRecord &a, const TensorRecord &b) {
    return std::tie(a.name, a.headerByte) < std::tie(b.name, b.headerByte);
  });
  for (size_t i = 1; i < result.tensors.size(); ++i) {
    const TensorRecord &one = result.tensors[i - 1], &two = result.tensors[i];
    if (one.name != two.name)
      continue;
    problem = brokenRule(7,
                         "the name stands twice, first at byte " +
                             std::to_string(one.headerByte),
                         file, two.headerByte, printable(two.name),
                         "rename or remove one of the two");
    return false;
  }
  return true;
}

/// Rules 19 to 21: sorted by place, the ranges tile the data from its first byte to the
/// end of the file. Empty tensors may stand on any seam, never inside another tensor.
bool HeaderReader::checkTiling() {
  std::vector<const TensorRecord *> order;
  order.reserve(result.tensors.size());
  for (const TensorRecord &tensor : result.tensors)
    order.push_back(&tensor);
  llvm::sort(order, [](const TensorRecord *a, const TensorRecord *b) {
    return std::tie(a->byte, a->bytes, a->name) < std::tie(b->byte, b->bytes, b->name);
  });
  uint64_t cursor = dataStart;
  const TensorRecord *before = nullptr;
  for (const TensorRecord *tensor : order) {
    if (tensor->byte != cursor) {
      bool gap = tensor->byte > cursor;
      uint64_t distance = gap ? tensor->byte - cursor : cursor - tensor->byte;
      std::string other = before ? "tensor `" + printable(before->name) + "`"
                                 : std::string("the beginning of the data");
      int rule = !gap && tensor->bytes == 0 ? 21 : 19;
      problem = brokenRule(
          rule,
          gap ? std::to_string(distance) + " bytes lie unused behind " + other
              : (rule == 21 ? "an empty tensor lies inside " + other
                            : "the data overlaps " + other + " by " +
                                  std::to_string(distance) + " bytes"),
          file, tensor->byte, printable(tensor->name), rewrite);
      return false;
    }
    cursor += tensor->bytes;
    if (tensor->bytes)
      before = tensor;
  }
  if (cursor == fileBytes)
    return true;
  problem = brokenRule(20,
                       std::to_string(fileBytes - cursor) +
                           " bytes follow the last tensor's data",
                       file, cursor, before ? printable(before->name) : std::string(),
                       "cut them off or write the file again");
  return false;
}

/// The second half of rule 11.
bool HeaderReader::checkTypes() {
  if (!foreign)
    return true;
  problemKind = absl::StatusCode::kUnimplemented;
  std::string more = foreignCount == 1
                         ? std::string()
                         : " (and " + std::to_string(foreignCount - 1) + " more tensors)";
  problem = brokenRule(11,
                       "dtype " + foreign->word +
                           " is valid in safetensors but not supported" + more,
                       file, foreign->at, foreign->name,
                       "convert the tensor to F32, BF16 or F16 (integers to I64)");
  return false;
}

void HeaderReader::warn() {
  if (dataStart % 8)
    result.warnings.push_back(file + ": the data begins at byte " +
                              std::to_string(dataStart) +
                              ", not at a multiple of 8; it is read by copying (S22)");
  size_t count = 0;
  const TensorRecord *first = nullptr;
  for (const TensorRecord &tensor : result.tensors)
    if (tensor.bytes && tensor.byte % width(tensor.type) && !count++)
      first = &tensor;
  if (count && dataStart % 8 == 0)
    result.warnings.push_back(file + ": byte " + std::to_string(first->byte) +
                              ": tensor `" + printable(first->name) + "`" +
                              (count > 1 ? " and " + std::to_string(count - 1) + " more"
                                         : std::string()) +
                              " not aligned to the element size; read by copying (S22)");
}

absl::StatusOr<SafetensorsHeader> HeaderReader::run() {
  bool good = scan() && parse(*this);
  if (good) {
    // The parser stops behind the object; NUL or text there would go unseen otherwise.
    size_t rest = text.find_first_not_of(' ', end());
    if (rest != llvm::StringRef::npos)
      good = fail(5, "only spaces may follow the header's object", 8 + rest, rewrite);
  }
  good = good && checkNames() && checkTiling() && checkTypes();
  if (!good) {
    if (!problem)
      fail(6, "the header is not valid JSON", 8 + end(), rewrite);
    return toStatus(*problem, problemKind);
  }
  warn();
  return std::move(result);
}

} // namespace

const TensorRecord *SafetensorsHeader::find(llvm::StringRef name) const {
  auto it = llvm::lower_bound(tensors, name, [](const TensorRecord &a, llvm::StringRef b) {
    return a.name < b;
  });
  return it != tensors.end() && it->name == name ? &*it : nullptr;
}

absl::StatusOr<uint64_t> safetensorsHeaderLength(llvm::StringRef first,
                                                 uint64_t fileBytes,
                                                 llvm::StringRef file,
                                                 const HeaderLimits &limits) {
  std::string shown = printable(file, 4096);
  if (fileBytes < 8 || first.size() < 8)
    return toStatus(brokenRule(
        1, "the file has " + std::to_string(fileBytes) + " bytes, at least 8 are needed",
        shown, 0, "", "the download was cut short: fetch the file again"));
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | uint8_t(first[i]);
  if (length > limits.headerBytes)
    return toStatus(brokenRule(
        2,
        "the header would be " + std::to_string(length) + " bytes long, at most " +
            std::to_string(limits.headerBytes) + " are read",
        shown, 0, "", "this is no safetensors file; check what was downloaded"));
  if (length > fileBytes - 8)
    return toStatus(brokenRule(
        2,
        "the header would be " + std::to_string(length) +
            " bytes long, but only " + std::to_string(fileBytes - 8) + " follow",
        shown, 0, "", "the download was cut short: fetch the file again"));
  return length;
}

absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(llvm::StringRef header,
                                                         uint64_t fileBytes,
                                                         llvm::StringRef file,
                                                         const HeaderLimits &limits) {
  if (fileBytes < 8 || header.size() > fileBytes - 8)
    return toStatus(brokenRule(2, "the header is longer than the file",
                               printable(file, 4096), 0, "",
                               "the download was cut short: fetch the file again"));
  return HeaderReader(header, fileBytes, file, limits).run();
}

} // namespace heddle
