//===- TileTypes.cpp - where the elements of a tile are -------------------===//

#include "dialects/Tile/IR/Tile.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle::tile;

#include "dialects/Tile/IR/TileDialect.cpp.inc"
#include "dialects/Tile/IR/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/IR/TileTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/IR/TileOps.cpp.inc"
      >();
}

using Complaint = llvm::function_ref<InFlightDiagnostic()>;

/// "128x16", with "x" after it where a type follows.
static ParseResult parseExtent(AsmParser &p, SmallVectorImpl<int64_t> &extent, bool typed) {
  SMLoc at = p.getCurrentLocation();
  if (p.parseDimensionList(extent, /*allowDynamic=*/false, typed))
    return failure();
  return extent.size() == 2 ? ParseResult(success()) : p.emitError(at, "expected rows x columns");
}

/// A word of an enum.
template <typename Enum>
static ParseResult parseWord(AsmParser &p, Enum &value, std::optional<Enum> (*symbolize)(StringRef)) {
  StringRef word;
  SMLoc at = p.getCurrentLocation();
  if (p.parseKeyword(&word))
    return failure();
  std::optional<Enum> known = symbolize(word);
  if (!known)
    return p.emitError(at, "there is no '") << word << "'";
  value = *known;
  return success();
}

//===-- fragments -----------------------------------------------------------------===//

LogicalResult FragType::verify(Complaint emitError, int64_t rows, int64_t columns, Spread spread, int64_t down,
                               int64_t across) {
  if (rows < 1 || columns < 1 || down < 1 || across < 1) // frag_c1
    return emitError() << "a fragment of " << rows << "x" << columns << " over " << down << "x" << across
                       << " has no elements";
  if (spread == Spread::block && (rows % (4 * down) || columns % (4 * across))) // frag_c2
    return emitError() << "squares of 4x4 in " << down << " rows of " << across << " threads do not fill " << rows
                       << "x" << columns;
  if (spread == Spread::mma && (rows % (16 * down) || columns % (8 * across))) // frag_c3
    return emitError() << "pieces of 16x8 in " << down << " rows of " << across << " groups do not fill " << rows << "x"
                       << columns;
  if (spread == Spread::wgmma && (rows % (64 * down) || columns % (8 * across) || columns / across > 256)) // frag_c4
    return emitError() << "pieces of 64 rows and 8, 16, .. 256 columns in " << down << " rows of " << across
                       << " groups of 128 threads do not fill " << rows << "x" << columns;
  if (spread == Spread::rows && (rows % (16 * down) || columns != 1 || across != 1)) // frag_c5
    return emitError() << "a number a row is of rows x 1, 16 rows for each of D x 1 groups, not of " << rows << "x"
                       << columns << " over " << down << "x" << across;
  if (spread == Spread::cyclic && (rows % down || columns % across)) // frag_c6
    return emitError() << down << " rows of " << across << " threads do not fill " << rows << "x" << columns;
  return success();
}

Type FragType::parse(AsmParser &p) {
  SmallVector<int64_t> extent, threads;
  Spread spread;
  if (p.parseLess() || parseExtent(p, extent, false) || p.parseComma() || parseWord(p, spread, symbolizeSpread) ||
      parseExtent(p, threads, false) || p.parseGreater())
    return {};
  return p.getChecked<FragType>(p.getContext(), extent[0], extent[1], spread, threads[0], threads[1]);
}

void FragType::print(AsmPrinter &p) const {
  p << "<" << getRows() << "x" << getColumns() << ", " << stringifySpread(getSpread()) << " " << getDown() << "x"
    << getAcross() << ">";
}

int64_t FragType::group() const {
  switch (getSpread()) {
  case Spread::block:
  case Spread::cyclic: return 1;
  case Spread::mma:
  case Spread::rows: return 32;
  case Spread::wgmma: return 128;
  }
  llvm_unreachable("all spreads are there");
}
int64_t FragType::threads() const { return getDown() * getAcross() * group(); }
int64_t FragType::heldRows() const {
  return getRows() / getDown() / (group() == 1 ? 1 : group() / 4); // four threads are next to each other
}
int64_t FragType::heldColumns() const {
  bool quads = getSpread() == Spread::mma || getSpread() == Spread::wgmma;
  return getColumns() / getAcross() / (quads ? 4 : 1);
}
int64_t FragType::run() const {
  switch (getSpread()) {
  case Spread::block: return 4;
  case Spread::mma:
  case Spread::wgmma: return 2;
  case Spread::rows:
  case Spread::cyclic: return 1;
  }
  llvm_unreachable("all spreads are there");
}
FragType FragType::ofRows() const {
  bool units = getSpread() == Spread::wgmma && getRows() == 64 * getDown();
  if (getAcross() != 1 || (!units && getSpread() != Spread::mma))
    return {};
  return get(getContext(), getRows(), 1, Spread::rows, units ? 4 * getDown() : getDown(), 1);
}

//===-- shared memory -------------------------------------------------------------===//

LogicalResult SharedType::verify(Complaint emitError, int64_t rows, int64_t columns, Type word, Image image) {
  if (rows < 1 || columns < 1) // shared_c1
    return emitError() << "a piece of " << rows << "x" << columns << " has no elements";
  bool reals = image == Image::plain || image == Image::turned, pairs = image == Image::chunks || image == Image::woven;
  if (!(word.isF32() && !pairs) && !(word.isInteger(32) && !reals)) // shared_c2
    return emitError() << "expected "
                       << (reals   ? "f32"
                           : pairs ? "i32"
                                   : "f32 or i32")
                       << " in '" << stringifyImage(image) << "', got " << word;
  bool whole = image == Image::plain    ? columns % 4 == 0
               : image == Image::turned ? rows % 4 == 0
               : image == Image::chunks ? columns % 16 == 0 && rows % 16 == 0
               : image == Image::woven  ? rows % 8 == 0 && columns % 32 == 0
               : image == Image::left   ? rows % 16 == 0 && columns % 8 == 0
                                        : rows % 8 == 0 && columns % 8 == 0 && (rows % 16 == 0 || columns % 16 == 0);
  if (!whole) // shared_c3
    return emitError() << "'" << stringifyImage(image) << "' is fetched in parts that do not fill " << rows << "x"
                       << columns;
  return success();
}

Type SharedType::parse(AsmParser &p) {
  SmallVector<int64_t> extent;
  Type word;
  Image image;
  if (p.parseLess() || parseExtent(p, extent, true) || p.parseType(word) || p.parseComma() ||
      parseWord(p, image, symbolizeImage) || p.parseGreater())
    return {};
  return p.getChecked<SharedType>(p.getContext(), extent[0], extent[1], word, image);
}

void SharedType::print(AsmPrinter &p) const {
  p << "<" << getRows() << "x" << getColumns() << "x" << getWord() << ", " << stringifyImage(getImage()) << ">";
}

int64_t SharedType::pitch() const {
  switch (getImage()) {
  case Image::turned: return getRows() + 4;
  case Image::left: return 4 * getRows() + (getWord().isF32() ? 4 : 0);
  case Image::right: return 4 * getColumns();
  default: return getColumns();
  }
}
int64_t SharedType::words() const {
  switch (getImage()) {
  case Image::turned: return pitch() * getColumns();
  case Image::left: return pitch() * getColumns() / 4;
  default: return getRows() * getColumns();
  }
}
