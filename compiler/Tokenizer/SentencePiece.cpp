//===- SentencePiece.cpp - Files of pieces of words -----------------------===//
//
// Numbers of fields are those of SentencePiece's sentencepiece_model.proto.
//
//===----------------------------------------------------------------------===//
#include "compiler/Tokenizer/SentencePiece.h"

#include <cstring>
#include <utility>

namespace heddle {

namespace {

/// One field of a message: a number, or bytes that may be a message.
struct Field {
  uint64_t number = 0, value = 0;
  std::string_view bytes;
};

/// Walks over the fields of a message.
class Fields {
public:
  Fields(std::string_view bytes, size_t offset) : bytes(bytes), offset(offset) {}

  /// The next field; false at the end, and where the bytes are no message (`isBroken`).
  bool next(Field &field);
  bool isBroken() const { return broken; }
  /// The place in the file of what `next` looks at next, and of the bytes of the last field.
  size_t place() const { return offset + at; }
  size_t placeOf(const Field &field) const { return offset + at - field.bytes.size(); }

private:
  bool fail() {
    broken = true;
    return false;
  }
  bool varint(uint64_t &value);
  bool take(uint64_t count, std::string_view &part) {
    if (count > bytes.size() - at)
      return fail();
    part = bytes.substr(at, count);
    at += count;
    return true;
  }

  std::string_view bytes;
  size_t offset, at = 0;
  bool broken = false;
};

} // namespace

bool Fields::varint(uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == bytes.size())
      return fail();
    auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return fail();
}

bool Fields::next(Field &field) {
  uint64_t key = 0;
  if (broken || at == bytes.size() || !varint(key))
    return false;
  field = {key >> 3, 0, {}};
  switch (key & 7) {
  case 0: return varint(field.value);
  case 1: return take(8, field.bytes);
  case 2: return varint(field.value) && take(field.value, field.bytes);
  case 5: {
    uint32_t word = 0;
    if (!take(4, field.bytes))
      return false;
    memcpy(&word, field.bytes.data(), 4);
    field.value = word;
    return true;
  }
  default: return fail();
  }
}

static PieceFile::Piece pieceOf(Fields &fields) {
  PieceFile::Piece piece;
  for (Field field; fields.next(field);)
    if (field.number == 1) {
      piece.text = std::string(field.bytes);
    } else if (field.number == 2) {
      auto word = uint32_t(field.value);
      float score = 0;
      memcpy(&score, &word, 4);
      piece.score = score;
    } else if (field.number == 3) {
      piece.kind = field.value;
    }
  return piece;
}

bool PieceFile::read(std::string_view bytes, std::string &error) {
  Fields all(bytes, 0);
  auto broken = [&](const Fields &fields) {
    error = "no SentencePiece model: byte " + std::to_string(fields.place()) + " is in no field";
    return false;
  };
  for (Field field; all.next(field);) {
    Fields inner(field.bytes, all.placeOf(field));
    if (field.number == 1)
      pieces.push_back(pieceOf(inner));
    Field part;
    if (field.number == 2) // how it was trained
      while (inner.next(part)) {
        if (part.number == 3)
          model = part.value;
        if (part.number == 24)
          spacesEndWords = part.value != 0;
      }
    if (field.number == 3) // the normalizer
      while (inner.next(part)) {
        if (part.number == 2)
          charsMap = std::string(part.bytes);
        for (auto [number, flag] : {std::pair(3, &prefixesSpace), {4, &collapsesSpaces}, {5, &escapesSpaces}})
          if (part.number == uint64_t(number))
            *flag = part.value != 0;
      }
    if (inner.isBroken())
      return broken(inner);
  }
  if (all.isBroken())
    return broken(all);
  if (pieces.empty())
    error = "no SentencePiece model: it has no pieces";
  return !pieces.empty();
}

} // namespace heddle
