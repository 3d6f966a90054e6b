// A request as one line of text, for IR attributes, reports and sharing:
//   panel32 f32 "h.0.attn.weight"[768 x 2304] rows 12 x 192 : 0..64 in_out
//   natural f32 "a"[1 x 64], "b"[1 x 64] from 128 interleave 16 count 8
//   literal 0a0b0c
#include "compiler/Weights/PackPlan.h"
#include "compiler/Weights/Problem.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

namespace heddle {

static const char *word(PackLayout layout) {
  switch (layout) {
  case PackLayout::Natural:
    return "natural";
  case PackLayout::Transposed:
    return "transposed";
  case PackLayout::Panel32:
    return "panel32";
  case PackLayout::Literal:
    return "literal";
  }
  return "";
}

static const char *word(PackedType type) {
  switch (type) {
  case PackedType::F32:
    return "f32";
  case PackedType::BF16:
    return "bf16";
  case PackedType::F16:
    return "f16";
  case PackedType::I64:
    return "i64";
  case PackedType::Bool:
    return "bool";
  }
  return "";
}

/// Everything but letters, digits and a few marks as \xx, so that lines stay
/// lines.
static std::string quoted(llvm::StringRef name) {
  std::string text = "\"";
  for (unsigned char c : name) {
    if (llvm::isAlnum(c) || llvm::StringRef("._-/:{} ").contains(char(c))) {
      text += char(c);
    } else {
      text += '\\';
      text += llvm::hexdigit(c >> 4, true);
      text += llvm::hexdigit(c & 15, true);
    }
  }
  return text + "\"";
}

std::string PackRequest::str() const {
  std::string text = word(layout);
  if (layout == PackLayout::Literal)
    return text + " " + llvm::toHex(literal, /*LowerCase=*/true);
  text += std::string(" ") + word(type);
  bool first = true;
  for (const PackPiece &piece : pieces) {
    text += (first ? " " : ", ") + quoted(piece.tensor) + "[" +
            std::to_string(piece.n) + " x " + std::to_string(piece.k) + "]";
    first = false;
    if (piece.take.groups)
      text += " rows " + std::to_string(piece.take.groups) + " x " +
              std::to_string(piece.take.stride) + " : " +
              std::to_string(piece.take.begin) + ".." +
              std::to_string(piece.take.end);
    if (piece.start)
      text += " from " + std::to_string(piece.start);
  }
  if (inOut)
    text += " in_out";
  if (interleave)
    text += " interleave " + std::to_string(interleave);
  if (count != 1)
    text += " count " + std::to_string(count);
  return text;
}

namespace {
class Reader {
public:
  explicit Reader(llvm::StringRef text) : text(text) {}

  bool eat(llvm::StringRef token) {
    llvm::StringRef rest = text.ltrim(' ');
    if (!rest.consume_front(token))
      return false;
    text = rest;
    return true;
  }
  bool number(int64_t &value) {
    text = text.ltrim(' ');
    return !text.consumeInteger(10, value) && value >= 0;
  }
  bool name(std::string &value) {
    if (!eat("\""))
      return false;
    while (!text.empty() && text.front() != '"') {
      char c = text.front();
      text = text.drop_front();
      if (c == '\\') {
        if (text.size() < 2 || !llvm::isHexDigit(text[0]) ||
            !llvm::isHexDigit(text[1]))
          return false;
        c = char(llvm::hexFromNibbles(text[0], text[1]));
        text = text.drop_front(2);
      }
      value += c;
    }
    return eat("\"");
  }
  bool atEnd() { return text.trim(' ').empty(); }

  llvm::StringRef text;
};
} // namespace

static bool parseLayout(Reader &in, PackLayout &layout) {
  for (PackLayout each : {PackLayout::Natural, PackLayout::Transposed,
                          PackLayout::Panel32, PackLayout::Literal})
    if (in.eat(word(each)))
      return layout = each, true;
  return false;
}

static bool parseType(Reader &in, PackedType &type) {
  for (PackedType each : {PackedType::F32, PackedType::BF16, PackedType::F16,
                          PackedType::I64, PackedType::Bool})
    if (in.eat(word(each)))
      return type = each, true;
  return false;
}

static bool parsePiece(Reader &in, PackPiece &piece) {
  if (!in.name(piece.tensor) || !in.eat("[") || !in.number(piece.n) ||
      !in.eat("x") || !in.number(piece.k) || !in.eat("]"))
    return false;
  if (in.eat("rows") && !(in.number(piece.take.groups) && in.eat("x") &&
                          in.number(piece.take.stride) && in.eat(":") &&
                          in.number(piece.take.begin) && in.eat("..") &&
                          in.number(piece.take.end)))
    return false;
  return !in.eat("from") || in.number(piece.start);
}

absl::StatusOr<PackRequest> PackRequest::parse(llvm::StringRef text) {
  Reader in(text);
  PackRequest request;
  bool good = parseLayout(in, request.layout);
  if (good && request.layout == PackLayout::Literal) {
    llvm::StringRef digits = in.text.trim(' ');
    good =
        digits.size() % 2 == 0 && llvm::tryGetFromHex(digits, request.literal);
  } else if (good) {
    good = parseType(in, request.type);
    do {
      request.pieces.emplace_back();
      good = good && parsePiece(in, request.pieces.back());
    } while (good && in.eat(","));
    request.inOut = good && in.eat("in_out");
    if (good && in.eat("interleave"))
      good = in.number(request.interleave);
    if (good && in.eat("count"))
      good = in.number(request.count);
    good = good && in.atEnd();
  }
  if (!good) {
    WeightProblem problem{"H0902",
                          "",
                          "expected a packing request, got `" +
                              printable(text) + "`",
                          "packing plan",
                          uint64_t(in.text.data() - text.data()),
                          "",
                          ""};
    return toStatus(problem);
  }
  if (absl::Status status = request.check(); !status.ok())
    return status;
  return request;
}

} // namespace heddle
