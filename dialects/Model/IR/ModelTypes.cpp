//===- ModelTypes.cpp - the tensor type with dims that have identity ------===//

#include "dialects/Model/IR/LifeAttrs.h"
#include "dialects/Model/IR/Model.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::model;

#include "dialects/Model/IR/ModelDialect.cpp.inc"
#include "dialects/Model/IR/ModelEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Model/IR/ModelTypes.cpp.inc"

namespace {
/// What a module names in front, so that its lines stay short: every tensor type, as !B_T_48_f, and the larger
/// attributes of the plan.
struct ShortNames final : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Type type, raw_ostream &os) const override;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override;
};
} // namespace

void ModelDialect::initialize() {
  registerAttributes();
  addInterfaces<ShortNames>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Model/IR/ModelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Model/IR/ModelOps.cpp.inc"
      >();
}

static SmallVector<StringAttr> axesOf(MLIRContext *ctx, ArrayRef<Size> sizes) {
  SmallVector<StringAttr> axes;
  for (const Size &s : sizes)
    axes.push_back(StringAttr::get(ctx, s.str()));
  return axes;
}

static Size sizeOf(StringAttr axis) {
  std::optional<Size> s = Size::parse(axis.getValue());
  assert(s && "axes are verified when the type is made");
  return *s;
}

ModelTensorType ModelTensorType::get(MLIRContext *ctx, ArrayRef<Size> sizes, Type element) {
  return get(ctx, axesOf(ctx, sizes), element);
}
Size ModelTensorType::getSize(int64_t axis) const { return sizeOf(getAxes()[axis]); }
SmallVector<Size> ModelTensorType::getSizes() const { return llvm::map_to_vector(getAxes(), sizeOf); }
Size ModelTensorType::getCount() const {
  Size n = 1;
  for (const Size &s : getSizes())
    n = n * s;
  return n;
}
heddle::model::ModelTensorType ModelTensorType::withElement(Type element) const {
  return get(getContext(), getAxes(), element);
}
heddle::model::ModelTensorType ModelTensorType::withSizes(ArrayRef<Size> sizes) const {
  return get(getContext(), sizes, getElementType());
}
heddle::model::ModelTensorType ModelTensorType::withSize(int64_t axis, Size size) const {
  SmallVector<Size> sizes = getSizes();
  sizes[axis] = size;
  return withSizes(sizes);
}

StateType StateType::get(MLIRContext *ctx, ArrayRef<Size> sizes, Type element) {
  return get(ctx, axesOf(ctx, sizes), element);
}
Size StateType::getSize(int64_t axis) const { return sizeOf(getAxes()[axis]); }
SmallVector<Size> StateType::getSizes() const { return llvm::map_to_vector(getAxes(), sizeOf); }

std::string heddle::model::unfitShape(ArrayRef<Size> sizes, Type element) {
  if (int64_t(sizes.size()) > kMostAxes)
    return "has " + std::to_string(sizes.size()) + " axes, and a tensor has at most " + std::to_string(kMostAxes);
  int64_t bytes = element.isF32() ? 4 : element.isInteger(1) ? 1 : 8;
  for (const Size &size : sizes) {
    if (!size.fits())
      return "has a length that does not fit in 64 bits";
    std::map<std::string, int64_t> ones;
    for (const std::string &dim : size.dims())
      ones[dim] = 1;
    std::optional<int64_t> number = size.evaluate(ones);
    if (!number && size.divisors().empty())
      return "has a length that does not fit in 64 bits";
    int64_t least = std::max<int64_t>(number.value_or(0), 1);
    if (__builtin_mul_overflow(bytes, least, &bytes) || bytes > kMostBytes)
      return "has more than 2^42 bytes where every length is 1, and a tensor has at most so many";
  }
  return "";
}

LogicalResult ModelTensorType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> axes,
                                      Type element) {
  for (StringAttr axis : axes) {
    std::optional<Size> s = Size::parse(axis.getValue());
    if (!s)
      return emitError() << "expected a size form as axis, got " << axis;
    if (s->str() != axis.getValue())
      return emitError() << "an axis must be in normal form '" << s->str() << "', but got " << axis;
  }
  if (!element.isF32() && !element.isInteger(64) && !element.isInteger(1))
    return emitError() << "expected elements of f32, i64 or i1, got " << element;
  if (std::string why = unfitShape(llvm::map_to_vector(axes, sizeOf), element); !why.empty())
    return emitError() << "the tensor " << why;
  return success();
}

//===-- assembly --------------------------------------------------------------===//

static bool isWord(StringRef s) {
  return !s.empty() && (llvm::isAlpha(s[0]) || s[0] == '_') &&
         llvm::all_of(s, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

void heddle::model::printAxes(AsmPrinter &p, ArrayRef<StringAttr> axes) {
  p << '[';
  llvm::interleaveComma(axes, p, [&](StringAttr a) {
    int64_t n;
    if (isWord(a.getValue()) || !a.getValue().getAsInteger(10, n))
      p << a.getValue();
    else
      p << '"' << a.getValue() << '"';
  });
  p << ']';
}

ParseResult heddle::model::parseAxes(AsmParser &p, SmallVectorImpl<StringAttr> &axes) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    std::string text;
    int64_t n;
    StringRef word;
    OptionalParseResult number = p.parseOptionalInteger(n);
    if (number.has_value()) {
      if (failed(*number))
        return failure();
      text = std::to_string(n);
    } else if (succeeded(p.parseOptionalKeyword(&word))) {
      text = word.str();
    } else if (p.parseString(&text)) {
      return failure();
    }
    std::optional<Size> size = Size::parse(text);
    if (!size)
      return p.emitError(p.getCurrentLocation(), "expected a size form");
    axes.push_back(StringAttr::get(p.getContext(), size->str()));
    return success();
  });
}

void ModelTensorType::print(AsmPrinter &p) const {
  p << '<';
  printAxes(p, getAxes());
  p << ", " << getElementType() << '>';
}
Type ModelTensorType::parse(AsmParser &p) {
  SmallVector<StringAttr> axes;
  Type element;
  if (p.parseLess() || parseAxes(p, axes) || p.parseComma() || p.parseType(element) || p.parseGreater())
    return {};
  return getChecked([&] { return p.emitError(p.getNameLoc()); }, p.getContext(), axes, element);
}
void StateType::print(AsmPrinter &p) const {
  p << '<';
  printAxes(p, getAxes());
  p << ", " << getElementType() << '>';
}
Type StateType::parse(AsmParser &p) {
  SmallVector<StringAttr> axes;
  Type element;
  if (p.parseLess() || parseAxes(p, axes) || p.parseComma() || p.parseType(element) || p.parseGreater())
    return {};
  return get(p.getContext(), axes, element);
}

//===-- short names -------------------------------------------------------------===//

/// Longer forms are written `n`.
static constexpr size_t kLongestWord = 20;

/// `B_T_48_f`: the axes, then f, i or b for f32, i64 or i1. Of a form what is neither letter nor digit becomes _.
static void printShort(ArrayRef<StringAttr> axes, Type element, raw_ostream &os) {
  for (StringAttr axis : axes) {
    std::string word;
    for (char c : axis.getValue())
      if (llvm::isAlnum(c))
        word += c;
      else if (!word.empty() && word.back() != '_')
        word += '_';
    os << (word.size() > kLongestWord ? "n" : StringRef(word).rtrim('_')) << '_';
  }
  os << (element.isF32() ? 'f' : element.isInteger(1) ? 'b' : 'i');
}

OpAsmDialectInterface::AliasResult ShortNames::getAlias(Type type, raw_ostream &os) const {
  if (auto tensor = dyn_cast<ModelTensorType>(type)) {
    printShort(tensor.getAxes(), tensor.getElementType(), os);
    return AliasResult::FinalAlias;
  }
  if (auto state = dyn_cast<StateType>(type)) {
    printShort(state.getAxes(), state.getElementType(), os << "state_");
    return AliasResult::FinalAlias;
  }
  return AliasResult::NoAlias;
}

OpAsmDialectInterface::AliasResult ShortNames::getAlias(Attribute attr, raw_ostream &os) const {
  if (isa<BlobEntryAttr>(attr))
    os << "entry";
  else if (isa<ScheduleAttr>(attr))
    os << "tiles";
  else if (isa<TargetAttr>(attr))
    os << "target";
  else if (auto layout = dyn_cast<LayoutAttr>(attr))
    os << (layout.getPanel() ? "panels" : "natural");
  else if (auto place = dyn_cast<PlaceAttr>(attr); place && place.inArena())
    os << "arena";
  else if (lifeIn(attr))
    os << "slot";
  else
    return AliasResult::NoAlias;
  return AliasResult::FinalAlias;
}
