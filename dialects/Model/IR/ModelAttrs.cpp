//===- ModelAttrs.cpp - what the plan says, verified and printed ----------===//

#include "dialects/Model/IR/Model.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::model;

#define GET_ATTRDEF_CLASSES
#include "dialects/Model/IR/ModelAttrs.cpp.inc"

void ModelDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Model/IR/ModelAttrs.cpp.inc"
      >();
}

using Complaint = llvm::function_ref<InFlightDiagnostic()>;

//===-- layout -----------------------------------------------------------------===//

static std::optional<PackedType> packedType(Type type) {
  if (type.isF32())
    return PackedType::F32;
  if (type.isBF16())
    return PackedType::BF16;
  if (type.isF16())
    return PackedType::F16;
  if (type.isInteger(64))
    return PackedType::I64;
  if (type.isInteger(1))
    return PackedType::Bool;
  return std::nullopt;
}

static Type typeOf(MLIRContext *ctx, PackedType type) {
  switch (type) {
  case PackedType::F32: return Float32Type::get(ctx);
  case PackedType::BF16: return BFloat16Type::get(ctx);
  case PackedType::F16: return Float16Type::get(ctx);
  case PackedType::I64: return IntegerType::get(ctx, 64);
  case PackedType::Bool: return IntegerType::get(ctx, 1);
  }
  llvm_unreachable("all types are named");
}

LayoutAttr LayoutAttr::get(MLIRContext *ctx, const WeightLayout &l) {
  return get(ctx, l.panel, typeOf(ctx, l.type), l.inOut, l.part, l.parts, l.groups, l.coding);
}

WeightLayout LayoutAttr::getLayout() const {
  return {*packedType(getElement()),
          getPanel(),
          getInOut(),
          getPart(),
          getGroups(),
          {getParts().begin(), getParts().end()},
          getCoding()};
}

LogicalResult LayoutAttr::verify(Complaint emitError, int64_t panel, Type element, bool inOut, int64_t part,
                                 ArrayRef<int64_t> parts, int64_t groups, Coding coding) {
  std::optional<PackedType> type = packedType(element);
  if (!type)
    return emitError() << "expected elements of f32, bf16, f16, i64 or i1, got " << element;
  // layout_c1, layout_c2, layout_c3, layout_c4 and layout_c5 are in the class.
  std::string why = WeightLayout{*type, panel, inOut, part, groups, {parts.begin(), parts.end()}, coding}.wrong();
  return why.empty() ? success() : emitError() << why;
}

/// The word of a table of integers; empty: none.
static StringRef tableWordOf(CodeTable table) {
  return table == CodeTable::NL4 ? "nl4" : table == CodeTable::E2M1 ? "e2m1" : "";
}

static std::optional<CodeTable> tableOf(StringRef word) {
  for (CodeTable table : {CodeTable::NL4, CodeTable::E2M1})
    if (word == tableWordOf(table))
      return table;
  return std::nullopt;
}

static void printCoding(AsmPrinter &p, const Coding &c, Type scale) {
  p << ", coded " << c.bits << " by " << c.group << ' ' << scale << (c.zeros ? " zeros" : "")
    << (c.minima ? " minima" : "");
  if (c.zeroCode != Coding::kMiddle)
    p << " zero " << c.zeroCode;
  if (c.table != CodeTable::None)
    p << " table " << tableWordOf(c.table);
  if (c.super)
    p << " super " << c.super;
  p << (c.ordered ? " ordered" : "");
}

void LayoutAttr::print(AsmPrinter &p) const {
  p << '<';
  if (getPanel())
    p << "panels " << getPanel();
  else
    p << "natural";
  p << ", " << getElement();
  if (Coding c = getCoding())
    printCoding(p, c, typeOf(getContext(), c.scale));
  if (getInOut())
    p << ", in_out";
  if (!getParts().empty()) {
    p << ", part " << getPart() << " of [";
    llvm::interleaveComma(getParts(), p.getStream());
    p << "] groups " << getGroups();
  }
  p << '>';
}

/// "8 by 128 f16 zeros ordered", after the word `coded`.
static ParseResult parseCoding(AsmParser &p, Coding &coding) {
  SMLoc at;
  Type scale;
  if (p.parseInteger(coding.bits) || p.parseKeyword("by") || p.parseInteger(coding.group) ||
      p.getCurrentLocation(&at) || p.parseType(scale))
    return failure();
  std::optional<PackedType> type = packedType(scale);
  if (!type)
    return p.emitError(at, "expected scales of f16, bf16 or f32, got ") << scale;
  coding.scale = *type;
  coding.zeros = succeeded(p.parseOptionalKeyword("zeros"));
  coding.minima = succeeded(p.parseOptionalKeyword("minima"));
  if (succeeded(p.parseOptionalKeyword("zero")) && p.parseInteger(coding.zeroCode))
    return failure();
  if (succeeded(p.parseOptionalKeyword("table"))) {
    StringRef word;
    if (p.getCurrentLocation(&at) || p.parseKeyword(&word))
      return failure();
    std::optional<CodeTable> table = tableOf(word);
    if (!table)
      return p.emitError(at, "expected the table nl4 or e2m1, got ") << word;
    coding.table = *table;
  }
  if (succeeded(p.parseOptionalKeyword("super")) && p.parseInteger(coding.super))
    return failure();
  coding.ordered = succeeded(p.parseOptionalKeyword("ordered"));
  return success();
}

Attribute LayoutAttr::parse(AsmParser &p, Type) {
  SMLoc at = p.getCurrentLocation();
  int64_t panel = 0, part = 0, groups = 1;
  Type element;
  bool inOut = false;
  SmallVector<int64_t> parts;
  Coding coding;
  if (p.parseLess())
    return {};
  if (failed(p.parseOptionalKeyword("natural"))) {
    SMLoc size;
    if (p.parseKeyword("panels", " or 'natural'") || p.getCurrentLocation(&size) || p.parseInteger(panel))
      return {};
    if (panel < 1) {
      p.emitError(size, "expected a panel of 1 to ") << WeightLayout::mostPanel << " rows, got " << panel;
      return {};
    }
  }
  if (p.parseComma() || p.parseType(element))
    return {};
  while (succeeded(p.parseOptionalComma())) {
    if (!inOut && succeeded(p.parseOptionalKeyword("in_out"))) {
      inOut = true;
      continue;
    }
    if (!inOut && !coding && succeeded(p.parseOptionalKeyword("coded"))) {
      if (failed(parseCoding(p, coding)))
        return {};
      continue;
    }
    auto one = [&] { return p.parseInteger(parts.emplace_back()); };
    if (p.parseKeyword("part", " or 'in_out'") || p.parseInteger(part) || p.parseKeyword("of") ||
        p.parseCommaSeparatedList(AsmParser::Delimiter::Square, one) || p.parseKeyword("groups") ||
        p.parseInteger(groups))
      return {};
    break;
  }
  if (p.parseGreater())
    return {};
  return getChecked([&] { return p.emitError(at); }, p.getContext(), panel, element, inOut, part, ArrayRef(parts),
                    groups, coding);
}

//===-- codes ------------------------------------------------------------------===//

/// The fields of `#model.coded` as one value, if scales and table are known.
static std::optional<Coding> codingOf(int64_t bits, int64_t group, Type scale, bool zeros, bool minima,
                                      int64_t zeroCode, StringAttr table, int64_t super, bool ordered) {
  std::optional<PackedType> type = packedType(scale);
  std::optional<CodeTable> known = table ? tableOf(table.getValue()) : CodeTable::None;
  if (!type || !known)
    return std::nullopt;
  return Coding{{bits, group, *type, zeros, minima, zeroCode, *known, super}, ordered};
}

LogicalResult CodedAttr::verify(Complaint emitError, int64_t bits, int64_t group, Type scale, bool zeros, bool minima,
                                int64_t zeroCode, StringAttr table, int64_t super, bool ordered, bool,
                                StringAttr from) {
  if (!packedType(scale))
    return emitError() << "expected scales of f16, bf16 or f32, got " << scale;
  std::optional<Coding> coding = codingOf(bits, group, scale, zeros, minima, zeroCode, table, super, ordered);
  if (!coding) // coded_c6
    return emitError() << "expected the table \"nl4\" or \"e2m1\", got " << table;
  // In the class: coded_c1, coded_c2, coded_c3, coded_c5, coded_c6, coded_c7, coded_c8.
  if (std::string why = coding->wrong(); !why.empty())
    return emitError() << why;
  if (from.empty() || !llvm::all_of(from.getValue(), [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; }))
    return emitError() << "expected one word as the method of the codes, got " << from; // coded_c4
  if (from.getValue() == "search" && (zeros || ordered))
    return emitError() << "expected codes of a search without zeros and order, got " << (zeros ? "zeros" : "an order");
  Coding plain{{bits, group, coding->scale}};
  if (from.getValue() == "search" && !(*coding == plain))
    return emitError() << "expected codes of a search without minima, table and levels";
  return success();
}

CodedAttr CodedAttr::get(MLIRContext *ctx, const Coding &c, bool inOut, StringRef from) {
  StringAttr table = c.table == CodeTable::None ? StringAttr() : StringAttr::get(ctx, tableWordOf(c.table));
  return get(ctx, c.bits, c.group, typeOf(ctx, c.scale), c.zeros, c.minima, c.zeroCode, table, c.super, c.ordered,
             inOut, StringAttr::get(ctx, from));
}

Coding CodedAttr::getCoding() const {
  return *codingOf(getBits(), getGroup(), getScale(), getZeros(), getMinima(), getZeroCode(), getTable(), getSuper(),
                   getOrdered());
}

//===-- the blob ---------------------------------------------------------------===//

LogicalResult BlobEntryAttr::verify(Complaint emitError, StringAttr name, DenseI64ArrayAttr shape, LayoutAttr layout,
                                    int64_t offset, DenseI64ArrayAttr firsts, DenseI64ArrayAttr counts,
                                    DenseI64ArrayAttr strides) {
  if (firsts.size() != counts.size() || firsts.size() != strides.size()) // entry_c1
    return emitError() << "the entry of " << name << " has " << firsts.size() << " firsts, " << counts.size()
                       << " counts and " << strides.size() << " strides";
  if (std::string why = layout.getLayout().misfit(shape); !why.empty()) // entry_c2
    return emitError() << "the layout of " << name << " does not fit: " << why;
  int64_t all = 1;
  for (auto [first, count, stride] : llvm::zip_equal(firsts.asArrayRef(), counts.asArrayRef(), strides.asArrayRef()))
    if (first < 0 || count < 1 || stride < 0 || llvm::MulOverflow(all, count, all) || all > (1 << 24)) // entry_c3
      return emitError() << "the entry of " << name << " counts " << count << " indices from " << first
                         << " with a stride of " << stride;
  if (offset < 0)
    return emitError() << "the entry of " << name << " is at " << offset;
  uint64_t behind = layout.getLayout().bytes(shape.asArrayRef()); // what the indices so far choose from
  for (int64_t i = int64_t(counts.size()) - 1; i >= 0; --i) {
    bool over = false;
    if (counts[i] > 1 && uint64_t(strides[i]) < behind) // entry_c4
      return emitError() << "tensors of " << name << " overlap: a stride of " << strides[i] << " is less than "
                         << behind << " bytes";
    behind = llvm::SaturatingMultiplyAdd(uint64_t(counts[i] - 1), uint64_t(strides[i]), behind, &over);
    if (over || behind > uint64_t(INT64_MAX))
      return emitError() << "the entry of " << name << " has more bytes than fit";
  }
  return success();
}

//===-- places -----------------------------------------------------------------===//

PlaceAttr PlaceAttr::none(MLIRContext *ctx) { return get(ctx, PlaceKind::none, StringAttr::get(ctx), 0); }
PlaceAttr PlaceAttr::arena(MLIRContext *ctx, const Size &offset) {
  return get(ctx, PlaceKind::arena, StringAttr::get(ctx, offset.str()), 0);
}
PlaceAttr PlaceAttr::output(MLIRContext *ctx, int64_t output) {
  return get(ctx, PlaceKind::output, StringAttr::get(ctx), output);
}
Size PlaceAttr::getOffset() const { return *Size::parse(getForm()); }

LogicalResult PlaceAttr::verify(Complaint emitError, PlaceKind kind, StringAttr form, int64_t output) {
  if (kind == PlaceKind::output && output < 0) // place_c2
    return emitError() << "there is no output " << output;
  if (kind != PlaceKind::arena)
    return success();
  std::optional<Size> offset = Size::parse(form);
  if (!offset || !offset->fits()) // place_c1
    return emitError() << "expected a size form as offset in the arena, got " << form;
  if (offset->constant().value_or(0) < 0) // place_c2
    return emitError() << "expected an offset of 0 or more in the arena, got " << form;
  return success();
}

void PlaceAttr::print(AsmPrinter &p) const {
  p << '<' << stringifyPlaceKind(getKind());
  if (getKind() == PlaceKind::arena)
    p << ", " << getForm();
  if (getKind() == PlaceKind::output)
    p << ", " << getOutput();
  p << '>';
}

Attribute PlaceAttr::parse(AsmParser &p, Type) {
  SMLoc at = p.getCurrentLocation();
  StringRef word;
  if (p.parseLess() || p.parseKeyword(&word))
    return {};
  std::optional<PlaceKind> kind = symbolizePlaceKind(word);
  if (!kind) {
    p.emitError(at, "expected the place 'none', 'arena' or 'output', got '") << word << "'";
    return {};
  }
  std::string form;
  int64_t output = 0;
  if (kind == PlaceKind::arena && (p.parseComma() || p.parseString(&form)))
    return {};
  if (kind == PlaceKind::output && (p.parseComma() || p.parseInteger(output)))
    return {};
  if (p.parseGreater())
    return {};
  return getChecked([&] { return p.emitError(at); }, p.getContext(), *kind, StringAttr::get(p.getContext(), form),
                    output);
}

//===-- schedules --------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(Complaint emitError, int64_t panel, int64_t rows, int64_t block, int64_t ahead,
                                   int64_t small) {
  if (rows < 1 || rows > 32) // schedule_c1
    return emitError() << "expected a tile of 1 to 32 rows, got " << rows;
  if (block < rows || block > 65536 || block % rows) // schedule_c2
    return emitError() << "expected a block of a multiple of the " << rows << " rows of a tile, at most 65536, got "
                       << block;
  if (panel < 1 || panel > WeightLayout::mostPanel) // schedule_c3
    return emitError() << "expected a panel of 1 to " << WeightLayout::mostPanel << " rows, got " << panel;
  if (ahead < 0 || ahead > 4096) // schedule_c4
    return emitError() << "expected weights fetched 0 to 4096 steps ahead, got " << ahead;
  if (small < 0 || small > int64_t(1) << 30) // schedule_c5
    return emitError() << "expected a small weight of 0 to 2^30 numbers, got " << small;
  return success();
}

LogicalResult PiecesAttr::verify(Complaint emitError, int64_t longest, int64_t beyond) {
  if (longest < 1 || beyond < 1) // pieces_c1
    return emitError() << "expected pieces of 1 row or more beyond 0 rows or more, got " << longest << " beyond "
                       << beyond;
  return success();
}

LogicalResult TargetAttr::verify(Complaint emitError, StringRef name, StringRef, int64_t lanes, int64_t registers,
                                 StringAttr) {
  if (name.empty() || !llvm::all_of(name, llvm::isAlnum)) // target_c1
    return emitError() << "expected a word as target, got \"" << name << "\"";
  if (lanes < 1 || lanes > 64 || !llvm::isPowerOf2_64(lanes)) // target_c2
    return emitError() << "expected vectors of 1, 2, 4 .. 64 lanes, got " << lanes;
  if (registers < 4 || registers > 1024) // target_c3
    return emitError() << "expected 4 to 1024 vector registers, got " << registers;
  return success();
}
