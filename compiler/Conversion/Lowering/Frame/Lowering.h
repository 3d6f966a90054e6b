//===- Lowering.h - from tensors to loops over one arena --------*- C++ -*-===//
//
// `convert-heddle-to-loops` turns a function of the stage `buffers` into a function that the
// runtime can call (runtime/include/heddle/abi.h). Every tensor is a row-major contiguous
// stretch of memory: of an input, an output, a state, the weights or the arena, where
// `model-plan-memory` has put it. Code is SPMD: every thread runs all of it, takes its
// static share of each loop over tiles, and meets the others at barriers.
//
// This class is what the lowering of one op may ask for. Free functions lower the ops; LowerOp.cpp
// says which. A family of ops has one file (Norms.cpp, ElementwiseOps.cpp, Moves.cpp); linears and
// attentions have several (Linear*.cpp, Attention*.cpp, Matrix*.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_LOWERING_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_FRAME_LOWERING_H

#include "compiler/Conversion/Lowering/Frame/Cost.h"
#include "compiler/Conversion/Lowering/Frame/Length.h"
#include "compiler/Conversion/Lowering/Language/Code.h"
#include "compiler/Plan/Lengths.h"
#include "dialects/Attn/IR/AttnPlanAttrs.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::abi {
enum class Failure : int64_t; // Abi.h
}

namespace heddle::loops {

class Lowering;

/// A second copy of a result: `store` writes the elements of lanes from `column` on in `row`.
struct ExtraStore {
  std::function<void(mlir::Value row, mlir::Value column, mlir::Value mask, mlir::Value elements)> store; ///< or null
  bool alone = false; ///< nothing reads the result as it is
};

/// Ops whose code each target writes in its own way; all others are one source for every target.
struct Programs {
  mlir::LogicalResult (*linear)(Lowering &, model::LinearOp);
  mlir::LogicalResult (*attention)(Lowering &, attn::SdpaOp);
  /// Appends and stores whose state has a cache layout.
  mlir::LogicalResult (*cacheWrite)(Lowering &, mlir::Operation *);
  /// Any other op: whether the target has lowered it. Null where it lowers none itself.
  bool (*other)(Lowering &, mlir::Operation *) = nullptr;
  /// Second copy of a norm's result, rounded for the linears that read it; null: none.
  ExtraStore (*extraStore)(Lowering &, mlir::Operation *) = nullptr;
};

/// Facts about the machine that schedules ask for. One value a compilation.
struct Machine {
  const Lanes &lanes;           ///< what a vector is; on a CPU 16 f32 (AVX-512), 8 (AVX2) or 4 (NEON)
  const Programs &programs;     ///< the ops that a target writes itself
  int64_t registers = 32;       ///< vector registers
  bool worksFromCounter = true; ///< threads take work from counters (heddle_take); else each has a fixed stretch
  bool kernels = false;         ///< kernels are made of entries: costs, items and places stay on them (dialects/Tile)
};

/// What threads do between two barriers.
struct Phase {
  std::vector<Cost> costs;
  std::string weight; ///< the name of the first parameter of its last op, or ""
  int64_t repeats;    ///< how often a call does it: repeats are around it
};

class Lowering : private OwnBuilder, public LengthCode {
public:
  Lowering(mlir::func::FuncOp source, const Machine &machine);

  const Machine &machine;
  mlir::ModuleOp module;
  mlir::func::FuncOp source;                          ///< the function that is lowered
  mlir::func::FuncOp function;                        ///< what it becomes
  mlir::Value context, dims, tensors, arena, weights; ///< the arguments of abi.h
  mlir::Value tid, nth;                               ///< index: this thread and how many there are
  std::vector<Phase> phases;                          ///< in the order of the text, by the barriers that end them
  int64_t repeats = 1;                                ///< of the repeats around the code that is made now

  /// Lowers the whole function; reports what cannot be.
  mlir::LogicalResult run();

  /// The value of a length form (index), computed once in the entry block.
  Length size(const model::Size &form);
  Length size(llvm::StringRef form) { return size(*model::Size::parse(form)); }
  /// A dim that the function itself has found out: an i64 load, which no later phase of the entry changes.
  void setSize(llvm::StringRef dim, mlir::Value load);

  /// Element 0 of an already lowered tensor, as !llvm.ptr (for a state: its first byte). Elements
  /// follow in row-major order: f32, i64, bytes for booleans.
  mlir::Value pointer(mlir::Value tensor);
  using Code::pointer;
  /// An index of a parameter or a state: the variable of a repeat, or a constant of the description.
  mlir::Value index(mlir::Value index);
  void setPointer(mlir::Value tensor, mlir::Value pointer) { pointers[tensor] = pointer; }
  /// The place planned for a result.
  mlir::Value allocatePointer(mlir::OpResult result);
  /// What the memory plan reserved in the arena for `op` (see scratchBytes).
  mlir::Value scratchPointer(mlir::Operation *op);
  /// A constant array in the program, as a pointer.
  mlir::Value constantArray(mlir::DenseElementsAttr value);

  /// All threads wait for each other; needed between a producer and consumers that read what other threads wrote. Every
  /// lowering emits one after its last write, and between its phases.
  void barrier(mlir::Location loc);
  /// Notes what an op of the phase at hand takes. Ops that are one phase are noted by the driver (LowerOp.cpp).
  void noteCost(llvm::function_ref<Cost()> cost);
  /// Records a run-time error; operands are i64.
  void fail(abi::Failure code, mlir::Value x, mlir::Value y);

  /// body(i) for this team's items of [0, n): a thread's stretch n*tid/nth .. n*(tid+1)/nth on a CPU.
  void parallelFor(mlir::Location loc, const Length &n, llvm::function_ref<void(mlir::Value i)> body);
  /// The same where an item is the work of one lane: element by element, or sums in the order of an axis.
  void forEach(mlir::Location loc, const Length &n, llvm::function_ref<void(mlir::Value i)> body);
  /// The ends of this team's stretch of [0, n).
  std::pair<mlir::Value, mlir::Value> share(const Length &n);
  /// body(from, to) for stretches of [0, n), which is cut into `parts`. One thread takes all of it; several take one
  /// part at a time, so that a slow thread gets fewer parts. Results must not depend on which thread runs one. Only
  /// the first such loop of a phase is shared so; in a second one each thread has a fixed part.
  void forStretches(mlir::Location loc, const Length &n, mlir::Value parts,
                    llvm::function_ref<void(mlir::Value from, mlir::Value to)> body);
  /// body(i) for i = from, from+step, ... < to on this thread.
  void loop(mlir::Location loc, mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value i)> body);
  using Code::loop;

  /// A private function of the module, made once for `name` by `build` (kernels specialised to
  /// a shape are shared by every layer and entry that has the shape).
  mlir::func::FuncOp kernel(mlir::Location loc, llvm::StringRef name, mlir::FunctionType type,
                            llvm::function_ref<void(Code &, mlir::Block *)> build);
  void call(mlir::func::FuncOp callee, mlir::ValueRange operands);
  /// The declaration of a function that abi.def lists.
  mlir::func::FuncOp external(llvm::StringRef symbol);

  /// Row-major strides in elements; 0 for an axis of length 1.
  Values strides(model::ModelTensorType type);
  /// The index of each axis after the linear index `at`.
  Values unravel(model::ModelTensorType type, mlir::Value at);
  /// The number of elements of axes [from, to).
  Length count(model::ModelTensorType type, int64_t from, int64_t to);
  Length count(model::ModelTensorType type) { return count(type, 0, type.getRank()); }

  /// Copies `n` elements, every thread its share.
  void copy(mlir::Value from, mlir::Value to, mlir::Type element, const Length &n);

  /// What the dims that the function finds out for itself (`model.live_rows`) are at most.
  const std::map<std::string, model::Size> rowBounds;

  /// Lowers the ops of a block but its terminator.
  mlir::LogicalResult lowerBlock(mlir::Block &block);

private:
  llvm::DenseMap<mlir::Value, mlir::Value> pointers;
  std::map<std::string, mlir::Value> sizes;
  mlir::Operation *prologueEnd = nullptr; ///< sizes are computed before what follows it
  llvm::SmallVector<std::string> dimNames;
  std::vector<Cost> spent;            ///< since the last barrier
  mlir::Operation *current = nullptr; ///< the op that is lowered now
  bool dealt = false;                 ///< in the phase at hand

  void endPhase(mlir::Operation *end);

  mlir::Value place(model::PlaceAttr place);
  mlir::LogicalResult lowerReturn(mlir::func::ReturnOp op);
};

/// Notes that `op` deals out [0, n), each the work of so many threads.
void noteItems(Lowering &l, mlir::Operation *op, const Length &n, int64_t threads);

//===-- what an entry looks like from outside ---------------------------------------===//

using plan::entryDims; ///< in the order in which the runtime passes them
/// Bytes of an argument that is a state (attn-plan-cache may have changed its layout).
model::Size stateBytes(mlir::func::FuncOp function, unsigned argument);

/// Notes on the module what its card will say of the functions of stage `buffers` (dialects/Card). `phases`: of each
/// entry; none where a device's launches say it.
mlir::LogicalResult noteEntries(mlir::ModuleOp module, llvm::ArrayRef<mlir::func::FuncOp> entries,
                                llvm::ArrayRef<std::vector<Phase>> phases);

//===-- one function an op; each leaves its result in its place ---------------------===//

mlir::LogicalResult lowerOp(Lowering &l, mlir::Operation *op); // LowerOp.cpp: the dispatch

mlir::LogicalResult lowerRepeat(Lowering &l, model::RepeatOp op);   // ControlAndStates.cpp
mlir::LogicalResult lowerDefault(Lowering &l, model::DefaultOp op); // ControlAndStates.cpp
mlir::LogicalResult lowerState(Lowering &l, mlir::Operation *op);   // ControlAndStates.cpp: append, load, store
mlir::LogicalResult lowerLeaf(Lowering &l, mlir::Operation *op);  // ControlAndStates.cpp: param, constant, size, range
mlir::LogicalResult lowerMap(Lowering &l, mlir::Operation *op);   // ElementwiseOps.cpp: map and unfused elementwise
mlir::LogicalResult lowerMove(Lowering &l, mlir::Operation *op);  // Moves.cpp: slice, rearrange, concat, pad, broadcast
mlir::LogicalResult lowerRows(Lowering &l, mlir::Operation *op);  // PackRows.cpp: live_rows, pack_rows, unpack_rows
mlir::LogicalResult lowerGather(Lowering &l, model::GatherOp op); // Gather.cpp
mlir::LogicalResult lowerEmbedding(Lowering &l, model::EmbeddingOp op);     // Gather.cpp
mlir::LogicalResult lowerMatmul(Lowering &l, model::MatmulOp op);           // Matmul.cpp
mlir::LogicalResult lowerConv(Lowering &l, model::ConvOp op);               // Conv.cpp
mlir::LogicalResult lowerNorm(Lowering &l, mlir::Operation *op);            // Norms.cpp
mlir::LogicalResult lowerReduce(Lowering &l, model::ReduceOp op);           // Reductions.cpp
mlir::LogicalResult lowerCumsum(Lowering &l, model::CumsumOp op);           // Reductions.cpp
mlir::LogicalResult lowerSoftmax(Lowering &l, model::SoftmaxOp op);         // Reductions.cpp
mlir::LogicalResult lowerTopK(Lowering &l, model::TopKOp op);               // Reductions.cpp
mlir::LogicalResult lowerPosition(Lowering &l, mlir::Operation *op);        // Positions.cpp: sinusoidal, rotary
mlir::LogicalResult lowerInterpolate(Lowering &l, model::InterpolateOp op); // Interpolate.cpp

mlir::LogicalResult lowerMaskTable(Lowering &l, mlir::Operation *op); // FillMaskTables.cpp

} // namespace heddle::loops

#endif
