// The rules of a header, event by event: 5 to 18, 23 and 24. Each tensor is
// checked when its object closes, so that only its record has to be kept.
#include "compiler/Weights/Safetensors/HeaderReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <tuple>

namespace heddle {

static constexpr llvm::StringRef metadataKey = "__metadata__";
static const char rewrite[] = "write the file again with the safetensors library";

bool HeaderReader::fail(Error rule, std::string message, uint64_t at, std::string help) {
  std::string tensor =
      where == In::Tensor || where == In::Shape || where == In::Offsets ? printable(current.name) : std::string();
  if (!problem)
    problem = brokenRule(rule, std::move(message), file, at, std::move(tensor), std::move(help));
  return false;
}

bool HeaderReader::parse_error(size_t position, const std::string &, const Json::exception &error) {
  if (problem)
    return false;
  if (isNumberTooLarge(error))
    return wrongNumber(numberAt(tokenStart()));
  uint64_t at = position ? position - 1 : 0;
  llvm::StringRef rest = text.substr(tokenStart());
  bool special = rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("-Infinity");
  return fail(Error::S06, special ? "NaN and Infinity are not JSON" : "the header is not valid JSON from here on",
              8 + (special ? tokenStart() : std::min<uint64_t>(at, text.size())), rewrite);
}

bool HeaderReader::wrongNumber(llvm::StringRef spelled) {
  std::string number = printable(spelled, 40);
  if (where == In::Shape)
    return fail(Error::S12, "the shape has the dimension " + number, 8 + tokenStart(),
                "dimensions are whole numbers from 0 to 2^63-1");
  if (where == In::Offsets)
    return fail(Error::S15, "`data_offsets` has the number " + number, 8 + tokenStart(),
                "`data_offsets` are two whole numbers");
  return wrongValue("a number");
}

bool HeaderReader::wrongValue(const char *what) {
  uint64_t at = 8 + tokenStart();
  std::string got = std::string(", got ") + what;
  switch (where) {
  case In::Document: return fail(Error::S04, "expected an object" + got, at, rewrite);
  case In::Top:
    if (current.name == metadataKey)
      return fail(Error::S09, "expected an object for `__metadata__`" + got, at,
                  "`__metadata__` maps strings to strings");
    return fail(Error::S10, "expected an object for the tensor" + got, at, rewrite);
  case In::Metadata:
    return fail(Error::S09, "expected a string in `__metadata__`" + got, at, "`__metadata__` maps strings to strings");
  case In::Shape:
    return fail(Error::S12, "expected a dimension in `shape`" + got, at,
                "dimensions are whole numbers from 0 to 2^63-1");
  case In::Offsets: return fail(Error::S15, "expected a data offset" + got, at, "`data_offsets` are two whole numbers");
  case In::Tensor:
    if (field == Field::Type)
      return fail(Error::S11, "expected a string for `dtype`" + got, at, rewrite);
    if (field == Field::Shape)
      return fail(Error::S12, "expected an array for `shape`" + got, at, rewrite);
    return fail(Error::S15, "expected an array for `data_offsets`" + got, at, rewrite);
  case In::Done: break;
  }
  return fail(Error::S05, "something follows the header's object", at, rewrite);
}

bool HeaderReader::start_object(size_t) {
  switch (where) {
  case In::Document: where = In::Top; break;
  case In::Top:
    // key() has checked the name already.
    where = current.name == metadataKey ? In::Metadata : In::Tensor;
    break;
  default: return wrongValue("an object");
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
    return !seen || fail(Error::S08, "`" + name + "` stands twice in this tensor", 8 + start, "remove one of the two");
  };
  if (name == "dtype")
    return once(current.type.has_value(), Field::Type);
  if (name == "shape")
    return once(current.hasShape, Field::Shape) && (current.hasShape = true);
  if (name == "data_offsets")
    return once(current.hasOffsets, Field::Offsets) && (current.hasOffsets = true);
  return fail(Error::S10, "unknown field `" + printable(name) + "`", 8 + start,
              "a tensor has exactly `dtype`, `shape` and `data_offsets`");
}

/// Rules 23 and 24, and the first half of 7 (`__metadata__` twice).
bool HeaderReader::newTensor(std::string &name) {
  uint64_t at = 8 + current.start;
  if (name == metadataKey) {
    current.name = name;
    if (sawMetadata)
      return fail(Error::S07, "`__metadata__` stands twice", at, "remove one of the two");
    sawMetadata = true;
    return true;
  }
  if (name.size() > limits.nameBytes)
    return fail(Error::S23,
                "a tensor's name is " + std::to_string(name.size()) + " bytes long, at most " +
                    std::to_string(limits.nameBytes) + " are read",
                at, "give the tensor a shorter name");
  if (llvm::StringRef(name).contains('\0'))
    return fail(Error::S23, "a tensor's name contains NUL", at, "rename the tensor");
  if (result.tensors.size() >= limits.tensors)
    return fail(Error::S24, "more than " + std::to_string(limits.tensors) + " tensors", at, "split the file");
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
      return fail(Error::S12, "the shape has more than " + std::to_string(limits.rank) + " dimensions",
                  8 + tokenStart(), "reshape the tensor");
    current.shape.push_back(int64_t(value));
  } else if (where == In::Offsets) {
    if (current.offsets.size() == 2)
      return fail(Error::S15, "`data_offsets` has more than two numbers", 8 + tokenStart(), rewrite);
    current.offsets.push_back(value);
  } else {
    return wrongValue("a number");
  }
  advance();
  return true;
}

bool HeaderReader::end_object() {
  bool good = where == In::Metadata ? closeMetadata() : where == In::Tensor ? closeTensor() : true;
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
      return fail(Error::S08, "key `" + printable(result.metadata[order[i]].first) + "` stands twice in `__metadata__`",
                  8 + metadataAt[order[i]], "remove one of the two");
  return true;
}

/// Rules 10, 11 and 13 to 18: everything that one tensor can get wrong by
/// itself.
bool HeaderReader::closeTensor() {
  const char *missing = !current.type         ? "dtype"
                        : !current.hasShape   ? "shape"
                        : !current.hasOffsets ? "data_offsets"
                                              : nullptr;
  if (missing)
    return failTensor(Error::S10, std::string("the tensor has no `") + missing + "`",
                      "a tensor has exactly `dtype`, `shape` and `data_offsets`");
  std::optional<StoredType> type = storedTypeOf(*current.type);
  std::optional<unsigned> bits;
  if (type)
    bits = width(*type) * 8;
  else
    bits = bitsOfForeignType(*current.type);
  if (!bits)
    return fail(Error::S11, "unknown dtype `" + printable(*current.type, 40) + "`", 8 + current.typeAt,
                "the format knows F64 F32 F16 BF16 I64 I32 I16 I8 "
                "U8 BOOL and a few that Heddle does not read");
  if (current.offsets.size() != 2)
    return fail(Error::S15, "`data_offsets` has " + std::to_string(current.offsets.size()) + " numbers, expected two",
                8 + current.offsetsAt, rewrite);

  // Without the dimensions that are 0 the product must fit, too: strides are
  // products of dimensions, and the verdict must not depend on which one is 0.
  uint64_t product = 1;
  bool empty = false, overflow = false;
  for (int64_t dim : current.shape) {
    empty |= dim == 0;
    bool o = false;
    product = llvm::SaturatingMultiply(product, uint64_t(dim ? dim : 1), &o);
    overflow |= o || product > uint64_t(INT64_MAX);
  }
  if (overflow)
    return fail(Error::S13, "the product of the shape's dimensions exceeds 2^63-1", 8 + current.shapeAt, rewrite);
  if (empty)
    product = 0;
  uint64_t totalBits = llvm::SaturatingMultiply(product, uint64_t(*bits), &overflow);
  if (overflow)
    return fail(Error::S14, "the size of the tensor in bits exceeds 2^64", 8 + current.shapeAt, rewrite);
  if (totalBits % 8)
    return fail(Error::S14,
                std::to_string(product) + " elements of " + std::to_string(*bits) +
                    " bits are not a whole number of bytes",
                8 + current.shapeAt, rewrite);

  uint64_t begin = current.offsets[0], end = current.offsets[1], bytes = totalBits / 8;
  std::string range = "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
  if (begin > end)
    return fail(Error::S16, "the data range " + range + " ends before it begins", 8 + current.offsetsAt, rewrite);
  if (end > dataBytes)
    return fail(Error::S17,
                "the data range " + range + " ends behind the file's " + std::to_string(dataBytes) + " bytes of data",
                8 + current.offsetsAt, "the file is probably a download that was cut short: fetch it again");
  if (end - begin != bytes)
    return fail(Error::S18,
                "the data range " + range + " is " + std::to_string(end - begin) + " bytes, dtype and shape need " +
                    std::to_string(bytes),
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

} // namespace heddle
