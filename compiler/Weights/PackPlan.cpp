// Sizes come from files and users, so every product here is checked once, in
// check(); the accessors may then multiply freely.
#include "compiler/Weights/PackPlan.h"
#include "compiler/Weights/Problem.h"
#include "compiler/Weights/WeightStore.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

namespace heddle {

/// Far beyond any file, and low enough that sums of two never overflow.
static constexpr int64_t mostElements = int64_t(1) << 56;

unsigned width(PackedType type) {
  switch (type) {
  case PackedType::F32:
    return 4;
  case PackedType::BF16:
  case PackedType::F16:
    return 2;
  case PackedType::I64:
    return 8;
  case PackedType::Bool:
    return 1;
  }
  return 0;
}

int64_t PackPiece::taken() const {
  return take.groups ? take.groups * (take.end - take.begin) : n;
}

int64_t PackPiece::row(int64_t i) const {
  if (!take.groups)
    return i;
  int64_t each = take.end - take.begin;
  return i / each * take.stride + take.begin + i % each;
}

PackRequest PackRequest::natural(llvm::StringRef tensor, int64_t elements,
                                 PackedType type) {
  PackRequest request;
  request.type = type;
  request.pieces.push_back({tensor.str(), 1, elements, {}, 0});
  return request;
}

PackRequest PackRequest::transposed(llvm::StringRef tensor, int64_t rows,
                                    int64_t cols, PackedType type) {
  PackRequest request;
  request.layout = PackLayout::Transposed;
  request.type = type;
  request.pieces.push_back({tensor.str(), rows, cols, {}, 0});
  return request;
}

PackRequest PackRequest::panel32(llvm::StringRef tensor, int64_t n, int64_t k,
                                 bool inOut, RowGroups take, PackedType type) {
  PackRequest request;
  request.layout = PackLayout::Panel32;
  request.type = type;
  request.inOut = inOut;
  request.pieces.push_back({tensor.str(), n, k, take, 0});
  return request;
}

PackRequest PackRequest::bytesOf(llvm::StringRef bytes) {
  PackRequest request;
  request.layout = PackLayout::Literal;
  request.literal = bytes.str();
  return request;
}

int64_t PackRequest::n() const {
  int64_t sum = 0;
  for (const PackPiece &piece : pieces)
    sum += piece.taken();
  return sum;
}

int64_t PackRequest::k() const { return pieces.empty() ? 0 : pieces.front().k; }

uint64_t PackRequest::matrixBytes() const {
  if (layout == PackLayout::Literal)
    return literal.size();
  uint64_t rows = n(), columns = k();
  if (layout == PackLayout::Panel32) {
    rows = llvm::alignTo(rows, 32);
    if (width(type) == 2)
      columns = llvm::alignTo(columns, 2);
  }
  return rows * columns * width(type);
}

uint64_t PackRequest::bytes() const { return matrixBytes() * uint64_t(count); }

static absl::Status badRequest(const PackRequest &request,
                               std::string message) {
  WeightProblem problem{"H0902",
                        "",
                        "internal error: " + std::move(message),
                        "packing plan",
                        std::nullopt,
                        request.pieces.empty()
                            ? std::string()
                            : printable(request.pieces.front().tensor),
                        ""};
  return toStatus(problem, absl::StatusCode::kInternal);
}

absl::Status PackRequest::check() const {
  if (layout == PackLayout::Literal) {
    if (!pieces.empty() || count != 1)
      return badRequest(*this, "a literal has no tensors");
    return absl::OkStatus();
  }
  if (pieces.empty() || count < 1 || count > mostElements || interleave < 0)
    return badRequest(*this, "a request needs a tensor and a count");
  bool panels = layout == PackLayout::Panel32;
  if (panels && type != PackedType::F32 && width(type) != 2)
    return badRequest(*this, "panels are f32, bf16 or f16");
  int64_t rows = 0;
  for (const PackPiece &piece : pieces) {
    const RowGroups &take = piece.take;
    if (piece.tensor.empty())
      return badRequest(*this, "a tensor without a name");
    if (piece.n < 0 || piece.k < 0 || piece.start < 0 ||
        piece.n > mostElements || piece.k > mostElements ||
        piece.start > mostElements || take.groups < 0)
      return badRequest(*this, "a size out of range");
    if (piece.k != k())
      return badRequest(*this, "pieces of different width");
    if (take.groups &&
        (take.begin < 0 || take.begin >= take.end || take.end > take.stride ||
         take.stride > piece.n || take.groups > piece.n / take.stride))
      return badRequest(*this, "rows outside of the tensor");
    if (interleave && piece.taken() != pieces.front().taken())
      return badRequest(*this, "interleaved pieces of different height");
    rows += piece.taken();
    if (rows > mostElements)
      return badRequest(*this, "too many rows");
  }
  bool overflow = false;
  uint64_t total = llvm::SaturatingMultiply(uint64_t(rows + 32),
                                            uint64_t(k() + 1), &overflow);
  bool more = false;
  total = llvm::SaturatingMultiply(total, uint64_t(count), &more);
  if (overflow || more || total > uint64_t(mostElements))
    return badRequest(*this, "more elements than fit");
  return absl::OkStatus();
}

absl::Status PackRequest::check(const WeightStore &store) const {
  if (absl::Status status = check(); !status.ok())
    return status;
  const char differ[] =
      "the description and the weights are of different models";
  bool integral = type == PackedType::I64 || type == PackedType::Bool;
  for (const PackPiece &piece : pieces) {
    absl::StatusOr<const StoredTensor *> tensor = store.get(piece.tensor);
    if (!tensor.ok())
      return tensor.status();
    auto wrong = [&](std::string message) {
      return toStatus(brokenRule(
          26, std::move(message), (*tensor)->file->path(),
          (*tensor)->record->headerByte, printable(piece.tensor), differ));
    };
    // check() bounded the rows taken; here they are all rows of the tensor.
    bool overflow = false, more = false;
    uint64_t each = llvm::SaturatingMultiply(uint64_t(piece.n),
                                             uint64_t(piece.k), &overflow);
    uint64_t wants = llvm::SaturatingMultiplyAdd(each, uint64_t(count),
                                                 uint64_t(piece.start), &more);
    uint64_t has = (*tensor)->elements();
    if (overflow || more || wants > has)
      return wrong("the tensor has " + std::to_string(has) +
                   " elements, the program reads " + std::to_string(wants));
    if (integral && isReal((*tensor)->type()))
      return wrong(
          "the tensor holds real numbers, the program expects integers");
  }
  return absl::OkStatus();
}

absl::Status PackPlan::checkOrder() const {
  uint64_t end = 0;
  for (const PackEntry &entry : entries) {
    if (entry.offset < end || entry.offset % alignment ||
        entry.bytes != entry.request.bytes())
      return badRequest(entry.request, "entries out of order");
    // No request is near 2^63 bytes, so a wrapped end shows as one that does
    // not grow.
    end = entry.offset + entry.bytes;
    if (end < entry.offset)
      return badRequest(entry.request, "an entry behind the end of memory");
  }
  if (bytes < end || bytes % alignment)
    return badRequest(PackRequest(), "entries behind the end");
  return absl::OkStatus();
}

absl::Status PackPlan::check(const WeightStore &store) const {
  for (const PackEntry &entry : entries)
    if (absl::Status status = entry.request.check(store); !status.ok())
      return status;
  return checkOrder();
}

absl::StatusOr<PackPlan> PackPlan::parse(llvm::StringRef text) {
  PackPlan plan;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    PackEntry entry;
    llvm::StringRef rest = line.ltrim(' ');
    bool bad = rest.consumeInteger(10, entry.offset);
    rest = rest.ltrim(' ');
    bad |= rest.consumeInteger(10, entry.bytes);
    if (bad)
      return badRequest(PackRequest(),
                        "expected `offset bytes request`, got `" +
                            printable(line) + "`");
    absl::StatusOr<PackRequest> request = PackRequest::parse(rest);
    if (!request.ok())
      return request.status();
    entry.request = *std::move(request);
    plan.bytes = llvm::alignTo(entry.offset + entry.bytes, alignment);
    plan.entries.push_back(std::move(entry));
  }
  if (absl::Status status = plan.checkOrder(); !status.ok())
    return status;
  return plan;
}

std::string PackPlan::str() const {
  std::string text;
  for (const PackEntry &entry : entries)
    text += std::to_string(entry.offset) + " " + std::to_string(entry.bytes) +
            " " + entry.request.str() + "\n";
  return text;
}

absl::StatusOr<uint64_t> PackPlanBuilder::add(const PackRequest &request) {
  if (absl::Status status = request.check(); !status.ok())
    return status;
  auto [it, fresh] = placed.try_emplace(request.str(), built.bytes);
  if (!fresh)
    return it->second;
  PackEntry entry{request, built.bytes, request.bytes()};
  built.bytes = llvm::alignTo(entry.offset + entry.bytes, PackPlan::alignment);
  built.entries.push_back(std::move(entry));
  return built.entries.back().offset;
}

} // namespace heddle
