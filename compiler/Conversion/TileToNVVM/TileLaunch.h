//===- TileLaunch.h - the ops of a launch ---------------------------*- C++ -*-===//
//
// A launch becomes code op by op, in their order (TileToNVVM.cpp); control flow around them is copied. Rings.cpp
// has the pieces that arrive while others are used, OpBodies.cpp what is done with elements and words.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TILETONVVM_TILELAUNCH_H
#define HEDDLE_COMPILER_CONVERSION_TILETONVVM_TILELAUNCH_H

#include "compiler/Conversion/TileToNVVM/TileCode.h"
#include "mlir/IR/IRMapping.h"

namespace heddle::tile {

/// Of a kernel: where its shared memory begins, pieces and after them a ring that its streams take in turn, and the
/// barriers of each stream that has some.
struct SharedMemory {
  Value begin;          ///< null without
  bool written = false; ///< whether threads write to it, by `put` or by copies of their own
  llvm::DenseMap<mlir::Operation *, Value> barriers;
};

class Launch {
public:
  Launch(LaunchOp op, mlir::ImplicitLocOpBuilder &b, const loops::Lanes &lanes, const SharedMemory &memory)
      : op(op), b(b), c(b, lanes, op.getThreads()), memory(memory), ownWords(op.ownWords()) {}
  mlir::LogicalResult emit();

private:
  LaunchOp op;
  mlir::ImplicitLocOpBuilder &b;
  TileCode c;
  const SharedMemory &memory;
  int64_t ownWords;      ///< of the launch's own pieces: rings are after them
  int64_t usedWords = 0; ///< of those that have their place
  mlir::IRMapping map;   ///< of what is no value of the dialect
  llvm::DenseMap<Value, Values> fragments;
  llvm::DenseMap<Value, Values> variables; ///< addresses of a thread's elements
  llvm::DenseMap<Value, Piece> pieces;
  std::optional<int64_t> depth; ///< columns that products take now; none: all of the left side
  Value turn;                   ///< tiles that this block has done
  Value arrival;                ///< the barrier that copies tell; null where there is none
  bool shown = false;           ///< whether units read by themselves what threads put or copy
  bool open = false;            ///< whether products may stay under way after the body of a stream

  Value valueOf(Value v) { return map.lookupOrDefault(v); }

  //===-- one op after the other (TileToNVVM.cpp) -----------------------------------===//
  mlir::LogicalResult emitOps(mlir::Block &block);
  mlir::LogicalResult emitTileOp(mlir::Operation *op);
  mlir::LogicalResult control(mlir::Operation *op);
  void piece(PieceOp op);
  void variable(VarOp op);
  void product(MmaOp op);

  //===-- rings (Rings.cpp) ---------------------------------------------------------===//
  void copy(CopyOp op);
  mlir::LogicalResult stream(StreamOp op);
  mlir::LogicalResult bulkStream(StreamOp op);
  mlir::LogicalResult fill(StreamOp op, Value round, Value slot);
  mlir::FailureOr<Values> use(StreamOp op, Value slot, mlir::ValueRange value, int64_t columns);
  mlir::LogicalResult rounds(RoundsOp op);
  void bind(mlir::Block::BlockArgListType arguments, Value slot);
  void waitFor(int64_t pending);
  void barrier();
  /// A barrier after which all see what each has written, units too.
  void publish();

  //===-- bodies (OpBodies.cpp) -------------------------------------------------------===//
  /// What a body yields for these arguments; null for nothing.
  Value bodyOf(mlir::Region &region, mlir::ValueRange arguments);
  void each(EachOp op);
  void put(PutOp op);
  void mapElements(MapOp op);
  void keep(KeepOp op);
  void fold(FoldOp op);
  void any(AnyOp op);
};

} // namespace heddle::tile

#endif
