//===- MaskCursor.cpp - emitted, compiled, called -------------------------===//
//
//   walk_N(arguments, tensors, out)   out = count, then (lo, hi, need) for each run
//   seen_N(arguments, tensors, -)     -> keys of [lo, hi) that the row sees
//
//===----------------------------------------------------------------------===//

#include "compiler/MaskReport/MaskCursor.h"
#include "compiler/Pipelines/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "targets/Target.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace mlir;
using namespace heddle;
using heddle::model::ModelTensorType;
using heddle::model::Size;

namespace {
enum Argument : unsigned { First, Last, Batch, Head, Past, Rows, Keys, KeyStart, Anchor, Lo, Hi, FirstDim };

/// Builds the code of one function over one mask.
struct Body {
  OpBuilder &b;
  Location loc;
  Value mask;
  ArrayRef<Value> tensors;
  ArrayRef<std::string> dims;
  Value arguments, data, out;

  Type ptr() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Value at(OpBuilder &o, Value base, Type type, LLVM::GEPArg index) {
    return LLVM::GEPOp::create(o, loc, ptr(), type, base, ArrayRef<LLVM::GEPArg>{index});
  }
  Value index(OpBuilder &o, Value i64) { return arith::IndexCastOp::create(o, loc, o.getIndexType(), i64); }
  Value word(OpBuilder &o, Value index) { return arith::IndexCastOp::create(o, loc, o.getI64Type(), index); }
  /// Loads argument `n` at the beginning of the function, wherever the code that needs it is.
  Value argument(unsigned n) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(out.getParentBlock());
    return index(b, LLVM::LoadOp::create(b, loc, b.getI64Type(), at(b, arguments, b.getI64Type(), int32_t(n))));
  }
  Value length(const Size &form) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(out.getParentBlock());
    auto number = [&](int64_t n) -> Value { return arith::ConstantIndexOp::create(b, loc, n); };
    auto dim = [&](StringRef name) -> Value {
      unsigned n = llvm::find(dims, name.str()) - dims.begin();
      assert(n < dims.size() && "every dim of a tensor is bound");
      return index(
          b, LLVM::LoadOp::create(b, loc, b.getI64Type(), at(b, arguments, b.getI64Type(), int32_t(FirstDim + n))));
    };
    auto binary = [&](char op, Value x, Value y) -> Value {
      switch (op) {
      case '+': return arith::AddIOp::create(b, loc, x, y);
      case '-': return arith::SubIOp::create(b, loc, x, y);
      case '*': return arith::MulIOp::create(b, loc, x, y);
      case '/': return arith::FloorDivSIOp::create(b, loc, x, y);
      case 'M': return arith::MaxSIOp::create(b, loc, x, y);
      default: return arith::MinSIOp::create(b, loc, x, y);
      }
    };
    std::optional<Value> v = model::visitSize<Value>(form.str(), {number, dim, binary});
    assert(v && "the form of a type is well formed");
    return *v;
  }
  Value element(OpBuilder &o, Value tensor, ArrayRef<Value> place) {
    auto type = cast<ModelTensorType>(tensor.getType());
    unsigned n = llvm::find(tensors, tensor) - tensors.begin();
    assert(n < tensors.size() && "every tensor of a leaf is collected");
    Value linear = arith::ConstantIndexOp::create(o, loc, 0);
    for (auto [axis, i] : llvm::enumerate(place)) {
      Size size = type.getSize(axis);
      linear = arith::MulIOp::create(o, loc, linear, length(size));
      if (!size.is(1))
        linear = arith::AddIOp::create(o, loc, linear, i);
    }
    Type kind = type.getElementType(), stored = kind.isInteger(1) ? Type(o.getI8Type()) : kind;
    Value base = LLVM::LoadOp::create(o, loc, ptr(), at(o, data, ptr(), int32_t(n)));
    Value v = LLVM::LoadOp::create(o, loc, stored, at(o, base, stored, word(o, linear)));
    if (stored == kind)
      return v;
    Value zero = arith::ConstantOp::create(o, loc, o.getI8IntegerAttr(0));
    return arith::CmpIOp::create(o, loc, arith::CmpIPredicate::ne, v, zero);
  }

  mask::Emitter emitter() {
    Value past = argument(Past);
    mask::Emitter e{b, b, loc};
    e.past = past;
    e.first = arith::AddIOp::create(b, loc, past, argument(First));
    e.last = arith::AddIOp::create(b, loc, past, argument(Last));
    e.batch = argument(Batch);
    e.head = argument(Head);
    e.queries = argument(Rows);
    e.keys = argument(Keys);
    e.keyStart = argument(KeyStart);
    return e;
  }

  void walk(int64_t keyTile) {
    mask::Emitter e = emitter();
    auto load = [&](OpBuilder &o, Value t, ArrayRef<Value> place) { return element(o, t, place); };
    auto lengthOf = [&](Value t, int64_t axis) { return length(cast<ModelTensorType>(t.getType()).getSize(axis)); };
    e.load = load;
    e.lengthOf = lengthOf;
    auto visit = [&](OpBuilder &o, Value lo, Value hi, Value need) {
      Type i64 = o.getI64Type();
      Value count = LLVM::LoadOp::create(o, loc, i64, out);
      Value three = arith::ConstantIntOp::create(o, loc, 3, 64), one = arith::ConstantIntOp::create(o, loc, 1, 64);
      Value next =
          at(o, out, i64, arith::AddIOp::create(o, loc, one, arith::MulIOp::create(o, loc, count, three)).getResult());
      Value values[] = {word(o, lo), word(o, hi), arith::ExtUIOp::create(o, loc, i64, need)};
      for (auto [i, v] : llvm::enumerate(values))
        LLVM::StoreOp::create(o, loc, v, at(o, next, i64, int32_t(i)));
      LLVM::StoreOp::create(o, loc, arith::AddIOp::create(o, loc, count, one).getResult(), out);
    };
    mask::emitWalk(b, e, mask, argument(Anchor), keyTile, visit);
    func::ReturnOp::create(b, loc);
  }

  void seen() {
    mask::Emitter e = emitter();
    auto load = [&](OpBuilder &o, Value t, ArrayRef<Value> place) { return element(o, t, place); };
    auto lengthOf = [&](Value t, int64_t axis) { return length(cast<ModelTensorType>(t.getType()).getSize(axis)); };
    e.load = load;
    e.lengthOf = lengthOf;
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 64), one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ForOp::create(b, loc, argument(Lo), argument(Hi), one, ValueRange{zero});
    e.tile.setInsertionPoint(loop);
    e.step.setInsertionPointToStart(loop.getBody());
    Value sees = mask ? mask::emitContains(e, mask, e.first, loop.getInductionVar())
                      : arith::ConstantOp::create(e.step, loc, e.step.getBoolAttr(true)).getResult();
    b.setInsertionPointToEnd(loop.getBody());
    Value count = arith::ExtUIOp::create(b, loc, b.getI64Type(), sees);
    scf::YieldOp::create(b, loc,
                         ValueRange{arith::AddIOp::create(b, loc, loop.getRegionIterArgs()[0], count).getResult()});
    b.setInsertionPointAfter(loop);
    func::ReturnOp::create(b, loc, loop.getResults());
  }
};
} // namespace

/// Lowers the functions to LLVM's dialect, as the last of a target's stages does.
static LogicalResult lower(ModuleOp module, const Stage &llvm) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  addPasses(pm, llvm, {}, [](StringRef flag) { return flag != "convert-heddle-to-loops"; });
  return pm.run(module);
}

/// Compiles two functions for each mask from the emitters that the kernels of a model use: one walks the segments of a
/// tile of rows, one asks for a single row and key. The arguments of a mask are the dims and tensors that its leaves
/// read.
std::unique_ptr<MaskCursors> MaskCursors::compile(MLIRContext &context, ArrayRef<Value> masks, int64_t keyTile,
                                                  std::string &error) {
  auto result = std::make_unique<MaskCursors>();
  result->keyTile = keyTile;
  OpBuilder b(&context);
  Location top = masks.empty() || !masks.front() ? Location(FileLineColLoc::get(&context, "heddle mask", 1, 1))
                                                 : masks.front().getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(top);
  Type ptr = LLVM::LLVMPointerType::get(&context);
  for (auto [n, mask] : llvm::enumerate(masks)) {
    Cursor cursor;
    llvm::SetVector<Value> tensors;
    std::set<std::string> dims;
    SmallVector<Operation *> leaves;
    if (mask)
      mask::collectLeaves(mask, leaves);
    for (Operation *leaf : leaves)
      for (Value operand : leaf->getOperands())
        if (auto type = dyn_cast<ModelTensorType>(operand.getType()))
          if (tensors.insert(operand))
            for (const Size &size : type.getSizes())
              for (const std::string &dim : size.dims())
                dims.insert(dim);
    cursor.tensors.assign(tensors.begin(), tensors.end());
    cursor.dims.assign(dims.begin(), dims.end());
    for (bool walk : {true, false}) {
      b.setInsertionPointToEnd(module->getBody());
      Location loc = mask ? mask.getLoc() : top;
      auto f = func::FuncOp::create(b, loc, (walk ? "walk_" : "seen_") + std::to_string(n),
                                    b.getFunctionType({ptr, ptr, ptr}, walk ? TypeRange{} : TypeRange{b.getI64Type()}));
      Block *block = f.addEntryBlock();
      b.setInsertionPointToEnd(block);
      Body body{b,
                loc,
                mask,
                cursor.tensors,
                cursor.dims,
                block->getArgument(0),
                block->getArgument(1),
                block->getArgument(2)};
      walk ? body.walk(keyTile) : body.seen();
    }
    result->cursors.push_back(std::move(cursor));
  }
  std::unique_ptr<Target> target = makeHostTarget(error);
  if (!target)
    return nullptr;
  error = "the cursors of the masks do not compile";
  if (failed(lower(*module, target->stages().back())))
    return nullptr;

  std::unique_ptr<llvm::TargetMachine> machine = target->processor()->machine(error);
  if (!machine)
    return nullptr;
  auto owner = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = host::translate(*module, *owner, *machine);
  if (!code)
    return nullptr;
  host::optimise(*code, *machine);
  auto failedWith = [&](llvm::Error e) {
    error = llvm::toString(std::move(e));
    return nullptr;
  };
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return failedWith(host.takeError());
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!jit)
    return failedWith(jit.takeError());
  if (llvm::Error e = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(code), std::move(owner))))
    return failedWith(std::move(e));
  for (auto [n, cursor] : llvm::enumerate(result->cursors)) {
    auto walk = (*jit)->lookup("walk_" + std::to_string(n)), seen = (*jit)->lookup("seen_" + std::to_string(n));
    if (!walk || !seen)
      return failedWith(llvm::joinErrors(walk.takeError(), seen.takeError()));
    cursor.walk = walk->toPtr<decltype(cursor.walk)>();
    cursor.seen = seen->toPtr<decltype(cursor.seen)>();
  }
  result->jit = std::move(*jit);
  error.clear();
  return result;
}

MaskCursors::MaskCursors() = default;
MaskCursors::~MaskCursors() = default;

void MaskCursors::bind(unsigned n, std::vector<const void *> data, std::vector<int64_t> dims) {
  Cursor &c = cursors[n];
  assert(data.size() == c.tensors.size() && dims.size() == c.dims.size());
  c.data = std::move(data);
  c.arguments.assign(FirstDim, 0);
  c.arguments.insert(c.arguments.end(), dims.begin(), dims.end());
}

static void fill(std::vector<int64_t> &arguments, const MaskPlace &at) {
  arguments[Batch] = at.batch;
  arguments[Head] = at.head;
  arguments[Past] = at.past;
  arguments[Rows] = at.rows;
  arguments[Keys] = at.keys;
  arguments[KeyStart] = at.keyStart;
  arguments[Anchor] = at.anchor;
}

void MaskCursors::walk(unsigned n, const MaskPlace &at, int64_t first, int64_t last, std::vector<MaskRun> &runs) {
  Cursor &c = cursors[n];
  fill(c.arguments, at);
  c.arguments[First] = first;
  c.arguments[Last] = last;
  // A run covers whole tiles or is inside of one, so there are no more runs than tiles.
  room.resize(1 + 3 * (at.keys / keyTile + 2));
  room[0] = 0;
  c.walk(c.arguments.data(), c.data.data(), room.data());
  runs.clear();
  for (int64_t i = 0; i < room[0]; ++i)
    runs.push_back({room[1 + 3 * i], room[2 + 3 * i], room[3 + 3 * i] != 0});
}

int64_t MaskCursors::seen(unsigned n, const MaskPlace &at, int64_t row, int64_t lo, int64_t hi) {
  Cursor &c = cursors[n];
  fill(c.arguments, at);
  c.arguments[First] = c.arguments[Last] = row;
  c.arguments[Lo] = lo;
  c.arguments[Hi] = hi;
  return c.seen(c.arguments.data(), c.data.data(), nullptr);
}
