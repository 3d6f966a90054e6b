//===- TileOps.cpp - the clauses of the ops -------------------------------===//

#include "dialects/Tile/IR/Tile.h"

using namespace mlir;
using namespace heddle::tile;

static YieldOp yieldOf(Region &body) { return dyn_cast<YieldOp>(body.front().getTerminator()); }

/// Whether a body takes just these and yields nothing.
static bool takes(Region &body, ArrayRef<Type> types) {
  YieldOp end = yieldOf(body);
  return llvm::equal(body.getArgumentTypes(), types) && end && !end.getValue();
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

int64_t StreamOp::slotWords() {
  int64_t words = 0;
  for (BlockArgument piece : getFill().getArguments().drop_front())
    words += cast<SharedType>(piece.getType()).words();
  return words;
}

int64_t LaunchOp::sharedBytes() {
  int64_t ring = 0, barriers = 0;
  getBody().walk([&](StreamOp op) {
    ring = std::max<int64_t>(ring, 4 * op.slotWords() * op.getStages());
    barriers += op.getBulk() ? 8 * op.getStages() : 0;
  });
  return ring + barriers;
}

LogicalResult StreamOp::verify() {
  auto positive = [](uint64_t n) { return n >= 1 && n < uint64_t(1) << 40; };
  if (!positive(getLength()) || !positive(getStep()) || getStages() < 2 || getStages() > 8) // stream_c1
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
  for (BlockArgument piece : getFill().getArguments().drop_front())
    if (!piece.hasOneUse() || !isa<CopyOp>(*piece.user_begin())) // stream_c3
      return emitOpError("fills each piece by one copy");
  for (CopyOp copy : getFill().getOps<CopyOp>())
    if (getBulk() && !copy.getGroups()) // stream_c4
      return copy.emitOpError("in bulk is of a matrix that lies in groups");
  return success();
}

LogicalResult CopyOp::verify() {
  if (std::optional<uint64_t> panels = getPanels();
      panels && (*panels == 0 || *panels % 4 || *panels > 1 << 20)) // copy_c1
    return emitOpError("has panels of 4, 8, .. columns, not ") << *panels;
  auto stream = dyn_cast<StreamOp>((*this)->getParentOp());
  auto target = dyn_cast<BlockArgument>(getTo());
  if (!stream || !target || target.getOwner() != &stream.getFill().front()) // copy_c2
    return emitOpError("stands in the body 'fill' of a stream and has an argument of it as target");
  Image image = getTo().getType().getImage();
  bool grouped = image == Image::left || image == Image::right;
  if (grouped != getGroups() || (grouped && getPanels())) // copy_c3
    return emitOpError("fills '") << stringifyImage(image) << "' from "
                                  << (grouped ? "groups and nothing else" : "rows or panels, not from groups");
  return success();
}

LogicalResult MmaOp::verify() {
  SharedType left = getLeft().getType(), right = getRight().getType();
  FragType sum = getSum().getType();
  if (left.getRows() != sum.getRows() || right.getColumns() != sum.getColumns() ||
      left.getColumns() != right.getRows()) // mma_c1
    return emitOpError("multiplies ") << left.getRows() << "x" << left.getColumns() << " by " << right.getRows() << "x"
                                      << right.getColumns() << " into " << sum.getRows() << "x" << sum.getColumns();
  Image x = left.getImage(), w = right.getImage();
  StringRef reads;
  switch (sum.getSpread()) { // mma_c2
  case Spread::block: reads = x == Image::turned && w == Image::plain ? "" : "'turned' and 'plain'"; break;
  case Spread::mma:
    reads = (x == Image::chunks || x == Image::left) && (w == Image::woven || w == Image::right)
                ? ""
                : "'chunks' or 'left' and 'woven' or 'right'";
    break;
  case Spread::wgmma: reads = x == Image::left && w == Image::right ? "" : "'left' and 'right'"; break;
  }
  if (!reads.empty())
    return emitOpError("into '") << stringifySpread(sum.getSpread()) << "' reads " << reads;
  auto stream = (*this)->getParentOfType<StreamOp>();
  if (sum.getSpread() == Spread::wgmma && (!stream || !stream.getBulk())) // mma_c3
    return emitOpError("into 'wgmma' stands in a stream in bulk");
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
