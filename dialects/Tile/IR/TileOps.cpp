//===- TileOps.cpp - the clauses of the ops -------------------------------===//

#include "dialects/Tile/IR/Tile.h"

using namespace mlir;
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

/// Whether each piece that a body `fill` is given is the target of one copy.
static bool eachIsCopied(Region &fill) {
  return llvm::all_of(fill.getArguments().drop_front(),
                      [](BlockArgument piece) { return piece.hasOneUse() && isa<CopyOp>(*piece.user_begin()); });
}

LogicalResult LaunchOp::verifyRegions() {
  int64_t threads = getThreads();
  if (threads < 32 || threads > 1024 || threads % 32) // launch_c1
    return emitOpError("is for 32, 64, .. 1024 threads, not ") << threads;
  if (!takes(getBody(), IndexType::get(getContext()))) // launch_c3
    return emitOpError("has a body that takes the number of a tile and yields nothing");
  if (ArrayAttr on = getOnAttr();
      on && (on.empty() || llvm::is_contained(on, StringAttr::get(getContext())))) // launch_c4
    return emitOpError("is done on chips that have names, or on all of them");
  if (std::optional<uint64_t> together = getTogether(); together && (*together < 1 || *together > 32)) // launch_c5
    return emitOpError("has 1 to 32 blocks together, not ") << *together;
  WalkResult all = getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto fragment = dyn_cast<FragType>(type); fragment && fragment.threads() != threads) { // launch_c2
        op->emitOpError("spreads a fragment over ") << fragment.threads() << " threads, but the launch has " << threads;
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
    return emitOpError("has a length and a step of 1 or more and 2 to 8 stages, not ")
           << getLength() << ", " << getStep() << " and " << getStages();
  if (getBulk() && (getLength() % 8 || getStep() % 8)) // stream_c4
    return emitOpError("takes whole units of 8 words in bulk, not ") << getLength() << " by " << getStep();
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
    return emitOpError(
        "has a body 'fill' of an index and pieces, and a body 'use' of these and the value, which yields the next");
  if (!eachIsCopied(getFill())) // stream_c3
    return emitOpError("fills each piece by one copy");
  for (CopyOp copy : getFill().getOps<CopyOp>())
    if (getBulk() && (!copy.getGroups() || copy.getPanels())) // stream_c4
      return copy.emitOpError("in bulk is of a matrix that lies in groups as a whole");
  return success();
}

LogicalResult RoundsOp::verify() {
  if (!ringFits(getStep(), getStages())) // rounds_c1
    return emitOpError("has a step of 1 or more and 2 to 8 stages, not ") << getStep() << " and " << getStages();
  return success();
}

LogicalResult RoundsOp::verifyRegions() {
  SmallVector<Type> given(getFill().getArgumentTypes());
  if (given.size() < 2 || !given.front().isIndex() ||
      !llvm::all_of(ArrayRef(given).drop_front(), llvm::IsaPred<SharedType>) || !takes(getFill(), given) ||
      !takes(getUse(), given)) // rounds_c2
    return emitOpError("has bodies 'fill' and 'use' of an index and pieces, which yield nothing");
  if (!eachIsCopied(getFill())) // rounds_c3
    return emitOpError("fills each piece by one copy");
  return success();
}

LogicalResult CopyOp::verify() {
  if (std::optional<uint64_t> panels = getPanels();
      panels && (*panels == 0 || *panels % 4 || *panels > 1 << 20)) // copy_c1
    return emitOpError("has panels of 4, 8, .. columns, not ") << *panels;
  Operation *around = (*this)->getParentOp();
  auto target = dyn_cast<BlockArgument>(getTo());
  bool fills = isa_and_nonnull<StreamOp, RoundsOp>(around) && (*this)->getParentRegion() == &around->getRegion(0);
  if (!fills || !target || target.getOwner() != (*this)->getBlock()) // copy_c2
    return emitOpError("stands in the body 'fill' of a stream or of rounds and has an argument of it as target");
  Image image = getTo().getType().getImage();
  bool pairs = !getTo().getType().getWord().isF32();
  StringRef from;
  if (pairs && image == Image::right) // copy_c3
    from = getGroups() ? "" : "groups";
  else if (pairs && image == Image::left)
    from = getPanels() ? "groups or rows, which stand in no panels" : "";
  else
    from = getGroups() ? "rows or panels, not from groups" : "";
  if (!from.empty())
    return emitOpError("fills '") << stringifyImage(image) << "' from " << from;
  return success();
}

LogicalResult PutOp::verifyRegions() {
  Type index = IndexType::get(getContext()), word = getPiece().getType().getWord();
  if (!takes(getBody(), {index, index, word}, word)) // put_c1
    return emitOpError("has a body that takes a row, a column and a word, and yields a word");
  return success();
}

/// left * right where the left side is a fragment.
static LogicalResult verifyHeld(MmaOp op, FragType left) {
  SharedType right = op.getRight().getType();
  FragType sum = op.getSum().getType();
  bool pairs = !right.getWord().isF32();
  if (left.getRows() != sum.getRows() || (pairs ? 2 : 1) * right.getColumns() != sum.getColumns() ||
      left.getColumns() != right.getRows()) // mma_c1
    return op.emitOpError("multiplies ") << left.getRows() << "x" << left.getColumns() << " by " << right.getRows()
                                         << "x" << right.getColumns() << (pairs ? " pairs" : "") << " into "
                                         << sum.getRows() << "x" << sum.getColumns();
  bool units = sum.getSpread() == Spread::wgmma;
  if (right.getImage() != (units ? Image::left : pairs ? Image::chunks : Image::plain)) // mma_c2
    return op.emitOpError("of a fragment reads 'chunks' or 'plain', or into 'wgmma' 'left', not '")
           << stringifyImage(right.getImage()) << "'";
  if ((units && !pairs) || (!units && sum.getSpread() != Spread::mma) || left.getSpread() != sum.getSpread() ||
      left.getDown() != sum.getDown() || left.getAcross() != 1 || sum.getAcross() != 1) // mma_c4
    return op.emitOpError(
        "has a fragment on the left that is not spread as the sum is, over D x 1 groups of 'mma', or 'wgmma' of pairs");
  return success();
}

LogicalResult MmaOp::verify() {
  if (auto held = dyn_cast<FragType>(getLeft().getType()))
    return verifyHeld(*this, held);
  auto left = cast<SharedType>(getLeft().getType()), right = getRight().getType();
  FragType sum = getSum().getType();
  if (left.getRows() != sum.getRows() || right.getColumns() != sum.getColumns() ||
      left.getColumns() != right.getRows()) // mma_c1
    return emitOpError("multiplies ") << left.getRows() << "x" << left.getColumns() << " by " << right.getRows() << "x"
                                      << right.getColumns() << " into " << sum.getRows() << "x" << sum.getColumns();
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
    return emitOpError("into '") << stringifySpread(sum.getSpread()) << "' reads " << reads;
  auto stream = (*this)->getParentOfType<StreamOp>();
  if (sum.getSpread() == Spread::wgmma && stream && !stream.getBulk()) // mma_c3
    return emitOpError("into 'wgmma' stands in no stream that is not in bulk");
  return success();
}

LogicalResult EachOp::verifyRegions() {
  int64_t run = getRun();
  if ((run != 1 && run != 2 && run != 4) || run > getFragment().getType().run()) // each_c1
    return emitOpError("has runs of 1, 2 or 4 elements, up to the ")
           << getFragment().getType().run() << " that a thread has side by side, not " << run;
  Type index = IndexType::get(getContext());
  if (!takes(getBody(), {index, index, Float32Type::get(getContext())})) // each_c2
    return emitOpError("has a body that takes a row, a column and an f32 and yields nothing");
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
      return emitOpError("makes ") << getType() << " from " << type << ", which is not spread like it";
  if (!takes(getBody(), elementTypes(getContext(), getNumOperands()), Float32Type::get(getContext()))) // map_c2
    return emitOpError("has a body that takes a row, a column and an f32 of each operand, and yields an f32");
  return success();
}

LogicalResult KeepOp::verifyRegions() {
  if (!takes(getBody(), elementTypes(getContext(), 0), IntegerType::get(getContext(), 1))) // keep_c1
    return emitOpError("has a body that takes a row and a column, and yields an i1");
  return success();
}

LogicalResult FoldOp::verify() {
  FragType whole = getFragment().getType();
  if (!whole.ofRows()) // fold_c1
    return emitOpError("folds rows of 'mma' over D x 1 groups, or 64 of each group of 'wgmma', not of ") << whole;
  if (getType() != whole.ofRows()) // fold_c2
    return emitOpError("gives ") << whole.ofRows() << ", not " << getType();
  return success();
}

LogicalResult AnyOp::verifyRegions() {
  if (!takes(getBody(), Float32Type::get(getContext()), IntegerType::get(getContext(), 1))) // any_c1
    return emitOpError("has a body that takes an f32 and yields an i1");
  return success();
}
