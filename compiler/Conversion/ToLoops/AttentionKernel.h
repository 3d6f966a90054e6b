//===- AttentionKernel.h - one attention as vector code ---------*- C++ -*-===//
//
// For a block of packed rows: for each key tile that some row sees
//   1. scores S[r][key] = sum over d of q[r][d] * K[panel][d][key]    lanes are keys
//   2. per row: softcap, bias, mask; running maximum; alpha
//   3. per row: p = exp2(s - m), lane sums
//   4. O[r][d] = O * alpha + sum over keys of p[r][key] * V[key][d]   lanes are d
//
// Every sum has one order: d ascending in a score, keys ascending in an output, one
// accumulator each, whatever rows stand beside. Scores are in units of log2.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_TOLOOPS_ATTENTIONKERNEL_H
#define HEDDLE_COMPILER_CONVERSION_TOLOOPS_ATTENTIONKERNEL_H

#include "compiler/Conversion/ToLoops/AttentionPlan.h"
#include "compiler/Conversion/ToLoops/Lowering.h"
#include "compiler/Conversion/ToLoops/SumStep.h"
#include "dialects/Mask/Emission/Emission.h"

namespace heddle::loops {

constexpr double kLog2E = 1.44269504088896340736;
constexpr double kLowest = -3.4028234663852886e38;

class AttentionKernel : public Code {
public:
  AttentionKernel(const AttentionPlan &plan, const Machine &machine, mlir::OpBuilder &builder, mlir::Location loc)
      : Code(mlir::ImplicitLocOpBuilder(loc, builder), machine.vectorWidth), plan(plan), machine(machine) {}

  /// query, key, value, result, scratch, tensors..., then index: thread, from, to, lengths...
  static mlir::FunctionType typeOf(const AttentionPlan &plan, mlir::MLIRContext *ctx);

  /// Work items [from, to) of this thread.
  void emit(mlir::Block *block);
  /// Packs rows of keys and values into panels and head-major rows: items are (batch
  /// element, key head, block of 128 rows). Same arguments.
  void emitPack(mlir::Block *block);
  /// The first visible key of each batch element: items are batch elements.
  void emitAnchors(mlir::Block *block);

  // one tile of keys: keys [begin, end) of the tile at `at`
  struct Tile {
    Value at, begin, end;
    bool partial;
    bool bounds = false; ///< partial: of the mask only bounds of keys are open
  };

private:
  const AttentionPlan &plan;
  const Machine &machine;
  mlir::Block *entry = nullptr;
  Value query, key, value, result, scratch, thread, from, to;
  llvm::SmallVector<Value> tensors, lengths;

  // the work item
  Value batch, group, firstRow, count; ///< group: key head, or query head where rows are not packed
  Value area;                          ///< this thread's part of scratch
  Value anchor, guarded;
  Value pairs; ///< of the values of the tile at hand
  Value keyTurn, valueTurn; ///< positions by which the tile stands nearer in a ring; none: not in one
  /// The item's class (KeyClasses.h): its number (null: all there is), its first row of this call,
  /// how many keys it has, and the key at the position of its row 0.
  Value residue, rowStart, keyCount, ownStart;

  struct Row {
    Value index;    ///< in the block
    Value row;      ///< of this call
    Value position; ///< past + row
    Value own;      ///< the key at that position; it need not be there
    Value head;
    mlir::OpBuilder::InsertPoint before; ///< where what does not change along the row goes
  };

  void bind(mlir::Block *block);
  Value length(const model::Size &form);
  Value tensor(mlir::Value operand);
  Value floats(int64_t at) { return this->at(area, constant(at), f32()); }
  Value tripFloor(Value n, int64_t step) { return mul(div(n, constant(step)), step); }
  /// Element `at` of a leaf's tensor; a vector of keys as last index gives a vector.
  Value element(mlir::OpBuilder &builder, mlir::Value operand, llvm::ArrayRef<Value> at);
  mlir::VectorType words() { return vec(b.getI32Type()); }
  Value splatWord(Value index);
  Value iota(Value firstKey);
  Value keyRows(Value firstKey); ///< of consecutive keys
  Value keyHead();
  Value headOf(Value packedRow);
  Value rowOf(Value packedRow), ownOf(Value packedRow);
  Value keyRow(Value key); ///< of a key of the item's class
  mask::Emitter emitter();

  void emitItem(Value item);
  void enterClass(Value number);
  void emitRows(); ///< of an item that has some
  Value queryOf(Value packedRow);
  void emitSetup();
  Value emitFinish(); ///< i1: some output is not finite
  void emitMaskedRow(Value outAt);
  void emitScores(const Tile &tile);
  void scoreRows(const Tile &tile, Value from, Value to, int64_t rows, int64_t panels);
  void scorePanels(Value panel, Value panelAt, Value column, Value row, int64_t rows, int64_t panels);
  void emitMaxima(const Tile &tile);
  void emitWeights(const Tile &tile);
  void emitAllWeights(const Tile &tile);
  Value headOfKeys(), keysAt(), valuesAt(Value k);
  /// Elements `index`... of stored values, widened; and from row to row of them.
  Value loadValue(Value base, Value index, Value mask = {});
  mlir::Type valueType() { return plan.arithmetic.halves() ? mlir::Type(b.getI16Type()) : f32(); }
  int64_t valuePitch() const { return plan.arithmetic.halves() ? 2 * plan.valueWords() : plan.valueWidth; }
  SumStep scoreStep() const { return SumStep(plan.arithmetic, plan.width); }
  void storeQuery(Value source, Value target);
  void addToSum(Value row, Value sum);
  void fetchAhead(Value values, Value row);
  void emitOutput(const Tile &tile);
  void outputRows(const Tile &tile, bool guard, Value from, Value to, int64_t rows);
  int64_t groupRows() { return machine.registers >= 32 ? 8 : 4; }
  void emitBounds(mask::Emitter e);
  std::pair<Value, Value> boundsOf(const Tile &tile, Value row);
  int64_t openBeyondBounds();
  std::pair<Value, Value> keysSeen(const Tile &tile, const Row &row);
  void byRowGroups(llvm::function_ref<void(Value from, Value to, int64_t rows)> body);

  // AttentionPairs.cpp: weights and values, with dots
  Value pairWeights(Value low, Value high, Value greatest, Value &nan);
  Value roundedPairs(Value low, Value high);
  void emitPairWeights(const Tile &tile);
  std::pair<Value, Value> pairsOf(const Tile &tile, Value begin, Value end);
  void emitPairs(const Tile &tile);
  Values addPair(Value weights, Value pair, Value d, int64_t rows, int64_t n, bool guard, Values sums);

  // reals
  std::pair<Value, Value> split(Value x);
  Value exp2(std::pair<Value, Value> parts);
  Value exp2(Value x) { return exp2(split(x)); }
  Value larger(Value x, Value y);
  Value largestLane(Value x);
  Value softcap(Value x);

  // AttentionBias.cpp
  void emitBiasTables();
  void emitBiasTile(const Tile &tile);
  Value biasAt(mlir::Value bias, const Row &row, Value firstKey, Value column);
  Value distances(const Row &row, Value firstKey);
  void emitBuckets(attn::BucketBiasOp op, int64_t at);

  // AttentionRelative.cpp
  Value relativeColumn; ///< of the tile's first panel
  void emitDots(attn::RelativeDotOp op, int64_t at, const Tile &tile);
  void packDistances(attn::RelativeDotOp op, int64_t at, Value farthest, Value panels);
  Value relativeAt(attn::RelativeDotOp op, int64_t at, const Row &row, Value column);
  Values dots(llvm::ArrayRef<Value> rows, Value panels, int64_t w, int64_t n);
  void queryDots(int64_t panelsAt, int64_t dotsAt, int64_t w, Value panels, llvm::function_ref<Value(Value)> lineAt);
  void keyDots(int64_t panelsAt, int64_t dotsAt, int64_t scoresAt, int64_t w, Value columns,
               llvm::function_ref<Value(Value)> lineAt);
};

//===-- how keys and values are stored (AttentionStored.cpp) --------------------------===//

/// One panel of kPanel keys, [w][kPanel], or [w/2][kPanel][2] in 16 bits, from rows `stride` floats apart; only
/// `rows` of them are there.
void packPanel(Code &c, Stored stored, Value source, int64_t stride, int64_t w, Value target, Value rows);
/// The same from rows that `rowAt` tells.
void packPanel(Code &c, Stored stored, llvm::function_ref<Value(int64_t)> rowAt, int64_t w, Value target);
/// Key `lane` of a panel alone.
void packKey(Code &c, Stored stored, Value source, int64_t w, Value panel, Value lane);
/// Two rows of values, as words of two halves; whole vectors are written.
void packPair(Code &c, Value even, Value odd, int64_t u, Value target);
/// One row of values.
void packValue(Code &c, Stored stored, Value source, int64_t u, Value target);

/// `lanes` rows of `lanes` floats each, transposed in registers.
Values transpose(Code &c, Values rows);

} // namespace heddle::loops

#endif
