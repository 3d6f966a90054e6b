//===- TileOps.cpp - the clauses of the ops -------------------------------===//

#include "dialects/Tile/IR/Tile.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::tile;

static YieldOp yieldOf(Region &body) { return dyn_cast<YieldOp>(body.front().getTerminator()); }

/// Whether a body takes just these and yields a value of `result`, or nothing where that is null.
static bool takes(Region &body, ArrayRef<Type> types, Type result = {}) {
  YieldOp end = yieldOf(body);
  return llvm::equal(body.getArgumentTypes(), types) && end &&
         (end.getValue() ? end.getValue().getType() == result : !result);
}

/// Whether `x` is a fragment or a number a row that is spread as `whole` is.
static bool fits(FragType x, FragType whole) { return x == whole || x == whole.ofRows(); }

static bool ringFits(uint64_t step, uint64_t stages) {
  return step >= 1 && step < uint64_t(1) << 40 && stages >= 2 && stages <= 8;
}

/// Refuses a piece of the body `fill` that is not the target of exactly one copy.
static LogicalResult verifyCopies(Operation *op, Region &fill) {
  for (BlockArgument piece : fill.getArguments().drop_front()) {
    auto copies = llvm::count_if(piece.getUsers(), llvm::IsaPred<CopyOp>);
    auto others = std::distance(piece.use_begin(), piece.use_end()) - copies;
    if (copies != 1 || others)
      return op->emitOpError("expected one copy into each piece and no other use in 'fill', got ")
             << copies << " copies and " << others << " other uses of piece " << piece.getArgNumber() - 1;
  }
  return success();
}

/// The arguments of a body and what it yields: (index, f32) -> f32.
static std::string signatureOf(Region &body) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(' << body.getArgumentTypes() << ')';
  if (YieldOp yield = yieldOf(body); yield && yield.getValue())
    os << " -> " << yield.getValue().getType();
  return text;
}

LogicalResult LaunchOp::verifyRegions() {
  int64_t threads = getThreads();
  if (threads < 32 || threads > 1024 || threads % 32) // launch_c1
    return emitOpError("expected 32, 64, .. 1024 threads, got ") << threads;
  if (!takes(getBody(), IndexType::get(getContext()))) // launch_c3
    return emitOpError("expected a body (index) that yields nothing, got ") << signatureOf(getBody());
  if (ArrayAttr on = getOnAttr();
      on && (on.empty() || llvm::is_contained(on, StringAttr::get(getContext())))) // launch_c4
    return emitOpError("expected names of chips, or no 'on' for all chips, got ") << on;
  if (std::optional<uint64_t> together = getTogether(); together && (*together < 1 || *together > 32)) // launch_c5
    return emitOpError("expected 1 to 32 blocks together, got ") << *together;
  WalkResult all = getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto fragment = dyn_cast<FragType>(type); fragment && fragment.threads() != threads) { // launch_c2
        op->emitOpError("expected a fragment over the ")
            << threads << " threads of the launch, got one over " << fragment.threads();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(all.wasInterrupted());
}

static int64_t wordsOf(Region &fill) {
  int64_t words = 0;
  for (BlockArgument piece : fill.getArguments().drop_front())
    words += cast<SharedType>(piece.getType()).words();
  return words;
}
int64_t StreamOp::slotWords() { return wordsOf(getFill()); }
int64_t RoundsOp::slotWords() { return wordsOf(getFill()); }

int64_t LaunchOp::ownWords() {
  int64_t words = 0;
  getBody().walk([&](PieceOp op) { words += op.getType().words(); });
  return words;
}

int64_t LaunchOp::ringWords() {
  int64_t words = 0;
  getBody().walk([&](StreamOp op) { words = std::max<int64_t>(words, op.slotWords() * int64_t(op.getStages())); });
  getBody().walk([&](RoundsOp op) { words = std::max<int64_t>(words, op.slotWords() * int64_t(op.getStages())); });
  return words;
}

int64_t LaunchOp::barrierBytes() {
  int64_t barriers = 0;
  getBody().walk([&](StreamOp op) { barriers += op.getBulk() ? 8 * op.getStages() : 0; });
  return barriers;
}

LogicalResult StreamOp::verify() {
  if (getLength() < 1 || getLength() >= uint64_t(1) << 40 || !ringFits(getStep(), getStages())) // stream_c1
    return emitOpError("expected a length and a step of at least 1 and 2 to 8 stages, got ")
           << getLength() << ", " << getStep() << " and " << getStages();
  if (getBulk() && (getLength() % 8 || getStep() % 8)) // stream_c4
    return emitOpError("expected a length and a step in multiples of 8 words for bulk copies, got ")
           << getLength() << " and " << getStep();
  return success();
}

LogicalResult StreamOp::verifyRegions() {
  TypeRange given = getFill().getArgumentTypes();
  SmallVector<Type> used(getUse().getArgumentTypes());
  YieldOp filled = yieldOf(getFill()), next = yieldOf(getUse());
  Type value = getInit().getType();
  bool fits = given.size() >= 2 && given.front().isIndex() &&
              llvm::all_of(given.drop_front(), llvm::IsaPred<SharedType>) && !used.empty() &&
              used.pop_back_val() == value && TypeRange(used) == given.drop_front() && filled && !filled.getValue() &&
              next && next.getValue() && next.getValue().getType() == value && getType() == value;
  if (!fits) // stream_c2
    return emitOpError("expected a body 'fill' (index, pieces..) and a body 'use' (pieces.., ")
           << value << ") -> " << value << ", got " << signatureOf(getFill()) << " and " << signatureOf(getUse());
  if (failed(verifyCopies(*this, getFill()))) // stream_c3
    return failure();
  for (CopyOp copy : getFill().getOps<CopyOp>())
    if (getBulk() && (!copy.getGroups() || copy.getPanels())) // stream_c4
      return copy.emitOpError("expected a matrix in groups and no panels for a bulk copy, got ")
             << (copy.getGroups() ? "groups in panels" : "no groups");
  return success();
}

LogicalResult PlaceOp::verify() {
  if (!model::Size::parse(getForm())) // place_c1
    return emitOpError("expected the size form of an offset, got ") << getFormAttr();
  return success();
}

LogicalResult RoundsOp::verify() {
  if (!ringFits(getStep(), getStages())) // rounds_c1
    return emitOpError("expected a step of at least 1 and 2 to 8 stages, got ") << getStep() << " and " << getStages();
  return success();
}

LogicalResult RoundsOp::verifyRegions() {
  SmallVector<Type> given(getFill().getArgumentTypes());
  if (given.size() < 2 || !given.front().isIndex() ||
      !llvm::all_of(ArrayRef(given).drop_front(), llvm::IsaPred<SharedType>) || !takes(getFill(), given) ||
      !takes(getUse(), given)) // rounds_c2
    return emitOpError("expected bodies 'fill' and 'use' (index, pieces..) that yield nothing, got ")
           << signatureOf(getFill()) << " and " << signatureOf(getUse());
  if (failed(verifyCopies(*this, getFill()))) // rounds_c3
    return failure();
  return success();
}

LogicalResult CopyOp::verify() {
  if (std::optional<uint64_t> panels = getPanels();
      panels && (*panels == 0 || *panels % 4 || *panels > 1 << 20)) // copy_c1
    return emitOpError("expected panels of 4, 8, .. columns, got ") << *panels;
  Operation *around = (*this)->getParentOp();
  auto target = dyn_cast<BlockArgument>(getTo());
  bool fills = isa_and_nonnull<StreamOp, RoundsOp>(around) && (*this)->getParentRegion() == &around->getRegion(0);
  if (!fills || !target || target.getOwner() != (*this)->getBlock()) // copy_c2
    return emitOpError(
               "expected a copy in the body 'fill' of a stream or of rounds, into an argument of that body, got ")
           << (fills ? "another target" : "another place");
  Image image = getTo().getType().getImage();
  bool pairs = !getTo().getType().getWord().isF32();
  StringRef from;
  if (pairs && image == Image::right) // copy_c3
    from = getGroups() ? "" : "groups";
  else if (pairs && image == Image::left)
    from = getPanels() ? "groups or rows without panels" : "";
  else
    from = getGroups() ? "rows or panels" : "";
  if (!from.empty())
    return emitOpError("expected ") << from << " to fill '" << stringifyImage(image) << "', got "
                                    << (getPanels()   ? getGroups() ? "groups in panels" : "panels"
                                        : getGroups() ? "groups"
                                                      : "rows");
  return success();
}

LogicalResult PutOp::verifyRegions() {
  Type index = IndexType::get(getContext()), word = getPiece().getType().getWord();
  if (!takes(getBody(), {index, index, word}, word)) // put_c1
    return emitOpError("expected a body (row, column, word) -> word, got ") << signatureOf(getBody());
  return success();
}

/// left * right where the left side is a fragment.
static LogicalResult verifyHeld(MmaOp op, FragType left) {
  SharedType right = op.getRight().getType();
  FragType sum = op.getSum().getType();
  bool pairs = !right.getWord().isF32();
  if (left.getRows() != sum.getRows() || (pairs ? 2 : 1) * right.getColumns() != sum.getColumns() ||
      left.getColumns() != right.getRows()) // mma_c1
    return op.emitOpError("expected sides of MxK and KxN and a sum of MxN, got ")
           << left.getRows() << "x" << left.getColumns() << ", " << right.getRows() << "x" << right.getColumns()
           << (pairs ? " pairs" : "") << " and " << sum.getRows() << "x" << sum.getColumns();
  bool units = sum.getSpread() == Spread::wgmma;
  if (Image wanted = units ? Image::left : pairs ? Image::chunks : Image::plain; right.getImage() != wanted) // mma_c2
    return op.emitOpError("expected the right side in the order '")
           << stringifyImage(wanted) << "', for a fragment of " << (pairs ? "pairs" : "f32")
           << " on the left and a sum '" << stringifySpread(sum.getSpread()) << "', got '"
           << stringifyImage(right.getImage()) << "'";
  if ((units && !pairs) || (!units && sum.getSpread() != Spread::mma) || left.getSpread() != sum.getSpread() ||
      left.getDown() != sum.getDown() || left.getAcross() != 1 || sum.getAcross() != 1) // mma_c4
    return op.emitOpError(
               "expected both fragments spread alike, over D x 1 groups of 'mma', or of 'wgmma' with pairs, got ")
           << left << " and " << sum;
  return success();
}

LogicalResult MmaOp::verify() {
  if (auto held = dyn_cast<FragType>(getLeft().getType()))
    return verifyHeld(*this, held);
  auto left = cast<SharedType>(getLeft().getType()), right = getRight().getType();
  FragType sum = getSum().getType();
  if (left.getRows() != sum.getRows() || right.getColumns() != sum.getColumns() ||
      left.getColumns() != right.getRows()) // mma_c1
    return emitOpError("expected sides of MxK and KxN and a sum of MxN, got ")
           << left.getRows() << "x" << left.getColumns() << ", " << right.getRows() << "x" << right.getColumns()
           << " and " << sum.getRows() << "x" << sum.getColumns();
  Image x = left.getImage(), w = right.getImage();
  bool groups = x == Image::left && w == Image::right;
  bool reals = left.getWord().isF32() && right.getWord().isF32(),
       pairs = !left.getWord().isF32() && !right.getWord().isF32();
  StringRef reads;
  switch (sum.getSpread()) { // mma_c2
  case Spread::block: reads = x == Image::turned && w == Image::plain ? "" : "'turned' and 'plain'"; break;
  case Spread::mma:
    reads = (pairs && (x == Image::chunks || x == Image::left) && (w == Image::woven || w == Image::right)) ||
                    (reals && x == Image::left && w == Image::plain)
                ? ""
                : "'chunks' or 'left' and 'woven' or 'right' of pairs, or 'left' and 'plain' of f32";
    break;
  case Spread::wgmma: reads = pairs && groups ? "" : "'left' and 'right' of pairs"; break;
  case Spread::cyclic: reads = reals && groups ? "" : "'left' and 'right' of f32"; break;
  case Spread::rows: reads = "no pieces"; break;
  }
  if (!reads.empty())
    return emitOpError("expected ") << reads << " for a sum '" << stringifySpread(sum.getSpread()) << "', got " << left
                                    << " and " << right;
  auto stream = (*this)->getParentOfType<StreamOp>();
  if (sum.getSpread() == Spread::wgmma && stream && !stream.getBulk()) // mma_c3
    return emitOpError("expected a stream in bulk around a product into 'wgmma', got one without 'bulk'");
  return success();
}

LogicalResult EachOp::verifyRegions() {
  int64_t run = getRun();
  if ((run != 1 && run != 2 && run != 4) || run > getFragment().getType().run()) // each_c1
    return emitOpError("expected runs of 1, 2 or 4 elements, at most the ")
           << getFragment().getType().run() << " that a thread has side by side, got " << run;
  Type index = IndexType::get(getContext());
  if (!takes(getBody(), {index, index, Float32Type::get(getContext())})) // each_c2
    return emitOpError("expected a body (row, column, f32) that yields nothing, got ") << signatureOf(getBody());
  return success();
}

/// Index, index, and an f32 for each of `count` fragments.
static SmallVector<Type> elementTypes(MLIRContext *context, size_t count) {
  SmallVector<Type> types(2, IndexType::get(context));
  types.append(count, Float32Type::get(context));
  return types;
}

LogicalResult MapOp::verifyRegions() {
  for (Type type : getOperandTypes())
    if (!fits(cast<FragType>(type), getType())) // map_c1
      return emitOpError("expected operands spread like ") << getType() << ", got " << type;
  if (!takes(getBody(), elementTypes(getContext(), getNumOperands()), Float32Type::get(getContext()))) // map_c2
    return emitOpError("expected a body (row, column, one f32 for each operand) -> f32, got ")
           << signatureOf(getBody());
  return success();
}

LogicalResult KeepOp::verifyRegions() {
  if (!takes(getBody(), elementTypes(getContext(), 0), IntegerType::get(getContext(), 1))) // keep_c1
    return emitOpError("expected a body (row, column) -> i1, got ") << signatureOf(getBody());
  return success();
}

LogicalResult FoldOp::verify() {
  FragType whole = getFragment().getType();
  if (!whole.ofRows()) // fold_c1
    return emitOpError("expected rows of 'mma' over D x 1 groups, or 64 rows for each group of 'wgmma', got ") << whole;
  if (getType() != whole.ofRows()) // fold_c2
    return emitOpError("expected the result ") << whole.ofRows() << ", got " << getType();
  return success();
}

LogicalResult AnyOp::verifyRegions() {
  if (!takes(getBody(), Float32Type::get(getContext()), IntegerType::get(getContext(), 1))) // any_c1
    return emitOpError("expected a body (f32) -> i1, got ") << signatureOf(getBody());
  return success();
}
