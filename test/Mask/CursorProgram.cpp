//===- CursorProgram.cpp - the code of masks, callable --------------------===//

#include "test/Mask/CursorProgram.h"
#include "compiler/Conversion/ToLoops/Code.h"
#include "compiler/Conversion/ToLoops/Passes.h"
#include "dialects/Mask/IR/MaskCode.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <cassert>
#include <cstring>

using namespace mlir;
using namespace heddle;
using namespace heddle::test;
using model::ModelTensorType;
using model::Size;

/// What a call is told, in this order.
enum Dim { B, T, S, P, K, kBatch, kHead, kFirst, kLast, kAnchor, kDims };
using Function = void (*)(void *const *tensors, const int64_t *dims, void *out);

namespace {
/// One function: the mask's values at its start, then one of the bodies below.
class CursorCode : public loops::Code {
public:
  CursorCode(OpBuilder &builder, Location loc, func::FuncOp mask, const CursorCase &test, StringRef name)
      : Code(ImplicitLocOpBuilder(loc, builder), 16), test(test) {
    Type ptr = LLVM::LLVMPointerType::get(b.getContext());
    auto f = func::FuncOp::create(b, name, b.getFunctionType({ptr, ptr, ptr}, {}));
    entry = f.addEntryBlock();
    b.setInsertionPointToStart(entry);
    auto end = func::ReturnOp::create(b);
    b.setInsertionPoint(end);
    for (int64_t i = 0; i < kDims; ++i)
      dims[i] = toIndex(load(b.getI64Type(), at(entry->getArgument(1), constant(i), b.getI64Type())));
    for (BlockArgument arg : mask.getArguments())
      tensors[arg] = load(ptr, at(entry->getArgument(0), constant(arg.getArgNumber()), ptr));
    out = entry->getArgument(2);
    value = cast<func::ReturnOp>(mask.getBody().front().getTerminator()).getOperand(0);
  }

  void walk() {
    int64_t width = 24; // i64: begin, end, need
    Value counter = at(out, constant(0), b.getI64Type());
    store(toI64(constant(0)), counter);
    mask::Emitter e = emitter();
    mask::emitWalk(b, e, value, dims[kAnchor], test.tile, [&](OpBuilder &, Value lo, Value hi, Value need) {
      Value n = toIndex(load(b.getI64Type(), counter)), to = at(out, add(mul(n, width), 8), b.getI8Type());
      store(toI64(lo), at(to, constant(0), b.getI64Type()));
      store(toI64(hi), at(to, constant(1), b.getI64Type()));
      store(bit(need), at(to, constant(2), b.getI64Type()));
      store(toI64(add(n, 1)), counter);
    });
  }

  /// At each key: any, all, end.
  void segments() {
    loop(constant(0), dims[S], 1, [&](Value key) {
      mask::Emitter e = emitter();
      e.tile = e.step = b;
      mask::Segment s = mask::ask(value).emitSegment(e, key);
      b.restoreInsertionPoint(e.step.saveInsertionPoint());
      Value to = at(out, mul(key, 3), b.getI64Type());
      store(bit(s.any), at(to, constant(0), b.getI64Type()));
      store(bit(s.all), at(to, constant(1), b.getI64Type()));
      store(toI64(s.end), at(to, constant(2), b.getI64Type()));
    });
  }

  void hull() {
    mask::Emitter e = emitter();
    e.tile = e.step = b;
    mask::Hull h = mask::ask(value).emitHull(e);
    b.restoreInsertionPoint(e.tile.saveInsertionPoint());
    store(toI64(h.begin ? h.begin : constant(-mask::kUnbounded)), at(out, constant(0), b.getI64Type()));
    store(toI64(h.end ? h.end : constant(mask::kUnbounded)), at(out, constant(1), b.getI64Type()));
  }

  /// Lines of words, [row][line][key]: the predicate of a scalar, of vectors, the count.
  void elements() {
    pairs(3, [&](mask::Emitter &e, Value position, Value key, auto put) {
      bool vector = isa<VectorType>(key.getType());
      put(vector, mask::emitContains(e, value, position, key));
      if (vector)
        put(2, mask::emitCount(e, value, position, key));
    });
  }

  /// Lines of words whose bits are the operands of the root.
  void operands() {
    mask::Residuals root = mask::residuals(value);
    pairs(2, [&](mask::Emitter &e, Value position, Value key, auto put) {
      bool vector = isa<VectorType>(key.getType());
      Value bits;
      for (auto [n, operand] : llvm::enumerate(root.operands)) {
        Value one;
        if (operand.isBound() && !vector) {
          Value bound = operand.emitBound(e, position);
          bool lower = operand.side == mask::Sides::Lower;
          one = arith::CmpIOp::create(e.step, e.loc, lower ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt, key, bound);
        } else {
          one = operand.emitContains(e, position, key);
        }
        Type word = vector ? Type(vec(b.getI32Type())) : b.getI32Type();
        Value yes = arith::ConstantOp::create(e.step, e.loc, numbers(word, 1u << n)), no = arith::ConstantOp::create(e.step, e.loc, numbers(word, 0));
        Value bit = arith::SelectOp::create(e.step, e.loc, one, yes, no);
        bits = bits ? Value(arith::OrIOp::create(e.step, e.loc, bits, bit)) : bit;
      }
      if (bits)
        put(vector, bits);
    });
  }

private:
  const CursorCase &test;
  Block *entry;
  Value dims[kDims], out, value;
  DenseMap<Value, Value> tensors;

  static TypedAttr numbers(Type type, uint32_t v) {
    auto shaped = dyn_cast<VectorType>(type);
    return shaped ? TypedAttr(DenseElementsAttr::get(shaped, APInt(32, v))) : TypedAttr(IntegerAttr::get(type, APInt(32, v)));
  }
  /// ask(emitter, position, key, put) for all pairs of the tile, with scalar keys and with
  /// vectors; put(line, value) stores words or bits.
  template <typename Ask> void pairs(int64_t lines, Ask ask) {
    Type word = b.getI32Type();
    Value stride = add(dims[S], lanes);
    loop(dims[kFirst], add(dims[kLast], 1), 1, [&](Value row) {
      Value base = at(out, mul(mul(sub(row, dims[kFirst]), stride), lines), word), position = add(dims[P], row);
      auto at1 = [&](Value firstKey, Value key) {
        mask::Emitter e = emitter();
        e.first = e.last = position;
        e.tile = b; // before the loop over keys, as the contract says
        e.tile.setInsertionPoint(b.getInsertionBlock()->getParentOp());
        e.step = b;
        ask(e, position, key, [&](int64_t line, Value v) {
          b.restoreInsertionPoint(e.step.saveInsertionPoint());
          if (getElementTypeOrSelf(v.getType()).isInteger(1))
            v = arith::ExtUIOp::create(b, with(v.getType(), word), v);
          store(v, at(base, add(mul(stride, line), firstKey), word));
          e.step = b;
        });
      };
      loop(constant(0), dims[S], 1, [&](Value key) { at1(key, key); });
      loop(constant(0), dims[S], lanes, [&](Value key) {
        at1(key, arith::AddIOp::create(b, splat(arith::IndexCastOp::create(b, word, key)), iota()));
      });
    });
  }
  Value bit(Value v) { return arith::ExtUIOp::create(b, b.getI64Type(), v); }
  Value iota() {
    SmallVector<int32_t> steps;
    for (int32_t i = 0; i < lanes; ++i)
      steps.push_back(i);
    return arith::ConstantOp::create(b, DenseIntElementsAttr::get(vec(b.getI32Type()), steps));
  }

  Value lengthOf(const Size &form) {
    if (std::optional<int64_t> n = form.constant()) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(entry);
      return constant(*n);
    }
    const char *names[] = {"B", "T", "S", "P", "K"};
    for (int64_t i = 0; i <= K; ++i)
      if (form == Size::dim(names[i]))
        return dims[i];
    llvm::report_fatal_error("a tensor of a mask has an axis that the test does not know");
  }

  Value element(OpBuilder &builder, Value tensor, ArrayRef<Value> index) {
    OpBuilder::InsertionGuard guard(b);
    b.restoreInsertionPoint(builder.saveInsertionPoint());
    auto type = cast<ModelTensorType>(tensor.getType());
    Value linear = constant(0), keys;
    for (auto [axis, i] : llvm::enumerate(index)) {
      Size n = type.getSize(axis);
      linear = mul(linear, lengthOf(n));
      if (isa<VectorType>(i.getType()))
        keys = i;
      if (!n.is(1))
        linear = add(linear, i == keys ? toIndex(vector::ExtractOp::create(b, i, ArrayRef<int64_t>{0})) : i);
    }
    Type e = type.getElementType();
    Value address = at(tensors.lookup(tensor), linear, e);
    assert(tensors.count(tensor) && "a mask reads arguments only");
    if (!keys)
      return load(e, address);
    Type lanesOf = with(keys.getType(), e);
    if (type.getSize(type.getRank() - 1).is(1))
      return vector::BroadcastOp::create(b, lanesOf, load(e, address));
    Value limit = arith::IndexCastOp::create(b, b.getI32Type(), dims[S]);
    limit = vector::BroadcastOp::create(b, keys.getType(), limit);
    return load(lanesOf, address, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, keys, limit));
  }

  std::function<Value(OpBuilder &, Value, ArrayRef<Value>)> loadStore =
      [this](OpBuilder &builder, Value tensor, ArrayRef<Value> index) { return element(builder, tensor, index); };
  std::function<Value(const Size &)> lengthStore = [this](const Size &form) { return lengthOf(form); };

  mask::Emitter emitter() {
    mask::Emitter e{b, b, b.getLoc(), add(dims[P], dims[kFirst]), add(dims[P], dims[kLast]), dims[kBatch], dims[kHead],
                    dims[P], dims[T], dims[S], dims[K], nullptr, nullptr};
    e.load = loadStore;
    e.lengthOf = lengthStore;
    e.lanes = test.lanes;
    return e;
  }
};
} // namespace

struct CursorProgram::Impl {
  struct Functions {
    Function walk = nullptr, segments = nullptr, hull = nullptr, elements = nullptr, operands = nullptr;
    bool conjunction = true;
  };
  std::vector<Functions> functions;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CursorProgram::CursorProgram() : impl(std::make_unique<Impl>()) {}
CursorProgram::~CursorProgram() = default;

/// All masks as functions that return them.
static std::string textOf(const std::vector<CursorCase> &cases) {
  std::string text;
  for (size_t i = 0; i < cases.size(); ++i) {
    const MaskSpec &spec = cases[i].spec;
    text += "func.func @mask" + std::to_string(i) + "(";
    for (size_t t = 0; t < spec.tensors.size(); ++t)
      text += (t ? ", " : "") + ("%t" + std::to_string(t)) + ": " + spec.typeOf(int(t));
    text += ") -> !mask.mask {\n" + spec.ops() + "  return %m : !mask.mask\n}\n";
  }
  return text;
}

/// Conversions alone: code that runs a few times is not worth improving.
static void buildQuick(PassManager &pm) {
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

std::unique_ptr<CursorProgram> CursorProgram::compile(const std::vector<CursorCase> &cases, JitLevel level, Parts parts) {
  DialectRegistry registry;
  registry.insert<model::ModelDialect, mask::MaskDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect, memref::MemRefDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> masks = parseSourceString<ModuleOp>(textOf(cases), ParserConfig(&context));
  if (!masks)
    return nullptr;
  Location loc = NameLoc::get(StringAttr::get(&context, "masks"));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(&context);
  std::vector<bool> conjunctions;
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string n = std::to_string(i);
    auto f = masks->lookupSymbol<func::FuncOp>("mask" + n);
    conjunctions.push_back(mask::residuals(f.getBody().front().getTerminator()->getOperand(0)).conjunction);
    auto emit = [&](StringRef name, auto body) {
      builder.setInsertionPointToEnd(module->getBody());
      CursorCode code(builder, loc, f, cases[i], name.str() + n);
      body(code);
    };
    emit("walk", [](CursorCode &c) { c.walk(); });
    if (parts == Parts::WalkOnly)
      continue;
    emit("segments", [](CursorCode &c) { c.segments(); });
    emit("hull", [](CursorCode &c) { c.hull(); });
    emit("elements", [](CursorCode &c) { c.elements(); });
    emit("operands", [](CursorCode &c) { c.operands(); });
  }
  PassManager lower(&context);
  lower.enableVerifier(false);
  if (level == JitLevel::Quick)
    buildQuick(lower);
  else
    loops::buildLoopsToLLVM(lower);
  if (failed(verify(*module)) || failed(lower.run(*module)))
    return nullptr;
  std::unique_ptr<CursorProgram> program(new CursorProgram);
  program->impl->jit = jitModule(*module, level);
  if (!program->impl->jit)
    return nullptr;
  auto find = [&](const std::string &name) -> Function {
    auto symbol = program->impl->jit->lookup(name);
    if (!symbol)
      return jitFailed(symbol.takeError()), nullptr;
    return symbol->toPtr<Function>();
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string n = std::to_string(i);
    Impl::Functions f;
    std::pair<const char *, Function *> wanted[] = {
        {"walk", &f.walk}, {"segments", &f.segments}, {"hull", &f.hull}, {"elements", &f.elements}, {"operands", &f.operands}};
    for (auto [name, function] : ArrayRef(wanted).take_front(parts == Parts::All ? 5 : 1))
      if (!(*function = find(name + n)))
        return nullptr;
    f.conjunction = conjunctions[i];
    program->impl->functions.push_back(f);
  }
  return program;
}

//===-- calls ----------------------------------------------------------------------===//

CursorProgram::Memory::Memory(const MaskSpec &spec, const MaskSpec::Data &data) {
  for (size_t t = 0; t < data.size(); ++t) {
    const std::string &element = spec.tensors[t].element;
    size_t size = element == "i64" ? 8 : element == "f32" ? 4 : 1;
    bytes.emplace_back(size * data[t].size() + 8, char(0x5a));
    for (size_t i = 0; i < data[t].size(); ++i) {
      char *to = bytes.back().data() + size * i;
      double v = data[t][i];
      int64_t integer = int64_t(v);
      float real = float(v);
      *to = v != 0;
      if (size > 1)
        std::memcpy(to, size == 8 ? static_cast<void *>(&integer) : &real, size);
    }
  }
  for (auto &b : bytes)
    pointers.push_back(b.data());
}

static std::vector<int64_t> dimsOf(const CursorProgram::Tile &t) {
  return {t.n.B, t.n.T, t.n.S, t.n.P, t.n.K, t.batch, t.head, t.first, t.last, t.anchor};
}

std::vector<CursorProgram::Run> CursorProgram::walk(int mask, const Tile &tile, Memory &memory) const {
  // Room for more runs than there are keys, so that a test can say what is wrong.
  std::vector<int64_t> out(1 + 3 * (tile.n.S * 4 + 64), 0);
  impl->functions[mask].walk(memory.pointers.data(), dimsOf(tile).data(), out.data());
  std::vector<Run> runs;
  for (int64_t i = 0; i < out[0]; ++i)
    runs.push_back({out[1 + 3 * i], out[2 + 3 * i], uint64_t(out[3 + 3 * i])});
  return runs;
}

std::vector<CursorProgram::Segment> CursorProgram::segments(int mask, const Tile &tile, Memory &memory) const {
  std::vector<int64_t> out(3 * tile.n.S + 3);
  impl->functions[mask].segments(memory.pointers.data(), dimsOf(tile).data(), out.data());
  std::vector<Segment> segments;
  for (int64_t k = 0; k < tile.n.S; ++k)
    segments.push_back({out[3 * k] != 0, out[3 * k + 1] != 0, out[3 * k + 2]});
  return segments;
}

std::pair<int64_t, int64_t> CursorProgram::hull(int mask, const Tile &tile, Memory &memory) const {
  int64_t out[2];
  impl->functions[mask].hull(memory.pointers.data(), dimsOf(tile).data(), out);
  return {out[0], out[1]};
}

std::vector<int32_t> CursorProgram::elements(int mask, const Tile &tile, Memory &memory) const {
  int64_t rows = tile.last - tile.first + 1, line = tile.n.S + 16;
  std::vector<int32_t> out(rows * line * 3 + 16), packed;
  impl->functions[mask].elements(memory.pointers.data(), dimsOf(tile).data(), out.data());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < tile.n.S; ++k) {
      const int32_t *at = &out[r * line * 3 + k];
      packed.push_back((at[0] != 0) | (at[line] != 0) << 1 | at[2 * line] << 8);
    }
  return packed;
}

CursorProgram::Operands CursorProgram::operands(int mask, const Tile &tile, Memory &memory) const {
  int64_t rows = tile.last - tile.first + 1, line = tile.n.S + 16;
  std::vector<uint32_t> out(rows * line * 2 + 16, 0);
  impl->functions[mask].operands(memory.pointers.data(), dimsOf(tile).data(), out.data());
  Operands o;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < tile.n.S; ++k) {
      o.scalars.push_back(out[r * line * 2 + k]);
      o.vectors.push_back(out[r * line * 2 + line + k]);
    }
  return o;
}

bool CursorProgram::conjunction(int mask) const { return impl->functions[mask].conjunction; }

int64_t CursorProgram::walkAll(int mask, MaskSizes n, int64_t rows, Memory &memory) const {
  std::vector<int64_t> out(1 + 3 * (n.S * 4 + 64), 0), dims = dimsOf({n});
  Function walk = impl->functions[mask].walk;
  int64_t runs = 0;
  for (int64_t first = 0; first < n.T; first += rows) {
    dims[kFirst] = first;
    dims[kLast] = std::min(first + rows, n.T) - 1;
    walk(memory.pointers.data(), dims.data(), out.data());
    runs += out[0];
  }
  return runs;
}
