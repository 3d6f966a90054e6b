//===- CursorProgram.cpp - the code of masks, callable --------------------===//

#include "test/Mask/CursorProgram.h"
#include "compiler/Pipelines/Stages.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "targets/CPU/ProcessorStages.h"
#include "test/Mask/CursorCode.h"
#include "test/Numerics/Jit.h"
#include <chrono>
#include <cstring>

using namespace mlir;
using namespace heddle;
using namespace heddle::test;

using Function = void (*)(void *const *tensors, const int64_t *dims, void *out);

struct CursorProgram::Impl {
  struct Functions {
    Function walk = nullptr, segments = nullptr, hull = nullptr, elements = nullptr, operands = nullptr;
    Known known;
    std::vector<model::Size> tables; ///< entries of each
  };
  std::vector<Functions> functions;
  std::unique_ptr<JitModule> jit;
  std::unique_ptr<Program> tables;
};

CursorProgram::CursorProgram() : impl(std::make_unique<Impl>()) {}
CursorProgram::~CursorProgram() = default;

static CursorProgram::Known knownOf(const AskedMask &mask) {
  auto op = mask.value.getDefiningOp<mask::MaskOpInterface>();
  return {mask::residuals(mask.value).conjunction,
          mask.everyRowSees,
          op.dependsOn(),
          op.reach(),
          mask.stride,
          mask.tables.size()};
}

std::unique_ptr<CursorProgram> CursorProgram::compile(const std::vector<CursorCase> &cases, JitLevel level, Parts parts,
                                                      CursorBounds bounds) {
  DialectRegistry registry;
  registry.insert<model::ModelDialect, mask::MaskDialect, attn::AttnDialect, func::FuncDialect, arith::ArithDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  mask::registerMaskEmission(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  AskedMasks asked = askMasks(cases, bounds, context);
  if (asked.masks.size() != cases.size())
    return nullptr;
  Location loc = NameLoc::get(StringAttr::get(&context, "masks"));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(&context);
  std::pair<const char *, void (CursorCode::*)()> bodies[] = {{"walk", &CursorCode::walk},
                                                              {"segments", &CursorCode::segments},
                                                              {"hull", &CursorCode::hull},
                                                              {"elements", &CursorCode::elements},
                                                              {"operands", &CursorCode::operands}};
  auto wanted = ArrayRef(bodies).take_front(parts == Parts::All ? 5 : 1);
  for (size_t i = 0; i < cases.size(); ++i)
    for (auto [name, body] : wanted) {
      builder.setInsertionPointToEnd(module->getBody());
      CursorCode code(builder, loc, asked.masks[i], cases[i], name + std::to_string(i));
      (code.*body)();
    }
  PassManager lower(&context);
  lower.enableVerifier(false);
  // Code that runs a few times is converted, not improved.
  addPasses(lower, processorStages().back(), {}, [&](StringRef flag) {
    bool improves = flag == "canonicalize" || flag == "cse" || flag == "loop-invariant-code-motion";
    return flag != "convert-heddle-to-loops" && !(improves && level == JitLevel::Quick);
  });
  if (failed(verify(*module)) || failed(lower.run(*module)))
    return nullptr;
  std::unique_ptr<CursorProgram> program(new CursorProgram);
  if (std::string tables = tablesText(asked.masks); !tables.empty())
    if (!(program->impl->tables = Program::compile(tables, 16, false, JitLevel::Quick)))
      return nullptr;
  program->impl->jit = JitModule::compile(*module, level);
  if (!program->impl->jit)
    return nullptr;
  for (size_t i = 0; i < cases.size(); ++i) {
    Impl::Functions f;
    f.known = knownOf(asked.masks[i]);
    for (Operation *table : asked.masks[i].tables) {
      model::Size entries(1);
      for (const model::Size &n : cast<model::ModelTensorType>(table->getResult(0).getType()).getSizes())
        entries = entries * n;
      f.tables.push_back(entries);
    }
    Function *into[] = {&f.walk, &f.segments, &f.hull, &f.elements, &f.operands};
    for (size_t n = 0; n < wanted.size(); ++n) {
      void *function = program->impl->jit->find(wanted[n].first + std::to_string(i));
      if (!function)
        return nullptr;
      *into[n] = reinterpret_cast<Function>(function);
    }
    program->impl->functions.push_back(f);
  }
  return program;
}

const CursorProgram::Known &CursorProgram::known(int mask) const { return impl->functions[mask].known; }

//===-- calls ----------------------------------------------------------------------===//

CursorProgram::Memory CursorProgram::memory(int mask, const MaskSpec &spec, const MaskSizes &n,
                                            const MaskSpec::Data &data, int threads) const {
  Memory memory;
  for (size_t t = 0; t < data.size(); ++t) {
    const std::string &element = spec.tensors[t].element;
    size_t size = element == "i64" ? 8 : element == "f32" ? 4 : 1;
    memory.bytes.emplace_back(size * data[t].size() + 8, char(0x5a));
    for (size_t i = 0; i < data[t].size(); ++i) {
      char *to = memory.bytes.back().data() + size * i;
      double v = data[t][i];
      int64_t integer = int64_t(v);
      float real = float(v);
      *to = v != 0;
      if (size > 1)
        std::memcpy(to, size == 8 ? static_cast<void *>(&integer) : &real, size);
    }
  }
  std::map<std::string, int64_t> dims = {{"B", n.B}, {"T", n.T}, {"S", n.S}, {"P", n.P}, {"K", n.K}};
  const auto &tables = impl->functions[mask].tables;
  for (const model::Size &entries : tables) // what is never written must not be read: it would lead far off
    memory.bytes.emplace_back(8 * *entries.evaluate(dims), char(0x7e));
  for (auto &b : memory.bytes)
    memory.pointers.push_back(b.data());
  if (!tables.empty() && impl->tables->run("tables" + std::to_string(mask), dims, memory.pointers, threads))
    llvm::report_fatal_error("the tables of a mask were not made");
  return memory;
}

static std::vector<int64_t> dimsOf(const CursorProgram::Tile &t) {
  return {t.n.B, t.n.T, t.n.S, t.n.P, t.n.K, t.batch, t.head, t.first, t.last, t.anchor, t.offset, t.keys()};
}
std::vector<CursorProgram::Run> CursorProgram::walk(int mask, const Tile &tile, Memory &memory) const {
  // Room for more runs than there are keys, so that a test can say what is wrong.
  std::vector<int64_t> out(1 + 3 * (tile.keys() * 4 + 64), 0);
  impl->functions[mask].walk(memory.pointers.data(), dimsOf(tile).data(), out.data());
  std::vector<Run> runs;
  for (int64_t i = 0; i < out[0]; ++i)
    runs.push_back({out[1 + 3 * i], out[2 + 3 * i], uint64_t(out[3 + 3 * i])});
  return runs;
}

std::vector<CursorProgram::Segment> CursorProgram::segments(int mask, const Tile &tile, Memory &memory) const {
  std::vector<int64_t> out(3 * tile.keys() + 3);
  impl->functions[mask].segments(memory.pointers.data(), dimsOf(tile).data(), out.data());
  std::vector<Segment> segments;
  for (int64_t k = 0; k < tile.keys(); ++k)
    segments.push_back({out[3 * k] != 0, out[3 * k + 1] != 0, out[3 * k + 2]});
  return segments;
}

std::pair<int64_t, int64_t> CursorProgram::hull(int mask, const Tile &tile, Memory &memory) const {
  int64_t out[2];
  impl->functions[mask].hull(memory.pointers.data(), dimsOf(tile).data(), out);
  return {out[0], out[1]};
}

std::vector<int32_t> CursorProgram::elements(int mask, const Tile &tile, Memory &memory) const {
  int64_t rows = tile.rows(), line = tile.keys() + 16;
  std::vector<int32_t> out(rows * line * 3 + 16), packed;
  impl->functions[mask].elements(memory.pointers.data(), dimsOf(tile).data(), out.data());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < tile.keys(); ++k) {
      const int32_t *at = &out[r * line * 3 + k];
      packed.push_back((at[0] != 0) | (at[line] != 0) << 1 | at[2 * line] << 8);
    }
  return packed;
}

CursorProgram::Operands CursorProgram::operands(int mask, const Tile &tile, Memory &memory) const {
  int64_t rows = tile.rows(), line = tile.keys() + 16;
  std::vector<uint32_t> out(rows * line * 2 + 16, 0);
  impl->functions[mask].operands(memory.pointers.data(), dimsOf(tile).data(), out.data());
  Operands o;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < tile.keys(); ++k) {
      o.scalars.push_back(out[r * line * 2 + k]);
      o.vectors.push_back(out[r * line * 2 + line + k]);
    }
  return o;
}

CursorProgram::Timing CursorProgram::walkAll(int mask, MaskSizes n, int64_t rows, int rounds, Memory &memory) const {
  std::vector<int64_t> out(1 + 3 * (n.S * 4 + 64), 0), dims = dimsOf({n});
  Function walk = impl->functions[mask].walk;
  // Plain pointers: what calls is measured too, whatever the build type.
  int64_t *told = dims.data(), *runs = out.data();
  void *const *tensors = memory.pointers.data();
  Timing best{0, 1e18};
  for (int round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    best.runs = 0;
    for (int64_t first = 0; first < n.T; first += rows) {
      told[kFirst] = first;
      told[kLast] = (first + rows < n.T ? first + rows : n.T) - 1;
      walk(tensors, told, runs);
      best.runs += runs[0];
    }
    best.nanoseconds = std::min(
        best.nanoseconds, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}
