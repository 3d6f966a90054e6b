//===- AttnOps.cpp - the attn dialect: verifiers, inference, bucket rules ----===//

#include "dialects/Attn/IR/Misfit.h"
#include "dialects/Model/IR/TensorType.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace heddle::attn;
using heddle::model::ModelTensorType;
using heddle::model::Size;
using heddle::model::typeOf;

#include "dialects/Attn/IR/AttnDialect.cpp.inc"
#include "dialects/Attn/IR/AttnEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Attn/IR/AttnTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Attn/IR/AttnOps.cpp.inc"

namespace {
/// The tiles of attentions are named in front of a module.
struct ShortNames final : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<ScheduleAttr>(attr))
      return AliasResult::NoAlias;
    os << "attention";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void AttnDialect::initialize() {
  registerAttributes();
  addInterfaces<ShortNames>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Attn/IR/AttnTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Attn/IR/AttnOps.cpp.inc"
      >();
}

LogicalResult SdpaOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor op,
                                       SmallVectorImpl<Type> &out) {
  ModelTensorType q = typeOf(op.getQuery()), k = typeOf(op.getKey()), v = typeOf(op.getValue());
  if (q.getRank() != 3 || k.getRank() != 3 || v.getRank() != 3) // sdpa_c1
    return emitOptionalError(loc, "attention expects [B, rows, heads x width], found ", q, ", ", k, ", ", v);
  for (ModelTensorType t : {k, v})
    if (t.getSize(0) != q.getSize(0) && !t.getSize(0).is(1))
      return emitOptionalError(loc, "batch axes differ: ", q.getSize(0).str(), " and ", t.getSize(0).str());
  if (k.getSize(1) != v.getSize(1))
    return emitOptionalError(loc, "keys have ", k.getSize(1).str(), " rows, values ", v.getSize(1).str());
  int64_t h = op.getHeads(), g = op.getKvHeads();
  if (h < 1 || g < 1 || h % g) // sdpa_c2
    return emitOptionalError(loc, "'kv_heads' must divide 'heads' (", h, "), but got ", g);
  std::optional<Size> w = q.getSize(2).exactDiv(Size(h)), kw = k.getSize(2).exactDiv(Size(g)),
                      u = v.getSize(2).exactDiv(Size(g));
  if (!w || !kw || !u)
    return emitOptionalError(loc, "features do not divide into heads: query ", q.getSize(2).str(), " into ", h,
                             ", key ", k.getSize(2).str(), " and value ", v.getSize(2).str(), " into ", g);
  if (*w != *kw)
    return emitOptionalError(loc, "query heads are ", w->str(), " wide, key heads ", kw->str());
  if (op.getSinks() && (typeOf(op.getSinks()).getRank() != 1 || !typeOf(op.getSinks()).getSize(0).is(h))) // sdpa_c3
    return emitOptionalError(loc, "sinks must be [", h, "], found ", typeOf(op.getSinks()));
  ModelTensorType result = q.withSize(2, *u * Size(h));
  if (std::string why = heddle::model::unfitShape(result.getSizes(), result.getElementType()); !why.empty())
    return emitOptionalError(loc, "the result ", why);
  out.push_back(result);
  return success();
}

/// The heads that a part of a bias has numbers for; nothing: any number of heads will do, or its axes say it.
static std::optional<Size> headsOf(Operation *part) {
  auto axis = [](Value v, int64_t rank, int64_t at) {
    return typeOf(v).getRank() == rank ? std::optional(typeOf(v).getSize(at)) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, std::optional<Size>>(part)
      .Case([&](AlibiOp op) { return axis(op.getSlopes(), 1, 0); })
      .Case([&](BucketBiasOp op) { return axis(op.getTable(), 2, 1); })
      .Case([](RelativeDotOp op) { return std::optional(Size(int64_t(op.getHeads()))); })
      .Default([](Operation *) { return std::nullopt; });
}

/// The same of one leaf or part, whatever it is made of.
static std::optional<std::string> misfitOfPart(Operation *op, const heddle::mask::Scores &s) {
  using Want = SmallVector<std::optional<Size>, 4>;
  if (auto leaf = dyn_cast<heddle::mask::MaskOpInterface>(op))
    return leaf.misfit(s);
  if (std::optional<Size> heads = headsOf(op); heads && !heads->is(s.heads)) // sdpa_c5
    return (op->getName().stripDialect() + " is made for " + heads->str() + " heads, the attention has " +
            llvm::Twine(s.heads))
        .str();
  if (auto dense = dyn_cast<DenseBiasOp>(op)) {
    Want want = {s.batch, s.rows, s.keys};
    if (typeOf(dense.getTensor()).getRank() == 4)
      want.insert(want.begin() + 1, Size(s.heads));
    return heddle::mask::misfitOfTensor("dense_bias", dense.getTensor(), want, s);
  }
  if (auto dot = dyn_cast<RelativeDotOp>(op))
    return heddle::mask::misfitOfTensor("relative_dot", dot.getX(),
                                        Want{s.batch, dot.getKeySide() ? s.keys : s.rows, std::nullopt}, s);
  return std::nullopt;
}

static Operation *partOf(Value v, const heddle::mask::Scores &s, llvm::DenseSet<Operation *> &seen) {
  Operation *op = v.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return nullptr;
  if (misfitOfPart(op, s))
    return op;
  for (Value operand : op->getOperands())
    if (isa<heddle::mask::MaskType, BiasType>(operand.getType()))
      if (Operation *part = partOf(operand, s, seen))
        return part;
  return nullptr;
}
Operation *heddle::attn::misfittingPart(Value maskOrBias, const heddle::mask::Scores &scores) {
  llvm::DenseSet<Operation *> seen;
  return partOf(maskOrBias, scores, seen);
}
std::optional<std::string> heddle::attn::misfit(Value maskOrBias, const heddle::mask::Scores &scores) {
  Operation *part = misfittingPart(maskOrBias, scores);
  return part ? misfitOfPart(part, scores) : std::nullopt;
}

LogicalResult SdpaOp::verify() {
  auto show = [](Value v) {
    std::string text;
    llvm::raw_string_ostream(text) << v.getType();
    return text;
  };
  ModelTensorType q = typeOf(getQuery()), k = typeOf(getKey());
  if (getStarts()) // sdpa_c6
    if (ModelTensorType starts = typeOf(getStarts()); starts.getRank() != 1 || starts.getSize(0) != q.getSize(0))
      return emitOpError() << "starts must be [" << q.getSize(0).str() << "], found " << starts;
  for (StringRef form : {getPast(), getKeyStart()})
    if (!Size::parse(form)) // sdpa_c7
      return emitOpError("expected a size form, got '") << form << "'";
  heddle::mask::Scores scores{q.getSize(0), q.getSize(1), k.getSize(1), int64_t(getHeads()), show};
  for (Value v : {Value(getMask()), Value(getBias())})
    if (std::optional<std::string> no = v ? misfit(v, scores) : std::nullopt) // sdpa_c4
      return emitOpError() << *no;
  return success();
}

heddle::mask::Grid SdpaOp::maskGrid() {
  return {typeOf(getQuery()).getSize(1), typeOf(getKey()).getSize(1), Size::parse(getPast()).value_or(Size(0)),
          Size::parse(getKeyStart()).value_or(Size(0))};
}

LogicalResult AlibiSlopesOp::inferReturnTypes(MLIRContext *ctx, std::optional<Location> loc, Adaptor op,
                                              SmallVectorImpl<Type> &out) {
  if (int64_t(op.getHeads()) < 1) // alibi_slopes_c1
    return emitOptionalError(loc, "heads must be positive, but is ", op.getHeads());
  out.push_back(ModelTensorType::get(ctx, ArrayRef<Size>{Size(int64_t(op.getHeads()))}, Float32Type::get(ctx)));
  return success();
}

LogicalResult BucketBiasOp::verify() {
  ModelTensorType t = typeOf(getTable());
  std::optional<int64_t> n = t.getRank() == 2 ? t.getSize(0).constant() : std::nullopt;
  if (!n || *n < (getTwoSided() ? 4 : 2)) // bucket_bias_c1
    return emitOpError("expected the table [buckets, heads], got ") << t;
  int64_t exact = (getTwoSided() ? *n / 2 : *n) / 2;
  if (int64_t(getMaxDistance()) <= exact) // bucket_bias_c2
    return emitOpError("expected max_distance above the ") << exact << " exact buckets, got " << getMaxDistance();
  return success();
}

LogicalResult AlibiOp::verify() {
  if (typeOf(getSlopes()).getRank() != 1) // alibi_c1
    return emitOpError("expected slopes [heads], got ") << getSlopes().getType();
  return success();
}

LogicalResult RelativeDotOp::verify() {
  ModelTensorType x = typeOf(getX()), table = typeOf(getTable());
  int64_t heads = getHeads();
  std::optional<Size> width = heads < 1 || x.getRank() != 3 ? std::nullopt : x.getSize(2).exactDiv(Size(heads));
  if (!width) // relative_dot_c1
    return emitOpError("expected [B, rows, ") << heads << " heads x width], got " << x;
  if (table.getRank() != 2 || (table.getSize(1) != *width && table.getSize(1) != x.getSize(2))) // relative_dot_c2
    return emitOpError("expected a table [rows, ")
           << width->str() << "] or [rows, " << x.getSize(2).str() << "], got " << table;
  if (!Size::parse(getZero())) // relative_dot_c3
    return emitOpError("expected a size form, got '") << getZero() << "'";
  if (std::optional<ArrayRef<int64_t>> bucket = getBucket())
    if (bucket->size() != 2 || (*bucket)[0] < 4 || (*bucket)[1] <= (*bucket)[0] / 2 + 1) // relative_dot_c4
      return emitOpError("expected a bucket [size, far] with a size of 4 or more and far > size/2 + 1, got [")
             << *bucket << "]";
  return success();
}

LogicalResult DenseBiasOp::verify() {
  if (typeOf(getTensor()).getRank() < 2 || typeOf(getTensor()).getRank() > 4) // dense_bias_c1
    return emitOpError("expected a tensor of rank 2, 3 or 4, got ") << getTensor().getType();
  return success();
}

std::vector<double> heddle::attn::alibiSlopes(int64_t heads) {
  int64_t p = 1;
  while (p * 2 <= heads)
    p *= 2;
  std::vector<double> m;
  for (int64_t i = 0; i < p; ++i)
    m.push_back(std::exp2(-8.0 * double(i + 1) / double(p)));
  for (int64_t i = 0; i < heads - p; ++i)
    m.push_back(std::exp2(-4.0 * double(2 * i + 1) / double(p)));
  return m;
}

int64_t heddle::attn::bucketOf(int64_t d, int64_t buckets, int64_t maxDistance, bool twoSided) {
  int64_t m = twoSided ? buckets / 2 : buckets, base = twoSided && d > 0 ? m : 0;
  int64_t r = twoSided ? std::abs(d) : std::max<int64_t>(-d, 0), exact = m / 2;
  if (r < exact)
    return base + r;
  float ratio =
      std::log(float(r) / float(exact)) / float(std::log(double(maxDistance) / double(exact))) * float(m - exact);
  return base + std::min<int64_t>(exact + int64_t(ratio), m - 1);
}

int64_t heddle::attn::logBucketOf(int64_t d, int64_t size, int64_t far) {
  int64_t mid = size / 2;
  double a = std::abs(d) < mid ? double(mid - 1) : double(std::abs(d));
  if (a <= double(mid))
    return d;
  double lg =
      std::ceil(std::log(a / double(mid)) / std::log(double(far - 1) / double(mid)) * double(mid - 1)) + double(mid);
  return int64_t(lg) * (d > 0 ? 1 : d < 0 ? -1 : 0);
}
